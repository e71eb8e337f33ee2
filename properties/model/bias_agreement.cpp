#include "properties/model/bias_agreement.hpp"

#include <fmt/format.h>

#include <cmath>

#include "properties/model/budget.hpp"
#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

}  // namespace

AlibiBudget::AlibiBudget(const Spec& spec, const Alibi& encoding)
    : dtype_(spec.dtype),
      ulps_(evaluation_ulps(spec.accuracy)),
      roundoff_(angle_roundoff(spec.accuracy)),
      oracle_(encoding) {}

std::optional<AlibiBudget::Value> AlibiBudget::at(std::int64_t query, std::int64_t key, std::int64_t head,
                                                  Precision precision) {
  const auto exact = oracle_.bias(query, key, head, precision);
  if (!exact) return std::nullopt;
  const double roundings = 4 + abs(log(oracle_.slope(head, precision))).upper() + 2 * static_cast<double>(head + 1);
  const Enclosure relative(roundings * roundoff_ / (1 - roundings * roundoff_), precision);
  return Value{*exact, Enclosure(ulps_, precision) * reference::ulp(dtype_, *exact) + relative * abs(*exact)};
}

BiasAgreement::BiasAgreement(const Spec& spec) : dtype_(spec.dtype) {
  if (const auto* alibi = std::get_if<Alibi>(&spec.encoding)) alibi_.emplace(spec, *alibi);
}

void BiasAgreement::compare(Judgement& judgement, double one, double other, std::int64_t query, std::int64_t key,
                            std::int64_t head) {
  const auto place = [&] { return fmt::format("head {}, query {}, key {}", head, query, key); };
  const auto told = [&] {
    return fmt::format("{}: {} in one call, {} in the other", place(), value_text(dtype_, one),
                       value_text(dtype_, other));
  };
  const bool same = one == other || (std::isnan(one) && std::isnan(other));
  if (!same && alibi_ && !alibi_->at(query, key, head, reference::first_precision)) return;
  if (same || !alibi_ || !std::isfinite(one) || !std::isfinite(other)) {
    judgement.add_exact(same ? std::nullopt : std::optional(told()), [] { return "the same in both calls"; });
    return;
  }
  Deviation deviation;
  const Certainty within = reference::decide([&](Precision precision) {
    const AlibiBudget::Value value = *alibi_->at(query, key, head, precision);
    const Enclosure error = abs(Enclosure(one, precision) - Enclosure(other, precision));
    const Enclosure bound = Enclosure(2.0, precision) * value.bound;
    deviation = deviation_of(error, bound, reference::ulp(dtype_, value.truth).upper());
    return reference::at_most(error, bound);
  });
  judgement.add(within, deviation,
                [&] { return fmt::format("{}: {:.3g} times the bound", told(), deviation.of_bound); });
}

}  // namespace sextant
