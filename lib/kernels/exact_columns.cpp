// Sums of columns without rounding, for gradients, compiled once per Highway target.
//
//   1. Each column has two doubles, high and low: a term joins high, and what that rounds away joins low, both by
//      Knuth's exact sum of two.
//   2. What low rounds away is lost; a third number remembers that it was not 0. Such columns the caller sums again by
//      ExactSum.
//   3. The others are rounded once: to odd as a double, then to the dtype (Boldo and Melquiond 2008).
//
// The proofs stand beside AddVector and OddSum.

#include "lib/kernels/exact_columns.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/exact_columns.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/double_double-inl.h"

// Lanes at most of a vector of doubles here.
#ifndef SEXTANT_LIB_EXACT_COLUMNS_LANES
#define SEXTANT_LIB_EXACT_COLUMNS_LANES
namespace sextant {
inline constexpr std::size_t most_columns_at_once = 8;
}  // namespace sextant
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

using Columns = hn::CappedTag<double, most_columns_at_once>;
using ColumnVector = hn::Vec<Columns>;

// The values of a vector's elements, which are doubles.
template <class Type>
HWY_INLINE ColumnVector ValuesOf(Type type, const typename Type::Element* elements) {
  const Columns d;
  [[maybe_unused]] const hn::Rebind<float, Columns> df;
  const auto bits = hn::LoadU(hn::Rebind<typename Type::Element, Columns>(), elements);
  if constexpr (Type::dtype == Dtype::float64) {
    (void)type;
    return hn::BitCast(d, bits);
  } else if constexpr (Type::dtype == Dtype::float32) {
    (void)type;
    return hn::PromoteTo(d, hn::BitCast(df, bits));
  } else {
    return hn::PromoteTo(d, WidenedToFloat(type, df, bits));
  }
}

// x joins high, what that rounds away joins low (both Knuth's exact sum of two), and what that rounds away is lost: it
// and NaN, which infinities leave there, stay.
HWY_INLINE void AddVector(ColumnVector x, double* high, double* low, double* lost) {
  const Columns d;
  const DoubleDouble<ColumnVector> first = TwoSum(hn::LoadU(d, high), x);
  const DoubleDouble<ColumnVector> second = TwoSum(hn::LoadU(d, low), first.low);
  hn::StoreU(first.high, d, high);
  hn::StoreU(second.high, d, low);
  hn::StoreU(hn::Add(hn::LoadU(d, lost), hn::Abs(second.low)), d, lost);
}

template <class Type>
void AddElements(Type type, const std::byte* bytes, std::size_t count, double* high, double* low, double* lost) {
  using Element = typename Type::Element;
  const std::size_t lanes = hn::Lanes(Columns());
  const auto* elements = reinterpret_cast<const Element*>(bytes);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) AddVector(ValuesOf(type, elements + i), high + i, low + i, lost + i);
  if (i == count) return;
  // Zeros for the columns behind: they change nothing.
  Element rest[most_columns_at_once] = {};
  std::memcpy(rest, elements + i, (count - i) * sizeof(Element));
  AddVector(ValuesOf(type, rest), high + i, low + i, lost + i);
}

// To odd (Boldo and Melquiond 2008): where the sum lies between two doubles, the one of them whose last bit is 1, so
// that a later rounding to fewer bits is as good as one rounding. `high` is the nearest double.
HWY_INLINE ColumnVector OddSum(ColumnVector high, ColumnVector low) {
  const Columns d;
  const hn::RebindToSigned<Columns> di;
  const auto bits = hn::BitCast(di, high);
  const auto even = hn::Eq(hn::And(bits, hn::Set(di, 1)), hn::Zero(di));
  const auto moves = hn::And(even, hn::RebindMask(di, hn::Ne(low, hn::Zero(d))));
  // One step up in magnitude where the two have one sign, else one step down.
  const auto step =
      hn::IfThenElse(hn::RebindMask(di, hn::Lt(hn::Mul(hn::CopySign(hn::Set(d, 1.0), high), low), hn::Zero(d))),
                     hn::Set(di, -1), hn::Set(di, 1));
  return hn::BitCast(d, hn::Add(bits, hn::IfThenElseZero(moves, step)));
}

template <class Type>
void RoundColumns(Type type, std::size_t count, const double* high, const double* low, std::byte* bytes) {
  using Element = typename Type::Element;
  const Columns d;
  const std::size_t lanes = hn::Lanes(d);
  auto* elements = reinterpret_cast<Element*>(bytes);
  for (std::size_t i = 0; i < count; i += lanes) {
    const DoubleDouble<ColumnVector> sum = TwoSum(hn::LoadU(d, high + i), hn::LoadU(d, low + i));
    const ColumnVector value = Type::dtype == Dtype::float64 ? sum.high : OddSum(sum.high, sum.low);
    if (i + lanes <= count) {
      StoreElements(type, d, Type::Round(d, value), elements + i);
      continue;
    }
    Element rest[most_columns_at_once];
    StoreElements(type, d, Type::Round(d, value), rest);
    std::memcpy(elements + i, rest, (count - i) * sizeof(Element));
  }
}

void AddRow(Dtype dtype, const std::byte* elements, std::size_t count, double* high, double* low, double* lost) {
  switch (dtype) {
    case Dtype::float64: return AddElements(Float64(), elements, count, high, low, lost);
    case Dtype::float32: return AddElements(Float32(), elements, count, high, low, lost);
    case Dtype::float16: return AddElements(Float16(), elements, count, high, low, lost);
    case Dtype::bfloat16: return AddElements(BFloat16(), elements, count, high, low, lost);
    case Dtype::int64: return;  // refused before
  }
}

void RoundRow(Dtype dtype, std::size_t count, const double* high, const double* low, std::byte* elements) {
  switch (dtype) {
    case Dtype::float64: return RoundColumns(Float64(), count, high, low, elements);
    case Dtype::float32: return RoundColumns(Float32(), count, high, low, elements);
    case Dtype::float16: return RoundColumns(Float16(), count, high, low, elements);
    case Dtype::bfloat16: return RoundColumns(BFloat16(), count, high, low, elements);
    case Dtype::int64: return;  // refused before
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(AddRow);
HWY_EXPORT(RoundRow);

}  // namespace

ExactColumns::ExactColumns(std::int64_t columns)
    : columns_(columns),
      high_(static_cast<std::size_t>(columns) + most_columns_at_once),
      low_(high_.size()),
      lost_(high_.size()) {}

void ExactColumns::add(Dtype dtype, const std::byte* elements, std::int64_t first, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(AddRow)
  (dtype, elements, static_cast<std::size_t>(count), high_.data() + first, low_.data() + first, lost_.data() + first);
}

void ExactColumns::round(Dtype dtype, std::byte* elements) const {
  HWY_DYNAMIC_DISPATCH(RoundRow)(dtype, static_cast<std::size_t>(columns_), high_.data(), low_.data(), elements);
}

}  // namespace sextant
#endif
