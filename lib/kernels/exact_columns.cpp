// Sums of columns without rounding, for gradients, compiled once per Highway target.
//
//   1. A column is one double as long as every addition is exact, for all columns and some rows at a time.
//   2. From then on it has two, high and low: a term joins high, and what that rounds away joins low, both by Knuth's
//      exact sum of two. What low rounds away is lost; a third number remembers that it was not 0. Such columns the
//      caller sums again by ExactSum.
//   3. The others are rounded once: to odd as a double, then to the dtype (Boldo and Melquiond 2008).
//
// The proofs stand beside AddInOneDouble, AddInTwo and OddSum.

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
inline constexpr std::size_t columns_behind = 2 * most_columns_at_once;  // that vectors may read and write
}  // namespace sextant
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

using Columns = hn::CappedTag<double, most_columns_at_once>;
using ColumnVector = hn::Vec<Columns>;

// Elements of a row from i on; where they do not fill the vector, zeros behind the last, which change nothing.
enum class Vectors { whole, cut };
template <Vectors kind, class Type>
HWY_INLINE ColumnVector ElementsFrom(Type type, const std::byte* row, std::size_t i, std::size_t count) {
  using Element = typename Type::Element;
  const auto* elements = reinterpret_cast<const Element*>(row) + std::min(i, count);
  if (kind == Vectors::whole || i + hn::Lanes(Columns()) <= count) return WidenedToDouble(type, Columns(), elements);
  Element rest[most_columns_at_once] = {};
  if (i >= count) return WidenedToDouble(type, Columns(), rest);
  std::memcpy(rest, elements, (count - i) * sizeof(Element));
  return WidenedToDouble(type, Columns(), rest);
}

// Adds to sums that are one double each. What Knuth's exact sum of two finds in its two last differences is zero where
// a sum was not rounded, and else one of them is not (or NaN): whether that was always so. If not, nothing is changed.
// Vectors have names, since GCC keeps arrays of them in memory, here and below.
template <Vectors kind, std::size_t vectors, class Type>
HWY_INLINE bool AddInOneDouble(Type type, std::span<const std::byte* const> rows, std::size_t i, std::size_t count,
                               double* high) {
  static_assert(vectors == 1 || vectors == 4);
  const Columns d;
  const hn::RebindToUnsigned<Columns> du;
  const std::size_t lanes = hn::Lanes(d);
  const auto load = [&](std::size_t v)
                        HWY_ATTR { return v < vectors ? hn::LoadU(d, high + i + v * lanes) : hn::Zero(d); };
  ColumnVector sum0 = load(0), sum1 = load(1), sum2 = load(2), sum3 = load(3);
  auto lost = hn::Zero(du);
  for (const std::byte* const row : rows) {
    const auto add = [&](ColumnVector& sum, std::size_t v) HWY_ATTR {
      const ColumnVector before = sum;
      const ColumnVector x = ElementsFrom<kind>(type, row, i + v * lanes, count);
      sum = hn::Add(before, x);
      const ColumnVector of_x = hn::Sub(sum, before);
      lost = hn::Or3(lost, hn::BitCast(du, hn::Sub(x, of_x)), hn::BitCast(du, hn::Sub(before, hn::Sub(sum, of_x))));
    };
    add(sum0, 0);
    if constexpr (vectors > 1) {
      add(sum1, 1);
      add(sum2, 2);
      add(sum3, 3);
    }
  }
  if (!hn::AllTrue(du, hn::Eq(hn::Add(lost, lost), hn::Zero(du)))) return false;  // -0 is zero
  hn::StoreU(sum0, d, high + i);
  if constexpr (vectors > 1) {
    hn::StoreU(sum1, d, high + i + lanes);
    hn::StoreU(sum2, d, high + i + 2 * lanes);
    hn::StoreU(sum3, d, high + i + 3 * lanes);
  }
  return true;
}

// x joins high, what that rounds away joins low (both Knuth's exact sum of two), and what that rounds away is lost: it
// and NaN, which infinities leave there, stay.
template <Vectors kind, class Type>
HWY_INLINE void AddInTwo(Type type, std::span<const std::byte* const> rows, std::size_t i, std::size_t count,
                         double* high, double* low, double* lost) {
  const Columns d;
  const std::size_t lanes = hn::Lanes(d);
  ColumnVector high0 = hn::LoadU(d, high + i), high1 = hn::LoadU(d, high + i + lanes);
  ColumnVector low0 = hn::LoadU(d, low + i), low1 = hn::LoadU(d, low + i + lanes);
  ColumnVector lost0 = hn::LoadU(d, lost + i), lost1 = hn::LoadU(d, lost + i + lanes);
  for (const std::byte* const row : rows) {
    const auto add = [&](ColumnVector& high_sum, ColumnVector& low_sum, ColumnVector& lost_sum,
                         std::size_t at) HWY_ATTR {
      const DoubleDouble<ColumnVector> first = TwoSum(high_sum, ElementsFrom<kind>(type, row, at, count));
      const DoubleDouble<ColumnVector> second = TwoSum(low_sum, first.low);
      high_sum = first.high;
      low_sum = second.high;
      lost_sum = hn::Add(lost_sum, hn::Abs(second.low));
    };
    add(high0, low0, lost0, i);
    add(high1, low1, lost1, i + lanes);
  }
  const auto put = [&](ColumnVector high_sum, ColumnVector low_sum, ColumnVector lost_sum, std::size_t at) HWY_ATTR {
    hn::StoreU(high_sum, d, high + at);
    hn::StoreU(low_sum, d, low + at);
    hn::StoreU(lost_sum, d, lost + at);
  };
  put(high0, low0, lost0, i);
  put(high1, low1, lost1, i + lanes);
}

