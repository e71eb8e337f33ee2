#include "properties/identify/codes/binary_digits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"

namespace sextant::identify {
namespace {

// The values that stand for 0 and 1.
using Digits = std::array<std::optional<double>, 2>;

// Those of a channel that has a digit of positions; nothing where its values do not go by that digit.
std::optional<Digits> digits_of(std::span<const CodeRow> rows, std::int64_t channel, std::int64_t digit) {
  Digits values;
  for (const CodeRow& row : rows) {
    const double seen = row.channels[index(channel)];
    std::optional<double>& value = values[(row.place.front() >> digit) & 1];
    if (value && *value != seen) return std::nullopt;
    value = seen;
  }
  return values;
}

struct DigitOfChannel {
  std::int64_t digit;
  double zero;
  double one;
};

// The digit nearest to a channel's own that its values go by, both of which were seen; nothing where none is.
std::optional<DigitOfChannel> digit_of_channel(std::span<const CodeRow> rows, std::int64_t dim, std::int64_t channel) {
  std::vector<std::int64_t> digits{channel};
  for (std::int64_t apart = 1; apart <= dim; ++apart) {
    for (const std::int64_t digit : {channel - apart, channel + apart}) {
      if (digit >= 0 && digit < std::min<std::int64_t>(dim, 62)) digits.push_back(digit);
    }
  }
  for (const std::int64_t digit : digits) {
    const auto values = digits_of(rows, channel, digit);
    if (values && (*values)[0] && (*values)[1] && (*values)[0] != (*values)[1])
      return DigitOfChannel{digit, *(*values)[0], *(*values)[1]};
  }
  return std::nullopt;
}

std::string words_of_values(const std::string& who, std::string_view have, double zero, double one,
                            const Binary& code) {
  return fmt::format("{} {} {:g} for digit 0 and {:g} for digit 1, where the claim has {} and 1", who, have, zero, one,
                     code.normalize ? -1 : 0);
}

// All channels have their own digits, written as two other values. Of few rows some digits are not seen.
std::string words_of_one_writing(std::span<const CodeRow> rows, const Binary& code) {
  Digits all;
  for (std::int64_t channel = 0; channel < code.dim; ++channel) {
    const auto values = digits_of(rows, channel, channel);
    if (!values) return {};
    for (std::size_t digit = 0; digit < all.size(); ++digit) {
      const std::optional<double>& seen = (*values)[digit];
      if (seen && all[digit] && *seen != *all[digit]) return {};
      if (seen) all[digit] = seen;
    }
  }
  const bool is_other =
      all[0] && all[1] && *all[0] != *all[1] && (*all[0] != (code.normalize ? -1 : 0) || *all[1] != 1);
  return is_other ? words_of_values("all channels", "have", *all[0], *all[1], code) : std::string();
}

std::string words_of_run(const DigitOfChannel& seen, std::int64_t first, std::int64_t end, const Binary& code) {
  const std::string who =
      end - first == 1 ? fmt::format("channel {}", first) : fmt::format("channels {} to {}", first, end - 1);
  const std::string_view have = end - first == 1 ? "has" : "have";
  std::vector<std::string> told;
  if (const std::int64_t by = seen.digit - first; by != 0)
    told.push_back(fmt::format("{} {} the digit {} {} {} own", who, have, std::abs(by), by < 0 ? "before" : "behind",
                               end - first == 1 ? "its" : "their"));
  if (seen.zero != (code.normalize ? -1 : 0) || seen.one != 1)
    told.push_back(words_of_values(who, have, seen.zero, seen.one, code));
  return fmt::format("{}", fmt::join(told, "; "));
}

}  // namespace

std::string words_of_digits(const Spec& claim, std::span<const CodeRow> rows) {
  const auto* code = held<Binary>(claim);
  constexpr std::size_t fewest = 4;
  if (code == nullptr || rows.size() < fewest) return {};
  if (std::string words = words_of_one_writing(rows, *code); !words.empty()) return words;
  std::vector<DigitOfChannel> seen;
  for (std::int64_t channel = 0; channel < code->dim; ++channel) {
    const auto digit = digit_of_channel(rows, code->dim, channel);
    if (!digit) return {};
    seen.push_back(*digit);
  }
  const auto are_alike = [&](std::int64_t one, std::int64_t other) {
    const DigitOfChannel& a = seen[index(one)];
    const DigitOfChannel& b = seen[index(other)];
    return a.digit - one == b.digit - other && a.zero == b.zero && a.one == b.one;
  };
  std::vector<std::string> told;
  for (std::int64_t first = 0; first < code->dim;) {
    std::int64_t end = first + 1;
    while (end < code->dim && are_alike(first, end)) ++end;
    if (std::string words = words_of_run(seen[index(first)], first, end, *code); !words.empty()) told.push_back(words);
    first = end;
  }
  constexpr std::size_t most = 4;
  return told.size() > most ? std::string() : fmt::format("{}", fmt::join(told, "; "));
}

}  // namespace sextant::identify
