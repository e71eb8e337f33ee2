// Sines and cosines of many points' angles, compiled once per Highway target.
//
//   1. A vector has one frequency and a point in each lane; frequencies that double follow from it (angles-inl.h).
//   2. The bits that rounding to float32 drops, or those that rounding to 16 bits drops, tell whether a tie is near,
//      and the floats whether one is too small.
//   3. Where that is so of any lane, the band is remembered, without a branch, and computed again behind: both ends of
//      each interval are rounded, and lanes where they differ are left open.
//
// docs/proofs/fourier-tiles.md, step 6, has the bound, steps 7 to 9 why the certificate is one.

#include "lib/fourier/tile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lib/numeric/index.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/fourier/tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/fourier/angles-inl.h"
#include "lib/fourier/tile-inl.h"
#include "lib/kernels/certify-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// Steps 7 and 8: how a tie is told by the bits that rounding drops, and the least magnitude that it takes, of a band
/// that has been doubled so often.
struct TieTest {
  int half;
  int dropped;
  float least;
};

template <class Type>
constexpr TieTest TieTestOf(int doublings) {
  if (Type::dtype == Dtype::bfloat16) return {1 << 15, (1 << 16) - 1, 0x1p-14F};
  if (Type::dtype == Dtype::float16) return {1 << 12, (1 << 13) - 1, 0x1p-14F};
  const int window = 15 + (doublings + 1) / 2;
  return {(1 << 28) + (1 << window), (1 << 29) - (2 << window),
          static_cast<float>(8 << doublings) / static_cast<float>(1 << window)};
}

/// The values at the points of a vector of floats: those of its earlier half and its later one, where it has any.
struct Features {
  Rotation earlier;
  Rotation later;
};

#if HWY_TARGET == HWY_SCALAR

constexpr std::size_t vectors = 1;

/// Puts the values in place; whether all are certain.
template <class Type, int doublings>
HWY_INLINE bool PutFeatures(const Features& z, const Channels& channels, std::size_t point, FourierTile& tile) {
  const Doubles d;
  tile.channel(channels.first)[point] = hn::GetLane(NearestFloat(d, z.earlier.sin));
  tile.channel(channels.second)[point] = hn::GetLane(NearestFloat(d, z.earlier.cos));
  return false;
}

#else

/// Vectors of doubles whose floats fill one.
constexpr std::size_t vectors = 2;

using Singles = hn::Repartition<float, Doubles>;
using SingleVector = hn::Vec<Singles>;

HWY_INLINE SingleVector FloatsOf(DoubleVector earlier, DoubleVector later) {
  const Doubles d;
  return hn::Combine(Singles(), NearestFloat(d, later), NearestFloat(d, earlier));
}

/// Steps 7 and 8: whether the floats round as the truth does. Ends in masks where tests give them, which Highway does
/// not have.
template <class Type, int doublings>
HWY_INLINE bool AllCertain(const Features& z, SingleVector sine, SingleVector cosine) {
  const Singles df;
  const hn::RebindToSigned<Singles> di;
  constexpr TieTest test = TieTestOf<Type>(doublings);
  const auto moved = [&](DoubleVector a, DoubleVector b, SingleVector floats) HWY_ATTR {
    if constexpr (Type::dtype == Dtype::float32) return hn::Add(LowWords(a, b), hn::Set(di, test.half));
    return hn::Add(hn::BitCast(di, floats), hn::Set(di, test.half));
  };
  const auto of_sine = moved(z.earlier.sin, z.later.sin, sine);
  const auto of_cosine = moved(z.earlier.cos, z.later.cos, cosine);
  const auto dropped = hn::Set(di, test.dropped);
  const auto least = hn::Set(df, test.least);
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(df) == 16) {
    const __mmask16 clear =
        _mm512_mask_test_epi32_mask(_mm512_test_epi32_mask(of_sine.raw, dropped.raw), of_cosine.raw, dropped.raw);
    constexpr int lesser_magnitude = 0xA;
    return _mm512_mask_cmp_ps_mask(clear, _mm512_range_ps(sine.raw, cosine.raw, lesser_magnitude), least.raw,
                                   _CMP_GE_OQ) == 0xFFFF;
  }
