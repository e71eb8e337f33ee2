// Over 400 lines, since the options of one subcommand are read, refused and carried out here; what they call stands in
// files of its own.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "app/audit_each.hpp"
#include "app/command.hpp"
#include "app/environment.hpp"
#include "app/number_option.hpp"
#include "app/progress.hpp"
#include "app/report.hpp"
#include "app/resume.hpp"
#include "app/signals.hpp"
#include "app/spec_argument.hpp"
#include "app/subject_argument.hpp"
#include "lib/spec/nearest_name.hpp"
#include "lib/spec/spec.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/budget.hpp"
#include "properties/engine/engine.hpp"
#include "properties/survey/take_survey.hpp"
#include "reference/recipe.hpp"
#include "reference/recipe_answer.hpp"
#include "reports/event_log.hpp"
#include "reports/json.hpp"
#include "reports/read_json.hpp"
#include "reports/report.hpp"
#include "reports/terminal.hpp"
#include "reports/write.hpp"
#include "subjects/table_order.hpp"

namespace sextant {
namespace {

struct Arguments {
  std::string subject;
  SpecOptions claim;
  bool all_layers = false;
  Profile profile = Profile::standard;
  std::uint64_t seed = 1;
  std::vector<std::string> only;
  std::vector<std::string> skip;
  double max_position = 0;  // as positions are, which may be real
  std::int64_t threads = std::max(1U, std::thread::hardware_concurrency());
  double timeout = 60;
  double budget = 0;              // none
  std::int64_t values = 0;        // the profile's
  std::int64_t cases = 0;         // likewise
  std::int64_t largest_call = 0;  // any
  std::string report;
  std::string resume;
  std::string replay;
  std::string recipe;
  std::string baseline;
  std::string shard;
  bool strict = false;
  std::string python;
  bool json = false;
  std::string subject_shown;
  std::string command_shown;
  std::string table_order;
  bool table = false;
};

// The claim with --max-position in it.
Spec reaching_to(const Arguments& arguments, Spec spec) {
  const PositionGrid grid = position_grid_of(spec.encoding);
  const auto count = grid.count_of(arguments.max_position);
  if (!count) {
    const std::string expected =
        grid.dtype == Dtype::int64
            ? std::string("a whole number")
            : fmt::format("a position, at most 2^53 times position_step = {} and a multiple of it", grid.step);
    throw UsageError(fmt::format("--max-position {}: expected {}", arguments.max_position, expected));
  }
  spec.max_position = *count;
  try {
    validate(spec);
  } catch (const SpecError& error) {
    throw SpecError(fmt::format("--max-position {}: {}", arguments.max_position, error.what()));
  }
  return spec;
}

Spec read_spec(const Arguments& arguments, bool max_position_given) {
  Spec spec = spec_from_options(arguments.claim);
  if (max_position_given) spec = reaching_to(arguments, std::move(spec));
  if (!arguments.table) return spec;
  const std::optional<Spec> claim = recorded_claim(spec);
  if (!claim || operation_of(claim->encoding) != Operation::table)
    throw UsageError(fmt::format("--table: expected a claim of rope, got {}", encoding_name(spec)));
  return *claim;
}

// "2/5": the second of five.
std::optional<Shard> read_shard(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const char* const end = text.data() + text.size();
  Shard shard{0, 0};
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool slash = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = std::from_chars(slash ? index.ptr + 1 : end, end, shard.count);
  if (!slash || count.ec != std::errc() || count.ptr != end || shard.index < 1 || shard.count > 100000 ||
      shard.index > shard.count) {
    throw UsageError(fmt::format("--shard {}: expected I/N with 1 <= I <= N <= 100000", text));
  }
  return shard;
}

std::vector<Property> select(const Arguments& arguments) {
  for (const auto* list : {&arguments.only, &arguments.skip}) {
    for (const std::string& id : *list) {
      if (property_named(id) != nullptr) continue;
      throw UsageError(fmt::format("{} {}: no such property (see sextant list properties){}",
                                   list == &arguments.only ? "--only" : "--skip", id,
                                   did_you_mean(id, catalogue(), &Property::id)));
    }
  }
  const auto listed = [](const std::vector<std::string>& list, const std::string& id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  std::vector<Property> selected;
  for (const Property& property : catalogue_as(arguments.recipe)) {
    if ((arguments.only.empty() || listed(arguments.only, property.id)) && !listed(arguments.skip, property.id))
      selected.push_back(property);
  }
  return selected;
}

// The command line that asks the same question again; --replay is added to it.
std::string command_line(const Arguments& arguments, bool max_position_given) {
  if (!arguments.command_shown.empty()) return arguments.command_shown;
  std::string line = fmt::format("sextant audit {} {}", shell_word(arguments.subject), words_of(arguments.claim));
  if (max_position_given) line += fmt::format(" --max-position {}", arguments.max_position);
  if (!arguments.recipe.empty()) line += fmt::format(" --as {}", arguments.recipe);
  if (arguments.budget > 0) line += fmt::format(" --budget {:g}", arguments.budget);
  if (arguments.values > 0) line += fmt::format(" --values {}", arguments.values);
  if (arguments.cases > 0) line += fmt::format(" --cases {}", arguments.cases);
  if (arguments.largest_call > 0) line += fmt::format(" --largest-call {}", arguments.largest_call);
  if (!arguments.python.empty()) line += fmt::format(" --python {}", shell_word(arguments.python));
  if (arguments.table) line += " --table";
  if (!arguments.table_order.empty()) line += fmt::format(" --table-order {}", arguments.table_order);
  return line;
}

// The case of --replay, alone.
AuditOutcome judge_case(const Arguments& arguments, const Subject& subject, const Spec& spec) {
  const std::string id = token_property(arguments.replay);
  const std::vector<Property> properties = catalogue_as(arguments.recipe);
  const auto property = std::ranges::find(properties, id, &Property::id);
  if (property == properties.end())
    throw TokenError(fmt::format("--replay: no property is called {}{}", in_quotes(id),
                                 did_you_mean(id, properties, &Property::id)));
  return replay(*property, arguments.replay, subject, spec);
}

AskedAmount amount_of(const Arguments& arguments) {
  AskedAmount amount;
  if (arguments.budget > 0) amount.budget = arguments.budget;
  if (arguments.values > 0) amount.values = arguments.values;
  if (arguments.cases > 0) amount.cases = arguments.cases;
  if (arguments.largest_call > 0) amount.largest_call = arguments.largest_call;
  return amount;
}

// What the report says of the run before anything is judged.
Report report_of_run(const Arguments& arguments, const Spec& spec, bool max_position_given) {
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
  report.shard = read_shard(arguments.shard);
  // A replay is about one case, whose verdict is its exit code.
  const bool is_strict = arguments.strict || !arguments.replay.empty();
  report.strictness = is_strict ? Strictness::strict : Strictness::lenient;
  report.command = command_line(arguments, max_position_given);
  if (names_a_model(arguments.claim)) report.claim_notes = claims_of_model(arguments.claim).front().notes;
  return report;
}

void introduce(Report& report, const Description& subject) {
  report.subject_name = subject.name;
  report.subject_version = subject.version;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Judges what no earlier part of the run has judged, and logs it where there is a directory for it. The survey is for
// the page's pictures.
void judge_all(Report& report, const Arguments& arguments, const Subject& subject, const Spec& spec,
               AuditOptions options, const std::vector<std::string>& notes,
               std::chrono::steady_clock::time_point start) {
  const std::filesystem::path directory = arguments.resume.empty() ? arguments.report : arguments.resume;
  const std::string digest = directory.empty() ? "" : digest_of_subject(arguments.subject);
  std::vector<Property> properties = select(arguments);
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
  ProgressLine line(std::ssize(properties));
  options.progress = [&](std::int64_t done, std::int64_t total) { line.advance(done, total); };
  std::optional<EventLog> log;
  options.introduced = [&](const Description& description) {
    introduce(report, description);
    if (earlier) {
      refuse_other_run(directory, earlier->report, report);
      log.emplace(event_log_in(directory), *earlier);
    } else if (!directory.empty()) {
      log.emplace(event_log_in(directory), report, digest);
    }
  };
  options.judged = [&](const PropertyResult& result) {
    line.judged();
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
    return;
  }
  if (!directory.empty() && (!report.shard || report.shard->index == 1)) report.survey = take_survey(subject, spec);
  report.notes = notes;
  report.seconds = seconds_since(start);
  if (log) log->ended(report);
}

// With a baseline known violations pass: only what is worse than it fails. A subject that failed, or nothing judged,
// keeps its status.
int baseline_status(const Report& report, const Comparison& comparison) {
  if (!comparison.regressions.empty()) return 1;
  return report.exit_status == 1 ? 0 : report.exit_status;
}

// Where the files of the run go: empty where none are wanted.
const std::string& directory_of(const Arguments& arguments) {
  return arguments.resume.empty() ? arguments.report : arguments.resume;
}

void take_amount(Arguments& arguments, const std::optional<std::int64_t>& values,
                 const std::optional<std::int64_t>& cases, const std::optional<std::int64_t>& largest_call) {
  arguments.values = values.value_or(0);
  arguments.cases = cases.value_or(0);
  arguments.largest_call = largest_call.value_or(0);
}

// What --budget comes to, unless the numbers are given, or were chosen when the run began that is to be gone on with.
// Where even the least takes longer, a line that says so.
std::optional<std::string> choose_amount(Arguments& arguments, const Subject& subject, const Spec& spec,
                                         const AuditOptions& options) {
  if (arguments.budget <= 0 || arguments.values > 0 || !arguments.replay.empty()) return std::nullopt;
  if (!arguments.resume.empty()) {
    if (const auto earlier = logged_run_in(arguments.resume)) {
      const AskedAmount& amount = earlier->report.amount;
      take_amount(arguments, amount.values, amount.cases, amount.largest_call);
      return std::nullopt;
    }
  }
  const BudgetedAmount chosen = amount_within(arguments.budget, select(arguments), subject, spec, options);
  const Amount& amount = chosen.amount;
  const auto whole = [&](const std::optional<std::int64_t>& number, std::int64_t all) { return number.value_or(all); };
  take_amount(arguments, whole(amount.values, values_of(options)),
              whole(amount.cases, cases_of(options, Sessions::shared)), amount.largest_call);
  if (chosen.seconds <= arguments.budget) return std::nullopt;
  return fmt::format("--budget {:g}: the least that an audit asks takes about {:.0f} s here", arguments.budget,
                     chosen.seconds);
}

// The audit of one claim, its files written where --report or --resume says, which is prepared. `arguments` name the
// claim as the report's command line shall.
Report judged(Arguments arguments, bool max_position_given, const Spec& claimed, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
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

  AuditOptions options;
  options.profile = arguments.profile;
  options.seed = arguments.seed;
  options.threads = static_cast<int>(arguments.threads);
  options.stop = stop;
  if (const auto longer = choose_amount(arguments, *subject, spec, options)) {
    fmt::print(stderr, "sextant: {}\n", *longer);
    notes->push_back(*longer);
  }
  const AskedAmount amount = amount_of(arguments);
  options.amount = {.values = amount.values, .cases = amount.cases, .largest_call = amount.largest_call};

  Report report = report_of_run(arguments, spec, max_position_given);
  if (!arguments.replay.empty()) {
    AuditOutcome outcome = judge_case(arguments, *subject, spec);
    introduce(report, outcome.subject);
    report.results = std::move(outcome.results);
  } else {
    if (report.shard) options.part = {report.shard->index, report.shard->count};
    judge_all(report, arguments, *subject, spec, options, *notes, start);
  }
  report.exit_status = exit_status(report);
  report.seconds = seconds_since(start);
  if (const std::string& directory = directory_of(arguments); !directory.empty()) write_reports(report, directory);
  return report;
}

int run_one(const Arguments& arguments, bool max_position_given) {
  const Spec claimed = read_spec(arguments, max_position_given);
  if (!arguments.recipe.empty()) {
    const auto recipe = std::ranges::find(reference::recipes(), arguments.recipe, &reference::Recipe::name);
    if (const auto why = reference::recipe_not_known(*recipe, claimed))
      throw UsageError(fmt::format("--as {}: {}", arguments.recipe, *why));
  }
  std::optional<Report> baseline;
  if (!arguments.baseline.empty()) {
    baseline = read_json_file(arguments.baseline);
  }
  if (!directory_of(arguments).empty()) prepare_directory(directory_of(arguments));
  const SignalsToStop signals;
  const Report report = judged(arguments, max_position_given, claimed, signals.token());
  if (arguments.json) {
    fmt::print("{}", write_json(report));
  } else {
    fmt::print("{}", write_terminal(report, isatty(STDOUT_FILENO) != 0 ? Colour::ansi : Colour::none));
    if (!directory_of(arguments).empty()) fmt::print("report in {}\n", directory_of(arguments));
  }
  if (!baseline) return report.exit_status;
  if (const std::string why = why_incomparable(*baseline, report); !why.empty())
    throw UsageError(fmt::format("--baseline {}: {}", arguments.baseline, why));
  const Comparison comparison = compare(*baseline, report);
  fmt::print("\nagainst {}\n", arguments.baseline);
  print_comparison(comparison);
  return baseline_status(report, comparison);
}

// One of several claims, as the arguments of an audit of it alone.
struct OwnAudit {
  NamedSpec claim;
  Arguments arguments;
};

// `spec`: whose grid or lookup may end before --max-position.
Arguments arguments_for(const Arguments& arguments, const SpecOptions& claim, const Spec& spec,
                        const std::string& folder) {
  Arguments own = arguments;
  own.claim = claim;
  own.max_position = std::min(own.max_position, position_grid_of(spec.encoding).at(spec.max_position));
  for (std::string* directory : {&own.report, &own.resume}) {
    if (!directory->empty()) *directory = (std::filesystem::path(*directory) / folder).string();
  }
  return own;
}

// Several claims one after the other, a folder of --report or --resume each.
int run_each(const Arguments& arguments, bool max_position_given, const std::vector<OwnAudit>& audits,
             std::string_view what) {
  // What cannot be taken is told before the first audit, not after some.
  if (!directory_of(arguments).empty()) prepare_directory(directory_of(arguments));
  std::vector<NamedSpec> claims;
  for (const auto& [claim, own] : audits) {
    try {
      read_spec(own, max_position_given);
    } catch (const SpecError& error) {
      throw SpecError(fmt::format("{}: {}", claim.name, error.what()));
    }
    if (!directory_of(own).empty()) prepare_directory(directory_of(own));
    claims.push_back(claim);
  }
  const SignalsToStop signals;
  const int status = audit_each(claims, what, [&](const NamedSpec& claim) {
    const Arguments& own =
        std::ranges::find(audits, claim.name, [](const OwnAudit& audit) { return audit.claim.name; })->arguments;
    return judged(own, max_position_given, read_spec(own, max_position_given), signals.token());
  });
  if (!directory_of(arguments).empty()) fmt::print("reports in {}\n", directory_of(arguments));
  return status;
}

void refuse_of_several(const Arguments& arguments, std::string_view needed) {
  for (const auto& [option, value] :
       {std::pair{"--baseline", &arguments.baseline}, std::pair{"--replay", &arguments.replay}}) {
    if (!value->empty()) throw UsageError(fmt::format("{}: needs {}", option, needed));
  }
  if (arguments.json) throw UsageError(fmt::format("--json: needs {}", needed));
}

// Our own encoders against the example of each encoding.
int run_every_encoding(const Arguments& arguments, bool max_position_given) {
  refuse_of_several(arguments, "--spec, --hf-config or --gguf");
  std::vector<OwnAudit> audits;
  for (const EncodingExample& example : encoding_examples()) {
    const std::string name(example.encoding);
    const std::string spec(example.spec);
    SpecOptions claim;
    claim.spec = spec;
    audits.push_back({{name, spec}, arguments_for(arguments, claim, parse_spec(spec), name)});
  }
  return run_each(arguments, max_position_given, audits, "encodings");
}

// The claims of a config.json, those that are alike but once.
int run_every_layer(const Arguments& arguments, bool max_position_given) {
  if (arguments.claim.hf_config.empty()) throw UsageError("--all-layers: needs --hf-config");
  refuse_of_several(arguments, "one claim: leave out --all-layers");
  std::vector<OwnAudit> audits;
  for (const ConfigClaim& claim : claims_of_model(arguments.claim)) {
    const std::string name = name_of(claim);
    if (!claim.spec) {
      fmt::print("{}: not audited: {}\n", name, claim.refusal);
      continue;
    }
    const std::string spec = to_json(*claim.spec);
    const auto same = std::ranges::find(audits, spec, [](const OwnAudit& audit) { return audit.claim.spec; });
    if (same != audits.end()) {
      fmt::print("{}: the same claim as {}\n", name, same->claim.name);
      continue;
    }
    SpecOptions own = arguments.claim;
    own.sub_config = claim.part;
    if (!claim.kind.empty()) own.layer = claim.kind;
    std::string folder = name;
    std::ranges::replace(folder, ' ', '-');
    audits.push_back({{name, spec}, arguments_for(arguments, own, *claim.spec, folder)});
  }
  if (audits.empty())
    throw UsageError(fmt::format("--hf-config {}: makes no claim that a spec says", arguments.claim.hf_config));
  return run_each(arguments, max_position_given, audits, "claims");
}

void refuse_unknown_recipe(const std::string& name) {
  if (name.empty() || std::ranges::count(reference::recipes(), name, &reference::Recipe::name) > 0) return;
  throw UsageError(fmt::format("--as {}: no such recipe (see sextant list recipes){}", in_quotes(name),
                               did_you_mean(name, reference::recipes(), &reference::Recipe::name)));
}

int run_audit(const Arguments& arguments, bool max_position_given) {
  const bool is_shard = read_shard(arguments.shard).has_value();
  const bool is_replay = !arguments.replay.empty();
  if (is_shard && is_replay) throw UsageError("--shard: cannot be combined with --replay");
  if (is_shard && !arguments.baseline.empty())
    throw UsageError("--shard: merge the shards first, then compare with the baseline");
  if (is_shard && arguments.budget > 0 && arguments.values == 0)
    throw UsageError(
        "--shard: --budget would choose other numbers in each: give --values, --cases and --largest-call as one run of "
        "it says");
  if (!arguments.resume.empty() && is_replay) throw UsageError("--resume: cannot be combined with --replay");
  if (is_replay && !(arguments.only.empty() && arguments.skip.empty()))
    throw UsageError("--replay: names its property: leave out --only and --skip");
  if (!arguments.resume.empty() && !arguments.report.empty())
    throw UsageError("--resume: the report is written into its directory: leave out --report");
  if (arguments.json && !arguments.baseline.empty()) throw UsageError("--json: cannot be combined with --baseline");
  refuse_unknown_recipe(arguments.recipe);
  if (!arguments.table_order.empty() && table_order_named(arguments.table_order) == nullptr)
    throw UsageError(
        fmt::format("--table-order {}: expected one of {}", in_quotes(arguments.table_order), table_order_names()));
  if (arguments.all_layers) return run_every_layer(arguments, max_position_given);
  const bool every_encoding =
      arguments.subject == "builtin" && arguments.claim.spec.empty() && !names_a_model(arguments.claim);
  return every_encoding ? run_every_encoding(arguments, max_position_given) : run_one(arguments, max_position_given);
}

// "report.json, report.html and junit.xml": the file of each format.
std::string report_files() {
  std::vector<std::string_view> files;
  for (const ReportFormat& format : report_formats()) files.push_back(format.file);
  const std::string_view last = files.back();
  files.pop_back();
  return fmt::format("{} and {}", fmt::join(files, ", "), last);
}

}  // namespace

Run add_audit(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("audit", "Judge an implementation by every property that applies to its spec");
  command->add_option("subject", arguments->subject, subject_usage())->required();
  add_spec_options(*command, arguments->claim,
                   "What is claimed: a file, inline JSON or a preset's name; builtin without it: every encoding");
  command->add_flag("--all-layers", arguments->all_layers, "Of --hf-config: audit each of the file's claims once");
  static const std::map<std::string, Profile> profiles = [] {
    std::map<std::string, Profile> named;
    for (const Profile profile : {Profile::quick, Profile::standard, Profile::exhaustive})
      named.emplace(name_of(profile), profile);
    return named;
  }();
  command
      ->add_option_function<std::string>(
          "--profile", [arguments](const std::string& name) { arguments->profile = profiles.at(name); },
          "How much is asked")
      ->check(CLI::IsMember(&profiles))
      ->default_str("standard");
  add_word(*command, "--seed", arguments->seed, "Seed of everything random")
      ->default_str(fmt::format("{}", arguments->seed));
  command->add_option("--only", arguments->only, "Judge this property only (may be repeated)")->allow_extra_args(false);
  command->add_option("--skip", arguments->skip, "Leave this property out (may be repeated)")->allow_extra_args(false);
  constexpr Integers counts{1, std::numeric_limits<int>::max()};
  CLI::Option* max_position =
      add_position(*command, "--max-position", arguments->max_position,
                   "Claim positions below this one, given as a subject gets it: under position_step not in steps");
  add_integer(*command, "--threads", arguments->threads, counts,
              "Properties judged in parallel, unless given as many as there are processors; the report is the same");
  add_seconds(*command, "--timeout", arguments->timeout, TimeUnits::none, "Seconds a subject may take for one answer")
      ->default_str(fmt::format("{}", arguments->timeout));
  add_seconds(*command, "--budget", arguments->budget, TimeUnits::allowed,
              "Seconds (30, 30s, 2m) that the audit may take: fewer and smaller cases and fewer values for a slow "
              "subject, chosen before it begins");
  add_integer(
      *command, "--values", arguments->values, {1, std::int64_t{1} << 40},
      "Values that a property's sweep compares at most, in place of the profile's; both ends of the claim and every "
      "power of two are compared in any case");
  add_integer(
      *command, "--cases", arguments->cases, {1, 1 << 20},
      "Cases of a property at most, of the fixed first ones and of the drawn ones each, if the profile has more");
  add_integer(*command, "--largest-call", arguments->largest_call, {1, std::int64_t{1} << 40},
              "Tokens x batch rows x heads of a case at most; sweeps have calls of their own size");
  command->add_option(
      "--report", arguments->report,
      fmt::format("Directory for {}, and for events.jsonl, which tells how far the audit is", report_files()));
  command->add_option("--resume", arguments->resume,
                      "Directory of an audit that was cut short, its --report: go on with it, its options unchanged, "
                      "and judge what its "
                      "events.jsonl has not; where nothing has begun, begin");
  command->add_option("--as", arguments->recipe,
                      "Ask every bit to be this recipe's too (sextant list recipes): the property recipe_identity");
  command->add_option("--replay", arguments->replay, "Judge the one case of this token");
  command->add_option("--baseline", arguments->baseline,
                      "A report.json whose violations are known: exit 1 only for what is worse");
  command->add_option("--shard", arguments->shard,
                      "I/N: judge the I-th of N parts of the cases; sextant report merge puts them together");
  command->add_flag("--json", arguments->json, "Print the report as report.json holds it");
  command->add_flag("--strict", arguments->strict, "Let violated advice fail the audit");
  command->add_option("--python", arguments->python, "Interpreter for python: subjects");
  // For a program that starts this command for its user, as the Python package does: what a person calls the subject,
  // and what he types to ask again.
  command->add_option("--subject-shown", arguments->subject_shown)->group("");
  command->add_option("--command-shown", arguments->command_shown)->group("");
  command->add_flag("--table", arguments->table,
                    "Of a claim of rope: audit the table of its cosines and sines, the operation table");
  command->add_option("--table-order", arguments->table_order,
                      fmt::format("The order of a recorded rotary table's values, where its file does not show it: {}",
                                  table_order_names()));
  return [arguments, max_position] { return run_audit(*arguments, max_position->count() > 0); };
}

}  // namespace sextant
