#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/accuracy_of.hpp"
#include "properties/budget.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/question_cases.hpp"
#include "reference/alibi.hpp"
#include "reference/relative_bias.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// Fewer queries than keys, at the end of them, as when decoding; and keys at growing distances on both sides, where the buckets' borders lie.
struct Positions {
  std::vector<std::int64_t> queries;
  std::vector<std::int64_t> keys;
};

Positions positions_of(const Spec& spec, const Question& question) {
  const auto inside = [&](std::int64_t p) { return p >= spec.min_position && p < spec.max_position; };
  Positions positions;
  for (std::int64_t i = 0; i < question.tokens; ++i) {
    if (inside(question.position + i)) positions.keys.push_back(question.position + i);
  }
  const std::size_t count = std::min<std::size_t>(positions.keys.size(), static_cast<std::size_t>(question.batch));
  positions.queries.assign(positions.keys.end() - static_cast<std::ptrdiff_t>(count), positions.keys.end());
  // fill picks the distances: odd ones near, even ones to the claim's ends.
  for (std::int64_t distance = 1; distance < spec.max_position - spec.min_position && positions.keys.size() < 48; distance += 1 + distance / (4 + question.fill % 5)) {
    for (const std::int64_t key : {question.position - distance, question.position + distance}) {
      if (inside(key)) positions.keys.push_back(key);
    }
  }
  return positions;
}

// u of the arithmetic in which slopes and distances are multiplied.
double roundoff_of(const Spec& spec) {
  switch (spec.accuracy) {
    case AccuracyClass::correctly_rounded:
    case AccuracyClass::faithful: return 0;
    case AccuracyClass::exact_angle: return unit_roundoff(Dtype::float64);
    case AccuracyClass::float32_angle:
    case AccuracyClass::float32_recurrence: return unit_roundoff(Dtype::float32);
    case AccuracyClass::float16_angle: return unit_roundoff(Dtype::float16);
    case AccuracyClass::bfloat16_angle: return unit_roundoff(Dtype::bfloat16);
  }
  throw std::invalid_argument("roundoff_of: no such accuracy class");
}

// m_h (q - k) in arithmetic of roundoff u: the distance is rounded (1), the slope is a power of 2 to a rounded exponent (|ln m| and pow's 2), or a
// product of h + 1 rounded factors start^(h+1), start = 2^(-8/n), as in the released code (2 (h+1): start's own error and the product's), the
// product rounds once (1): c = 4 + |ln m| + 2 (h + 1), and evaluation and the last rounding add k ULP, 1/2 or 1 or 4 as everywhere.
Check alibi_check(const Spec& spec, const Alibi& encoding) {
  return [spec, encoding, oracle = reference::AlibiReference(encoding)](Session& session, const Case& values) mutable {
    const Positions positions = positions_of(spec, question_of(values));
    const Tensor table = bias(session, spec, positions.queries, positions.keys);
    const double ulps = spec.accuracy == AccuracyClass::correctly_rounded ? 0.5 : spec.accuracy == AccuracyClass::faithful ? 1 : 4;
    const double u = roundoff_of(spec);
    Judgement judgement;
    judgement.add_exact(std::nullopt, [] { return "no key is seen"; });
    std::int64_t i = 0;
    for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
      for (const std::int64_t query : positions.queries) {
        for (const std::int64_t key : positions.keys) {
          const double value = table.at(i++);
          if (!oracle.bias(query, key, head, reference::first_precision)) continue;
          const auto place = [&] { return fmt::format("head {}, query {}, key {}", head, query, key); };
          if (!std::isfinite(value)) {
            judgement.add(Certainty::no, not_finite(), [&] { return place() + ": NaN or infinite"; });
            continue;
          }
          Deviation deviation;
          double truth = 0;
          const Certainty within = reference::decide([&](Precision precision) {
            const Enclosure exact = *oracle.bias(query, key, head, precision);
            const double roundings = 4 + abs(log(oracle.slope(head, precision))).upper() + 2 * static_cast<double>(head + 1);
            const Enclosure relative(roundings * u / (1 - roundings * u), precision);
            const Enclosure error = abs(Enclosure(value, precision) - exact);
            const Enclosure bound = Enclosure(ulps, precision) * reference::ulp(spec.dtype, exact) + relative * abs(exact);
            truth = exact.upper();
            deviation = deviation_of(error, bound, reference::ulp(spec.dtype, exact).upper());
            return reference::at_most(error, bound);
          });
          judgement.add(within, deviation, [&] { return fmt::format("{}: {}", place(), comparison_text(spec.dtype, value, truth, deviation)); });
        }
      }
    }
    return judgement;
  };
}

// A lookup: bit for bit. Where the subject answers `bucket` it is asked too.
Check relative_check(const Spec& spec, const RelativeBias& encoding) {
  return [spec, encoding](Session& session, const Case& values) {
    const Question question = question_of(values);
    const Positions positions = positions_of(spec, question);
    const Tensor weight = gen::values(spec.dtype, {encoding.num_buckets, question.heads}, question.fill + 1);
    const Tensor table = bias(session, spec, positions.queries, positions.keys, weight);
    Judgement judgement;
    std::int64_t i = 0;
    for (std::int64_t head = 0; head < question.heads; ++head) {
      for (const std::int64_t query : positions.queries) {
        for (const std::int64_t key : positions.keys) {
          const std::int64_t bucket = reference::bucket(encoding, key - query);
          const double expected = weight.at(bucket * question.heads + head);
          const double value = table.at(i++);
          judgement.add_exact(value == expected ? std::nullopt
                                                : std::optional(fmt::format("head {}, query {}, key {}, bucket {}: got {}, the weight is {}", head, query, key, bucket,
                                                                            value_text(spec.dtype, value), value_text(spec.dtype, expected))),
                              [] { return "every weight exact"; });
        }
      }
    }
    return judgement;
  };
}

}  // namespace

Check bias_accuracy(const Spec& spec) {
  if (const auto* alibi = std::get_if<Alibi>(&spec.encoding)) return alibi_check(spec, *alibi);
  return relative_check(spec, std::get<RelativeBias>(spec.encoding));
}

}  // namespace sextant
