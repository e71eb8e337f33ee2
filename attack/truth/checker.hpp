#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "attack/numbers/element.hpp"
#include "attack/numbers/rounding.hpp"

namespace sextant::attack {

/// An element that is not what it must be.
struct Mismatch {
  std::int64_t element = 0;  ///< its index in the answer
  Bits got = 0;
  Bits wanted = 0;
  std::string rule;  ///< what it was judged by
};

/// A real number in long double and the bound of its error.
struct Quick {
  long double value;
  long double error;
};

/// Compares an answer's elements with the truth, one by one: a long double is asked first, MPFR where that does not
/// decide.
class Checker {
 public:
  Checker(Dtype dtype, std::span<const Bits> answer) : format_(element_format(dtype)), answer_(answer) {}

  const ElementFormat& format() const { return format_; }
  Bits got(std::int64_t element) const { return answer_[static_cast<std::size_t>(element)]; }

  /// The element must be the nearest to the real number.
  template <class EncloseReal>
  void nearest(std::int64_t element, const std::optional<Quick>& quick, const EncloseReal& enclose) {
    ++values_;
    if (quick && certainly_rounds_to(format_, got(element), quick->value, quick->error)) return;
    ++exact_;
    compare(element, attack::nearest(format_, enclose), "nearest value");
  }

  /// The element must be these bits.
  void same(std::int64_t element, Bits wanted, const char* rule) {
    ++values_;
    compare(element, wanted, rule);
  }

  /// The element must be a zero of either sign.
  void zero(std::int64_t element) {
    ++values_;
    if (!is_zero(format_, got(element))) compare(element, 0, "zero");
  }

  /// The element is not that number; for judgements of another kind.
  void refuse(std::int64_t element, Bits wanted, const char* rule) {
    if (!mismatch_) mismatch_ = Mismatch{element, got(element), wanted, rule};
    ++mismatches_;
  }
  void count() { ++values_; }

  const std::optional<Mismatch>& mismatch() const { return mismatch_; }
  std::int64_t mismatches() const { return mismatches_; }
  std::int64_t values() const { return values_; }
  std::int64_t exact() const { return exact_; }

 private:
  void compare(std::int64_t element, Bits wanted, const char* rule) {
    if (got(element) != wanted) refuse(element, wanted, rule);
  }

  ElementFormat format_;
  std::span<const Bits> answer_;
  std::int64_t values_ = 0;
  std::int64_t exact_ = 0;
  std::int64_t mismatches_ = 0;
  std::optional<Mismatch> mismatch_;
};

}  // namespace sextant::attack
