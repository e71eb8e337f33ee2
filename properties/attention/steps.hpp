#pragma once

#include <cstdint>

#include "properties/engine/typed_cases.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/question.hpp"

namespace sextant {

/// A call of attention that is a step: the last `queries` of its tokens ask. Of calls with padding, 0 is a whole one.
struct Step : Question {
  std::int64_t queries = 1;
  std::int64_t side = 0;  ///< a PaddedSide
};

/// Steps as programs make them in one session: a prompt, then token by token, a few speculative tokens and back,
/// chunks, many rows, caches that end at pages and behind them.
CasesOf<Step> steps();

/// The same, and whole calls, with padding.
CasesOf<Step> padded_calls();

/// The call, its padding's keys and values `padding` all over.
AttentionCase step_case_of(const Spec& spec, const Step& asked);
AttentionCase padded_case_of(const Spec& spec, const Step& asked, double padding);

}  // namespace sextant
