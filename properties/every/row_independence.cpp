#include <fmt/format.h>

#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/accuracy_of.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/bias_agreement.hpp"
#include "properties/model/question_cases.hpp"
#include "properties/model/row_agreement.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// Positions of a call in no order, with repeats: each a step of its own from the first, another on each axis, wrapping
// round at the claim's end: [axes, count].
std::vector<std::int64_t> scattered(const Spec& spec, std::int64_t first, std::int64_t count, std::int64_t axes) {
  const std::int64_t width = last_position_of(spec) - spec.min_position;
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (std::int64_t i = 0; i < count; ++i)
      positions.push_back(spec.min_position +
                          (first - spec.min_position + ((i + axis) % 5) * ((i + axis) % 5) * 7 * i + 3 * axis) % width);
  }
  return positions;
}

Check code_check(const Spec& spec) {
  return [spec, dim = row_width(spec), agreement = RowAgreement(spec)](Session& session, const Case& values) mutable {
    const Question question = question_of(values);
    const std::vector<std::int64_t> positions =
        scattered(spec, question.position, question.tokens, axes_of(spec.encoding));
    const std::int64_t row = extra_of(values, 0) % question.tokens;
    const std::vector<std::int64_t> place = place_at(positions, question.tokens, row);
    const Tensor together = ask_codes(session, spec, positions, question.fill);
    const Tensor alone = ask_codes(session, spec, place, question.fill);
    Judgement judgement;
    agreement.compare(judgement, {together, row * dim}, {alone, 0}, place);
    return judgement;
  };
}

Check rotation_check(const Spec& spec) {
  return [spec, width = row_width(spec), agreement = RowAgreement(spec)](Session& session, const Case& values) mutable {
    const Question question = question_of(values);
    const auto* rope = std::get_if<Rope>(&spec.encoding);
    const gen::Extents extents{.batch = question.batch, .tokens = question.tokens, .heads = question.heads};
    const Tensor x = rope != nullptr ? gen::vectors(*rope, spec.dtype, extents, question.fill + 1)
                                     : gen::values(spec.dtype, {question.batch, question.tokens, question.heads, width},
                                                   question.fill + 1);
    const std::int64_t tokens = question.batch * question.tokens;
    const std::vector<std::int64_t> positions = scattered(spec, question.position, tokens, axes_of(spec.encoding));
    const std::int64_t vector = extra_of(values, 0) % (tokens * question.heads);
    const std::int64_t start = vector * width;
    const std::vector<std::int64_t> place = place_at(positions, tokens, vector / question.heads);
    Tensor own = Tensor::zeros(spec.dtype, {1, 1, 1, width});
    for (std::int64_t i = 0; i < width; ++i) own.set(i, x.at(start + i));
    const Tensor together = rotate(session, spec, x, positions);
    const Tensor alone = rotate(session, spec, own, place);
    Judgement judgement;
    const RowOf given{own, 0};
    agreement.compare(judgement, {together, start}, {alone, 0}, place, &given);
    return judgement;
  };
}

// One query and key of many, of every head.
Check bias_check(const Spec& spec) {
  return [spec, agreement = BiasAgreement(spec)](Session& session, const Case& values) mutable {
    const Question question = question_of(values);
    const auto* relative = std::get_if<RelativeBias>(&spec.encoding);
    const auto asked = [&](const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys) {
      if (relative == nullptr) return bias(session, spec, queries, keys);
      return bias(session, spec, queries, keys,
                  gen::values(spec.dtype, {relative->num_buckets, question.heads}, question.fill + 1));
    };
    const std::vector<std::int64_t> queries = scattered(spec, question.position, question.tokens, 1);
    const std::vector<std::int64_t> keys = scattered(spec, question.position, question.tokens + question.batch, 1);
    const std::int64_t which = extra_of(values, 0) % (std::ssize(queries) * std::ssize(keys));
    const std::int64_t query = queries[static_cast<std::size_t>(which / std::ssize(keys))];
    const std::int64_t key = keys[static_cast<std::size_t>(which % std::ssize(keys))];
    const Tensor together = asked(queries, keys);
    const Tensor alone = asked({query}, {key});
    Judgement judgement;
    judgement.add_exact(std::nullopt, [] { return "the same in both calls"; });
    for (std::int64_t head = 0; head < alone.elements(); ++head) {
      agreement.compare(judgement, together.at(head * std::ssize(queries) * std::ssize(keys) + which), alone.at(head),
                        query, key, head);
    }
    return judgement;
  };
}

// A batch row: tokens of one row see each other.
Check attention_check(const Spec& spec) {
  return [spec, oracle = AttentionOracle(spec)](Session& session, const Case& values) mutable {
    Question question = question_of(values);
    question.batch = 2;
    const AttentionCase whole = attention_case(spec, question);
    const std::int64_t row = extra_of(values, 0) % whole.batch;
    const AttentionCase alone = batch_row(whole, row);
    return judge_same(spec, oracle, alone, attend(session, spec, alone), whole, attend(session, spec, whole),
                      question.fill, [row](const AttentionPlace& place) {
                        return AttentionPlace{row, place.token};
                      });
  };
}

Check check_of(const Spec& spec) {
  if (is_code(spec)) return code_check(spec);
  if (is_rotation(spec)) return rotation_check(spec);
  if (std::holds_alternative<Attention>(spec.encoding)) return attention_check(spec);
  return bias_check(spec);
}

}  // namespace

Property row_independence_property() {
  Property property;
  property.id = "row_independence";
  property.level = Level::contract;
  property.needs = Needs::live_subject;
  property.explanation = {
      "each token of a batch, in each head, comes out as if it were alone",
      "f(positions)[i] = f(positions[i]); R(x, positions)[b, t, h] = R(x[b, t, h], positions[b, t]), positions in any "
      "order, repeats included; b(q, k)[i, j] = b(q_i, k_j); "
      "attend(q, k, v)[b] = attend(q[b], k[b], v[b])",
      "Vaswani et al. 2017, section 3.5, and Su et al. 2021, section 3.2.2: both are defined position by position; "
      "Press et al. 2021, section 3, and Raffel et al. 2019, "
      "section 2.1: a bias by query and key",
      "every encoding, of attention the rows of a batch, where frequencies do not depend on the length of the call",
      "another path may serve another shape, so bits may differ: each answer is within the class's bound of the truth, "
      "so the two are within "
      "twice that (properties/model/budget.hpp; row_agreement.hpp, bias_agreement.hpp and attention_oracle.cpp for the "
      "encodings that have others)",
      "batch rows that share one row's positions or run on from another's, swapped extents, heads left out, a "
      "single-token path that "
      "forgets the batch, positions taken to be consecutive, neighbours overwritten"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (auto reason = accuracy_not_stated(spec)) return reason;
    return depends_on_length(spec);
  };
  use_questions(property, {{"which", [](const Spec&) { return std::int64_t{1} << 20; }}});
  property.first_cases = [first_cases = property.first_cases](const Spec& spec) {
    // The last vector of each call, where strides and batches go wrong.
    std::vector<Case> cases = first_cases(spec);
    for (Case& values : cases) {
      const Question question = question_of(values);
      values.back() = question.tokens * (is_rotation(spec) ? question.batch * question.heads : 1) - 1;
    }
    return cases;
  };
  property.make_check = check_of;
  return property;
}

}  // namespace sextant
