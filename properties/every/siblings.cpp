#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/every/call_sequences.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/model.hpp"
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

// All siblings before the spec itself; the same, the last of them first; by turns with it, it being the first.
enum Order { rising, falling, by_turns };
constexpr std::int64_t orders = 3;
constexpr std::int64_t most_tokens = 64;

// What other layers, or other models, of one program may ask for.
std::vector<Variant> siblings_of(const Spec& spec) {
  std::vector<Variant> siblings = model_of(spec)->siblings();
  const auto add = [&](std::string field, auto change) {
    Spec changed = spec;
    change(changed);
    try {
      validate(changed);
      siblings.push_back({std::move(field), std::move(changed)});
    } catch (const SpecError&) {
      // No such spec.
    }
  };
  for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16, Dtype::float32, Dtype::float64}) {
    if (dtype != spec.dtype)
      add(fmt::format("dtype ({})", name_of(dtype)), [dtype](Spec& changed) { changed.dtype = dtype; });
  }
  // Right answers to these are those of the spec, so they come last: what is kept of others is not kept of them.
  add("max_position", [](Spec& changed) { changed.max_position *= 2; });
  add("max_position", [](Spec& changed) { changed.max_position -= (changed.max_position - changed.min_position) / 2; });
  return siblings;
}

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
    const std::int64_t siblings = std::ssize(siblings_of(spec));
    std::vector<Together> list;
    for (const Order order : {rising, falling, by_turns})
      list.push_back({.position = ahead, .tokens = 3, .first = 0, .last = siblings - 1, .order = order, .fill = 1});
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    const std::int64_t siblings = std::ssize(siblings_of(spec));
    const auto parts = rc::gen::tuple(gen::position(model_of(spec)->range()), gen::one_of({1, 1, 2, 3, 16, 33, 64}),
                                      gen::count(0, siblings - 1), gen::count(0, siblings - 1),
                                      gen::count(0, orders - 1), gen::count(0, 1000));
    return rc::gen::map(parts, [](const auto& drawn) {
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

std::vector<Tensor> answers(Session& session, const Spec& spec, const Together& asked) {
  const auto model = model_of(spec);
  std::vector<Tensor> list;
  for (const Question& question : questions_of(asked, model->range()))
    list.push_back(model->ask(session, model->call_of(question)));
  return list;
}

// A sibling that takes the process with it. A subject may be made for one spec alone: parameter_liveness tells that.
struct SiblingFailed {
  std::string field;
  FailureKind kind;
};

// A sibling may be refused, or answered in another shape or dtype: then the spec is asked after that.
void ask_sibling(Session& session, const Variant& sibling, const Together& asked) {
  try {
    answers(session, sibling.spec, asked);
  } catch (const SubjectFailure& failure) {
    if (failure.kind() == FailureKind::crashed || failure.kind() == FailureKind::timed_out)
      throw SiblingFailed{sibling.field, failure.kind()};
  }
}

// One process, in which the spec and its siblings have a session each.
class Company {
 public:
  Company(const Subject& subject, const Spec& spec, std::vector<Variant> siblings)
      : spec_(spec), siblings_(std::move(siblings)) {
    std::vector<Spec> specs{spec};
    for (const Variant& sibling : siblings_) specs.push_back(sibling.spec);
    sessions_ = subject.open_together(specs);
  }

  Judgement judge(const Together& asked, const std::vector<Tensor>& alone) {
    Judgement judgement;
    if (asked.order == by_turns) judge_own(judgement, asked, alone, "first of all");
    for (std::size_t i = 0; i < siblings_.size(); ++i) {
      ask_sibling(*sessions_[1 + i], siblings_[i], asked);
      if (asked.order == by_turns)
        judge_own(judgement, asked, alone, fmt::format("after the same call with another {}", siblings_[i].field));
    }
    if (asked.order == by_turns) return judgement;
    const std::string& last = siblings_.back().field;
    judge_own(judgement, asked, alone,
              siblings_.size() == 1 ? fmt::format("after the same call with another {}", last)
                                    : fmt::format("after the same call of {} other specs, the last with another {}",
                                                  siblings_.size(), last));
    return judgement;
  }

 private:
  void judge_own(Judgement& judgement, const Together& asked, const std::vector<Tensor>& alone,
                 const std::string& when) {
    const std::vector<Tensor> now = answers(*sessions_[0], spec_, asked);
    const std::vector<Question> questions = questions_of(asked, model_of(spec_)->range());
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto difference = first_difference(spec_, alone[i], now[i]);
      judgement.add_exact(
          difference ? std::optional(fmt::format("{}, {} in one process: {}", text_of(questions[i]), when, *difference))
                     : std::nullopt,
          [] { return "the same bits as alone in a process"; });
    }
  }

  const Spec& spec_;
  std::vector<Variant> siblings_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

// Judges cases; a sibling that has crashed or hung once is not asked again.
class SiblingsJudge {
 public:
  explicit SiblingsJudge(const Spec& spec) : spec_(spec), siblings_(siblings_of(spec)) {}

  Judgement judge(const Subject& subject, const Together& asked) {
    const std::vector<Tensor> alone = answers(*subject.open(spec_), spec_, asked);
    while (true) {
      std::vector<Variant> chosen(siblings_.begin() + asked.first, siblings_.begin() + asked.last + 1);
      std::erase_if(chosen, [&](const Variant& sibling) { return left_out_.contains(sibling.field); });
      if (asked.order == falling) std::ranges::reverse(chosen);
      try {
        Judgement judgement;
        if (chosen.empty()) {
          judgement.add_exact(std::nullopt, [] { return "no other spec can be asked"; });
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
  Spec spec_;
  std::vector<Variant> siblings_;
  std::map<std::string, std::string> left_out_;  // fields, and what the subject did
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
      "after calls of other specs in one process (every field in turn, another dtype, size or number of rows), before "
      "it and by turns with it, f(x) is what it is alone; a spec that is refused counts as one that was asked, one "
      "that crashes is left out",
      "an encoding is a function of its spec and its position; two layers, or two models, of one program have their "
      "own",
      "every encoding",
      "none: all bits are compared with those of a process that was asked nothing else",
      "tables in a module, a class or a decorator's cache whose key lacks the base, the scaling rule, the dtype, the "
      "size or the length; state that a refused call leaves; the first of two models deciding for both"};
  property.not_applicable = [](const Spec&) { return std::optional<std::string>(); };  // there are other dtypes
  use_cases(property, cases_together(), [](const Spec& spec) -> SubjectCheckOf<Together> {
    return [judge = SiblingsJudge(spec)](const Subject& subject, const Together& asked) mutable {
      return judge.judge(subject, asked);
    };
  });
  return property;
}

}  // namespace sextant
