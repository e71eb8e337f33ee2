#include "properties/identify/rotations/rotation_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sextant::identify {
namespace {

bool is_same(const Channels& a, const Channels& b) { return a.first == b.first && a.second == b.second; }

// Which pair of the structure each frequency turns; nothing where one is missing.
std::optional<std::vector<std::size_t>> order_of(const RotationStructure& structure, const Rope& rope) {
  std::vector<std::size_t> order;
  for (std::int64_t i = 0; i < pairs(rope); ++i) {
    const Channels input = channels_of_pair(rope, rope.pairing, i);
    const Channels output = channels_of_pair(rope, rope.output_pairing, i);
    const auto found = std::ranges::find_if(structure.pairs, [&](const TurnedPair& pair) {
      return is_same(pair.input, input) && is_same(pair.output, output);
    });
    if (found == structure.pairs.end()) return std::nullopt;
    order.push_back(static_cast<std::size_t>(found - structure.pairs.begin()));
  }
  return order;
}

// Whether each channel that does not turn comes out where the rope leaves it, or not at all.
bool keeps_as(const RotationStructure& structure, const Rope& rope) {
  return std::ranges::all_of(passthrough_channels(rope), [&](const Passthrough& channel) {
    if (std::ranges::find(structure.lost, channel.input) != structure.lost.end()) return true;
    const auto kept = std::ranges::find(structure.kept, channel.input, &Passthrough::input);
    return kept != structure.kept.end() && kept->output == channel.output;
  });
}

template <class Field>
std::vector<Field> own_first(Field own, std::vector<Field> all) {
  std::stable_partition(all.begin(), all.end(), [&](Field field) { return field == own; });
  return all;
}

std::vector<Rope> candidates(const RotationStructure& structure, const Rope& claim) {
  std::vector<Rope> ropes;
  Rope rope = claim;
  rope.rope_scaling = structure.pairs.empty() ? RopeScaling(NoTurning{}) : RopeScaling(DefaultScaling{});
  if (!structure.pairs.empty()) rope.rotary_dim = 2 * std::ssize(structure.pairs);
  const bool is_whole = rope.rotary_dim == rope.head_dim;
  // Of a whole head all are one.
  const RotaryLayout of_whole = claim.rotary_dim == claim.head_dim ? claim.rotary_layout : RotaryLayout::prefix;
  const std::vector<RotaryLayout> layouts =
      is_whole ? std::vector{of_whole}
               : own_first(claim.rotary_layout, {RotaryLayout::prefix, RotaryLayout::suffix, RotaryLayout::spread});
  for (const RotaryLayout layout : layouts) {
    rope.rotary_layout = layout;
    for (const Pairing pairing : own_first(claim.pairing, {Pairing::half, Pairing::interleaved})) {
      rope.pairing = pairing;
      for (const Pairing output : own_first(pairing, {Pairing::half, Pairing::interleaved})) {
        rope.output_pairing = output;
        ropes.push_back(rope);
      }
    }
  }
  return ropes;
}

}  // namespace

std::vector<RotationLayout> layouts_of(const RotationStructure& structure, const Rope& claim) {
  std::vector<RotationLayout> layouts;
  if (!structure.tangled.empty()) return layouts;
  for (const Rope& rope : candidates(structure, claim)) {
    auto order = order_of(structure, rope);
    if (!order || !keeps_as(structure, rope)) continue;
    RotationLayout layout{rope, std::move(*order), {}};
    if (!structure.lost.empty())
      layout.faults.push_back(
          fmt::format("{} channels that are not rotated come back as zeros", structure.lost.size()));
    if (!structure.kept.empty() && structure.kept_factor != 1)
      layout.faults.emplace_back("channels that are not rotated are not left as they are");
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

std::string pairs_text(const RotationStructure& structure) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(structure.pairs.size(), most); ++i) {
    const Channels& input = structure.pairs[i].input;
    const Channels& output = structure.pairs[i].output;
    text += fmt::format("{}{} and {}", i == 0 ? "channels " : ", ", input.first, input.second);
    if (!is_same(input, output)) text += fmt::format(" (written to {} and {})", output.first, output.second);
  }
  return text + (structure.pairs.size() > most ? ", ..." : "");
}

}  // namespace sextant::identify