#endif
  const auto from_tie = hn::Min(hn::And(of_sine, dropped), hn::And(of_cosine, dropped));
  const auto near = hn::RebindMask(df, hn::Eq(from_tie, hn::Zero(di)));
  return hn::AllFalse(df, hn::Or(near, hn::Lt(hn::Min(hn::Abs(sine), hn::Abs(cosine)), least)));
}

template <class Type, int doublings>
HWY_INLINE bool PutFeatures(const Features& z, const Channels& channels, std::size_t point, FourierTile& tile) {
  const Singles df;
  const SingleVector sine = FloatsOf(z.earlier.sin, z.later.sin);
  const SingleVector cosine = FloatsOf(z.earlier.cos, z.later.cos);
  hn::StoreU(sine, df, tile.channel(channels.first) + point);
  hn::StoreU(cosine, df, tile.channel(channels.second) + point);
  return AllCertain<Type, doublings>(z, sine, cosine);
}

#endif

HWY_INLINE Rotation FirstOfRun(const FourierLadder& ladder, const FourierRun& run, std::size_t point,
                               const FourierTile& tile) {
  if (ladder.sum == AngleSum::of_axes)
    return RotationOf(HalfTurnsOfSum(ladder.axes, index(run.first_band), tile, point));
  return RotationOf(HalfTurnsAt(*ladder.axes[index(run.list)].frequencies, index(run.first_band),
                                tile.counts[index(run.list)].data() + point));
}

/// Features from a point on that are not certain.
struct Doubtful {
  const FourierRun* run;
  int doublings;
  std::size_t point;
};

/// What is done in passing: the doubtful are listed without a branch, and lines that wait are streamed.
struct InPassing {
  Doubtful* next;
  WaitingLines waiting;

  template <class Type>
  HWY_INLINE void Done(const Doubtful& features, bool certain) {
    *next = features;
    next += certain ? 0 : 1;
    // As much as they will fill.
    StreamWaiting<vectors * sizeof(typename Type::Element) / 4>(waiting);
  }
};

/// The run's bands from one that has been doubled so often on.
template <class Type, int doublings = 0>
HWY_INLINE void PutRun(const FourierRun& run, const Channels* channels, std::size_t point, Features z,
                       FourierTile& tile, InPassing& passing) {
  const bool certain = PutFeatures<Type, doublings>(z, channels[doublings], point, tile);
  passing.Done<Type>({&run, doublings, point}, certain);
  if constexpr (doublings + 1 < longest_fourier_run) {
    if (doublings + 1 == run.bands) return;
    z.earlier = Doubled(z.earlier);
    if constexpr (vectors > 1) z.later = Doubled(z.later);
    PutRun<Type, doublings + 1>(run, channels, point, z, tile, passing);
  }
}

/// Step 9: remembers the lanes whose intervals do not round alike.
template <class Type>
HWY_NOINLINE void RememberOpen(const FourierLadder& ladder, const Doubtful& doubtful, FourierTile& tile) {
  const Doubles d;
  const FourierRun& run = *doubtful.run;
  for (std::size_t v = 0; v < vectors; ++v) {
    const std::size_t point = doubtful.point + v * hn::Lanes(d);
    Rotation z = FirstOfRun(ladder, run, point, tile);
    for (int k = 0; k < doubtful.doublings; ++k) z = Doubled(z);
    for (const FourierFunction function : {FourierFunction::sin, FourierFunction::cos}) {
      const auto undecided =
          Type::Certify(d, function == FourierFunction::sin ? z.sin : z.cos, hn::Set(d, feature_bound)).undecided;
      std::array<std::uint8_t, 8> bits{};
      hn::StoreMaskBits(typename Type::template Bits<Doubles>(), undecided, bits.data());
      for (std::size_t lane = 0; bits[0] >> lane != 0; ++lane) {
        if ((bits[0] >> lane & 1) == 0) continue;
        tile.open.push_back({static_cast<std::int32_t>(run.list),
                             static_cast<std::int32_t>(run.first_band + doubtful.doublings),
                             static_cast<std::int32_t>(point + lane), function});
      }
    }
  }
}

