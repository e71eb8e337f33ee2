#include "reports/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "properties/verdict/bound_text.hpp"
#include "reports/same_run.hpp"

namespace sextant {
namespace {

using nlohmann::ordered_json;

// Accuracy classes from the strictest on; one that is not known stands after all.
std::size_t rank_of(const std::string& accuracy) {
  constexpr std::array classes{"correctly-rounded", "faithful",           "exact-angle",   "pair-norm",
                               "float32-angle",     "float32-recurrence", "float16-angle", "bfloat16-angle"};
  return static_cast<std::size_t>(std::find(classes.begin(), classes.end(), accuracy) - classes.begin());
}

const PropertyResult* result_in(const Report& report, const std::string& id) {
  const auto found = std::ranges::find(report.results, id, &PropertyResult::id);
  return found == report.results.end() ? nullptr : &*found;
}

bool is_good(Verdict verdict) { return verdict == Verdict::holds; }
bool is_silent(Verdict verdict) { return verdict == Verdict::not_applicable || verdict == Verdict::unsupported; }

// A deviation grew: by more than a hundredth of the bound, which reruns of the same seed do not, and not only from
// nothing to nearly nothing.
bool grew(double older, double newer) { return newer > older + 0.01 || (std::isnan(newer) && !std::isnan(older)); }

// With so many digits and without an exponent, as bound_text has three.
std::string ratio_text(double of_bound, int digits) {
  if (of_bound <= 1) return fmt::format("{:.{}g} of the bound", of_bound, digits);
  const int whole_digits = static_cast<int>(std::floor(std::log10(of_bound))) + 1;
  if (digits >= whole_digits) return fmt::format("{:.{}g} times the bound", of_bound, digits);
  const double unit = std::pow(10, whole_digits - digits);
  return fmt::format("{:.0f} times the bound", std::round(of_bound / unit) * unit);
}

// "worst 1.2 times the bound, was 1.1 times the bound", as the reports have them, or with as many digits as tell the
// two apart.
std::string worst_text(double after, double before) {
  std::string text_after = bound_text(after);
  std::string text_before = bound_text(before);
  if (std::isfinite(after) && std::isfinite(before)) {
    for (int digits = 3; digits <= std::numeric_limits<double>::max_digits10 && text_after == text_before; ++digits) {
      text_after = ratio_text(after, digits);
      text_before = ratio_text(before, digits);
    }
  }
  return fmt::format("worst {}, was {}", text_after, text_before);
}

bool is_wrong(Verdict verdict) { return verdict == Verdict::violated || verdict == Verdict::crashed; }

bool asked_alike(const Report& older, const Report& newer) {
  return older.profile == newer.profile && older.seed == newer.seed && older.amount == newer.amount;
}

// Whether a property that was violated holds now.
bool is_mended(const Report& older, const Report& newer) {
  return std::ranges::any_of(older.results, [&](const PropertyResult& before) {
    const PropertyResult* after = result_in(newer, before.id);
    return is_wrong(before.verdict) && after != nullptr && is_good(after->verdict);
  });
}

// Of which properties worst deviations are compared.
enum class Deviations { of_all, of_violated, of_none };

Deviations deviations_to_compare(const Report& older, const Report& newer) {
  // Those of different classes are shares of different bounds.
  if (!asked_alike(older, newer) || newer.claim != older.claim) return Deviations::of_none;
  return is_mended(older, newer) ? Deviations::of_violated : Deviations::of_all;
}

bool are_compared(Deviations deviations, Verdict verdict) {
  return deviations == Deviations::of_all || (deviations == Deviations::of_violated && !is_good(verdict));
}

// Whether its sweep compared every position of the claim, so that its horizon depends on no draw.
bool is_whole(const PropertyResult& result) {
  return result.coverage && result.coverage->values > 0 && result.coverage->positions == result.coverage->claimed;
}

// What two reports are compared by.
struct Terms {
  Deviations deviations;
  bool asked_alike;
  Drift drift;
  PositionGrid grid;
  std::int64_t first_position;
  std::optional<std::int64_t> wrong_beyond;  // accuracy's horizon in the older report, where it was violated
  bool is_still_wrong;                       // accuracy is violated in both
};

void compare_worst(Comparison& comparison, const PropertyResult& older, const PropertyResult& newer,
                   const Terms& terms) {
  const double before = older.worst->deviation.of_bound;
  const double after = newer.worst->deviation.of_bound;
  const std::string line = fmt::format("{}: {}", newer.id, worst_text(after, before));
  if (grew(after, before)) comparison.improvements.push_back(line);
  if (!grew(before, after)) return;
  const bool is_drift = is_good(newer.verdict) && terms.drift == Drift::noted;
  (is_drift ? comparison.notes : comparison.regressions).push_back(line);
}

void compare_horizons(Comparison& comparison, const PropertyResult& older, const PropertyResult& newer,
                      const Terms& terms) {
  const auto text = [&](std::int64_t horizon) {
    return horizon < terms.first_position ? std::string("no position") : "position " + terms.grid.text(horizon);
  };
  const std::string line =
      fmt::format("{}: holds up to {}, was {}", newer.id, text(*newer.horizon), text(*older.horizon));
  // Of other cases the first that shows a violation is another, in code that is the same.
  const bool are_alike = terms.asked_alike || (is_whole(older) && is_whole(newer));
  if (!are_alike) {
    comparison.notes.push_back(line + ", of other cases");
  } else {
    (*newer.horizon > *older.horizon ? comparison.improvements : comparison.regressions).push_back(line);
  }
}

// Whether a violation may be of values that the older report knew to be wrong: beyond the position up to which they
// were right, or of a law that says of no single position where it failed, if other cases were asked of it: the same
// cases held. A contract does not rest on right values.
bool is_of_known_values(const PropertyResult& violated, const Terms& terms) {
  if (!terms.wrong_beyond) return false;
  return violated.horizon ? *violated.horizon >= *terms.wrong_beyond
                          : violated.level == Level::law && !terms.asked_alike;
}

void compare_verdicts(Comparison& comparison, const PropertyResult& older, const PropertyResult& newer,
                      const Terms& terms) {
  std::string line =
      fmt::format("{}: {}, {}", newer.id, name_of(newer.verdict),
                  is_good(older.verdict) ? std::string("held before") : fmt::format("was {}", name_of(older.verdict)));
  if (is_good(newer.verdict)) {
    // Of other cases none may have shown what is still there.
    const bool is_by_chance = !terms.asked_alike && terms.is_still_wrong;
    (is_by_chance ? comparison.notes : comparison.improvements)
        .push_back(line + (is_by_chance ? ", of other cases" : ""));
  } else if (is_good(older.verdict) || !is_silent(newer.verdict)) {
    if (newer.simplest) line += ": " + newer.simplest->finding;
    const bool is_known = newer.verdict == Verdict::violated && is_of_known_values(newer, terms);
    if (is_known)
      line += fmt::format("; not counted, since values were wrong already from position {} on{}",
                          terms.grid.text(*terms.wrong_beyond + 1), newer.horizon ? "" : ", of which it may come");
    // It was wrong before; of other cases another is the first that shows it.
    const bool is_by_chance = !terms.asked_alike && is_wrong(older.verdict) && is_wrong(newer.verdict);
    if (is_by_chance) line += ", of other cases";
    (is_known || is_by_chance ? comparison.notes : comparison.regressions).push_back(line);
  }
}

void compare_results(Comparison& comparison, const PropertyResult& older, const PropertyResult& newer,
                     const Terms& terms) {
  if (older.verdict != newer.verdict) return compare_verdicts(comparison, older, newer, terms);
  if (older.worst && newer.worst && are_compared(terms.deviations, newer.verdict))
    compare_worst(comparison, older, newer, terms);
  if (older.horizon && newer.horizon && *newer.horizon != *older.horizon)
    compare_horizons(comparison, older, newer, terms);
}

// Accuracy's horizon, where it was violated.
std::optional<std::int64_t> wrong_beyond(const Report& report) {
  const PropertyResult* accuracy = result_in(report, "accuracy");
  if (accuracy == nullptr || accuracy->verdict != Verdict::violated) return std::nullopt;
  return accuracy->horizon;
}

// A cause that is another than it was.
struct ChangedCause {
  std::string before;
  std::string after;
  bool is_part;  // of the one before: what is left of several
};

std::optional<ChangedCause> changed_cause(const Report& older, const Report& newer, const Terms& terms) {
  if (!older.diagnosis || (!newer.diagnosis && !terms.is_still_wrong)) return std::nullopt;
  const std::string before = words_of(*older.diagnosis);
  const std::string after = newer.diagnosis ? words_of(*newer.diagnosis) : "not known";
  if (before == after) return std::nullopt;
  // A baseline has the words as one.
  const bool is_part =
      newer.diagnosis && std::ranges::all_of(newer.diagnosis->differences, [&](const DiagnosedDifference& difference) {
        return before.find(difference.words) != std::string::npos;
      });
  return ChangedCause{before, after, is_part};
}

// Another bug in place of the known one, though nothing need be worse by any measure. Other cases, other properties and
// other versions may tell the same bug in other words.
void compare_causes(Comparison& comparison, const Report& older, const Report& newer, const Terms& terms) {
  const std::optional<ChangedCause> changed = changed_cause(older, newer, terms);
  if (!changed) return;
  // A baseline leaves out those that do not apply.
  const auto is_asked_in = [](const Report& other) {
    return [&other](const PropertyResult& result) {
      return is_silent(result.verdict) || result_in(other, result.id) != nullptr;
    };
  };
  const bool are_all_asked =
      std::ranges::all_of(older.results, is_asked_in(newer)) && std::ranges::all_of(newer.results, is_asked_in(older));
  const bool is_told_alike = terms.asked_alike && are_all_asked && older.sextant_version == newer.sextant_version;
  const bool is_another_bug = is_told_alike && !changed->is_part && count(newer, Verdict::violated) > 0;
  (is_another_bug ? comparison.regressions : comparison.notes)
      .push_back(fmt::format("the cause has changed: it was: {}; it is: {}", changed->before, changed->after));
}

// The spec without what may be strengthened.
ordered_json core_of(const Report& report) {
  ordered_json spec = ordered_json::parse(report.spec_json);
  spec.erase("accuracy");
  spec.erase("max_position");
  spec.erase("min_position");
  return spec;
}

}  // namespace

std::string why_incomparable(const Report& older, const Report& newer) {
  if (const std::string specs = difference_of_specs(core_of(older).dump(), core_of(newer).dump()); !specs.empty())
    return fmt::format("other specs: {}", specs);
  if (!older.recipe.empty() && !newer.recipe.empty() && older.recipe != newer.recipe)
    return fmt::format("other recipes: {} and {}", older.recipe, newer.recipe);
  return "";
}

Comparison compare(const Report& older, const Report& newer, const CompareOptions& options) {
  Comparison comparison;
  if (newer.stop) {
    comparison.regressions.push_back(headline(newer));
    return comparison;
  }
  const Terms terms{deviations_to_compare(older, newer),
                    asked_alike(older, newer),
                    options.drift,
                    newer.grid,
                    newer.first_position,
                    wrong_beyond(older),
                    wrong_beyond(older) && wrong_beyond(newer)};
  if (terms.deviations == Deviations::of_none) {
    const std::string why =
        newer.claim != older.claim
            ? fmt::format("{} and {} have different bounds", older.claim, newer.claim)
            : fmt::format("{} and {} ask different values", profile_text(older), profile_text(newer));
    if (options.drift == Drift::refused)
      comparison.warnings.push_back(fmt::format("--ratchet compares nothing here: {}", why));
    else
      comparison.notes.push_back("worst errors are not compared: " + why);
  }
  if (rank_of(newer.claim) > rank_of(older.claim))
    comparison.regressions.push_back(fmt::format("claim: {}, was {}", newer.claim, older.claim));
  if (newer.last_position < older.last_position)
    comparison.regressions.push_back(fmt::format("claim: positions to {}, was {}", newer.grid.text(newer.last_position),
                                                 older.grid.text(older.last_position)));
  if (older.survey && newer.survey && rank_of(newer.survey->measured_class) > rank_of(older.survey->measured_class)) {
    comparison.regressions.push_back(fmt::format(
        "measured class: {}, was {}", newer.survey->measured_class.empty() ? "none" : newer.survey->measured_class,
        older.survey->measured_class));
  }
  compare_causes(comparison, older, newer, terms);
  std::int64_t left_out = 0;
  for (const PropertyResult& before : older.results) {
    const PropertyResult* after = result_in(newer, before.id);
    if (after == nullptr && options.unjudged == Unjudged::left_out) {
      ++left_out;
      continue;
    }
    const bool counts = before.level != Level::advice || older.strictness == Strictness::strict ||
                        newer.strictness == Strictness::strict;
    if (!counts) continue;
    if (after != nullptr) {
      compare_results(comparison, before, *after, terms);
    } else if (is_good(before.verdict)) {
      comparison.regressions.push_back(fmt::format("{}: held, is no longer judged", before.id));
    }
  }
  if (left_out > 0)
    comparison.notes.push_back(fmt::format("not compared: {} of the baseline's {} properties, which this run left out",
                                           left_out, older.results.size()));
  for (const PropertyResult& after : newer.results) {
    if (result_in(older, after.id) != nullptr ||
        (after.level == Level::advice && newer.strictness == Strictness::lenient))
      continue;
    if (is_silent(after.verdict)) continue;
    auto& list = is_good(after.verdict) ? comparison.improvements : comparison.regressions;
    list.push_back(fmt::format("{}: {}, was not judged", after.id, name_of(after.verdict)));
  }
  return comparison;
}

Report tightened(const Report& older, const Report& newer) {
  Report result = newer;
  const Deviations deviations = deviations_to_compare(older, newer);
  for (PropertyResult& after : result.results) {
    const PropertyResult* before = result_in(older, after.id);
    if (before == nullptr || !before->worst) continue;
    const double mark = before->worst->deviation.of_bound;
    const double reached = after.worst ? after.worst->deviation.of_bound : std::nan("");
    const bool has_grown =
        are_compared(deviations, after.verdict) && (std::isnan(reached) ? !std::isnan(mark) : mark < reached);
    const bool older_is_tighter = is_good(before->verdict) && (!is_good(after.verdict) || has_grown);
    if (older_is_tighter) after = *before;
  }
  for (const PropertyResult& before : older.results) {
    if (result_in(newer, before.id) == nullptr) result.results.push_back(before);
  }
  if (older.survey && newer.survey && rank_of(older.survey->measured_class) < rank_of(newer.survey->measured_class))
    result.survey = older.survey;
  result.last_position = std::max(older.last_position, newer.last_position);
  if (rank_of(older.claim) < rank_of(newer.claim)) result.claim = older.claim;
  std::erase_if(result.missing, [&](const std::string& id) { return result_in(result, id) != nullptr; });
  result.exit_status = exit_status(result);
  return result;
}

}  // namespace sextant
