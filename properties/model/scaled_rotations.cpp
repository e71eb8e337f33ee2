#include "properties/model/scaled_rotations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "properties/model/questions.hpp"
#include "reference/rope.hpp"

namespace sextant {

using reference::Enclosure;

namespace {

bool steps_by_doublings(const Rope& head) {
  const auto* dynamic = std::get_if<DynamicScaling>(&head.rope_scaling);
  return dynamic != nullptr && dynamic->length_steps == LengthSteps::doublings;
}

}  // namespace

std::optional<std::string> ScaledRotationModel::depends_on_length() const {
  const auto limit = switching_length();
  if (!limit) return std::nullopt;
  return fmt::format("depends on the length of the {}: {} has other frequencies beyond {}",
                     length_scope(head_.rope_scaling) == LengthScope::call ? "call" : "batch row",
                     name_of(head_.rope_scaling), *limit);
}

std::optional<std::int64_t> ScaledRotationModel::switching_length() const {
  const auto limit = length_limit(head_.rope_scaling);
  return limit && spec().max_position > *limit ? limit : std::nullopt;
}

double ScaledRotationModel::most_stretch() const {
  reference::RopeReference oracle(head_);
  const auto at = [&](std::int64_t length) {
    return oracle.attention_factor(length, reference::first_precision).upper();
  };
  return std::max(at(0), at(spec().max_position));
}

std::vector<Question> ScaledRotationModel::first_questions() const {
  std::vector<std::int64_t> positions{gen::simplest_position(range()), range().first, range().last - 1};
  // The calls on either side of the length at which a scaling rule takes other frequencies.
  if (const auto limit = length_limit(head_.rope_scaling)) {
    for (const std::int64_t p : {*limit - 1, *limit}) {
      if (p >= range().first && p < range().last) positions.push_back(p);
    }
    // And of each one where lengths go by doublings from there.
    for (std::int64_t next = 2 * *limit; steps_by_doublings(head_) && next <= range().last; next *= 2) {
      for (const std::int64_t p : {next - 1, next}) {
        if (p >= range().first && p < range().last) positions.push_back(p);
      }
    }
  }
  std::vector<Question> questions;
  for (const std::int64_t p : positions) questions.push_back({.position = p});
  // Calls of several tokens, over those ends too: one that begins before a limit and ends behind it.
  for (const std::int64_t p : positions)
    questions.push_back({.position = p, .tokens = 3, .batch = 2, .heads = 2, .fill = 1});
  // Rows of which some end before the limit and some behind it, near it and far from it.
  if (const auto limit = switching_length()) {
    for (const std::int64_t batch : {2, 3, 4, 9, 17, 33, 64}) {
      for (const std::int64_t tokens : {std::int64_t{3}, std::min(*limit, longest_call)}) {
        for (const gen::Order order :
             {gen::Order::one_by_one, gen::Order::row_after_row, gen::Order::equal_every_three_rows}) {
          // Many rows of a long call are no other question's either.
          if (batch > 4 && tokens > 3) continue;
          const Question question{.position = std::max(*limit - tokens, range().first),
                                  .tokens = tokens,
                                  .batch = batch,
                                  .fill = 1,
                                  .order = static_cast<std::int64_t>(order)};
          if (admits(question)) questions.push_back(question);
        }
      }
    }
  }
  // Where no pair turns every value passes, whatever it is.
  if (ladders_.places.empty())
    questions.push_back({.position = positions.front(), .tokens = 3, .batch = 2, .heads = 2, .fill = special_values});
  for (const Question& question : of_kernels()) questions.push_back(question);
  // Other calls are shorter, and what a token gets in one of another length is no other question's.
  if (const Question longest{.position = positions.front(), .tokens = longest_call, .fill = 1};
      depends_on_length() && admits(longest))
    questions.push_back(longest);
  return questions;
}

// docs/proofs/extrapolation.md, step 2.
std::string ScaledRotationModel::met_beyond() const {
  constexpr reference::Precision precision{64};
  // Normalized coordinates end with the image, and without pairs there is nothing to meet.
  if (ladders_.ladders.front().extent != 0 || ladders_.places.empty()) return {};
  std::vector<reference::RopeFrequencies> ladders;
  for (const Ladder& ladder : ladders_.ladders) ladders.emplace_back(ladder.rope);
  const Enclosure trained(trained_end(), precision);
  const Enclosure reached(range().last - 1, precision);
  std::int64_t whole = 0;
  std::int64_t within = 0;
  for (const auto& [ladder, index] : ladders_.places) {
    reference::RopeFrequencies& frequencies = ladders[static_cast<std::size_t>(ladder)];
    const Enclosure step(frequencies.encoding().positions.step, precision);
    const Enclosure arc = trained * frequencies.unscaled(index, precision) * step;
    if (certainly_above(arc, Enclosure(2.0, precision) * Enclosure::pi(precision))) {
      ++whole;
    } else if (certainly_above(arc, reached * frequencies.radians(index, range().last, precision))) {
      ++within;
    }
  }
  const std::int64_t all = std::ssize(ladders_.places);
  return fmt::format(
      "of {} pairs {} go full circle within the {} positions trained, {} more stay there within the arc "
      "that they had, {} go beyond it",
      all, whole, trained_end() - range().first, within, all - whole - within);
}

}  // namespace sextant
