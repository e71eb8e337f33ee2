#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/command.hpp"
#include "lib/spec/nearest_name.hpp"
#include "properties/catalogue.hpp"
#include "reports/text.hpp"

namespace sextant {
namespace {

// A text of one or more lines, each wrapped and indented.
std::string paragraph(const std::string& text) {
  constexpr std::size_t indent = 4;
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    result += fmt::format("{:{}}{}\n", "", indent, wrapped(line, indent, 100));
  }
  return result;
}

}  // namespace

Run add_explain(CLI::App& app) {
  struct Arguments {
    std::string id;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("explain", "Say what a property states, why, and how its bound is derived");
  command->add_option("property", arguments->id, "Its id (see sextant list properties)")->required();
  command->add_flag("--json", arguments->json, "As JSON");
  return [arguments] {
    const std::string& id = arguments->id;
    const Property* property = property_named(id);
    if (property == nullptr)
      throw UsageError(fmt::format("explain {}: no such property (see sextant list properties){}", id,
                                   did_you_mean(id, catalogue(), &Property::id)));
    const Explanation& text = property->explanation;
    if (arguments->json) {
      const nlohmann::ordered_json json{{"id", property->id},          {"level", name_of(property->level)},
                                        {"title", text.title},         {"statement", text.statement},
                                        {"source", text.source},       {"applies_to", text.applies_to},
                                        {"tolerance", text.tolerance}, {"catches", text.catches}};
      fmt::print("{}\n", json.dump(2));
      return 0;
    }
    fmt::print("{} ({}): {}\n\n", property->id, name_of(property->level), text.title);
    fmt::print("statement\n{}\nsource\n{}\n", paragraph(text.statement), paragraph(text.source));
    fmt::print("applies to\n{}\ntolerance\n{}\n", paragraph(text.applies_to), paragraph(text.tolerance));
    fmt::print("catches\n{}", paragraph(text.catches));
    return 0;
  };
}

}  // namespace sextant
