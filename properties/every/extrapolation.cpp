#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "lib/spec/of.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/failure.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/every/call_sequences.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/model.hpp"
#include "properties/model/question.hpp"
#include "properties/model/reshaped.hpp"

namespace sextant {
namespace {

using reference::Certainty;

// A call of which some tokens, or all, lie beyond the trained positions.
struct Beyond {
  std::int64_t position;
  std::int64_t tokens;
  std::int64_t fill;
};

constexpr std::int64_t longest_beyond = 4096;

// The border between what was trained and what was not, and the end of the claim.
struct Border {
  explicit Border(const EncodingModel& model)
      : first(model.range().first), trained_end(model.trained_end()), last(model.range().last) {}

  bool exists() const { return trained_end < last; }

  std::int64_t first;
  std::int64_t trained_end;
  std::int64_t last;
};

Question question_of(const EncodingModel& model, const Beyond& asked) {
  return clipped({.position = asked.position, .tokens = asked.tokens, .heads = 2, .fill = asked.fill % plain_fills},
                 model.largest_drawn());
}

CasesOf<Beyond> places_beyond() {
  CasesOf<Beyond> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Beyond>> {
    const Border border(*model_of(spec));
    const std::int64_t first = std::max(border.first, border.trained_end - longest_beyond / 2);
    return {{"position",
             FieldRole::position,
             &Beyond::position,
             {first, border.last - 1, std::min(border.trained_end, border.last - 1)}},
            {"tokens", FieldRole::run, &Beyond::tokens, {1, longest_beyond}},
            {"fill", FieldRole::fill, &Beyond::fill, any_fill}};
  };
  cases.related = [](const Spec& spec, const Beyond& asked) {
    const auto model = model_of(spec);
    const Border border(*model);
    // Where all was trained, one call finds out how far the law goes on.
    if (!border.exists()) return asked.position == border.last - 1 && asked.tokens == 1;
    return asked.position + asked.tokens > std::min(border.trained_end, border.last - 1) &&
           asked.position + asked.tokens <= border.last && model->related(question_of(*model, asked));
  };
  cases.first = [related = cases.related](const Spec& spec) {
    const Border border(*model_of(spec));
    const std::int64_t end = border.trained_end;
    std::vector<Beyond> list{{border.last - 1, 1, 1}};
    for (const auto& [position, tokens] : {std::pair{end, std::int64_t{1}},
                                           {end, std::int64_t{17}},
                                           {end - 1, std::int64_t{2}},
                                           {end - 9, std::int64_t{20}},
                                           {end - longest_beyond / 2, longest_beyond},
                                           {2 * end - border.first, std::int64_t{33}},
                                           {border.last - 64, std::int64_t{64}},
                                           {end, longest_beyond}}) {
      const std::int64_t from = std::clamp(position, border.first, border.last - 1);
      list.push_back({from, std::min(tokens, border.last - from), 2});
    }
    std::erase_if(list, [&](const Beyond& asked) { return !related(spec, asked); });
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    const Border border(*model_of(spec));
    const auto parts = gen::tuple(gen::position({std::min(border.trained_end, border.last - 1), border.last}),
                                  gen::one_of({1, 1, 2, 16, 33, 64, 257}), gen::count(0, 63), gen::count(0, 1000));
    return gen::map(parts, [border](const auto& drawn) {
      const auto& [position, tokens, before, fill] = drawn;
      if (!border.exists()) return Beyond{border.last - 1, 1, 2};
      const std::int64_t from =
          std::max(position - before, std::max(border.first, border.trained_end - longest_beyond / 2));
      return Beyond{from, std::min(position - from + tokens, border.last - from), fill};
    });
  };
  return cases;
}

// Keeps the worse of two judgements of one case.
void take_in(Judgement& judgement, const Judgement& other) {
  const bool is_worse = judgement.within != Certainty::no && other.within == Certainty::no;
  const bool is_better = judgement.within == Certainty::no && other.within != Certainty::no;
  if (is_worse || (!is_better && other.deviation.of_bound > judgement.deviation.of_bound)) judgement = other;
}

// What a subject does at positions beyond the claim, for a report alone.
class BeyondTheClaim {
 public:
  BeyondTheClaim(const Subject& subject, const Spec& spec) : subject_(subject), spec_(spec), model_(model_of(spec)) {}

