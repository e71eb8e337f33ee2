#include <fmt/format.h>

#include <algorithm>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "reference/relative_bias.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

std::optional<std::string> needs_four_positions(const Spec& spec) {
  if (spec.max_position - spec.min_position < 4) return "the claim has fewer than four positions";
  return std::nullopt;
}

Tensor ask_bias(Session& session, const Spec& spec, const Alibi&, const Question&,
                const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys) {
  return bias(session, spec, queries, keys);
}
Tensor ask_bias(Session& session, const Spec& spec, const RelativeBias& encoding, const Question& question,
                const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys) {
  return bias(session, spec, queries, keys,
              gen::values(spec.dtype, {encoding.num_buckets, question.heads}, question.fill + 1));
}

// Whether a mask hides the key from the query, so that its bias is not judged.
bool is_masked(const Alibi& encoding, std::int64_t query, std::int64_t key) {
  return encoding.mask == Mask::causal && key > query;
}
bool is_masked(const RelativeBias&, std::int64_t, std::int64_t) { return false; }

Theory translation_theory(const Spec&, const Alibi& encoding) {
  return encoding.form == AlibiForm::key_index ? Theory::fails : Theory::holds;
}
Theory translation_theory(const Spec&, const RelativeBias&) { return Theory::holds; }

Theory monotone_theory(const Spec&, const Alibi&) { return Theory::holds; }
// A learned weight has no order, where there are two. Rows of keys before the query go one way with the distance, so
// that all read one where the nearest and the farthest do (clipped distances with one row each way).
Theory monotone_theory(const Spec& spec, const RelativeBias& encoding) {
  const std::int64_t furthest = spec.max_position - spec.min_position - 1;
  const bool is_one_row = reference::bucket(encoding, 0) == reference::bucket(encoding, -furthest);
  return is_one_row ? Theory::holds : Theory::fails;
}

// A question, and how much further on it is asked again, less 1.
struct Shifted : Question {
  std::int64_t shift;
};

CasesOf<Shifted> shifted_questions() {
  CasesOf<Shifted> cases = questions<Shifted>(
      {{"shift", FieldRole::step, &Shifted::shift, [](const Spec& spec) {
          return std::max<std::int64_t>(1, std::min<std::int64_t>(256, (spec.max_position - spec.min_position) / 4));
        }}});
  cases.first = [](const Spec& spec) -> std::vector<Shifted> {
    return {{{.position = spec.min_position, .tokens = 4, .batch = 1, .heads = 2, .fill = 1}, 0}};
  };
  return cases;
}

CheckOf<Shifted> translation_check(const Spec& spec, const auto& encoding) {
  return [spec, encoding](Session& session, const Shifted& question) {
    const std::int64_t shift = question.shift + 1;
    // Near the start: large products round, and honest code may form slope * key - slope * query.
    const std::int64_t width = std::min<std::int64_t>(200, (spec.max_position - spec.min_position) / 2);
    const std::int64_t first = spec.min_position + (question.position - spec.min_position) % width;
    const std::vector<std::int64_t> positions =
        gen::consecutive(first, std::min<std::int64_t>(question.tokens + 1, spec.max_position - first - shift));
    std::vector<std::int64_t> moved = positions;
    for (std::int64_t& position : moved) position += shift;
    const Tensor here = ask_bias(session, spec, encoding, question, positions, positions);
    const Tensor there = ask_bias(session, spec, encoding, question, moved, moved);
    const auto count = std::ssize(positions);
    Judgement judgement;
    judgement.add_exact(std::nullopt, [] { return "the same wherever it starts"; });
    for (std::int64_t i = 0; i < here.elements(); ++i) {
      const std::int64_t query = i / count % count;
      const std::int64_t key = i % count;
      if (is_masked(encoding, query, key) || here.at(i) == there.at(i)) continue;
      judgement.place = moved[static_cast<std::size_t>(std::max(query, key))];
      judgement.add_exact(
          fmt::format("head {}: {} at query {}, key {}, {} when both are {} further on", i / count / count,
                      value_text(spec.dtype, here.at(i)), positions[static_cast<std::size_t>(query)],
                      positions[static_cast<std::size_t>(key)], value_text(spec.dtype, there.at(i)), shift),
          [] { return ""; });
    }
    return judgement;
  };
}

