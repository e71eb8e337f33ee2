#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"

namespace sextant::identify {

/// Some channels of an answer by what they are: "pair 14 (channels 14 and 46)", "the second members of pairs from 16
/// on", "channels that are not rotated", of codes "odd channels". Without words they are all, or all that turn.
struct NamedChannels {
  std::string words;
  bool are_many = true;
};

/// Names channels, in ascending order, not empty; nothing where they have no name.
std::optional<NamedChannels> named_channels(const Spec& spec, const std::vector<std::int64_t>& channels);

/// "16 to 31", "14", "1, 3 and 9": numbers in ascending order, as a person would list them.
std::string listed_numbers(const std::vector<std::int64_t>& numbers);

}  // namespace sextant::identify