  std::string text() {
    // A wider claim's table would be of another length.
    if (const auto* table = held<RotaryTable>(spec_); table != nullptr && length_limit(table->rope.rope_scaling))
      return "";
    const gen::PositionRange claimed = model_->range();
    Spec wider = spec_;
    const std::int64_t width = claimed.last - claimed.first;
    const PositionGrid grid = position_grid_of(spec_.encoding);
    wider.max_position = claimed.last + std::min((std::int64_t{1} << doublings) * width, most_further);
    // Whole positions may end before: what is asked there is refused, or known. Real ones end where their dtype does.
    if (grid.dtype != Dtype::int64) wider.max_position = std::min(wider.max_position, grid.most());
    try {
      validate(wider);
    } catch (const SpecError&) {
      return fmt::format("at position {}, beyond the claim, it {}", grid.text(claimed.last),
                         name_of(found_by_asking(claimed.last)));
    }
    wider_ = model_of(wider);
    if (wider_->range().last <= claimed.last + tokens || wider_->not_judged()) return "";
    judge_ = wider_->judge();
    std::int64_t right = claimed.last - 1;
    for (int doubling = 0; doubling <= doublings; ++doubling) {
      const std::int64_t further = std::min(((std::int64_t{1} << doubling) - 1) * width, most_further);
      const std::int64_t position = std::min(claimed.last + further, wider_->range().last - tokens);
      const Found found = found_at(position);
      if (found != Found::right) return ends_between(right, position, found);
      right = position;
    }
    return fmt::format("beyond the claim the law goes on at least to position {}", grid.text(right));
  }

 private:
  enum class Found { right, wrong, refuses, crashes };
  static const char* name_of(Found found) {
    switch (found) {
      case Found::right: return "answers";
      case Found::wrong: return "is wrong";
      case Found::refuses: return "refuses";
      case Found::crashes: break;
    }
    return "crashes";
  }

  static constexpr std::int64_t tokens = 4;
  static constexpr int doublings = 6;
  static constexpr std::int64_t most_further = std::int64_t{1} << 40;

  Found found_by(const std::function<Found(Session&)>& ask) {
    try {
      return ask(*subject_.open(spec_));
    } catch (const SubjectFailure& failure) {
      return ends_session(failure.kind()) ? Found::crashes : Found::refuses;
    }
  }

  Found found_by_asking(std::int64_t position) {
    return found_by([&](Session& session) {
      Call call = model_->accuracy_call(question_of(*model_, {position - 1, 1, 1}));
      std::ranges::fill(call.positions, position);
      std::ranges::fill(call.query_positions, position);
      model_->ask(session, call);
      return Found::right;
    });
  }

  Found found_at(std::int64_t position) {
    return found_by([&](Session& session) {
      const Call call = wider_->accuracy_call(question_of(*wider_, {position, tokens, 1}));
      return judge_->values(call, wider_->ask(session, call)).within == Certainty::no ? Found::wrong : Found::right;
    });
  }

  // What stands at `wrong` is `found`.
  std::string ends_between(std::int64_t right, std::int64_t wrong, Found found) {
    for (int step = 0; step < 24 && wrong - right > 1; ++step) {
      const std::int64_t middle = right + (wrong - right) / 2;
      const Found there = found_at(middle);
      (there == Found::right ? right : wrong) = middle;
      if (there != Found::right) found = there;
    }
    const PositionGrid grid = position_grid_of(spec_.encoding);
    return fmt::format(
        "not judged, as the claim ends at {}: at position {} it {}{}", grid.text(model_->range().last - 1),
        grid.text(wrong), name_of(found),
        right < model_->range().last ? "" : fmt::format(", and the law goes on to {}", grid.text(right)));
  }

  const Subject& subject_;
  const Spec& spec_;
  std::unique_ptr<EncodingModel> model_;
  std::unique_ptr<EncodingModel> wider_;
  std::unique_ptr<Judge> judge_;
};

class ExtrapolationJudge {
 public:
  explicit ExtrapolationJudge(const Spec& spec)
      : spec_(spec), model_(model_of(spec)), judge_(model_->judge()), border_(*model_) {}

