#include "properties/model/row_agreement.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/model/question.hpp"

namespace sextant {

namespace {

// [3, 20, 0, 5] of an element of a tensor.
std::string indices_text(const Tensor& tensor, std::int64_t element) {
  std::vector<std::int64_t> indices;
  for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend(); ++extent) {
    indices.push_back(element % *extent);
    element /= *extent;
  }
  std::ranges::reverse(indices);
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

}  // namespace

std::string TwoRows::text(std::int64_t channel) const {
  const std::string in_the_one = indices_text(one, one_start + channel);
  const std::string in_the_other = indices_text(other, other_start + channel);
  return fmt::format("position {}, at {}{}", text_of_place(grid, place), in_the_one,
                     in_the_other == in_the_one ? "" : " and " + in_the_other);
}

double pair_ulps(const ErrorBudget& budget) {
  constexpr double above_root_of_two = std::numbers::sqrt2 * (1 + 0x1p-50);
  return above_root_of_two * budget.ulps();
}

double agreement_limit(const Judgement& judgement) {
  const double worst = std::max(judgement.deviation.of_bound, 0.5);
  return (judgement.within == reference::Certainty::no ? worst : std::min(worst, 1.0)) * (1 - 0x1p-39);
}

bool certainly_agrees(const Judgement& judgement, const TwoRows& rows, std::int64_t channel, double least_bound) {
  if (judgement.finding.empty()) return false;
  // NaN meets no comparison, so it is not passed over.
  return std::fabs(rows.in_one(channel) - rows.in_other(channel)) <= 2 * least_bound * agreement_limit(judgement);
}

void judge_same_value(Judgement& judgement, const TwoRows& rows, std::int64_t channel) {
  const double a = rows.in_one(channel);
  const double b = rows.in_other(channel);
  const Dtype dtype = rows.one.dtype;
  const bool same = same_or_nan(a, b);
  judgement.add_exact(same ? std::nullopt
                           : std::optional(fmt::format("{}: {} in one call, {} in the other", rows.text(channel),
                                                       value_text(dtype, a), value_text(dtype, b))),
                      [] { return "the same in both calls"; });
}

}  // namespace sextant
