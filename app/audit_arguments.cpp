#include "app/audit_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/number_option.hpp"
#include "app/one_of.hpp"
#include "app/subject_argument.hpp"
#include "lib/spec/changed_fields.hpp"
#include "lib/spec/nearest_name.hpp"
#include "properties/catalogue.hpp"
#include "reference/recipe.hpp"
#include "reference/recipe_answer.hpp"
#include "reports/write.hpp"
#include "subjects/table_order.hpp"

namespace sextant {
namespace {

constexpr Profile every_profile[] = {Profile::quick, Profile::standard, Profile::exhaustive};

Spec limited_spec(const AuditArguments& arguments) {
  Spec spec = spec_from_options(arguments.claim);
  if (!arguments.max_position) return spec;
  const PositionGrid grid = position_grid_of(spec.encoding);
  const auto count = grid.count_of(*arguments.max_position);
  if (!count) {
    const std::string expected =
        grid.dtype == Dtype::int64
            ? std::string("a whole number")
            : fmt::format("a position, at most 2^53 times position_step = {} and a multiple of it", grid.step);
    throw UsageError(fmt::format("--max-position {}: expected {}", *arguments.max_position, expected));
  }
  spec.max_position = *count;
  try {
    validate(spec);
  } catch (const SpecError& error) {
    throw SpecError(fmt::format("--max-position {}: {}", *arguments.max_position, error.what()));
  }
  return spec;
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

Spec claimed_spec(const AuditArguments& arguments) {
  const Spec spec = limited_spec(arguments);
  if (!arguments.table) return spec;
  const std::optional<Spec> claim = recorded_claim(spec);
  if (!claim || operation_of(claim->encoding) != Operation::table)
    throw UsageError(fmt::format("--table: expected a claim of rope, got {}", encoding_name(spec)));
  return *claim;
}

std::optional<Shard> shard_of(const AuditArguments& arguments) {
  const std::string& text = arguments.shard;
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

std::vector<Property> selected_properties(const AuditArguments& arguments) {
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

std::string command_line(const AuditArguments& arguments) {
  std::string line = arguments.command_shown;
  if (line.empty()) {
    line = fmt::format("sextant audit {} {}", shell_word(arguments.subject), words_of(arguments.claim));
    if (arguments.max_position) line += fmt::format(" --max-position {}", *arguments.max_position);
  }
  const AuditArguments usual;
  if (arguments.profile != usual.profile) line += fmt::format(" --profile {}", name_of(arguments.profile));
  if (arguments.seed != usual.seed) line += fmt::format(" --seed {}", arguments.seed);
  if (!arguments.recipe.empty()) line += fmt::format(" --as {}", arguments.recipe);
  if (arguments.budget > 0) line += fmt::format(" --budget {:g}", arguments.budget);
  if (arguments.values > 0) line += fmt::format(" --values {}", arguments.values);
  if (arguments.cases > 0) line += fmt::format(" --cases {}", arguments.cases);
  if (arguments.largest_call > 0) line += fmt::format(" --largest-call {}", arguments.largest_call);
  if (!arguments.python.empty()) line += fmt::format(" --python {}", shell_word(arguments.python));
  if (arguments.table) line += " --table";
  if (!arguments.table_order.empty()) line += fmt::format(" --table-order {}", arguments.table_order);
  if (arguments.timeout != usual.timeout) line += fmt::format(" --timeout {:g}", arguments.timeout);
  if (arguments.strict) line += " --strict";
  return line;
}

std::string selection_of(const AuditArguments& arguments) {
  std::string options;
  for (const std::string& id : arguments.only) options += fmt::format(" --only {}", id);
  for (const std::string& id : arguments.skip) options += fmt::format(" --skip {}", id);
  return options;
}

std::string command_line_for(const AuditArguments& arguments, const Spec& claim) {
  AuditArguments own = arguments;
  own.subject = arguments.subject_shown.empty() ? arguments.subject : arguments.subject_shown;
  own.command_shown.clear();
  own.claim = {};
  own.claim.spec = shortest_json(claim);
  // Of the claim that was, which this one says itself.
  own.max_position.reset();
  own.table = false;
  own.recipe.clear();
  return command_line(own) + selection_of(own);
}

const std::string& directory_of(const AuditArguments& arguments) {
  return arguments.resume.empty() ? arguments.report : arguments.resume;
}

void refuse_unknown_names(const AuditArguments& arguments) {
  const std::string& recipe = arguments.recipe;
  if (!recipe.empty() && std::ranges::count(reference::recipes(), recipe, &reference::Recipe::name) == 0)
    throw UsageError(fmt::format("--as {}: no such recipe (see sextant list recipes){}", in_quotes(recipe),
                                 did_you_mean(recipe, reference::recipes(), &reference::Recipe::name)));
  if (!arguments.table_order.empty() && table_order_named(arguments.table_order) == nullptr)
    throw UsageError(
        fmt::format("--table-order {}: expected one of {}", in_quotes(arguments.table_order), table_order_names()));
}

void refuse_unfit_recipe(const AuditArguments& arguments, const Spec& claimed) {
  if (arguments.recipe.empty()) return;
  if (const auto why = reference::recipe_not_known(reference::recipe_named(arguments.recipe), claimed))
    throw UsageError(fmt::format("--as {}: {}", arguments.recipe, *why));
}

void add_judging_options(CLI::App& command, AuditArguments& arguments, const std::string& spec_help) {
  command.add_option("subject", arguments.subject, subject_usage())->required();
  add_spec_options(command, arguments.claim, spec_help);
  static const std::map<std::string, Profile> profiles = [] {
    std::map<std::string, Profile> named;
    for (const Profile profile : every_profile) named.emplace(name_of(profile), profile);
    return named;
  }();
  std::vector<std::string> names;
  for (const Profile profile : every_profile) names.emplace_back(name_of(profile));
  one_of(command.add_option_function<std::string>(
             "--profile", [&arguments](const std::string& name) { arguments.profile = profiles.at(name); },
             "How much is asked"),
         std::move(names))
      ->default_str(std::string(name_of(arguments.profile)));
  add_word(command, "--seed", arguments.seed, "Seed of everything random")
      ->default_str(fmt::format("{}", arguments.seed));
  command.add_option("--only", arguments.only, "Judge this property only (may be repeated)")->allow_extra_args(false);
  command.add_option("--skip", arguments.skip, "Leave this property out (may be repeated)")->allow_extra_args(false);
  constexpr Integers counts{1, std::numeric_limits<int>::max()};
  add_position(command, "--max-position", arguments.max_position,
               "Claim positions below this one, given as a subject gets it: under position_step not in steps");
  add_integer(command, "--threads", arguments.threads, counts,
              "Properties judged in parallel, unless given as many as there are processors; the report is the same");
  add_seconds(command, "--timeout", arguments.timeout, TimeUnits::none, "Seconds a subject may take for one answer")
      ->default_str(fmt::format("{}", arguments.timeout));
  add_seconds(command, "--budget", arguments.budget, TimeUnits::allowed,
              "Seconds (30, 30s, 2m) that the audit may take: fewer and smaller cases and fewer values for a slow "
              "subject, chosen before it begins");
  add_integer(
      command, "--values", arguments.values, {1, std::int64_t{1} << 40},
      "Values that a property's sweep compares at most, in place of the profile's; both ends of the claim and every "
      "power of two are compared in any case");
  add_integer(
      command, "--cases", arguments.cases, {1, 1 << 20},
      "Cases of a property at most, of the fixed first ones and of the drawn ones each, if the profile has more");
  add_integer(command, "--largest-call", arguments.largest_call, {1, std::int64_t{1} << 40},
              "Tokens x batch rows x heads of a case at most; sweeps have calls of their own size");
  command.add_option(
      "--report", arguments.report,
      fmt::format("Directory for {}, and for events.jsonl, which tells how far the audit is", report_files()));
  command.add_option("--as", arguments.recipe,
                     "Ask every bit to be this recipe's too (sextant list recipes): the property recipe_identity");
  command.add_flag("--strict", arguments.strict, "Let violated advice fail the audit");
  command.add_option("--python", arguments.python, "Interpreter for python: subjects");
  command.add_flag("--table", arguments.table,
                   "Of a claim of rope: audit the table of its cosines and sines, the operation table");
  command.add_option("--table-order", arguments.table_order,
                     fmt::format("The order of a recorded rotary table's values, where its file does not show it: {}",
                                 table_order_names()));
}

}  // namespace sextant