  Judgement judge(const Subject& subject, const Beyond& asked) {
    Judgement judgement;
    if (!border_.exists()) {
      // That it can be asked, once.
      if (!is_answered_) model_->ask(*subject.open(spec_), model_->accuracy_call(question_of(*model_, asked)));
      is_answered_ = true;
      judgement.add_exact(std::nullopt, [] { return "all that is claimed was trained"; });
    } else {
      const auto session = subject.open(spec_);
      const Call call = model_->accuracy_call(question_of(*model_, asked));
      const bool goes_on = model_->beyond_training() == Theory::holds;
      judgement = goes_on ? of_law(*session, call, asked) : witness(*session, call);
      if (goes_on && judgement.within == Certainty::no && is_wrong_before(*session, asked)) {
        judgement = Judgement();
        judgement.add_exact(std::nullopt, [] { return "as wrong before the border"; });
        judgement.remark = "wrong at trained positions too, of which accuracy tells";
      }
    }
    // Once a run, at the claim's end.
    if (asked.position == border_.last - 1 && asked.fill == 1 && judgement.within != Certainty::no) {
      judgement.remark = BeyondTheClaim(subject, spec_).text();
      if (const std::string phases = border_.exists() ? model_->met_beyond() : ""; !phases.empty())
        judgement.remark = phases + (judgement.remark.empty() ? "" : "; ") + judgement.remark;
    }
    return judgement;
  }

 private:
  Judgement of_law(Session& session, const Call& call, const Beyond& asked) {
    Judgement judgement;
    try {
      judgement = judge_->values(call, model_->ask(session, call));
      if (!call.query_positions.empty() && call.vectors.empty()) {
        const Call far = with_far_keys(call);
        take_in(judgement, judge_->values(far, model_->ask(session, far)));
      }
      const std::int64_t before = border_.trained_end - asked.position;
      const bool crosses = before > 0 && before < asked.tokens;
      if (!crosses || model_->depends_on_length() || model_->sees_later_tokens()) return judgement;
      const auto side = [&](std::int64_t skip, std::int64_t count) {
        const Chunk chunk{asked.position, asked.tokens, skip, count, asked.fill % plain_fills};
        take_in(judgement, judge_parts(session, *model_, *judge_, model_->chunk_of(chunk)));
      };
      side(0, before);
      side(before, asked.tokens - before);
    } catch (const SubjectFailure& failure) {
      if (ends_session(failure.kind()) || !answers_trained(session)) throw;
      judgement.add_exact(fmt::format("{} refused, trained positions are not: {}",
                                      text_of(question_of(*model_, asked), spec_), failure.what()),
                          [] { return ""; });
    }
    return judgement;
  }

  // The last query of a bias and keys at every distance that training has not had, and at some that it has.
  Call with_far_keys(Call call) const {
    const std::int64_t query = std::ranges::max(call.query_positions);
    call.query_positions = {query};
    call.positions = {border_.first};
    for (std::int64_t distance = 1; distance <= query - border_.first; distance += 1 + distance / 8)
      call.positions.push_back(query - distance);
    return call;
  }

  // Whether as many tokens right before the border are wrong: then it is no matter of the border.
  bool is_wrong_before(Session& session, const Beyond& asked) {
    const std::int64_t tokens = std::min(asked.tokens, border_.trained_end - border_.first);
    const Call call = model_->accuracy_call(question_of(*model_, {border_.trained_end - tokens, tokens, asked.fill}));
    try {
      return judge_->values(call, model_->ask(session, call)).within == Certainty::no;
    } catch (const SubjectFailure&) {
      return false;
    }
  }

  bool answers_trained(Session& session) {
    try {
      model_->ask(session, model_->accuracy_call(question_of(*model_, {border_.first, 1, 1})));
      return true;
    } catch (const SubjectFailure& failure) {
      if (ends_session(failure.kind())) throw;
      return false;
    }
  }

