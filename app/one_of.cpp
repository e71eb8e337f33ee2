#include "app/one_of.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

#include "lib/spec/nearest_name.hpp"

namespace sextant {

CLI::Option* one_of(CLI::Option* option, std::vector<std::string> words) {
  const std::string shown = fmt::format("{{{}}}", fmt::join(words, ","));
  return option->check(CLI::Validator(
      [words = std::move(words)](std::string& given) -> std::string {
        if (std::ranges::find(words, given) != words.end()) return {};
        const std::vector<std::string_view> known(words.begin(), words.end());
        return fmt::format("expected one of {}, got {}{}", fmt::join(words, ", "), given, did_you_mean(given, known));
      },
      shown));
}

}  // namespace sextant
