#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "lib/spec/of.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/every/call_sequences.hpp"
#include "properties/gen/draw.hpp"
#include "properties/model/model.hpp"
#include "properties/model/reshaped.hpp"

namespace sextant {
namespace {

// How far below the claim's first position, and how many tokens from there up.
struct Below {
  std::int64_t below;
  std::int64_t tokens;
};

constexpr std::int64_t furthest = 4096;

CasesOf<Below> places_below() {
  CasesOf<Below> cases;
  cases.fields = [](const Spec&) -> std::vector<FieldOf<Below>> {
    return {{"below", FieldRole::number, &Below::below, {1, furthest}},
            {"tokens", FieldRole::run, &Below::tokens, {1, 64}}};
  };
  cases.related = [](const Spec&, const Below& asked) { return asked.tokens <= asked.below; };
  cases.first = [](const Spec&) -> std::vector<Below> { return {{1, 1}, {2, 1}, {16, 16}, {1000, 1}, {4096, 33}}; };
  cases.drawn = [](const Spec&) {
    return gen::map(gen::pair(gen::count(1, furthest), gen::one_of({1, 1, 2, 16})), [](const auto& drawn) {
      return Below{drawn.first, std::min<std::int64_t>(drawn.first, drawn.second)};
    });
  };
  return cases;
}

class BelowJudge {
 public:
  explicit BelowJudge(const Spec& spec) : spec_(spec), model_(model_of(spec)) {
    for (const std::int64_t first : {spec.min_position - furthest, std::int64_t{0}}) {
      Spec wider = spec;
      wider.min_position = first;
      if (wider_ || first >= spec.min_position) continue;
      try {
        validate(wider);
        wider_ = model_of(wider);
        judge_ = wider_->judge();
      } catch (const SpecError&) {
        // The encoding has no positions there.
      }
    }
  }

  Judgement judge(const Subject& subject, const Below& asked) {
    const std::int64_t position = spec_.min_position - asked.below;
    Judgement judgement;
    const std::optional<Tensor> answer = answered(subject, position, asked);
    if (!answer) {
      // What answers nothing at all refuses nothing.
      model_->ask(*subject.open(spec_), call_at(model_->range().first, {asked.below, 1}));
      judgement.add_exact(std::nullopt, [] { return "refused"; });
      return judgement;
    }
    if (wider_ && position >= wider_->range().first) {
      judgement = judge_->values(call_at(position, asked), *answer);
      if (judgement.within != reference::Certainty::no) return judgement;
    }
    std::optional<std::string> told = taken_for(subject, position, asked, *answer);
    // Code that is as wrong within the claim is accuracy's matter.
    if (!told && !judgement.finding.empty() && is_right_above(subject, asked))
      told = "answered wrongly: " + judgement.finding;
    judgement = Judgement();
    const Question question{.position = position, .tokens = asked.tokens};
    judgement.add_exact(
        told ? std::optional(fmt::format("{}, below the claim: {}", text_of(question, spec_), *told)) : std::nullopt,
        [] { return "answered, where the encoding has no value"; });
    if (told) judgement.remark = "likely fix: raise an error for positions below the claim";
    return judgement;
  }

 private:
  // Consecutive from that position on; whatever the model makes of its range, the same tokens elsewhere.
  Call call_at(std::int64_t position, const Below& asked) const {
    const std::int64_t first = model_->range().first;
    Call call = model_->call_of(
        clipped({.position = first, .tokens = asked.tokens, .heads = 2, .fill = 1}, model_->largest_drawn()));
    for (std::int64_t& p : call.positions) p += position - first;
    for (std::int64_t& p : call.query_positions) p += position - first;
    return call;
  }

  // Nothing where the call is refused. A process that dies is not silent.
  std::optional<Tensor> answered(const Subject& subject, std::int64_t position, const Below& asked) const {
    try {
      return model_->ask(*subject.open(spec_), call_at(position, asked));
    } catch (const SubjectFailure&) {
      return std::nullopt;
    }
  }

  // Whether as many tokens as far above the claim's first position are right.
  bool is_right_above(const Subject& subject, const Below& asked) const {
    const gen::PositionRange range = model_->range();
    const std::int64_t position = std::min(range.first + asked.below, range.last - 1);
    const Call call = call_at(position, asked);
    const std::optional<Tensor> answer = answered(subject, position, asked);
    return answer && judge_->values(call, *answer).within != reference::Certainty::no;
  }

  // Which positions of the claim have that answer; nothing where none of the usual do.
  std::optional<std::string> taken_for(const Subject& subject, std::int64_t position, const Below& asked,
                                       const Tensor& answer) const {
    const gen::PositionRange range = model_->range();
    const auto is_as_at = [&](const Call& call) {
      try {
        return same_bits(model_->ask(*subject.open(spec_), call), answer);
      } catch (const SubjectFailure&) {
        return false;
      }
    };
    const auto changed = [&](const std::function<std::int64_t(std::int64_t)>& change) {
      Call call = call_at(position, asked);
      std::ranges::transform(call.positions, call.positions.begin(), change);
      std::ranges::transform(call.query_positions, call.query_positions.begin(), change);
      return call;
    };
    // What is the same wherever it stands, as attention of one token, was taken for no place.
    const std::int64_t last = range.last - asked.tokens;
    if (last > range.first && is_as_at(call_at(range.first, asked)) && is_as_at(call_at(last, asked)))
      return std::nullopt;
    const std::int64_t width = range.last - range.first;
    const PositionGrid grid = position_grid_of(spec_.encoding);
    if (is_as_at(changed([&](std::int64_t p) { return p < range.first ? p + width : p; })))
      return fmt::format("answered as positions from {} on, wrapped round", grid.text(position + width));
    if (is_as_at(changed([&](std::int64_t p) { return range.first + std::abs(p - range.first); })))
      return fmt::format("answered as positions from {} down, mirrored", grid.text(2 * range.first - position));
    if (is_as_at(changed([&](std::int64_t p) { return std::max(p, range.first); })))
      return fmt::format("answered as position {}, clamped", grid.text(range.first));
    return std::nullopt;
  }

  Spec spec_;
  std::shared_ptr<EncodingModel> model_;
  std::shared_ptr<EncodingModel> wider_;
  std::shared_ptr<Judge> judge_;
};

}  // namespace

Property below_claim_property() {
  Property property;
  property.id = "below_claim";
  property.level = Level::advice;
  property.needs = Needs::live_subject;
  property.sessions = Sessions::own;
  property.explanation = {
      "positions below the claim are refused or right",
      "for p < min_position: f(p) is the encoding's value where it has one, or the call is refused; it is not silently "
      "that of a position within, wrapped round, mirrored or clamped",
      "an encoding is a function of its position; a negative index counts from the end in many languages",
      "every encoding; advice, since nothing is claimed there",
      "accuracy's; where the encoding has no such positions, only the answer of another position is a finding",
      "negative indices of a table, unsigned positions, absolute values, distances taken for positions"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (spec.min_position < furthest - position_grid_of(spec.encoding).most())
      return "nothing that a spec may name lies below the claim";
    const auto* attention = held<Attention>(spec);
    if (attention != nullptr && !sees_positions(*attention)) return "attention does not see its positions";
    if (attention != nullptr && attention->query_scale) return "queries before the claim have no scale";
    return accuracy_not_stated(spec);
  };
  use_cases(property, places_below(), [](const Spec& spec) -> SubjectCheckOf<Below> {
    return [judge = BelowJudge(spec)](const Subject& subject, const Below& asked) mutable {
      return judge.judge(subject, asked);
    };
  });
  return property;
}

}  // namespace sextant
