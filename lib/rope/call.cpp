#include "lib/rope/call.hpp"

#include <omp.h>

#include <algorithm>
#include <array>

namespace sextant {
namespace {

// Elements below which a second thread costs more than it saves.
constexpr std::int64_t elements_per_thread = 1 << 14;

// What is not turned, as at most two moves. Under prefix: the channels behind the turned ones. Under spread: the first
// and second channels of the standing pairs, which go from one pairing's places to the other's.
std::array<Move, 2> moves_of(const Rope& encoding, Pairing in, Pairing out) {
  if (encoding.rotary_layout == RotaryLayout::prefix) {
    return {Move{encoding.rotary_dim, 1, encoding.rotary_dim, 1, encoding.head_dim - encoding.rotary_dim}, Move{}};
  }
  const std::int64_t from_pair = pairs(encoding);
  const std::int64_t count = encoding.head_dim / 2 - from_pair;
  if (in == Pairing::interleaved && out == Pairing::interleaved)
    return {Move{2 * from_pair, 1, 2 * from_pair, 1, 2 * count}, Move{}};
  const Channels from = channels_of_pair(encoding, in, from_pair);
  const Channels to = channels_of_pair(encoding, out, from_pair);
  const std::int64_t to_step = out == Pairing::half ? 1 : 2;
  const std::int64_t from_step = in == Pairing::half ? 1 : 2;
  return {Move{to.first, to_step, from.first, from_step, count},
          Move{to.second, to_step, from.second, from_step, count}};
}

}  // namespace

RopeJob job_of(const Rope& encoding, Pairing in, Pairing out, Direction direction, const ConstHeads& x,
               std::span<const std::int64_t> positions, const Heads& y) {
  const bool in_place = x.data == y.data;
  const bool moved = in_place && in != out;
  const std::int64_t turned_width =
      encoding.rotary_layout == RotaryLayout::prefix ? encoding.rotary_dim : encoding.head_dim;
  const std::int64_t tokens = x.batch * x.tokens;
  const std::int64_t threads = omp_get_max_threads();
  // A decoding step has few tokens: its heads are shared out too.
  std::int64_t heads_per_unit = tokens >= 4 * threads ? x.heads : (x.heads + threads - 1) / threads;
  if (moved && static_cast<std::size_t>(pairs(encoding)) > rope_tile_pairs) heads_per_unit = 1;
  RopeJob job{};
  job.encoding = &encoding;
  job.dtype = x.dtype;
  job.direction = direction;
  job.positions = positions.data();
  job.tokens = x.tokens;
  job.heads = x.heads;
  job.heads_per_unit = heads_per_unit;
  job.x = x.data;
  job.x_strides = {x.batch_stride, x.token_stride, x.head_stride};
  job.y = y.data;
  job.y_strides = {y.batch_stride, y.token_stride, y.head_stride};
  job.pairing = in;
  job.output_pairing = out;
  job.half = turned_width / 2;
  job.moves = in_place && in == out ? std::array<Move, 2>{} : moves_of(encoding, in, out);
  job.set_aside = moved ? encoding.head_dim : 0;
  return job;
}

ConstHeads heads_of(const Tensor& x) {
  const std::vector<std::int64_t>& shape = x.shape;
  return {x.dtype,
          x.data.data(),
          shape[0],
          shape[1],
          shape[2],
          shape[3],
          shape[1] * shape[2] * shape[3],
          shape[2] * shape[3],
          shape[3]};
}

Heads heads_of(const Tensor& shape, std::span<std::byte> memory) {
  const ConstHeads x = heads_of(shape);
  return {x.dtype,    memory.data(),  x.batch,        x.tokens,     x.heads,
          x.head_dim, x.batch_stride, x.token_stride, x.head_stride};
}

int threads_worth(std::int64_t units, std::int64_t elements) {
  const std::int64_t worth = std::max<std::int64_t>(1, elements / elements_per_thread);
  return static_cast<int>(std::min<std::int64_t>({worth, units, omp_get_max_threads()}));
}

}  // namespace sextant
