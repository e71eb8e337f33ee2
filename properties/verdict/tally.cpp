#include "properties/verdict/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <tuple>
#include <utility>

namespace sextant {
namespace {

// What is not a number is as far off as can be.
double size_of(double of_bound) { return std::isnan(of_bound) ? std::numeric_limits<double>::infinity() : of_bound; }

bool is_before(const Remark& one, const Remark& other) { return one.number < other.number; }

bool is_before(const FailedCase& one, const FailedCase& other) { return one.number < other.number; }

template <class Kept>
std::optional<Kept> first_of(const std::optional<Kept>& one, const std::optional<Kept>& other) {
  if (!one || !other) return one ? one : other;
  return is_before(*other, *one) ? other : one;
}

std::optional<Coverage> sum_of(const std::optional<Coverage>& one, const std::optional<Coverage>& other) {
  if (!one || !other) return one ? one : other;
  return Coverage{one->positions + other->positions, one->claimed, one->values + other->values, one->of};
}

// The subject failed: what was seen before says nothing of the whole claim.
PropertyResult failed(PropertyResult result, const FailedCase& failure) {
  result.verdict = failure.verdict;
  result.reason = failure.reason;
  result.simplest = failure.example;
  result.cases = failure.asked;
  return result;
}

PropertyResult violated(PropertyResult result, const Tally& tally) {
  if (result.theory == Theory::fails) {
    result.verdict = Verdict::holds;
    result.reason = "the encoding lacks this property, as theory says; the case shows it";
  } else {
    result.verdict = Verdict::violated;
    if (tally.remark) result.reason = tally.remark->text;
  }
  result.cases += tally.worst->searched;
  result.horizon = lesser(lesser(result.horizon, tally.worst->horizon), tally.counterexample->horizon);
  result.simplest = tally.counterexample->example;
  // Simple cases have tight bounds, so the search for the simplest may end at the worst.
  if (result.simplest->deviation.of_bound > result.worst->deviation.of_bound) result.worst = result.simplest;
  return result;
}

PropertyResult undecided(PropertyResult result, std::string reason) {
  result.verdict = Verdict::undecided;
  result.reason = std::move(reason);
  return result;
}

// The encoding must lack the property, and no case shows that it does.
PropertyResult unwitnessed(PropertyResult result, const Tally& tally, Extent extent) {
  if (extent == Extent::share) {
    result.verdict = Verdict::not_applicable;
    result.reason = "theory says that this encoding lacks the property; no case of this shard shows it";
  } else if (tally.hiding == tally.judged) {
    result.verdict = Verdict::not_applicable;
    result.reason =
        "theory says that this encoding lacks the property, but under this claim the bound hides it in every case";
    result.worst.reset();
  } else {
    result.verdict = Verdict::violated;
    result.reason =
        "theory says that this encoding lacks the property, yet every case has it: this is not the encoding claimed";
  }
  return result;
}

}  // namespace

bool is_before(const WorstCase& one, const WorstCase& other) {
  return std::tuple(!one.is_violated, -size_of(one.of_bound), one.number) <
         std::tuple(!other.is_violated, -size_of(other.of_bound), other.number);
}

bool is_before(const Counterexample& one, const Counterexample& other) {
  return std::tuple(!one.place, one.place.value_or(0), one.number) <
         std::tuple(!other.place, other.place.value_or(0), other.number);
}

std::optional<std::int64_t> lesser(const std::optional<std::int64_t>& one, const std::optional<std::int64_t>& other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

Tally joined(const Tally& one, const Tally& other) {
  return {.judged = one.judged + other.judged,
          .undecided = one.undecided + other.undecided,
          .precision = std::max(one.precision, other.precision),
          .hiding = one.hiding + other.hiding,
          .informative = one.informative + other.informative,
          .uninformative = one.uninformative + other.uninformative,
          .unsupported = one.unsupported + other.unsupported,
          .why_unsupported = first_of(one.why_unsupported, other.why_unsupported),
          .unfinished = first_of(one.unfinished, other.unfinished),
          .remark = first_of(one.remark, other.remark),
          .coverage = sum_of(one.coverage, other.coverage),
          .horizon = lesser(one.horizon, other.horizon),
          .worst = first_of(one.worst, other.worst),
          .counterexample = first_of(one.counterexample, other.counterexample),
          .failure = first_of(one.failure, other.failure)};
}

PropertyResult settled(PropertyResult about, const Tally& tally, Extent extent) {
  if (tally.failure) return failed(std::move(about), *tally.failure);
  PropertyResult result = std::move(about);
  result.cases = tally.judged;
  result.unsupported = tally.unsupported;
  result.coverage = tally.coverage;
  result.horizon = tally.horizon;
  if (tally.worst) result.worst = tally.worst->example;
  if (tally.counterexample) return violated(std::move(result), tally);
  if (tally.unfinished)
    return undecided(std::move(result), fmt::format("{}: judging it exceeds the limit of work; {} cases were judged",
                                                    tally.unfinished->text, tally.judged));
  if (tally.judged == 0 && tally.unsupported > 0) {
    result.verdict = Verdict::unsupported;
    result.reason = tally.why_unsupported->text;
    return result;
  }
  if (tally.judged == 0 && extent == Extent::share) {
    result.verdict = Verdict::not_applicable;
    result.reason = "none of its cases falls to this shard";
    return result;
  }
  if (tally.judged == 0) return undecided(std::move(result), "no case ran");
  if (tally.undecided > 0)
    return undecided(std::move(result), fmt::format("{} of {} cases could not be decided at {} bits of precision",
                                                    tally.undecided, tally.judged, tally.precision));
  // A sweep is of every position claimed, and a subject that answers some of its calls has not shown the others.
  if (tally.coverage && tally.unsupported > 0)
    return undecided(std::move(result),
                     fmt::format("{} of {} calls of the claim are unsupported, which leaves it open: {}",
                                 tally.unsupported, tally.judged + tally.unsupported, tally.why_unsupported->text));
  if (result.theory == Theory::fails) return unwitnessed(std::move(result), tally, extent);
  const std::int64_t compared = tally.informative + tally.uninformative;
  // A verdict rests on what could have come out otherwise.
  const auto of_comparisons = [&] {
    return fmt::format("any answer meets the bound in {} of {} comparisons", tally.uninformative, compared);
  };
  if (tally.informative < tally.uninformative && extent == Extent::whole)
    return undecided(std::move(result), of_comparisons());
  result.verdict = Verdict::holds;
  if (tally.remark) result.reason = tally.remark->text;
  const auto add_reason = [&](const std::string& text) {
    result.reason += fmt::format("{}{}", result.reason.empty() ? "" : "; ", text);
  };
  if (tally.uninformative > 0) add_reason(of_comparisons());
  if (tally.unsupported > 0)
    add_reason(fmt::format("{} more cases are unsupported: {}", tally.unsupported, tally.why_unsupported->text));
  return result;
}

}  // namespace sextant
