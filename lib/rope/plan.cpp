#include "lib/rope/plan.hpp"

#include "lib/kernels/targets.hpp"
#include "lib/kernels/unit_circle.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {
namespace {

const Rope& checked(const Rope& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  target_in_use();
  return encoding;
}

}  // namespace

RopePlan::RopePlan(const Rope& rope, std::int64_t length_of_calls)
    : encoding(rope),
      length(length_of_calls),
      frequencies(rope_turns(rope, length_of_calls)),
      steps(frequencies),
      factor(attention_factor(rope)) {}

RopePlans::RopePlans(const Rope& encoding) : plan_(checked(encoding), 1) {
  // Dynamic scaling has a plan for each length, longrope one for all that are longer.
  if (const auto* longrope = std::get_if<LongropeScaling>(&encoding.rope_scaling))
    beyond_.emplace(encoding, longrope->original_max_position_embeddings + 1);
  unit_circle();  // its constants are part of the set-up
}

const RopePlan& RopePlans::for_length(std::int64_t length, std::optional<RopePlan>& own) const {
  const auto limit = length_limit(plan_.encoding.rope_scaling);
  if (!limit || length <= *limit) return plan_;
  if (beyond_) return *beyond_;
  return own.emplace(plan_.encoding, length);
}

}  // namespace sextant
