#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/spec/encoding_entry.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;
using Path = ordered_json::json_pointer;

template <class... Encodings>
std::span<const std::string_view> described_in_list(std::string_view encoding, const std::variant<Encodings...>*) {
  std::span<const std::string_view> fields;
  ((Encodings::entry.name == encoding ? void(fields = Encodings::entry.described) : void()), ...);
  return fields;
}

// A field has its default if the claim is the same one without it. Without one that has none there is no claim.
bool has_default(const ordered_json& spec, const Path& field) {
  ordered_json without = spec;
  without.at(field.parent_pointer()).erase(field.back());
  try {
    return to_json(parse_spec(without.dump())) == spec.dump();
  } catch (const SpecError&) {
    return false;
  }
}

std::string value_text(const ordered_json& value) {
  constexpr std::size_t longest_list = 8;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_array()) return value.dump();
  if (value.size() > longest_list) return fmt::format("[{} numbers]", value.size());
  std::vector<std::string> elements;
  for (const ordered_json& element : value) elements.push_back(value_text(element));
  return fmt::format("[{}]", fmt::join(elements, ", "));
}

// The fields of the object at `path` that tell the claim from others, "NAME VALUE" each. `kind` is the field that says
// which object it is, and is not among them.
std::vector<std::string> telling_fields(const ordered_json& spec, const Path& path, std::string_view kind) {
  const ordered_json& object = spec.at(path);
  std::span<const std::string_view> always;
  if (kind == "encoding")
    always = described_in_list(object.at("encoding").get<std::string>(), static_cast<const Encoding*>(nullptr));
  // Said of every claim: the dtype by its value alone; positions and accuracy by who writes the line.
  constexpr std::array<std::string_view, 4> of_the_claim{"dtype", "min_position", "max_position", "accuracy"};
  std::vector<std::string> texts;
  for (const auto& [name, value] : object.items()) {
    if (name == "dtype") texts.push_back(value_text(value));
    if (name == kind || std::ranges::find(of_the_claim, name) != of_the_claim.end()) continue;
    const Path field = path / name;
    if (std::ranges::find(always, name) == always.end() && has_default(spec, field)) continue;
    if (!value.is_object()) {
      texts.push_back(fmt::format("{} {}", name, value_text(value)));
      continue;
    }
    const std::string_view inner = value.contains("encoding") ? "encoding" : "rope_type";
    std::string text = name;
    if (value.contains(inner)) text += fmt::format(" {}", value_text(value.at(inner)));
    if (const auto fields = telling_fields(spec, field, inner); !fields.empty())
      text += fmt::format(" ({})", fmt::join(fields, ", "));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

std::string describe(const Spec& spec) {
  const StandardArithmetic arithmetic;  // in which a decimal is the nearest double
  const ordered_json object = ordered_json::parse(to_json(spec));
  return fmt::format("{} {}", encoding_name(spec), fmt::join(telling_fields(object, Path(), "encoding"), ", "));
}

}  // namespace sextant
