#include "lib/spec/fields.hpp"

#include <cmath>
#include <limits>

namespace sextant {

using nlohmann::json;

namespace {

std::int64_t integer_in(const Fields& fields, const std::string& name, const json& value) {
  if (!value.is_number_integer()) fields.refuse(name, fmt::format("expected an integer, got {}", value.dump()));
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    fields.refuse(name, fmt::format("{} does not fit a signed 64-bit integer", value.dump()));
  }
  return value.get<std::int64_t>();
}

}  // namespace

void refuse_field(std::string_view field, std::string_view expected) { throw FieldError(field, expected); }

void check_even_width(std::string_view field, std::int64_t width) {
  if (width < 2 || width % 2 != 0 || width > width_limit) {
    refuse_field(field, fmt::format("expected an even number from 2 to {}, got {}", width_limit, width));
  }
}

void check_count(std::string_view field, std::int64_t count, std::int64_t limit) {
  if (count < 1 || count > limit)
    refuse_field(field, fmt::format("expected an integer from 1 to {}, got {}", limit, count));
}

void check_base(std::string_view field, double base) {
  // Below 1 the "wavelengths" would shrink with the pair and frequencies pass one radian per position without bound;
  // no published setting has that, and a typing error (0.0001 for 10000) is the likelier cause.
  if (!(base >= 1) || std::isinf(base))
    refuse_field(field, fmt::format("expected a finite number of at least 1, got {}", base));
}

nlohmann::json parse_object(std::string_view text, std::string_view what) {
  // nlohmann keeps the last of two equal keys; a spec that says two things is refused instead.
  std::vector<std::set<std::string>> open;
  std::string repeated;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second) {
      repeated = parsed.get<std::string>();
    }
    return true;
  };
  json parsed;
  try {
    parsed = json::parse(text.begin(), text.end(), watch);
  } catch (const json::exception& error) {
    std::string reason = error.what();
    if (const auto bracket = reason.find("] "); bracket != std::string::npos) reason = reason.substr(bracket + 2);
    for (char& letter : reason) {
      if (letter == '\n' || letter == '\r') letter = ' ';
    }
    throw SpecError(fmt::format("{}: not valid JSON: {}", what, reason));
  }
  if (!parsed.is_object()) throw SpecError(fmt::format("{}: expected a JSON object", what));
  if (!repeated.empty()) throw SpecError(fmt::format("{}: field \"{}\" is given twice", what, repeated));
  return parsed;
}

const json* Fields::find(const std::string& name) {
  asked_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

std::optional<std::int64_t> Fields::integer(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  return integer_in(*this, name, *value);
}

std::int64_t Fields::required_integer(const std::string& name) {
  const auto value = integer(name);
  if (!value) refuse(name, "required");
  return *value;
}

std::optional<std::vector<std::int64_t>> Fields::integers(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse(name, fmt::format("expected a list of integers, got {}", value->dump()));
  std::vector<std::int64_t> list;
  for (const json& element : *value) list.push_back(integer_in(*this, name, element));
  return list;
}

std::optional<bool> Fields::boolean(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(name, fmt::format("expected true or false, got {}", value->dump()));
  return value->get<bool>();
}

std::optional<double> Fields::number(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) refuse(name, fmt::format("expected a number, got {}", value->dump()));
  return value->get<double>();
}

std::optional<std::string> Fields::text(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, fmt::format("expected a string, got {}", value->dump()));
  return value->get<std::string>();
}

std::optional<std::vector<double>> Fields::numbers(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse(name, fmt::format("expected a list of numbers, got {}", value->dump()));
  std::vector<double> list;
  for (const json& entry : *value) {
    if (!entry.is_number())
      refuse(fmt::format("{}[{}]", name, list.size()), fmt::format("expected a number, got {}", entry.dump()));
    list.push_back(entry.get<double>());
  }
  return list;
}

std::optional<std::vector<std::int64_t>> Fields::integers_or_null(const std::string& name) {
  const json* value = find(name);
  return value != nullptr && value->is_null() ? std::nullopt : integers(name);
}

std::optional<std::vector<double>> Fields::numbers_or_null(const std::string& name) {
  const json* value = find(name);
  return value != nullptr && value->is_null() ? std::nullopt : numbers(name);
}

std::optional<double> Fields::number_or_null(const std::string& name) {
  const json* value = find(name);
  return value != nullptr && value->is_null() ? std::nullopt : number(name);
}

std::optional<std::int64_t> Fields::integer_or_null(const std::string& name) {
  const json* value = find(name);
  return value != nullptr && value->is_null() ? std::nullopt : integer(name);
}

std::optional<std::string> Fields::text_or_null(const std::string& name) {
  const json* value = find(name);
  return value != nullptr && value->is_null() ? std::nullopt : text(name);
}

const json* Fields::object(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr || value->is_null()) return nullptr;
  if (!value->is_object()) refuse(name, fmt::format("expected an object or null, got {}", value->dump()));
  return value;
}

void Fields::refuse(const std::string& name, std::string_view expected) const {
  throw FieldError(path_ + name, expected);
}

void Fields::refuse_of_parts(const std::string& name, std::string_view reason) {
  if (has(name)) refuse(name, reason);
  asked_.erase(name);
}

std::vector<std::string> Fields::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : object_.items()) names.push_back(name);
  return names;
}

void Fields::refuse_unknown(const std::string& name, std::span<const std::string_view> known) const {
  refuse(name, fmt::format("unknown field, expected one of {}{}", fmt::join(known, ", "), did_you_mean(name, known)));
}

void Fields::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (asked_.contains(name)) continue;
    refuse_unknown(name, std::vector<std::string_view>(asked_.begin(), asked_.end()));
  }
}

}  // namespace sextant
