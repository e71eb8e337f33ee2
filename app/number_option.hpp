#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sextant {

// Numbers of the command line are plain decimals: no sign where none is meant, no other base, nothing behind the last
// digit, and none that is cut to fit. CLI11's own conversion takes "-1" for 2^64 - 1, "010" for 8 and 2^70 for 2^63
// - 1.

/// The integers that an option takes, both ends included.
struct Integers {
  std::int64_t least;
  std::int64_t most;
};

/// Adds the option `name` ("--threads"), which sets `target` to an integer of the range; what is no such integer is
/// refused in one line.
CLI::Option* add_integer(CLI::App& command, const std::string& name, std::int64_t& target, Integers range,
                         const std::string& help);

/// The same for a position, which may be real: a number from -2^53 to 2^53.
CLI::Option* add_position(CLI::App& command, const std::string& name, std::optional<double>& target,
                          const std::string& help);

/// The same for an integer from 0 to 2^64 - 1.
CLI::Option* add_word(CLI::App& command, const std::string& name, std::uint64_t& target, const std::string& help);

/// Whether a number of seconds may have its unit: "90s" and "1.5m" for 90.
enum class TimeUnits { none, allowed };

/// The same for a number of seconds, from a thousandth, the finest that time-outs tell apart, to a day.
CLI::Option* add_seconds(CLI::App& command, const std::string& name, double& target, TimeUnits units,
                         const std::string& help);

}  // namespace sextant
