// Sines and cosines of many points' angles in double-double, for float64, compiled once per Highway target.
//
//   1. A vector has one frequency and a point in each lane (lib/kernels/rotations-inl.h); of a weight the rotations of
//      the axes are multiplied.
//   2. Frequencies that double follow by squaring.
//   3. The ends of each interval are rounded; lanes where they differ are left open.
//
// docs/proofs/fourier-tiles.md, step 11, has the bound.

#include <array>

#include "lib/fourier/tile.hpp"
#include "lib/kernels/unit_circle.hpp"
#include "lib/numeric/index.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/fourier/wide_tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/fourier/tile-inl.h"
#include "lib/kernels/certify-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Step 11: the error of a vector, and what certify-inl.h asks for besides.
constexpr double wide_feature_bound = 0x1p-94;

struct WidePlace {
  std::int32_t list;
  std::int32_t band;
  std::size_t point;
};

HWY_INLINE void PutWide(const DoubleDouble<DoubleVector>& value, const WidePlace& place, FourierFunction function,
                        std::int64_t channel, WideFourierTile& tile) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const auto certified = Float64::Certify(d, value, hn::Set(d, wide_feature_bound));
  hn::StoreU(hn::BitCast(d, certified.bits), d, tile.channel(channel) + place.point);
  if (HWY_LIKELY(hn::AllFalse(du, certified.undecided))) return;
  std::array<std::uint8_t, 8> bits{};
  hn::StoreMaskBits(du, certified.undecided, bits.data());
  for (std::size_t lane = 0; bits[0] >> lane != 0; ++lane) {
    if ((bits[0] >> lane & 1) != 0)
      tile.open.push_back({place.list, place.band, static_cast<std::int32_t>(place.point + lane), function});
  }
}

HWY_INLINE PreciseRotation FirstOfWideRun(const FourierLadder& ladder, const FourierRun& run, std::size_t point,
                                          const WideFourierTile& tile, const UnitCircle& circle) {
  const auto of_axis = [&](std::size_t axis) HWY_ATTR {
    return PreciseRotationAt(ladder.axes[axis].of_bands[index(run.first_band)], 0,
                             hn::LoadU(Doubles(), tile.counts[axis].data() + point), circle);
  };
  PreciseRotation z = of_axis(index(run.list));
  if (ladder.sum == AngleSum::of_axes) {
    for (std::size_t axis = 1; axis < ladder.axes.size(); ++axis) z = Multiply(z, of_axis(axis));
  }
  return z;
}

bool FillWideTile(const FourierLadder& ladder, const TilePoints& at, WideFourierTile& tile, WaitingLines& waiting) {
  const Doubles d;
  tile.open.clear();
  for (std::size_t axis = 0; axis < ladder.axes.size(); ++axis) {
    double* const counts = tile.counts[axis].data();
    if (!FillCounts(ladder, axis, 0x1p52, at, counts)) return false;
    const std::int64_t channel = ladder.axes[axis].coordinate_channel;
    if (channel < 0) continue;
    for (std::size_t point = 0; point < WideFourierTile::points; point += hn::Lanes(d))
      hn::StoreU(hn::Mul(hn::LoadU(d, counts + point), hn::Set(d, ladder.step)), d, tile.channel(channel) + point);
  }
  const UnitCircle& circle = unit_circle();
  for (const FourierRun& run : ladder.runs) {
    const Channels* const channels = &ladder.channels[index(run.list * ladder.bands + run.first_band)];
    for (std::size_t point = 0; point < WideFourierTile::points; point += hn::Lanes(d)) {
      PreciseRotation z = FirstOfWideRun(ladder, run, point, tile, circle);
      for (std::int64_t k = 0; k < run.bands; ++k) {
        if (k > 0) z = Multiply(z, z);
        const WidePlace place{static_cast<std::int32_t>(run.list), static_cast<std::int32_t>(run.first_band + k),
                              point};
        PutWide(z.sin, place, FourierFunction::sin, channels[k].first, tile);
        PutWide(z.cos, place, FourierFunction::cos, channels[k].second, tile);
        StreamWaiting<2>(waiting);
      }
    }
  }
  return true;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillWideTile);

}  // namespace

bool fill_tile(const FourierLadder& ladder, const TilePoints& at, Dtype, WideFourierTile& tile, WaitingLines& waiting) {
  return HWY_DYNAMIC_DISPATCH(FillWideTile)(ladder, at, tile, waiting);
}

}  // namespace sextant
#endif
