#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/spec_argument.hpp"
#include "lib/spec/spec.hpp"
#include "properties/engine/engine.hpp"
#include "properties/engine/property.hpp"
#include "reports/report.hpp"

namespace CLI {
class App;
}

namespace sextant {

/// What the audit of a claim is asked by, as the command line has it. Strings are empty and amounts 0 where nothing is
/// given.
struct AuditArguments {
  std::string subject;
  SpecOptions claim;
  Profile profile = Profile::standard;
  std::uint64_t seed = 1;
  std::vector<std::string> only;
  std::vector<std::string> skip;
  std::optional<double> max_position;  // as positions are, which may be real
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
  std::string subject_shown;
  std::string command_shown;
  std::string table_order;
  bool table = false;
};

/// Adds the subject, and the options that say of what it is judged and how: those of `audit` and `grade` alike.
/// `arguments` is filled when the command line is parsed.
void add_judging_options(CLI::App& command, AuditArguments& arguments, const std::string& spec_help);

/// The claim, reaching to --max-position and of --table where these are given. @throws UsageError, SpecError.
Spec claimed_spec(const AuditArguments& arguments);

/// The part that --shard I/N names; nothing without it. @throws UsageError.
std::optional<Shard> shard_of(const AuditArguments& arguments);

/// The properties that --only and --skip leave of the catalogue. @throws UsageError, naming an id that it has not.
std::vector<Property> selected_properties(const AuditArguments& arguments);

/// Refuses names that do not exist, and a recipe that is not known of the claim. @throws UsageError.
void refuse_unknown_names(const AuditArguments& arguments);
void refuse_unfit_recipe(const AuditArguments& arguments, const Spec& claimed);

/// The command line that asks the same question again; --replay is added to it, or which properties.
std::string command_line(const AuditArguments& arguments);

/// " --only accuracy": what command_line lacks of the line of the whole run, as --replay excludes it.
std::string selection_of(const AuditArguments& arguments);

/// The command line of the same audit of another claim.
std::string command_line_for(const AuditArguments& arguments, const Spec& claim);

/// Where the files of the run go, by --report or --resume: empty where none are wanted.
const std::string& directory_of(const AuditArguments& arguments);

}  // namespace sextant
