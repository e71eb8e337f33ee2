#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/engine/engine.hpp"
#include "properties/engine/property.hpp"

namespace sextant {

/// Which of a property's first cases, and of its drawn ones, are asked where they have these sizes (size_of, case.hpp):
/// their indices, in order. Of the first ones one at least.
std::vector<std::size_t> first_cases_asked(std::span<const std::int64_t> sizes, const AuditOptions& options,
                                           Sessions sessions);
std::vector<std::size_t> drawn_cases_asked(std::span<const std::int64_t> sizes, const AuditOptions& options,
                                           Sessions sessions);

/// A property's cases in an audit, each by its number in a whole run: the first ones, the drawn ones, the blocks of the
/// sweep. Each is drawn from a split of its own of the seed, so that it is the same whichever others are drawn.
/// Properties that judge answers draw the same ones (Property::make_ask).
class CasesOfProperty {
 public:
  /// The property must apply to the spec.
  CasesOfProperty(const Property& property, const Spec& spec, const AuditOptions& options);

  std::int64_t count() const { return first_block() + std::ssize(sweep_.blocks); }
  /// The number of the first block; those before it are cases by themselves.
  std::int64_t first_block() const { return std::ssize(first_) + std::ssize(splits_); }
  const SweepOf<Case>& sweep() const { return sweep_; }
  /// What searches draw from.
  const rc::Random& random() const { return random_; }

  /// The block of this number; null for a case that is none.
  const BlockOf<Case>* block(std::int64_t number) const;
  Case at(std::int64_t number) const;

 private:
  std::vector<Case> first_;
  rc::Random random_;
  rc::Gen<Case> generator_;
  std::vector<rc::Random> splits_;
  SweepOf<Case> sweep_;
};

}  // namespace sextant
