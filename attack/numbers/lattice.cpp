#include "attack/numbers/lattice.hpp"

#include <cstddef>
#include <utility>

namespace sextant::attack {
namespace {

// Entries have some 260 bits (two of 53, the 160 bits that a near tie is deep, and the weights); a product of two and
// the sum of four of those are exact.
constexpr long lattice_bits = 1100;
// Gram-Schmidt is only there to choose by; rounding errors can make a basis less short, never wrong.
constexpr long projection_bits = 600;

Real dot(const Vector& a, const Vector& b, long bits) {
  Real sum(bits);
  for (std::size_t i = 0; i < a.size(); ++i) mpfr_fma(sum.get(), a[i].get(), b[i].get(), sum.get(), MPFR_RNDN);
  return sum;
}

// a -= factor * b.
void subtract(Vector& a, const Real& factor, const Vector& b) {
  Real product(lattice_bits);
  for (std::size_t i = 0; i < a.size(); ++i) {
    mpfr_mul(product.get(), factor.get(), b[i].get(), MPFR_RNDN);
    mpfr_sub(a[i].get(), a[i].get(), product.get(), MPFR_RNDN);
  }
}

struct GramSchmidt {
  Basis star;
  std::vector<Real> norm;

  explicit GramSchmidt(const Basis& basis) {
    for (const Vector& row : basis) append(row);
  }
  void append(const Vector& row) {
    Vector own;
    for (const Real& entry : row) {
      Real copy(projection_bits);
      mpfr_set(copy.get(), entry.get(), MPFR_RNDN);
      own.push_back(std::move(copy));
    }
    for (std::size_t j = 0; j < star.size(); ++j) {
      const Real share = share_of(row, j);
      Real product(projection_bits);
      for (std::size_t i = 0; i < own.size(); ++i) {
        mpfr_mul(product.get(), share.get(), star[j][i].get(), MPFR_RNDN);
        mpfr_sub(own[i].get(), own[i].get(), product.get(), MPFR_RNDN);
      }
    }
    norm.push_back(dot(own, own, projection_bits));
    star.push_back(std::move(own));
  }
  // The coefficient of star[j] in a row.
  Real share_of(const Vector& row, std::size_t j) const {
    Real share = dot(row, star[j], projection_bits);
    mpfr_div(share.get(), share.get(), norm[j].get(), MPFR_RNDN);
    return share;
  }
};

}  // namespace

Real lattice_integer(const Real& value, long shift) {
  Real scaled(lattice_bits);
  mpfr_mul_2si(scaled.get(), value.get(), shift, MPFR_RNDN);
  mpfr_rint(scaled.get(), scaled.get(), MPFR_RNDN);
  return scaled;
}

Real lattice_integer(double value) { return {lattice_bits, value}; }

void reduce(Basis& basis) {
  GramSchmidt projected(basis);
  for (std::size_t k = 1; k < basis.size();) {
    for (std::size_t j = k; j-- > 0;) {
      Real factor = projected.share_of(basis[k], j);
      mpfr_rint(factor.get(), factor.get(), MPFR_RNDN);
      if (mpfr_zero_p(factor.get()) == 0) subtract(basis[k], factor, basis[j]);
    }
    // |b*_k|^2 against (3/4 - share^2) |b*_(k-1)|^2.
    Real share = projected.share_of(basis[k], k - 1);
    mpfr_sqr(share.get(), share.get(), MPFR_RNDN);
    mpfr_d_sub(share.get(), 0.75, share.get(), MPFR_RNDN);
    mpfr_mul(share.get(), share.get(), projected.norm[k - 1].get(), MPFR_RNDN);
    if (mpfr_greaterequal_p(projected.norm[k].get(), share.get()) != 0) {
      ++k;
    } else {
      std::swap(basis[k], basis[k - 1]);
      projected = GramSchmidt(basis);
      k = k > 1 ? k - 1 : 1;
    }
  }
}

Vector near_point(const Basis& reduced, const Vector& target) {
  const GramSchmidt projected(reduced);
  Vector rest = target;
  for (std::size_t j = reduced.size(); j-- > 0;) {
    Real factor = projected.share_of(rest, j);
    mpfr_rint(factor.get(), factor.get(), MPFR_RNDN);
    subtract(rest, factor, reduced[j]);
  }
  Vector point = target;
  for (std::size_t i = 0; i < point.size(); ++i) mpfr_sub(point[i].get(), target[i].get(), rest[i].get(), MPFR_RNDN);
  return point;
}

void for_each_combination(const Basis& reduced, int reach, const std::function<void(const Vector&)>& visit) {
  std::vector<int> coefficients(reduced.size(), -reach);
  while (true) {
    Vector sum(reduced.front().size(), Real(lattice_bits));
    bool zero = true;
    for (std::size_t j = 0; j < reduced.size(); ++j) {
      if (coefficients[j] == 0) continue;
      zero = false;
      subtract(sum, Real(64, -coefficients[j]), reduced[j]);
    }
    if (!zero) visit(sum);
    std::size_t j = 0;
    while (j < coefficients.size() && coefficients[j] == reach) coefficients[j++] = -reach;
    if (j == coefficients.size()) return;
    ++coefficients[j];
  }
}

std::vector<Convergent> convergents(const Real& x, std::int64_t limit) {
  std::vector<Convergent> list;
  Convergent before{1, 0};
  Convergent last{0, 1};
  Real rest(x);
  Real whole(x.bits());
  while (true) {
    mpfr_floor(whole.get(), rest.get());
    // Beyond this the next numerator or denominator leaves the range in any case.
    if (mpfr_cmp_d(whole.get(), 0x1p62) >= 0) break;
    const auto digit = static_cast<__int128>(mpfr_get_sj(whole.get(), MPFR_RNDN));
    const __int128 numerator = list.empty() ? digit : digit * last.numerator + before.numerator;
    const __int128 denominator = list.empty() ? 1 : digit * last.denominator + before.denominator;
    if (denominator > limit || numerator > (static_cast<__int128>(1) << 62)) break;
    before = list.empty() ? Convergent{1, 0} : last;
    last = {static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
    list.push_back(last);
    mpfr_sub(rest.get(), rest.get(), whole.get(), MPFR_RNDN);
    if (mpfr_zero_p(rest.get()) != 0) break;
    mpfr_ui_div(rest.get(), 1, rest.get(), MPFR_RNDN);
  }
  return list;
}

}  // namespace sextant::attack
