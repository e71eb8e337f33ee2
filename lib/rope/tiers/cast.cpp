// Floats rounded to 16 bits, for vectors that are turned into another dtype (cast.hpp), on the instruction set in use.
//
//   1. A vector at a time is rounded to nearest, ties to even.
//   2. Where one of its elements is a tie, a NaN, or of float16 subnormal there, all of them are done one by one, which
//      tells the ties.

#include "lib/rope/cast.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/tiers/cast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/rotations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

template <class Type>
std::size_t RoundFloatsTo(Type type, const float* from, std::size_t count, std::byte* to, std::uint32_t* ties) {
  const hn::CappedTag<float, 16> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  constexpr bool is_float16 = Type::dtype == Dtype::float16;
  const auto dropped = hn::Set(du, is_float16 ? 0x1FFFU : 0xFFFFU);
  const auto half = hn::Set(du, is_float16 ? 0x1000U : 0x8000U);
  auto* const elements = reinterpret_cast<typename Type::Element*>(to);
  const std::size_t lanes = hn::Lanes(df);
  std::size_t found = 0;
  std::size_t i = 0;
  const auto one_by_one = [&](std::size_t number) {
    const std::size_t before = found;
    found += round_elements(Dtype::float32, reinterpret_cast<const std::byte*>(from + i), number, Type::dtype,
                            to + i * sizeof(typename Type::Element), ties + found);
    for (std::size_t k = before; k < found; ++k) ties[k] += static_cast<std::uint32_t>(i);
  };
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, from + i);
    const auto tie = hn::Eq(hn::And(hn::BitCast(du, value), dropped), half);
    auto special = hn::Or(hn::RebindMask(df, tie), hn::IsNaN(value));
    if constexpr (is_float16) {
      const auto size = hn::Abs(value);
      special = hn::Or(special, hn::And(hn::Lt(size, hn::Set(df, 0x1p-14F)), hn::Gt(size, hn::Zero(df))));
    }
    if (HWY_UNLIKELY(!hn::AllFalse(df, special))) {
      one_by_one(lanes);
    } else if constexpr (is_float16) {
      StoreElements(type, df, Float16Bits(df, value), elements + i);
    } else {
      StoreElements(type, df, BFloat16Bits(df, value), elements + i);
    }
  }
  one_by_one(count - i);
  return found;
}

std::size_t RoundFloats(const float* from, std::size_t count, Dtype dtype, std::byte* to, std::uint32_t* ties) {
  return dtype == Dtype::float16 ? RoundFloatsTo(Float16(), from, count, to, ties)
                                 : RoundFloatsTo(BFloat16(), from, count, to, ties);
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

std::size_t round_floats(const float* from, std::size_t count, Dtype dtype, std::byte* to, std::uint32_t* ties) {
  return HWY_DYNAMIC_DISPATCH(RoundFloats)(from, count, dtype, to, ties);
}

PairTurn precise_turn(const FrequencyPieces& frequencies, std::size_t pair, std::int64_t position) {
  return HWY_DYNAMIC_DISPATCH(PreciseTurn)(frequencies, pair, position);
}

}  // namespace sextant
#endif
