#pragma once

#include <cstdint>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/spec.hpp"
#include "reference/double_double_within.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"
#include "reference/rope_scaling.hpp"

namespace sextant {

// What each accuracy class allows, derived.
//
// An implementation forms an angle, takes its sine and cosine, and rounds. Write u for the unit roundoff of the format
// it forms the angle in (2^-24 float32, 2^-11 float16, 2^-8 bfloat16; 2^-53 for exact-angle, which admits float64
// angles), w_i = base^(-e_i) for the frequency and p for the position. The recipes in use compute
//
//   p           rounded to the format (exact below its 2^precision)                    1 u
//   w_i         by pow:      exponent e_i rounded: u |e_i ln base| = u |ln w_i|;  pow itself 1 ULP <= 2 u;
//                            its reciprocal                                            |ln w_i| u + 3 u
//               by exp∘log:  the constant ln(base)/d and its product with i, both rounded, in the exponent: 2 u |ln w_i|;
//                            exp itself 1 ULP <= 2 u                                   2 |ln w_i| u + 2 u
//   p * w_i     one product                                                            1 u
//
// so that to first order the angle is off by at most |p w_i| c_i u, c_i = 5 + 2 |ln w_i|; with all orders, by
//
//   d = |p w_i| * c_i u / (1 - c_i u)                                          (Higham 2002, lemma 3.1, gamma_n).
//
// A pair whose frequency is 1 exactly, as w_0 is before scaling, has no error of the frequency, since pow(b, 0), exp(0)
// and the empty product are 1 in every arithmetic, and none of the product by it; its angle is the position, which the
// format holds up to 2^precision:
//
//   d = 0 for |p| <= 2^precision, else the position's own rounding |p| u/(1 - u).
//
// float32-recurrence admits angles that run over the pairs as a product, t_0 = fl(p), t_(i+1) = fl(t_i r), r =
// fl(base^fl(-2/n)), as ggml's do:
//
//   r           exponent rounded u |ln r|, pow 1 ULP <= 2 u; to the power i, i |ln r| = |ln w_i|       |ln w_i| u + 2 i u
//   t_i         i products and fl(p)                                                               i u + 1 u
//
// in all 1 + 3 i + |ln w_i|, which 3 i more than c_i covers.
//
// A scaling rule of rope changes w_i to w'_i, and adds s_i roundoffs to c_i (f_i = 3 + 2 |ln w_i| being those of w_i
// itself):
//
//   linear, proportional, longrope    the factor rounded, one quotient                               2
//   ntk         5 + 2 |ln w'_i| in place of 5 + 2 |ln w_i|, since the new base is what is raised, and that base's own
//               error to the power 2i/n <= 1: factor 1, exponent n/(n-2) rounded |ln(w'_i/w_i)|, pow 2, base and product 2
//                                                                                                    5 + |ln(w'_i/w_i)|
//   dynamic     the same with s l/L - (s - 1) for the factor, l the longest length: its four roundings, of terms that
//               cancel, make at most 3 s (2 of s l/L and 1 of s - 1, over a difference of at least 1, and its own)
//                                                                                                    4 + 3 s + |ln(w'_i/w_i)|
//   llama3, yarn  w'_i = w_i ((1 - t)/s + t): factor, quotient, product, complement, sum: 5, and an error delta of t, which
//               moves w'_i by (1 - 1/s) w_i delta                                       5 + (1 - 1/s) (w_i/w'_i) delta
//               for the pairs that are blended, 5 for the others; delta, in roundoffs, is
//                 llama3   (L w_i/2pi) (f_i + 5)/(high_freq_factor - low_freq_factor) + 3
//                 yarn     3 where the ramp's ends are whole, else 3 + 3 e/(high - low), e = 5 n + 3 n/(2 ln rope_theta) the
//                          error of an end, whose logarithm's argument has 3 and which has 5 and is at most n itself
//
// A statement that holds whatever the frequencies are, R(b) R(a) = R(a + b) say, is no statement about w_i: an
// implementation that turns by other frequencies v_i of its own, wrong but the same in all its answers, forms p v_i
// with the roundings of p and the product, and one more where a position is scaled before (and i products as
// float32-recurrence), so that its angle differs from p times some frequency by at most |p v_i| gamma_n, n = 3 (+ i).
// No rule in use turns faster than a radian per position: with W the larger of 1 and the claim's fastest w_i,
// |v_i| <= W, the allowance is
//
//   d = |p| max(W gamma_n, w_i c_i u/(1 - c_i u)),
//
// the latter for implementations that have the claim's frequencies in each answer another way; no frequency is taken
// to be 1 exactly there.
//
// The sine at an angle off by d differs from the true one by at most |cos| d + d^2/2 (Taylor, |sin''| <= 1), and never
// by more than 2. The class then allows k = 4 ULP for evaluating, scaling and rounding it, of a value that may itself
// lie d away. correctly-rounded and faithful have d = 0 and k = 1/2, 1; they are judged by rounding, not by these
// bounds.

/// u above: 0 for the two strictest classes.
double angle_roundoff(AccuracyClass accuracy);

/// k above.
double evaluation_ulps(AccuracyClass accuracy);

/// The allowance of one claim, per pair.
class ErrorBudget {
 public:
  /// @param frequencies  those of the claim; |ln w_i| is taken from them once.
  ErrorBudget(AccuracyClass accuracy, Dtype dtype, const reference::GeometricFrequencies& frequencies,
              std::int64_t pairs);

