// What a call asks of the kernels: where vectors lie, which channels form a pair and which stay as they are, whether
// results go past the caches, and how tokens and heads are divided into units of work. Nothing is computed here; the
// kernels begin in kernels/units-inl.h.

#include "lib/rope/job.hpp"

#include <omp.h>

#include <algorithm>

namespace sextant {
namespace {

// What is not turned, as at most two moves, in channels from the first that may turn. Under prefix: the channels behind
// the turned ones. Under suffix: those before them. Under spread: the first and second channels of the standing pairs,
// which go from one pairing's places to the other's.
std::array<Move, 2> moves_of(const Rope& encoding, const RopePass& pass) {
  if (encoding.rotary_layout == RotaryLayout::prefix) {
    return {Move{encoding.rotary_dim, 1, encoding.rotary_dim, 1, encoding.head_dim - encoding.rotary_dim}, Move{}};
  }
  if (encoding.rotary_layout == RotaryLayout::suffix) {
    const std::int64_t before = first_rotary_channel(encoding);
    return {Move{-before, 1, -before, 1, before}, Move{}};
  }
  const std::int64_t from_pair = pairs(encoding);
  const std::int64_t count = encoding.head_dim / 2 - from_pair;
  if (pass.in == Pairing::interleaved && pass.out == Pairing::interleaved)
    return {Move{2 * from_pair, 1, 2 * from_pair, 1, 2 * count}, Move{}};
  const Channels from = channels_of_pair(encoding, pass.in, from_pair);
  const Channels to = channels_of_pair(encoding, pass.out, from_pair);
  const std::int64_t to_step = pass.out == Pairing::half ? 1 : 2;
  const std::int64_t from_step = pass.in == Pairing::half ? 1 : 2;
  return {Move{to.first, to_step, from.first, from_step, count},
          Move{to.second, to_step, from.second, from_step, count}};
}

ChannelPlaces places_of(const Rope& encoding, const RopePass& pass, bool in_place) {
  const bool same_places = pass.in == pass.out || encoding.rotary_layout == RotaryLayout::suffix;
  const auto moves = in_place && same_places ? std::array<Move, 2>{} : moves_of(encoding, pass);
  const bool overwrites = in_place && pass.in != pass.out;
  return {pass.in, pass.out, rotary_width(encoding) / 2, moves,
          overwrites ? encoding.head_dim - first_rotary_channel(encoding) : 0};
}

// From the start of a head to the first channel that may turn.
std::size_t bytes_before(const Rope& encoding, Dtype dtype) {
  return static_cast<std::size_t>(first_rotary_channel(encoding)) * size_of(dtype);
}

// Results that are larger than the caches and written apart from x pass by them, since stores of lines that are not
// there would first read them: if heads and both halves of them begin with a line, all vectors are parts of one.
Caching caching_of_results(const Rope& encoding, const RopePass& pass, bool in_place, const Heads& y) {
  if (in_place) return Caching::kept;
  const auto element = static_cast<std::int64_t>(size_of(y.dtype));
  const auto is_whole_lines = [&](std::int64_t elements) {
    return elements * element % static_cast<std::int64_t>(LineWriter::line_bytes) == 0;
  };
  const auto start = reinterpret_cast<std::uintptr_t>(y.data) + bytes_before(encoding, y.dtype);
  const bool on_lines = start % LineWriter::line_bytes == 0 && (y.batch == 1 || is_whole_lines(y.batch_stride)) &&
                        (y.tokens == 1 || is_whole_lines(y.token_stride)) &&
                        (y.heads == 1 || is_whole_lines(y.head_stride)) &&
                        (pass.out == Pairing::interleaved || is_whole_lines(rotary_width(encoding) / 2));
  return on_lines ? caching_of(y.batch * y.tokens * y.heads * y.head_dim * element) : Caching::kept;
}

// A decoding step has few tokens: its heads are shared out too. Where heads are set aside and there is more than one
// tile of frequencies, each is a unit of its own.
std::int64_t heads_per_row_of(const ConstHeads& x, const ChannelPlaces& places, std::size_t pairs) {
  if (places.set_aside > 0 && pairs > rope_tile_pairs) return 1;
  const std::int64_t threads = omp_get_max_threads();
  return x.batch * x.tokens >= 4 * threads ? x.heads : (x.heads + threads - 1) / threads;
}

// A row in double-double by itself takes ten times what it takes to turn one, as for many heads; another one is quick.
std::int64_t heads_per_row_of(const Rows& table) { return table.dtype == Dtype::float64 ? elements_per_thread : 0; }

}  // namespace

PairTurns::PairTurns(const RopePlan& of_pairs)
    : frequencies(&of_pairs.frequencies),
      steps(&of_pairs.steps),
      factor(of_pairs.factor),
      plan(&of_pairs),
      axes(nullptr),
      powers(nullptr) {}

PairTurns::PairTurns(const RopePlan& of_pairs, const PairAxes& axes_of_pairs) : PairTurns(of_pairs) {
  axes = &axes_of_pairs;
}

PairTurns::PairTurns(const FrequencyPieces& of_pairs, const StepRotations& steps_with_powers,
                     const PairPowers& powers_of_pairs)
    : frequencies(&of_pairs),
      steps(&steps_with_powers),
      factor{1, 0, Ratio{1, 1}},
      plan(nullptr),
      axes(nullptr),
      powers(&powers_of_pairs) {}

RopePass forward_pass(const Rope& encoding) { return {encoding.pairing, encoding.output_pairing, encoding.direction}; }

RopePass backward_pass(const Rope& encoding) {
  const bool clockwise = encoding.direction == Direction::clockwise;
  return {encoding.output_pairing, encoding.pairing, clockwise ? Direction::counterclockwise : Direction::clockwise};
}

RopeJob::RopeJob(const PairTurns& turns, const Rope& encoding, const RopePass& pass, Rounding rounding,
                 const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y)
    : dtype(x.dtype),
      y_dtype(y.dtype),
      memory{x.data + bytes_before(encoding, x.dtype),
             {x.batch_stride, x.token_stride, x.head_stride},
             y.data + bytes_before(encoding, y.dtype),
             {y.batch_stride, y.token_stride, y.head_stride},
             caching_of_results(encoding, pass, x.data == y.data, y),
             x.batch,
             x.tokens,
             x.heads},
      channels(places_of(encoding, pass, x.data == y.data)),
      rows{turns,
           pass.direction,
           rounding,
           positions.data(),
           x.batch * x.tokens,
           heads_per_row_of(x, channels, turns.frequencies->pairs())} {}

TableJob::TableJob(const PairTurns& turns, std::span<const std::int64_t> positions, const Rows& cos_rows,
                   const Rows& sin_rows)
    : rows{turns,
           Direction::counterclockwise,
           Rounding::certified,
           positions.data(),
           std::ssize(positions),
           heads_per_row_of(cos_rows)},
      cos(cos_rows),
      sin(sin_rows) {}

int threads_worth(std::int64_t units, std::int64_t elements) {
  const std::int64_t worth = std::max<std::int64_t>(1, elements / elements_per_thread);
  return static_cast<int>(std::min<std::int64_t>({worth, units, omp_get_max_threads()}));
}

}  // namespace sextant
