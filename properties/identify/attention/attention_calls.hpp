#pragma once

#include <cstdint>
#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/kinds_of_calls.hpp"
#include "properties/model/attention_case.hpp"

namespace sextant::identify {

/// Tokens of usual calls, and of long ones: no multiple of a tile's width, and odd.
inline constexpr std::int64_t short_call = 12;
inline constexpr std::int64_t long_call = 165;
inline constexpr std::int64_t most_heads_of_long = 2;

/// Batch rows of usual calls, and of those of more.
inline constexpr std::int64_t usual_rows = 2;
inline constexpr std::int64_t more_rows = 5;

/// The kinds of calls that attention is told by.
enum class AskedAs {
  usual,
  lengthy,
  single,  // of one token
  pair,    // of two
  fine,    // of vectors whose digits 16 bits do not hold
  channels,
  sharp,
  low,
  lower,  // scores are several times as far below 0
  large,
  wide,  // products of queries and keys are beyond float16's range
  great,
  blank,
  rows,  // of more batch rows than usual calls have
  padded,
  padded_rows,  // of several rows, the first of which is neither the longest nor the shortest
  step,
  short_step,          // of one query
  pair_step,           // of two
  long_step,           // of more keys than a window has
  long_short_step,     // of one query over those
  lengthy_step,        // of many keys
  lengthy_short_step,  // of one query over those
  padded_step,
  padded_rows_step,
  padded_short_step,  // of one query, over rows with padding
  padded_pair_step,   // of two
  padded_lengthy,     // of many tokens, many of which are padding
  padded_lengthy_step,
  far,
  near_and_far,
  far_and_near,
  far_step,
  far_short_step,  // of one query
  scaled,
  scaled_step,
  scaled_short_step  // of one
};

/// Each of them, in the order in which they are asked.
inline constexpr AskedAs all_calls[] = {AskedAs::usual,
                                        AskedAs::lengthy,
                                        AskedAs::single,
                                        AskedAs::pair,
                                        AskedAs::fine,
                                        AskedAs::channels,
                                        AskedAs::sharp,
                                        AskedAs::large,
                                        AskedAs::low,
                                        AskedAs::great,
                                        AskedAs::wide,
                                        AskedAs::blank,
                                        AskedAs::rows,
                                        AskedAs::padded,
                                        AskedAs::padded_rows,
                                        AskedAs::step,
                                        AskedAs::short_step,
                                        AskedAs::pair_step,
                                        AskedAs::long_step,
                                        AskedAs::long_short_step,
                                        AskedAs::lengthy_step,
                                        AskedAs::lengthy_short_step,
                                        AskedAs::padded_step,
                                        AskedAs::padded_rows_step,
                                        AskedAs::padded_short_step,
                                        AskedAs::padded_pair_step,
                                        AskedAs::far,
                                        AskedAs::near_and_far,
                                        AskedAs::far_and_near,
                                        AskedAs::far_step,
                                        AskedAs::far_short_step,
                                        AskedAs::scaled,
                                        AskedAs::scaled_step,
                                        AskedAs::scaled_short_step,
                                        AskedAs::lower,
                                        AskedAs::padded_lengthy,
                                        AskedAs::padded_lengthy_step};

/// An ordinary whole call, whose scores are about 1 apart so that every key counts, and whose positions are no places;
/// other vectors for each drawing.
AttentionCase ordinary_case(const Spec& claim, std::int64_t tokens, std::int64_t batch, std::uint64_t drawing = 7);

/// What is asked of each kind; nothing where the claim has none.
std::optional<AttentionCase> case_of(const Spec& claim, AskedAs call, std::uint64_t drawing = 7);

/// How many queries it has, and whether it has padding.
KindOfCall kind_of(AskedAs call);

/// The same call with so many queries, with padding or without; nothing where a row has too few tokens for it.
std::optional<AttentionCase> case_of_kind(const Spec& claim, AskedAs call, const KindOfCall& kind,
                                          std::uint64_t drawing = 7);

/// How many heads of such a call are judged.
std::int64_t heads_of(AskedAs call);

/// A whole call of so many rows with padding of their own, as AskedAs::padded_rows has them.
std::optional<AttentionCase> padded_call_of(const Spec& claim, std::int64_t rows, std::uint64_t drawing);

/// Padding on one side of the first of two rows, of so many tokens.
std::optional<AttentionCase> padded_by(const Spec& claim, PaddedSide side, std::int64_t count);

/// The same of 3 tokens, in a call of such a kind; nothing where a row has too few tokens for it.
std::optional<AttentionCase> padded_by(const Spec& claim, PaddedSide side, const KindOfCall& kind);

/// So many tokens of padding on one side of the first of two long rows, with so many queries; nothing where there are
/// too few tokens for it.
std::optional<AttentionCase> lengthy_padded_by(const Spec& claim, PaddedSide side, std::int64_t count,
                                               std::int64_t queries);

/// Puts other keys and values in the place of the zeros that padding is.
void fill_padding(AttentionCase& request);

/// A step of so many queries, at most 3, so far in its sequence that indices are beyond the length from which queries
/// are scaled, at three times their positions where the claim reaches so far.
std::optional<AttentionCase> far_step(const Spec& claim, const QueryScale& scale, std::int64_t queries);

/// The whole call of as many tokens, where one so long may be asked.
std::optional<AttentionCase> far_call(const Spec& claim, const QueryScale& scale);

}  // namespace sextant::identify
