#include "properties/identify/tried_claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "lib/spec/of.hpp"

namespace sextant::identify {
namespace {

bool is_valid(const Spec& spec) {
  try {
    validate(spec);
    return true;
  } catch (const SpecError&) {
    return false;
  }
}

struct OtherPlace {
  std::string words;
  Renumbered taken_for;
};

std::vector<OtherPlace> places_tried(const Spec& claim) {
  std::vector<OtherPlace> list;
  if (axes_of(claim.encoding) > 1) {
    list.push_back({"all axes have the positions of the first",
                    [](std::int64_t, std::span<const std::int64_t> place) { return place.front(); }});
    list.push_back({"all axes have the positions of the last",
                    [](std::int64_t, std::span<const std::int64_t> place) { return place.back(); }});
    list.push_back(
        {"the axes' positions are read in reverse order", [](std::int64_t axis, std::span<const std::int64_t> place) {
           return place[place.size() - 1 - static_cast<std::size_t>(axis)];
         }});
  }
  // Tokens counted from a window's other end differ by as much, the other way round. No mask may depend on the order.
  const auto* attention = held<Attention>(claim);
  const auto* window = attention == nullptr ? nullptr : carried<WindowBias>(*attention);
  if (window != nullptr && window->class_token == ClassToken::none && !attention->causal && !attention->window)
    list.push_back({"query and key change places: the bias is that of query - key, reversed",
                    [last = position_count(*window) - 1](std::int64_t, std::span<const std::int64_t> place) {
                      return last - place.front();
                    }});
  return list;
}

}  // namespace

std::optional<MetClaim> first_met(const AskedAnswers& asked, const Spec& claim, std::vector<TriedClaim> list) {
  if (const auto of_bound = asked.meet(claim)) return MetClaim{{claim, {}}, *of_bound};
  for (TriedClaim& tried : list) {
    if (!is_valid(tried.spec)) continue;
    if (const auto of_bound = asked.meet(tried.spec)) return MetClaim{std::move(tried), *of_bound};
  }
  return std::nullopt;
}

const OtherReading* first_reading(const AskedAnswers& asked, const std::vector<OtherReading>& list) {
  const auto found = std::ranges::find_if(
      list, [&](const OtherReading& one) { return is_valid(one.spec) && asked.meet(one.spec, one.taken).has_value(); });
  return found == list.end() ? nullptr : &*found;
}

std::string other_places(const AskedAnswers& asked, const Spec& claim) {
  if (asked.meet(claim)) return {};
  for (const OtherPlace& other : places_tried(claim)) {
    if (asked.meet(claim, {.positions = other.taken_for})) return other.words;
  }
  return {};
}

std::string order_text(const std::vector<std::int64_t>& order) {
  std::string text;
  for (std::int64_t axis = 0; axis < std::ssize(order); ++axis) {
    const std::int64_t other = order[static_cast<std::size_t>(axis)];
    if (other != axis) text += fmt::format("{}axis {} has those of {}", text.empty() ? "" : ", ", axis, other);
  }
  return text;
}

std::vector<std::int64_t> exchanged_axes(const AskedAnswers& asked, const Spec& claim) {
  if (asked.meet(claim)) return {};
  std::vector<std::int64_t> order(static_cast<std::size_t>(axes_of(claim.encoding)));
  std::iota(order.begin(), order.end(), 0);
  while (std::ranges::next_permutation(order).found) {
    const auto taken_for = [&](std::int64_t axis, std::span<const std::int64_t> place) {
      return place[static_cast<std::size_t>(order[static_cast<std::size_t>(axis)])];
    };
    if (asked.meet(claim, {.positions = taken_for})) return order;
  }
  return {};
}

}  // namespace sextant::identify
