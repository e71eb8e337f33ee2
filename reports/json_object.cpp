#include "reports/json_object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "reports/json_numbers.hpp"

namespace sextant {

JsonObject::JsonObject(const nlohmann::ordered_json& json, std::string place) : json_(json), place_(std::move(place)) {
  if (!json_.is_object()) fail("expected an object");
}

std::string JsonObject::path(const char* name) const {
  return place_.empty() ? name : fmt::format("{}.{}", place_, name);
}

void JsonObject::fail(const std::string& what) const {
  throw ReadError(fmt::format("{}: {}", place_.empty() ? "report" : place_, what));
}

void JsonObject::fail(const char* name, const std::string& what) const {
  throw ReadError(fmt::format("{}: {}", path(name), what));
}

void JsonObject::fail_word(const char* name, const std::string& word) const {
  fail(name, fmt::format(R"("{}" is none of the words expected here)", word));
}

bool JsonObject::has(const char* name) const {
  const auto found = json_.find(name);
  return found != json_.end() && !found->is_null();
}

const nlohmann::ordered_json& JsonObject::at(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) fail(name, "missing");
  return *found;
}

std::string JsonObject::text(const char* name) const {
  if (!at(name).is_string()) fail(name, "expected a string");
  return at(name).get<std::string>();
}

std::vector<std::string> JsonObject::texts(const char* name) const {
  const nlohmann::ordered_json& list = at(name);
  const auto is_text = [](const nlohmann::ordered_json& one) { return one.is_string(); };
  if (!list.is_array() || !std::ranges::all_of(list, is_text)) fail(name, "expected a list of strings");
  return list.get<std::vector<std::string>>();
}

std::int64_t JsonObject::integer(const char* name) const {
  if (!at(name).is_number_integer() || (at(name).is_number_unsigned() && at(name).get<std::uint64_t>() > INT64_MAX))
    fail(name, "expected an integer");
  return at(name).get<std::int64_t>();
}

double JsonObject::number(const char* name) const {
  try {
    return number_of(at(name));
  } catch (const std::invalid_argument& error) {
    fail(name, error.what());
  }
}

bool JsonObject::truth(const char* name) const {
  if (!at(name).is_boolean()) fail(name, "expected true or false");
  return at(name).get<bool>();
}

}  // namespace sextant
