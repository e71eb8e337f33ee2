#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "properties/mutants/plain_others.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"
#include "reference/relative_bias.hpp"

// Rows of relative positions as DeBERTa has them: logarithmic ones that are rounded up, and those of clipped distances.

namespace sextant::mutants::bucket_mutants {
namespace {

// DeBERTa-v3's, of 256 position_buckets.
constexpr const char* deberta_v3 =
    R"({"encoding":"relative_bias","buckets":"log","num_buckets":512,"max_distance":512,"max_position":2048})";
constexpr const char* few =
    R"({"encoding":"relative_bias","buckets":"log","num_buckets":32,"max_distance":1000,"max_position":4096})";
// DeBERTa's.
constexpr const char* deberta =
    R"({"encoding":"relative_bias","buckets":"clipped","num_buckets":1024,"max_position":2048})";
// One row each way, so that all keys before the query read the same.
constexpr const char* one_row = R"({"encoding":"relative_bias","buckets":"clipped","num_buckets":2})";
// With distances that floating point cannot tell from a border, 1643 in float32, or that meet one, 32 and 54.
constexpr const char* near_border =
    R"({"encoding":"relative_bias","buckets":"log","num_buckets":1024,"max_distance":4096,"max_position":8192})";
constexpr const char* on_border = R"({"encoding":"relative_bias","buckets":"log","num_buckets":64,"max_distance":129})";
constexpr const char* t5_on_border =
    R"({"encoding":"relative_bias","num_buckets":48,"max_distance":81,"bidirectional":false})";

// The rows before that of distance 0, the distances with a row each, and the last distance.
struct Numbers {
  double span;
  double exact;
  double furthest;
};
// e(n), and the row of query - key.
using Rows = std::function<double(const Numbers& of, double n)>;

double steps(const Numbers& of, double n, double last) {
  return std::log(n / of.exact) / std::log(last / of.exact) * (of.exact - 1);
}
double rows(const Numbers& of, double n) {
  if (n <= of.exact) return n;
  return of.exact + std::ceil(in_float32(steps(of, n, of.furthest - 1)));
}

std::int64_t clamped_row(const Numbers& of, double signed_rows) {
  return static_cast<std::int64_t>(std::clamp(signed_rows + of.span, 0.0, 2 * of.span - 1));
}

Numbers numbers_of(const RelativeBias& e) {
  const auto span = static_cast<double>(directed_buckets(e));
  return {span, std::floor(span / 2), static_cast<double>(e.max_distance)};
}

// Of claims of another rule the oracle's answer.
PlainOthers::Change by_rows(BucketRule rule, const Rows& from_middle, double sign = 1) {
  return [rule, from_middle, sign](PlainOther& plain) {
    plain.bucket = [rule, from_middle, sign, e = plain.relative](std::int64_t relative) {
      if (e.buckets != rule) return reference::bucket(e, relative);
      const Numbers of = numbers_of(e);
      const double distance = -sign * static_cast<double>(relative);
      return clamped_row(of, std::copysign(from_middle(of, std::fabs(distance)), distance));
    };
  };
}

void defects(PlainOthers& list) {
  const auto defect = [&](std::string name, std::string mechanism, const char* claim, const Rows& from_middle) {
    list.defect("bucket-log-" + std::move(name), "M16", std::move(mechanism), claim,
                by_rows(BucketRule::log, from_middle));
  };
  defect("floor", "steps are rounded down", deberta_v3, [](const Numbers& of, double n) {
    return n <= of.exact ? n : of.exact + std::floor(steps(of, n, of.furthest - 1));
  });
  defect("nearest", "steps are rounded to the nearest", few, [](const Numbers& of, double n) {
    return n <= of.exact ? n : of.exact + std::round(steps(of, n, of.furthest - 1));
  });
  defect("whole-distance", "the logarithm is divided by that of max_distance, not of one less", few,
         [](const Numbers& of, double n) {
           return n <= of.exact ? n : of.exact + std::ceil(in_float32(steps(of, n, of.furthest)));
         });
  defect("steps-of-all", "the logarithms make one step more", deberta_v3, [](const Numbers& of, double n) {
    return n <= of.exact ? n
                         : of.exact + std::ceil(in_float32(steps(of, n, of.furthest - 1) * of.exact / (of.exact - 1)));
  });
  defect("bfloat16", "logarithms are taken in bfloat16", deberta_v3, [](const Numbers& of, double n) {
    if (n <= of.exact) return n;
    const double part = round_to(Dtype::bfloat16, std::log(n / of.exact));
    return of.exact +
           std::ceil(part / round_to(Dtype::bfloat16, std::log((of.furthest - 1) / of.exact)) * (of.exact - 1));
  });
  defect("without-logarithms", "distances are clipped, and none share a row", deberta_v3,
         [](const Numbers&, double n) { return n; });
  defect("a-quarter-exact", "a quarter of a direction's rows have one distance", few, [](const Numbers& of, double n) {
    return rows({of.span, of.exact / 2, of.furthest}, n);
  });
  defect("alike-on-both-sides", "keys behind the query end at row 1, as those before end at the last", deberta_v3,
         [](const Numbers& of, double n) { return std::min(rows(of, n), of.span - 1); });
  list.defect("bucket-log-sign", "M16,M10", "rows are those of key - query", deberta_v3,
              by_rows(BucketRule::log, rows, -1));
  list.defect("bucket-log-ignored", "M16,D3", "buckets is not read: T5's of both directions", deberta_v3,
              [](PlainOther& plain) {
                plain.bucket = [e = plain.relative](std::int64_t relative) {
                  RelativeBias t5 = e;
                  t5.buckets = BucketRule::t5;
                  return reference::bucket(t5, relative);
                };
              });
  list.defect("bucket-clipped-alike-on-both-sides", "M16", "keys behind the query end at row 1", deberta,
              by_rows(BucketRule::clipped, [](const Numbers& of, double n) { return std::min(n, of.span - 1); }));
  list.defect("bucket-clipped-by-length", "M16", "distances are clipped at half of those that have a row", deberta,
              by_rows(BucketRule::clipped, [](const Numbers& of, double n) { return std::min(n, of.exact); }));
  list.defect("bucket-clipped-wrapped", "M16", "distances beyond the last are counted from the table's other end",
              deberta, [](PlainOther& plain) {
                plain.bucket = [e = plain.relative](std::int64_t relative) {
                  if (e.buckets != BucketRule::clipped) return reference::bucket(e, relative);
                  const std::int64_t row = (directed_buckets(e) - relative) % e.num_buckets;
                  return row < 0 ? row + e.num_buckets : row;
                };
              });
  list.defect("bucket-clipped-one-row-on-both-sides", "M16", "keys behind the query read the row of those before",
              one_row,
              by_rows(BucketRule::clipped, [](const Numbers& of, double n) { return std::min(n, of.span - 1); }));
  list.defect("bucket-clipped-sign", "M16,M10", "rows are those of key - query", deberta,
              by_rows(
                  BucketRule::clipped, [](const Numbers&, double n) { return n; }, -1));
}

// The released formulas, each operation rounded to float32.
double rows_in_float32(const Numbers& of, double n) {
  if (n <= of.exact) return n;
  const double at = in_float32(std::log(in_float32(n / of.exact)));
  const double whole = in_float32(std::log(in_float32((of.furthest - 1) / of.exact)));
  return of.exact + std::ceil(in_float32(in_float32(at / whole) * (of.exact - 1)));
}
std::int64_t t5_in_float32(const RelativeBias& e, std::int64_t relative) {
  const std::int64_t buckets = directed_buckets(e);
  const std::int64_t exact = buckets / 2;
  const std::int64_t distance = std::max<std::int64_t>(0, -relative);
  if (e.bidirectional || e.buckets != BucketRule::t5 || distance < exact) return reference::bucket(e, relative);
  const auto of_exact = [&](std::int64_t n) { return static_cast<double>(n) / static_cast<double>(exact); };
  const double at = in_float32(std::log(in_float32(of_exact(distance))));
  const double part = in_float32(at / in_float32(std::log(of_exact(e.max_distance))));
  const double step = in_float32(part * static_cast<double>(buckets - exact));
  return std::min(buckets - 1, exact + static_cast<std::int64_t>(step));
}

void controls(PlainOthers& list) {
  for (const auto& [name, claim] :
       {std::pair("bucket-log-as-released", deberta_v3), {"bucket-log-few-as-released", few}})
    list.add(Kind::control, name, "", "DeBERTa-v2's formula, a step's number rounded to float32", claim,
             by_rows(BucketRule::log, rows));
  list.add(Kind::control, "bucket-clipped-as-released", "", "DeBERTa's sum, clamped", deberta,
           by_rows(BucketRule::clipped, [](const Numbers&, double n) { return n; }));
  list.add(Kind::control, "bucket-clipped-one-row-as-released", "", "DeBERTa's sum, clamped to two rows", one_row,
           by_rows(BucketRule::clipped, [](const Numbers&, double n) { return n; }));
  list.add(Kind::control, "bucket-log-near-a-border-in-float32", "", "DeBERTa-v2's formula in float32: distance 1643",
           near_border, by_rows(BucketRule::log, rows_in_float32));
  list.add(Kind::control, "bucket-log-on-a-border-in-float64", "", "DeBERTa-v2's formula in float64: distance 32",
           on_border, by_rows(BucketRule::log, [](const Numbers& of, double n) {
             return n <= of.exact ? n : of.exact + std::ceil(steps(of, n, of.furthest - 1));
           }));
  list.add(Kind::control, "bucket-on-a-border-in-float32", "", "T5's formula in float32: distance 54", t5_on_border,
           [](PlainOther& plain) {
             plain.bucket = [e = plain.relative](std::int64_t relative) { return t5_in_float32(e, relative); };
           });
}

}  // namespace

std::vector<Mutant> all() {
  PlainOthers list;
  defects(list);
  controls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::bucket_mutants
