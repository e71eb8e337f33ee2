// How a row reaches memory when the kernel cannot store it there itself, for one Highway target: because its vectors
// are wider than the row, or because rows that pass by the cache need whole lines at aligned addresses.
//
//   1. Rows that follow each other in memory are put behind each other in a buffer, at the same places within a line.
//   2. Whole lines leave it one row late, past the caches; the rest of a line waits for the row behind it.
//   3. What begins or ends within a line is copied by plain stores.
//
// Nothing is computed here: there is nothing to prove.

#if defined(SEXTANT_LIB_SINUSOIDAL_ROW_WRITER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_ROW_WRITER_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_ROW_WRITER_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_ROW_WRITER_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "lib/sinusoidal/plan.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t cache_line = 64;

/// Copies whole lines to an aligned destination, past the cache.
HWY_INLINE void StreamLines(const std::byte* source, std::byte* destination, std::size_t bytes) {
  const hn::CappedTag<std::uint8_t, cache_line> d;
  const auto* from = reinterpret_cast<const std::uint8_t*>(source);
  auto* to = reinterpret_cast<std::uint8_t*>(destination);
  for (std::size_t i = 0; i < bytes; i += hn::Lanes(d)) hn::Stream(hn::LoadU(d, from + i), d, to + i);
}

/// Collects rows of a table and hands them on in whole cache lines, also where rows begin or end within a line: what is
/// left of a line waits for the next row if that follows directly, so that no line is written twice.
///
/// Lines are handed on one row late: reading what was stored a moment ago in pieces of another alignment would wait for
/// those stores.
class RowWriter {
 public:
  explicit RowWriter(Caching caching) : caching_(caching) {}

  /// Where the next `bytes` bytes, at most half the capacity, are to be put for `destination`. As many again, up to
  /// overhang, may be overwritten after them.
  std::byte* Row(std::byte* destination, std::size_t bytes) {
    if (destination != next_ || filled_ + bytes > capacity) {
      if (destination == next_) {
        Carry();
      } else {
        Finish();
        start_ = filled_ = reinterpret_cast<std::uintptr_t>(destination) % cache_line;
        next_ = destination;
      }
    }
    complete_ = filled_;
    filled_ += bytes;
    next_ += bytes;
    return buffer_.data() + filled_ - bytes;
  }

  /// Called when a row has been put: hands on the whole lines of those before it.
  void Advance() { Write(complete_ / cache_line * cache_line); }

  /// Hands on the rest.
  void Finish() {
    Write(filled_ / cache_line * cache_line);
    CopyPlain(filled_);
  }

  static constexpr std::size_t capacity = std::size_t{1} << 15;
  static constexpr std::size_t overhang = 256;

 private:
  std::byte* Destination() const { return next_ - (filled_ - start_); }

  void CopyPlain(std::size_t end) {
    if (end > start_) std::memcpy(Destination(), buffer_.data() + start_, end - start_);
    start_ = end > start_ ? end : start_;
  }

  // Writes up to `end`, a multiple of the line.
  void Write(std::size_t end) {
    if (end <= start_) return;
    if (caching_ == Caching::kept) return CopyPlain(end);
    if (start_ % cache_line != 0) CopyPlain((start_ + cache_line - 1) / cache_line * cache_line);
    if (end <= start_) return;
    StreamLines(buffer_.data() + start_, Destination(), end - start_);
    start_ = end;
  }

  // Empties the buffer but for the line that is not whole, which moves to the front.
  void Carry() {
    Write(filled_ / cache_line * cache_line);
    const std::size_t base = filled_ / cache_line * cache_line;
    std::memmove(buffer_.data(), buffer_.data() + base, filled_ - base);
    start_ = start_ > base ? start_ - base : 0;
    filled_ -= base;
  }

  alignas(cache_line) std::array<std::byte, capacity + overhang> buffer_;
  Caching caching_;
  std::byte* next_ = nullptr;  // where the byte at filled_ belongs
  std::size_t start_ = 0;      // [start_, filled_) is still to be written
  std::size_t filled_ = 0;
  std::size_t complete_ = 0;  // what was filled before the row at hand
};

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
