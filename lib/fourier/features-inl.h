// Sines and cosines of one band at the points of a vector of floats, as a tile's elements, for one Highway target:
// included inside HWY_NAMESPACE by a file that is compiled once per target.
//
//   1. Two vectors of doubles become one of floats; twice the cosine is halved as a float.
//   2. The bits that rounding to float32 drops, or those that rounding to 16 bits drops, tell whether a tie is near,
//      and the floats whether one is too small: such lanes are doubtful.
//   3. All are written; of 16 bits rounded from the floats.
//
// docs/proofs/fourier-tiles.md, steps 7, 8 and 10, has why lanes that are not doubtful are the truth's.

#if defined(SEXTANT_LIB_FOURIER_FEATURES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_FOURIER_FEATURES_INL_H_
#undef SEXTANT_LIB_FOURIER_FEATURES_INL_H_
#else
#define SEXTANT_LIB_FOURIER_FEATURES_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "lib/fourier/angles-inl.h"
#include "lib/fourier/tile.hpp"
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
  const float least_narrow = doublings < 8 ? 0x1p-14F : doublings == 8 ? 0x1p-12F : 0x1p-10F;
  if (Type::dtype == Dtype::bfloat16) return {1 << 15, (1 << 16) - 1, least_narrow};
  if (Type::dtype == Dtype::float16) return {1 << 12, (1 << 13) - 1, least_narrow};
  const int window = 15 + (doublings + 1) / 2 + (doublings == 4 ? 1 : 0);
  return {(1 << 28) + (1 << window), (1 << 29) - (2 << window),
          static_cast<float>(FeatureError(doublings) * 0x1p52 / (1 << window))};
}

/// The values at the points of a vector of floats: those of its earlier half and its later one, where it has any.
struct Features {
  DoublingRotation earlier;
  DoublingRotation later;
};

/// Lanes of a vector of floats, the first the lowest bit.
using LaneBits = std::uint32_t;

/// What a tile of the type has.
template <class Type>
using ElementOf = std::conditional_t<Type::dtype == Dtype::float32, float, std::uint16_t>;

#if HWY_TARGET == HWY_SCALAR

constexpr std::size_t vectors = 1;

/// Puts the values in place; which are not certain.
template <class Type, int doublings>
HWY_INLINE LaneBits PutFeatures(const Features& z, const Channels& channels, ElementOf<Type>* at_point) {
  const hn::Sisd<float> df;
  const auto points = static_cast<std::int64_t>(tile_points);
  const auto put = [&](hn::Vec<hn::Sisd<float>> value, std::int64_t channel) {
    const auto bits = Type::dtype == Dtype::bfloat16  ? BFloat16Bits(df, value)
                      : Type::dtype == Dtype::float16 ? Float16Bits(df, value)
                                                      : hn::BitCast(Bits32<hn::Sisd<float>>(), value);
    const auto element = static_cast<typename Type::Element>(hn::GetLane(bits));
    at_point[channel * points] = std::bit_cast<ElementOf<Type>>(element);
  };
  put(NearestFloat(Doubles(), z.earlier.sin), channels.first);
  put(hn::Mul(NearestFloat(Doubles(), z.earlier.twice_cos), hn::Set(df, 0.5F)), channels.second);
  return 1;
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

/// Steps 7 and 8: the lanes whose floats may not round as the truth does. Ends in masks where tests give them, which
/// Highway does not have.
template <class Type, int doublings>
HWY_INLINE LaneBits DoubtfulLanes(const Features& z, SingleVector sine, SingleVector cosine) {
  const Singles df;
  const hn::RebindToSigned<Singles> di;
  constexpr TieTest test = TieTestOf<Type>(doublings);
  const auto moved = [&](DoubleVector a, DoubleVector b, SingleVector floats) HWY_ATTR {
    if constexpr (Type::dtype == Dtype::float32) return hn::Add(LowWords(a, b), hn::Set(di, test.half));
    return hn::Add(hn::BitCast(di, floats), hn::Set(di, test.half));
  };
  const auto of_sine = moved(z.earlier.sin, z.later.sin, sine);
  const auto of_cosine = moved(z.earlier.twice_cos, z.later.twice_cos, cosine);
  const auto dropped = hn::Set(di, test.dropped);
  const auto least = hn::Set(df, test.least);
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(df) == 16) {
    const __mmask16 clear =
        _mm512_mask_test_epi32_mask(_mm512_test_epi32_mask(of_sine.raw, dropped.raw), of_cosine.raw, dropped.raw);
    constexpr int lesser_magnitude = 0xA;
    return 0xFFFFU ^ _mm512_mask_cmp_ps_mask(clear, _mm512_range_ps(sine.raw, cosine.raw, lesser_magnitude), least.raw,
                                             _CMP_GE_OQ);
  }
#endif
  const auto from_tie = hn::Min(hn::And(of_sine, dropped), hn::And(of_cosine, dropped));
  const auto near = hn::RebindMask(df, hn::Eq(from_tie, hn::Zero(di)));
  std::array<std::uint8_t, 8> bits{};
  hn::StoreMaskBits(df, hn::Or(near, hn::Lt(hn::Min(hn::Abs(sine), hn::Abs(cosine)), least)), bits.data());
  return bits[0];
}

/// Step 10: floats that are no ties, as elements.
template <class Type>
HWY_INLINE void PutElements(SingleVector first, SingleVector second, ElementOf<Type>* to_first,
                            ElementOf<Type>* to_second) {
  const Singles df;
  if constexpr (Type::dtype == Dtype::float32) {
    hn::StoreU(first, df, to_first);
    hn::StoreU(second, df, to_second);
  } else {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    // The conversion itself, which Float16Bits widens again.
    if constexpr (Type::dtype == Dtype::float16) {
      const hn::Rebind<hwy::float16_t, Singles> dh;
      const hn::Rebind<std::uint16_t, Singles> de;
      hn::StoreU(hn::BitCast(de, hn::DemoteTo(dh, first)), de, to_first);
      hn::StoreU(hn::BitCast(de, hn::DemoteTo(dh, second)), de, to_second);
      return;
    }
#endif
    const hn::RebindToUnsigned<Singles> du;
    const auto both = RoundFloatsAgain(Type(), hn::BitCast(du, first), hn::BitCast(du, second));
    const hn::Half<hn::DFromV<decltype(both)>> half;
    hn::StoreU(hn::LowerHalf(half, both), half, to_first);
    hn::StoreU(hn::UpperHalf(half, both), half, to_second);
  }
}

template <class Type, int doublings>
HWY_INLINE LaneBits PutFeatures(const Features& z, const Channels& channels, ElementOf<Type>* at_point) {
  const auto points = static_cast<std::int64_t>(tile_points);
  const SingleVector sine = FloatsOf(z.earlier.sin, z.later.sin);
  const SingleVector cosine = hn::Mul(FloatsOf(z.earlier.twice_cos, z.later.twice_cos), hn::Set(Singles(), 0.5F));
  PutElements<Type>(sine, cosine, at_point + channels.first * points, at_point + channels.second * points);
  return DoubtfulLanes<Type, doublings>(z, sine, cosine);
}

#endif

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
