// Sines and cosines of many points' angles, compiled once per Highway target.
//
//   1. A vector has one frequency and a point in each lane; frequencies that double follow from it (angles-inl.h).
//   2. Each band's elements are written, and lanes that are doubtful marked, without a branch (features-inl.h).
//   3. Where each run began is kept, so that a doubtful band is had again by doubling: both ends of each interval are
//      rounded, and lanes where they differ are left open.
//
// docs/proofs/fourier-tiles.md, step 6, has the bound, steps 7 to 10 why the certificate is one.

#include "lib/fourier/tile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "lib/numeric/index.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/fourier/tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/fourier/angles-inl.h"
#include "lib/fourier/features-inl.h"
#include "lib/fourier/tile-inl.h"
#include "lib/kernels/certify-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

template <AngleSum sum>
HWY_INLINE HalfTurns FirstOfRun(const FourierLadder& ladder, const FourierRun& run, std::size_t point,
                                const TileCounts& counts) {
  if constexpr (sum == AngleSum::of_axes) return HalfTurnsOfSum(ladder.axes, index(run.first_band), counts, point);
  return HalfTurnsAt(*ladder.axes[index(run.list)].frequencies, index(run.first_band),
                     counts[index(run.list)].data() + point);
}

/// Where a run began at the points of a vector of floats, and the lanes of each of its bands that are not certain.
struct BegunRun {
  const FourierRun* run;
  std::size_t point;
  LaneBits doubtful_in_any;
  std::array<LaneBits, longest_narrow_fourier_run> doubtful;
  alignas(64) std::array<double, vectors * FrequencyPieces::lanes> sin;
  alignas(64) std::array<double, vectors * FrequencyPieces::lanes> twice_cos;
};

HWY_INLINE Features BeginningOf(const BegunRun& begun) {
  const Doubles d;
  const auto at = [&](std::size_t i) HWY_ATTR {
    return DoublingRotation{hn::Load(d, begun.sin.data() + i), hn::Load(d, begun.twice_cos.data() + i)};
  };
  return {at(0), at((vectors - 1) * hn::Lanes(d))};
}

/// How many vectors of lines that wait are streamed beside a band; beside each vector of a run's beginnings as many as
/// elements have bytes by two. Of a longest run that is a fifth more than it fills: all are gone before the rows are
/// written, whose stores would wait behind them.
template <class Type>
constexpr std::size_t streamed_beside(int doublings) {
  return Type::dtype == Dtype::float32 && doublings % 2 == 0 ? 2 : 1;
}

template <class Type>
constexpr std::int64_t longest_run = Type::dtype == Dtype::float32 ? longest_fourier_run : longest_narrow_fourier_run;

/// The run's bands from one that has been doubled so often on; the lanes of any that are not certain. Lines that wait
/// are streamed in passing.
template <class Type, int doublings = 0>
HWY_INLINE LaneBits PutRun(const Channels* channels, Features z, ElementOf<Type>* at_point, BegunRun& begun,
                           WaitingLines& waiting) {
  const LaneBits doubtful = PutFeatures<Type, doublings>(z, channels[doublings], at_point);
  begun.doubtful[doublings] = doubtful;
  StreamWaiting<streamed_beside<Type>(doublings)>(waiting);
  if constexpr (doublings + 1 < longest_run<Type>) {
    if (doublings + 1 == begun.run->bands) return doubtful;
    z.earlier = Doubled(z.earlier);
    if constexpr (vectors > 1) z.later = Doubled(z.later);
    return doubtful | PutRun<Type, doublings + 1>(channels, z, at_point, begun, waiting);
  }
  return doubtful;
}

