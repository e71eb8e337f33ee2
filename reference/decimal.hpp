#pragma once

#include <string>

#include "reference/enclosure.hpp"

namespace sextant::reference {

/// For tests: whether both ends of the enclosure are the decimal to 29 digits.
inline bool agrees_with(const Enclosure& enclosure, const std::string& decimal) {
  mpfr_t value;
  mpfr_t gap;
  mpfr_init2(value, 256);
  mpfr_init2(gap, 256);
  mpfr_set_str(value, decimal.c_str(), 10, MPFR_RNDN);
  bool near = true;
  for (const mpfr_srcptr end : {enclosure.lower_end(), enclosure.upper_end()}) {
    mpfr_sub(gap, end, value, MPFR_RNDA);
    mpfr_div(gap, gap, value, MPFR_RNDA);
    near = near && mpfr_number_p(gap) != 0 && mpfr_cmp_d(gap, 1e-29) < 0 && mpfr_cmp_d(gap, -1e-29) > 0;
  }
  mpfr_clears(value, gap, static_cast<mpfr_ptr>(nullptr));
  return near;
}

/// For tests: whether the enclosure is the one number.
inline bool is_exactly(const Enclosure& enclosure, double value) {
  return mpfr_cmp_d(enclosure.lower_end(), value) == 0 && mpfr_cmp_d(enclosure.upper_end(), value) == 0;
}

/// For tests: whether the enclosure holds the number.
inline bool holds(const Enclosure& enclosure, double value) {
  return mpfr_cmp_d(enclosure.lower_end(), value) <= 0 && mpfr_cmp_d(enclosure.upper_end(), value) >= 0;
}

/// For tests: whether the two enclosures have a number in common.
inline bool overlap(const Enclosure& a, const Enclosure& b) {
  return mpfr_lessequal_p(a.lower_end(), b.upper_end()) != 0 && mpfr_lessequal_p(b.lower_end(), a.upper_end()) != 0;
}

}  // namespace sextant::reference
