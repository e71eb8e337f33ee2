#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "lib/numeric/tensor.hpp"

namespace sextant {

/// A .npy file that cannot be read. what() is one line that names the file and the offset or field.
class NpyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A two-dimensional table in NumPy's .npy format, versions 1 to 3 (NEP 1), read row by row: a recorded table may be
/// larger than memory. Element types: <f8, <f4, <f2 and, for bfloat16, <u2 or ml_dtypes' |V2 bit patterns. C order.
class NpyTable {
 public:
  /// @param dtype  what the elements are claimed to be; tells bfloat16 from other two-byte types.
  /// @throws NpyError if the file is no such table, or is shorter than its header says.
  NpyTable(const std::filesystem::path& file, Dtype dtype);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }

  /// The rows of these indices, [indices.size(), columns]. @throws NpyError if one is out of range or the file shrank.
  Tensor gather(std::span<const std::int64_t> indices) const;

 private:
  std::filesystem::path file_;
  Dtype dtype_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t data_offset_ = 0;
};

}  // namespace sextant
