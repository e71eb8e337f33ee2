#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// How rows that are made or looked up elsewhere reach memory: past the caches where a table is larger than those.
//
// A store to a line that is not in a cache reads the line first, so that an ordinary copy moves two thirds more than
// it writes. A streaming store of a whole line does not. The rows that a LineWriter is given in turn are one stream of
// bytes as long as each begins where the one before ended:
//   1. What belongs to a line that was begun is added to it, in a buffer of one line; a full one is streamed.
//   2. Whole lines are streamed from where they are.
//   3. What is left begins the next line.
// The first and the last line of a stream may belong to others too: of those only the stream's own bytes are stored,
// by an ordinary copy. Bits are moved, not computed; there is nothing to prove but the bounds, which the test does.

namespace sextant {

/// Whether a table's rows pass by the caches.
enum class Caching { kept, streamed };

/// Tables larger than this, about what a core has for itself, are written past the caches: stores of lines that are not
/// there would first read them, and rows that go to both sides of an anchor are not foreseen, which costs three
/// quarters of the rate. A constant, because what the C library tells of the caches is, on processors of several
/// chiplets, the sum over all of them.
inline constexpr std::int64_t written_past_caches = std::int64_t{1} << 21;

/// Rows of fewer bytes with gaps between them have little but begun lines, which are not to be streamed.
inline constexpr std::int64_t least_streamed_apart = 1024;

/// The caching of a table of that many bytes, gaps between its rows included.
inline Caching caching_of(std::int64_t bytes) {
  return bytes > written_past_caches ? Caching::streamed : Caching::kept;
}

/// Hands bytes on to memory, in whole lines where they are streamed. One thread's; what it wrote is there for others
/// after finish().
class LineWriter {
 public:
  static constexpr std::size_t line_bytes = 64;

  explicit LineWriter(Caching caching) : caching_(caching) {}

  Caching caching() const { return caching_; }

  /// Writes `bytes` bytes of `source` to `destination`, of any alignment, perhaps only at the next call. `source` may
  /// be reused after the call and does not overlap `destination` unless it is that, which then has nothing to be done.
  /// Precondition: no bytes between two finish() are written twice.
  void write(std::byte* destination, const std::byte* source, std::size_t bytes);

  /// The same of `bytes` bytes that repeat the eight of `word`, the least significant first.
  void write_copies(std::byte* destination, std::uint64_t word, std::size_t bytes);

  /// The same of `bytes` bytes for each word in turn, one after the other.
  void write_copies(std::byte* destination, std::span<const std::uint64_t> words, std::size_t bytes);

  /// Writes what is left and waits for all of it. To be called after the last write.
  void finish();

 private:
  void put_begun_line();
  std::size_t complete_line(std::byte* destination, const std::byte* source, std::size_t bytes);

  Caching caching_;
  std::byte* next_ = nullptr;  // where the stream goes on
  std::size_t start_ = 0;      // the stream's own bytes of the begun line, that of next_, begin here
  alignas(line_bytes) std::array<std::byte, line_bytes> line_{};
};

}  // namespace sextant
