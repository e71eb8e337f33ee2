// Over 400 lines, since the three ways in which other specs are asked beside a claim share what they compare.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/every/at_once.hpp"
#include "properties/every/call_sequences.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/model.hpp"
#include "properties/model/siblings.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// Which of the siblings are asked, from number `first` to `last`, and in which order.
struct Together {
  std::int64_t position;
  std::int64_t tokens;
  std::int64_t first;
  std::int64_t last;
  std::int64_t order;
  std::int64_t fill;
};

// All siblings before the spec itself; the same, the last of them first; by turns with it, it being the first; two
// sequences under the spec, which grow by turns, and one that grows while siblings are asked; or in threads, the
// spec's calls and those of a sibling at once, of each sibling in turn.
enum Order { rising, falling, by_turns, two_sequences, by_threads };
constexpr std::int64_t orders = 5;
constexpr std::int64_t growths = 3;
constexpr std::size_t threads = 8;
constexpr std::int64_t tokens_of_threads = 256;
constexpr std::size_t calls_of_thread = 5;
constexpr std::size_t least_rounds = 16;
constexpr std::int64_t most_tokens = 64;

CasesOf<Together> cases_together() {
  CasesOf<Together> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Together>> {
    const std::int64_t siblings = std::ssize(siblings_of(spec));
    return {{"position", FieldRole::position, &Together::position, {spec.min_position, last_position_of(spec) - 1}},
            {"tokens", FieldRole::run, &Together::tokens, {1, most_tokens}},
            // Towards each other, so that counterexamples have few.
            {"first", FieldRole::choice, &Together::first, {0, siblings - 1, siblings - 1}},
            {"last", FieldRole::choice, &Together::last, {0, siblings - 1}},
            {"order", FieldRole::choice, &Together::order, {0, orders - 1}},
            {"fill", FieldRole::fill, &Together::fill, any_fill}};
  };
  cases.related = [](const Spec&, const Together& asked) { return asked.first <= asked.last; };
  cases.first = [](const Spec& spec) {
    const gen::PositionRange range = model_of(spec)->range();
    const std::int64_t ahead = std::min(gen::simplest_position(range) + 5, range.last - 1);
    const std::vector<Variant> siblings = siblings_of(spec);
    const std::int64_t last = std::ssize(siblings) - 1;
    std::vector<Together> list;
    for (const Order order : {rising, falling, by_turns, two_sequences, by_threads})
      list.push_back({.position = ahead, .tokens = 3, .first = 0, .last = last, .order = order, .fill = 1});
    // What the first call of a process decides for all shows where that call differs in just this: each alone, in a
    // call at the claim's end and one at its beginning, since some fields act beyond a length or a period only. Dtypes
    // first, which caches forget most and `quick` reaches then.
    const std::int64_t end = std::max(range.first, range.last - 3);
    for (const bool of_dtype : {true, false}) {
      for (std::int64_t i = 0; i <= last; ++i) {
        if (siblings[static_cast<std::size_t>(i)].field.starts_with("dtype") == of_dtype)
          list.push_back({.position = end, .tokens = 3, .first = i, .last = i, .order = rising, .fill = 1});
      }
    }
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    const std::int64_t siblings = std::ssize(siblings_of(spec));
    const auto parts = gen::tuple(gen::position(model_of(spec)->range()), gen::one_of({1, 1, 2, 3, 16, 33, 64}),
                                  gen::count(0, siblings - 1), gen::count(0, siblings - 1), gen::count(0, orders - 1),
                                  gen::count(0, 1000));
    return gen::map(parts, [](const auto& drawn) {
      const auto& [position, tokens, one, other, order, fill] = drawn;
      return Together{position, tokens, std::min(one, other), std::max(one, other), order, fill};
    });
  };
  return cases;
}

// A call of some tokens, and a longer one from the claim's beginning.
std::vector<Question> questions_of(const Together& asked, const gen::PositionRange& range) {
  const std::int64_t position = std::clamp(asked.position, range.first, range.last - 1);
  return {{.position = position, .tokens = asked.tokens, .heads = 2, .fill = asked.fill},
          {.position = range.first, .tokens = 2 * asked.tokens + 1, .heads = 2, .fill = asked.fill}};
}

std::vector<Tensor> answers(Session& session, const Spec& spec, std::span<const Question> questions) {
  const auto model = model_of(spec);
  std::vector<Tensor> list;
  for (const Question& question : questions) list.push_back(model->ask(session, model->call_of(question)));
  return list;
}
std::vector<Tensor> answers(Session& session, const Spec& spec, const Together& asked) {
  return answers(session, spec, questions_of(asked, model_of(spec)->range()));
}

// A sibling that takes the process with it. A subject may be made for one spec alone: parameter_liveness tells that.
struct SiblingFailed {
  std::string field;
  FailureKind kind;
};

