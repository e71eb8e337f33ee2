#include "properties/gen/shrink.hpp"

#include <utility>
#include <vector>

namespace sextant::gen {

rc::Seq<std::int64_t> simpler_integers(std::int64_t value, std::int64_t target) {
  // Fields lie within +-2^54, so distances do not overflow.
  const std::int64_t distance = value > target ? value - target : target - value;
  const std::int64_t sign = value > target ? 1 : -1;
  std::vector<std::int64_t> candidates;
  std::int64_t last = -1;
  for (std::int64_t power = 1; power - 1 < distance; power *= 2) {
    for (const std::int64_t step : {power - 1, power, power + 1}) {
      if (step <= last || step >= distance) continue;
      candidates.push_back(target + sign * step);
      last = step;
    }
  }
  return rc::seq::concat(rc::seq::fromContainer(std::move(candidates)), rc::shrink::towards(value, target));
}

}  // namespace sextant::gen
