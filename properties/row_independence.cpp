#include <fmt/format.h>

#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/question_cases.hpp"
#include "properties/row_agreement.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// Positions of a call in no order, with repeats: each a step of its own from the first, wrapping round at the claim's end.
std::vector<std::int64_t> scattered(const gen::PositionRange& range, std::int64_t first, std::int64_t count) {
  const std::int64_t width = range.last - range.first;
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < count; ++i) positions.push_back(range.first + (first - range.first + (i % 5) * (i % 5) * 7 * i) % width);
  return positions;
}

Check sinusoidal_check(const Spec& spec) {
  const std::int64_t dim = std::get<Sinusoidal>(spec.encoding).dim;
  return [spec, dim, agreement = RowAgreement(spec)](Session& session, const Case& values) mutable {
    const Question question = question_of(values);
    const std::vector<std::int64_t> positions = scattered(gen::range_of(spec), question.position, question.tokens);
    const auto row = static_cast<std::size_t>(extra_of(values, 0) % question.tokens);
    const Tensor together = encode(session, spec, positions);
    const Tensor alone = encode(session, spec, std::vector<std::int64_t>{positions[row]});
    Judgement judgement;
    agreement.compare(judgement, {together, static_cast<std::int64_t>(row) * dim}, {alone, 0}, positions[row]);
    return judgement;
  };
}

Check rope_check(const Spec& spec) {
  const auto& encoding = std::get<Rope>(spec.encoding);
  return [spec, encoding, agreement = RowAgreement(spec)](Session& session, const Case& values) mutable {
    const Question question = question_of(values);
    const gen::Extents extents{.batch = question.batch, .tokens = question.tokens, .heads = question.heads};
    const Tensor x = gen::vectors(encoding, spec.dtype, extents, question.fill + 1);
    const std::vector<std::int64_t> positions = scattered(gen::range_of(spec), question.position, question.batch * question.tokens);
    const std::int64_t vector = extra_of(values, 0) % (question.batch * question.tokens * question.heads);
    const std::int64_t start = vector * encoding.head_dim;
    const auto token = static_cast<std::size_t>(vector / question.heads);
    Tensor own = Tensor::zeros(spec.dtype, {1, 1, 1, encoding.head_dim});
    for (std::int64_t i = 0; i < encoding.head_dim; ++i) own.set(i, x.at(start + i));
    const Tensor together = rotate(session, spec, x, positions);
    const Tensor alone = rotate(session, spec, own, std::vector<std::int64_t>{positions[token]});
    Judgement judgement;
    const RowOf given{own, 0};
    agreement.compare(judgement, {together, start}, {alone, 0}, positions[token], &given);
    return judgement;
  };
}

}  // namespace

Property row_independence_property() {
  Property property;
  property.id = "row_independence";
  property.level = Level::contract;
  property.needs = Needs::live_subject;
  property.explanation = {
      "each token of a batch, in each head, comes out as if it were alone",
      "f(positions)[i] = f(positions[i]); R(x, positions)[b, t, h] = R(x[b, t, h], positions[b, t]), positions in any order, repeats included",
      "Vaswani et al. 2017, section 3.5, and Su et al. 2021, section 3.2.2: both are defined position by position",
      "sinusoidal, rope where frequencies do not depend on the length of the call",
      "another path may serve another shape, so bits may differ: each answer is within pair_bound of the truth, so the two are within "
      "twice that (properties/budget.hpp)",
      "batch rows that share one row's positions or run on from another's, swapped extents, heads left out, a single-token path that "
      "forgets the batch, positions taken to be consecutive, neighbours overwritten"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (!std::holds_alternative<Rope>(spec.encoding) && !std::holds_alternative<Sinusoidal>(spec.encoding)) return not_stated_for(spec);
    return depends_on_length(spec);
  };
  use_questions(property, {{"which", [](const Spec&) { return std::int64_t{1} << 20; }}});
  property.first_cases = [first_cases = property.first_cases](const Spec& spec) {
    // The last vector of each call, where strides and batches go wrong.
    std::vector<Case> cases = first_cases(spec);
    for (Case& values : cases) {
      const Question question = question_of(values);
      values.back() = question.tokens * (std::holds_alternative<Rope>(spec.encoding) ? question.batch * question.heads : 1) - 1;
    }
    return cases;
  };
  property.make_check = [](const Spec& spec) { return std::holds_alternative<Rope>(spec.encoding) ? rope_check(spec) : sinusoidal_check(spec); };
  return property;
}

}  // namespace sextant