// How many elements from the first on were added: in two doubles, where there is a low, all; else until one double is
// not enough.
template <class Type>
std::size_t AddElements(Type type, std::span<const std::byte* const> rows, std::size_t count, double* high, double* low,
                        double* lost) {
  const std::size_t lanes = hn::Lanes(Columns());
  std::size_t i = 0;
  if (low != nullptr) {
    for (; i + 2 * lanes <= count; i += 2 * lanes) AddInTwo<Vectors::whole>(type, rows, i, count, high, low, lost);
    if (i < count) AddInTwo<Vectors::cut>(type, rows, i, count, high, low, lost);
    return count;
  }
  for (; i + 4 * lanes <= count; i += 4 * lanes)
    if (!AddInOneDouble<Vectors::whole, 4>(type, rows, i, count, high)) return i;
  for (; i + lanes <= count; i += lanes)
    if (!AddInOneDouble<Vectors::whole, 1>(type, rows, i, count, high)) return i;
  if (i < count && !AddInOneDouble<Vectors::cut, 1>(type, rows, i, count, high)) return i;
  return count;
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
    ColumnVector value = hn::LoadU(d, high + i);  // never -0, since it began with +0
    if (low != nullptr) {
      const DoubleDouble<ColumnVector> sum = TwoSum(value, hn::LoadU(d, low + i));
      value = Type::dtype == Dtype::float64 ? sum.high : OddSum(sum.high, sum.low);
    }
    if (i + lanes <= count) {
      StoreElements(type, d, Type::Round(d, value), elements + i);
      continue;
    }
    Element rest[most_columns_at_once];
    StoreElements(type, d, Type::Round(d, value), rest);
    std::memcpy(elements + i, rest, (count - i) * sizeof(Element));
  }
}

std::size_t AddRows(Dtype dtype, std::span<const std::byte* const> rows, std::size_t count, double* high, double* low,
                    double* lost) {
  switch (dtype) {
    case Dtype::float64: return AddElements(Float64(), rows, count, high, low, lost);
    case Dtype::float32: return AddElements(Float32(), rows, count, high, low, lost);
    case Dtype::float16: return AddElements(Float16(), rows, count, high, low, lost);
    case Dtype::bfloat16: return AddElements(BFloat16(), rows, count, high, low, lost);
    case Dtype::int64: break;  // refused before
  }
  return count;
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

HWY_EXPORT(AddRows);
HWY_EXPORT(RoundRow);

}  // namespace

ExactColumns::ExactColumns(std::int64_t columns)
    : columns_(columns), high_(static_cast<std::size_t>(columns) + columns_behind) {}

void ExactColumns::add(Dtype dtype, std::span<const std::byte* const> rows, std::int64_t first, std::int64_t count) {
  const auto all = static_cast<std::size_t>(count);
  double* const high = high_.data() + first;
  std::size_t added = 0;
  if (low_.empty()) {
    added = HWY_DYNAMIC_DISPATCH(AddRows)(dtype, rows, all, high, nullptr, nullptr);
    if (added == all) return;
    low_.resize(high_.size());
    lost_.resize(high_.size());
  }
  std::vector<const std::byte*> rest(rows.begin(), rows.end());
  for (const std::byte*& row : rest) row += added * size_of(dtype);
  const auto from = static_cast<std::ptrdiff_t>(added) + first;
  HWY_DYNAMIC_DISPATCH(AddRows)
  (dtype, rest, all - added, high_.data() + from, low_.data() + from, lost_.data() + from);
}

bool ExactColumns::are_exact() const {
  return std::ranges::all_of(lost_, [](double lost) { return lost == 0; });
}

void ExactColumns::round(Dtype dtype, std::byte* elements) const {
  HWY_DYNAMIC_DISPATCH(RoundRow)
  (dtype, static_cast<std::size_t>(columns_), high_.data(), low_.empty() ? nullptr : low_.data(), elements);
}

}  // namespace sextant
#endif
