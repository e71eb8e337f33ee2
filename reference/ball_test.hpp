#pragma once

// Stands before arb.h, which in FLINT 3 declares what takes MPFR's numbers only where they are known.
#include <mpfr.h>

#include <arb.h>

#include <cstdint>
#include <utility>

#include "reference/enclosure.hpp"

namespace sextant::reference {

/// FLINT's ball arithmetic as a value, for formulas written a second time: it shares no code with MPFI.
class Ball {
 public:
  static constexpr slong bits = 512;

  Ball() { arb_init(ball_); }
  explicit Ball(double value) : Ball() { arb_set_d(ball_, value); }
  explicit Ball(std::int64_t value) : Ball() { arb_set_si(ball_, value); }
  static Ball pi() {
    return made([](arb_ptr out) { arb_const_pi(out, bits); });
  }
  Ball(const Ball& other) : Ball() { arb_set(ball_, other.ball_); }
  Ball& operator=(const Ball& other) {
    arb_set(ball_, other.ball_);
    return *this;
  }
  ~Ball() { arb_clear(ball_); }

  friend Ball operator+(const Ball& a, const Ball& b) {
    return made([&](arb_ptr out) { arb_add(out, a.ball_, b.ball_, bits); });
  }
  friend Ball operator-(const Ball& a, const Ball& b) {
    return made([&](arb_ptr out) { arb_sub(out, a.ball_, b.ball_, bits); });
  }
  friend Ball operator*(const Ball& a, const Ball& b) {
    return made([&](arb_ptr out) { arb_mul(out, a.ball_, b.ball_, bits); });
  }
  friend Ball operator/(const Ball& a, const Ball& b) {
    return made([&](arb_ptr out) { arb_div(out, a.ball_, b.ball_, bits); });
  }
  friend Ball exp(const Ball& a) {
    return made([&](arb_ptr out) { arb_exp(out, a.ball_, bits); });
  }
  friend Ball log(const Ball& a) {
    return made([&](arb_ptr out) { arb_log(out, a.ball_, bits); });
  }
  friend Ball sqrt(const Ball& a) {
    return made([&](arb_ptr out) { arb_sqrt(out, a.ball_, bits); });
  }
  friend Ball sin(const Ball& a) {
    return made([&](arb_ptr out) { arb_sin(out, a.ball_, bits); });
  }
  friend Ball cos(const Ball& a) {
    return made([&](arb_ptr out) { arb_cos(out, a.ball_, bits); });
  }
  friend Ball pow(const Ball& a, const Ball& b) {
    return made([&](arb_ptr out) { arb_pow(out, a.ball_, b.ball_, bits); });
  }
  friend Ball floor(const Ball& a) {
    return made([&](arb_ptr out) { arb_floor(out, a.ball_, bits); });
  }
  friend Ball ceil(const Ball& a) {
    return made([&](arb_ptr out) { arb_ceil(out, a.ball_, bits); });
  }
  friend Ball min(const Ball& a, const Ball& b) {
    return made([&](arb_ptr out) { arb_min(out, a.ball_, b.ball_, bits); });
  }
  friend Ball max(const Ball& a, const Ball& b) {
    return made([&](arb_ptr out) { arb_max(out, a.ball_, b.ball_, bits); });
  }
  friend bool certainly_below(const Ball& a, const Ball& b) { return arb_lt(a.ball_, b.ball_) != 0; }
  /// Whether it is one integer, and nothing else.
  bool is_integer() const { return arb_is_int(ball_) != 0; }
  double middle() const { return arf_get_d(arb_midref(ball_), ARF_RND_NEAR); }

  /// Whether the real number that the ball holds may lie in the enclosure.
  bool meets(const Enclosure& enclosure) const {
    const Ball other =
        made([&](arb_ptr out) { arb_set_interval_mpfr(out, enclosure.lower_end(), enclosure.upper_end(), bits); });
    return arb_overlaps(ball_, other.ball_) != 0;
  }

 private:
  template <class Function>
  static Ball made(Function function) {
    Ball result;
    function(result.ball_);
    return result;
  }

  arb_t ball_;
};

}  // namespace sextant::reference
