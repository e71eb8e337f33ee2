#pragma once

namespace sextant {

/// e^x for x <= 0 within quick_exponential_roundoffs unit roundoffs of Real, relative; 0 below -707, where it is less
/// than 2^-1019. For double and long double; the C library's own functions come with no proof.
template <class Real>
Real quick_exponential(Real x);

inline constexpr double quick_exponential_roundoffs = 8;

}  // namespace sextant
