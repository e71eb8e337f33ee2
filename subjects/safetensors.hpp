#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
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

/// A tensor where a header places it: its bytes are [begin, end) of the data, as many as its shape and dtype need.
struct TensorPlace {
  TensorInfo info;
  std::uint64_t begin;
  std::uint64_t end;
};

/// What a header says.
struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorPlace> tensors;  ///< by where they begin
};

/// Reads a header, without its length. @throws SafetensorsError if it cannot be one.
SafetensorsHeader read_safetensors_header(std::span<const std::byte> header);

/// Its length, from the eight bytes before it. @throws SafetensorsError for fewer than 2 or more than max_header_bytes,
/// quoting `bytes`.
std::uint64_t safetensors_header_length(std::span<const std::byte> bytes);

/// The length and the header of a blob whose data are these tensors, one after the other. The header is padded with
/// spaces to a multiple of eight, so that data is aligned.
std::string safetensors_header(std::span<const TensorInfo> tensors, const std::map<std::string, std::string>& metadata);

/// The bytes of a blob.
std::vector<std::byte> write_safetensors(const Blob& blob);

/// The header of a blob of these, as above.
std::string safetensors_header(const Tensors& tensors, const std::map<std::string, std::string>& metadata);

/// Takes a blob piece by piece, as it comes from a pipe. Tensors that follow each other in the data, as every writer
/// lays them, are read to where they stay.
class SafetensorsReader {
 public:
  /// @param max_data_bytes  more data than this is refused before any of it is read.
  explicit SafetensorsReader(std::uint64_t max_data_bytes) : max_data_bytes_(max_data_bytes) {}

  /// Where the next bytes of the blob go; empty once it is complete.
  std::span<std::byte> room();
  /// That many bytes of room() are filled; `next`, if known, came behind them, and is told where the blob is none.
  /// @throws SafetensorsError as soon as the header cannot be one.
  void filled(std::size_t bytes, std::span<const std::byte> next = {});

  /// Consumes bytes up to the blob's end. @returns how many of them belonged to it. @throws as `filled`.
  std::size_t feed(std::span<const std::byte> bytes);

  bool complete() const { return read_header_ && taken_ == total_; }
  /// Nothing was fed yet.
  bool empty() const { return taken_ == 0; }

  /// The blob, which the reader then has no more. @throws SafetensorsError if it is not complete.
  Blob blob();

 private:
  void read_length(std::span<const std::byte> next);
  void read_header();

  // The bytes of one tensor, or of all that do not follow each other.
  struct Part {
    std::span<std::byte> bytes;
    std::uint64_t begin;
  };

  std::uint64_t max_data_bytes_;
  std::uint64_t taken_ = 0;
  std::uint64_t total_ = 8;
  bool read_header_ = false;
  std::vector<std::byte> head_ = std::vector<std::byte>(8);  ///< length and header
  Blob blob_;
  std::vector<Part> parts_;  ///< by their begin
  std::size_t part_ = 0;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> offsets_;
  std::vector<std::byte> data_;  ///< where tensors do not follow each other: all of it
};

}  // namespace sextant
