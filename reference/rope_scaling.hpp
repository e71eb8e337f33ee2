#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lib/spec/rope.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"

namespace sextant::reference {

/// l of `dynamic` in a call of that length: it, or, beyond L where lengths go by doublings, the first of 2 L, 4 L, 8 L,
/// ... that is no less.
std::int64_t stepped_length(const DynamicScaling& dynamic, std::int64_t sequence_length);

/// The frequencies of a rotary encoding under its scaling rule, as real-number mathematics. An object belongs to one
/// thread.
///
/// docs/proofs/rope-scaling.md has the formula of each rule with its source (steps 1 to 8), the deployed one where a
/// paper and the code that models are run with differ, since the spec carries its field names; and why no branch of a
/// formula can stay undecided (step 9).
class RopeFrequencies {
 public:
  /// Domain as lib/spec checks it.
  /// @throws std::range_error if an end of YaRN's ramp stays undecided at `last_precision`.
  explicit RopeFrequencies(const Rope& encoding);

  /// The frequency of `pair` in a call of `sequence_length`, in radians per step of the positions: positive, and above
  /// 1 only for longrope and proportional factors below 1. Rules that do not depend on the length ignore it. The
  /// reference is good until the next call.
  const Enclosure& radians(std::int64_t pair, std::int64_t sequence_length, Precision precision);

  /// The rotation by radians * position, sin and cos without the attention factor. Likewise.
  const Rotation& rotation(std::int64_t position, std::int64_t pair, std::int64_t sequence_length, Precision precision);

  /// w_i, before scaling, in radians per position, of real ones too. Likewise.
  const Enclosure& unscaled(std::int64_t pair, Precision precision) { return geometric_.radians(pair, precision); }

  /// |ln| of radians(pair, sequence_length).
  Enclosure log_magnitude(std::int64_t pair, std::int64_t sequence_length, Precision precision);

  /// What sin and cos are multiplied by, so that a rotated pair has attention_factor times its norm, and a score its
  /// square:
  ///   yarn      attention_factor if given, else m(mscale)/m(mscale_all_dim) if those are, else m(1), m(x) = 0.1 x ln s
  ///   + 1;
  ///             Peng et al. 2023, section 3.4, equation 22 has m(1) = sqrt(1/t)
  ///   longrope  short_mscale at lengths up to L and long_mscale at longer ones if given, else attention_factor if
  ///             given, else sqrt(1 + ln s / ln L); the deployed default
  ///   others    1
  /// in a call of `sequence_length`. The reference is good for the object's life.
  const Enclosure& attention_factor(std::int64_t sequence_length, Precision precision);

  /// The same for a rule whose factor does not depend on the length.
  /// @throws std::logic_error for one whose factor does.
  const Enclosure& attention_factor(Precision precision);

  /// YaRN's low and high, the ends of its ramp in units of pairs.
  struct Ramp {
    Enclosure low;
    Enclosure high;
  };
  /// Nothing for other rules.
  std::optional<Ramp> ramp(Precision precision) const;

  const Rope& encoding() const { return encoding_; }

 private:
  struct Whole {
    std::int64_t low;
    std::int64_t high;
  };
  struct AtLength {
    std::int64_t length;
    std::vector<Enclosure> radians;
  };

  std::int64_t length_that_matters(std::int64_t sequence_length) const;
  Enclosure scaled(std::int64_t pair, std::int64_t length, Precision precision);
  Enclosure stretched_base(std::int64_t pair, const Enclosure& stretch, Precision precision) const;
  Enclosure unkept_attention_factor(bool beyond_limit, Precision precision) const;
  Enclosure correction(double turns, Precision precision) const;
  std::optional<Whole> whole_ramp() const;

  Rope encoding_;
  std::int64_t width_;
  GeometricFrequencies geometric_;
  std::optional<Whole> whole_ramp_;
  std::map<long, AtLength> by_precision_;
  std::map<std::pair<bool, long>, Enclosure> attention_factors_;  // by whether a call is longer than L

  struct Kept {
    std::int64_t position;
    std::int64_t pair;
    std::int64_t length;
    long bits;
    Rotation rotation;
  };
  std::optional<Kept> kept_;
};

}  // namespace sextant::reference
