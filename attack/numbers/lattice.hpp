#pragma once

#include <functional>
#include <vector>

#include "attack/numbers/interval.hpp"

namespace sextant::attack {

// Integer combinations that come close to where they should: the tool that builds near ties. Rows are vectors of
// integers, held in Reals of enough bits for every sum and product of them to be exact.

using Vector = std::vector<Real>;
using Basis = std::vector<Vector>;

/// The point value * 2^shift, rounded to an integer, of as many bits as lattices are computed in.
Real lattice_integer(const Real& value, long shift);
Real lattice_integer(double value);

/// Lenstra, Lenstra and Lovasz 1982, with delta = 3/4: short vectors first. Dimensions 2 to 4 are what it is meant for.
void reduce(Basis& basis);

/// Coordinates of the lattice point that Babai's nearest plane (1986) finds for `target`, given a reduced basis: the
/// point itself.
Vector near_point(const Basis& reduced, const Vector& target);

/// Calls visit(vector) with each nonzero combination of a reduced basis whose coefficients are within +-reach.
void for_each_combination(const Basis& reduced, int reach, const std::function<void(const Vector&)>& visit);

/// The convergents p/q of a number above 0 with q <= limit: the q for which |q x - p| is least (Khinchin 1964, theorem
/// 17). Domain: limit <= 2^62.
struct Convergent {
  std::int64_t numerator;
  std::int64_t denominator;
};
std::vector<Convergent> convergents(const Real& x, std::int64_t limit);

}  // namespace sextant::attack
