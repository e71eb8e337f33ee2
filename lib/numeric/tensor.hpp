#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/numeric/dtype.hpp"

namespace sextant {

/// A dense row-major array: the last index varies fastest. A plain value; what travels to and from subjects.
struct Tensor {
  Dtype dtype = Dtype::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;

  /// A tensor of zeros. @throws std::invalid_argument if an extent is negative or the size overflows.
  static Tensor zeros(Dtype dtype, std::vector<std::int64_t> shape);

  /// An int64 tensor. @throws std::invalid_argument unless the shape holds just these values.
  static Tensor of_integers(std::vector<std::int64_t> shape, std::span<const std::int64_t> values);

  /// The product of the extents.
  std::int64_t elements() const;

  /// Element `index` in row-major order, exactly. The dtype must be floating.
  double at(std::int64_t index) const;

  /// Elements [first, first + values.size()), exactly. The dtype must be floating.
  void read(std::int64_t first, std::span<double> values) const;

  /// Sets element `index` to the value of the dtype nearest to `value`. The dtype must be floating.
  void set(std::int64_t index, double value);

  /// The elements of an int64 tensor. @throws std::invalid_argument for another dtype.
  std::vector<std::int64_t> integers() const;
};

/// The product of the extents. @throws std::invalid_argument if one is negative or the product times eight
/// exceeds 2^62, so that no size computed from it can overflow.
std::int64_t elements_of(std::span<const std::int64_t> shape);

/// "[2, 3, 64]".
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace sextant