/// Step 9: remembers the lanes of a band whose intervals do not round alike.
template <class Type>
HWY_NOINLINE void RememberOpen(const BegunRun& begun, int doublings, double error, std::vector<OpenFeature>& open) {
  const Doubles d;
  // What certify-inl.h asks for besides.
  const DoubleVector bound = hn::Set(d, error + 0x1p-52);
  for (std::size_t v = 0; v < vectors * hn::Lanes(d); v += hn::Lanes(d)) {
    if ((begun.doubtful[index(doublings)] >> v & ((1U << hn::Lanes(d)) - 1)) == 0) continue;
    DoublingRotation z{hn::Load(d, begun.sin.data() + v), hn::Load(d, begun.twice_cos.data() + v)};
    for (int k = 0; k < doublings; ++k) z = Doubled(z);
    for (const FourierFunction function : {FourierFunction::sin, FourierFunction::cos}) {
      const DoubleVector value = function == FourierFunction::sin ? z.sin : hn::Mul(z.twice_cos, hn::Set(d, 0.5));
      const auto undecided = Type::Certify(d, value, bound).undecided;
      std::array<std::uint8_t, 8> bits{};
      hn::StoreMaskBits(typename Type::template Bits<Doubles>(), undecided, bits.data());
      for (std::size_t lane = 0; bits[0] >> lane != 0; ++lane) {
        if ((bits[0] >> lane & 1) == 0) continue;
        open.push_back({static_cast<std::int32_t>(begun.run->list),
                        static_cast<std::int32_t>(begun.run->first_band + doublings),
                        static_cast<std::int32_t>(begun.point + v + lane), function});
      }
    }
  }
}

/// As many runs as are kept at a time. The polynomials of all come before the doublings of any: each step waits for the
/// one before, and a core looks no further ahead than one run.
constexpr std::size_t groups = tile_points / (vectors * hn::MaxLanes(Doubles()));
constexpr std::size_t runs_together = groups < 8 ? 8 / groups : 1;

template <class Type, AngleSum sum>
HWY_INLINE void BeginRuns(const FourierLadder& ladder, std::span<const FourierRun> runs, const TileCounts& counts,
                          BegunRun* begun, WaitingLines& waiting) {
  const Doubles d;
  for (const FourierRun& run : runs) {
    for (std::size_t point = 0; point < tile_points; point += vectors * hn::Lanes(d), ++begun) {
      begun->run = &run;
      begun->point = point;
      DoubleVector halves[vectors], rest[vectors], sin[vectors], twice_cos[vectors];
      for (std::size_t i = 0; i < vectors; ++i) {
        const HalfTurns turns = FirstOfRun<sum>(ladder, run, point + i * hn::Lanes(d), counts);
        halves[i] = turns.halves;
        rest[i] = turns.rest;
      }
      RotationsOf(halves, rest, sin, twice_cos);
      for (std::size_t i = 0; i < vectors; ++i) {
        hn::Store(sin[i], d, begun->sin.data() + i * hn::Lanes(d));
        hn::Store(twice_cos[i], d, begun->twice_cos.data() + i * hn::Lanes(d));
        StreamWaiting<sizeof(typename Type::Element) / 2>(waiting);
      }
    }
  }
}

template <class Type, AngleSum sum>
void FillFeatures(const FourierLadder& ladder, FourierTileOf<ElementOf<Type>>& tile, WaitingLines& given) {
  std::array<BegunRun, groups * runs_together> begun;
  WaitingLines waiting = given;
  ElementOf<Type>* const values = tile.channel(0);
  for (std::size_t first = 0; first < ladder.runs.size(); first += runs_together) {
    const auto runs = ladder.runs.subspan(first, std::min(runs_together, ladder.runs.size() - first));
    BeginRuns<Type, sum>(ladder, runs, tile.counts, begun.data(), waiting);
    const std::span<BegunRun> own = std::span(begun).first(groups * runs.size());
    for (BegunRun& each : own) {
      const Channels* const channels = &ladder.channels[index(each.run->list * ladder.bands + each.run->first_band)];
      const Features z = BeginningOf(each);
      if constexpr (sum == AngleSum::of_axes) {
        each.doubtful[0] = each.doubtful_in_any = PutFeatures<Type, 1>(z, *channels, values + each.point);
      } else {
        each.doubtful_in_any = PutRun<Type>(channels, z, values + each.point, each, waiting);
      }
    }
    // Behind all of them, since each costs a wrongly foreseen branch, which then has nothing to throw away.
    for (const BegunRun& each : own) {
      if (each.doubtful_in_any == 0) continue;
      for (int doublings = 0; doublings < static_cast<int>(each.run->bands); ++doublings) {
        // Errors of sums are those of one doubling.
        const double error = FeatureError(sum == AngleSum::of_axes ? 1 : doublings);
        if (each.doubtful[index(doublings)] != 0) RememberOpen<Type>(each, doublings, error, tile.open);
      }
    }
  }
  given = waiting;
}

