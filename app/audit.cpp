#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "app/audit_arguments.hpp"
#include "app/audit_each.hpp"
#include "app/colour.hpp"
#include "app/command.hpp"
#include "app/judge_claim.hpp"
#include "app/report.hpp"
#include "app/resume.hpp"
#include "app/signals.hpp"
#include "lib/spec/spec.hpp"
#include "reports/baseline.hpp"
#include "reports/json.hpp"
#include "reports/read_json.hpp"
#include "reports/terminal.hpp"
#include "reports/text.hpp"
#include "reports/write.hpp"

namespace sextant {
namespace {

struct AuditCommand {
  AuditArguments asked;
  bool all_layers = false;
  bool json = false;
  bool verbose = false;
  bool ratchet = false;  // of --baseline
  std::string write_baseline;
  ColourChoice colour = ColourChoice::automatic;
  std::vector<std::string> words;  // of the command line
};

// With a baseline known violations pass: only what is worse than it fails, a subject that cannot be asked any more
// too. A failure that the baseline has, or nothing judged, keeps its status.
int baseline_status(const Report& report, const Comparison& comparison) {
  if (!comparison.regressions.empty()) return 1;
  return report.exit_status == 1 ? 0 : report.exit_status;
}

// That of --report or --resume, where there is one.
void prepare_directory_of(const AuditArguments& arguments) {
  if (directory_of(arguments).empty()) return;
  try {
    prepare_directory(directory_of(arguments));
  } catch (const WriteError& failure) {
    throw UsageError(fmt::format("{} {}", arguments.resume.empty() ? "--report" : "--resume", failure.what()));
  }
}

// Before anything is judged.
void refuse_incomparable(const AuditArguments& arguments, const Report& baseline, const Spec& claimed) {
  Report asked;
  asked.spec_json = to_json(claimed);
  asked.recipe = arguments.recipe;
  if (const std::string why = why_incomparable(baseline, asked); !why.empty())
    throw UsageError(fmt::format("--baseline {}: {}", arguments.baseline, why));
}

int run_one(const AuditCommand& command) {
  const AuditArguments& arguments = command.asked;
  const Spec claimed = claimed_spec(arguments);
  refuse_unfit_recipe(arguments, claimed);
  std::optional<Report> baseline;
  if (!arguments.baseline.empty()) {
    try {
      baseline = read_reference_file(arguments.baseline).report;
    } catch (const ReadError& failure) {
      throw UsageError(fmt::format("--baseline {}", failure.what()));
    }
    refuse_incomparable(arguments, *baseline, claimed);
  }
  prepare_directory_of(arguments);
  const SignalsToStop signals;
  const Report report = judge_claim(arguments, claimed, signals.token());
  std::optional<Comparison> comparison;
  if (baseline)
    comparison = compare(*baseline, report, {command.ratchet ? Drift::refused : Drift::noted, Unjudged::left_out});
  // What fails the audit comes first, whatever holds.
  if (comparison && !comparison->regressions.empty()) {
    const std::size_t more = comparison->regressions.size() - 1;
    const std::string others = more == 0 ? "" : fmt::format("; and {} more", more);
    fmt::print("worse than {}: {}{}\n", arguments.baseline, printable(comparison->regressions.front()), others);
  }
  if (command.json) {
    fmt::print("{}", write_json(report));
  } else {
    fmt::print("{}", write_terminal(report, colour_of(command.colour),
                                    command.verbose ? Detail::every_property : Detail::brief));
    if (!directory_of(arguments).empty()) fmt::print("report in {}\n", directory_of(arguments));
  }
  if (!command.write_baseline.empty() && report.stop) {
    fmt::print(stderr, "sextant: --write-baseline {}: nothing was written: the subject cannot be audited\n",
               command.write_baseline);
  } else if (!command.write_baseline.empty()) {
    write_text_file(write_baseline(report), command.write_baseline);
    if (!command.json) fmt::print("baseline in {}\n", command.write_baseline);
  }
  if (!comparison) return report.exit_status;
  fmt::print("\nagainst {}\n", arguments.baseline);
  if (baseline->subject != report.subject)
    fmt::print("note: the baseline is of another subject: {}, not {}\n", printable(baseline->subject),
               printable(report.subject));
  print_comparison(*comparison);
  return baseline_status(report, *comparison);
}

// One of several claims, as the arguments of an audit of it alone.
struct OwnAudit {
  NamedSpec claim;
  AuditArguments arguments;
};

// `spec`: whose grid or lookup may end before --max-position.
AuditArguments arguments_for(const AuditArguments& arguments, const SpecOptions& claim, const Spec& spec,
                             const std::string& folder) {
  AuditArguments own = arguments;
  own.claim = claim;
  if (own.max_position)
    own.max_position = std::min(*own.max_position, position_grid_of(spec.encoding).at(spec.max_position));
  for (std::string* directory : {&own.report, &own.resume}) {
    if (!directory->empty()) *directory = (std::filesystem::path(*directory) / folder).string();
  }
  return own;
}

// Several claims one after the other, a folder of --report or --resume each.
int run_each(const AuditCommand& command, const std::vector<OwnAudit>& audits, std::string_view what) {
  const AuditArguments& arguments = command.asked;
  // What cannot be taken is told before the first audit, not after some.
  prepare_directory_of(arguments);
  std::vector<NamedSpec> claims;
  for (const auto& [claim, own] : audits) {
    try {
      claimed_spec(own);
    } catch (const SpecError& error) {
      throw SpecError(fmt::format("{}: {}", claim.name, error.what()));
    }
    prepare_directory_of(own);
    claims.push_back(claim);
  }
  const SignalsToStop signals;
  const int status = audit_each(claims, what, colour_of(command.colour), [&](const NamedSpec& claim) {
    const AuditArguments& own =
        std::ranges::find(audits, claim.name, [](const OwnAudit& audit) { return audit.claim.name; })->arguments;
    return judge_claim(own, claimed_spec(own), signals.token());
  });
  if (!directory_of(arguments).empty()) fmt::print("reports in {}\n", directory_of(arguments));
  return status;
}

void refuse_of_several(const AuditCommand& command, std::string_view needed) {
  for (const auto& [option, value] :
       {std::pair{"--baseline", &command.asked.baseline}, std::pair{"--write-baseline", &command.write_baseline},
        std::pair{"--replay", &command.asked.replay}}) {
    if (!value->empty()) throw UsageError(fmt::format("{}: needs {}", option, needed));
  }
  if (command.json) throw UsageError(fmt::format("--json: needs {}", needed));
}

// Our own encoders against the example of each encoding.
int run_every_encoding(const AuditCommand& command) {
  const AuditArguments& arguments = command.asked;
  refuse_of_several(command, "--spec, --hf-config or --gguf");
  std::vector<OwnAudit> audits;
  for (const EncodingExample& example : encoding_examples()) {
    const std::string name(example.encoding);
    const std::string spec(example.spec);
    SpecOptions claim;
    claim.spec = spec;
    audits.push_back({{name, spec}, arguments_for(arguments, claim, parse_spec(spec), name)});
  }
  return run_each(command, audits, "encodings");
}

// The claims of a config.json, those that are alike but once.
int run_every_layer(const AuditCommand& command) {
  const AuditArguments& arguments = command.asked;
  if (arguments.claim.hf_config.empty()) throw UsageError("--all-layers: needs --hf-config");
  refuse_of_several(command, "one claim: leave out --all-layers");
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
  return run_each(command, audits, "claims");
}

void refuse_contradictions(const AuditCommand& command) {
  const AuditArguments& arguments = command.asked;
  const bool is_shard = shard_of(arguments).has_value();
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
  if (command.ratchet && arguments.baseline.empty()) throw UsageError("--ratchet: needs --baseline");
  if (!command.write_baseline.empty()) {
    if (is_replay || is_shard)
      throw UsageError(fmt::format("--write-baseline: cannot be combined with {}", is_replay ? "--replay" : "--shard"));
    const std::filesystem::path folder = std::filesystem::path(command.write_baseline).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
      throw UsageError(fmt::format("--write-baseline {}: no such directory", command.write_baseline));
  }
  if (command.json && !arguments.baseline.empty()) throw UsageError("--json: cannot be combined with --baseline");
}

int run_audit(const AuditCommand& command) {
  refuse_contradictions(command);
  const AuditArguments& arguments = command.asked;
  refuse_unknown_names(arguments);
  if (command.all_layers) return run_every_layer(command);
  const bool every_encoding =
      arguments.subject == "builtin" && arguments.claim.spec.empty() && !names_a_model(arguments.claim);
  return every_encoding ? run_every_encoding(command) : run_one(command);
}

// What is left to say of an audit that was interrupted: how to go on with it.
std::string told_of_interrupt(const AuditCommand& command) {
  const AuditArguments& arguments = command.asked;
  const std::string& directory = directory_of(arguments);
  if (!arguments.replay.empty()) return "interrupted";
  if (directory.empty()) return "interrupted; without --report nothing was kept to go on with";
  // Another program holds the subject, and no command line reaches it.
  if (!arguments.command_shown.empty())
    return fmt::format("interrupted; what was judged is in {}", event_log_in(directory).string());
  return fmt::format("interrupted; go on with: {}", resuming_command(command.words, directory, arguments.claim.spec));
}

}  // namespace

Run add_audit(CLI::App& app, std::span<const char* const> words) {
  auto given = std::make_shared<AuditCommand>();
  given->words.assign(words.begin(), words.end());
  AuditArguments& arguments = given->asked;
  CLI::App* command = app.add_subcommand("audit", "Judge an implementation by every property that applies to its spec");
  add_judging_options(*command, arguments,
                      "What is claimed: a file, inline JSON, a preset's name or - (standard input); builtin without "
                      "it: every encoding");
  command->add_flag("--all-layers", given->all_layers, "Of --hf-config: audit each of the file's claims once");
  command->add_option("--resume", arguments.resume,
                      "Directory of an audit that was cut short, its --report: go on with it, its options unchanged, "
                      "and judge what its "
                      "events.jsonl has not; where nothing has begun, begin");
  command->add_option("--replay", arguments.replay, "Judge the one case of this token");
  command->add_option("--baseline", arguments.baseline,
                      "A baseline or report.json whose violations are known: exit 1 only for what is worse");
  command->add_flag("--ratchet", given->ratchet,
                    "With --baseline: let a worst error that grew below its bound fail the audit");
  command->add_option("--write-baseline", given->write_baseline,
                      "File for a baseline: what --baseline compares with, a line for each property");
  command->add_flag("--verbose", given->verbose,
                    "Print every property in lines of its own, those that hold and those that do not apply");
  command->add_option("--shard", arguments.shard,
                      "I/N: judge the I-th of N parts of the cases; sextant report merge puts them together");
  command->add_flag("--json", given->json, "Print the report as report.json holds it");
  add_colour_option(*command, given->colour);
  // For a program that starts this command for its user, as the Python package does: what a person calls the subject,
  // and what he types to ask again.
  command->add_option("--subject-shown", arguments.subject_shown)->group("");
  command->add_option("--command-shown", arguments.command_shown)->group("");
  return [given] {
    try {
      return run_audit(*given);
    } catch (const Interrupted&) {
      throw InterruptedRun(told_of_interrupt(*given));
    }
  };
}

}  // namespace sextant
