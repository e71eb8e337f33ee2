#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/spec.hpp"
#include "reference/double_double_within.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"
#include "reference/rope_nd.hpp"
#include "reference/rope_scaling.hpp"
#include "reference/sinusoidal_nd.hpp"

namespace sextant {

// What each accuracy class allows, derived in docs/proofs/accuracy-classes.md. u is the unit roundoff of the format
// that angles are formed in, w_i the frequency and p the position; d bounds the error of an angle (steps 2 to 7),
//
//   d = |p w_i| c_i u / (1 - c_i u),   c_i = 3 + 2 L + 2 |ln w_i|, and more where a rule scales w_i,
//
// L being the error of pow, exp, log, sin and cos in ULP; and k ULP are allowed for evaluating, scaling and rounding a
// value that may itself lie d away (steps 8 to 13).

/// What becomes of the table's entries, which may be rounded to a 16-bit dtype: two turn a pair, one is multiplied, or
/// it is the value itself.
enum class TableUse { turns, is_multiplied, is_value };

/// What a spec claims of its arithmetic.
struct ArithmeticClaim {
  AccuracyClass accuracy;
  Dtype dtype;
  Evaluation evaluation = Evaluation::float32;
  double libm = 1;  ///< L above
  TableUse table = TableUse::turns;
};

ArithmeticClaim arithmetic_of(const Spec& spec);

/// u above: 0 for the two strictest classes.
double angle_roundoff(AccuracyClass accuracy);

/// h of step 14: roundings of 1 + c, c = (2p + 1)/e - 1 being the middle of cell p of e, of which there are so many in
/// units of what positions are multiples of.
double middle_roundings(double cells, AccuracyClass accuracy);

/// A factor of pairs that is rounded itself, as attention factors of rope and xPos's scales are.
struct RoundedFactor {
  double roundings = 0;  ///< of its formula, in the format that angles are formed in
};

/// k above; of rotations with a factor step 10's.
double evaluation_ulps(const ArithmeticClaim& claim, const std::optional<RoundedFactor>& factor = std::nullopt);

/// The allowance of one claim, per pair.
class ErrorBudget {
 public:
  /// @param frequencies  those of the claim; |ln w_i| is taken from them once.
  ErrorBudget(const ArithmeticClaim& claim, const reference::GeometricFrequencies& frequencies, std::int64_t pairs);

  /// The same for a rotary encoding under its scaling rule, in calls of length up to `longest`: with the rule's
  /// attention factor, or the one given.
  ErrorBudget(const ArithmeticClaim& claim, reference::RopeFrequencies frequencies, std::int64_t longest);
  ErrorBudget(const ArithmeticClaim& claim, reference::RopeFrequencies frequencies, std::int64_t longest,
              const std::optional<RoundedFactor>& factor);

  /// The same for one over several axes, under the rule that all have.
  ErrorBudget(const ArithmeticClaim& claim, const reference::RopeNdReference& oracle, std::int64_t longest);

  /// The same for one axis of a sinusoidal code of several coordinates.
  ErrorBudget(const ArithmeticClaim& claim, const reference::SinusoidalNdReference& oracle, std::int64_t axis);

  /// The same where callers have the frequencies, and say of the angles what their errors are relative to: so many
  /// roundings of each pair's.
  ErrorBudget(const ArithmeticClaim& claim, std::span<const double> roundings);

  /// The same budget for statements that hold whatever the frequencies are.
  ErrorBudget of_own_frequencies() const;

  AccuracyClass accuracy() const { return accuracy_; }
  Dtype dtype() const { return dtype_; }
  /// k above.
  double ulps() const { return ulps_; }

  /// ulp(truth) + |angle| u |derivative|: what rounding the value once, and its angle once in the format that the class
  /// names, may come to.
  double conditioned_ulp(double truth, double angle, double derivative) const;

  /// How far the angle of frequency `pair` may be off, in radians: d above. 0 for the two strictest classes.
  reference::Enclosure angle_error(const reference::Enclosure& angle, std::int64_t pair) const;

  /// The bound on |value - scale sin(angle)| where the derivative by the angle is `derivative` = scale cos(angle):
  ///   k ulp(|truth| + effect) + effect,   effect = min(|derivative| d + |scale| d^2/2, 2 |scale|);
  /// of pair-norm component_bound's of a pair of norm |scale|.
  reference::Enclosure element_bound(const reference::Enclosure& truth, const reference::Enclosure& derivative,
                                     const reference::Enclosure& scale, const reference::Enclosure& angle,
                                     std::int64_t pair) const;