// A sibling may be refused, or answered in another shape or dtype: then the spec is asked after that.
void ask_sibling(Session& session, const Variant& sibling, std::span<const Question> questions) {
  try {
    answers(session, sibling.spec, questions);
  } catch (const SubjectFailure& failure) {
    if (failure.kind() == FailureKind::crashed || failure.kind() == FailureKind::misbehaved ||
        failure.kind() == FailureKind::timed_out)
      throw SiblingFailed{sibling.field, failure.kind()};
  }
}

// Two sequences of one module, as two texts that a server generates: a beginning each, then token after token.
class TwoSequences {
 public:
  TwoSequences(const Spec& spec, const Together& asked) : spec_(spec), model_(model_of(spec)) {
    const gen::PositionRange range = model_->range();
    const std::vector<Question> beginnings = questions_of(asked, range);
    for (std::size_t which = 0; which < sequences_.size(); ++which) {
      Question next = beginnings[which];
      next.fill += static_cast<std::int64_t>(which);
      for (std::int64_t step = 0; step <= growths; ++step) {
        sequences_[which].push_back(next);
        next = next_of(next);
      }
    }
  }

  /// The first of them, while the siblings are asked what it was asked, one after each of its calls: its next token
  /// follows theirs as well as its own.
  void judge_among(Judgement& judgement, const Subject& subject, const std::vector<Variant>& siblings) const {
    std::vector<Spec> specs{spec_};
    for (const Variant& sibling : siblings) specs.push_back(sibling.spec);
    std::vector<Question> sequence{sequences_[0][0]};
    while (sequence.size() < siblings.size() + 2) sequence.push_back(next_of(sequence.back()));
    // A subject may hold one process at a time, so the sessions follow each other.
    const std::vector<Tensor> alone = answers(*subject.open(spec_), spec_, sequence);
    const auto sessions = subject.open_together(specs);
    for (std::size_t step = 0; step < sequence.size(); ++step) {
      const auto difference = first_difference(spec_, alone[step], asked_of(*sessions[0], sequence[step]));
      const std::string before = step == 0 ? "nothing" : siblings[(step - 1) % siblings.size()].field;
      judgement.add_exact(difference
                              ? std::optional(fmt::format("{}, after the last call with another {} in one process: {}",
                                                          text_of(sequence[step], spec_), before, *difference))
                              : std::nullopt,
                          [] { return "the same bits as alone in a process"; });
      const std::size_t which = step % siblings.size();
      ask_sibling(*sessions[1 + which], siblings[which], std::span(sequence).subspan(step, 1));
    }
  }

  Judgement judge(const Subject& subject) const {
    std::array<std::vector<Tensor>, 2> alone;
    for (std::size_t which = 0; which < alone.size(); ++which) {
      const auto session = subject.open(spec_);
      for (const Question& question : sequences_[which]) alone[which].push_back(asked_of(*session, question));
    }
    const std::vector<Spec> twice{spec_, spec_};
    const auto sessions = subject.open_together(twice);
    const PositionGrid grid = position_grid_of(spec_.encoding);
    Judgement judgement;
    for (std::size_t step = 0; step < alone[0].size(); ++step) {
      for (std::size_t which = 0; which < alone.size(); ++which) {
        const Question& question = sequences_[which][step];
        const auto difference = first_difference(spec_, alone[which][step], asked_of(*sessions[which], question));
        judgement.add_exact(difference
                                ? std::optional(fmt::format("{}, by turns with a sequence from position {} on: {}",
                                                            text_of(question, spec_),
                                                            grid.text(sequences_[1 - which][0].position), *difference))
                                : std::nullopt,
                            [] { return "the same bits as alone in a process"; });
      }
    }
    return judgement;
  }

 private:
  // The token behind a call.
  Question next_of(Question question) const {
    const gen::PositionRange range = model_->range();
    question.position = range.first + (question.position - range.first + question.tokens) % (range.last - range.first);
    question.tokens = 1;
    ++question.fill;
    return question;
  }

  Tensor asked_of(Session& session, const Question& question) const {
    return model_->ask(session, model_->call_of(question));
  }

  const Spec& spec_;
  std::unique_ptr<EncodingModel> model_;
  std::array<std::vector<Question>, 2> sequences_;
};

// One process, in which the spec and its siblings have a session each.
class Company {
 public:
  Company(const Subject& subject, const Spec& spec, std::vector<Variant> siblings)
      : spec_(spec), siblings_(std::move(siblings)) {
    std::vector<Spec> specs{spec};
    for (const Variant& sibling : siblings_) specs.push_back(sibling.spec);
    sessions_ = subject.open_together(specs);
  }

