// Products of matrices c = a b, or added to c, of blocks that the second-level cache holds, compiled once per Highway
// target:
//   1. c is cut into panels of a few vectors of columns, and those into tiles of four rows. A tile is in registers.
//   2. For each index of the depth, in order, the row of b is loaded, and times an element of each of the four rows of
//      a added to the tile.
//   3. What is left of columns is panels of one vector, then of one of 128 bits, then of one lane; what is left of rows
//      is tiles of one.
// So an element is one sum in the order of the depth, whichever tile it is in. The error of such a sum:
// docs/proofs/attention-encoder.md, steps 1 and 3, which hold for any order.

#include "lib/attention/products.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/attention/products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Of a panel: a tile, a row of b and an element of a are then within the registers, 32 or 16.
inline constexpr std::size_t panel_vectors = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM ? 4 : 2;
inline constexpr std::int64_t tile_rows = 4;

// What the sums begin with.
enum class Onto { zero, what_is_there };

template <Onto onto, std::size_t rows, std::size_t vectors, class D, class Scalar = hn::TFromD<D>>
HWY_INLINE void AddTile(D d, std::int64_t depth, MatrixView<const Scalar> a, MatrixView<const Scalar> b,
                        MatrixView<Scalar> c) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  V tile[rows][vectors];
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < vectors; ++i)
      tile[row][i] = onto == Onto::zero ? hn::Zero(d)
                                        : hn::LoadU(d, c.data + static_cast<std::int64_t>(row) * c.stride + i * lanes);
  for (std::int64_t p = 0; p < depth; ++p) {
    V of_b[vectors];
    for (std::size_t i = 0; i < vectors; ++i) of_b[i] = hn::LoadU(d, b.data + p * b.stride + i * lanes);
    for (std::size_t row = 0; row < rows; ++row) {
      const V of_a = hn::Set(d, a.data[static_cast<std::int64_t>(row) * a.stride + p]);
      for (std::size_t i = 0; i < vectors; ++i) tile[row][i] = hn::MulAdd(of_a, of_b[i], tile[row][i]);
    }
  }
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < vectors; ++i)
      hn::StoreU(tile[row][i], d, c.data + static_cast<std::int64_t>(row) * c.stride + i * lanes);
}

/// Panels of so many vectors of D, from `column` on as long as there are columns for one. Where the next one begins.
template <Onto onto, std::size_t vectors, class D, class Scalar = hn::TFromD<D>>
HWY_INLINE std::int64_t AddPanels(D d, const ProductShape& shape, MatrixView<const Scalar> a,
                                  MatrixView<const Scalar> b, MatrixView<Scalar> c, std::int64_t column) {
  const auto width = static_cast<std::int64_t>(vectors * hn::Lanes(d));
  for (; column + width <= shape.columns; column += width) {
    const MatrixView<const Scalar> of_b{b.data + column, b.stride};
    const auto add = [&](auto rows, std::int64_t row) HWY_ATTR {
      AddTile<onto, rows(), vectors>(d, shape.depth, MatrixView<const Scalar>{a.data + row * a.stride, a.stride}, of_b,
                                     MatrixView<Scalar>{c.data + row * c.stride + column, c.stride});
    };
    std::int64_t row = 0;
    for (; row + tile_rows <= shape.rows; row += tile_rows) add(std::integral_constant<std::size_t, tile_rows>(), row);
    for (; row < shape.rows; ++row) add(std::integral_constant<std::size_t, 1>(), row);
  }
  return column;
}

template <Onto onto, class Scalar>
HWY_INLINE void AddProduct(const ProductShape& shape, MatrixView<const Scalar> a, MatrixView<const Scalar> b,
                           MatrixView<Scalar> c) {
  const hn::ScalableTag<Scalar> d;
  std::int64_t column = AddPanels<onto, panel_vectors>(d, shape, a, b, c, 0);
  column = AddPanels<onto, 1>(d, shape, a, b, c, column);
  column = AddPanels<onto, 1>(hn::CappedTag<Scalar, 16 / sizeof(Scalar)>(), shape, a, b, c, column);
  AddPanels<onto, 1>(hn::CappedTag<Scalar, 1>(), shape, a, b, c, column);
}

