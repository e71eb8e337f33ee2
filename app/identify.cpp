#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/number_option.hpp"
#include "app/one_of.hpp"
#include "app/signals.hpp"
#include "app/spec_argument.hpp"
#include "app/subject_argument.hpp"
#include "properties/diagnose/rotations/identify_readings.hpp"
#include "properties/diagnose/short_audit.hpp"
#include "properties/identify/identify.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reports/text.hpp"

namespace sextant {
namespace {

using identify::Identification;
using nlohmann::ordered_json;

// Those that can be told, in the order in which they are tried.
constexpr const char* operations[] = {"rotate", "encode", "table", "bias", "attend"};

constexpr Integers widths{2, 1 << 14};

struct Arguments {
  std::string subject;
  SpecOptions claim;
  std::string operation;
  std::int64_t dim = 0;
  std::int64_t heads = 0;
  std::string dtype;
  std::string out;
  double timeout = 30;
  std::string python;
  bool json = false;
};

// What is asked of an operation where no claim says it.
Spec usual_claim(const std::string& operation, const Arguments& arguments) {
  ordered_json spec;
  const auto width = [&](std::int64_t usual) { return arguments.dim > 0 ? arguments.dim : usual; };
  if (operation == "rotate") spec = {{"encoding", "rope"}, {"head_dim", width(128)}};
  if (operation == "encode") spec = {{"encoding", "sinusoidal"}, {"dim", width(512)}};
  if (operation == "table") spec = {{"encoding", "rotary_table"}, {"head_dim", width(128)}};
  if (operation == "bias") spec = {{"encoding", "alibi"}, {"num_heads", arguments.heads > 0 ? arguments.heads : 8}};
  if (operation == "attend")
    spec = {
        {"encoding", "attention"}, {"num_heads", arguments.heads > 0 ? arguments.heads : 8}, {"head_dim", width(64)}};
  if (!arguments.dtype.empty()) spec["dtype"] = arguments.dtype;
  try {
    return parse_spec(spec.dump());
  } catch (const SpecError& error) {
    // What was given is an option, and no field of a spec.
    const std::string_view why = error.what();
    if (why.starts_with("spec: head_dim: ") || why.starts_with("spec: dim: "))
      throw UsageError(
          fmt::format("--dim {}: expected an even number from {} to {}, for operation {}; --op names another",
                      arguments.dim, widths.least, widths.most, operation));
    throw;
  }
}

// An option that says nothing of the operation that is asked.
void refuse_unused(const Arguments& arguments, std::string_view operation) {
  const bool has_heads = operation == "bias" || operation == "attend";
  const bool has_width = operation != "bias";
  if (arguments.heads > 0 && !has_heads)
    throw UsageError(fmt::format(
        "--heads: says nothing of {}, which is asked: leave it out, or name bias or attend by --op", operation));
  if (arguments.dim > 0 && !has_width)
    throw UsageError(fmt::format(
        "--dim: says nothing of {}, which is asked: leave it out, or name another operation by --op", operation));
}

// The claims that the subject may be asked under, in their order.
std::vector<Spec> probes_of(const Arguments& arguments) {
  const bool has_claim = !arguments.claim.spec.empty() || names_a_model(arguments.claim);
  if (has_claim &&
      (!arguments.operation.empty() || arguments.dim > 0 || arguments.heads > 0 || !arguments.dtype.empty()))
    throw UsageError("--spec: says the operation, the sizes and the dtype: leave out --op, --dim, --heads and --dtype");
  if (has_claim) return {spec_from_options(arguments.claim)};
  if (!arguments.operation.empty()) {
    refuse_unused(arguments, arguments.operation);
    return {usual_claim(arguments.operation, arguments)};
  }
  std::vector<Spec> probes;
  for (const char* operation : operations) probes.push_back(usual_claim(operation, arguments));
  return probes;
}

struct Found {
  Identification identification;
  Spec probe;
  /// Whether it computes the answer's spec where it is asked for `probe`, and not where it is asked for that spec.
  bool reads_its_spec = false;
};

bool reads_its_spec(const Subject& subject, const Spec& probe, const Identification& made) {
  if (!made.spec || to_json(*made.spec) == to_json(probe)) return false;
  return !identify::audited(subject, *made.spec).holds && identify::audited_as_asked(subject, probe, *made.spec).holds;
}

// Whether it says that it has the operation; one that cannot be opened says it later.
bool serves(const Subject& subject, const Spec& asked) {
  const std::vector<std::string> said = subject.open(asked)->describe().operations;
  return std::ranges::find(said, name_of(operation_of(asked.encoding))) != said.end();
}

// Under the first claim whose operation the subject has.
Found identified(const Arguments& arguments, const std::stop_token& stop) {
  refuse_unused_options(arguments.subject, arguments.python, "");
  OpenOptions open;
  open.limits.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(arguments.timeout * 1000));
  open.limits.stop = stop;
  if (!arguments.python.empty()) open.python = arguments.python;
  const std::vector<Spec> probes = probes_of(arguments);
  const bool is_only = probes.size() == 1;
  std::optional<SubjectNameError> no_subject;
  std::string reasons;
  for (const Spec& asked : probes) {
    try {
      const auto subject = subject_from_argument(arguments.subject, asked, open);
      const Spec probe = subject->within_reach(asked);
      const bool has_extents = arguments.heads > 0 || arguments.dim > 0;
      if (has_extents && serves(*subject, probe)) refuse_unused(arguments, name_of(operation_of(asked.encoding)));
      const Identification made = identify::with_reading(*subject, probe, identify::identify(*subject, probe));
      return {made, probe, reads_its_spec(*subject, probe, made)};
    } catch (const SubjectFailure& failure) {
      if (is_only) throw;
      // What is mended in the file has nothing to do with the claim.
      if (failure.kind() != FailureKind::unsupported && !failure.trace().fix.empty()) throw;
      if (failure.kind() != FailureKind::unsupported)
        throw SubjectFailure(failure.kind(),
                             fmt::format("{}; asked without --spec, as {}: if it serves another claim, name that",
                                         failure.what(), encoding_name(asked)),
                             failure.trace());
      const std::string_view why = failure.what();
      reasons += fmt::format("{}{}: {}{}", reasons.empty() ? "" : "; ", name_of(operation_of(asked.encoding)), why,
                             why.ends_with(" returned None") ? ": return the result, if it serves this claim" : "");
    } catch (const SubjectNameError& error) {
      // A recorded table of another kind than the one that was asked for; or no subject at all.
      if (is_only) throw;
      if (!no_subject) no_subject = error;
    }
  }
  if (reasons.empty() && no_subject) throw *no_subject;
  throw SubjectFailure(FailureKind::unsupported, fmt::format("name a claim that it answers with --spec ({})", reasons));
}

std::string audit_command(const Arguments& arguments, const Spec& spec) {
  return fmt::format("sextant audit {} --spec {}", shell_word(arguments.subject), shell_word(to_json(spec)));
}

std::vector<std::string> words_of(const std::vector<identify::Fault>& faults) {
  std::vector<std::string> words;
  for (const identify::Fault& fault : faults) words.push_back(fault.words);
  return words;
}

// Of an answer whose class is a weaker one, which allows what the lines above say is wrong.
std::string allowance(const Found& found) {
  const Identification& made = found.identification;
  if (made.spec->accuracy == found.probe.accuracy || (made.faults.empty() && made.arithmetic.empty())) return "";
  const std::string_view lines = made.faults.empty()       ? "the line arithmetic says"
                                 : made.arithmetic.empty() ? "the line but says"
                                                           : "the lines but and arithmetic say";
  return fmt::format("this claim allows what {}: with accuracy {} it does not hold\n", lines,
                     name_of(found.probe.accuracy));
}

void print_text(const Arguments& arguments, const Found& found) {
  constexpr std::size_t indent = 13;
  const auto line = [](std::string_view label, const std::string& text) {
    fmt::print("  {:<10} {}\n", label, wrapped(printable(text), indent, 110));
  };
  const Identification& made = found.identification;
  fmt::print("sextant {}: identify {}\n", SEXTANT_VERSION, printable(arguments.subject));
  line("asked", fmt::format("{}: {} call{}", describe(found.probe), made.calls, made.calls == 1 ? "" : "s"));
  line("answer", made.spec ? describe(*made.spec) : std::string("unidentified"));
  if (made.spec) line("confidence", std::string(name_of(made.confidence)));
  for (const identify::Fault& fault : made.faults) line("but", fault.words);
  if (made.spec && made.confidence == identify::Confidence::low && made.faults.empty())
    line("but", made.of_bound > 1 ? fmt::format("answers are up to {:.3g} times as far from it as {} allows",
                                                made.of_bound, name_of(made.spec->accuracy))
                                  : "positions are used in a way that is not known");
  for (const std::string& seen : made.seen) line("seen", seen);
  for (const identify::Fault& fault : made.arithmetic) line("arithmetic", fault.words);
  if (made.spec && (made.of_bound > 0 || made.confidence != identify::Confidence::low))
    line("accuracy", fmt::format("{}: {}", name_of(made.spec->accuracy), errors_text(made.of_bound)));
  if (!made.effective.empty()) line("effective", fmt::format("{}", fmt::join(made.effective, ", ")));
  if (!made.recipe.empty()) line("bits", "those of recipe:" + made.recipe);
  for (const std::string& equal : made.equal) line("equal", equal);
  // Without a spec a fault may stand in the table too.
  const std::vector<std::string> told = words_of(made.faults);
  for (const std::string& row : made.table) {
    if (std::ranges::find(told, row) == told.end()) line("", row);
  }
  if (found.reads_its_spec)
    fmt::print(
        "\nthe subject reads its spec: asked under the claim in `asked` it computes the answer's, and asked under the "
        "answer's something else again; change the code, not the claim\n");
  else if (made.spec)
    fmt::print("\naudit it: {}\n{}", printable(audit_command(arguments, *made.spec)), allowance(found));
}

void print_json(const Arguments& arguments, const Found& found) {
  const Identification& made = found.identification;
  ordered_json json{{"subject", arguments.subject},
                    {"probe", ordered_json::parse(to_json(found.probe))},
                    {"spec", made.spec ? ordered_json::parse(to_json(*made.spec)) : ordered_json()},
                    {"confidence", name_of(made.confidence)},
                    {"reads_its_spec", found.reads_its_spec},
                    {"of_bound", made.of_bound},
                    {"recipe", made.recipe},
                    {"effective", made.effective},
                    {"calls", made.calls},
                    {"faults", words_of(made.faults)},
                    {"seen", made.seen},
                    {"arithmetic", words_of(made.arithmetic)},
                    {"equal", made.equal},
                    {"table", made.table}};
  fmt::print("{}\n", json.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

void write_spec(const std::string& path, const Spec& spec) {
  std::ofstream stream(path);
  stream << to_json(spec) << '\n';
  stream.close();
  if (!stream) throw UsageError(fmt::format("--out {}: cannot be written", path));
}

int run_identify(const Arguments& arguments) {
  const SignalsToStop signals;
  try {
    const Found found = identified(arguments, signals.token());
    if (arguments.json) {
      print_json(arguments, found);
    } else {
      print_text(arguments, found);
    }
    if (!found.identification.spec) return 4;
    if (!arguments.out.empty()) write_spec(arguments.out, *found.identification.spec);
    return 0;
  } catch (const SubjectFailure& failure) {
    const std::string& fix = failure.trace().fix;
    fmt::print(stderr, "sextant: identify {}: {}: {}{}\n", printable(arguments.subject), name_of(failure.kind()),
               printable(failure.what()), fix.empty() ? "" : "; likely fix: " + printable(fix));
    return failure.kind() == FailureKind::unsupported ? 4 : 3;
  }
}

}  // namespace

Run add_identify(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("identify", "Say what an implementation computes, as a spec, from its answers alone");
  command->add_option("subject", arguments->subject, subject_usage())->required();
  add_spec_options(*command, arguments->claim,
                   "What it is asked under, and where the answers leave something open: a file, inline JSON, a "
                   "preset's name or - (standard input); unless given an operation's usual claim");
  one_of(
      command->add_option("--op", arguments->operation, "The operation, unless given the first that the subject has"),
      std::vector<std::string>(std::begin(operations), std::end(operations)));
  add_integer(*command, "--dim", arguments->dim, widths,
              "Width: head_dim of a rotation (128) or of attention (64), dim of a code (512)");
  add_integer(*command, "--heads", arguments->heads, {1, 1 << 10}, "Heads of a bias, or of attention (8)");
  one_of(command->add_option("--dtype", arguments->dtype, "Of values (float32)"),
         {"float32", "float64", "float16", "bfloat16"});
  command->add_option("--out", arguments->out, "Write the spec to this file");
  add_seconds(*command, "--timeout", arguments->timeout, TimeUnits::none, "Seconds a subject may take for one answer")
      ->default_str(fmt::format("{}", arguments->timeout));
  command->add_option("--python", arguments->python, "Interpreter for python: subjects");
  command->add_flag("--json", arguments->json, "As JSON");
  return [arguments] { return run_identify(*arguments); };
}

}  // namespace sextant
