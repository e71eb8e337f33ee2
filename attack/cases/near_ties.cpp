#include "attack/cases/near_ties.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "attack/cases/draw.hpp"
#include "attack/numbers/lattice.hpp"

namespace sextant::attack {
namespace {

long exponent_of(const Real& value) { return mpfr_zero_p(value.get()) != 0 ? -100000 : mpfr_get_exp(value.get()); }

// log2 of half an ULP of the numbers below 2^exponent; for subnormal numbers, of half the least one.
long half_place(const ElementFormat& format, long exponent) {
  return std::max<long>(exponent - 1, format.least) - format.stored() - 1;
}

// Whether `halves` half ULPs lie halfway between two neighbours of the format: their count is odd, and has one bit more
// than the format's precision, or at most that many where the numbers are subnormal.
bool is_tie(const ElementFormat& format, const Real& halves, long place) {
  if (mpfr_integer_p(halves.get()) == 0 || mpfr_zero_p(halves.get()) != 0) return false;
  Real half(halves);
  mpfr_div_2ui(half.get(), half.get(), 1, MPFR_RNDN);
  if (mpfr_integer_p(half.get()) != 0) return false;
  const bool subnormal = place == format.least - format.stored() - 1;
  return mpfr_get_exp(halves.get()) == format.precision + 1 ||
         (subnormal && mpfr_get_exp(halves.get()) <= format.precision + 1);
}

// Lattices have integer entries. Rounding a factor to one costs the combination half of its 53-bit coefficient, so that
// everything is taken this many times.
constexpr long fine = 64;

Real column(double value) {
  Real result = lattice_integer(value);
  mpfr_mul_2si(result.get(), result.get(), fine, MPFR_RNDN);
  return result;
}
Real column(const Real& value, long weight) { return lattice_integer(value, weight + fine); }
Real whole(const Real& entry, double weight) {
  Real result(entry);
  mpfr_div_2si(result.get(), result.get(), fine, MPFR_RNDN);
  mpfr_div_d(result.get(), result.get(), weight, MPFR_RNDN);
  return result;
}

template <class Candidate>
struct Ranked {
  double distance;
  Candidate candidate;
};

template <class Candidate>
std::vector<Candidate> nearest_of(std::vector<Ranked<Candidate>> list, std::size_t most) {
  std::ranges::sort(list, {}, &Ranked<Candidate>::distance);
  std::vector<Candidate> result;
  for (const auto& entry : list) {
    if (result.size() < most) result.push_back(entry.candidate);
  }
  return result;
}

Real times_power(const Real& value, long exponent) {
  Real result(value);
  mpfr_mul_2si(result.get(), result.get(), exponent, MPFR_RNDN);
  return result;
}

}  // namespace

std::vector<NearTie> near_ties(Random& random, const ElementFormat& format, const Real& u, const Real& v) {
  const int p = format.precision;
  // x0 = X0 2^e0, x1 = X1 2^e1 with integers below 2^p: about 1, or anywhere in the format; of one size, or the one
  // smaller than the other.
  const int lowest = format.least - format.stored();
  const int highest = format.greatest() + 1 - p;
  int e0 = random.once_in(3) ? static_cast<int>(random.between(lowest, highest))
                             : std::clamp(static_cast<int>(random.between(-p - 4, 4 - p)), lowest, highest);
  int e1 = e0;
  if (random.once_in(3)) (random.once_in(2) ? e0 : e1) -= static_cast<int>(random.between(1, p + 4));
  e0 = std::max(e0, lowest);
  e1 = std::max(e1, lowest);
  const long size = std::max(exponent_of(u) + e0, exponent_of(v) + e1) + p;
  const long place = half_place(format, size - random.of({0, 0, 1, 1, 2, static_cast<int>(random.between(3, 12))}));
  // u x0 + v x1 in half places, X0 and X1 and that number M being the coordinates, and what is between the two what is
  // to be short.
  const Real of_first = times_power(u, e0 - place);
  const Real of_second = times_power(v, e1 - place);
  const long weight = 3L * p + random.between(-8, 2);
  const Real zero = column(0);
  Basis basis;
  basis.push_back({column(2), zero, zero, column(of_first, weight)});
  basis.push_back({zero, column(2), zero, column(of_second, weight)});
  basis.push_back({zero, zero, column(1), column(Real(64, -1), weight)});
  reduce(basis);

  std::vector<Ranked<NearTie>> found;
  const double limit = std::ldexp(1.0, p);
  for_each_combination(basis, 2, [&](const Vector& sum) {
    const double first = whole(sum[0], 2).nearest();
    const double second = whole(sum[1], 2).nearest();
    if (!(std::fabs(first) < limit) || !(std::fabs(second) < limit) || !is_tie(format, whole(sum[2], 1), place)) return;
    found.push_back({std::fabs(sum[3].nearest()),
                     {bits_of(format, std::ldexp(first, e0)), bits_of(format, std::ldexp(second, e1))}});
  });
  return nearest_of(std::move(found), 8);
}

std::vector<std::int64_t> multiples_near_ties(Random& random, const ElementFormat& format, const Real& u,
                                              int exponent) {
  const long size = exponent_of(u) + exponent + 53;
  const long place = half_place(format, size - random.between(0, 3));
  const Real unit = times_power(u, exponent - place);
  // X up to 2^53, M up to 2^(p+1), what is between them 2^-53.
  const long weight = 106 + random.between(-6, 2);
  const double of_tie = std::ldexp(1.0, 52 - format.precision);
  Basis basis;
  basis.push_back({column(1), column(0), column(unit, weight)});
  basis.push_back({column(0), column(of_tie), column(Real(64, -1), weight)});
  reduce(basis);
  std::vector<Ranked<std::int64_t>> found;
  for_each_combination(basis, 3, [&](const Vector& sum) {
    const double multiple = std::fabs(whole(sum[0], 1).nearest());
    if (!(multiple >= 1 && multiple < 0x1p53) || !is_tie(format, whole(sum[1], of_tie), place)) return;
    found.push_back({std::fabs(sum[2].nearest()), static_cast<std::int64_t>(multiple)});
  });
  return nearest_of(std::move(found), 8);
}

std::vector<std::int64_t> positions_near(Random& random, const Real& turns_per_position, const Real& turns) {
  // p with weight 1 and the distance in turns with one that makes 2^-53 of them as long as 2^53.
  const long weight = 106 + random.between(-8, 8);
  Basis basis;
  basis.push_back({column(1), column(turns_per_position, weight)});
  basis.push_back({column(0), column(Real(64, 1), weight)});
  reduce(basis);
  const Vector target{column(static_cast<double>(random.between(std::int64_t{-1} * (furthest / 2), furthest / 2))),
                      column(turns, weight)};
  const Vector start = near_point(basis, target);
  std::vector<Ranked<std::int64_t>> found;
  const auto keep = [&](const Vector& step) {
    Real position(start[0]);
    Real distance(start[1]);
    mpfr_add(position.get(), position.get(), step[0].get(), MPFR_RNDN);
    mpfr_add(distance.get(), distance.get(), step[1].get(), MPFR_RNDN);
    mpfr_sub(distance.get(), distance.get(), target[1].get(), MPFR_RNDN);
    const Real own = whole(position, 1);
    if (mpfr_cmpabs(own.get(), Real(64, 0x1p53).get()) <= 0)
      found.push_back({std::fabs(distance.nearest()), mpfr_get_sj(own.get(), MPFR_RNDN)});
  };
  keep({column(0), column(0)});
  for_each_combination(basis, 2, keep);
  return nearest_of(std::move(found), 6);
}

}  // namespace sextant::attack
