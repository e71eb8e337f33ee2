// Biases looked up by the bucket of key - query, and the gradient of their table.
//
//   1. Borders between logarithmic buckets are integers, found by comparing powers of integers, or by enclosures of the
//      real border where powers would be long; both are exact (border()).
//   2. Where keys follow one another a bias depends on key - query alone: the values of a head are put in that order
//      once, and each query's row is a part of them.
//   3. Gradient: likewise columns of key - query are summed first, without rounding (exact_columns.hpp), then the
//      columns of each bucket; what needs more than two doubles is summed by ExactSum, and all is rounded once.
//
// The proofs stand beside border_by_powers, border_by_logarithm and border.

#include "lib/relative_bias/relative_bias.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/exact_columns.hpp"
#include "lib/kernels/exact_sum.hpp"
#include "lib/kernels/parallel.hpp"
#include "lib/kernels/relative_range.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/kernels/targets.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

using boost::multiprecision::cpp_int;

const RelativeBias& checked(const RelativeBias& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  target_in_use();  // before the first dispatch
  return encoding;
}

// Of a weight that `bias` takes.
std::int64_t heads_of_weight(const RelativeBias& encoding, const Tensor& weight) {
  constexpr const char* function = "RelativeBiasEncoder::bias";
  if (weight.shape.size() != 2) {
    throw std::invalid_argument(std::string(function) + ": weight has shape " + shape_text(weight.shape) +
                                ", expected [num_buckets, heads]");
  }
  check_tensor(function, "weight", weight, {encoding.num_buckets, weight.shape[1]});
  return weight.shape[1];
}

// The bucket of distance n >= E grows by the integer k where ln(n/E) / ln(d/E) >= k/s, E the exact distances, d =
// max_distance, s the steps from E to d: where n >= E (d/E)^(k/s). With k/s in lowest terms that is n^s >= d^k E^(s-k),
// a comparison of integers. Rounded up, as DeBERTa-v2's, it grows beyond that: where n is greater, and d one less.
enum class Met { at_border, beyond_border };
struct Curve {
  std::int64_t exact;
  std::int64_t furthest;
  Met met;
};

cpp_int power(std::int64_t base, std::int64_t exponent) { return pow(cpp_int(base), static_cast<unsigned>(exponent)); }

// The least n of that kind, by bisection between E, which never is, and d, or what follows it, which always is.
std::int64_t border_by_powers(const Curve& curve, std::int64_t k, std::int64_t s) {
  const bool beyond = curve.met == Met::beyond_border;
  const cpp_int needed = power(curve.furthest, k) * power(curve.exact, s - k) + (beyond ? 1 : 0);
  std::int64_t below = curve.exact;
  std::int64_t at_least = curve.furthest + (beyond ? 1 : 0);
  while (at_least - below > 1) {
    const std::int64_t middle = below + (at_least - below) / 2;
    (power(middle, s) >= needed ? at_least : below) = middle;
  }
  return at_least;
}

// ceil(E (d/E)^(k/s)), or nothing while the approximation reaches over an integer. With e = spacing_at_one and the
// bounds of wide.hpp: the logarithm is below 53 ln 2 < 37 and errs by 37 2^7 e and by e for the quotient, which exp
// makes a relative error below 2^13 e; with exp's own, (2^5 37 + 2^6) e, and four operations below 2^14 e.
template <class Real>
std::optional<std::int64_t> border_by_logarithm(const Curve& curve, std::int64_t k, std::int64_t s) {
  const Real real = exp(Real(log(Real(Real(curve.furthest) / curve.exact)) * k / s)) * curve.exact;
  const Real error = real * ldexp(spacing_at_one<Real>(), 15);
  const auto low = static_cast<std::int64_t>(ceil(Real(real - error)));
  const auto high = static_cast<std::int64_t>(ceil(Real(real + error)));
  return low == high ? std::optional(low) : std::nullopt;
}

