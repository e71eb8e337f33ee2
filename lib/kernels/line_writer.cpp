// Collects rows and hands on whole cache lines past the caches; the copies are compiled once per Highway target.
//
//   1. A line that a row leaves unfinished is kept and completed by the row behind it; where another place follows, its
//      bytes are stored plainly.
//   2. Whole lines go from the row straight to memory by streaming stores.
//   3. Copies of one word are streamed from a register.
//
// Nothing is computed here: there is nothing to prove.

#include "lib/kernels/line_writer.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/line_writer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Copies whole lines to an aligned destination, past the caches.
void StreamWholeLines(std::byte* destination, const std::byte* source, std::size_t bytes) {
#if HWY_TARGET == HWY_SCALAR
  std::memcpy(destination, source, bytes);
#else
  const hn::CappedTag<std::uint8_t, 64> d;
  const auto* from = reinterpret_cast<const std::uint8_t*>(source);
  auto* to = reinterpret_cast<std::uint8_t*>(destination);
  for (std::size_t i = 0; i < bytes; i += hn::Lanes(d)) hn::Stream(hn::LoadU(d, from + i), d, to + i);
#endif
}

// Lines of one word, `bytes` of them for each in turn. A word comes to them in a register: a load of what was stored a
// moment ago would wait behind the lines that are still on their way to memory.
void StreamCopies(std::byte* destination, const std::uint64_t* first, std::size_t count, std::size_t bytes) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t word = 0; word < count; ++word) {
    for (std::size_t i = 0; i < bytes; i += sizeof *first, destination += sizeof *first)
      std::memcpy(destination, first + word, sizeof *first);
  }
#else
  const hn::CappedTag<std::uint64_t, LineWriter::line_bytes / sizeof(std::uint64_t)> d;
  auto* to = reinterpret_cast<std::uint64_t*>(destination);
  for (std::size_t word = 0; word < count; ++word) {
    const auto words = hn::Set(d, first[word]);
    for (std::size_t i = 0; i < bytes / sizeof *first; i += hn::Lanes(d), to += hn::Lanes(d)) hn::Stream(words, d, to);
  }
#endif
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(StreamWholeLines);
HWY_EXPORT(StreamCopies);

void stream_lines(std::byte* destination, const std::byte* source, std::size_t bytes) {
  if (bytes > 0) HWY_DYNAMIC_DISPATCH(StreamWholeLines)(destination, source, bytes);
}

}  // namespace

void LineWriter::put_begun_line() {
  if (next_ == nullptr) return;
  const std::size_t filled = reinterpret_cast<std::uintptr_t>(next_) % line_bytes;
  if (filled > start_) std::memcpy(next_ - (filled - start_), line_.data() + start_, filled - start_);
}

// Adds to the begun line what belongs to it, and hands that on if it is full. How many bytes it took.
std::size_t LineWriter::complete_line(std::byte* destination, const std::byte* source, std::size_t bytes) {
  const std::size_t filled = reinterpret_cast<std::uintptr_t>(destination) % line_bytes;
  if (destination != next_) {
    put_begun_line();
    start_ = filled;
  }
  next_ = destination + bytes;
  if (filled == 0) return 0;
  const std::size_t taken = std::min(bytes, line_bytes - filled);
  std::memcpy(line_.data() + filled, source, taken);
  if (filled + taken < line_bytes) return taken;
  if (start_ == 0) {
    stream_lines(destination - filled, line_.data(), line_bytes);
  } else {
    std::memcpy(destination - (filled - start_), line_.data() + start_, line_bytes - start_);
  }
  start_ = 0;
  return taken;
}

void LineWriter::write(std::byte* destination, const std::byte* source, std::size_t bytes) {
  if (bytes == 0 || destination == source) return;
  if (caching_ == Caching::kept) {
    std::memcpy(destination, source, bytes);
    return;
  }
  const std::size_t taken = complete_line(destination, source, bytes);
  const std::size_t whole = (bytes - taken) / line_bytes * line_bytes;
  stream_lines(destination + taken, source + taken, whole);
  if (taken + whole < bytes) std::memcpy(line_.data(), source + taken + whole, bytes - taken - whole);
}

void LineWriter::write_copies(std::byte* destination, std::uint64_t word, std::size_t bytes) {
  if (bytes == 0) return;
  const auto line_of = [](std::uint64_t from) {
    std::array<std::uint64_t, line_bytes / sizeof from> words;
    words.fill(from);
    return std::bit_cast<std::array<std::byte, line_bytes>>(words);
  };
  if (caching_ == Caching::kept) {
    const auto line = line_of(word);
    for (; bytes >= line_bytes; bytes -= line_bytes, destination += line_bytes)
      std::memcpy(destination, line.data(), line_bytes);
    std::memcpy(destination, line.data(), bytes);
    return;
  }
  const bool begins_line = reinterpret_cast<std::uintptr_t>(destination) % line_bytes == 0;
  const std::size_t taken = complete_line(destination, begins_line ? nullptr : line_of(word).data(), bytes);
  // The word that the rest begins with.
  const std::uint64_t next = std::rotr(word, static_cast<int>(8 * (taken % sizeof word)));
  const std::size_t whole = (bytes - taken) / line_bytes * line_bytes;
  if (whole > 0) HWY_DYNAMIC_DISPATCH(StreamCopies)(destination + taken, &next, 1, whole);
  if (taken + whole < bytes) std::memcpy(line_.data(), line_of(next).data(), bytes - taken - whole);
}

void LineWriter::write_copies(std::byte* destination, std::span<const std::uint64_t> words, std::size_t bytes) {
  const bool whole_lines =
      reinterpret_cast<std::uintptr_t>(destination) % line_bytes == 0 && bytes % line_bytes == 0 && bytes > 0;
  if (caching_ == Caching::streamed && whole_lines && !words.empty()) {
    if (destination != next_) put_begun_line();
    HWY_DYNAMIC_DISPATCH(StreamCopies)(destination, words.data(), words.size(), bytes);
    next_ = destination + words.size() * bytes;
    start_ = 0;
    return;
  }
  for (const std::uint64_t word : words) {
    write_copies(destination, word, bytes);
    destination += bytes;
  }
}

void LineWriter::finish() {
  if (caching_ == Caching::kept) return;
  put_begun_line();
  next_ = nullptr;
  hwy::FlushStream();
}

}  // namespace sextant
#endif
