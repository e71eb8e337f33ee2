// Whether many positions are within a limit, compiled once per Highway target.
//
//   1. p + most is below 0 exactly where p < -most, most - p where p > most: neither leaves 64 bits there, and where
//      the other does it says nothing wrong. So the signs of all of them, gathered by or, tell, without a branch.
//   2. Four vectors are gathered apart, so that none waits for another.
//   3. Many positions are shared out among threads: they are read before anything is written, at memory's pace.
//
// Integers modulo 2^64: step 1 is the proof.

#include <algorithm>
#include <array>

#include "lib/kernels/checks.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/within.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

bool AllWithin(std::span<const std::int64_t> positions, std::int64_t most) {
  const hn::ScalableTag<std::int64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, most);
  const auto beyond = [&](std::size_t i) HWY_ATTR {
    const auto p = hn::LoadU(d, positions.data() + i);
    return hn::Or(hn::Add(p, limit), hn::Sub(limit, p));
  };
  auto a = hn::Zero(d), b = a, c = a, e = a;
  std::size_t i = 0;
  for (; i + 4 * lanes <= positions.size(); i += 4 * lanes) {
    a = hn::Or(a, beyond(i));
    b = hn::Or(b, beyond(i + lanes));
    c = hn::Or(c, beyond(i + 2 * lanes));
    e = hn::Or(e, beyond(i + 3 * lanes));
  }
  for (; i + lanes <= positions.size(); i += lanes) a = hn::Or(a, beyond(i));
  if (!hn::AllFalse(d, hn::Lt(hn::Or(hn::Or(a, b), hn::Or(c, e)), hn::Zero(d)))) return false;
  const auto unsigned_limit = static_cast<std::uint64_t>(most);
  std::uint64_t signs = 0;
  for (; i < positions.size(); ++i) {
    const auto p = static_cast<std::uint64_t>(positions[i]);
    signs |= (p + unsigned_limit) | (unsigned_limit - p);
  }
  return signs >> 63 == 0;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(AllWithin);

// Of a quarter of a megabyte, which a core reads while a second one would be woken.
constexpr std::size_t share = std::size_t{1} << 15;

}  // namespace

bool are_within(std::span<const std::int64_t> positions, std::int64_t most) {
  if (most < 0) return false;
  if (positions.size() < 2 * share) return HWY_DYNAMIC_DISPATCH(AllWithin)(positions, most);
  const auto shares = static_cast<std::int64_t>((positions.size() + share - 1) / share);
  bool within = true;
#pragma omp parallel for schedule(static) reduction(&& : within)
  for (std::int64_t i = 0; i < shares; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * share;
    const auto own = positions.subspan(first, std::min(share, positions.size() - first));
    within = within && HWY_DYNAMIC_DISPATCH(AllWithin)(own, most);
  }
  return within;
}

}  // namespace sextant
#endif
