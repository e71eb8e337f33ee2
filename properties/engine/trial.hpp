#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "properties/engine/engine.hpp"
#include "properties/engine/property.hpp"

namespace sextant {

/// Which of a property's cases a trial judges, by their numbers: one in each `parts`, the others being other shards'.
/// All properties' cases are dealt as one hand: the property's first is that of number `offset`, and part `index` gets
/// those whose number is `index` modulo `parts`.
struct Share {
  std::int64_t offset = 0;
  std::int64_t index = 0;
  std::int64_t parts = 1;

  /// The least of the property's own numbers that falls to it.
  std::int64_t first() const { return ((index - offset) % parts + parts) % parts; }
  /// How many of the property's `count` numbers fall to it.
  std::int64_t part_of(std::int64_t count) const { return count > first() ? (count - first() - 1) / parts + 1 : 0; }
};

/// How many cases the property has in a whole run, blocks of its sweep among them; it must apply to the spec.
std::int64_t cases_in(const Property& property, const Spec& spec, const AuditOptions& options);

/// How often an audit tries, at most, to make a counterexample simpler, and as often to find a worse one, where the
/// property's violation fails no audit: it is advice, or mathematics says that the property fails. A subject that
/// passes has such cases, and they take a part of its time. Nothing of other properties.
std::optional<std::int64_t> tries_of_aside(const Property& property, const Spec& spec, const AuditOptions& options);

/// Judges the share of a property's first cases, drawn cases and blocks; of a violation looks for the simplest
/// counterexample and the worst. Of several properties, which all judge answers to the same questions, each answer is
/// asked for once. Results are in the order of the properties. `progress` is called after every case of each.
/// @throws Interrupted, and SubjectNameError if the subject cannot be started at all.
std::vector<PropertyResult> run_trials(std::span<const Property* const> properties, const Subject& subject,
                                       const Spec& spec, const AuditOptions& options, const Share& share,
                                       const std::function<void()>& progress);

/// Judges one case alone. Likewise.
PropertyResult run_case(const Property& property, const Subject& subject, const Spec& spec, const Case& values);

}  // namespace sextant
