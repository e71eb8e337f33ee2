#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/fourier/waiting_lines.hpp"
#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/table_rows.hpp"

// How a tile's rows go past the caches while the next tile is computed. A core has room for some dozens of streaming
// stores on their way, and stands still behind a tile's, where they come all at once.
//
//   1. Rows side by side are made in a buffer whose lines are those of the destination.
//   2. Whole lines are left there to whoever computes what comes next, to be streamed a few at a time.
//   3. What is left of them is streamed before the buffer is used again; the line that was begun moves to its start.
//
// Where rows have gaps between them, or are kept in the caches, a LineWriter takes them at once. Bits are moved, not
// computed.

namespace sextant {

class RowStream {
 public:
  /// For rows of `out` from `first` on, up to `most` at a time, with room for `spare` bytes behind them.
  RowStream(LineWriter& writer, const Rows& out, std::int64_t first, std::int64_t most, std::size_t spare)
      : writer_(writer),
        out_(out),
        row_(first),
        delays_(writer.caching() == Caching::streamed && out.row_stride == out.width),
        start_(delays_ ? reinterpret_cast<std::uintptr_t>(row_of(out, first)) % line : 0),
        filled_(start_),
        buffer_((line + static_cast<std::size_t>(most) * row_bytes() + spare) / line + 1) {}

  std::size_t row_bytes() const { return static_cast<std::size_t>(out_.width) * size_of(out_.dtype); }

  /// Lines that may be streamed meanwhile, in their order.
  WaitingLines& waiting() { return waiting_; }

  /// Where the next rows are to be made. No line is waiting then.
  std::byte* room() {
    writer_.write(waiting_.to, waiting_.from, waiting_.left);
    waiting_ = {};
    if (whole_ > 0) std::memmove(bytes(), bytes() + whole_, filled_ - whole_);
    filled_ -= whole_;
    whole_ = 0;
    return bytes() + filled_;
  }

  /// Hands on the rows at room().
  void put(std::int64_t rows) {
    std::byte* const destination = row_of(out_, row_);
    row_ += rows;
    if (!delays_) {
      const std::size_t together = out_.row_stride == out_.width ? static_cast<std::size_t>(rows) : 1;
      for (std::size_t row = 0; row < static_cast<std::size_t>(rows); row += together)
        writer_.write(row_of(out_, row_ - rows + static_cast<std::int64_t>(row)), bytes() + row * row_bytes(),
                      together * row_bytes());
      return;
    }
    // The first line may begin with what belongs to others.
    std::byte* const first_line = destination - filled_;
    filled_ += static_cast<std::size_t>(rows) * row_bytes();
    whole_ = filled_ / line * line;
    if (whole_ == 0) return;
    if (start_ > 0) std::memcpy(first_line + start_, bytes() + start_, line - start_);
    const std::size_t begun = start_ > 0 ? line : 0;
    start_ = 0;
    waiting_ = {bytes() + begun, first_line + begun, whole_ - begun};
  }

  /// To be called after the last rows, before the LineWriter's own.
  void finish() {
    room();
    if (delays_ && filled_ > start_)
      std::memcpy(row_of(out_, row_) - (filled_ - start_), bytes() + start_, filled_ - start_);
  }

 private:
  static constexpr std::size_t line = LineWriter::line_bytes;
  struct alignas(line) Line {
    std::array<std::byte, line> bytes;
  };

  std::byte* bytes() { return buffer_.front().bytes.data(); }

  LineWriter& writer_;
  const Rows& out_;
  std::int64_t row_;  // the next one
  bool delays_;
  std::size_t start_;      // of the buffer's first line, where the stream begins
  std::size_t filled_;     // bytes of the buffer, those before start_ too
  std::size_t whole_ = 0;  // of these, those of lines that were left waiting
  WaitingLines waiting_;
  std::vector<Line> buffer_;
};

}  // namespace sextant
