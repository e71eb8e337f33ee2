#include "properties/gen/position.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "properties/gen/draw.hpp"
#include "properties/gen/special_positions.hpp"

namespace sextant::gen {
namespace {

// 53 bits of a draw as a real in [0, 1).
double unit_interval(std::uint64_t bits) { return std::ldexp(static_cast<double>(bits >> 11), -53); }

std::int64_t log_uniform(const PositionRange& range, std::uint64_t bits) {
  const bool negative = range.first < 0 && (range.last <= 1 || (bits & 1U) != 0);
  const auto largest = static_cast<double>(negative ? -range.first : range.last - 1);
  const auto magnitude = static_cast<std::int64_t>(std::exp2(unit_interval(bits) * std::log2(largest + 1))) - 1;
  return std::clamp(negative ? -magnitude : magnitude, range.first, range.last - 1);
}

}  // namespace

std::vector<std::int64_t> special_positions(const PositionRange& range) {
  std::vector<std::int64_t> candidates{range.first, range.first + 1, range.last - 1, range.last - 2, 0,
                                       8191,        65520,           131071,         1'000'000};
  for (int k = 0; k <= 53; ++k) {
    for (const std::int64_t nudge : {-1, 0, 1}) {
      candidates.push_back((std::int64_t{1} << k) + nudge);
      candidates.push_back(-(std::int64_t{1} << k) + nudge);
    }
  }
  std::erase_if(candidates, [&](std::int64_t p) { return p < range.first || p >= range.last; });
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

PositionRange range_of(const Spec& spec) { return {spec.min_position, spec.max_position}; }

std::int64_t simplest_position(const PositionRange& range) {
  return std::clamp<std::int64_t>(0, range.first, range.last - 1);
}

rc::Gen<std::int64_t> position(PositionRange range) {
  // Drawn from raw words, since RapidCheck's integer generators favour small values at small sizes.
  const auto word = rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
  const auto draw = [range, special = special_positions(range)](std::uint64_t regime,
                                                                std::uint64_t bits) -> std::int64_t {
    switch (regime % 3) {
      case 0: return special[bits % special.size()];
      case 1: return log_uniform(range, bits);
      default:
        return range.first + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(range.last - range.first));
    }
  };
  return gen::map(gen::pair(word, word), [draw](const std::pair<std::uint64_t, std::uint64_t>& words) {
    return draw(words.first, words.second);
  });
}

std::vector<std::int64_t> consecutive(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

rc::Gen<std::int64_t> count(std::int64_t low, std::int64_t high) {
  return rc::gen::inRange<std::int64_t>(low, high + 1);
}

rc::Gen<std::int64_t> one_of(std::vector<std::int64_t> values) { return rc::gen::elementOf(std::move(values)); }

}  // namespace sextant::gen