  // Question by question, so that the spec is asked directly after a sibling what that was asked: a cache may keep its
  // last call alone.
  Judgement judge(const Together& asked, const std::vector<Tensor>& alone) {
    const auto model = model_of(spec_);
    const std::vector<Question> questions = questions_of(asked, model->range());
    std::vector<std::vector<Question>> of_siblings;
    for (const Variant& sibling : siblings_)
      of_siblings.push_back(questions_of(asked, model_of(sibling.spec)->range()));
    const auto judge_own = [&](Judgement& judgement, std::size_t which, const std::string& when) {
      const Tensor now = asked_of_own(*model, questions[which], when);
      const auto difference = first_difference(spec_, alone[which], now);
      judgement.add_exact(difference ? std::optional(fmt::format("{}, {} in one process: {}",
                                                                 text_of(questions[which], spec_), when, *difference))
                                     : std::nullopt,
                          [] { return "the same bits as alone in a process"; });
    };
    const std::string& last = siblings_.back().field;
    const std::string after_all =
        siblings_.size() == 1
            ? fmt::format("after the same call with another {}", last)
            : fmt::format("after the same call of {} other specs, the last with another {}", siblings_.size(), last);
    Judgement judgement;
    for (std::size_t which = 0; which < questions.size(); ++which) {
      if (asked.order == by_turns) judge_own(judgement, which, "before the same call of any other spec");
      for (std::size_t i = 0; i < siblings_.size(); ++i) {
        ask_sibling(*sessions_[1 + i], siblings_[i], std::span(of_siblings[i]).subspan(which, 1));
        if (asked.order == by_turns)
          judge_own(judgement, which, fmt::format("after the same call with another {}", siblings_[i].field));
      }
      if (asked.order != by_turns) judge_own(judgement, which, after_all);
    }
    return judgement;
  }

 private:
  // A failure that the spec alone does not bring says after what it came.
  Tensor asked_of_own(const EncodingModel& model, const Question& question, const std::string& when) {
    try {
      return model.ask(*sessions_[0], model.call_of(question));
    } catch (const SubjectFailure& failure) {
      throw SubjectFailure(failure.kind(),
                           fmt::format("{}, {} in one process: {}", text_of(question, spec_), when, failure.what()),
                           failure.trace());
    }
  }

  const Spec& spec_;
  std::vector<Variant> siblings_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

// What a subject promises that says so: threads of one process may call it at once.
class Threads {
 public:
  Threads(const Spec& spec, std::vector<Variant> siblings)
      : spec_(spec), model_(model_of(spec)), siblings_(std::move(siblings)) {}

  Judgement judge(const Subject& subject, const Together& asked) {
    Judgement judgement;
    // Calls that last: of a few tokens each is done before the next thread has begun. Thousands are made, and those of
    // attention grow with the square of their tokens: a large one lasts with fewer.
    const std::int64_t more = std::min(tokens_of_threads, model_->longest_drawn_row() / 2);
    std::vector<Question> questions = questions_of(asked, model_->range());
    for (Question& question : questions) question.tokens += more;
    const std::vector<Tensor> alone = answers(*subject.open(spec_), spec_, questions);
    const auto session = subject.open(spec_);
    const std::size_t rounds = std::max(least_rounds, 2 * siblings_.size());
    for (std::size_t round = 0; round < rounds; ++round) {
      // By turns the spec alone, as one layer that several requests share, and beside a sibling.
      const Variant* sibling = round % 2 == 0 ? nullptr : &siblings_[round / 2 % siblings_.size()];
      const auto is_own = [&](std::size_t thread) { return sibling == nullptr || thread < threads / 2; };
      std::vector<Asking> askings;
      for (std::size_t i = 0; i < threads * calls_of_thread; ++i) {
        const std::size_t thread = i / calls_of_thread;
        askings.push_back(asking(is_own(thread) ? spec_ : sibling->spec, questions[i % questions.size()],
                                 static_cast<std::int64_t>(thread)));
      }
      const std::vector<ThreadAnswer> answers = ask_at_once(*session, askings);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        if (!is_own(i / calls_of_thread)) continue;
        const std::size_t which = i % questions.size();
        const auto difference = difference_of(alone[which], answers[i]);
        judgement.add_exact(
            difference ? std::optional(fmt::format(
                             "{}, while other threads ask {} (a race, which not every run shows): {}",
                             text_of(questions[which], spec_),
                             sibling == nullptr ? "the same module" : "with another " + sibling->field, *difference))
                       : std::nullopt,
            [] { return "the same bits as alone in a process"; });
      }
    }
    return judgement;
  }

 private:
  std::optional<std::string> difference_of(const Tensor& alone, const ThreadAnswer& at_once) const {
    if (at_once.answer) return first_difference(spec_, alone, *at_once.answer);
    return fmt::format("{}: {}", name_of(at_once.failure->kind()), at_once.failure->what());
  }

