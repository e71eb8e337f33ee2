#include "properties/model/table_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/model/bucket_arithmetic.hpp"
#include "reference/relative_bias.hpp"
#include "reference/window_bias.hpp"

namespace sextant {
namespace {

using reference::Certainty;

template <class Bias>
struct RowsOf;

// The bucket of each distance is looked for once; distances beyond the last bucket share one.
template <>
struct RowsOf<RelativeBias> {
  RowsOf(const Spec& spec, const RelativeBias& of) : encoding(of), arithmetic(bucket_arithmetic_of(spec)) {}
  std::int64_t operator()(std::int64_t query, std::int64_t key) {
    const auto [known, is_new] = buckets.try_emplace(key - query, 0);
    if (!is_new) return known->second;
    known->second = reference::bucket(encoding, key - query);
    if (const auto other = reference::bucket_beside(encoding, key - query, arithmetic))
      open.insert({known->second, *other});
    return known->second;
  }
  RelativeBias encoding;
  reference::BucketArithmetic arithmetic;
  std::unordered_map<std::int64_t, std::int64_t> buckets;
  std::unordered_set<std::int64_t> open;  // rows of uses that the claim's arithmetic may add to either of
};

template <>
struct RowsOf<WindowBias> {
  RowsOf(const Spec&, const WindowBias& of) : encoding(of) {}
  std::int64_t operator()(std::int64_t query, std::int64_t key) const {
    return reference::window_row(encoding, query, key);
  }
  WindowBias encoding;
  std::unordered_set<std::int64_t> open;
};

template <class Bias>
TableGradient gradient_of_bias(const Spec& spec, const Bias& encoding, Tensor weight,
                               const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys,
                               Tensor grad) {
  RowsOf<Bias> rows_of(spec, encoding);
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> places;
  for (const std::int64_t query : queries) {
    for (const std::int64_t key : keys) {
      rows.push_back(rows_of(query, key));
      places.push_back(std::max(query, key));
    }
  }
  const std::int64_t uses = std::ssize(rows);
  const std::int64_t heads = grad.shape[0];
  return {"bias",
          {{"weight", std::move(weight)},
           {"query_positions", Tensor::of_integers({std::ssize(queries)}, queries)},
           {"key_positions", Tensor::of_integers({std::ssize(keys)}, keys)}},
          std::move(grad),
          std::move(rows),
          std::move(places),
          heads,
          1,
          uses,
          std::move(rows_of.open)};
}

// Of one element of the table.
struct Sum {
  long double value = 0;
  double size = 0;  // of the terms, all taken as positive
  std::int64_t terms = 0;
};

// A row that is used: its sums, one a column, and the last place of its uses, with which they are as they are.
struct UsedRow {
  std::vector<Sum> columns;
  std::int64_t place = std::numeric_limits<std::int64_t>::min();
};

std::unordered_map<std::int64_t, UsedRow> sums_of(const TableGradient& asked) {
  std::unordered_map<std::int64_t, UsedRow> sums;
  std::vector<double> grad(static_cast<std::size_t>(asked.grad.elements()));
  asked.grad.read(0, grad);
  for (std::int64_t use = 0; use < std::ssize(asked.rows); ++use) {
    UsedRow& row = sums[asked.rows[static_cast<std::size_t>(use)]];
    row.columns.resize(static_cast<std::size_t>(asked.columns));
    row.place = std::max(row.place, asked.places[static_cast<std::size_t>(use)]);
    const double* element = grad.data() + use * asked.of_use;
    for (Sum& sum : row.columns) {
      sum.value += *element;
      sum.size += std::fabs(*element);
      ++sum.terms;
      element += asked.of_column;
    }
  }
  return sums;
}

}  // namespace

std::int64_t table_rows(const RelativeBias& encoding) { return encoding.num_buckets; }
std::int64_t table_rows(const WindowBias& encoding) { return weight_rows(encoding); }

bool is_rounded_once(const Spec& spec) {
  const bool is_float32 = spec.evaluation == Evaluation::float32 || spec.evaluation == Evaluation::table;
  return size_of(spec.dtype) == 2 && is_float32;
}

TableGradient table_gradient(const Spec&, const Learned& encoding, Tensor weight,
                             const std::vector<std::int64_t>& positions, Tensor grad) {
  return {"encode",
          {{"weight", std::move(weight)}, {"positions", Tensor::of_integers({std::ssize(positions)}, positions)}},
          std::move(grad),
          positions,
          positions,
          encoding.dim,
          encoding.dim,
          1};
}

TableGradient table_gradient(const Spec& spec, const RelativeBias& encoding, Tensor weight,
                             const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys,
                             Tensor grad) {
  return gradient_of_bias(spec, encoding, std::move(weight), queries, keys, std::move(grad));
}

TableGradient table_gradient(const Spec& spec, const WindowBias& encoding, Tensor weight,
                             const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys,
                             Tensor grad) {
  return gradient_of_bias(spec, encoding, std::move(weight), queries, keys, std::move(grad));
}

Judgement judge_table_gradient(const Spec& spec, const TableGradient& asked, const Tensor& got) {
  const double u = unit_roundoff(is_rounded_once(spec) ? Dtype::float32 : spec.dtype);
  const double last_ulps = is_rounded_once(spec) ? 0.5 : 1;
  Judgement judgement;
  const auto sums = sums_of(asked);
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    if (asked.open.contains(i / asked.columns)) continue;
    const auto row = sums.find(i / asked.columns);
    const bool is_used = row != sums.end();
    const Sum element = is_used ? row->second.columns[static_cast<std::size_t>(i % asked.columns)] : Sum{};
    judgement.place = is_used ? std::optional(row->second.place) : std::nullopt;
    const auto m = static_cast<double>(element.terms);
    if (m * u > 0.5) continue;  // so many terms of 16 bits may add up to anything
    const auto expected = static_cast<double>(element.value);
    // The sum in long double has an error of its own, and the factor covers the roundings of the bound.
    const double of_sum = m * u / (1 - m * u) * element.size;
    const double last = last_ulps * ulp(spec.dtype, std::fabs(expected) + of_sum);
    const double bound = m <= 1 ? 0 : (of_sum + last) * (1 + 1e-9) + m * 0x1p-63 * element.size;
    if (std::fabs(expected) + bound > largest_finite(spec.dtype)) continue;  // it may be infinite
    const double value = got.at(i);
    const auto error = static_cast<double>(std::fabs(static_cast<long double>(value) - element.value));
    const Deviation deviation{error == 0   ? 0
                              : bound == 0 ? not_finite().of_bound
                                           : error / bound,
                              error, error / ulp(spec.dtype, expected)};
    judgement.add(error <= bound ? Certainty::yes : Certainty::no, std::isfinite(error) ? deviation : not_finite(),
                  [&] {
                    return fmt::format("row {}, column {}, used {} times: {} for {:.9g}", i / asked.columns,
                                       i % asked.columns, element.terms, value_text(spec.dtype, value), expected);
                  });
  }
  if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "no row that has a bound"; });
  return judgement;
}

}  // namespace sextant
