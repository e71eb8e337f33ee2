#pragma once

#include <span>
#include <string_view>

namespace sextant {

/// An encoding by its name, and the least spec of it as parse_spec reads it: what is left out has its default.
struct EncodingExample {
  std::string_view encoding;
  std::string_view spec;
};

/// One for each encoding that a spec can name, in the order of `sextant list encodings`.
std::span<const EncodingExample> encoding_examples();

}  // namespace sextant
