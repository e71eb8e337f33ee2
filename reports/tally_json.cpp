#include "reports/tally_json.hpp"

#include "reports/deviation_json.hpp"
#include "reports/json_numbers.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

ordered_json example_json(const Example& example) {
  ordered_json json = {{"token", example.token}, {"finding", example.finding}};
  add_deviation(json, example.deviation);
  if (example.shown == Shown::after_other_calls) json["after_other_calls"] = true;
  return json;
}

Example example_of(const JsonObject& json) {
  return {json.text("token"), json.text("finding"), deviation_of(json), shown_of(json)};
}

void add(ordered_json& json, const char* name, const std::optional<std::int64_t>& value) {
  if (value) json[name] = *value;
}

std::optional<std::int64_t> integer_of(const JsonObject& json, const char* name) {
  return json.has(name) ? std::optional(json.integer(name)) : std::nullopt;
}

std::int64_t count_of(const JsonObject& json, const char* name) {
  const std::int64_t count = json.integer(name);
  if (count < 0) json.fail(name, "expected a count");
  return count;
}

ordered_json remark_json(const Remark& remark) { return {{"number", remark.number}, {"text", remark.text}}; }

std::optional<Remark> remark_of(const JsonObject& json, const char* name) {
  if (!json.has(name)) return std::nullopt;
  const JsonObject remark = json.object(name);
  return Remark{count_of(remark, "number"), remark.text("text")};
}

ordered_json worst_json(const WorstCase& worst) {
  ordered_json json{
      {"number", worst.number}, {"violated", worst.is_violated}, {"of_bound", number_json(worst.of_bound)}};
  add(json, "place", worst.place);
  json["example"] = example_json(worst.example);
  json["searched"] = worst.searched;
  add(json, "horizon", worst.horizon);
  return json;
}

WorstCase worst_of(const JsonObject& json) {
  return {count_of(json, "number"),
          json.truth("violated"),
          json.number("of_bound"),
          integer_of(json, "place"),
          example_of(json.object("example")),
          count_of(json, "searched"),
          integer_of(json, "horizon")};
}

ordered_json counterexample_json(const Counterexample& counterexample) {
  ordered_json json{{"number", counterexample.number}};
  add(json, "place", counterexample.place);
  json["example"] = example_json(counterexample.example);
  add(json, "horizon", counterexample.horizon);
  return json;
}

ordered_json failure_json(const FailedCase& failure) {
  return {{"number", failure.number},
          {"asked", failure.asked},
          {"verdict", name_of(failure.verdict)},
          {"reason", failure.reason},
          {"example", example_json(failure.example)}};
}

}  // namespace

ordered_json tally_json(const Tally& tally) {
  ordered_json json{{"judged", tally.judged},           {"undecided", tally.undecided},
                    {"precision", tally.precision},     {"hiding", tally.hiding},
                    {"informative", tally.informative}, {"uninformative", tally.uninformative},
                    {"unsupported", tally.unsupported}};
  if (tally.why_unsupported) json["why_unsupported"] = remark_json(*tally.why_unsupported);
  if (tally.unfinished) json["unfinished"] = remark_json(*tally.unfinished);
  if (tally.remark) json["remark"] = remark_json(*tally.remark);
  if (tally.coverage)
    json["coverage"] = {{"positions", tally.coverage->positions},
                        {"claimed", tally.coverage->claimed},
                        {"values", tally.coverage->values},
                        {"of", tally.coverage->of}};
  add(json, "horizon", tally.horizon);
  if (tally.worst) json["worst"] = worst_json(*tally.worst);
  if (tally.counterexample) json["counterexample"] = counterexample_json(*tally.counterexample);
  if (tally.failure) json["failure"] = failure_json(*tally.failure);
  return json;
}

Tally tally_of(const JsonObject& json) {
  Tally tally;
  tally.judged = count_of(json, "judged");
  tally.undecided = count_of(json, "undecided");
  tally.precision = count_of(json, "precision");
  tally.hiding = count_of(json, "hiding");
  tally.informative = count_of(json, "informative");
  tally.uninformative = count_of(json, "uninformative");
  tally.unsupported = count_of(json, "unsupported");
  tally.why_unsupported = remark_of(json, "why_unsupported");
  tally.unfinished = remark_of(json, "unfinished");
  tally.remark = remark_of(json, "remark");
  if (json.has("coverage")) {
    const JsonObject coverage = json.object("coverage");
    tally.coverage = Coverage{count_of(coverage, "positions"), count_of(coverage, "claimed"),
                              count_of(coverage, "values"), coverage.text("of")};
  }
  tally.horizon = integer_of(json, "horizon");
  if (json.has("worst")) tally.worst = worst_of(json.object("worst"));
  if (json.has("counterexample")) {
    const JsonObject found = json.object("counterexample");
    tally.counterexample = Counterexample{count_of(found, "number"), integer_of(found, "place"),
                                          example_of(found.object("example")), integer_of(found, "horizon")};
  }
  if (json.has("failure")) {
    const JsonObject failure = json.object("failure");
    tally.failure = FailedCase{count_of(failure, "number"), count_of(failure, "asked"),
                               failure.one_of("verdict", {Verdict::crashed, Verdict::timed_out}),
                               failure.text("reason"), example_of(failure.object("example"))};
  }
  // What settled() relies on.
  if (tally.judged > 0 && !tally.worst) json.fail("worst", "missing, though cases were judged");
  if (tally.counterexample && !tally.worst) json.fail("worst", "missing, though a case is violated");
  if (tally.unsupported > 0 && !tally.why_unsupported) json.fail("why_unsupported", "missing");
  return tally;
}

ordered_json underway_json(const Underway& underway) {
  return {{"id", underway.id}, {"done", underway.done}, {"share", tally_json(underway.tally)}};
}

Underway underway_of(const JsonObject& json) {
  return {json.text("id"), count_of(json, "done"), tally_of(json.object("share"))};
}

}  // namespace sextant