template <class Type>
void FillFeatures(const FourierLadder& ladder, FourierTile& tile, WaitingLines& waiting) {
  // Settled once there might be no room for another run's, and one that is not kept.
  constexpr std::size_t most_of_run = FourierTile::points * longest_fourier_run + 1;
  std::array<Doubtful, 2 * most_of_run> kept;
  InPassing passing{kept.data(), waiting};
  const auto settle = [&] {
    for (const Doubtful* each = kept.data(); each != passing.next; ++each) RememberOpen<Type>(ladder, *each, tile);
    passing.next = kept.data();
  };
  for (const FourierRun& run : ladder.runs) {
    const Channels* const channels = &ladder.channels[index(run.list * ladder.bands + run.first_band)];
    for (std::size_t point = 0; point < FourierTile::points; point += vectors * hn::Lanes(Doubles())) {
      Features z{FirstOfRun(ladder, run, point, tile), {}};
      if constexpr (vectors > 1) z.later = FirstOfRun(ladder, run, point + hn::Lanes(Doubles()), tile);
      if (ladder.sum == AngleSum::of_axes) {
        // Errors of sums are those of one doubling.
        passing.Done<Type>({&run, 0, point}, PutFeatures<Type, 1>(z, *channels, point, tile));
      } else {
        PutRun<Type>(run, channels, point, z, tile, passing);
      }
    }
    if (passing.next > kept.data() + most_of_run) settle();
  }
  settle();
  waiting = passing.waiting;
}

/// Products by a power of two, rounded once and widened again, which is exact.
void FillCoordinates(const double* counts, double step, Dtype dtype, float* channel) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  for (std::size_t point = 0; point < FourierTile::points; point += hn::Lanes(d)) {
    const DoubleVector exact = hn::Mul(hn::LoadU(d, counts + point), hn::Set(d, step));
    if (dtype == Dtype::bfloat16) {
      hn::StoreU(hn::BitCast(df, hn::ShiftLeft<16>(BFloat16::Round(d, exact))), df, channel + point);
    } else if (dtype == Dtype::float16) {
      const hn::RebindToSigned<Bits32<Doubles>> di;
      const auto bits = hn::BitCast(di, Float16::Round(d, exact));
      hn::StoreU(WidenedToFloat(Float16(), df, hn::DemoteTo(hn::Rebind<std::uint16_t, Doubles>(), bits)), df,
                 channel + point);
    } else {
      hn::StoreU(NearestFloat(d, exact), df, channel + point);
    }
  }
}

bool FillTile(const FourierLadder& ladder, const TilePoints& at, Dtype dtype, FourierTile& tile,
              WaitingLines& waiting) {
  tile.open.clear();
  for (std::size_t axis = 0; axis < ladder.axes.size(); ++axis) {
    double* const counts = tile.counts[axis].data();
    if (!FillCounts(ladder, axis, ladder.axes[axis].greatest, at, counts)) return false;
    const std::int64_t channel = ladder.axes[axis].coordinate_channel;
    if (channel >= 0) FillCoordinates(counts, ladder.step, dtype, tile.channel(channel));
  }
  switch (dtype) {
    case Dtype::float16: FillFeatures<Float16>(ladder, tile, waiting); break;
    case Dtype::bfloat16: FillFeatures<BFloat16>(ladder, tile, waiting); break;
    default: FillFeatures<Float32>(ladder, tile, waiting);
  }
  return true;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillTile);

}  // namespace

double greatest_quick_count(const FrequencyPieces& frequencies) {
  double greatest = 0;
  for (std::size_t i = 0; i < frequencies.pairs(); ++i) greatest = std::max(greatest, std::fabs(frequencies.high()[i]));
  return greatest == 0 ? 0x1p52 : std::min(0x1p52, 0x1p39 / greatest);
}

bool fill_tile(const FourierLadder& ladder, const TilePoints& at, Dtype dtype, FourierTile& tile,
               WaitingLines& waiting) {
  return HWY_DYNAMIC_DISPATCH(FillTile)(ladder, at, dtype, tile, waiting);
}

}  // namespace sextant
#endif
