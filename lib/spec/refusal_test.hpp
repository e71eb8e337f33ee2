#pragma once

#include <ostream>
#include <string>

#include "lib/spec/spec.hpp"

namespace sextant {

/// What parse_spec says against `json`, or "accepted".
inline std::string refusal(const std::string& json) {
  try {
    parse_spec(json);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "accepted";
}

/// A spec that must be refused, and part of the message.
struct Refusal {
  const char* json;
  const char* message;
};

/// What GoogleTest shows of a parameter.
inline void PrintTo(const Refusal& expected, std::ostream* stream) { *stream << expected.message; }

}  // namespace sextant
