// What depends on an encoding and a length alone, made once: frequencies, the rotations of small steps and the
// attention factor. Lengths up to the one that a scaling rule names share one plan; others have their own.

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
  return encoding;
}

std::vector<Turns> turns_of(const Ladders& ladders, std::int64_t length) {
  std::vector<std::vector<Turns>> of_ladders;
  of_ladders.reserve(ladders.ladders.size());
  for (const Ladder& ladder : ladders.ladders) of_ladders.push_back(rope_turns(ladder, length));
  std::vector<Turns> turns;
  turns.reserve(ladders.places.size());
  for (const auto& [ladder, index] : ladders.places)
    turns.push_back(of_ladders[static_cast<std::size_t>(ladder)][static_cast<std::size_t>(index)]);
  return turns;
}

}  // namespace

RopePlan::RopePlan(const Rope& head, const Ladders& of_pairs, std::int64_t length_of_calls)
    : encoding(head),
      ladders(of_pairs),
      length(length_of_calls),
      frequencies(turns_of(of_pairs, length_of_calls)),
      steps(frequencies),
      factor(attention_factor(head, length_of_calls)),
      exact_turns(of_pairs) {}

RopePlans::RopePlans(const Rope& encoding) : RopePlans(checked(encoding), ladders_of(encoding)) {}

RopePlans::RopePlans(const Rope& head, const Ladders& ladders) : plan_(head, ladders, 1) {
  target_in_use();
  // Dynamic scaling has a plan for each length, longrope one for all that are longer.
  if (const auto* longrope = std::get_if<LongropeScaling>(&head.rope_scaling))
    beyond_.emplace(head, ladders, longrope->original_max_position_embeddings + 1);
  unit_circle();  // its constants are part of the set-up
}

const RopePlan& RopePlans::for_length(std::int64_t length, std::optional<RopePlan>& own) const {
  const auto limit = length_limit(plan_.encoding.rope_scaling);
  if (!limit || length <= *limit) return plan_;
  if (beyond_) return *beyond_;
  return own.emplace(plan_.encoding, plan_.ladders, length);
}

}  // namespace sextant