  /// The same for a rotary encoding under its scaling rule, in calls of length up to `longest`.
  ErrorBudget(AccuracyClass accuracy, Dtype dtype, reference::RopeFrequencies frequencies, std::int64_t longest);

  /// The same budget for statements that hold whatever the frequencies are.
  ErrorBudget of_own_frequencies() const;

  AccuracyClass accuracy() const { return accuracy_; }
  Dtype dtype() const { return dtype_; }

  /// How far the angle of frequency `pair` may be off, in radians: d above. 0 for the two strictest classes.
  reference::Enclosure angle_error(const reference::Enclosure& angle, std::int64_t pair) const;

  /// The bound on |value - scale sin(angle)| where the derivative by the angle is `derivative` = scale cos(angle):
  ///   k ulp(|truth| + effect) + effect,   effect = min(|derivative| d + |scale| d^2/2, 2 |scale|).
  reference::Enclosure element_bound(const reference::Enclosure& truth, const reference::Enclosure& derivative,
                                     const reference::Enclosure& scale, const reference::Enclosure& angle,
                                     std::int64_t pair) const;

  /// The bound on each component of a pair of norm `norm` turned by `angle`: turning by an angle off by d moves the
  /// pair by 2 sin(d/2) norm <= min(d, 2) norm, and evaluation adds k ULP of the norm:
  ///   k ulp(norm) + min(d, 2) norm.
  reference::Enclosure component_bound(const reference::Enclosure& norm, const reference::Enclosure& angle,
                                       std::int64_t pair) const;

  /// Bounds on those two from doubles, the quick way: `derivative`, `scale`, `angle` and `norm` are within 2^-48 of
  /// themselves, truth and derivative also within 2^-98 |scale|. They are 2^-39 apart, but where doubles cannot tell:
  /// at a border of binades the lower one is 0 and the upper one of the larger binade; below 2^-900, where a product
  /// may underflow, they are {0, infinity}.
  reference::Bounds element_bound(const reference::Bounds& truth, double derivative, double scale, double angle,
                                  std::int64_t pair) const;
  reference::Bounds component_bound(double norm, double angle, std::int64_t pair) const;

  /// The bound on the Euclidean error of such a pair: sqrt(2) k ulp(norm) + min(d, 2) norm.
  reference::Enclosure pair_bound(const reference::Enclosure& norm, const reference::Enclosure& angle,
                                  std::int64_t pair) const;

  /// The bound on the error of the pair's *norm*, which no error of the angle touches: sqrt(2) k ulp(norm).
  reference::Enclosure norm_bound(const reference::Enclosure& norm) const;

 private:
  // What an angle may be off by, relative to it, and where that comes from.
  struct Pair {
    reference::Bounds frequency;
    double roundings;   // of the frequency and of the angle formed with it
    double recurrence;  // of those, the running product's
  };

  void add_pair(const reference::Enclosure& frequency, double direct, double recurrence);
  double quick_angle_error(double angle, std::int64_t pair) const;
  reference::Bounds quick_bound(const reference::Bounds& size, double effect) const;
  reference::Enclosure shift_bound(const reference::Enclosure& norm, const reference::Enclosure& angle,
                                   std::int64_t pair) const;

  AccuracyClass accuracy_;
  Dtype dtype_;
  double ulps_;
  std::vector<Pair> pairs_;
  double exact_up_to_;                        // the angle up to which a pair of frequency 1 has no error
  std::vector<double> relative_angle_error_;  // c_i u / (1 - c_i u), rounded up
  std::vector<bool> unit_frequency_;
};

}  // namespace sextant
