#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/numeric/tensor.hpp"

namespace sextant {

/// What the elements of a stored array are. `bits16` are two bytes of which the file does not say what they mean:
/// bfloat16's where a spec says so, since NumPy has no such type.
enum class ElementType { float64, float32, float16, bfloat16, bits16, int64, complex64, complex128, other };

/// Bytes of one element; of `other`, which is never read, 1.
std::size_t size_of(ElementType type);

/// An array as a file has it: any order of bytes and axes. Its bytes belong to who read it.
struct StoredArray {
  ElementType type = ElementType::other;
  std::string type_text;  ///< as the file says it, for messages: '<f4', F32
  std::endian order = std::endian::little;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in elements, not negative
  std::span<const std::byte> data;    ///< holds every element
};

/// The strides of a dense array, the last axis fastest (C) or the first (Fortran).
enum class Fastest { last_axis, first_axis };
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape, Fastest order);

/// Complex numbers as pairs of numbers, a last axis of 2; other arrays as they are.
StoredArray as_real(StoredArray array);

/// Without the axes of extent 1.
StoredArray squeezed(StoredArray array);

/// Whether elements are those of a spec of this dtype.
bool holds(const StoredArray& array, Dtype dtype);

/// Rows among a stored array: element (row, column) is number row * row_stride + columns[column] of its data.
struct StoredRows {
  StoredArray array;
  std::int64_t rows = 0;
  std::int64_t row_stride = 0;
  std::vector<std::int64_t> columns;
};

/// The rows of an array [rows, columns], as `squeezed` leaves it: of one row or one column the other axis alone.
/// Nothing if it has another shape.
std::optional<StoredRows> rows_of(const StoredArray& array, std::int64_t columns);

/// Those of these indices, each below rows: [indices.size(), columns] of the dtype, in this machine's byte order.
Tensor gather(const StoredRows& rows, Dtype dtype, std::span<const std::int64_t> indices);

/// The elements of an int64 array of one axis.
std::vector<std::int64_t> integers_of(const StoredArray& array);

}  // namespace sextant
