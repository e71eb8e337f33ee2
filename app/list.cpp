#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.hpp"
#include "lib/numeric/targets.hpp"
#include "lib/spec/presets.hpp"
#include "properties/catalogue.hpp"
#include "properties/mutants/mutant.hpp"
#include "reference/recipe.hpp"

namespace sextant {
namespace {

struct Row {
  std::string name;
  std::string text;
  nlohmann::ordered_json json;
};

std::vector<Row> property_rows() {
  std::vector<Row> rows;
  for (const Property& property : catalogue()) {
    rows.push_back({property.id, fmt::format("{}: {} ({})", name_of(property.level), property.explanation.title, property.explanation.applies_to),
                    {{"id", property.id},
                     {"level", name_of(property.level)},
                     {"title", property.explanation.title},
                     {"statement", property.explanation.statement},
                     {"applies_to", property.explanation.applies_to}}});
  }
  return rows;
}

std::vector<Row> spec_rows() {
  std::vector<Row> rows;
  for (const Preset& preset : presets()) {
    rows.push_back({std::string(preset.name), std::string(preset.origin),
                    {{"name", preset.name}, {"origin", preset.origin}, {"spec", nlohmann::ordered_json::parse(to_json(parse_spec(preset.json)))}}});
  }
  return rows;
}

// The least spec of each encoding, written out, shows its fields and their defaults.
std::vector<Row> encoding_rows() {
  std::vector<Row> rows;
  for (const char* spec :
       {R"({"encoding":"integer"})", R"({"encoding":"binary","dim":17})", R"({"encoding":"sinusoidal","dim":512})",
        R"({"encoding":"sinusoidal_2d","dim":768,"height":14,"width":14})", R"({"encoding":"learned","dim":768,"max_positions":512})",
        R"({"encoding":"rope","head_dim":128})", R"({"encoding":"rope_nd","head_dim":128,"sections":[16,24,24]})",
        R"({"encoding":"xpos","head_dim":128})", R"({"encoding":"alibi","num_heads":8})", R"({"encoding":"relative_bias"})",
        R"({"encoding":"attention","num_heads":8,"head_dim":64})"}) {
    const auto fields = nlohmann::ordered_json::parse(to_json(parse_spec(spec)));
    const std::string name = fields["encoding"];
    rows.push_back({name, fmt::format("for example {}", fields.dump()), {{"encoding", name}, {"example", fields}}});
  }
  return rows;
}

// The instruction sets of the encoders' kernels, best first.
std::vector<Row> target_rows() {
  std::vector<Row> rows;
  const std::string_view used = target_in_use();
  for (const std::string_view name : supported_targets()) {
    rows.push_back({std::string(name), name == used ? "in use" : "supported; SEXTANT_FORCE_TARGET picks it", {{"name", name}, {"in_use", name == used}}});
  }
  return rows;
}

// Wrong implementations that the catalogue refuses, and odd but right ones that it accepts, each with the spec to audit it under.
std::vector<Row> mutant_rows() {
  std::vector<Row> rows;
  for (const mutants::Mutant& mutant : mutants::registry()) {
    const bool control = mutant.kind == mutants::Kind::control;
    rows.push_back({mutant.name, fmt::format("{}{}, under {}", control ? "right: " : "", mutant.mechanism, mutant.spec),
                    {{"name", mutant.name},
                     {"kind", control ? "control" : "defect"},
                     {"mechanism", mutant.mechanism},
                     {"spec", nlohmann::ordered_json::parse(mutant.spec)}}});
  }
  return rows;
}

// Known choices of arithmetic, which can be audited as recipe:NAME.
std::vector<Row> recipe_rows() {
  std::vector<Row> rows;
  for (const reference::Recipe& recipe : reference::recipes()) {
    rows.push_back({std::string(recipe.name), std::string(recipe.source), {{"name", recipe.name}, {"source", recipe.source}}});
  }
  return rows;
}

int print(const std::vector<Row>& rows, bool as_json) {
  if (as_json) {
    auto list = nlohmann::ordered_json::array();
    for (const Row& row : rows) list.push_back(row.json);
    fmt::print("{}\n", list.dump(2));
  } else {
    for (const Row& row : rows) fmt::print("{:<20} {}\n", row.name, row.text);
  }
  return 0;
}

}  // namespace

Run add_list(CLI::App& app) {
  struct Arguments {
    std::string what;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("list", "List properties, specs (presets), encodings, targets (instruction sets), mutants or recipes");
  command->add_option("what", arguments->what, "properties, specs, encodings, targets, mutants or recipes")->required();
  command->add_flag("--json", arguments->json, "As JSON");
  return [arguments] {
    if (arguments->what == "properties") return print(property_rows(), arguments->json);
    if (arguments->what == "specs") return print(spec_rows(), arguments->json);
    if (arguments->what == "encodings") return print(encoding_rows(), arguments->json);
    if (arguments->what == "targets") return print(target_rows(), arguments->json);
    if (arguments->what == "mutants") return print(mutant_rows(), arguments->json);
    if (arguments->what == "recipes") return print(recipe_rows(), arguments->json);
    throw UsageError(fmt::format("list {}: expected properties, specs, encodings, targets, mutants or recipes", arguments->what));
  };
}

}  // namespace sextant
