#pragma once

#include <cstdint>
#include <string>

// The two matrix products of attention, on the widest vectors of the machine.

namespace sextant {

/// A row-major matrix whose rows begin `stride` apart. It does not own what it shows.
template <class Scalar>
struct MatrixView {
  Scalar* data;
  std::int64_t stride;
};

/// The extents of c = a b: a [rows, depth], b [depth, columns].
struct ProductShape {
  std::int64_t rows;
  std::int64_t depth;
  std::int64_t columns;
};

/// Makes c a b. Each element is a sum in the order of the depth that begins with zero, each term rounded once or,
/// without fused operations, twice; it depends on nothing but its own row of a and column of b, nor on where in c it
/// lies. c overlaps neither. Scalar is float or double.
template <class Scalar>
void set_product(const ProductShape& shape, MatrixView<const Scalar> a, MatrixView<const Scalar> b,
                 MatrixView<Scalar> c);

/// Adds a b to c: the sums begin with what c has.
template <class Scalar>
void add_product(const ProductShape& shape, MatrixView<const Scalar> a, MatrixView<const Scalar> b,
                 MatrixView<Scalar> c);

/// Makes `to` the transpose of x, which is [rows, columns]. They do not overlap.
template <class Scalar>
void transpose(std::int64_t rows, std::int64_t columns, MatrixView<const Scalar> x, MatrixView<Scalar> to);

/// The instruction set that add_product runs on, as Highway names it.
std::string products_target();

}  // namespace sextant
