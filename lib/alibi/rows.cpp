// A row of ALiBi's biases, keys of one query, compiled once per Highway target.
//
//   1. A bias is slope * -|key - query| (or slope * key), -infinity where the mask hides the key.
//   2. A slope that is a power of two gives a double that is rounded once; of another that is a double the product's
//      error tells whether it is a double too.
//   3. Else both ends of the product's bound are rounded, and what they leave open is listed for rows.hpp's caller,
//      which computes it exactly; so is the rest of a row that fills no vector.
//
// The bounds stand beside the certificates.

#include "lib/alibi/rows.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/alibi/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// What the slope is multiplied by. 0 - |x|, and not -|x|, so that no distance is -0.
template <class D>
HWY_INLINE hn::Vec<D> FactorOf(D d, const AlibiRow& row, hn::Vec<D> key) {
  if (row.form == AlibiForm::key_index) return key;
  return hn::Sub(hn::Zero(d), hn::Abs(hn::Sub(key, hn::Set(d, row.query))));
}

// The keys that the mask hides.
template <class D>
HWY_INLINE hn::Mask<D> IsHidden(D d, const AlibiRow& row, hn::Vec<D> key) {
  const double last = row.mask == Mask::causal ? row.query : std::numeric_limits<double>::infinity();
  return hn::Gt(key, hn::Set(d, last));
}

// A power of two times an integer is a double, which is rounded once. -infinity by way of a finite number beyond every
// narrower dtype, since certify-inl.h's roundings are not all for infinities.
template <class Type, class D>
HWY_INLINE Certified<typename Type::template Bits<D>> Biases(Type type, D d, const AlibiRow& row, hn::Vec<D> key) {
  const auto factor = FactorOf(d, row, key);
  const auto hidden = IsHidden(d, row, key);
  const auto slope = hn::Set(d, row.slope.high);
  const bool is_double = row.slope.kind != AlibiSlope::Kind::irrational;
  if constexpr (sizeof(typename Type::Element) == 8) {
    constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
    // slope * factor = p + e + low factor, the sum of the latter two within 2^-104 |p| with or without fused
    // operations, and the slope within 2^-106; the margin is added with one more rounding, at most 2^-105 |p|. Together
    // below 2^-102 |p|. -infinity has a finite margin and stays.
    const auto product = TwoProduct(slope, factor);
    if (is_double) {
      // Of two doubles the product rounded once is the nearest.
      const auto bits = type.Round(d, hn::IfThenElse(hidden, hn::Set(d, minus_infinity), product.high));
      return {bits, hn::Ne(bits, bits)};  // none left open
    }
    const auto rest = hn::MulAdd(hn::Set(d, row.slope.low), factor, product.low);
    const auto margin = hn::Mul(hn::Abs(product.high), hn::Set(d, 0x1p-102));
    return type.Certify(d,
                        DoubleDouble<hn::Vec<D>>{hn::IfThenElse(hidden, hn::Set(d, minus_infinity), product.high),
                                                 hn::IfThenElse(hidden, hn::Zero(d), rest)},
                        margin);
  } else {
    const auto value = hn::IfThenElse(hidden, hn::Set(d, -0x1p1000), hn::Mul(slope, factor));
    if (is_double) {
      const auto bits = type.Round(d, value);
      const auto none = hn::Ne(bits, bits);
      if (row.slope.kind == AlibiSlope::Kind::power_of_two) return {bits, none};
      // Ties are frequent; where the products are doubles one rounding settles them.
      const auto rest = hn::IfThenElse(hidden, hn::Zero(d), TwoProduct(slope, factor).low);
      if (hn::AllTrue(d, hn::Eq(rest, hn::Zero(d)))) return {bits, none};
    }
    // The slope and the product are rounded: 2^-52 of the value and the contract's 2^-53 are below 2^-50.
    return type.Certify(d, value, hn::Mul(hn::Abs(value), hn::Set(d, 0x1p-50)));
  }
}

template <class Type>
void FillRow(Type type, const AlibiRow& row, std::vector<Stretch>& open) {
  const hn::CappedTag<double, 8> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto count = static_cast<std::int64_t>(row.keys.size());
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto biases = Biases(type, d, row, hn::LoadU(d, row.keys.data() + i));
    StoreElements(type, d, biases.bits,
                  reinterpret_cast<typename Type::Element*>(row.out + static_cast<std::size_t>(i) *
                                                                          sizeof(typename Type::Element)));
    if (!hn::AllFalse(typename Type::template Bits<decltype(d)>(), biases.undecided)) open.push_back({i, i + lanes});
  }
  if (i < count) open.push_back({i, count});
}

void FillAlibiRow(const AlibiRow& row, std::vector<Stretch>& open) {
  switch (row.dtype) {
    case Dtype::float32: return FillRow(Float32(), row, open);
    case Dtype::float16: return FillRow(Float16(), row, open);
    case Dtype::bfloat16: return FillRow(BFloat16(), row, open);
    default: return FillRow(Float64(), row, open);
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillAlibiRow);

}  // namespace

void fill_alibi_row(const AlibiRow& row, std::vector<Stretch>& open) { HWY_DYNAMIC_DISPATCH(FillAlibiRow)(row, open); }

}  // namespace sextant
#endif