std::int64_t border(const Curve& curve, std::int64_t step, std::int64_t steps) {
  const std::int64_t common = std::gcd(step, steps);
  const std::int64_t k = step / common;
  const std::int64_t s = steps / common;
  // Powers of up to 64 are quick. Beyond, the real number is never an integer n, so that its enclosure comes to lie
  // between two, and it makes no difference whether a border itself is met: by n^s = d^k E^(s-k), with k and s coprime,
  // d/E would be an s-th power of a rational other than 1, one of whose terms is at least 2^s > d.
  if (s <= 64) return border_by_powers(curve, k, s);
  const auto found = until_decided([&]<class Real>() { return border_by_logarithm<Real>(curve, k, s); });
  if (!found) throw std::domain_error("RelativeBiasEncoder: a border between buckets is undecided at 5000 bits");
  return *found;
}

// [queries, keys] of one head.
struct HeadGradient {
  const Tensor* grad;
  std::int64_t head;
  std::int64_t queries;
  std::int64_t keys;

  std::int64_t index(std::int64_t query, std::int64_t key) const { return (head * queries + query) * keys + key; }
};

// Neighbouring keys: the gradient of each row is added to the columns of its distances, one after the other, and each
// distance's sum then to that of its bucket, sum_of(distance).
template <class SumOf>
void add_by_distance(const RelativeRange& range, std::span<const std::int64_t> query_positions, std::int64_t first_key,
                     const HeadGradient& gradient, SumOf sum_of) {
  const Tensor& grad = *gradient.grad;
  const auto column_of = [&](std::int64_t query) {
    return first_key - query_positions[static_cast<std::size_t>(query)] - range.first;
  };
  ExactColumns columns(range.count());
  // Rows at once, few enough that a set of the first-level cache holds a line of each where they are 4 KiB apart.
  constexpr std::int64_t together = 4;
  const std::size_t width = size_of(grad.dtype);
  std::vector<const std::byte*> rows;
  // The elements of columns [first, last) of the rows of some queries, zeros where a row has none.
  std::vector<std::byte> ends;
  const auto add = [&](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last) {
    if (first >= last) return;
    rows.clear();
    const auto bytes = static_cast<std::size_t>(last - first) * width;
    ends.assign(static_cast<std::size_t>(end - begin) * bytes, std::byte{0});
    for (std::int64_t query = begin; query < end; ++query) {
      std::byte* const to = ends.data() + static_cast<std::size_t>(query - begin) * bytes;
      rows.push_back(to);
      const std::int64_t own = std::max(first, column_of(query));
      const std::int64_t own_last = std::min(last, column_of(query) + gradient.keys);
      if (own >= own_last) continue;
      const std::int64_t index = gradient.index(query, own - column_of(query));
      std::memcpy(to + static_cast<std::size_t>(own - first) * width,
                  grad.data.data() + static_cast<std::size_t>(index) * width,
                  static_cast<std::size_t>(own_last - own) * width);
    }
    columns.add(grad.dtype, rows, first, last - first);
  };
  for (std::int64_t begin = 0; begin < gradient.queries; begin += together) {
    const std::int64_t end = std::min(begin + together, gradient.queries);
    std::int64_t least = column_of(begin);
    std::int64_t greatest = least;
    for (std::int64_t query = begin; query < end; ++query) {
      least = std::min(least, column_of(query));
      greatest = std::max(greatest, column_of(query));
    }
    // What all rows have is added where it lies.
    const std::int64_t last = least + gradient.keys;
    if (greatest >= last) {
      for (std::int64_t query = begin; query < end; ++query)
        add(query, query + 1, column_of(query), column_of(query) + gradient.keys);
      continue;
    }
    add(begin, end, least, greatest);
    add(begin, end, last, greatest + gradient.keys);
    rows.clear();
    for (std::int64_t query = begin; query < end; ++query) {
      const std::int64_t index = gradient.index(query, greatest - column_of(query));
      rows.push_back(grad.data.data() + static_cast<std::size_t>(index) * width);
    }
    columns.add(grad.dtype, rows, greatest, last - greatest);
  }
  for (std::int64_t distance = range.first; distance <= range.last; ++distance) {
    const std::int64_t column = distance - range.first;
    ExactSum& sum = sum_of(distance);
    if (columns.is_exact(column)) {
      sum.add(columns.high(column));
      sum.add(columns.low(column));
      continue;
    }
    for (std::int64_t query = 0; query < gradient.queries; ++query) {
      const std::int64_t key = column - column_of(query);
      if (key >= 0 && key < gradient.keys) sum.add(grad.at(gradient.index(query, key)));
    }
  }
}

}  // namespace

