#include <fmt/format.h>

#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/question.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// A case is two questions and a script of up to six steps, its digits in base 3: ask the one, ask the other, reset.
enum Field : std::size_t {
  position_field,
  tokens_field,
  other_position_field,
  other_tokens_field,
  script_field,
  fill_field
};
constexpr std::int64_t scripts = std::int64_t{3} * 3 * 3 * 3 * 3 * 3;

Judgement judge(const Spec& spec, const Subject& subject, const Case& values) {
  const Question one{values[position_field], values[tokens_field], 1, 2, values[fill_field]};
  const Question other{values[other_position_field], values[other_tokens_field], 2, 1, values[fill_field]};
  // What each comes to with no past is the stateless model. A subject may hold one process at a time, so the sessions
  // follow each other.
  const Tensor fresh_other = ask(*subject.open_anew(spec), spec, other);
  const std::unique_ptr<Session> session = subject.open(spec);
  const Tensor fresh_one = ask(*session, spec, one);
  Judgement judgement;
  std::int64_t script = values[script_field];
  for (int step = 1; step <= 7; ++step, script /= 3) {
    // The last steps are fixed: the other, then the one again.
    const std::int64_t what = step == 6 ? 1 : step == 7 ? 0 : script % 3;
    if (what == 2) {
      reset(*session);
      continue;
    }
    const Question& question = what == 0 ? one : other;
    const Tensor answer = ask(*session, spec, question);
    const auto difference = first_difference(what == 0 ? fresh_one : fresh_other, answer);
    judgement.add_exact(difference ? std::optional(fmt::format("position {}, step {} of a session: {}",
                                                               question.position, step + 1, *difference))
                                   : std::nullopt,
                        [] { return "the same bits as in a fresh session"; });
  }
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
      "after any sequence of calls, f(x) is what a fresh session says",
      "an encoding is a function of its position; dynamic scaling of the call it is in (Peng et al. 2023, section 3.3)",
      "every encoding",
      "none: all bits are compared with those of a session that was asked nothing else",
      "tables cached at one length or precision and used at another, a base that never shrinks back, counters of "
      "calls, buffers "
      "reused without being written"};
  property.fields = [](const Spec&) {
    return std::vector<std::string>{"position", "tokens", "other_position", "other_tokens", "script", "fill"};
  };
  property.not_applicable = [](const Spec&) { return std::optional<std::string>(); };
  property.admits = [](const Spec& spec, const Case& values) {
    const auto inside = [&](std::int64_t p) { return p >= spec.min_position && p < last_position_of(spec); };
    const auto few = [](std::int64_t tokens) { return tokens >= 1 && tokens <= 64; };
    return inside(values[position_field]) && few(values[tokens_field]) && inside(values[other_position_field]) &&
           few(values[other_tokens_field]) && values[script_field] >= 0 && values[script_field] < scripts &&
           values[fill_field] >= 0;
  };
  property.simplest = [](const Spec& spec) {
    const std::int64_t p = gen::simplest_position(gen::range_of(spec));
    return Case{p, 1, p, 1, 0, 0};
  };
  property.first_cases = [](const Spec& spec) {
    const gen::PositionRange range{spec.min_position, last_position_of(spec)};
    const std::int64_t near = gen::simplest_position(range);
    const std::int64_t ahead = std::min(near + 5, range.last - 1);
    // Short, then far and long, then short again; the reverse; a single token after a long call, with a reset between.
    return std::vector<Case>{{ahead, 3, range.last - 1, 33, 1, 1},
                             {range.last - 1, 1, ahead, 17, 0, 2},
                             {ahead, 1, near, 64, 1 + 2 * 3 + 1 * 9, 3}};
  };
  property.cases = [](const Spec& spec) {
    const auto position = gen::position({spec.min_position, last_position_of(spec)});
    const auto tokens = gen::one_of({1, 1, 2, 3, 16, 33, 64});
    const auto parts =
        rc::gen::tuple(position, tokens, position, tokens, gen::count(0, scripts - 1), gen::count(0, 1000));
    return rc::gen::map(
        parts, [](const auto& drawn) { return std::apply([](auto... value) { return Case{value...}; }, drawn); });
  };
  property.make_subject_check = [](const Spec& spec) -> SubjectCheck {
    return [spec](const Subject& subject, const Case& values) { return judge(spec, subject, values); };
  };
  return property;
}

}  // namespace sextant