// Four rows at four columns, or for doubles two at two, where there are blocks of 128 bits; the rest one by one.
template <class Scalar>
HWY_INLINE void Transpose(std::int64_t rows, std::int64_t columns, MatrixView<const Scalar> x, MatrixView<Scalar> to) {
  constexpr std::int64_t block = 16 / sizeof(Scalar);
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<Scalar, block> d;
#endif
  for (std::int64_t row = 0; row < rows; row += block) {
    std::int64_t column = 0;
#if HWY_TARGET != HWY_SCALAR
    for (; row + block <= rows && column + block <= columns; column += block) {
      const Scalar* const from = x.data + row * x.stride + column;
      Scalar* const first = to.data + column * to.stride + row;
      const auto a = hn::LoadU(d, from);
      const auto b = hn::LoadU(d, from + x.stride);
      if constexpr (sizeof(Scalar) == 8) {
        hn::StoreU(hn::InterleaveLower(d, a, b), d, first);
        hn::StoreU(hn::InterleaveUpper(d, a, b), d, first + to.stride);
      } else {
        const auto e = hn::LoadU(d, from + 2 * x.stride);
        const auto f = hn::LoadU(d, from + 3 * x.stride);
        const hn::Repartition<double, decltype(d)> pairs;
        const auto put = [&](auto two, auto next_two, std::int64_t at) HWY_ATTR {
          const auto lower = hn::BitCast(pairs, two);
          const auto upper = hn::BitCast(pairs, next_two);
          hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, lower, upper)), d, first + at * to.stride);
          hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, lower, upper)), d, first + (at + 1) * to.stride);
        };
        put(hn::InterleaveLower(d, a, b), hn::InterleaveLower(d, e, f), 0);
        put(hn::InterleaveUpper(d, a, b), hn::InterleaveUpper(d, e, f), 2);
      }
    }
#endif
    for (; column < columns; ++column)
      for (std::int64_t of_block = row; of_block < std::min(rows, row + block); ++of_block)
        to.data[column * to.stride + of_block] = x.data[of_block * x.stride + column];
  }
}

void SetFloats(const ProductShape& shape, MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  AddProduct<Onto::zero>(shape, a, b, c);
}
void SetDoubles(const ProductShape& shape, MatrixView<const double> a, MatrixView<const double> b,
                MatrixView<double> c) {
  AddProduct<Onto::zero>(shape, a, b, c);
}
void AddFloats(const ProductShape& shape, MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  AddProduct<Onto::what_is_there>(shape, a, b, c);
}
void AddDoubles(const ProductShape& shape, MatrixView<const double> a, MatrixView<const double> b,
                MatrixView<double> c) {
  AddProduct<Onto::what_is_there>(shape, a, b, c);
}
void TransposeFloats(std::int64_t rows, std::int64_t columns, MatrixView<const float> x, MatrixView<float> to) {
  Transpose(rows, columns, x, to);
}
void TransposeDoubles(std::int64_t rows, std::int64_t columns, MatrixView<const double> x, MatrixView<double> to) {
  Transpose(rows, columns, x, to);
}
const char* ProductsTarget() { return hwy::TargetName(HWY_TARGET); }

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(SetFloats);
HWY_EXPORT(SetDoubles);
HWY_EXPORT(AddFloats);
HWY_EXPORT(AddDoubles);
HWY_EXPORT(TransposeFloats);
HWY_EXPORT(TransposeDoubles);
HWY_EXPORT(ProductsTarget);

}  // namespace

template <>
void set_product(const ProductShape& shape, MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  HWY_DYNAMIC_DISPATCH(SetFloats)(shape, a, b, c);
}

template <>
void set_product(const ProductShape& shape, MatrixView<const double> a, MatrixView<const double> b,
                 MatrixView<double> c) {
  HWY_DYNAMIC_DISPATCH(SetDoubles)(shape, a, b, c);
}

template <>
void add_product(const ProductShape& shape, MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  HWY_DYNAMIC_DISPATCH(AddFloats)(shape, a, b, c);
}

template <>
void add_product(const ProductShape& shape, MatrixView<const double> a, MatrixView<const double> b,
                 MatrixView<double> c) {
  HWY_DYNAMIC_DISPATCH(AddDoubles)(shape, a, b, c);
}

template <>
void transpose(std::int64_t rows, std::int64_t columns, MatrixView<const float> x, MatrixView<float> to) {
  HWY_DYNAMIC_DISPATCH(TransposeFloats)(rows, columns, x, to);
}

template <>
void transpose(std::int64_t rows, std::int64_t columns, MatrixView<const double> x, MatrixView<double> to) {
  HWY_DYNAMIC_DISPATCH(TransposeDoubles)(rows, columns, x, to);
}

std::string products_target() { return HWY_DYNAMIC_DISPATCH(ProductsTarget)(); }

}  // namespace sextant
#endif
