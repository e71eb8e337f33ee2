#pragma once

#include <string>
#include <vector>

#include "properties/identify/biases/asked_biases.hpp"
#include "properties/verdict/diagnosis.hpp"

namespace sextant::identify {

/// Biases that are the claim's but for one thing.
struct OtherBiasValue {
  std::string words;  ///< what biases are: "are those of the key before"; or a sentence
  bool is_sentence() const { return !words.starts_with("are "); }
  BiasValue value;
  DiagnosedStage stage = DiagnosedStage::other;
};

/// Those that are tried, likeliest first. Where positions or distances are clamped or wrap is taken from the wrong
/// cells that are nearest.
std::vector<OtherBiasValue> other_bias_values(const AskedBiases& asked);

}  // namespace sextant::identify
