#pragma once

#include <cstdint>
#include <vector>

#include "attack/cases/case.hpp"
#include "attack/numbers/random.hpp"

namespace sextant::attack {

// What every way of constructing cases draws from: encodings, positions, extents, memory and elements.

inline constexpr std::int64_t furthest = std::int64_t{1} << 53;

/// Parameters as models have them, or all that a spec allows.
enum class Taste { usual, exotic };

/// An even width of some encoding; `most` is a power of 2. Multiples of vectors' widths, numbers beside those, tiles of
/// 256 and 512 pairs.
std::int64_t draw_width(Random& random, std::int64_t most);

/// Beside a power of 2, small, at an end, of either sign, or anything; within +-limit.
std::int64_t draw_position(Random& random, std::int64_t limit = furthest);

/// In sequence, with gaps, backwards, repeated or at random.
std::vector<std::int64_t> draw_positions(Random& random, std::int64_t count, std::int64_t limit = furthest);

/// How many rows or tokens: 1, 2, 3, 4, multiples of 127 and of 64 and their neighbours, or some thousand, as far as
/// `most` allows.
std::int64_t draw_count(Random& random, std::int64_t most);

double draw_base(Random& random, Taste taste);
/// With whole positions or real ones, of any step.
Sinusoidal draw_sinusoidal(Random& random, Taste taste, std::int64_t most_width = 1024);
/// Steps of real positions, or 1 of whole ones.
PositionGrid draw_grid(Random& random);
/// Makes the width and the shift of frequencies fit each other after either was changed.
void keep_in_domain(Sinusoidal& encoding);
SinusoidalNd draw_sinusoidal_nd(Random& random, Taste taste, std::int64_t most_width);
/// With frequencies of its own and positions as they are; irrational angles unless all angles are whole fractions of a
/// turn.
Fourier draw_ladder(Random& random);
/// Under the prefix layout, and any scaling rule but `proportional`, or spread under `default` or `proportional`. With
/// whole positions or, where the rule does not look at lengths, real ones.
Rope draw_rope(Random& random, Taste taste, std::int64_t most_width = 256);
/// The same without a scaling rule.
Rope draw_plain_rope(Random& random, Taste taste, std::int64_t most_width = 256);
/// YaRN without truncation, or Llama 3's rule, with ends that are adjacent doubles or nearly so, most often around a
/// pair.
Rope draw_sharp_rope(Random& random, std::int64_t most_width = 64);
RopeNd draw_rope_nd(Random& random, Taste taste);

/// Where coordinates are normalized they reach half as far.
void keep_in_domain(const RopeNd& encoding, std::vector<std::int64_t>& positions);
Xpos draw_xpos(Random& random, Taste taste);

/// Ordinary numbers, powers of two, any bits that are finite, zeros, infinities and NaN, subnormal numbers, or the
/// largest.
enum class Kind { normal, powers, any_finite, zeros, specials, subnormal, largest };
Kind draw_kind(Random& random);
Bits draw_element(Random& random, const ElementFormat& format, Kind kind);
std::vector<Bits> draw_elements(Random& random, Dtype dtype, std::int64_t count);

Spec spec_of(const Encoding& encoding, Dtype dtype);

/// A case of a table: threads and memory drawn too.
Case table_case(Random& random, const Encoding& encoding, Dtype dtype, std::vector<std::int64_t> positions);
/// The same where every axis meets these positions, position_offset included; none where no position is left that a
/// spec allows.
std::vector<Case> every_axis_at(Random& random, const SinusoidalNd& encoding, Dtype dtype,
                                std::vector<std::int64_t> positions);
std::vector<Case> every_axis_at(Random& random, const Fourier& encoding, Dtype dtype,
                                std::vector<std::int64_t> positions);
Case range_case(Random& random, const Sinusoidal& encoding, Dtype dtype, const Range& range);
/// A rotation of `heads` heads: extents, strides, place and direction drawn; one token for each position. Elements are
/// still to be given.
Case rotation_case(Random& random, const Encoding& encoding, Dtype dtype, std::vector<std::int64_t> positions,
                   std::int64_t heads);

/// Elements in the answer's vectors, of all the call.
std::int64_t elements_of_rotation(const Case& example, std::int64_t head_dim);

}  // namespace sextant::attack
