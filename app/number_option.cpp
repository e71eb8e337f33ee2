#include "app/number_option.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "app/command.hpp"

namespace sextant {
namespace {

// The number that the whole of `text` is; nothing if it is none, or one that Number cannot hold. from_chars takes no
// sign for unsigned types, no plus, no blanks and no prefix of a base.
template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && next == end ? std::optional(number) : std::nullopt;
}

}  // namespace

CLI::Option* add_integer(CLI::App& command, const std::string& name, std::int64_t& target, Integers range,
                         const std::string& help) {
  const auto read = [name, &target, range](const std::string& text) {
    const auto number = number_in<std::int64_t>(text);
    if (!number || *number < range.least || *number > range.most) {
      throw UsageError(fmt::format("{} {}: expected an integer from {} to {}", name, text, range.least, range.most));
    }
    target = *number;
  };
  return command.add_option_function<std::string>(name, read, help);
}

CLI::Option* add_position(CLI::App& command, const std::string& name, std::optional<double>& target,
                          const std::string& help) {
  const auto read = [name, &target](const std::string& text) {
    if (text.empty()) throw UsageError(fmt::format("{}: the value is empty", name));
    const auto number = number_in<double>(text);
    if (!number || !(std::fabs(*number) <= 0x1p53))
      throw UsageError(fmt::format("{} {}: expected a number from -2^53 to 2^53", name, text));
    target = *number;
  };
  return command.add_option_function<std::string>(name, read, help);
}

CLI::Option* add_word(CLI::App& command, const std::string& name, std::uint64_t& target, const std::string& help) {
  const auto read = [name, &target](const std::string& text) {
    const auto number = number_in<std::uint64_t>(text);
    if (!number)
      throw UsageError(fmt::format("{} {}: expected an integer from 0 to {}", name, text,
                                   std::numeric_limits<std::uint64_t>::max()));
    target = *number;
  };
  return command.add_option_function<std::string>(name, read, help);
}

CLI::Option* add_seconds(CLI::App& command, const std::string& name, double& target, TimeUnits units,
                         const std::string& help) {
  const auto read = [name, &target, units](const std::string& text) {
    constexpr double least = 0.001;
    constexpr double most = 86400;
    const bool has_unit = units == TimeUnits::allowed && (text.ends_with('s') || text.ends_with('m'));
    const auto number = number_in<double>(has_unit ? text.substr(0, text.size() - 1) : text);
    const double seconds = number.value_or(0) * (has_unit && text.ends_with('m') ? 60 : 1);
    if (!number || !(seconds >= least && seconds <= most))
      throw UsageError(fmt::format("{} {}: expected seconds from {} to {}{}", name, text, least, most,
                                   units == TimeUnits::allowed ? ", as 90, 90s or 1.5m" : ""));
    target = seconds;
  };
  return command.add_option_function<std::string>(name, read, help);
}

}  // namespace sextant