RelativeBiasEncoder::RelativeBiasEncoder(const RelativeBias& encoding)
    : encoding_(checked(encoding)), exact_(directed_buckets(encoding) / 2) {
  const StandardArithmetic arithmetic;
  const std::int64_t steps = directed_buckets(encoding) - exact_;
  switch (encoding.buckets) {
    case BucketRule::t5:
      for (std::int64_t step = 1; step < steps; ++step)
        borders_.push_back(border({exact_, encoding.max_distance, Met::at_border}, step, steps));
      break;
    case BucketRule::log:
      for (std::int64_t step = 0; step < steps; ++step)
        borders_.push_back(border({exact_, encoding.max_distance - 1, Met::beyond_border}, step, steps - 1));
      break;
    case BucketRule::clipped: exact_ = directed_buckets(encoding); break;
  }
  constexpr std::int64_t most = 1 << 16;
  for (std::int64_t distance = 0; distance < std::min(encoding.max_distance, most); ++distance) {
    near_.push_back(static_cast<std::int32_t>(directed_bucket(distance)));
  }
}

std::int64_t RelativeBiasEncoder::directed_bucket(std::int64_t distance) const {
  return distance < exact_ ? distance : exact_ + (std::ranges::upper_bound(borders_, distance) - borders_.begin());
}

std::int64_t RelativeBiasEncoder::kept_bucket(std::int64_t distance) const {
  return distance < std::ssize(near_) ? near_[static_cast<std::size_t>(distance)] : directed_bucket(distance);
}

std::int64_t RelativeBiasEncoder::bucket(std::int64_t relative) const {
  const std::int64_t directed = directed_buckets(encoding_);
  if (encoding_.buckets != BucketRule::t5) {
    if (relative > 0) return directed - kept_bucket(relative);
    return std::min(directed + kept_bucket(-std::max(relative, -encoding_.max_distance)), 2 * directed - 1);
  }
  const std::int64_t start = encoding_.bidirectional && relative > 0 ? directed : 0;
  // Distances from max_distance on share the last bucket; the most negative integer has no negative.
  const std::int64_t before = std::min(-std::max(relative, -encoding_.max_distance), encoding_.max_distance);
  const bool counts_ahead = encoding_.bidirectional || encoding_.later_keys == LaterKeys::mirrored;
  const std::int64_t distance = relative <= 0 ? before : counts_ahead ? relative : 0;
  return start + kept_bucket(distance);
}