  // That the trained positions do not say what there is beyond them: a lookup answers with rows that nothing trained, a
  // count or its digits with values that no trained position has.
  Judgement witness(Session& session, const Call& call) {
    Judgement judgement;
    const Tensor answer = model_->ask(session, call);
    if (call.weight) {
      Call changed = call;
      const std::int64_t columns = call.weight->shape[1];
      for (std::int64_t i = border_.trained_end * columns; i < call.weight->elements(); ++i)
        changed.weight->set(i, 1 - call.weight->at(i));
      const auto difference = first_difference(spec_, answer, model_->ask(session, changed));
      judgement.add_exact(
          difference ? std::optional("rows beyond the trained ones, changed, change the answer: " + *difference)
                     : std::nullopt,
          [] { return "the same whatever stands in rows that were not trained"; });
      return judgement;
    }
    Call trained = call;
    trained.positions = trained_sample();
    const Tensor seen = model_->ask(session, trained);
    const std::int64_t width = answer.shape[1];
    std::vector<double> lows(static_cast<std::size_t>(width), std::numeric_limits<double>::infinity());
    std::vector<double> highs(lows.size(), -std::numeric_limits<double>::infinity());
    for (std::int64_t i = 0; i < seen.elements(); ++i) {
      const auto channel = static_cast<std::size_t>(i % width);
      lows[channel] = std::min(lows[channel], seen.at(i));
      highs[channel] = std::max(highs[channel], seen.at(i));
    }
    std::optional<std::string> outside;
    for (std::int64_t i = 0; i < answer.elements() && !outside; ++i) {
      const auto channel = static_cast<std::size_t>(i % width);
      const double value = answer.at(i);
      if (value < lows[channel] || value > highs[channel])
        outside = fmt::format("position {}, channel {}: {}, trained positions have {} to {}",
                              call.positions[static_cast<std::size_t>(i / width)], channel,
                              value_text(answer.dtype, value), lows[channel], highs[channel]);
    }
    judgement.add_exact(outside, [] { return "within the range of the trained positions"; });
    return judgement;
  }

  // The first and last trained positions, and powers of two between them.
  std::vector<std::int64_t> trained_sample() const {
    std::vector<std::int64_t> positions;
    const std::int64_t count = border_.trained_end - border_.first;
    for (std::int64_t step = 0; step < std::min<std::int64_t>(count, 64); ++step) {
      positions.push_back(border_.first + step);
      positions.push_back(border_.trained_end - 1 - step);
    }
    for (std::int64_t power = 64; power < count; power *= 2) positions.push_back(border_.first + power);
    return positions;
  }

  Spec spec_;
  std::shared_ptr<EncodingModel> model_;
  std::shared_ptr<Judge> judge_;
  Border border_;
  bool is_answered_ = false;
};

}  // namespace

Property extrapolation_property() {
  Property property;
  property.id = "extrapolation";
  property.needs = Needs::live_subject;
  property.sessions = Sessions::own;
  property.explanation = {
      "beyond the positions that a model was trained on the code goes on by its law",
      "for trained_positions <= p < max_position: f(p) is the encoding's value, as near as the class claims, in calls "
      "beyond the border and in calls that cross it, which agree with those on either side, and a bias at every "
      "distance; nothing is refused. A "
      "lookup, a count that is not normalised and binary digits do not extrapolate, which a case must show",
      "docs/proofs/extrapolation.md: what each scaling rule promises of the angles there (Chen et al. 2023, "
      "arXiv:2306.15595, section 2.3; Peng et al. 2023, section 3; Press et al. 2021, section 3)",
      "every encoding. What was trained is the claim's `trained_positions`, else a scaling rule's "
      "original_max_position_embeddings, else all that is claimed; beyond the claim it measures how far the law goes "
      "on, and convicts nobody",
      "accuracy's, and for two calls that agree twice that (docs/proofs/accuracy-classes.md)",
      "positions clamped or wrapped round at the trained length, tables of that length, a refusal, a rule that "
      "switches at another length or not at all, another path beyond the trained length"};
  property.theory = [](const Spec& spec) {
    const auto model = model_of(spec);
    return Border(*model).exists() ? model->beyond_training() : Theory::holds;
  };
  property.not_applicable = accuracy_not_stated;
  use_cases(property, places_beyond(), [](const Spec& spec) -> SubjectCheckOf<Beyond> {
    return [judge = ExtrapolationJudge(spec)](const Subject& subject, const Beyond& asked) mutable {
      return judge.judge(subject, asked);
    };
  });
  return property;
}

}  // namespace sextant
