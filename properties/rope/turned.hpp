#pragma once

#include <optional>
#include <string>

#include "lib/spec/spec.hpp"

namespace sextant {

inline const Rope& head_of(const Rope& encoding) { return encoding; }
inline const Rope& head_of(const RopeNd& encoding) { return encoding.rope; }
inline const Rope& head_of(const Xpos& encoding) { return encoding.rope; }

/// Why laws of pairs that turn do not apply to a rotary encoding: rope_type none has none.
inline constexpr auto no_pair_turns = [](const Spec&, const auto& encoding) -> std::optional<std::string> {
  if (pairs(head_of(encoding)) == 0) return "rope_type none turns no pair: see untouched_channels";
  return std::nullopt;
};

}  // namespace sextant
