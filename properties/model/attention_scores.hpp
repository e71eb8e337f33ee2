#pragma once

#include <cstdint>

#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_case.hpp"

namespace sextant {

/// Fills from one_channel_scores on, and most of those below where operations round to 16 bits: by their rest by
/// one_channel_kinds a few keys count, or one has half of the weight; else all keys count. Where the claim has a
/// softcap, one kind has scores beyond it.
inline constexpr std::int64_t one_channel_kinds = 4;
inline constexpr std::int64_t beyond_cap = 0;
inline constexpr std::int64_t few_keys = 1;
inline constexpr std::int64_t half_for_one = 3;

/// Fills below latest_key_wins that no kind has: all scores are about -24576, or as far below 0 as float16 holds their
/// products, below finite numbers that masks may have; and, where products of 16-bit vectors are not rounded to 16
/// bits, products beyond float16's range, rising from key to key.
inline constexpr std::int64_t below_masks = 580;
inline constexpr std::int64_t below_masks_count = 10;
inline constexpr std::int64_t beyond_float16 = 590;

/// One of those fills, of that kind.
inline std::int64_t one_channel_fill(std::int64_t number, std::int64_t kind) {
  return one_channel_scores + one_channel_kinds * (number % 40) + kind;
}

/// The sinks of a case: of some heads about as much as all keys of score 0 together, of the others as one.
Tensor drawn_sinks(const Spec& spec, const AttentionCase& request, std::int64_t fill);

/// Gives a case of drawn queries and keys scores of the kind that question.hpp tells of its fill.
void shape_scores(AttentionCase& request, const Spec& spec, std::int64_t fill);

}  // namespace sextant
