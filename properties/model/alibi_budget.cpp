#include "properties/model/alibi_budget.hpp"

#include "properties/model/budget.hpp"
#include "reference/rounding.hpp"

namespace sextant {

using reference::Enclosure;
using reference::Precision;

double alibi_roundings(reference::AlibiReference& oracle, std::int64_t head, Precision precision) {
  return 4 + abs(log(oracle.slope(head, precision))).upper() + 2 * static_cast<double>(head + 1);
}

AlibiBudget::AlibiBudget(const Spec& spec, const Alibi& encoding)
    : dtype_(spec.dtype),
      ulps_(evaluation_ulps(spec.accuracy)),
      roundoff_(angle_roundoff(spec.accuracy)),
      oracle_(encoding) {}

std::optional<AlibiBudget::Value> AlibiBudget::at(std::int64_t query, std::int64_t key, std::int64_t head,
                                                  Precision precision) {
  const auto exact = oracle_.bias(query, key, head, precision);
  if (!exact) return std::nullopt;
  const double roundings = alibi_roundings(oracle_, head, precision);
  const Enclosure relative(roundings * roundoff_ / (1 - roundings * roundoff_), precision);
  return Value{*exact, Enclosure(ulps_, precision) * reference::ulp(dtype_, *exact) + relative * abs(*exact)};
}

}  // namespace sextant
