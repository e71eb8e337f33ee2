#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "properties/catalogue.hpp"
#include "properties/engine/failure.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/every/call_sequences.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/model.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// A sequence of calls as programs make them (call_sequences.hpp), or two questions and a script of up to six steps, its
// digits in base 3: ask the one, ask the other, reset. Two more follow from these: the one's shape at the other's
// positions, and the other's shape at the one's.
struct History {
  std::int64_t position;
  std::int64_t tokens;
  std::int64_t other_position;
  std::int64_t other_tokens;
  std::int64_t script;
  std::int64_t fill;
  std::int64_t sequence;  // the other question and the script are those of Sequence::none
};
constexpr std::int64_t scripts = std::int64_t{3} * 3 * 3 * 3 * 3 * 3;

// Whether a history has calls to compare: an encoding without a weight has no sequence of other weights.
bool has_calls(const Spec& spec, const History& history) {
  if (history.sequence == 0) return true;
  return !calls_of(static_cast<Sequence>(history.sequence), *model_of(spec), history.position, history.tokens,
                   history.fill)
              .empty();
}

CasesOf<History> histories() {
  CasesOf<History> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<History>> {
    const FieldRange positions{spec.min_position, last_position_of(spec) - 1};
    return {{"position", FieldRole::position, &History::position, positions},
            {"tokens", FieldRole::run, &History::tokens, {1, 64}},
            {"other_position", FieldRole::position, &History::other_position, positions},
            {"other_tokens", FieldRole::number, &History::other_tokens, {1, 64}},
            {"script", FieldRole::choice, &History::script, {0, scripts - 1}},
            {"fill", FieldRole::fill, &History::fill, any_fill},
            {"sequence", FieldRole::choice, &History::sequence, {0, sequences - 1}}};
  };
  cases.related = has_calls;
  cases.first = [](const Spec& spec) -> std::vector<History> {
    const gen::PositionRange range = model_of(spec)->range();
    const std::int64_t near = gen::simplest_position(range);
    const std::int64_t ahead = std::min(near + 5, range.last - 1);
    // Short, then far and long, then short again; the reverse; a single token after a long call, with a reset between.
    std::vector<History> list{{ahead, 3, range.last - 1, 33, 1, 1, 0},
                              {range.last - 1, 1, ahead, 17, 0, 2, 0},
                              {ahead, 1, near, 64, 1 + 2 * 3 + 1 * 9, 3, 0}};
    for (std::int64_t sequence = 1; sequence < sequences; ++sequence)
      list.push_back({near, 16, near, 1, 0, sequence, sequence});
    std::erase_if(list, [&](const History& history) { return !has_calls(spec, history); });
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    const auto position = gen::position(model_of(spec)->range());
    const auto tokens = gen::one_of({1, 1, 2, 3, 16, 33, 64});
    const auto parts = gen::tuple(position, tokens, position, tokens, gen::count(0, scripts - 1), gen::count(0, 1000),
                                  gen::count(0, 2 * sequences - 1));
    return gen::map(parts, [spec](const auto& drawn) {
      History history = std::apply([](auto... value) { return History{value...}; }, drawn);
      if (history.sequence >= sequences || !has_calls(spec, history)) history.sequence = 0;
      return history;
    });
  };
  return cases;
}

// A sequence in one session, and backwards in another: whatever a call leaves behind, in one of the two it comes first.
class SequenceJudge {
 public:
  SequenceJudge(const Spec& spec, const Subject& subject, const History& history)
      : spec_(spec),
        subject_(subject),
        model_(model_of(spec)),
        calls_(calls_of(static_cast<Sequence>(history.sequence), *model_, history.position, history.tokens,
                        history.fill)) {}

  Judgement judge() {
    Judgement judgement;
    std::vector<std::size_t> order(calls_.size());
    std::iota(order.begin(), order.end(), 0);
    const std::vector<std::optional<Tensor>> forwards = answers(order);
    std::ranges::reverse(order);
    const std::vector<std::optional<Tensor>> backwards = answers(order);
    const auto is_compared = [&](std::size_t i) { return forwards[i] && backwards[i] && !calls_[i].may_be_refused(); };
    // The refused call ended one of the sessions before another was answered, or none ever is.
    if (refusal_ && std::ranges::none_of(order, is_compared)) throw SubjectFailure(FailureKind::unsupported, *refusal_);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (!is_compared(i)) continue;
      const auto difference = first_difference(spec_, *forwards[i], *backwards[i]);
      judgement.add_exact(difference ? std::optional(finding(i, *forwards[i], *difference)) : std::nullopt,
                          [] { return "the same bits whatever was asked before"; });
    }
    return judgement;
  }

 private:
  // In the order given; what is refused beyond the claim has none, nor what follows a session's end there.
  std::vector<std::optional<Tensor>> answers(std::span<const std::size_t> order) {
    std::vector<std::optional<Tensor>> list(calls_.size());
    const auto session = subject_.open(spec_);
    for (const std::size_t i : order) {
      try {
        list[i] = model_->ask(*session, call_of(*model_, calls_[i]));
      } catch (const SubjectFailure& failure) {
        if (!calls_[i].may_be_refused()) throw;
        refusal_ = failure.what();
        if (ends_session(failure.kind())) break;
      }
    }
    return list;
  }

  // What call `i` answers in a fresh session, or after one other call there.
  std::optional<Tensor> alone(std::size_t i) { return answers(std::array{i})[i]; }
  std::optional<Tensor> after(std::size_t other, std::size_t i) { return answers(std::array{other, i})[i]; }

  // Names the call that made the difference: that before it, or the first of all, of the session whose answer is not
  // what a fresh one gives.
  std::string finding(std::size_t i, const Tensor& forwards, const std::string& difference) {
    const std::optional<Tensor> fresh = alone(i);
    const bool is_forwards = fresh && first_difference(spec_, *fresh, forwards).has_value();
    std::vector<std::size_t> others;
    if (is_forwards && i > 0) others = {i - 1, 0};
    if (!is_forwards && i + 1 < calls_.size()) others = {i + 1, calls_.size() - 1};
    for (const std::size_t other : others) {
      const std::optional<Tensor> answer = after(other, i);
      if (!fresh || !answer) continue;
      if (const auto changed = first_difference(spec_, *fresh, *answer))
        return fmt::format("{}, alone and then after {}: {}", text_of(calls_[i], spec_), text_of(calls_[other], spec_),
                           *changed);
    }
    return fmt::format("{}, after {} other calls and after none or others: {}", text_of(calls_[i], spec_),
                       is_forwards ? i : calls_.size() - 1 - i, difference);
  }

  const Spec& spec_;
  const Subject& subject_;
  std::unique_ptr<EncodingModel> model_;
  std::vector<SequencedCall> calls_;
  std::optional<std::string> refusal_;
};

