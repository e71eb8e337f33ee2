#include "attack/numbers/interval.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sextant::attack {
namespace {

// op(result, argument, direction) of an increasing function.
template <class Operation>
Interval increasing(const Interval& a, Operation op) {
  Interval result{Real(a.bits()), Real(a.bits())};
  const int inexact = op(result.low.get(), a.low.get(), MPFR_RNDD);
  if (!a.is_point()) {
    op(result.high.get(), a.high.get(), MPFR_RNDU);
    return result;
  }
  // Of a point the value rounded up is the next one, unless it is exact.
  mpfr_set(result.high.get(), result.low.get(), MPFR_RNDN);
  if (inexact != 0) mpfr_nextabove(result.high.get());
  return result;
}

// An infinite end bounds reals that are finite, so that times 0 it is 0.
void multiply(mpfr_ptr result, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t direction) {
  mpfr_mul(result, a, b, direction);
  if (mpfr_nan_p(result) != 0) mpfr_set_zero(result, 1);
}

Interval hull(long bits, const Interval& a, const Interval& b, auto operation) {
  Interval result{Real(bits), Real(bits)};
  Real end(bits);
  bool first = true;
  for (const Real* x : {&a.low, &a.high}) {
    for (const Real* y : {&b.low, &b.high}) {
      operation(end.get(), x->get(), y->get(), MPFR_RNDD);
      if (first || mpfr_less_p(end.get(), result.low.get()) != 0) mpfr_set(result.low.get(), end.get(), MPFR_RNDN);
      operation(end.get(), x->get(), y->get(), MPFR_RNDU);
      if (first || mpfr_greater_p(end.get(), result.high.get()) != 0) mpfr_set(result.high.get(), end.get(), MPFR_RNDN);
      first = false;
    }
  }
  return result;
}

}  // namespace

Interval exactly(long bits, double value) { return {Real(bits, value), Real(bits, value)}; }

Interval exactly(long bits, std::int64_t value) {
  Interval result{Real(bits), Real(bits)};
  mpfr_set_sj(result.low.get(), value, MPFR_RNDD);
  mpfr_set_sj(result.high.get(), value, MPFR_RNDU);
  return result;
}

Interval operator-(const Interval& a) {
  Interval result{a.high, a.low};
  mpfr_neg(result.low.get(), result.low.get(), MPFR_RNDN);
  mpfr_neg(result.high.get(), result.high.get(), MPFR_RNDN);
  return result;
}

Interval operator+(const Interval& a, const Interval& b) {
  const long bits = std::max(a.bits(), b.bits());
  Interval result{Real(bits), Real(bits)};
  mpfr_add(result.low.get(), a.low.get(), b.low.get(), MPFR_RNDD);
  mpfr_add(result.high.get(), a.high.get(), b.high.get(), MPFR_RNDU);
  return result;
}

Interval operator-(const Interval& a, const Interval& b) { return a + (-b); }

Interval operator*(const Interval& a, const Interval& b) { return hull(std::max(a.bits(), b.bits()), a, b, multiply); }

Interval operator/(const Interval& a, const Interval& b) {
  return hull(std::max(a.bits(), b.bits()), a, b,
              [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t d) { mpfr_div(r, x, y, d); });
}

Interval pi(long bits) {
  Interval result{Real(bits), Real(bits)};
  mpfr_const_pi(result.low.get(), MPFR_RNDD);
  mpfr_const_pi(result.high.get(), MPFR_RNDU);
  return result;
}

Interval log(const Interval& a) {
  return increasing(a, [](mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t d) { return mpfr_log(r, x, d); });
}
Interval exp(const Interval& a) {
  return increasing(a, [](mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t d) { return mpfr_exp(r, x, d); });
}
Interval exp2(const Interval& a) {
  return increasing(a, [](mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t d) { return mpfr_exp2(r, x, d); });
}
Interval sqrt(const Interval& a) {
  return increasing(a, [](mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t d) { return mpfr_sqrt(r, x, d); });
}

Interval least_of(const Interval& a, const Interval& b) {
  return {mpfr_less_p(a.low.get(), b.low.get()) != 0 ? a.low : b.low,
          mpfr_less_p(a.high.get(), b.high.get()) != 0 ? a.high : b.high};
}
Interval greatest_of(const Interval& a, const Interval& b) {
  return {mpfr_greater_p(a.low.get(), b.low.get()) != 0 ? a.low : b.low,
          mpfr_greater_p(a.high.get(), b.high.get()) != 0 ? a.high : b.high};
}

// Both functions change by no more than their argument does, so that the values at the middle, widened by the radius,
// hold the others.
SineAndCosine sine_and_cosine(const Interval& angle) {
  const long bits = angle.bits();
  Real middle(bits);
  mpfr_add(middle.get(), angle.low.get(), angle.high.get(), MPFR_RNDN);
  mpfr_div_2ui(middle.get(), middle.get(), 1, MPFR_RNDN);
  Real radius(bits);
  Real other(bits);
  mpfr_sub(radius.get(), angle.high.get(), middle.get(), MPFR_RNDU);
  mpfr_sub(other.get(), middle.get(), angle.low.get(), MPFR_RNDU);
  mpfr_max(radius.get(), radius.get(), other.get(), MPFR_RNDU);
  SineAndCosine result{{Real(bits), Real(bits)}, {Real(bits), Real(bits)}};
  const auto widened = [&](Interval& value, auto function) {
    function(value.low.get(), middle.get(), MPFR_RNDD);
    function(value.high.get(), middle.get(), MPFR_RNDU);
    mpfr_sub(value.low.get(), value.low.get(), radius.get(), MPFR_RNDD);
    mpfr_add(value.high.get(), value.high.get(), radius.get(), MPFR_RNDU);
  };
  widened(result.sine, [](mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t d) { mpfr_sin(r, x, d); });
  widened(result.cosine, [](mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t d) { mpfr_cos(r, x, d); });
  return result;
}

Real width_of(const Interval& a) {
  Real width(a.bits());
  mpfr_sub(width.get(), a.high.get(), a.low.get(), MPFR_RNDU);
  return width;
}

long double number_near(const Interval& a) { return mpfr_get_ld(a.low.get(), MPFR_RNDN); }

}  // namespace sextant::attack
