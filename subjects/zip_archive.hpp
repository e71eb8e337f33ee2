#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "subjects/mapped_file.hpp"

namespace sextant {

/// A ZIP archive (PKWARE's APPNOTE 6.3.10, sections 4.3 and 4.4), with its 64-bit extension: what .npz and .pt files
/// are. Members are found by the directory at its end. Those that are stored are used where they lie; those that are
/// deflated are inflated to memory.
class ZipArchive {
 public:
  /// The most bytes that a member is inflated to. Larger ones can be stored.
  static constexpr std::uint64_t most_inflated = std::uint64_t{1} << 30;

  /// Over these bytes, which it refers to. @param name  of the file, for messages
  /// @throws ArrayFileError if they are no archive, its directory lies outside of them or has a name twice.
  ZipArchive(std::span<const std::byte> bytes, std::string name);

  /// In the directory's order.
  std::vector<std::string> names() const;

  /// The content of the member of that name, good as long as the archive.
  /// @throws ArrayFileError if there is none, it is encrypted, compressed otherwise or larger than most_inflated, or
  /// its bytes are not what the directory says.
  std::span<const std::byte> content(const std::string& member);

  /// The same, its checksum compared where it is stored as it is, too: PyTorch may leave those out, NumPy does not.
  /// @throws ArrayFileError as content, and where it is another.
  std::span<const std::byte> checked_content(const std::string& member);

 private:
  struct Entry {
    std::string name;
    std::uint32_t flags;
    std::uint32_t method;
    std::uint32_t checksum;
    std::uint64_t compressed;
    std::uint64_t size;
    std::uint64_t header;  ///< where its local header is
  };

  void read_directory();
  Entry read_entry(std::uint64_t at, std::uint64_t& next) const;
  std::span<const std::byte> inflated(const Entry& entry, std::span<const std::byte> data);
  void check(const Entry& entry, std::span<const std::byte> data) const;
  std::uint64_t number(std::uint64_t at, int bytes) const;
  [[noreturn]] void refuse(std::uint64_t offset, std::string_view why) const;
  [[noreturn]] void refuse(const Entry& entry, std::string_view why) const;

  std::span<const std::byte> bytes_;
  std::string name_;
  std::vector<Entry> entries_;
  std::list<std::vector<std::byte>> inflated_;
};

}  // namespace sextant
