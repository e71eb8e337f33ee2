#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>

namespace sextant {

/// A file of arrays that cannot be read. what() is one line that names the file and the offset, member or field.
class ArrayFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The bytes of a regular file, mapped: a recorded table may be larger than memory.
class MappedFile {
 public:
  /// @throws ArrayFileError if there is no such file, or it cannot be opened or mapped.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

  /// @throws ArrayFileError if the file is shorter by now, so that reading its end would end the process.
  void check_whole() const;

 private:
  std::filesystem::path file_;
  int descriptor_;
  std::span<const std::byte> bytes_;
};

}  // namespace sextant
