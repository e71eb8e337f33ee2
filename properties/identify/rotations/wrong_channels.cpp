#include "properties/identify/rotations/wrong_channels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "lib/spec/of.hpp"

namespace sextant::identify {
namespace {

const Rope* rotation_in(const Spec& spec) {
  if (const auto* axial = held<RopeNd>(spec)) return &axial->rope;
  if (const auto* xpos = held<Xpos>(spec)) return &xpos->rope;
  if (const auto* norm = held<QkNormRope>(spec)) return &norm->rope;
  if (const auto* table = held<RotaryTable>(spec)) return &table->rope;
  return held<Rope>(spec);
}

// Numbers in ascending order by what they have in common, of 0 to `count` - 1: "from 16 on", "3 to 9". Empty where they
// are all, or nothing.
std::optional<std::string> range_text(const std::vector<std::int64_t>& numbers, std::int64_t count) {
  const bool follow = numbers.back() - numbers.front() + 1 == std::ssize(numbers);
  if (follow && std::ssize(numbers) > 2 && numbers.back() == count - 1)
    return fmt::format("from {} on", numbers.front());
  if (follow && std::ssize(numbers) > 2) return fmt::format("{} to {}", numbers.front(), numbers.back());
  constexpr std::int64_t few = 3;
  if (std::ssize(numbers) <= few) return listed_numbers(numbers);
  return std::nullopt;
}

bool are_every_other(const std::vector<std::int64_t>& numbers, std::int64_t count, std::int64_t first) {
  if (count < 4 || std::ssize(numbers) != (count - first + 1) / 2) return false;
  return std::ranges::all_of(numbers, [&](std::int64_t number) { return number % 2 == first; });
}

std::optional<NamedChannels> of_code(const std::vector<std::int64_t>& channels, std::int64_t count) {
  if (std::ssize(channels) == count) return NamedChannels{};
  if (channels.size() == 1) {
    if (channels.front() == count - 1) return NamedChannels{"the last channel", false};
    return NamedChannels{fmt::format("channel {}", channels.front()), false};
  }
  for (const std::int64_t first : {0, 1}) {
    if (are_every_other(channels, count, first)) return NamedChannels{first == 0 ? "even channels" : "odd channels"};
  }
  if (const auto text = range_text(channels, count)) return NamedChannels{"channels " + *text};
  return std::nullopt;
}

std::optional<NamedChannels> of_rotation(const std::vector<std::int64_t>& channels, const Rope& rope) {
  const auto has = [&](std::int64_t channel) { return std::ranges::binary_search(channels, channel); };
  std::vector<std::int64_t> wrong;
  bool are_first = true;
  bool are_second = true;
  std::int64_t turned = 0;
  for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
    const Channels at = channels_of_pair(rope, rope.output_pairing, pair);
    const bool first = has(at.first);
    const bool second = has(at.second);
    turned += (first ? 1 : 0) + (second ? 1 : 0);
    if (!first && !second) continue;
    wrong.push_back(pair);
    are_first = are_first && first;
    are_second = are_second && second;
  }
  if (turned == 0) {
    const bool are_all = std::ssize(channels) == rope.head_dim - 2 * pairs(rope);
    if (are_all) return NamedChannels{"channels that are not rotated"};
    return of_code(channels, rope.head_dim);
  }
  if (std::ssize(channels) == rope.head_dim) return NamedChannels{};
  if (turned < std::ssize(channels) || (!are_first && !are_second)) return std::nullopt;
  // One member of each pair, and of some the other too.
  const bool are_mixed = are_first != are_second && turned > std::ssize(wrong);
  if (are_mixed) return of_code(channels, rope.head_dim);
  const bool are_all = std::ssize(wrong) == pairs(rope);
  if (are_all && are_first && are_second) return NamedChannels{};
  std::string words;
  bool are_many = true;
  if (wrong.size() == 1) {
    const Channels at = channels_of_pair(rope, rope.output_pairing, wrong.front());
    are_many = false;
    words = fmt::format("pair {} (channels {} and {})", wrong.front(), at.first, at.second);
  } else if (are_all) {
    words = "pairs";
  } else if (are_every_other(wrong, pairs(rope), 0) || are_every_other(wrong, pairs(rope), 1)) {
    words = wrong.front() == 0 ? "even pairs" : "odd pairs";
  } else if (const auto text = range_text(wrong, pairs(rope))) {
    words = "pairs " + *text;
  } else {
    return std::nullopt;
  }
  if (!are_first || !are_second)
    words = fmt::format("the {} {} of {}", are_first ? "first" : "second", are_many ? "members" : "member", words);
  return NamedChannels{std::move(words), are_many};
}

}  // namespace

std::string listed_numbers(const std::vector<std::int64_t>& numbers) {
  const bool follow = numbers.back() - numbers.front() + 1 == std::ssize(numbers);
  if (follow && numbers.size() > 2) return fmt::format("{} to {}", numbers.front(), numbers.back());
  constexpr std::size_t most = 6;
  if (numbers.size() > most)
    return fmt::format("{} and {} more", fmt::join(numbers.begin(), numbers.begin() + most, ", "),
                       numbers.size() - most);
  if (numbers.size() == 1) return fmt::format("{}", numbers.front());
  return fmt::format("{} and {}", fmt::join(numbers.begin(), numbers.end() - 1, ", "), numbers.back());
}

std::optional<NamedChannels> named_channels(const Spec& spec, const std::vector<std::int64_t>& channels) {
  if (const Rope* rope = rotation_in(spec)) return of_rotation(channels, *rope);
  const auto width = width_of(spec.encoding);
  return width ? of_code(channels, *width) : std::nullopt;
}

}  // namespace sextant::identify
