#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "subjects/subject.hpp"

namespace sextant {

// The safetensors format: an 8-byte little-endian header length, a JSON header, the data. The header maps each tensor's
// name to {"dtype", "shape", "data_offsets": [begin, end]}, offsets counted from the end of the header, and
// "__metadata__" to strings. A blob delimits itself, so blobs can follow each other on a pipe.

/// Tensors with the metadata strings that travel beside them.
struct Blob {
  std::map<std::string, std::string> metadata;
  Tensors tensors;
};

/// Bytes that are no safetensors blob, or one that is beyond the limits. what() is one line.
class SafetensorsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Largest header that is read: a reply holds a handful of tensors.
inline constexpr std::uint64_t max_header_bytes = std::uint64_t{1} << 20;

/// A tensor as a header lists it.
struct TensorInfo {
  std::string name;
  Dtype dtype;
  std::vector<std::int64_t> shape;
};

/// The length and the header of a blob whose data are these tensors, one after the other. The header is padded with
/// spaces to a multiple of eight, so that data is aligned.
std::string safetensors_header(std::span<const TensorInfo> tensors, const std::map<std::string, std::string>& metadata);

/// The bytes of a blob.
std::vector<std::byte> write_safetensors(const Blob& blob);

/// Takes a blob piece by piece, as it comes from a pipe.
class SafetensorsReader {
 public:
  /// @param max_data_bytes  more data than this is refused before any of it is read.
  explicit SafetensorsReader(std::uint64_t max_data_bytes) : max_data_bytes_(max_data_bytes) {}

  /// Consumes bytes up to the blob's end. @returns how many of them belonged to it.
  /// @throws SafetensorsError as soon as the header cannot be one.
  std::size_t feed(std::span<const std::byte> bytes);

  bool complete() const { return header_known_ && bytes_.size() == total_; }
  /// Nothing was fed yet.
  bool empty() const { return bytes_.empty(); }

  /// The blob. @throws SafetensorsError if it is not complete or its tensors do not fit its data.
  Blob blob() const;

 private:
  std::uint64_t max_data_bytes_;
  std::vector<std::byte> bytes_;
  std::uint64_t total_ = 8;
  std::uint64_t header_bytes_ = 0;
  bool header_known_ = false;
};

}  // namespace sextant
