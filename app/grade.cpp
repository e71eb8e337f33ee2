#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "app/audit_arguments.hpp"
#include "app/command.hpp"
#include "app/judge_claim.hpp"
#include "app/signals.hpp"
#include "reports/grade.hpp"
#include "reports/write.hpp"

namespace sextant {
namespace {

int run_grade(const AuditArguments& arguments) {
  refuse_unknown_names(arguments);
  const Spec claimed = claimed_spec(arguments);
  refuse_unfit_recipe(arguments, claimed);
  if (!arguments.report.empty()) prepare_directory(arguments.report);
  const SignalsToStop signals;
  const Report report = judge_claim(arguments, claimed, signals.token());
  fmt::print("{}", write_grade(report));
  return report.exit_status;
}

}  // namespace

Run add_grade(CLI::App& app) {
  auto arguments = std::make_shared<AuditArguments>();
  arguments->profile = Profile::quick;
  CLI::App* command = app.add_subcommand(
      "grade", "Print one line of JSON, whatever happens: the verdict, the worst error, the first violation");
  add_judging_options(*command, *arguments,
                      "What is claimed: a file, inline JSON, a preset's name or - (standard input)");
  return [arguments] { return run_grade(*arguments); };
}

}  // namespace sextant
