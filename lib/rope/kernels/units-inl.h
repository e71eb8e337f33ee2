// Goes through the units of a job, for one Highway target. Included inside HWY_NAMESPACE by a file that is compiled
// once per target.
//
//   1. A unit is heads_per_row heads of one token; a thread goes through units first to last - 1 in order.
//   2. The row of a token is filled once, tile after tile where frequencies are more than one tile, and turns all heads
//      of the unit (heads-inl.h).
//   3. A head that changes its pairing in place is set aside before any of it is written.
//   4. Channels that no frequency turns are copied where they do not stay in place.
//   5. Rows of tables are the image of the pair (1, 0), which is (a cos, a sin).
//
// Nothing is rounded here: there is nothing to prove.

#if defined(SEXTANT_LIB_ROPE_KERNELS_UNITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_ROPE_KERNELS_UNITS_INL_H_
#undef SEXTANT_LIB_ROPE_KERNELS_UNITS_INL_H_
#else
#define SEXTANT_LIB_ROPE_KERNELS_UNITS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "lib/rope/job.hpp"
#include "lib/rope/kernels/heads-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// Channels that no frequency turns: bit for bit, or rounded where y is of another dtype.
template <class Kernel>
void MoveChannels(const Move& move, const FromOf<Kernel>* x, ElementOf<Kernel>* y) {
  using Element = ElementOf<Kernel>;
  if constexpr (!std::is_same_v<FromOf<Kernel>, Element>) {
    Kernel::RoundChannels(move, x, y);
  } else if (move.to_step == 1 && move.from_step == 1) {
    if (move.count > 0) std::memcpy(y + move.to, x + move.from, static_cast<std::size_t>(move.count) * sizeof(Element));
  } else {
    for (std::int64_t k = 0; k < move.count; ++k)
      CopyElement(x + move.from + k * move.from_step, y + move.to + k * move.to_step);
  }
}

template <class Kernel, Rounding rounding, Pairing in, Pairing out>
void RotateUnits(const RopeJob& job, std::int64_t first, std::int64_t last) {
  using Element = ElementOf<Kernel>;
  using From = FromOf<Kernel>;
  constexpr std::size_t on_stack = 8192 / sizeof(From);
  From small[on_stack];
  std::vector<From> large;
  From* aside = small;
  const auto set_aside = static_cast<std::size_t>(job.channels.set_aside);
  if (set_aside > on_stack) {
    large.resize(set_aside);
    aside = large.data();
  }
  const HeadMemory& memory = job.memory;
  const std::int64_t heads_per_unit = job.rows.heads_per_row;
  const std::int64_t units_per_token = job.units_per_token();
  const auto* const x = reinterpret_cast<const From*>(memory.x);
  auto* const y = reinterpret_cast<Element*>(memory.y);
  const std::size_t pairs = job.rows.turns.frequencies->pairs();
  const auto turn_tile = [&](std::int64_t unit, std::size_t tile, const RowFor<Kernel>& row) {
    const std::int64_t token = unit / units_per_token;
    const std::int64_t head_begin = unit % units_per_token * heads_per_unit;
    const std::int64_t head_end = std::min(head_begin + heads_per_unit, memory.heads);
    const std::int64_t batch = token / memory.tokens;
    const std::int64_t in_batch = token % memory.tokens;
    const From* const x_token = x + batch * memory.x_strides[0] + in_batch * memory.x_strides[1];
    Element* const y_token = y + batch * memory.y_strides[0] + in_batch * memory.y_strides[1];
    const auto turn_heads = [&](const From* from, Element* to, std::int64_t heads) {
      from += channel_step<in> * tile;
      to += channel_step<out> * tile;
      TurnHeads<Kernel, rounding, in, out>(
          row, std::min(rope_tile_pairs, pairs - tile),
          {from, from + (in == Pairing::half ? job.channels.half : 0), memory.x_strides[2], to,
           to + (out == Pairing::half ? job.channels.half : 0), memory.y_strides[2], heads, memory.y_caching});
    };
    if (set_aside == 0)
      turn_heads(x_token + head_begin * memory.x_strides[2], y_token + head_begin * memory.y_strides[2],
                 head_end - head_begin);
    const bool moves = tile == 0 && (job.channels.moves[0].count > 0 || job.channels.moves[1].count > 0);
    if (set_aside == 0 && !moves) return;
    for (std::int64_t head = head_begin; head < head_end; ++head) {
      const From* from = x_token + head * memory.x_strides[2];
      Element* const to = y_token + head * memory.y_strides[2];
      if (set_aside > 0) {
        if (tile == 0) std::memcpy(aside, from, set_aside * sizeof(From));
        from = aside;
        turn_heads(from, to, 1);
      }
      if (!moves) continue;
      for (const Move& move : job.channels.moves) MoveChannels<Kernel>(move, from, to);
    }
  };
  RowFor<Kernel> row;
  std::int64_t token_of_row = -1;
  for (std::int64_t unit = first; unit < last; ++unit) {
    const std::int64_t token = unit / units_per_token;
    const std::int64_t head_begin = unit % units_per_token * heads_per_unit;
    const std::int64_t head_end = std::min(head_begin + heads_per_unit, memory.heads);
    if (job.hooks != nullptr) job.hooks->before(token, head_begin, head_end);
    for (std::size_t tile = 0; tile < pairs; tile += rope_tile_pairs) {
      if (token != token_of_row || pairs > rope_tile_pairs) {
        Kernel::template Fill<in, out>(job.rows, token, tile, std::min(rope_tile_pairs, pairs - tile), row);
        token_of_row = token;
      }
      turn_tile(unit, tile, row);
    }
    if (job.hooks != nullptr) job.hooks->after(token, head_begin, head_end);
  }
  if (memory.y_caching == Caching::streamed) hwy::FlushStream();
}

