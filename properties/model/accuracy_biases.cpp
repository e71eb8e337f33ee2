#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/accuracy_of.hpp"
#include "properties/model/bias_agreement.hpp"
#include "properties/model/question_cases.hpp"
#include "reference/relative_bias.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// Fewer queries than keys, at the end of them, as when decoding; and keys at growing distances on both sides, where the
// buckets' borders lie.
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
  for (std::int64_t distance = 1; distance < spec.max_position - spec.min_position && positions.keys.size() < 48;
       distance += 1 + distance / (4 + question.fill % 5)) {
    for (const std::int64_t key : {question.position - distance, question.position + distance}) {
      if (inside(key)) positions.keys.push_back(key);
    }
  }
  return positions;
}

Check alibi_check(const Spec& spec, const Alibi& encoding) {
  return [spec, encoding, budget = AlibiBudget(spec, encoding)](Session& session, const Case& values) mutable {
    const Positions positions = positions_of(spec, question_of(values));
    const Tensor table = bias(session, spec, positions.queries, positions.keys);
    Judgement judgement;
    judgement.add_exact(std::nullopt, [] { return "no key is seen"; });
    std::int64_t i = 0;
    for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
      for (const std::int64_t query : positions.queries) {
        for (const std::int64_t key : positions.keys) {
          const double value = table.at(i++);
          if (!budget.at(query, key, head, reference::first_precision)) continue;
          const auto place = [&] { return fmt::format("head {}, query {}, key {}", head, query, key); };
          if (!std::isfinite(value)) {
            judgement.add(Certainty::no, not_finite(), [&] { return place() + ": NaN or infinite"; });
            continue;
          }
          Deviation deviation;
          double truth = 0;
          const Certainty within = reference::decide([&](Precision precision) {
            const AlibiBudget::Value expected = *budget.at(query, key, head, precision);
            const Enclosure error = abs(Enclosure(value, precision) - expected.truth);
            truth = expected.truth.upper();
            deviation = deviation_of(error, expected.bound, reference::ulp(spec.dtype, expected.truth).upper());
            return reference::at_most(error, expected.bound);
          });
          judgement.add(within, deviation, [&] {
            return fmt::format("{}: {}", place(), comparison_text(spec.dtype, value, truth, deviation));
          });
        }
      }
    }
    return judgement;
  };
}

// A lookup: bit for bit.
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
          judgement.add_exact(value == expected
                                  ? std::nullopt
                                  : std::optional(fmt::format(
                                        "head {}, query {}, key {}, bucket {}: got {}, the weight is {}", head, query,
                                        key, bucket, value_text(spec.dtype, value), value_text(spec.dtype, expected))),
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
