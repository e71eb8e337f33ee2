#include "reference/alibi.hpp"

#include <cmath>

#include "reference/rounding.hpp"

namespace sextant::reference {
namespace {

// Where the number of heads is a power of two, the slopes are a geometric sequence that begins with its ratio and ends
// with 2^-B, B the bias_max; what would stand before the first is 1. Twice as many heads have the same slopes and,
// before each, its geometric mean with the one before it. A slope that is a whole power of two is exact: where B k / n
// is whole and k odd, n divides B, and with fewer heads all are whole.
std::vector<Enclosure> of_twice_as_many_heads(const std::vector<Enclosure>& slopes) {
  std::vector<Enclosure> twice;
  Enclosure before(1.0, slopes.front().precision());
  for (const Enclosure& slope : slopes) {
    twice.push_back(sqrt(before * slope));
    twice.push_back(slope);
    before = slope;
  }
  return twice;
}

// As the released code has them: of the closest lower power of two, then [0::2] of those of its double.
std::vector<Enclosure> released_slopes(const Alibi& encoding, Precision precision) {
  const std::int64_t heads = encoding.num_heads;
  std::vector<Enclosure> slopes{Enclosure(std::ldexp(1.0, -static_cast<int>(encoding.bias_max)), precision)};
  while (2 * std::ssize(slopes) <= heads) slopes = of_twice_as_many_heads(slopes);
  if (std::ssize(slopes) == heads) return slopes;
  const std::vector<Enclosure> twice = of_twice_as_many_heads(slopes);
  for (std::size_t i = 0; std::ssize(slopes) < heads; i += 2) slopes.push_back(twice[i]);
  return slopes;
}

// 2^(-B (h+1) / n) as 2^-whole times 2^(-rest / n), the latter in (1/2, 1], and exact where it is 1.
std::vector<Enclosure> geometric_slopes(const Alibi& encoding, Precision precision) {
  const std::int64_t heads = encoding.num_heads;
  const Enclosure log_2 = log(Enclosure(2.0, precision));
  std::vector<Enclosure> slopes;
  for (std::int64_t head = 0; head < heads; ++head) {
    const std::int64_t numerator = encoding.bias_max * (head + 1);
    const Enclosure whole(std::ldexp(1.0, -static_cast<int>(numerator / heads)), precision);
    const std::int64_t rest = numerator % heads;
    slopes.push_back(rest == 0 ? whole
                               : whole * exp(-log_2 * Enclosure(rest, precision) / Enclosure(heads, precision)));
  }
  return slopes;
}

}  // namespace

AlibiReference::AlibiReference(const Alibi& encoding) : encoding_(encoding) {}

const Enclosure& AlibiReference::slope(std::int64_t head, Precision precision) {
  if (!encoding_.slope_dtype) return real_slope(head, precision);
  std::vector<Enclosure>& slopes = slopes_by_precision_[precision.bits];
  while (std::ssize(slopes) < encoding_.num_heads) {
    const std::int64_t next = std::ssize(slopes);
    slopes.emplace_back(nearest(*encoding_.slope_dtype, [&](Precision p) { return real_slope(next, p); }), precision);
  }
  return slopes.at(static_cast<std::size_t>(head));
}

const Enclosure& AlibiReference::real_slope(std::int64_t head, Precision precision) {
  std::vector<Enclosure>& slopes = real_slopes_by_precision_[precision.bits];
  if (slopes.empty()) {
    slopes = encoding_.slopes == AlibiSlopes::geometric ? geometric_slopes(encoding_, precision)
                                                        : released_slopes(encoding_, precision);
  }
  return slopes.at(static_cast<std::size_t>(head));
}

std::optional<Enclosure> AlibiReference::bias(std::int64_t query, std::int64_t key, std::int64_t head,
                                              Precision precision) {
  if (encoding_.mask == Mask::causal && key > query) return std::nullopt;
  const Enclosure& m = slope(head, precision);
  if (encoding_.form == AlibiForm::key_index) return m * Enclosure(key, precision);
  return m * -abs(Enclosure(query, precision) - Enclosure(key, precision));
}

}  // namespace sextant::reference
