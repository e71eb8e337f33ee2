#include "subjects/stored_array.hpp"

#include <algorithm>
#include <cstring>

namespace sextant {

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::complex128: return 16;
    case ElementType::float64:
    case ElementType::int64:
    case ElementType::complex64: return 8;
    case ElementType::float32: return 4;
    case ElementType::float16:
    case ElementType::bfloat16:
    case ElementType::bits16: return 2;
    case ElementType::other: break;
  }
  return 1;
}

std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> shape, Fastest order) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = order == Fastest::first_axis ? i : shape.size() - 1 - i;
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

StoredArray as_real(StoredArray array) {
  const bool is_single = array.type == ElementType::complex64;
  if (!is_single && array.type != ElementType::complex128) return array;
  array.type = is_single ? ElementType::float32 : ElementType::float64;
  for (std::int64_t& stride : array.strides) stride *= 2;
  array.shape.push_back(2);
  array.strides.push_back(1);
  return array;
}

StoredArray squeezed(StoredArray array) {
  std::size_t kept = 0;
  for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
    if (array.shape[axis] == 1) continue;
    array.shape[kept] = array.shape[axis];
    array.strides[kept++] = array.strides[axis];
  }
  array.shape.resize(kept);
  array.strides.resize(kept);
  return array;
}

bool holds(const StoredArray& array, Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return array.type == ElementType::float64 || array.type == ElementType::complex128;
    case Dtype::float32: return array.type == ElementType::float32 || array.type == ElementType::complex64;
    case Dtype::float16: return array.type == ElementType::float16;
    case Dtype::bfloat16: return array.type == ElementType::bfloat16 || array.type == ElementType::bits16;
    case Dtype::int64: return array.type == ElementType::int64;
  }
  return false;
}

std::optional<StoredRows> rows_of(const StoredArray& array, std::int64_t columns) {
  StoredRows rows{.array = array, .columns = std::vector<std::int64_t>(static_cast<std::size_t>(columns))};
  const auto& shape = array.shape;
  const auto place = [&](std::int64_t count, std::int64_t row_stride, std::int64_t stride) {
    rows.rows = count;
    rows.row_stride = row_stride;
    for (std::int64_t i = 0; i < columns; ++i) rows.columns[static_cast<std::size_t>(i)] = i * stride;
    return rows;
  };
  if (shape.size() == 2 && shape[1] == columns) return place(shape[0], array.strides[0], array.strides[1]);
  if (shape.size() == 1 && shape[0] == columns) return place(1, 0, array.strides[0]);
  if (shape.size() == 1 && columns == 1) return place(shape[0], array.strides[0], 0);
  if (shape.empty() && columns == 1) return place(1, 0, 0);
  return std::nullopt;
}

namespace {

template <std::size_t width>
void copy_row(const std::byte* from, std::span<const std::int64_t> columns, bool reverse, std::byte* to) {
  for (const std::int64_t column : columns) {
    std::memcpy(to, from + static_cast<std::size_t>(column) * width, width);
    if (reverse) std::reverse(to, to + width);
    to += width;
  }
}

bool are_consecutive(std::span<const std::int64_t> columns) {
  for (std::size_t i = 1; i < columns.size(); ++i) {
    if (columns[i] != columns[0] + static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

}  // namespace

Tensor gather(const StoredRows& rows, Dtype dtype, std::span<const std::int64_t> indices) {
  Tensor all = Tensor::zeros(dtype, {std::ssize(indices), std::ssize(rows.columns)});
  const std::size_t width = size_of(dtype);
  const bool reverse = rows.array.order != std::endian::native;
  const bool at_once = !reverse && are_consecutive(rows.columns);
  std::byte* to = all.data.data();
  for (const std::int64_t index : indices) {
    const std::byte* from = rows.array.data.data() + static_cast<std::size_t>(index * rows.row_stride) * width;
    if (at_once && !rows.columns.empty()) {
      std::memcpy(to, from + static_cast<std::size_t>(rows.columns[0]) * width, rows.columns.size() * width);
    } else if (width == 2) {
      copy_row<2>(from, rows.columns, reverse, to);
    } else if (width == 4) {
      copy_row<4>(from, rows.columns, reverse, to);
    } else {
      copy_row<8>(from, rows.columns, reverse, to);
    }
    to += rows.columns.size() * width;
  }
  return all;
}

std::vector<std::int64_t> integers_of(const StoredArray& array) {
  const std::optional<StoredRows> rows = rows_of(array, 1);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(rows->rows));
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i);
  return gather(*rows, Dtype::int64, indices).integers();
}

}  // namespace sextant
