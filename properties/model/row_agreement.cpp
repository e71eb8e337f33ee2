#include "properties/model/row_agreement.hpp"

namespace sextant {

void judge_same_value(Judgement& judgement, const TwoRows& rows, std::int64_t channel) {
  const double a = rows.in_one(channel);
  const double b = rows.in_other(channel);
  const Dtype dtype = rows.one.dtype;
  const bool same = a == b || (std::isnan(a) && std::isnan(b));
  judgement.add_exact(same ? std::nullopt
                           : std::optional(fmt::format("{}: {} in one call, {} in the other", rows.text(channel),
                                                       value_text(dtype, a), value_text(dtype, b))),
                      [] { return "the same in both calls"; });
}

}  // namespace sextant
