#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/command.hpp"
#include "app/one_of.hpp"
#include "app/spec_argument.hpp"
#include "lib/kernels/targets.hpp"
#include "lib/spec/field_meanings.hpp"
#include "lib/spec/presets.hpp"
#include "lib/spec/spec.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/special_positions.hpp"
#include "properties/mutants/mutant.hpp"
#include "reference/recipe.hpp"

namespace sextant {
namespace {

struct Row {
  std::string name;
  std::string text;
  nlohmann::ordered_json json;
  std::vector<FieldMeaning> fields = {};  // below it, a line each
};

Row row_of(const Property& property) {
  return {
      property.id,
      fmt::format("{}: {} ({})", name_of(property.level), property.explanation.title, property.explanation.applies_to),
      {{"id", property.id},
       {"level", name_of(property.level)},
       {"title", property.explanation.title},
       {"statement", property.explanation.statement},
       {"applies_to", property.explanation.applies_to}}};
}

std::vector<Row> property_rows() {
  std::vector<Row> rows;
  for (const Property& property : catalogue()) rows.push_back(row_of(property));
  return rows;
}

// Those that an audit of the spec judges, of a live subject and without --as.
std::vector<Row> properties_of(const Spec& spec) {
  std::vector<Row> rows;
  for (const Property& property : catalogue()) {
    if (!property.not_applicable(spec)) rows.push_back(row_of(property));
  }
  return rows;
}

std::vector<Row> spec_rows() {
  std::vector<Row> rows;
  for (const Preset& preset : presets()) {
    rows.push_back({std::string(preset.name),
                    fmt::format("{} [{}]", preset.origin, preset.source),
                    {{"name", preset.name},
                     {"origin", preset.origin},
                     {"source", preset.source},
                     {"spec", nlohmann::ordered_json::parse(to_json(parse_spec(preset.json)))}}});
  }
  return rows;
}

// Where implementations break, of the positions that a spec claims: a third of those that cases draw.
std::vector<Row> position_rows(const Spec& spec) {
  std::vector<Row> rows;
  for (const std::int64_t position : gen::special_positions(gen::range_of(spec)))
    rows.push_back({std::to_string(position), "", position});
  return rows;
}

nlohmann::ordered_json as_json(std::span<const FieldMeaning> fields) {
  auto list = nlohmann::ordered_json::array();
  for (const FieldMeaning& field : fields) list.push_back({{"name", field.name}, {"meaning", field.meaning}});
  return list;
}

// The least spec of each encoding, written out, shows its fields and their defaults; then what each says.
std::vector<Row> encoding_rows() {
  std::vector<Row> rows;
  for (const EncodingExample& example : encoding_examples()) {
    const auto fields = nlohmann::ordered_json::parse(to_json(parse_spec(example.spec)));
    const std::string name(example.encoding);
    const Operation operation = signature_of(parse_spec(example.spec).encoding).operation;
    std::vector<FieldMeaning> own = fields_of_encoding(name);
    std::vector<FieldMeaning> all = own;
    all.insert(all.end(), fields_of_every_spec().begin(), fields_of_every_spec().end());
    rows.push_back(
        {name,
         fmt::format("for example {}", fields.dump()),
         {{"encoding", name}, {"operation", name_of(operation)}, {"example", fields}, {"fields", as_json(all)}},
         std::move(own)});
  }
  return rows;
}

// The instruction sets of the encoders' kernels, best first.
std::vector<Row> target_rows() {
  std::vector<Row> rows;
  const std::string_view used = target_in_use();
  for (const std::string_view name : supported_targets()) {
    rows.push_back({std::string(name),
                    name == used ? "in use" : "supported; SEXTANT_FORCE_TARGET picks it",
                    {{"name", name}, {"in_use", name == used}}});
  }
  return rows;
}

// Wrong implementations that the catalogue refuses, and odd but right ones that it accepts, each with the spec to audit
// it under.
std::vector<Row> mutant_rows() {
  std::vector<Row> rows;
  for (const mutants::Mutant& mutant : mutants::registry()) {
    const bool control = mutant.kind == mutants::Kind::control;
    rows.push_back({mutant.name,
                    fmt::format("{}{}, under {}", control ? "right: " : "", mutant.mechanism, mutant.spec),
                    {{"name", mutant.name},
                     {"kind", control ? "control" : "defect"},
                     {"mechanism", mutant.mechanism},
                     {"row", mutant.row},
                     {"spec", nlohmann::ordered_json::parse(mutant.spec)},
                     {"recipe", mutant.recipe}}});
  }
  return rows;
}

// Known choices of arithmetic, which can be audited as recipe:NAME.
std::vector<Row> recipe_rows() {
  std::vector<Row> rows;
  for (const reference::Recipe& recipe : reference::recipes()) {
    rows.push_back(
        {std::string(recipe.name), std::string(recipe.source), {{"name", recipe.name}, {"source", recipe.source}}});
  }
  return rows;
}

// What mathematics says of each property under each spec: "holds", "fails", or nothing where it is not stated.
std::optional<std::string> theory_of(const Property& property, const Spec& spec) {
  if (property.not_applicable(spec)) return std::nullopt;
  return std::string(name_of(property.theory(spec)));
}

// Encodings against properties. Where an encoding has settings that theory tells apart, the example says which.
int print_matrix(bool as_json) {
  std::vector<std::pair<std::string, Spec>> specs;
  for (const Row& row : encoding_rows()) specs.emplace_back(row.name, parse_spec(row.json["example"].dump()));
  for (const auto& [name, json] :
       {std::pair{"integer, normalised", R"({"encoding":"integer","normalize":true})"},
        {"alibi, key index", R"({"encoding":"alibi","num_heads":8,"form":"key_index"})"},
        {"rope, partial", R"({"encoding":"rope","head_dim":128,"rotary_dim":64})"},
        {"attention, causal", R"({"encoding":"attention","num_heads":8,"head_dim":64,"causal":true})"},
        {"attention with rope",
         R"({"encoding":"attention","num_heads":8,"head_dim":64,"position":{"encoding":"rope","head_dim":64}})"}}) {
    specs.emplace_back(name, parse_spec(json));
  }
  if (as_json) {
    auto list = nlohmann::ordered_json::array();
    for (const Property& property : catalogue()) {
      nlohmann::ordered_json row{{"property", property.id}};
      for (const auto& [name, spec] : specs) row[name] = theory_of(property, spec).value_or("not_applicable");
      list.push_back(std::move(row));
    }
    fmt::print("{}\n", list.dump(2));
    return 0;
  }
  fmt::print("| property |");
  for (const auto& [name, spec] : specs) fmt::print(" {} |", name);
  fmt::print("\n|---|{}|\n", fmt::join(std::vector<std::string>(specs.size(), "---"), "|"));
  for (const Property& property : catalogue()) {
    fmt::print("| {} |", property.id);
    for (const auto& [name, spec] : specs) {
      const auto theory = theory_of(property, spec);
      fmt::print(" {} |", !theory ? "" : *theory == "fails" ? "fails, with a witness" : *theory);
    }
    fmt::print("\n");
  }
  return 0;
}

std::size_t widest_name(const auto& list) {
  std::size_t widest = 0;
  for (const auto& one : list) widest = std::max(widest, one.name.size());
  return widest;
}

void print_fields(std::span<const FieldMeaning> fields) {
  const std::size_t widest = widest_name(fields);
  for (const FieldMeaning& field : fields) fmt::print("  {:<{}}  {}\n", field.name, widest, field.meaning);
}

int print(const std::vector<Row>& rows, bool as_json) {
  if (as_json) {
    auto list = nlohmann::ordered_json::array();
    for (const Row& row : rows) list.push_back(row.json);
    fmt::print("{}\n", list.dump(2));
  } else {
    const std::size_t widest = widest_name(rows);
    for (const Row& row : rows) {
      fmt::print("{:<{}}  {}\n", row.name, widest, row.text);
      print_fields(row.fields);
    }
  }
  return 0;
}

}  // namespace

Run add_list(CLI::App& app) {
  struct Arguments {
    std::string what;
    bool json = false;
    bool matrix = false;
    std::string spec;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "list",
      "List properties, specs (or presets, the same), encodings, positions, targets (instruction sets), mutants or "
      "recipes");
  static const std::map<std::string, std::vector<Row> (*)()> lists{
      {"properties", property_rows}, {"specs", spec_rows},     {"presets", spec_rows},  {"encodings", encoding_rows},
      {"targets", target_rows},      {"mutants", mutant_rows}, {"recipes", recipe_rows}};
  std::vector<std::string> names{"positions"};
  for (const auto& [name, rows] : lists) names.push_back(name);
  one_of(command->add_option("what", arguments->what, "Of what")->required(), names);
  command->add_flag("--matrix", arguments->matrix,
                    "For properties: what mathematics says of each encoding, as a table");
  command->add_flag("--json", arguments->json, "As JSON");
  add_spec_option(*command, arguments->spec,
                  "For properties: those that apply to this spec, a file, inline JSON, a preset's name or - (standard "
                  "input); for positions: those of its claim where implementations break");
  return [arguments] {
    if (arguments->matrix && arguments->what != "properties") throw UsageError("list --matrix: expected properties");
    if (arguments->what == "positions") {
      if (arguments->spec.empty()) throw UsageError("list positions: needs --spec");
      return print(position_rows(spec_from_argument(arguments->spec)), arguments->json);
    }
    if (!arguments->spec.empty() && arguments->what != "properties")
      throw UsageError("list --spec: expected properties or positions");
    if (!arguments->spec.empty() && arguments->matrix)
      throw UsageError("list --spec: cannot be combined with --matrix");
    if (!arguments->spec.empty()) return print(properties_of(spec_from_argument(arguments->spec)), arguments->json);
    if (arguments->matrix) return print_matrix(arguments->json);
    const int status = print(lists.at(arguments->what)(), arguments->json);
    if (arguments->what == "encodings" && !arguments->json) {
      fmt::print("every spec\n");
      print_fields(fields_of_every_spec());
    }
    return status;
  };
}

}  // namespace sextant