template <class Kernel, Rounding rounding>
void RotateUnitsOf(const RopeJob& job, std::int64_t first, std::int64_t last) {
  constexpr Pairing half = Pairing::half;
  constexpr Pairing interleaved = Pairing::interleaved;
  if (job.channels.in == half) {
    job.channels.out == half ? RotateUnits<Kernel, rounding, half, half>(job, first, last)
                             : RotateUnits<Kernel, rounding, half, interleaved>(job, first, last);
  } else {
    job.channels.out == half ? RotateUnits<Kernel, rounding, interleaved, half>(job, first, last)
                             : RotateUnits<Kernel, rounding, interleaved, interleaved>(job, first, last);
  }
}

/// Rows [first, last) of the tables: a row's own entries where the kernel has certain ones, else what the pair (1, 0)
/// is turned into.
template <class Kernel>
void WriteRows(const TableJob& job, std::int64_t first, std::int64_t last) {
  using Element = ElementOf<Kernel>;
  Element ones[rope_tile_pairs];
  Element zeros[rope_tile_pairs] = {};
  for (Element& one : ones) store(Kernel::dtype, 1, reinterpret_cast<std::byte*>(&one));
  const std::size_t pairs = job.rows.turns.frequencies->pairs();
  RowFor<Kernel> row;
  for (std::int64_t token = first; token < last; ++token) {
    Element* const cos_row = reinterpret_cast<Element*>(job.cos.data) + token * job.cos.row_stride;
    Element* const sin_row = reinterpret_cast<Element*>(job.sin.data) + token * job.sin.row_stride;
    for (std::size_t tile = 0; tile < pairs; tile += rope_tile_pairs) {
      const std::size_t count = std::min(rope_tile_pairs, pairs - tile);
      Kernel::template Fill<Pairing::half, Pairing::half>(job.rows, token, tile, count, row);
      if constexpr (requires { &Kernel::PutEntries; }) {
        const std::size_t lanes = hn::Lanes(typename Kernel::DE());
        for (std::size_t i = 0; i < count; i += lanes) {
          Element* const cos = cos_row + tile + i;
          Element* const sin = sin_row + tile + i;
          if (i + lanes <= count && Kernel::PutEntries(row, i, cos, sin)) continue;
          TurnPairs<Kernel, Rounding::certified, Pairing::half, Pairing::half>(row, i, std::min(i + lanes, count), ones,
                                                                               zeros, cos, sin);
        }
        continue;
      }
      TurnHeads<Kernel, Rounding::certified, Pairing::half, Pairing::half>(
          row, count, {ones, zeros, 0, cos_row + tile, sin_row + tile, 0, 1, Caching::kept});
    }
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