void RelativeBiasEncoder::bias(std::span<const std::int64_t> query_positions,
                               std::span<const std::int64_t> key_positions, const Tensor& weight,
                               std::span<std::byte> out) const {
  constexpr const char* function = "RelativeBiasEncoder::bias";
  const std::int64_t heads = heads_of_weight(encoding_, weight);
  const std::int64_t queries = std::ssize(query_positions);
  const std::int64_t keys = std::ssize(key_positions);
  check_bytes(function, out, elements_of(std::vector<std::int64_t>{heads, queries, keys}), weight.dtype);
  check_range(function, "query_positions", query_positions);
  check_range(function, "key_positions", key_positions);
  with_bits_of(weight.dtype, [&]<class Bits>(Bits) {
    // The weights of one head side by side.
    std::vector<Bits> by_head(static_cast<std::size_t>(heads * encoding_.num_buckets));
    for (std::int64_t i = 0; i < weight.elements(); ++i) {
      Bits& own = by_head[static_cast<std::size_t>(i % heads * encoding_.num_buckets + i / heads)];
      std::memcpy(&own, weight.data.data() + static_cast<std::size_t>(i) * sizeof own, sizeof own);
    }
    const auto place = [&](std::int64_t head, std::int64_t query) {
      return out.data() + static_cast<std::size_t>((head * queries + query) * keys) * sizeof(Bits);
    };
    if (const auto range = short_range(query_positions, key_positions)) {
      // Neighbouring keys: each row is a part of the head's values in the order of key - query.
      const std::int64_t distances = range->count();
      std::vector<Bits> in_order(static_cast<std::size_t>(heads * distances));
      for (std::int64_t i = 0; i < distances; ++i) {
        const std::int64_t own = bucket(range->first + i);
        for (std::int64_t head = 0; head < heads; ++head) {
          in_order[static_cast<std::size_t>(head * distances + i)] =
              by_head[static_cast<std::size_t>(head * encoding_.num_buckets + own)];
        }
      }
      write_from_lists(*range, heads, query_positions, key_positions, weight.dtype,
                       std::as_bytes(std::span(in_order)).data(), out.data());
      return;
    }
    parallel_for(queries, heads * queries * keys, [&](std::int64_t query) {
      std::vector<std::int32_t> buckets;  // at most 2^16 of them
      buckets.reserve(key_positions.size());
      const std::int64_t from = query_positions[static_cast<std::size_t>(query)];
      for (const std::int64_t key : key_positions) buckets.push_back(static_cast<std::int32_t>(bucket(key - from)));
      for (std::int64_t head = 0; head < heads; ++head) {
        const Bits* values = by_head.data() + head * encoding_.num_buckets;
        std::byte* row = place(head, query);
        for (std::int64_t key = 0; key < keys; ++key) put(row, key, values[buckets[static_cast<std::size_t>(key)]]);
      }
    });
  });
}

Tensor RelativeBiasEncoder::bias(std::span<const std::int64_t> query_positions,
                                 std::span<const std::int64_t> key_positions, const Tensor& weight) const {
  Tensor matrices = Tensor::zeros(
      weight.dtype, {heads_of_weight(encoding_, weight), std::ssize(query_positions), std::ssize(key_positions)});
  bias(query_positions, key_positions, weight, matrices.data);
  return matrices;
}

Tensor RelativeBiasEncoder::grad_weight(std::span<const std::int64_t> query_positions,
                                        std::span<const std::int64_t> key_positions, const Tensor& grad) const {
  constexpr const char* function = "RelativeBiasEncoder::grad_weight";
  const std::int64_t heads = grad.shape.empty() ? 0 : grad.shape.front();
  const std::int64_t queries = std::ssize(query_positions);
  const std::int64_t keys = std::ssize(key_positions);
  check_tensor(function, "grad", grad, {heads, queries, keys});
  check_range(function, "query_positions", query_positions);
  check_range(function, "key_positions", key_positions);
  Tensor gradient = Tensor::zeros(grad.dtype, {encoding_.num_buckets, heads});
  const auto range = short_range(query_positions, key_positions);
  parallel_for(heads, heads * queries * keys, [&](std::int64_t head) {
    std::vector<ExactSum> sums(static_cast<std::size_t>(encoding_.num_buckets));
    const auto own_sum = [&](std::int64_t relative) -> ExactSum& {
      return sums[static_cast<std::size_t>(bucket(relative))];
    };
    if (range) {
      add_by_distance(*range, query_positions, key_positions.front(), {&grad, head, queries, keys}, own_sum);
    } else {
      for (std::int64_t query = 0; query < queries; ++query) {
        for (std::int64_t key = 0; key < keys; ++key) {
          const std::int64_t relative =
              key_positions[static_cast<std::size_t>(key)] - query_positions[static_cast<std::size_t>(query)];
          own_sum(relative).add(grad.at((head * queries + query) * keys + key));
        }
      }
    }
    for (std::int64_t b = 0; b < encoding_.num_buckets; ++b)
      gradient.set(b * heads + head, sums[static_cast<std::size_t>(b)].rounded(grad.dtype));
  });
  return gradient;
}

}  // namespace sextant
