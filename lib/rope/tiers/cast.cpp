// Floats rounded to 16 bits, for vectors that are turned into another dtype (cast.hpp), on the instruction set in use.
//
//   1. Two vectors at a time are rounded to nearest and written as one, past the caches where the call says so.
//   2. An element that is a tie, a NaN, or subnormal in float16 is done by itself. Ties are told to the caller, since
//      the real number that was rounded to one may lie on either side of it (docs/proofs/rope.md, step 23).

#include "lib/rope/cast.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/tiers/cast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/put_vector-inl.h"
#include "lib/kernels/rotations-inl.h"
#include "lib/kernels/round_again-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// As many floats as fill a line of results, and their last ones.
template <class Type, Caching caching>
class FloatRounder {
 public:
  FloatRounder(const float* from, std::byte* to, std::uint32_t* ties)
      : from_(from), to_(reinterpret_cast<Element*>(to)), ties_(ties) {}

  std::size_t round(std::size_t count) {
    std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::CappedTag<float, 16> df;
    const std::size_t lanes = hn::Lanes(df);
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      const auto earlier = hn::LoadU(df, from_ + i);
      const auto later = hn::LoadU(df, from_ + i + lanes);
      if (HWY_UNLIKELY(AnyRoundsByItself(Type(), df, earlier, later))) {
        SpecialOnes(i);
      } else {
        PutVector<caching>(RoundedFloats(earlier, later), to_ + i);
      }
    }
#endif
    for (; i < count; i += std::min<std::size_t>(count - i, 32)) OneByOne(i, std::min<std::size_t>(count - i, 32));
    return found_;
  }

 private:
  using Element = typename Type::Element;
  static constexpr bool is_float16 = Type::dtype == Dtype::float16;

  // As RoundsByItself, of one float.
  static bool IsSpecial(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t size = bits & 0x7FFFFFFFU;
    if (size > 0x7F800000U) return true;
    if constexpr (!is_float16) return (bits & 0xFFFFU) == 0x8000U;
    return (bits & 0x1FFFU) == 0x1000U || (size < (113U << 23) && size > 0);
  }

  // At most 32 elements, of which those that are not special may be in `rounded` already; to memory in whole lines
  // where those are streamed.
  enum class Others { rounded, open };
  HWY_INLINE void Put(std::size_t i, std::size_t count, Element* rounded, Others others) {
    for (std::size_t k = 0; k < count; ++k) {
      const float* const value = from_ + i + k;
      if (others == Others::rounded && !IsSpecial(*value)) continue;
      const std::size_t is_tie = round_elements(Dtype::float32, reinterpret_cast<const std::byte*>(value), 1,
                                                Type::dtype, reinterpret_cast<std::byte*>(rounded + k), ties_ + found_);
      if (is_tie != 0) ties_[found_] = static_cast<std::uint32_t>(i + k);
      found_ += is_tie;
    }
#if HWY_TARGET != HWY_SCALAR
    const hn::Repartition<Element, hn::CappedTag<float, 16>> de;
    if (caching == Caching::streamed && count == hn::Lanes(de)) return hn::Stream(hn::Load(de, rounded), de, to_ + i);
#endif
    std::memcpy(to_ + i, rounded, count * sizeof(Element));
  }

  HWY_NOINLINE void OneByOne(std::size_t i, std::size_t count) {
    alignas(64) Element rounded[32];
    Put(i, count, rounded, Others::open);
  }

#if HWY_TARGET != HWY_SCALAR
  template <class V>
  static HWY_INLINE auto RoundedFloats(V earlier, V later) {
    const hn::RebindToUnsigned<hn::DFromV<V>> du;
    return RoundFloatsAgain(Type(), hn::BitCast(du, earlier), hn::BitCast(du, later));
  }

  HWY_NOINLINE void SpecialOnes(std::size_t i) {
    const hn::CappedTag<float, 16> df;
    const hn::Repartition<Element, hn::CappedTag<float, 16>> de;
    const std::size_t lanes = hn::Lanes(df);
    alignas(64) Element rounded[32];
    hn::Store(RoundedFloats(hn::LoadU(df, from_ + i), hn::LoadU(df, from_ + i + lanes)), de, rounded);
    Put(i, 2 * lanes, rounded, Others::rounded);
  }
#endif

  const float* from_;
  Element* to_;
  std::uint32_t* ties_;
  std::size_t found_ = 0;
};

std::size_t RoundFloats(const float* from, std::size_t count, const RoundedTo& to, std::uint32_t* ties) {
  if (to.caching == Caching::streamed) {
    return to.dtype == Dtype::float16 ? FloatRounder<Float16, Caching::streamed>(from, to.data, ties).round(count)
                                      : FloatRounder<BFloat16, Caching::streamed>(from, to.data, ties).round(count);
  }
  return to.dtype == Dtype::float16 ? FloatRounder<Float16, Caching::kept>(from, to.data, ties).round(count)
                                    : FloatRounder<BFloat16, Caching::kept>(from, to.data, ties).round(count);
}

PairTurn PreciseTurn(const FrequencyPieces& frequencies, std::size_t pair, std::int64_t position) {
  const std::size_t in_vector = pair % hn::Lanes(Doubles());
  alignas(64) double parts[4][FrequencyPieces::lanes];
  StorePrecise(PreciseRotationAt(frequencies, pair - in_vector, split_position(position), unit_circle()), 0, parts[2],
               parts[0], parts[3], parts[1]);
  return {{parts[0][in_vector], parts[1][in_vector]}, {parts[2][in_vector], parts[3][in_vector]}};
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(RoundFloats);
HWY_EXPORT(PreciseTurn);

}  // namespace

std::size_t round_floats(const float* from, std::size_t count, const RoundedTo& to, std::uint32_t* ties) {
  return HWY_DYNAMIC_DISPATCH(RoundFloats)(from, count, to, ties);
}

PairTurn precise_turn(const FrequencyPieces& frequencies, std::size_t pair, std::int64_t position) {
  return HWY_DYNAMIC_DISPATCH(PreciseTurn)(frequencies, pair, position);
}

}  // namespace sextant
#endif
