#include "reports/junit.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "reports/text.hpp"

namespace sextant {
namespace {

std::string details(const Report& report, const PropertyResult& result) {
  std::string text = result.statement;
  const auto add = [&](std::string_view label, const std::optional<Example>& example) {
    if (example)
      text += fmt::format("\n{}: {}\n  {}", label, example->finding, replay_command(report, result, *example));
  };
  add("simplest", result.simplest);
  add("worst", result.worst);
  return printable(text);
}

void add_outcome(pugi::xml_node node, const Report& report, const PropertyResult& result) {
  const auto add = [&](const char* kind, const std::string& message) {
    pugi::xml_node outcome = node.append_child(kind);
    outcome.append_attribute("message") = printable(message).c_str();
    if (std::string_view(kind) == "skipped") return;
    outcome.append_attribute("type") = std::string(name_of(result.verdict)).c_str();
    outcome.text().set(details(report, result).c_str());
  };
  if (is_aside(report, result)) {
    node.append_child("system-out")
        .text()
        .set(printable(fmt::format("advice not followed: {}", details(report, result))).c_str());
    return;
  }
  switch (result.verdict) {
    case Verdict::holds: return;
    case Verdict::violated: return add("failure", result.simplest ? result.simplest->finding : result.title);
    case Verdict::crashed:
    case Verdict::timed_out:
    case Verdict::undecided: return add("error", result.reason);
    case Verdict::not_applicable:
    case Verdict::unsupported: return add("skipped", fmt::format("{}: {}", name_of(result.verdict), result.reason));
  }
}

}  // namespace

std::string write_junit(const Report& report) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node suites = document.append_child("testsuites");
  pugi::xml_node suite = suites.append_child("testsuite");
  const auto missing = static_cast<std::int64_t>(report.missing.size());
  const std::int64_t errors =
      count(report, Verdict::crashed) + count(report, Verdict::timed_out) + count(report, Verdict::undecided) + missing;
  suite.append_attribute("name") = printable(fmt::format("{}: {}", report.subject, claim_text(report))).c_str();
  suite.append_attribute("tests") = static_cast<std::int64_t>(report.results.size()) + missing;
  suite.append_attribute("failures") = count(report, Verdict::violated);
  suite.append_attribute("errors") = errors;
  suite.append_attribute("skipped") = count(report, Verdict::not_applicable) + count(report, Verdict::unsupported);
  suite.append_attribute("time") = fmt::format("{:.3f}", report.seconds).c_str();
  pugi::xml_node properties = suite.append_child("properties");
  const auto add_property = [&](const std::string& name, const std::string& value) {
    pugi::xml_node property = properties.append_child("property");
    property.append_attribute("name") = name.c_str();
    property.append_attribute("value") = printable(value).c_str();
  };
  add_property("spec", report.spec_json);
  add_property("profile", report.profile);
  add_property("seed", std::to_string(report.seed));
  for (const auto& [name, value] : report.environment) add_property(name, value);
  const auto add_test = [&](const std::string& id, double seconds) {
    pugi::xml_node test = suite.append_child("testcase");
    test.append_attribute("name") = printable(id).c_str();
    test.append_attribute("classname") = printable("sextant." + report.subject).c_str();
    test.append_attribute("time") = fmt::format("{:.3f}", seconds).c_str();
    return test;
  };
  for (const PropertyResult& result : report.results) add_outcome(add_test(result.id, result.seconds), report, result);
  // A run that was cut short must not look green.
  for (const std::string& id : report.missing) {
    pugi::xml_node outcome = add_test(id, 0).append_child("error");
    outcome.append_attribute("message") = "not judged: the run was cut short";
    outcome.append_attribute("type") = "missing";
  }
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

}  // namespace sextant
