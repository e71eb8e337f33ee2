#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/model/model.hpp"

namespace sextant {
namespace {

constexpr std::int64_t longest_prefix = 4096;

// A question of an encoding that tells no fill tells none here.
bool has_fill(const Spec& spec) {
  return std::ranges::count(model_of(spec)->question_fields(), FieldRole::fill, &FieldOf<Question>::role) > 0;
}

CasesOf<Chunk> chunks() {
  CasesOf<Chunk> cases;
  cases.fields = [](const Spec& spec) {
    std::vector<FieldOf<Chunk>> fields{
        {"position", FieldRole::position, &Chunk::position, {spec.min_position, last_position_of(spec) - 1}},
        {"length", FieldRole::run, &Chunk::length, {2, longest_prefix}},
        {"skip", FieldRole::number, &Chunk::skip, {0, longest_prefix}},
        {"count", FieldRole::number, &Chunk::count, {1, longest_prefix}}};
    if (has_fill(spec)) fields.push_back({"fill", FieldRole::fill, &Chunk::fill, any_fill});
    return fields;
  };
  cases.related = [](const Spec& spec, const Chunk& chunk) {
    return chunk.length <= last_position_of(spec) - chunk.position && chunk.skip <= chunk.length - chunk.count &&
           chunk.count < chunk.length;
  };
  cases.first = [](const Spec& spec) -> std::vector<Chunk> {
    const gen::PositionRange range = model_of(spec)->range();
    const std::int64_t width = std::min<std::int64_t>(range.last - range.first, 64);
    const std::int64_t p = std::min(gen::simplest_position(range), range.last - width);
    return {{.position = p, .length = width, .skip = 0, .count = 1, .fill = 1},
            {.position = p, .length = width, .skip = width - 1, .count = 1, .fill = 1},
            {.position = range.last - width, .length = width, .skip = 0, .count = width - 1, .fill = 1}};
  };
  cases.drawn = [](const Spec& spec) {
    const std::int64_t last = last_position_of(spec);
    const auto parts = gen::tuple(gen::position({spec.min_position, last - 1}), gen::one_of({2, 3, 5, 8, 17, 33, 64}),
                                  gen::count(0, 63), gen::one_of({1, 1, 2, 4, 16}), gen::count(0, 1000));
    return gen::map(parts, [last](const auto& drawn) {
      auto [position, length, skip, count, fill] = drawn;
      length = std::min(length, last - position);
      count = std::min(count, length - 1);
      return Chunk{position, length, skip % (length - count + 1), count, fill};
    });
  };
  return cases;
}

CheckOf<Chunk> prefix_consistency_check(const Spec& spec) {
  const std::shared_ptr<const EncodingModel> model = model_of(spec);
  return [model, judge = std::shared_ptr(model->judge())](Session& session, const Chunk& chunk) {
    return judge_parts(session, *model, *judge, model->chunk_of(chunk));
  };
}

}  // namespace

Property prefix_consistency_property() {
  Property property;
  property.id = "prefix_consistency";
  property.needs = Needs::live_subject;
  property.explanation = {
      "a position's result does not depend on what else is in the call",
      "f(p .. p+n)[a .. b] = f(p+a .. p+b): a longer table starts with the shorter one, and decode "
      "equals prefill; a bias' last queries over the keys so far "
      "are the square's; causal attention's first tokens are those of the shorter sequence",
      "each value is a function of its own position, a bias of two: Vaswani et al. 2017, sections "
      "3.2.3 and 3.5; Su et al. 2021, section 3.2.2; Press et al. 2021, "
      "section 3; Raffel et al. 2019, section 2.1",
      "every encoding, attention where it is causal, with frequencies that do not depend on the "
      "length of the call; live subjects",
      "both answers are within the class's bound E of the same true value (docs/proofs/accuracy-classes.md; "
      "attention's in attention-oracle.md beside it), so they differ by at most 2 E; an implementation that computes "
      "each row alone differs by nothing",
      "a table that depends on the longest length seen, a decode path with another offset or "
      "scaling, a single-token path that "
      "skips rows"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    const auto model = model_of(spec);
    if (auto reason = model->sees_later_tokens()) return reason;
    if (auto reason = model->not_judged()) return reason;
    if (model->range().last - model->range().first < 2) return "the claim has one position only";
    return model->depends_on_length();
  };
  use_cases(property, chunks(), prefix_consistency_check);
  return property;
}

}  // namespace sextant
