#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// The most tokens that any call has: more than a launch has blocks in its second dimension, 65535.
inline constexpr std::int64_t longest_call = 65537;

/// The most that a drawn call has, or a block of a sweep: extents that kernels meet, and so many values together.
inline constexpr std::int64_t longest_drawn = 8193;
inline constexpr std::int64_t most_rows = 64;
inline constexpr std::int64_t most_heads = 128;
inline constexpr std::int64_t values_of_call = std::int64_t{1} << 19;

/// The most bytes that the answer to a call has: more than 2^22 float32 values, and 65537 vectors of 128.
inline constexpr std::int64_t bytes_of_largest = std::int64_t{33} << 20;

/// Questions of accuracy with this fill or a larger one ask rotations about vectors of every magnitude.
inline constexpr std::int64_t every_magnitude = 900;

/// Those with this fill or a larger one about tokens each of its own magnitude.
inline constexpr std::int64_t tokens_of_every_magnitude = 950;

/// Of so many fills one asks lookups about a table of such values.
inline constexpr std::int64_t tables_of_every_magnitude_in = 10;
inline constexpr std::int64_t table_of_every_magnitude = 9;

/// Those with this fill, or one of the next, a placement each, about positions on several axes as texts, images and
/// films have them (gen/placement.hpp).
inline constexpr std::int64_t placed = 860;

/// Those with one of these two fills rotations of whole numbers or halves, where positions are real.
inline constexpr std::int64_t whole_numbers = 840;
inline constexpr std::int64_t half_numbers = 841;

/// That with this fill about vectors of zeros of either sign, infinities, NaN and the ends of the dtype's range.
inline constexpr std::int64_t special_values = 842;

/// That with this fill about vectors whose channels are all 1.
inline constexpr std::int64_t constant_vectors = 880;

/// Those with this fill or a larger one, below every_magnitude, about the same vector in every head of a token.
inline constexpr std::int64_t heads_alike = 881;

/// Attention has other scores for fills from each of these to the next. Drawn vectors alone have scores some tens
/// apart, so that few keys count, far ones least.
inline constexpr std::int64_t one_channel_scores = 400;  ///< near 0, by one channel (attention_scores.hpp)
inline constexpr std::int64_t latest_key_wins = 600;     ///< rising from key to key: a masked one that is seen shows
inline constexpr std::int64_t far_from_zero = 700;       ///< 32 to 8192, or less than 0, for all keys about alike
inline constexpr std::int64_t every_key_counts = 800;    ///< for all keys about alike, some zero: each left out shows
inline constexpr std::int64_t one_key_wins = 900;  ///< one key of each head, or two alike, is 32 to 8192: far ones show

/// One call of the operation that an encoding has, whatever it is, as a few integers: encode for codes, rotate for
/// rotations, bias for biases, attend for attention. Extents that an operation lacks are ignored.
struct Question {
  std::int64_t position;  ///< of the first token; the others follow one by one, wrapping round at the claim's end
  std::int64_t tokens = 1;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t fill = 0;   ///< which vectors (gen/values.hpp)
  std::int64_t order = 0;  ///< of the positions, in questions of accuracy (gen/order.hpp)
};

/// `length` consecutive positions at once, then `count` of them from `skip` on by themselves: a shorter table (skip 0),
/// a chunk, or a single token decoded at the end (count 1).
struct Chunk {
  std::int64_t position;
  std::int64_t length;
  std::int64_t skip;
  std::int64_t count;
  std::int64_t fill = 0;
};

/// The table of a lookup: drawn values, of every magnitude for the fills above, with subnormal ones and zeros of
/// either sign.
Tensor drawn_table(Dtype dtype, std::int64_t rows, std::int64_t columns, std::int64_t fill);

/// Asks the plain call of a question (EncodingModel::call_of). @throws what operations.hpp says.
Tensor ask(Session& session, const Spec& spec, const Question& question);

/// Whether two answers are the same bit for bit: the same NaN, the same sign of zero.
bool same_bits(const Tensor& a, const Tensor& b);

/// Where two answers to a call of the spec differ first, "batch row 0, token 2, head 1, channel 5: 0.25 (0x1p-2), then
/// 0.5 (0x1p-1)"; nothing if nowhere.
std::optional<std::string> first_difference(const Spec& spec, const Tensor& a, const Tensor& b);

// Facts of a spec that its model tells (model.hpp).

/// Where positions of a spec may lie on every axis: the claim, cut to the extents of a grid.
std::int64_t last_position_of(const Spec& spec);

/// Why answers of this spec depend on the length of the call, so that parts of a call are no calls of their own;
/// nothing if they do not.
std::optional<std::string> depends_on_length(const Spec& spec);

/// Why accuracy says nothing of an encoding; nothing if it does.
std::optional<std::string> accuracy_not_stated(const Spec& spec);

// The positions of calls, [axes, batch, tokens], all inside the range of a spec's positions.

/// One by one, wrapping round at the range's end: each batch row starts 7 further on, each axis 3.
std::vector<std::int64_t> positions_of(const Spec& spec, const Question& question, std::int64_t batch);

/// Those of a chunk from `skip` on, `count` of them: consecutive along the first axis, faster along the others,
/// wrapping round at the range's end.
std::vector<std::int64_t> positions_of(const Spec& spec, const Chunk& chunk, std::int64_t skip, std::int64_t count);

/// `count` of them in no order, with repeats: each a step of its own from the first, another on each axis, wrapping
/// round at the range's end.
std::vector<std::int64_t> scattered_positions(const Spec& spec, std::int64_t first, std::int64_t count);

/// Coordinates i of positions [axes, count].
std::vector<std::int64_t> place_at(std::span<const std::int64_t> positions, std::int64_t count, std::int64_t i);

/// "5/7", "2.0078125": the position of these coordinates, as findings tell it.
std::string text_of_place(const PositionGrid& grid, std::span<const std::int64_t> place);

}  // namespace sextant