/// The values of 16 bits nearest to doubles: where all of those are floats, as coordinates mostly are, a float's
/// rounding is the only one.
template <class Type>
HWY_INLINE auto RoundNarrow(DoubleVector exact) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  const auto nearest = NearestFloat(d, exact);
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(hn::PromoteTo(d, nearest), exact)))) return Type::Round(d, exact);
  if constexpr (Type::dtype == Dtype::bfloat16) return BFloat16Bits(df, nearest);
  return Float16Bits(df, nearest);
}

/// Products by a power of two, which are exact, rounded once.
template <class Type>
HWY_INLINE void FillCoordinates(const double* counts, double step, ElementOf<Type>* channel) {
  const Doubles d;
  for (std::size_t point = 0; point < tile_points; point += hn::Lanes(d)) {
    const DoubleVector exact = hn::Mul(hn::LoadU(d, counts + point), hn::Set(d, step));
    if constexpr (Type::dtype == Dtype::float32) {
      hn::StoreU(NearestFloat(d, exact), hn::Rebind<float, Doubles>(), channel + point);
    } else {
      const auto bits = hn::BitCast(hn::RebindToSigned<Bits32<Doubles>>(), RoundNarrow<Type>(exact));
#if HWY_TARGET == HWY_SCALAR
      channel[point] = static_cast<std::uint16_t>(hn::GetLane(bits));
#else
      const hn::Rebind<std::uint16_t, Doubles> de;
      hn::StoreU(hn::DemoteTo(de, bits), de, channel + point);
#endif
    }
  }
}

template <class Type>
bool FillTileOf(const FourierLadder& ladder, const TilePoints& at, FourierTileOf<ElementOf<Type>>& tile,
                WaitingLines& waiting) {
  tile.open.clear();
  for (std::size_t axis = 0; axis < ladder.axes.size(); ++axis) {
    double* const counts = tile.counts[axis].data();
    if (!FillCounts(ladder, axis, ladder.axes[axis].greatest, at, counts)) return false;
    const std::int64_t channel = ladder.axes[axis].coordinate_channel;
    if (channel >= 0) FillCoordinates<Type>(counts, ladder.step, tile.channel(channel));
  }
  if (ladder.sum == AngleSum::of_axes) {
    FillFeatures<Type, AngleSum::of_axes>(ladder, tile, waiting);
  } else {
    FillFeatures<Type, AngleSum::none>(ladder, tile, waiting);
  }
  return true;
}

bool FillTile(const FourierLadder& ladder, const TilePoints& at, FourierTile& tile, WaitingLines& waiting) {
  return FillTileOf<Float32>(ladder, at, tile, waiting);
}
bool FillBFloat16Tile(const FourierLadder& ladder, const TilePoints& at, NarrowFourierTile& tile,
                      WaitingLines& waiting) {
  return FillTileOf<BFloat16>(ladder, at, tile, waiting);
}
bool FillFloat16Tile(const FourierLadder& ladder, const TilePoints& at, NarrowFourierTile& tile,
                     WaitingLines& waiting) {
  return FillTileOf<Float16>(ladder, at, tile, waiting);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillTile);
HWY_EXPORT(FillBFloat16Tile);
HWY_EXPORT(FillFloat16Tile);

}  // namespace

double greatest_quick_count(const FrequencyPieces& frequencies) {
  double greatest = 0;
  for (std::size_t i = 0; i < frequencies.pairs(); ++i) greatest = std::max(greatest, std::fabs(frequencies.high()[i]));
  return greatest == 0 ? 0x1p52 : std::min(0x1p52, 0x1p39 / greatest);
}

bool fill_tile(const FourierLadder& ladder, const TilePoints& at, Dtype, FourierTile& tile, WaitingLines& waiting) {
  return HWY_DYNAMIC_DISPATCH(FillTile)(ladder, at, tile, waiting);
}

bool fill_tile(const FourierLadder& ladder, const TilePoints& at, Dtype dtype, NarrowFourierTile& tile,
               WaitingLines& waiting) {
  return dtype == Dtype::bfloat16 ? HWY_DYNAMIC_DISPATCH(FillBFloat16Tile)(ladder, at, tile, waiting)
                                  : HWY_DYNAMIC_DISPATCH(FillFloat16Tile)(ladder, at, tile, waiting);
}

}  // namespace sextant
#endif
