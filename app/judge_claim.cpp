#include "app/judge_claim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>

#include "app/command.hpp"
#include "app/environment.hpp"
#include "app/progress.hpp"
#include "app/resume.hpp"
#include "app/subject_argument.hpp"
#include "lib/spec/changed_fields.hpp"
#include "lib/spec/nearest_name.hpp"
#include "properties/catalogue.hpp"
#include "properties/diagnose/diagnose.hpp"
#include "properties/engine/budget.hpp"
#include "properties/engine/preflight.hpp"
#include "properties/engine/unread_fields.hpp"
#include "properties/survey/take_survey.hpp"
#include "reports/event_log.hpp"
#include "reports/write.hpp"
#include "subjects/builtin.hpp"
#include "subjects/table_order.hpp"

namespace sextant {
namespace {

// The case of --replay, alone.
AuditOutcome judge_case(const AuditArguments& arguments, const Subject& subject, const Spec& spec) {
  const std::string id = token_property(arguments.replay);
  const std::vector<Property> properties = catalogue_as(arguments.recipe);
  const auto property = std::ranges::find(properties, id, &Property::id);
  if (property == properties.end())
    throw TokenError(fmt::format("--replay: no property is called {}{}", in_quotes(id),
                                 did_you_mean(id, properties, &Property::id)));
  return replay(*property, arguments.replay, subject, spec);
}

AskedAmount amount_of(const AuditArguments& arguments) {
  AskedAmount amount;
  if (arguments.budget > 0) amount.budget = arguments.budget;
  if (arguments.values > 0) amount.values = arguments.values;
  if (arguments.cases > 0) amount.cases = arguments.cases;
  if (arguments.largest_call > 0) amount.largest_call = arguments.largest_call;
  return amount;
}

// What the report says of the run before anything is judged.
Report report_of_run(const AuditArguments& arguments, const Spec& spec) {
  Report report;
  report.sextant_version = SEXTANT_VERSION;
  report.subject = arguments.subject_shown.empty() ? arguments.subject : arguments.subject_shown;
  report.spec_json = to_json(spec);
  report.spec_text = describe(spec);
  report.claim = name_of(spec.accuracy);
  report.first_position = spec.min_position;
  report.last_position = spec.max_position - 1;
  report.grid = position_grid_of(spec.encoding);
  report.profile = arguments.replay.empty() ? name_of(arguments.profile) : "replay";
  report.seed = arguments.seed;
  report.recipe = arguments.recipe;
  if (arguments.replay.empty()) report.amount = amount_of(arguments);
  report.environment = environment();
  report.shard = shard_of(arguments);
  // A replay is about one case, whose verdict is its exit code.
  const bool is_strict = arguments.strict || !arguments.replay.empty();
  report.strictness = is_strict ? Strictness::strict : Strictness::lenient;
  report.command = command_line(arguments);
  report.selection = selection_of(arguments);
  if (names_a_model(arguments.claim)) report.claim_notes = claims_of_model(arguments.claim).front().notes;
  return report;
}

CodePlace place_of(const SourcePlace& place) { return {place.file, place.line}; }

void introduce(Report& report, const Description& subject, const Spec& spec) {
  report.subject_name = subject.name;
  report.subject_version = subject.version;
  const auto place = subject.places.find(std::string(name_of(operation_of(spec.encoding))));
  if (place != subject.places.end()) report.source = place_of(place->second);
}

// The report of a subject that is not judged: every property that applies failed by the same reason.
void tell_stop(Report& report, const std::vector<Property>& properties, const Subject& subject, const Spec& spec,
               const PreflightFailure& failure) {
  report.stop = Stop{failure.reason, place_of(failure.trace.place), failure.trace.traceback, failure.trace.fix};
  report.results = none_judged(properties, subject, spec, failure.verdict, failure.reason);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Makes those that say nothing of a subject which reads these fields inapplicable.
void set_aside_unread(std::vector<Property>& properties, const FieldsRead& read) {
  for (Property& property : properties) {
    const std::optional<std::string> why = why_unread(property, read);
    if (!why) continue;
    property.not_applicable = [why, before = property.not_applicable](const Spec& asked) {
      const std::optional<std::string> other = before(asked);
      return other ? other : why;
    };
  }
}

std::optional<Diagnosis> diagnosis_of(const AuditArguments& arguments, const Subject& subject, const Spec& spec,
                                      const std::vector<PropertyResult>& results) {
  const auto proposer = builtin_subject();
  identify::Clues clues{.proposer = proposer.get()};
  std::ranges::copy_if(results, std::back_inserter(clues.violated), is_violated_law);
  if (const PropertyResult* accuracy = identify::violated_named(clues, "accuracy"))
    clues.failing = identify::failing_cases_of(*accuracy);
  std::optional<Diagnosis> diagnosis;
  try {
    diagnosis = identify::diagnose(subject, spec, clues);
  } catch (const std::logic_error& error) {
    // A defect of ours, which costs the sentence and not the verdicts.
    fmt::print(stderr, "sextant: internal error: {}: the report is without a diagnosis\n", error.what());
  }
  if (!diagnosis || diagnosis->spec_json.empty()) return diagnosis;
  const Spec other = parse_spec(diagnosis->spec_json);
  diagnosis->changes = changed_fields(spec, other);
  if (!diagnosis->is_as_asked) diagnosis->command = command_line_for(arguments, other);
  return diagnosis;
}

// Which fields a subject ignores and how it says that this is meant: of advice a note, of what fails a strict audit its
// cause, unless values are wrong.
void tell_unread(Report& report, const Subject& subject, const Spec& spec) {
  const auto liveness = std::ranges::find(report.results, "parameter_liveness", &PropertyResult::id);
  if (liveness == report.results.end() || liveness->verdict != Verdict::violated) return;
  const std::string unread = unread_text(subject, spec);
  if (unread.empty()) return;
  if (is_aside(report, *liveness) || std::ranges::any_of(report.results, is_violated_law)) {
    report.notes.push_back(unread);
  } else if (!report.diagnosis) {
    report.diagnosis.emplace().differences.push_back({unread, "", DiagnosedStage::other});
  }
}

// Judges what no earlier part of the run has judged, and logs it where there is a directory for it. The survey is for
// the page's pictures.
void judge_all(Report& report, const AuditArguments& arguments, const Subject& subject, const Spec& spec,
               const Description& description, AuditOptions options, const std::vector<std::string>& notes,
               std::chrono::steady_clock::time_point start) {
  const std::filesystem::path directory = directory_of(arguments);
  const std::string digest = directory.empty() ? "" : digest_of_subject(arguments.subject);
  std::vector<Property> properties = selected_properties(arguments);
  const bool asks_of_fields = std::ranges::any_of(
      properties, [&](const Property& property) { return property.changes && !property.not_applicable(spec); });
  std::vector<std::string> ids;
  ids.reserve(properties.size());
  for (const Property& property : properties) ids.push_back(property.id);
  report.missing = ids;
  report.exit_status = exit_status(report);

  std::optional<LoggedRun> earlier;
  if (!arguments.resume.empty()) earlier = logged_run_in(directory);
  if (earlier) {
    Report asked = report;  // what the subject calls itself is not known yet
    asked.subject_name = earlier->report.subject_name;
    asked.subject_version = earlier->report.subject_version;
    refuse_other_run(directory, earlier->report, asked);
    refuse_changed_subject(directory, *earlier, digest);
    options.begun = earlier->begun;
    std::erase_if(properties, [&](const Property& property) {
      return std::ranges::find(earlier->report.results, property.id, &PropertyResult::id) !=
             earlier->report.results.end();
    });
  }
  FieldsRead read;
  if (asks_of_fields && !(earlier && earlier->is_finished)) read = fields_read_by(subject, spec, description);
  set_aside_unread(properties, read);
  ProgressLine line(std::ssize(properties), start);
  options.progress = [&](std::int64_t done, std::int64_t total) { line.advance(done, total); };
  std::optional<EventLog> log;
  options.introduced = [&](const Description& said) {
    introduce(report, said, spec);
    if (earlier) {
      refuse_other_run(directory, earlier->report, report);
      log.emplace(event_log_in(directory), *earlier);
    } else if (!directory.empty()) {
      log.emplace(event_log_in(directory), report, digest);
    }
  };
  options.judged = [&](const PropertyResult& result) {
    line.judged(result);
    if (log) log->judged(report, result);
  };
  options.underway = [&](const Underway& underway) {
    line.judging(underway.id);
    if (log) log->judging(underway);
  };
  const AuditOutcome outcome = audit(properties, subject, spec, options);
  report.results = earlier ? joined(std::move(earlier->report.results), outcome.results, ids) : outcome.results;
  report.missing.clear();
  if (earlier) report.environment = earlier->report.environment;
  if (earlier && earlier->is_finished) {
    report.survey = std::move(earlier->report.survey);
    report.notes = std::move(earlier->report.notes);
    report.diagnosis = std::move(earlier->report.diagnosis);
    return;
  }
  // Of shards the first takes it for all.
  // Where no property was asked, nothing is measured either.
  const bool is_wanted = report.shard ? !directory.empty() && report.shard->index == 1 : !ids.empty();
  line.judging("measuring errors");
  if (is_wanted)
    report.survey = take_survey(subject, spec, directory.empty() ? SurveyFor::summary : SurveyFor::pictures);
  line.judging("looking for the cause");
  // A shard does not know what the others find: the first's holds if any does.
  if (report.shard ? is_wanted : asks_for_diagnosis(report.results))
    report.diagnosis = diagnosis_of(arguments, subject, spec, report.results);
  report.notes = notes;
  if (!read.how_known.empty()) report.notes.push_back(read.how_known);
  tell_unread(report, subject, spec);
  report.seconds = seconds_since(start);
  if (log) log->ended(report);
}

void take_amount(AuditArguments& arguments, const std::optional<std::int64_t>& values,
                 const std::optional<std::int64_t>& cases, const std::optional<std::int64_t>& largest_call) {
  arguments.values = values.value_or(0);
  arguments.cases = cases.value_or(0);
  arguments.largest_call = largest_call.value_or(0);
}

// What --budget comes to, unless the numbers are given, or were chosen when the run began that is to be gone on with.
// Where even the least takes longer, or is too few to say much, a line that says so.
std::optional<std::string> choose_amount(AuditArguments& arguments, const Subject& subject, const Spec& spec,
                                         const AuditOptions& options) {
  if (arguments.budget <= 0 || arguments.values > 0 || !arguments.replay.empty()) return std::nullopt;
  if (!arguments.resume.empty()) {
    if (const auto earlier = logged_run_in(arguments.resume)) {
      const AskedAmount& amount = earlier->report.amount;
      take_amount(arguments, amount.values, amount.cases, amount.largest_call);
      return std::nullopt;
    }
  }
  const BudgetedAmount chosen = amount_within(arguments.budget, selected_properties(arguments), subject, spec, options);
  const Amount& amount = chosen.amount;
  const auto whole = [&](const std::optional<std::int64_t>& number, std::int64_t all) { return number.value_or(all); };
  take_amount(arguments, whole(amount.values, values_of(options)),
              whole(amount.cases, cases_of(options, Sessions::shared)), amount.largest_call);
  std::string note;
  if (chosen.seconds > arguments.budget)
    note = fmt::format("--budget {:g}: the least that an audit asks takes about {:.0f} s here", arguments.budget,
                       chosen.seconds);
  if (chosen.seconds_of_enough) {
    note += note.empty() ? fmt::format("--budget {:g}: ", arguments.budget) : "; ";
    note += fmt::format(
        "of each property {} first and {} drawn cases are asked, which says little where it holds: {} "
        "take at least about {:.0f} s here",
        *amount.cases, *amount.cases, enough_cases, *chosen.seconds_of_enough);
  }
  return note.empty() ? std::nullopt : std::optional(note);
}

}  // namespace

Report judge_claim(AuditArguments arguments, const Spec& claimed, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  refuse_unused_options(arguments.subject, arguments.python, arguments.table_order);
  OpenOptions open;
  open.judges = static_cast<int>(arguments.threads);
  open.limits.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(arguments.timeout * 1000));
  open.limits.stop = stop;
  // Filled while sessions are opened, from several threads but once for a subject, and read when they have ended.
  const auto notes = std::make_shared<std::vector<std::string>>();
  open.limits.note = [notes](const std::string& note) { notes->push_back(note); };
  if (!arguments.python.empty()) open.python = arguments.python;
  if (!arguments.table_order.empty()) open.table_order = table_order_named(arguments.table_order);
  const std::unique_ptr<Subject> subject = subject_from_argument(arguments.subject, claimed, open);
  const Spec spec = subject->within_reach(claimed);

