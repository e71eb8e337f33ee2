#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "properties/model/model.hpp"

namespace sextant {

/// From this fill on questions have meanings of their own (question.hpp).
inline constexpr std::int64_t plain_fills = one_channel_scores;

/// What one module is asked for call by call where a program generates.
enum class Sequence : std::int64_t {
  none,
  decode,           ///< a prompt, then token by token
  chunked_prefill,  ///< the prompt in chunks, then whole
  speculative,      ///< some tokens ahead, back to the last that was accepted, and on
  growing,          ///< from one position 1, 2, 4, ... times as many tokens, then as many as at first
  long_and_short,   ///< few tokens, thousands, few again elsewhere, and more thousands
  same_ends,        ///< the same first and last position, and others in between
  batches,          ///< one batch row, four, two, one, three
  after_error,      ///< positions beyond the claim between others
  after_empty,      ///< no tokens between others
  other_weights,    ///< the same positions under weights that share one value, or all but their order; of lookups
};
inline constexpr std::int64_t sequences = 11;

/// Which values of a weight are others than those that the question draws.
enum class OtherWeight : std::int64_t { none, all_but_first, all_but_middle, all_but_last, in_reverse };

/// One of its calls.
struct SequencedCall {
  Question question;
  bool is_beyond = false;  ///< whether all its positions are the first beyond the claim
  bool is_empty = false;   ///< whether it has no tokens
  OtherWeight weight = OtherWeight::none;

  bool may_be_refused() const { return is_beyond || is_empty; }
};

/// "3 tokens from position 5 in another order in 2 batch rows".
std::string text_of(const Question& question, const Spec& spec);
/// The same, or that they are beyond the claim.
std::string text_of(const SequencedCall& call, const Spec& spec);

/// The calls of a sequence that begins with `tokens` tokens at `position`, as far as they are calls of the encoding.
std::vector<SequencedCall> calls_of(Sequence sequence, const EncodingModel& model, std::int64_t position,
                                    std::int64_t tokens, std::int64_t fill);

/// The call itself.
Call call_of(const EncodingModel& model, const SequencedCall& call);

}  // namespace sextant
