#include "properties/model/quick_exponential.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include "reference/double_double_within.hpp"
#include "reference/enclosure.hpp"

// x = n ln2/64 + r with |r| < 0.00543: e^x = 2^(n/64) e^r (Tang 1989, "Table-driven implementation of the exponential
// function"). In roundoffs u of Real:
// 1. |n| < 2^16, and c1, ln2/64 as float has it, has 24 bits: n c1 is exact, and so is x - n c1, by Sterbenz's lemma
//    for |n| >= 1, since both are within a factor of 2. n c2 is off by 2 u |n c2| < 2^-13 u, the difference by 0.006 u.
// 2. The series to r^9 leaves out r^10/10! < 2^-96; Horner's scheme errs by 1.02 u of the value: the error of each step
//    and of each coefficient is multiplied by r but for the last sum's.
// 3. The table's entry and the product are rounded once each: 1 u + 1 u.
// Together less than 4 u.

namespace sextant {
namespace {

constexpr int steps_of_a_power = 64;
constexpr int last_term = 9;

template <class Real>
Real nearest(const reference::Enclosure& enclosure) {
  const auto value = reference::DoubleDoubleWithin::of(enclosure);
  return static_cast<Real>(value.high) + static_cast<Real>(value.low);
}

template <class Real>
struct Constants {
  std::array<Real, steps_of_a_power> powers;
  std::array<Real, last_term + 1> coefficients;  // 1/i!
  Real inverse;
  Real c1;
  Real c2;

  Constants() {
    using reference::Enclosure;
    const Enclosure step =
        log(Enclosure(2.0, reference::first_precision)) / Enclosure(64.0, reference::first_precision);
    for (int j = 0; j < steps_of_a_power; ++j)
      powers[static_cast<std::size_t>(j)] =
          nearest<Real>(exp(step * Enclosure(std::int64_t{j}, reference::first_precision)));
    coefficients[0] = 1;
    for (int i = 1, factorial = 1; i <= last_term; ++i)
      coefficients[static_cast<std::size_t>(i)] = 1 / static_cast<Real>(factorial *= i);
    const auto first = static_cast<double>(static_cast<float>(step.upper()));
    c1 = static_cast<Real>(first);
    c2 = nearest<Real>(step - Enclosure(first, reference::first_precision));
    inverse = 1 / nearest<Real>(step);
  }
};

}  // namespace

template <class Real>
Real quick_exponential(Real x) {
  static const Constants<Real> constants;
  if (!(x >= -707)) return x < 0 ? Real{0} : x;  // NaN stays NaN
  const Real count = std::rint(x * constants.inverse);
  const Real r = (x - count * constants.c1) - count * constants.c2;
  Real series = 0;
  for (int i = last_term; i >= 0; --i) series = constants.coefficients[static_cast<std::size_t>(i)] + r * series;
  const auto n = static_cast<std::int64_t>(count);
  const std::int64_t power = n >> 6;
  return std::scalbn(constants.powers[static_cast<std::size_t>(n - power * steps_of_a_power)] * series,
                     static_cast<int>(power));
}

template double quick_exponential<double>(double x);
template long double quick_exponential<long double>(long double x);

}  // namespace sextant
