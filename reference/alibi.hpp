#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// Enclosures of ALiBi, Press et al. 2021, section 3, as lib/spec/alibi.hpp states it. Slopes are kept per precision,
/// so an object belongs to one thread.
class AlibiReference {
 public:
  explicit AlibiReference(const Alibi& encoding);

  /// m_h: a point where it is a whole power of two or rounded to slope_dtype.
  const Enclosure& slope(std::int64_t head, Precision precision);

  /// What the score of the two positions gains in the head, or nothing where the causal mask hides the key.
  std::optional<Enclosure> bias(std::int64_t query, std::int64_t key, std::int64_t head, Precision precision);

  /// m_h before it is rounded to slope_dtype.
  const Enclosure& real_slope(std::int64_t head, Precision precision);

  const Alibi& encoding() const { return encoding_; }

 private:
  Alibi encoding_;
  std::map<long, std::vector<Enclosure>> real_slopes_by_precision_;
  std::map<long, std::vector<Enclosure>> slopes_by_precision_;
};

}  // namespace sextant::reference