// The query stands behind all keys, so that no mask hides one.
struct Line {
  std::vector<std::int64_t> queries;
  std::vector<std::int64_t> keys;
};

Line line_of(const Spec& spec, const Question& question) {
  const std::int64_t first = std::min(question.position, spec.max_position - 2);
  const std::int64_t count = std::min<std::int64_t>(question.tokens + 2, spec.max_position - first);
  Line line;
  // Distances that grow, from next to the query on.
  const std::int64_t query = first + count - 1;
  line.queries = {query};
  for (std::int64_t i = 0, distance = 0; i < 24 && query - distance >= spec.min_position;
       ++i, distance += 1 + distance / 3)
    line.keys.push_back(query - distance);
  return line;
}

CheckOf<Question> monotone_check(const Spec& spec, const auto& encoding) {
  return [spec, encoding](Session& session, const Question& question) {
    const Line line = line_of(spec, question);
    const Tensor table = ask_bias(session, spec, encoding, question, line.queries, line.keys);
    const auto count = std::ssize(line.keys);
    Judgement judgement;
    judgement.place = line.queries[0];
    judgement.add_exact(std::nullopt, [] { return "falling with the distance"; });
    for (std::int64_t i = 0; i < table.elements(); ++i) {
      if (i % count == 0) continue;
      if (table.at(i) <= table.at(i - 1)) continue;
      judgement.add_exact(
          fmt::format("head {}, query {}: {} at key {}, {} at key {}", i / count, line.queries[0],
                      value_text(spec.dtype, table.at(i - 1)), line.keys[static_cast<std::size_t>(i % count - 1)],
                      value_text(spec.dtype, table.at(i)), line.keys[static_cast<std::size_t>(i % count)]),
          [] { return ""; });
    }
    return judgement;
  };
}

}  // namespace

Property bias_translation_property() {
  Property property;
  property.id = "bias_translation";
  property.explanation = {
      "the bias of two positions depends on their distance only",
      "b(q + s, k + s) = b(q, k) for all q, k and s",
      "Press et al. 2021, section 3; Raffel et al. 2019, section 2.1",
      "relative_bias; alibi by distance; alibi by key index grows with the key, so the encoding lacks the property, "
      "and the audit must find a case that shows it",
      "relative_bias: none, the same weight is read. alibi: none either: the distance is the same integer, whichever "
      "way it is multiplied by the slope, while it is "
      "exact in the arithmetic; so cases stay below 2^11 positions, which every dtype's arithmetic in use holds",
      "positions in place of distances, indices into a table that moves, the first query taken for position 0"};
  property.not_applicable = stated_for<Alibi, RelativeBias>(needs_four_positions);
  property.theory = of<Alibi, RelativeBias>(
      [](const Spec& spec, const auto& encoding) { return translation_theory(spec, encoding); });
  use_cases(property, shifted_questions(), of<Alibi, RelativeBias>([](const Spec& spec, const auto& encoding) {
              return translation_check(spec, encoding);
            }));
  return property;
}

Property bias_monotone_property() {
  Property property;
  property.id = "bias_monotone";
  property.explanation = {
      "the bias never grows with the distance",
      "b(q, k) <= b(q, k') for k < k' <= q",
      "Press et al. 2021, section 3: the penalty grows with the distance; a learned bias has no such order",
      "alibi, and a relative_bias of which all keys before the query read one row; for any other it fails for weights "
      "as they come, and the audit must find a case that shows it",
      "none: rounding keeps the order of what it rounds, so values may be equal but not swapped",
      "slopes of the wrong sign, wrapped or clamped distances, distances measured from the wrong end"};
  property.not_applicable = stated_for<Alibi, RelativeBias>(needs_four_positions);
  property.theory =
      of<Alibi, RelativeBias>([](const Spec& spec, const auto& encoding) { return monotone_theory(spec, encoding); });
  use_cases(property, questions(), of<Alibi, RelativeBias>([](const Spec& spec, const auto& encoding) {
              return monotone_check(spec, encoding);
            }));
  return property;
}

}  // namespace sextant
