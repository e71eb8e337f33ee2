#include "lib/spec/changed_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;
using Path = ordered_json::json_pointer;

bool says(const ordered_json& object, const std::string& full) {
  try {
    return to_json(parse_spec(object.dump())) == full;
  } catch (const SpecError&) {
    return false;  // a field that a claim must have
  }
}

// One field after the other, as the default of one may be the value of another; the last first, which is the one that
// follows.
void leave_out_defaults(ordered_json& spec, const Path& path, const std::string& full) {
  std::vector<std::string> names;
  for (const auto& [name, value] : spec.at(path).items()) names.push_back(name);
  std::ranges::reverse(names);
  for (const std::string& name : names) {
    ordered_json without = spec;
    without.at(path).erase(name);
    if (says(without, full)) {
      spec = std::move(without);
    } else if (spec.at(path / name).is_object()) {
      leave_out_defaults(spec, path / name, full);
    }
  }
}

ordered_json shortest_of(const Spec& spec) {
  const std::string full = to_json(spec);
  ordered_json object = ordered_json::parse(full);
  leave_out_defaults(object, Path(), full);
  return object;
}

std::string text_of_value(const ordered_json& value) {
  constexpr std::size_t longest_list = 8;
  if (value.is_null()) return "null";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_array() && value.size() > longest_list) return fmt::format("[{} numbers]", value.size());
  return value.dump();
}

// One object of a claim: every field of it, and those that its shortest form has.
struct Objects {
  ordered_json every;
  ordered_json shortest;

  bool has(const std::string& name) const { return every.is_object() && every.contains(name); }
  bool tells(const std::string& name) const { return shortest.is_object() && shortest.contains(name); }
  Objects within(const std::string& name) const {
    return {has(name) ? every.at(name) : ordered_json(), tells(name) ? shortest.at(name) : ordered_json()};
  }
  std::string text() const { return text_of_value(every.is_object() && shortest.is_object() ? shortest : every); }
};

void add_changes(const Objects& from, const Objects& to, const std::string& path, std::vector<std::string>& changes) {
  std::vector<std::string> names;
  for (const Objects* fields : {&to, &from}) {
    for (const auto& [name, value] : fields->every.items()) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    const Objects before = from.within(name);
    const Objects after = to.within(name);
    if (before.every == after.every || !(from.tells(name) || to.tells(name))) continue;
    if (before.every.is_object() && after.every.is_object()) {
      add_changes(before, after, path + name + ".", changes);
    } else {
      changes.push_back(fmt::format("{}{} {} instead of {}", path, name, after.text(), before.text()));
    }
  }
}

}  // namespace

std::string shortest_json(const Spec& spec) {
  const StandardArithmetic arithmetic;  // in which a decimal is the nearest double
  return shortest_of(spec).dump();
}

std::vector<std::string> changed_fields(const Spec& from, const Spec& to) {
  const StandardArithmetic arithmetic;
  std::vector<std::string> changes;
  add_changes({ordered_json::parse(to_json(from)), shortest_of(from)},
              {ordered_json::parse(to_json(to)), shortest_of(to)}, "", changes);
  return changes;
}

}  // namespace sextant
