#include "properties/model/alibi_budget.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "properties/model/budget.hpp"
#include "reference/double_double_within.hpp"
#include "reference/rounding.hpp"

namespace sextant {

using reference::Enclosure;
using reference::Precision;

namespace {

// gamma, Higham 2002, lemma 3.1. Past one half it says nothing of use, as in budget.cpp.
double relative_error(double total) { return total < 0.5 ? total / (1 - total) : 1e9; }

}  // namespace

double alibi_roundings(reference::AlibiReference& oracle, std::int64_t head, double libm, double roundoff,
                       Precision precision) {
  const Enclosure& real = oracle.real_slope(head, precision);
  const double of_slope = 2 * libm + abs(log(real)).upper() + 2 * libm * static_cast<double>(head + 1);
  if (!oracle.encoding().slope_dtype) return 2 + of_slope;
  if (roundoff == 0) return 2;
  const double relative = relative_error(of_slope * roundoff);
  if (relative >= 1) return 2 + 1 / roundoff;
  const Dtype dtype = *oracle.encoding().slope_dtype;
  const Enclosure one(1.0, precision);
  const Enclosure error(relative, precision);
  const double nearest = oracle.slope(head, precision).lower();
  const double least = round_to(dtype, (real * (one - error)).lower());
  const double most = round_to(dtype, (real * (one + error)).upper());
  // The quotients are rounded, which the factor is for.
  return 2 + std::max(nearest - least, most - nearest) / nearest / roundoff * (1 + 0x1p-50);
}

AlibiBudget::AlibiBudget(const Spec& spec, const Alibi& encoding)
    : dtype_(spec.dtype), ulps_(evaluation_ulps(arithmetic_of(spec))), oracle_(encoding) {
  const double roundoff = angle_roundoff(spec.accuracy);
  for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
    const auto slope = reference::DoubleDoubleWithin::of(oracle_.slope(head, reference::first_precision));
    const double roundings = alibi_roundings(oracle_, head, spec.libm, roundoff, reference::first_precision);
    heads_.push_back({static_cast<long double>(slope.high) + static_cast<long double>(slope.low),
                      relative_error(roundings * roundoff)});
  }
}

bool AlibiBudget::is_hidden(std::int64_t query, std::int64_t key) const {
  return oracle_.encoding().mask == Mask::causal && key > query;
}

long double AlibiBudget::quick(std::int64_t query, std::int64_t key, std::int64_t head) const {
  const std::int64_t factor = oracle_.encoding().form == AlibiForm::key_index ? key : -std::abs(query - key);
  return heads_[static_cast<std::size_t>(head)].slope * static_cast<long double>(factor);
}

QuickTarget AlibiBudget::quick_target(std::int64_t query, std::int64_t key, std::int64_t head) const {
  constexpr double epsilon = 0x1p-40;
  const long double truth = quick(query, key, head);
  const auto high = static_cast<double>(truth);
  const reference::DoubleDoubleWithin within{
      high, static_cast<double>(truth - static_cast<long double>(high)),
      static_cast<double>(std::numeric_limits<long double>::epsilon() * std::fabs(truth))};
  const double size = std::fabs(high);
  const double unit = ulp(dtype_, size * (1 - epsilon));
  const double bound = ulps_ * unit + heads_[static_cast<std::size_t>(head)].relative_error * size;
  if (unit != ulp(dtype_, size * (1 + epsilon)) || !(bound > 0x1p-900))
    return {within, {0, std::numeric_limits<double>::infinity()}};
  return {within, {bound * (1 - epsilon), bound * (1 + epsilon)}};
}

double AlibiBudget::least_bound(const Screen& screen, std::int64_t query, std::int64_t key, std::int64_t head) const {
  return screen.component_bound(static_cast<double>(std::fabs(quick(query, key, head))),
                                heads_[static_cast<std::size_t>(head)].relative_error);
}

bool AlibiBudget::passes(const Screen& screen, std::int64_t query, std::int64_t key, std::int64_t head,
                         double value) const {
  const long double truth = quick(query, key, head);
  return screen.passes(value, truth, std::numeric_limits<long double>::epsilon() * std::fabs(truth),
                       least_bound(screen, query, key, head));
}

std::optional<AlibiBudget::Value> AlibiBudget::at(std::int64_t query, std::int64_t key, std::int64_t head,
                                                  Precision precision) {
  const auto exact = oracle_.bias(query, key, head, precision);
  if (!exact) return std::nullopt;
  const Enclosure relative(heads_.at(static_cast<std::size_t>(head)).relative_error, precision);
  return Value{*exact, Enclosure(ulps_, precision) * reference::ulp(dtype_, *exact) + relative * abs(*exact)};
}

}  // namespace sextant
