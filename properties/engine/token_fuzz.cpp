#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "properties/engine/case.hpp"

// Any text is a token or a TokenError; the case of a token is written as a token of it, and is in its fields' ranges or
// is told to be out of one, as the engine refuses it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant;
  static const CaseFields fields{{"position", FieldRole::position, {-9007199254740992, 9007199254740992}},
                                 {"tokens", FieldRole::run, {1, 8193, 1}},
                                 {"order", FieldRole::order, {0, 7}}};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Case values = read_token(text, fields);
    if (in_range(fields, values) == out_of_range(fields, values).has_value()) std::abort();
    if (read_token(write_token(token_property(text), fields, values), fields) != values) std::abort();
  } catch (const TokenError&) {
  }
  return 0;
}