Judgement judge(const Spec& spec, const Subject& subject, const History& history) {
  if (history.sequence != 0) return SequenceJudge(spec, subject, history).judge();
  const Question one{history.position, history.tokens, 1, 2, history.fill};
  const Question other{history.other_position, history.other_tokens, 2, 1, history.fill};
  // What each comes to with no past is the stateless model. A subject may hold one process at a time, so the sessions
  // follow each other. One that shares nothing with the others is dear where it is an interpreter that imports a
  // framework, so only some cases have one, the first of all among them.
  const bool anew = history.fill % 8 == 1;
  const Question one_elsewhere{history.other_position, history.tokens, 1, 2, history.fill};
  const Question other_elsewhere{history.position, history.other_tokens, 2, 1, history.fill};
  std::unique_ptr<Session> session = anew ? subject.open_anew(spec) : subject.open(spec);
  const Tensor fresh_other = ask(*session, spec, other);
  // Not fresh, but after another call than below. What is kept for the next call of the same shape, or at the same
  // positions, makes them differ, whichever of the two is right.
  const Tensor first_one_elsewhere = ask(*session, spec, one_elsewhere);
  const Tensor first_other_elsewhere = ask(*session, spec, other_elsewhere);
  session = nullptr;
  session = subject.open(spec);
  const Tensor fresh_one = ask(*session, spec, one);
  Judgement judgement;
  std::string before = "nothing";
  std::int64_t script = history.script;
  for (int step = 1; step <= 7; ++step, script /= 3) {
    // The last steps are fixed: the other, then the one again.
    const std::int64_t what = step == 6 ? 1 : step == 7 ? 0 : script % 3;
    if (what == 2) {
      reset(*session);
      continue;
    }
    const Question& question = what == 0 ? one : other;
    const Tensor answer = ask(*session, spec, question);
    const auto difference = first_difference(spec, what == 0 ? fresh_one : fresh_other, answer);
    judgement.add_exact(difference ? std::optional(fmt::format("{}, step {} of a session, before it {}: {}",
                                                               text_of(question, spec), step + 1, before, *difference))
                                   : std::nullopt,
                        [] { return "the same bits as in a fresh session"; });
    before = text_of(question, spec);
  }
  const auto compare = [&](const Question& question, const Tensor& first, std::string_view after) {
    const auto difference = first_difference(spec, first, ask(*session, spec, question));
    judgement.add_exact(difference ? std::optional(fmt::format("{}, {}; in two sessions: {}", text_of(question, spec),
                                                               after, *difference))
                                   : std::nullopt,
                        [] { return "the same bits as in a fresh session"; });
  };
  compare(one_elsewhere, first_one_elsewhere, "after a call of the same shape at other positions");
  compare(other_elsewhere, first_other_elsewhere, "after a call of another shape at the same positions");
  return judgement;
}

}  // namespace

Property history_property() {
  Property property;
  property.id = "history";
  property.level = Level::contract;
  property.needs = Needs::live_subject;
  property.sessions = Sessions::own;
  property.explanation = {
      "an answer does not depend on what was asked before",
      "after any sequence of calls, f(x) is what a fresh session says; sequences are those of generation (a prompt, "
      "then "
      "token by token; in chunks; speculative, going back; growing; thousands of tokens between few; the same ends and "
      "other positions between; other batch sizes; after a refused call and after one of no tokens; under weights that "
      "share some values) and drawn ones, with resets",
      "an encoding is a function of its position; dynamic scaling of the call it is in (Peng et al. 2023, section 3.3)",
      "every encoding",
      "none: all bits are compared with those of a session that was asked nothing else",
      "tables cached at one length or precision and used at another, a base that never shrinks back, counters of "
      "calls, buffers "
      "reused without being written, what is kept by a call's shape, its ends or its positions alone, rows that a "
      "growing cache loses, what a refused call leaves"};
  property.not_applicable = [](const Spec&) { return std::optional<std::string>(); };
  use_cases(property, histories(), [](const Spec& spec) -> SubjectCheckOf<History> {
    return [spec](const Subject& subject, const History& history) { return judge(spec, subject, history); };
  });
  return property;
}

}  // namespace sextant
