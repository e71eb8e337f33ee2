#include "lib/integer/integer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/table_rows.hpp"

namespace sextant {
namespace {

// numerator / denominator rounded to odd: the quotient itself where it is a double, else the one of the two doubles
// around it whose last bit is set. That bit remembers the inexactness, so that rounding it once more, to at most 51
// bits, rounds the true quotient (Boldo and Melquiond 2008, IEEE Transactions on Computers 57(4), theorem 1). Both
// arguments are integers of at most 2^53.
double quotient_to_odd(double numerator, double denominator) {
  const double quotient = numerator / denominator;
  const double rest = std::fma(-quotient, denominator, numerator);  // exact, a division's remainder
  if (rest == 0 || (std::bit_cast<std::uint64_t>(quotient) & 1) != 0) return quotient;
  const double towards = (rest > 0) == (denominator > 0) ? std::numeric_limits<double>::infinity()
                                                         : -std::numeric_limits<double>::infinity();
  return std::nextafter(quotient, towards);
}

}  // namespace

IntegerEncoder::IntegerEncoder(const Integer& encoding, std::int64_t max_position)
    : encoding_(encoding), max_position_(max_position) {
  Spec spec;
  spec.encoding = encoding;
  spec.min_position = std::min<std::int64_t>(0, max_position - 1);
  spec.max_position = max_position;
  validate(spec);
}

void IntegerEncoder::encode(std::span<const std::int64_t> positions, const Rows& out) const {
  check_table(out, std::ssize(positions), encoding_.dim);
  check_range("IntegerEncoder::encode", positions);
  const auto last = static_cast<double>(max_position_ - 1);
  with_bits_of(out.dtype, [&]<class Bits>(Bits) {
    for_each_row(out, [&](std::int64_t row, std::byte* place) {
      const auto number = static_cast<double>(positions[static_cast<std::size_t>(row)]);
      double value = number;
      if (encoding_.normalize) value = out.dtype == Dtype::float64 ? number / last : quotient_to_odd(number, last);
      put_copies(place, encoding_.dim, bits_of<Bits>(out.dtype, value));
    });
  });
}

void IntegerEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const {
  encode(positions, dense_rows("IntegerEncoder::encode", out, dtype, std::ssize(positions), encoding_.dim));
}

Tensor IntegerEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions), encoding_.dim});
  encode(positions, dtype, table.data);
  return table;
}

}  // namespace sextant
