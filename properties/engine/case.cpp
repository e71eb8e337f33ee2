#include "properties/engine/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace sextant {

std::string write_token(std::string_view property, const std::vector<std::string>& fields, const Case& values) {
  std::string token(property);
  for (std::size_t i = 0; i < fields.size(); ++i)
    token += fmt::format("{}{}={}", i == 0 ? ':' : ',', fields[i], values[i]);
  return token;
}

std::string token_property(std::string_view token) {
  const auto colon = token.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    throw TokenError(fmt::format("--replay: \"{}\" is no token: expected PROPERTY:FIELD=VALUE,...", token));
  }
  return std::string(token.substr(0, colon));
}

Case read_token(std::string_view token, const std::vector<std::string>& fields) {
  std::string_view rest = token.substr(token_property(token).size() + 1);
  Case values;
  for (const std::string& field : fields) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto equals = part.find('=');
    if (part.substr(0, equals) != field || equals == std::string_view::npos) {
      throw TokenError(fmt::format("--replay: \"{}\": expected the fields {}", token, fmt::join(fields, ", ")));
    }
    const std::string_view number = part.substr(equals + 1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size()) {
      throw TokenError(fmt::format("--replay: {}: expected an integer, got \"{}\"", field, number));
    }
    values.push_back(value);
  }
  if (!rest.empty())
    throw TokenError(fmt::format("--replay: \"{}\": more fields than {}", token, fmt::join(fields, ", ")));
  return values;
}

}  // namespace sextant
