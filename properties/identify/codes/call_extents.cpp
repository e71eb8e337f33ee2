#include "properties/identify/codes/call_extents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// What a call asks, axis by axis.
using Places = std::vector<std::vector<std::int64_t>>;

std::int64_t greatest_of(const std::vector<std::int64_t>& list) { return std::ranges::max(list); }

// What stands for the claim's number of positions on each axis in one call; nothing where a call says none.
struct OtherExtents {
  std::string words;
  std::function<std::int64_t(const Places& places, std::size_t axis)> extent;
};

// The claim with these numbers of positions on its axes; nothing of one that divides by none.
std::optional<Spec> with_extents(const Spec& claim, const std::vector<std::int64_t>& extents) {
  Spec made = claim;
  if (const auto* integer = held<Integer>(claim); integer != nullptr && integer->normalize) {
    made.max_position = extents.front();
  } else if (const auto* nd = held<SinusoidalNd>(claim); nd != nullptr && nd->coordinates == Coordinates::normalized) {
    SinusoidalNd other = *nd;
    other.extents = extents;
    made.encoding = other;
    made.max_position = std::ranges::max(extents);
  } else if (const auto* fourier = held<Fourier>(claim); fourier != nullptr && !fourier->extents.empty()) {
    Fourier other = *fourier;
    other.extents = extents;
    made.encoding = other;
    made.max_position = std::ranges::max(extents);
  } else {
    return std::nullopt;
  }
  try {
    validate(made);
  } catch (const SpecError&) {
    return std::nullopt;
  }
  return made;
}

std::vector<std::int64_t> claimed_extents(const Spec& claim) {
  if (const auto* nd = held<SinusoidalNd>(claim)) return nd->extents;
  if (const auto* fourier = held<Fourier>(claim)) return fourier->extents;
  return {claim.max_position};
}

std::vector<OtherExtents> extents_tried(const Spec& claim, const std::vector<std::int64_t>& claimed) {
  std::vector<OtherExtents> list;
  const bool is_one = claimed.size() == 1;
  const std::string last = is_one ? fmt::format("the claim's last one, {}", claimed.front() - 1)
                                  : fmt::format("those of the claim, {}", fmt::join(claimed, " x "));
  const auto add = [&](std::string words, auto extent) { list.push_back({std::move(words), extent}); };
  if (is_of<Integer>(claim)) {
    // A call of one position, or of 0 alone, is divided by 1 for want of more.
    add(fmt::format("positions are divided by the greatest of their call, not by {}", last),
        [](const Places& places, std::size_t axis) {
          return std::max<std::int64_t>(greatest_of(places[axis]), 1) + 1;
        });
    add(fmt::format("positions are divided by the number of the call's positions less 1, not by {}", last),
        [](const Places& places, std::size_t axis) { return std::max<std::int64_t>(std::ssize(places[axis]), 2); });
    add(fmt::format("positions are divided by the number of the call's positions, not by {}", last),
        [](const Places& places, std::size_t axis) { return std::ssize(places[axis]) + 1; });
    add(fmt::format("positions are divided by the greatest of their call + 1, not by {}", last),
        [](const Places& places, std::size_t axis) { return greatest_of(places[axis]) + 2; });
    return list;
  }
  add(fmt::format("coordinates are normalized by {} of each call, its greatest {}, not by {}",
                  is_one ? "the extent" : "the extents", is_one ? "position + 1" : "positions + 1", last),
      [](const Places& places, std::size_t axis) { return greatest_of(places[axis]) + 1; });
  return list;
}

// Calls of one position and of several with gaps, whose numbers and greatest ones differ.
std::vector<Places> calls_asked(const gen::PositionRange& range, const std::vector<std::int64_t>& claimed) {
  constexpr std::array<std::array<std::int64_t, 5>, 4> asked{{
      {7, -1, -1, -1, -1},
      {0, 5, -1, -1, -1},
      {2, 9, 4, 11, 3},
      {6, 1, 8, -1, -1},
  }};
  std::vector<Places> calls;
  for (const auto& positions : asked) {
    Places places;
    for (std::size_t axis = 0; axis < claimed.size(); ++axis) {
      std::vector<std::int64_t>& of_axis = places.emplace_back();
      const std::int64_t end = std::min(range.last, claimed[axis]);
      // Another greatest one on each axis.
      for (const std::int64_t position : positions) {
        if (position >= 0)
          of_axis.push_back(std::clamp((position + 2 * static_cast<std::int64_t>(axis)) % end, range.first, end - 1));
      }
    }
    calls.push_back(std::move(places));
  }
  return calls;
}

}  // namespace

std::string words_of_call_extents(CountedSession& session, const Spec& claim) {
  const std::vector<std::int64_t> claimed = claimed_extents(claim);
  if (claimed.empty() || !with_extents(claim, claimed) || position_grid_of(claim.encoding).step != 1) return {};
  const auto model = model_of(claim);
  const gen::PositionRange range = model->range();
  if (range.first != 0 || model->not_judged()) return {};
  struct Answered {
    Places places;
    Call call;
    Tensor answer;
  };
  std::vector<Answered> answered;
  for (const Places& places : calls_asked(range, claimed)) {
    Call call = model->call_of({.position = range.first, .fill = 7});
    call.positions.clear();
    for (const auto& of_axis : places) call.positions.insert(call.positions.end(), of_axis.begin(), of_axis.end());
    Tensor answer = model->ask(session, call);
    answered.push_back({places, std::move(call), std::move(answer)});
  }
  const auto is_met = [](const Spec& spec, const Answered& one) {
    return model_of(spec)->judge()->values(one.call, one.answer).within == reference::Certainty::yes;
  };
  if (std::ranges::all_of(answered, [&](const Answered& one) { return is_met(claim, one); })) return {};
  for (const OtherExtents& tried : extents_tried(claim, claimed)) {
    std::int64_t told = 0;
    const bool fits = std::ranges::all_of(answered, [&](const Answered& one) {
      std::vector<std::int64_t> extents;
      for (std::size_t axis = 0; axis < claimed.size(); ++axis) extents.push_back(tried.extent(one.places, axis));
      const std::optional<Spec> spec = with_extents(claim, extents);
      if (!spec) return true;
      ++told;
      return is_met(*spec, one);
    });
    if (fits && told > 2) return tried.words;
  }
  return {};
}

}  // namespace sextant::identify
