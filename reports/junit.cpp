#include "reports/junit.hpp"

#include <fmt/format.h>

#include <pugixml.hpp>
#include <sstream>

#include "reports/summary.hpp"
#include "reports/text.hpp"

namespace sextant {
namespace {

std::string details(const Report& report, const PropertyResult& result) {
  const auto diagnosis = diagnosis_of(report, result);
  const std::string statement = statement_of(report, result);
  std::string text = diagnosis ? fmt::format("cause: {}\n{}", *diagnosis, statement) : statement;
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

// What the suite's attributes count.
struct Counts {
  std::int64_t tests;
  std::int64_t failures;
  std::int64_t errors;
  std::int64_t skipped;
};

Counts counts_of(const Report& report) {
  const auto missing = std::ssize(report.missing);
  const std::int64_t tests = std::ssize(report.results) + missing;
  if (report.stop) return {tests + 1, 0, 1 + missing, std::ssize(report.results)};
  const std::int64_t failed = count(report, Verdict::crashed) + count(report, Verdict::timed_out);
  return {tests, count(report, Verdict::violated), failed + count(report, Verdict::undecided) + missing,
          count(report, Verdict::not_applicable) + count(report, Verdict::unsupported)};
}

// One error, and every property skipped by its reason.
template <class AddTest>
void add_stop(const Report& report, const AddTest& add_test) {
  const Stop& stop = *report.stop;
  std::string text = stop.reason;
  if (!stop.place.file.empty()) text += "\nat " + place_text(stop.place);
  if (!stop.fix.empty()) text += "\nlikely fix: " + stop.fix;
  if (!stop.traceback.empty()) text += "\n" + stop.traceback;
  pugi::xml_node error = add_test("preflight", 0).append_child("error");
  error.append_attribute("message") = printable(stop.reason).c_str();
  error.append_attribute("type") = "preflight";
  error.text().set(printable(text).c_str());
  for (const PropertyResult& result : report.results)
    add_test(result.id, 0).append_child("skipped").append_attribute("message") = "not judged: see preflight";
}

}  // namespace

std::string write_junit(const Report& report) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node suites = document.append_child("testsuites");
  pugi::xml_node suite = suites.append_child("testsuite");
  const Counts counts = counts_of(report);
  suite.append_attribute("name") = printable(fmt::format("{}: {}", report.subject, claim_text(report))).c_str();
  suite.append_attribute("tests") = counts.tests;
  suite.append_attribute("failures") = counts.failures;
  suite.append_attribute("errors") = counts.errors;
  suite.append_attribute("skipped") = counts.skipped;
  suite.append_attribute("time") = fmt::format("{:.3f}", report.seconds).c_str();
  pugi::xml_node properties = suite.append_child("properties");
  const auto add_property = [&](const std::string& name, const std::string& value) {
    pugi::xml_node property = properties.append_child("property");
    property.append_attribute("name") = name.c_str();
    property.append_attribute("value") = printable(value).c_str();
  };
  add_property("summary", summary_line(report));
  add_property("spec", report.spec_json);
  add_property("profile", report.profile);
  add_property("seed", std::to_string(report.seed));
  if (const auto diagnosis = diagnosis_text(report)) add_property("diagnosis", *diagnosis);
  for (const auto& [name, value] : report.environment) add_property(name, value);
  const auto add_test = [&](const std::string& id, double seconds) {
    pugi::xml_node test = suite.append_child("testcase");
    test.append_attribute("name") = printable(id).c_str();
    test.append_attribute("classname") = printable("sextant." + report.subject).c_str();
    test.append_attribute("time") = fmt::format("{:.3f}", seconds).c_str();
    return test;
  };
  if (report.stop) {
    add_stop(report, add_test);
  } else {
    for (const PropertyResult& result : report.results)
      add_outcome(add_test(result.id, result.seconds), report, result);
  }
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
