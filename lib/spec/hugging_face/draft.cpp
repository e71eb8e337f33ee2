#include "lib/spec/hugging_face/draft.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/spec/fields.hpp"

namespace sextant::hugging_face {

Draft::Draft(std::string part, std::string kind, std::string model_type) {
  claim_.part = std::move(part);
  claim_.kind = std::move(kind);
  claim_.model_type = std::move(model_type);
}

// Out of line: inlined, GCC 12 takes a literal's heap copy for one that is held within the string (GCC bug 105329).
void Draft::note(std::string text) { claim_.notes.push_back(std::move(text)); }

void Draft::cover(std::vector<std::int64_t> layers) { claim_.layers = std::move(layers); }

std::string Draft::default_source() const { return fmt::format("default of {}", claim_.model_type); }

namespace {

// Whether `field` is `other` or lies within it, as "rope_scaling.factor" within "rope_scaling".
bool is_within(std::string_view field, std::string_view other) {
  return field.starts_with(other) &&
         (field.size() == other.size() || field[other.size()] == '.' || field[other.size()] == '[');
}

// Whether a source is "line 12: text_config.rope_theta", and no more.
bool is_one_field(std::string_view source) {
  const auto colon = source.find(": ");
  return source.starts_with("line ") && colon != source.npos && source.find_first_of(" ,", colon + 2) == source.npos;
}

}  // namespace

void Draft::refuse(const std::string& field, const std::string& expected) const {
  const FieldSource* nearest = nullptr;
  for (const FieldSource& one : claim_.sources) {
    if (is_within(field, one.field) && (nearest == nullptr || one.field.size() > nearest->field.size())) nearest = &one;
  }
  if (nearest == nullptr) throw SpecError(fmt::format("{}: {}", field, expected));
  // A file's field goes by its own name, which may be another than the spec's; a default has none, and what was
  // computed of several is told by the spec's.
  if (is_one_field(nearest->source))
    throw SpecError(fmt::format("{}{}: {}", nearest->source, field.substr(nearest->field.size()), expected));
  throw SpecError(fmt::format("{}: {}: {}", nearest->source, field, expected));
}

ConfigClaim Draft::claim() const {
  ConfigClaim claim = claim_;
  try {
    claim.spec = parse_spec(spec_.dump());
  } catch (const FieldError& error) {
    refuse(error.field(), error.expected());
  }
  complete_sources(claim);
  return claim;
}

namespace {

void add_sources(const nlohmann::ordered_json& object, const std::string& path, const std::vector<FieldSource>& known,
                 std::vector<FieldSource>& all) {
  const bool is_covered = std::ranges::find(known, path.substr(0, path.size() - (path.empty() ? 0 : 1)),
                                            &FieldSource::field) != known.end();
  for (const auto& [name, value] : object.items()) {
    const std::string field = path + name;
    const auto own = std::ranges::find(known, field, &FieldSource::field);
    if (own != known.end()) all.push_back(*own);
    if (own == known.end() && !value.is_object() && !is_covered) all.push_back({field, "default of a spec"});
    if (value.is_object()) add_sources(value, field + ".", known, all);
  }
}

}  // namespace

void complete_sources(ConfigClaim& claim) {
  std::vector<FieldSource> known = std::move(claim.sources);
  // What is stated as a share of the head is written as a width.
  const auto share = std::ranges::find_if(
      known, [](const FieldSource& source) { return source.field.ends_with("partial_rotary_factor"); });
  if (share != known.end()) {
    std::string width = share->field;
    width.replace(width.rfind("partial_rotary_factor"), std::string::npos, "rotary_dim");
    if (std::ranges::find(known, width, &FieldSource::field) == known.end()) known.push_back({width, share->source});
  }
  claim.sources.clear();
  add_sources(nlohmann::ordered_json::parse(to_json(*claim.spec)), "", known, claim.sources);
}

ConfigClaim Draft::refused(std::string why) const {
  ConfigClaim claim = claim_;
  claim.refusal = std::move(why);
  return claim;
}

}  // namespace sextant::hugging_face