  /// The bound on each component of a pair of norm `norm` turned by `angle`: turning by an angle off by d moves the
  /// pair by 2 sin(d/2) norm <= min(d, 2) norm, and evaluation adds k ULP of the norm:
  ///   k ulp(norm) + min(d, 2) norm.
  reference::Enclosure component_bound(const reference::Enclosure& norm, const reference::Enclosure& angle,
                                       std::int64_t pair) const;

  /// Bounds on those two from doubles, the quick way: `derivative`, `scale`, `angle` and `norm` are within 2^-48 of
  /// themselves, truth and derivative also within 2^-98 |scale|; pair-norm's `scale` is exact. They are 2^-39 apart,
  /// or where doubles cannot tell, at a border of binades, 0 and the upper one of the larger binade; below 2^-900,
  /// where a product may underflow, they are {0, infinity}.
  reference::Bounds element_bound(const reference::Bounds& truth, double derivative, double scale, double angle,
                                  std::int64_t pair) const;
  reference::Bounds component_bound(double norm, double angle, std::int64_t pair) const;

  /// angle_error from doubles, within 2^-50 of itself.
  double quick_angle_error(double angle, std::int64_t pair) const;

  /// The bound on the Euclidean error of such a pair: sqrt(2) k ulp(norm) + min(d, 2) norm.
  reference::Enclosure pair_bound(const reference::Enclosure& norm, const reference::Enclosure& angle,
                                  std::int64_t pair) const;

  /// The bound on the error of the pair's *norm*, which no error of the angle touches: sqrt(2) k ulp(norm).
  reference::Enclosure norm_bound(const reference::Enclosure& norm) const;

  /// A double not above it, from a norm within 2^-41 of itself.
  double least_norm_bound(double norm) const;

  /// The same of pair_bound, the angle within 2^-50 of itself.
  double least_pair_bound(double norm, double angle, std::int64_t pair) const;

 private:
  // What an angle may be off by, relative to it, and where that comes from.
  struct Pair {
    reference::Bounds frequency;
    double roundings;   // of the frequency and of the angle formed with it
    double recurrence;  // of those, a running product's, and normalized coordinates'
  };

  // Of frequencies in radians per step of `step`, angles being multiplied by `scale`.
  void set_units(double scale, double step);

  // Of no pair yet.
  ErrorBudget(const ArithmeticClaim& claim, const std::optional<RoundedFactor>& factor);

  // The angle up to which that pair has none, if it is one.
  double exact_angle() const { return exact_up_to_ * fastest_; }

  // A pair with frequency `index` of those.
  void add_pair(reference::RopeFrequencies& frequencies, std::int64_t index, std::int64_t longest);
  // The same of coordinates normalized to [-1, 1], and of such that are moved and multiplied after that.
  struct Normalized {
    std::int64_t extent;
    std::int64_t counts;  // to a turn
    std::optional<double> shift;
    bool is_scaled;
    double stretch;  // as in Ladder
    LadderShape ladder;
  };
  void add_normalized(reference::RopeFrequencies& frequencies, std::int64_t index, const Normalized& coordinates);
  double of_recurrence(std::int64_t index) const;
  void add_pair(const reference::Enclosure& frequency, double direct, double recurrence);
  reference::Bounds quick_bound(const reference::Bounds& size, double effect) const;
  reference::Enclosure shift_bound(const reference::Enclosure& norm, const reference::Enclosure& angle,
                                   std::int64_t pair) const;

  AccuracyClass accuracy_;
  Dtype dtype_;
  double libm_;
  double ulps_;
  std::vector<Pair> pairs_;
  double exact_up_to_;  // the count of positions up to which step 3's pair has no error
  double fastest_ = 1;  // the angle of a step, where w_i is 1: step 3's, if that is exact
  bool fastest_is_exact_ = true;
  std::vector<double> relative_angle_error_;  // c_i u / (1 - c_i u), rounded up
  std::vector<double> offsets_;  // what is added to an angle before that: of coordinates that are differences
  std::vector<bool> unit_frequency_;
};

}  // namespace sextant