  const bool is_replay = !arguments.replay.empty();
  // A run that has begun has had its first calls.
  const bool has_begun = !arguments.resume.empty() && logged_run_in(arguments.resume);
  const Preflight flight =
      preflight(*subject, spec, is_replay || has_begun ? FirstAsked::description : FirstAsked::calls);

  AuditOptions options;
  options.profile = arguments.profile;
  options.seed = arguments.seed;
  options.threads = static_cast<int>(arguments.threads);
  options.stop = stop;
  if (!flight.failure) {
    if (const auto longer = choose_amount(arguments, *subject, spec, options)) {
      fmt::print(stderr, "sextant: {}\n", *longer);
      notes->push_back(*longer);
    }
  }
  const AskedAmount amount = amount_of(arguments);
  options.amount = {.values = amount.values, .cases = amount.cases, .largest_call = amount.largest_call};

  Report report = report_of_run(arguments, spec);
  if (is_replay && !flight.failure) {
    AuditOutcome outcome = judge_case(arguments, *subject, spec);
    introduce(report, outcome.subject, spec);
    report.results = std::move(outcome.results);
  } else if (flight.failure) {
    introduce(report, flight.description, spec);
    tell_stop(report, selected_properties(arguments), *subject, spec, *flight.failure);
    report.notes = *notes;
  } else {
    if (report.shard) options.part = {report.shard->index, report.shard->count};
    judge_all(report, arguments, *subject, spec, flight.description, options, *notes, start);
  }
  report.exit_status = exit_status(report);
  report.seconds = seconds_since(start);
  if (const std::string& directory = directory_of(arguments); !directory.empty()) write_reports(report, directory);
  return report;
}

}  // namespace sextant
