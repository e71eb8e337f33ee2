#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "properties/engine/engine.hpp"

namespace sextant {

/// Seconds since any fixed time.
using Clock = std::function<double()>;

/// That of this machine, which no one sets.
double steady_seconds();

/// How much an audit asks that is to end within a time.
struct BudgetedAmount {
  Amount amount;
  /// What the audit takes about, choosing the amount included; the least, if nothing told how calls grow.
  double seconds;
  /// The least budget that enough_cases of each property take; nothing where as many are asked.
  std::optional<double> seconds_of_enough = std::nullopt;
};

/// Fewer cases than these say little of a property that holds.
constexpr std::int64_t enough_cases = 16;

/// What an audit under these options can ask within `budget` seconds, at most what its profile asks: asks the subject a
/// few small cases of each property, and larger ones while a sixth of that time lasts, and reckons from them what each
/// case and each block of a sweep takes, by its size. Then it chooses, in this order:
///
/// 1. the number of cases: the most of which those of at most 64 tokens, rows and heads fit in a quarter of the time;
/// 2. the largest call: the largest power of two at which the cases fit in half of it;
/// 3. the values of a sweep: the largest power of two that fits in the rest;
/// 4. more cases, where there is time left, then larger calls.
///
/// Of each property one case is asked whatever the time, and of each sweep `least_values`: where that takes longer,
/// `seconds` says so. Looking for the simplest and the worst of violations is not reckoned. Measured, so that another
/// machine or hour may come to another amount; an audit under the same Amount is what can be repeated.
/// @throws Interrupted.
BudgetedAmount amount_within(double budget, const std::vector<Property>& properties, const Subject& subject,
                             const Spec& spec, const AuditOptions& options, const Clock& clock = steady_seconds);

}  // namespace sextant
