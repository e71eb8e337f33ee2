#pragma once

#include <mpfi.h>

#include <cstdint>
#include <utility>

namespace sextant::reference {

/// Working precision in bits of significand.
struct Precision {
  long bits;
};

/// A closed interval [lower, upper] that contains a real number: every operation returns an interval that contains the
/// result for each choice of real arguments in its operands (MPFI, outward rounding). An operation works at the
/// greater of its operands' precisions; nothing is global. A value type.
///
/// An empty or undefined result (log of a negative interval, 0/0) has NaN ends, for which no comparison is certain.
class Enclosure {
 public:
  /// Exactly the double, at `precision` (at least 53 bits, raised if less). NaN gives an undefined interval.
  Enclosure(double value, Precision precision);
  /// Exactly the integer, at `precision` (at least 64 bits, raised if less).
  Enclosure(std::int64_t value, Precision precision);
  /// pi.
  static Enclosure pi(Precision precision);
  /// The smallest interval that holds both.
  static Enclosure hull(const Enclosure& a, const Enclosure& b);

  Enclosure(const Enclosure& other);
  Enclosure(Enclosure&& other) noexcept;
  Enclosure& operator=(const Enclosure& other);
  Enclosure& operator=(Enclosure&& other) noexcept;
  ~Enclosure();

  Precision precision() const;

  friend Enclosure operator+(const Enclosure& a, const Enclosure& b);
  friend Enclosure operator-(const Enclosure& a, const Enclosure& b);
  friend Enclosure operator*(const Enclosure& a, const Enclosure& b);
  friend Enclosure operator/(const Enclosure& a, const Enclosure& b);
  friend Enclosure operator-(const Enclosure& a);
  friend Enclosure abs(const Enclosure& a);
  friend Enclosure square(const Enclosure& a);
  friend Enclosure sqrt(const Enclosure& a);
  friend Enclosure hypot(const Enclosure& a, const Enclosure& b);
  friend Enclosure exp(const Enclosure& a);
  friend Enclosure log(const Enclosure& a);
  friend Enclosure tanh(const Enclosure& a);
  friend Enclosure sin(const Enclosure& a);
  friend Enclosure cos(const Enclosure& a);
  /// The minimum of the two reals.
  friend Enclosure min(const Enclosure& a, const Enclosure& b);

  /// True only when it is certain: every real of a is at most every real of b.
  friend bool certainly_at_most(const Enclosure& a, const Enclosure& b);
  /// True only when it is certain: every real of a is above every real of b.
  friend bool certainly_above(const Enclosure& a, const Enclosure& b);

  /// Doubles that bound the interval: rounded down, and up.
  double lower() const;
  double upper() const;

  /// upper end - lower end, rounded up.
  double width() const;

  mpfr_srcptr lower_end() const { return &interval_->left; }
  mpfr_srcptr upper_end() const { return &interval_->right; }

 private:
  explicit Enclosure(Precision precision);
  template <class Function>
  static Enclosure unary(const Enclosure& a, Function function, std::uint64_t cost);
  template <class Function>
  static Enclosure binary(const Enclosure& a, const Enclosure& b, Function function);

  mpfi_t interval_;
};

/// a <= b: yes and no when it is certain, else unknown.
enum class Certainty { yes, no, unknown };
Certainty at_most(const Enclosure& a, const Enclosure& b);

/// Where Ziv's loop starts and where it gives up; 64 bits and twice 53 leave most questions decided in the first round.
inline constexpr Precision first_precision{128};
inline constexpr Precision last_precision{8192};

/// Ziv's loop: asks `question(Precision)` at 128, 256, ... 8192 bits until its answer is certain.
/// @returns the first certain answer, or `unknown` when the last precision leaves the question open.
template <class Question>
Certainty decide(Question question) {
  for (Precision precision = first_precision; precision.bits <= last_precision.bits; precision.bits *= 2) {
    const Certainty answer = question(precision);
    if (answer != Certainty::unknown) return answer;
  }
  return Certainty::unknown;
}

}  // namespace sextant::reference
