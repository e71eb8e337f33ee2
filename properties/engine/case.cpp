#include "properties/engine/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace sextant {
namespace {

// "position, tokens[, order]": an order may be left out.
std::string names_of(const CaseFields& fields) {
  std::string names;
  for (const CaseField& field : fields) {
    const std::string name = fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
    names += field.role == FieldRole::order ? fmt::format("[{}]", name) : name;
  }
  return names;
}

}  // namespace

bool in_range(const CaseFields& fields, const Case& values) {
  return std::ranges::equal(fields, values,
                            [](const CaseField& field, std::int64_t value) { return field.range.holds(value); });
}

std::optional<std::string> out_of_range(const CaseFields& fields, const Case& values) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& [name, role, range] = fields[i];
    if (!range.holds(values[i]))
      return fmt::format("{}: expected {} to {}, got {}", name, range.least, range.most, values[i]);
  }
  return std::nullopt;
}

Case simplest_of(const CaseFields& fields) {
  Case values;
  for (const auto& [name, role, range] : fields)
    values.push_back(range.simplest.value_or(std::clamp<std::int64_t>(0, range.least, range.most)));
  return values;
}

std::int64_t size_of(const CaseFields& fields, const Case& values) {
  std::int64_t size = 1;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldRole role = fields[i].role;
    const std::int64_t extent = std::max<std::int64_t>(values[i], 1);
    if (role == FieldRole::run || role == FieldRole::batch || role == FieldRole::count) size *= extent;
    if (role == FieldRole::sequence) size *= extent * extent;
  }
  return size;
}

std::string write_token(std::string_view property, const CaseFields& fields, const Case& values) {
  std::string token(property);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].role == FieldRole::order && values[i] == 0) continue;
    token += fmt::format("{}{}={}", i == 0 ? ':' : ',', fields[i].name, values[i]);
  }
  return token;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  return text.size() <= longest ? fmt::format("\"{}\"", text)
                                : fmt::format("\"{}...\" ({} characters)", text.substr(0, longest), text.size());
}

std::string token_property(std::string_view token) {
  const auto colon = token.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    throw TokenError(fmt::format("--replay: {} is no token: expected PROPERTY:FIELD=VALUE,...", in_quotes(token)));
  }
  return std::string(token.substr(0, colon));
}

Case read_token(std::string_view token, const CaseFields& fields) {
  // What is not read yet; nothing once a part ends without a comma.
  std::optional<std::string_view> rest = token.substr(token_property(token).size() + 1);
  if (fields.empty() && rest->empty()) rest.reset();
  Case values;
  for (const auto& [field, role, range] : fields) {
    const std::string_view left = rest.value_or("");
    if (role == FieldRole::order && !left.starts_with(field + "=")) {
      values.push_back(0);
      continue;
    }
    const auto comma = left.find(',');
    const std::string_view part = left.substr(0, comma);
    rest = comma == std::string_view::npos ? std::nullopt : std::optional(left.substr(comma + 1));
    const auto equals = part.find('=');
    if (part.substr(0, equals) != field || equals == std::string_view::npos) {
      throw TokenError(
          fmt::format("--replay: {}: expected the fields {}, in this order", in_quotes(token), names_of(fields)));
    }
    const std::string_view number = part.substr(equals + 1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size()) {
      throw TokenError(fmt::format("--replay: {}: expected an integer of 64 bits, got {}", field, in_quotes(number)));
    }
    values.push_back(value);
  }
  if (rest) throw TokenError(fmt::format("--replay: {}: more fields than {}", in_quotes(token), names_of(fields)));
  return values;
}

}  // namespace sextant
