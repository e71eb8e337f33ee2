#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/engine/engine.hpp"
#include "properties/engine/property.hpp"

namespace sextant {

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
