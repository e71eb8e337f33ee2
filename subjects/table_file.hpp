#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/numeric/user_error.hpp"

namespace sextant {

/// A table file that cannot be written. what() is one line that names the file.
class TableFileError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes one or more tables row by row, in constant memory: a .npy file with one table, or a .safetensors file with
/// any number. bfloat16 goes into .npy as <u2 bit patterns, since NumPy has no name for it. The file appears under its
/// name at `commit`, whole; until then it has a temporary one, which an object that is never committed removes.
class TableFile {
 public:
  struct Table {
    std::string name;  ///< of the tensor; not written to .npy
    std::int64_t rows;
    std::int64_t columns;
  };

  /// @throws TableFileError if the ending is neither .npy nor .safetensors, a .npy would hold several tables, or the
  /// file cannot be made.
  TableFile(std::filesystem::path path, Dtype dtype, std::vector<Table> tables);
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  ~TableFile();

  /// The next row of table `index`, rounded to the dtype (values that it holds are kept).
  void append(std::size_t index, std::span<const double> row);

  /// @throws TableFileError if a write failed.
  void commit();

 private:
  struct Region {
    std::int64_t offset;
    std::vector<char> waiting;
  };
  void flush(Region& region);

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Dtype dtype_;
  std::vector<Region> regions_;
  std::fstream stream_;
  bool committed_ = false;
};

}  // namespace sextant
