#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.hpp"
#include "app/spec_argument.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

struct SpecArguments {
  SpecOptions claim;
  bool json = false;
};

ordered_json json_of(const ConfigClaim& claim) {
  ordered_json object{{"part", claim.part},
                      {"kind", claim.kind},
                      {"layers", claim.layers},
                      {"model_type", claim.model_type},
                      {"spec", claim.spec ? ordered_json::parse(to_json(*claim.spec)) : ordered_json()}};
  if (!claim.spec) object["refusal"] = claim.refusal;
  for (const FieldSource& source : claim.sources) object["sources"][source.field] = source.source;
  if (!claim.notes.empty()) object["notes"] = claim.notes;
  return object;
}

// A field of the spec as it is written; "rope_scaling.factor" is one within another.
std::string written(const ordered_json& spec, const std::string& field) {
  std::string path = "/" + field;
  std::ranges::replace(path, '.', '/');
  const ordered_json::json_pointer place(path);
  return spec.contains(place) ? spec.at(place).dump() : "";
}

void print(const ConfigClaim& claim) {
  const std::string layers = layers_text(claim);
  const std::string type = claim.model_type.empty() ? "" : fmt::format(", as {}", claim.model_type);
  fmt::print("{}{}{}\n", name_of(claim), layers.empty() ? "" : ": " + layers, type);
  if (!claim.spec) {
    fmt::print("  no spec: {}\n", claim.refusal);
    return;
  }
  const std::string text = to_json(*claim.spec);
  fmt::print("  {}\n", text);
  const ordered_json spec = ordered_json::parse(text);
  // A list of factors, or what has fields, is in the line above.
  const auto value_of = [&](const std::string& field) {
    constexpr std::size_t longest = 24;
    std::string value = written(spec, field);
    return value.size() > longest ? "" : value;
  };
  std::size_t widest = 0;
  std::size_t widest_value = 0;
  for (const FieldSource& source : claim.sources) {
    widest = std::max(widest, source.field.size());
    widest_value = std::max(widest_value, value_of(source.field).size());
  }
  for (const auto& [field, source] : claim.sources)
    fmt::print("  {:<{}}  {:<{}}  {}\n", field, widest, value_of(field), widest_value, source);
  for (const std::string& note : claim.notes) fmt::print("  note: {}\n", note);
}

// Those of a model's file, or the one that --spec makes, which is of no part of a model.
std::vector<ConfigClaim> claims_of(const SpecOptions& options) {
  if (names_a_model(options)) return claims_of_model(options);
  ConfigClaim claim;
  claim.spec = spec_from_options(options);
  return {claim};
}

int run_spec(const SpecArguments& arguments) {
  if (!names_a_model(arguments.claim) && !arguments.json) {
    fmt::print("{}\n", to_json(spec_from_options(arguments.claim)));
    return 0;
  }
  const std::vector<ConfigClaim> claims = claims_of(arguments.claim);
  if (arguments.json) {
    ordered_json list = ordered_json::array();
    for (const ConfigClaim& claim : claims) list.push_back(json_of(claim));
    fmt::print("{}\n", list.dump(2));
    return 0;
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (i > 0) fmt::print("\n");
    print(claims[i]);
  }
  return 0;
}

}  // namespace

Run add_spec(CLI::App& app) {
  auto arguments = std::make_shared<SpecArguments>();
  CLI::App* command = app.add_subcommand(
      "spec", "Write a spec with every field, and of a model's file each claim and where each field comes from");
  add_spec_options(*command, arguments->claim, "A file, inline JSON, a preset's name or - (standard input)");
  command->add_flag("--json", arguments->json, "As JSON: a list of the claims, of --spec one");
  return [arguments] { return run_spec(*arguments); };
}

}  // namespace sextant
