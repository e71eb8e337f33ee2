#include "reference/enclosure.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "reference/work_limit.hpp"

namespace sextant::reference {
namespace {

// MPFR keeps constants and a pool of numbers for each thread that uses it; this gives them back when the thread ends.
struct ThreadCaches {
  ThreadCaches() = default;
  ThreadCaches(const ThreadCaches&) = delete;
  ThreadCaches& operator=(const ThreadCaches&) = delete;
  ~ThreadCaches() { mpfr_free_cache(); }
};

// Rough costs: what a limit on work needs is a count that grows as the time does.
constexpr std::uint64_t arithmetic = 1;
constexpr std::uint64_t elementary = 64;

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
thread_local std::uint64_t taken = 0;
thread_local std::uint64_t allowed = no_limit;

void take_steps(long bits, std::uint64_t cost) {
  taken += static_cast<std::uint64_t>(bits) * cost;
  if (taken > allowed) throw WorkLimitReached();
}

}  // namespace

std::uint64_t steps_taken() { return taken; }

WorkLimit::WorkLimit(std::uint64_t steps)
    : outer_(std::exchange(allowed, steps > no_limit - taken ? no_limit : taken + steps)) {}

WorkLimit::~WorkLimit() { allowed = outer_; }

WithoutWorkLimit::WithoutWorkLimit() : taken_(taken), allowed_(std::exchange(allowed, no_limit)) {}

WithoutWorkLimit::~WithoutWorkLimit() {
  taken = taken_;
  allowed = allowed_;
}

// A moved-from value keeps its own storage (swap), so that every object is always initialised.

Enclosure::Enclosure(Precision precision) {
  static thread_local const ThreadCaches caches;
  mpfi_init2(interval_, precision.bits);
}

Enclosure::Enclosure(double value, Precision precision) : Enclosure(Precision{std::max(precision.bits, 53L)}) {
  mpfi_set_d(interval_, value);
}

Enclosure::Enclosure(std::int64_t value, Precision precision) : Enclosure(Precision{std::max(precision.bits, 64L)}) {
  static_assert(sizeof(long) == sizeof(std::int64_t), "mpfi_set_si takes a long");
  mpfi_set_si(interval_, value);
}

Enclosure Enclosure::pi(Precision precision) {
  Enclosure result(precision);
  mpfi_const_pi(result.interval_);
  return result;
}

Enclosure Enclosure::hull(const Enclosure& a, const Enclosure& b) { return binary(a, b, mpfi_union); }

Enclosure::Enclosure(const Enclosure& other) : Enclosure(other.precision()) { mpfi_set(interval_, other.interval_); }

Enclosure::Enclosure(Enclosure&& other) noexcept : Enclosure(Precision{MPFR_PREC_MIN}) {
  mpfi_swap(interval_, other.interval_);
}

Enclosure& Enclosure::operator=(const Enclosure& other) {
  Enclosure copy(other);
  mpfi_swap(interval_, copy.interval_);
  return *this;
}

Enclosure& Enclosure::operator=(Enclosure&& other) noexcept {
  mpfi_swap(interval_, other.interval_);
  return *this;
}

Enclosure::~Enclosure() { mpfi_clear(interval_); }

Precision Enclosure::precision() const { return {static_cast<long>(mpfi_get_prec(interval_))}; }

template <class Function>
Enclosure Enclosure::unary(const Enclosure& a, Function function, std::uint64_t cost) {
  take_steps(a.precision().bits, cost);
  Enclosure result(a.precision());
  function(result.interval_, a.interval_);
  return result;
}

template <class Function>
Enclosure Enclosure::binary(const Enclosure& a, const Enclosure& b, Function function) {
  const Precision precision{std::max(a.precision().bits, b.precision().bits)};
  take_steps(precision.bits, arithmetic);
  Enclosure result(precision);
  function(result.interval_, a.interval_, b.interval_);
  return result;
}

Enclosure operator+(const Enclosure& a, const Enclosure& b) { return Enclosure::binary(a, b, mpfi_add); }
Enclosure operator-(const Enclosure& a, const Enclosure& b) { return Enclosure::binary(a, b, mpfi_sub); }
Enclosure operator*(const Enclosure& a, const Enclosure& b) { return Enclosure::binary(a, b, mpfi_mul); }
Enclosure operator/(const Enclosure& a, const Enclosure& b) { return Enclosure::binary(a, b, mpfi_div); }
Enclosure operator-(const Enclosure& a) { return Enclosure::unary(a, mpfi_neg, arithmetic); }
Enclosure abs(const Enclosure& a) { return Enclosure::unary(a, mpfi_abs, arithmetic); }
Enclosure square(const Enclosure& a) { return Enclosure::unary(a, mpfi_sqr, arithmetic); }
Enclosure sqrt(const Enclosure& a) { return Enclosure::unary(a, mpfi_sqrt, arithmetic); }
Enclosure hypot(const Enclosure& a, const Enclosure& b) { return Enclosure::binary(a, b, mpfi_hypot); }
Enclosure exp(const Enclosure& a) { return Enclosure::unary(a, mpfi_exp, elementary); }
Enclosure tanh(const Enclosure& a) { return Enclosure::unary(a, mpfi_tanh, elementary); }
Enclosure log(const Enclosure& a) { return Enclosure::unary(a, mpfi_log, elementary); }
Enclosure sin(const Enclosure& a) { return Enclosure::unary(a, mpfi_sin, elementary); }
Enclosure cos(const Enclosure& a) { return Enclosure::unary(a, mpfi_cos, elementary); }

Enclosure min(const Enclosure& a, const Enclosure& b) {
  return Enclosure::binary(a, b, [](mpfi_ptr result, mpfi_srcptr x, mpfi_srcptr y) {
    mpfr_min(&result->left, &x->left, &y->left, MPFR_RNDD);
    mpfr_min(&result->right, &x->right, &y->right, MPFR_RNDU);
  });
}

bool certainly_at_most(const Enclosure& a, const Enclosure& b) {
  return mpfr_lessequal_p(&a.interval_->right, &b.interval_->left) != 0;
}

bool certainly_above(const Enclosure& a, const Enclosure& b) {
  return mpfr_greater_p(&a.interval_->left, &b.interval_->right) != 0;
}

double Enclosure::lower() const { return mpfr_get_d(&interval_->left, MPFR_RNDD); }

double Enclosure::upper() const { return mpfr_get_d(&interval_->right, MPFR_RNDU); }

double Enclosure::width() const {
  mpfr_t width;
  mpfr_init2(width, 53);
  mpfr_sub(width, &interval_->right, &interval_->left, MPFR_RNDU);
  const double result = mpfr_get_d(width, MPFR_RNDU);
  mpfr_clear(width);
  return result;
}

Certainty at_most(const Enclosure& a, const Enclosure& b) {
  if (certainly_at_most(a, b)) return Certainty::yes;
  if (certainly_above(a, b)) return Certainty::no;
  return Certainty::unknown;
}

}  // namespace sextant::reference
