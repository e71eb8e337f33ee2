#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/spec/rope.hpp"
#include "properties/identify/rotations/frequency_format.hpp"

namespace sextant::identify {

/// The frequencies of a call, [pairs], how long it was (the largest position + 1), and what it multiplied pairs by.
struct FrequencyList {
  std::int64_t length = 0;
  std::vector<MeasuredTurn> turns;
  Range factor;
};

/// A claim whose frequencies are those that were measured, within what the measurement leaves open.
struct RuleFit {
  Rope rope;
  FrequencyFormat format = FrequencyFormat::float32;
  int digits = 0;         ///< of all its parameters together: the simplest claim has the fewest
  bool is_pinned = true;  ///< whether the data tell its parameters from others as round
  /// whether others of its family (family_text) are as likely: it has not the values of models in use
  bool is_one_of_many = false;
  double off = 0;      ///< the worst frequency, in units of what is left open
  std::string remark;  ///< what a person should know of its parameters; may be empty
  std::string json;    ///< of the rope, by which fits are told apart
};

/// What is to be explained: the frequencies in calls of different lengths, the shortest first, one list where they do
/// not depend on the length; the greatest length that has the first list's; and whose length it is.
struct RopeSeen {
  std::vector<FrequencyList> lists;
  std::optional<std::int64_t> switching_length;
  LengthScope scope = LengthScope::call;
  RopeScaling claimed = {};  ///< the claim's rule, which is the answer where it fits, its base being the layout's
};

/// Which other parameters of its rule compute the same, in words: "rope_scaling llama3 with any
/// original_max_position_embeddings L, low_freq_factor L / 3200 and high_freq_factor L / 1142.857"; empty where none
/// do.
std::string family_text(const Rope& rope);

/// Every known rule with parameters under which a rope is what was seen; the simplest first. Empty where none fits.
/// `layout` has the pairs; a field that is not seen (one pair has no base) it keeps.
std::vector<RuleFit> fitting_rules(const Rope& layout, const RopeSeen& seen);

}  // namespace sextant::identify
