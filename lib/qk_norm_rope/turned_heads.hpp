#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/kernels/line_writer.hpp"
#include "lib/numeric/dtype.hpp"
#include "lib/spec/channels.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

/// Where the channels of pairs are: pair i has first + i step and second + i step, step 1, or 2 where second is
/// first + 1.
struct EvenPairs {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t step = 1;
};

/// Channels that do not turn, from the input's places to the output's, `count` of them side by side.
struct UnturnedRun {
  std::int64_t to;
  std::int64_t from;
  std::int64_t count;
};

/// What all heads of a call share. Gains are what normalized channels are multiplied by, of magnitude 2^200 at most.
struct HeadNorm {
  HeadNorm(const Rope& encoding, double epsilon_under_root, std::span<const double> gains_of_channels);

  std::int64_t head_dim;
  double epsilon;
  std::vector<double> gains;        ///< of each channel
  std::vector<double> first_gains;  ///< of the first channel of each pair
  std::vector<double> second_gains;
  EvenPairs from;
  EvenPairs to;
  std::vector<UnturnedRun> unturned;
};

/// The heads of one token. Strides in bytes. `sin` has the rotation's sense; both lists have an entry for each pair, of
/// magnitude 2^200 at most.
struct TokenHeads {
  Dtype x_dtype;
  const std::byte* x;
  std::int64_t x_stride;
  Dtype y_dtype;
  std::byte* y;
  std::int64_t y_stride;
  std::int64_t heads;
  std::span<const double> cos;
  std::span<const double> sin;
};

/// Memory that the heads of a token are turned in; one thread's.
class HeadBuffers {
 public:
  HeadBuffers(std::int64_t head_dim, std::int64_t heads);

  std::byte* elements() { return elements_.data(); }
  /// One for each head, filled up to whole vectors.
  std::span<double> roots() { return roots_; }

 private:
  std::vector<std::byte> elements_;
  std::vector<double> roots_;
};

/// Normalizes and turns each head and hands it on to the writer: in double, each operation rounded in the order that
/// turned_heads.cpp states, and each result rounded once. A head whose sum of squares or inverse root is not finite is
/// left to `other(head)`, which writes it. On the instruction set in use, with the same bits on each.
void turn_heads(const HeadNorm& norm, const TokenHeads& token, HeadBuffers& buffers, LineWriter& writer,
                const std::function<void(std::int64_t head)>& other);

}  // namespace sextant