  static Asking asking(const Spec& spec, const Question& question, std::int64_t thread) {
    return {spec,
            [model = std::shared_ptr<const EncodingModel>(model_of(spec)), question](Session& session) {
              return model->ask(session, model->call_of(question));
            },
            thread};
  }

  const Spec& spec_;
  std::unique_ptr<EncodingModel> model_;
  std::vector<Variant> siblings_;
};

// Judges cases; a sibling that has crashed or hung once is not asked again.
class SiblingsJudge {
 public:
  explicit SiblingsJudge(const Spec& spec) : spec_(spec), siblings_(siblings_of(spec)) {}

  Judgement judge(const Subject& subject, const Together& asked) {
    const std::vector<Tensor>& alone = answers_alone(subject, asked);
    while (true) {
      std::vector<Variant> chosen(siblings_.begin() + asked.first, siblings_.begin() + asked.last + 1);
      std::erase_if(chosen, [&](const Variant& sibling) { return left_out_.contains(sibling.field); });
      if (asked.order == falling) std::ranges::reverse(chosen);
      try {
        Judgement judgement;
        if (chosen.empty()) {
          judgement.add_exact(std::nullopt, [] { return "no other spec can be asked"; });
        } else if (asked.order == two_sequences) {
          const TwoSequences sequences(spec_, asked);
          judgement = sequences.judge(subject);
          sequences.judge_among(judgement, subject, chosen);
        } else if (asked.order == by_threads) {
          judgement = at_once(subject, asked, std::move(chosen), alone);
        } else {
          judgement = Company(subject, spec_, std::move(chosen)).judge(asked, alone);
        }
        if (!left_out_.empty())
          judgement.remark =
              fmt::format("not asked with another {}: it {}", left_out_.begin()->first, left_out_.begin()->second);
        return judgement;
      } catch (const SiblingFailed& failed) {
        left_out_.emplace(failed.field, name_of(failed.kind));
      }
    }
  }

 private:
  // Many cases differ in their siblings alone.
  const std::vector<Tensor>& answers_alone(const Subject& subject, const Together& asked) {
    const std::array<std::int64_t, 3> key{asked.position, asked.tokens, asked.fill};
    if (alone_of_ != key) {
      alone_ = answers(*subject.open(spec_), spec_, asked);
      alone_of_ = key;
    }
    return alone_;
  }

  Judgement at_once(const Subject& subject, const Together& asked, std::vector<Variant> chosen,
                    const std::vector<Tensor>& alone) const {
    if (!subject.open(spec_)->describe().threads) {
      Judgement judgement;
      judgement.add_exact(std::nullopt, [] { return "the subject does not say that threads may call it at once"; });
      return judgement;
    }
    // Which of them end the process, with no thread beside.
    Together before = asked;
    before.order = rising;
    Judgement judgement = Company(subject, spec_, chosen).judge(before, alone);
    if (judgement.within == reference::Certainty::no) return judgement;
    judgement = Threads(spec_, std::move(chosen)).judge(subject, asked);
    judgement.remark = "asked by several threads at once too";
    return judgement;
  }

  Spec spec_;
  std::vector<Variant> siblings_;
  std::map<std::string, std::string> left_out_;  // fields, and what the subject did
  std::optional<std::array<std::int64_t, 3>> alone_of_;
  std::vector<Tensor> alone_;
};

}  // namespace

Property siblings_property() {
  Property property;
  property.id = "siblings";
  property.level = Level::contract;
  property.needs = Needs::live_subject;
  property.sessions = Sessions::own;
  property.explanation = {
      "an answer does not depend on what else its process computes",
      "after calls of other specs in one process (every field in turn, bases and factors also in their fraction alone, "
      "another dtype, size or number of rows), before it and by turns with it, f(x) is what it is alone; so are two "
      "sequences under one spec that grow by turns, one that grows between calls of other specs, and, "
      "of a subject that says `threads`, calls at once in eight threads; a "
      "spec that is refused counts as one that was asked, one that crashes is left out",
      "an encoding is a function of its spec and its position; two layers, or two models, of one program have their "
      "own",
      "every encoding",
      "none: all bits are compared with those of a process that was asked nothing else",
      "tables in a module, a class or a decorator's cache whose key lacks the base or has it as a whole number, lacks "
      "the scaling rule, the dtype, the size or the length; state that a refused call leaves; the first of two models "
      "deciding for both; a sequence "
      "taken for the last one's "
      "continuation; what one thread sets up and another uses"};
  property.not_applicable = [](const Spec&) { return std::optional<std::string>(); };  // there are other dtypes
  use_cases(property, cases_together(), [](const Spec& spec) -> SubjectCheckOf<Together> {
    return [judge = SiblingsJudge(spec)](const Subject& subject, const Together& asked) mutable {
      return judge.judge(subject, asked);
    };
  });
  return property;
}

}  // namespace sextant
