#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attack/numbers/element.hpp"

namespace sextant::attack {

struct Options {
  double seconds = 60;
  std::uint64_t seed = 0;
  std::vector<std::string> targets;  ///< empty: all that this machine has
  /// Only those, or all but those; empty: all.
  std::vector<std::string> encoders;
  std::vector<std::string> families;
  std::vector<std::string> skipped;
  std::vector<std::string> dtypes;
  /// One wrong bit in each answer, to see that it is found.
  bool plant = false;
};

/// Exit codes, as those of the `sextant` command: 0 nothing was wrong, 1 something was, 4 some cell was not tried or
/// some value stayed open.
inline constexpr int nothing_wrong = 0;
inline constexpr int found_wrong = 1;
inline constexpr int not_tried = 4;

/// Attacks for as long as asked and reports on standard output.
int run_campaign(const Options& options);

/// Runs one token and reports.
int replay(const std::string& token, const Options& options);

}  // namespace sextant::attack
