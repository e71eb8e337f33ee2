#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "app/command.hpp"
#include "properties/catalogue.hpp"

namespace sextant {
namespace {

// Words of `text` in lines of at most 100 columns, each indented; a line break in the text stays one.
std::string wrapped(const std::string& text) {
  constexpr std::size_t width = 100;
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string current = "   ";
    for (std::string word; words >> word;) {
      if (current.size() + 1 + word.size() > width) {
        result += current + '\n';
        current = "   ";
      }
      current += ' ' + word;
    }
    result += current + '\n';
  }
  return result;
}

}  // namespace

Run add_explain(CLI::App& app) {
  auto id = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("explain", "Say what a property states, why, and how its bound is derived");
  command->add_option("property", *id, "Its id (see sextant list properties)")->required();
  return [id] {
    const Property* property = property_named(*id);
    if (property == nullptr) throw UsageError(fmt::format("explain {}: no such property (see sextant list properties)", *id));
    const Explanation& text = property->explanation;
    fmt::print("{} ({}): {}\n\n", property->id, name_of(property->level), text.title);
    fmt::print("statement\n{}\nsource\n{}\n", wrapped(text.statement), wrapped(text.source));
    fmt::print("applies to\n{}\ntolerance\n{}\n", wrapped(text.applies_to), wrapped(text.tolerance));
    fmt::print("catches\n{}", wrapped(text.catches));
    return 0;
  };
}

}  // namespace sextant
