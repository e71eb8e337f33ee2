// Over 400 lines, since judging the cases and the searches for the worst and the simplest one share what a trial keeps:
// its session, what work is left, and the result.
#include "properties/engine/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "properties/engine/failure.hpp"
#include "properties/engine/uncounted_subject.hpp"
#include "properties/gen/floats.hpp"
#include "properties/gen/shrink.hpp"
#include "properties/model/model.hpp"
#include "reference/work_limit.hpp"

namespace sextant {
namespace {

using reference::Certainty;

// A search for a simpler counterexample stops after this many tries. A field offers some hundred simpler values at
// most.
constexpr int shrink_limit = 600;
// Each crash on the way costs a process, so fewer of those; likewise each case that opens sessions of its own.
constexpr int crash_limit = 24;
constexpr int own_shrink_limit = 40;
// Tries of the search for the worst case.
constexpr int worst_limit = 100;
constexpr int quick_worst_limit = 20;
constexpr int own_worst_limit = 8;
constexpr std::size_t quick_own_cases = 8;

// What one case came to: a judgement, why the subject gave none, or that the judge would have to work more than it may.
struct OutOfWork {};
using Outcome = std::variant<Judgement, SubjectFailure, OutOfWork>;

bool is_violation(const Outcome& outcome) {
  const auto* judgement = std::get_if<Judgement>(&outcome);
  return judgement != nullptr && judgement->within == Certainty::no;
}

// After these the process is gone or out of step, so the next case needs a new one.
bool ends_session(FailureKind kind) { return kind != FailureKind::unsupported && kind != FailureKind::error; }

// What a case may take of the exact tier on average, and how many times as much one may take. It is ten times what
// cases of honest implementations took where they took most (attention with xpos, one run of every encoding); a runaway
// takes any number. It grows with what an answer is judged by.
constexpr std::uint64_t dearest_case = 16;
std::uint64_t steps_per_case(const Spec& spec) {
  return (std::uint64_t{1} << 20) * static_cast<std::uint64_t>(256 + model_of(spec)->judged_values());
}

// FNV-1a, so that each property draws its own cases whatever else is selected, on any platform.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  return hash;
}

// One property against one subject.
class Trial {
 public:
  Trial(const Property& property, const Subject& subject, const Spec& spec)
      : property_(property),
        subject_(subject),
        spec_(spec),
        fields_(property.fields(spec)),
        steps_of_case_(dearest_case * steps_per_case(spec)),
        steps_(steps_of_case_),
        steps_left_(steps_) {
    make_check();
    result_.id = property.id;
    result_.title = property.explanation.title;
    result_.statement = property.explanation.statement;
    result_.level = property.level;
    result_.theory = property.theory(spec);
  }

  // Judges first_cases, then `count` drawn ones; afterwards looks for the simplest counterexample.
  PropertyResult run(const AuditOptions& options, const std::function<void()>& progress) {
    const Profile profile = options.profile;
    rc::Random random(options.seed ^ hash_of(property_.id));
    const rc::Gen<Case> generator = property_.cases(spec_);
    std::vector<Case> cases = property_.first_cases(spec_);
    // Each of these cases opens sessions of its own: too slow for a quick look at all of them.
    if (profile == Profile::quick && property_.sessions == Sessions::own && cases.size() > quick_own_cases)
      cases.resize(quick_own_cases);
    for (std::int64_t i = 0; i < cases_of(profile, property_.sessions); ++i)
      cases.push_back(generator(random.split()).value());
    const SweepOf<Case> sweep = property_.sweep(spec_, values_of(profile));

    const std::size_t count = cases.size() + sweep.blocks.size();
    steps_ = options.steps.value_or(steps_per_case(spec_) * std::max<std::uint64_t>(dearest_case, count));
    steps_left_ = steps_;
    const auto goes_on_after = [&](const Case& values) {
      if (options.stop.stop_requested()) throw Interrupted();
      if (!property_.admits(spec_, values)) return true;
      const bool goes_on = take(values);
      progress();
      return goes_on && !(violation_ && options.counterexamples == Counterexamples::not_sought);
    };
    bool goes_on = std::ranges::all_of(cases, goes_on_after);
    if (!sweep.blocks.empty()) result_.coverage = Coverage{.claimed = sweep.claimed};
    for (const BlockOf<Case>& block : sweep.blocks) {
      if (!goes_on) break;
      const std::int64_t judged = result_.cases;
      goes_on = goes_on_after(block.values);
      if (result_.cases == judged) continue;
      result_.coverage->positions += block.positions;
      result_.coverage->values += block.positions * sweep.values_of_position - left_out_;
    }

    if (failure_) return fail(failed_, *failure_, options.stop);
    if (violation_ && options.counterexamples == Counterexamples::not_sought) {
      settle(true);
      result_.simplest = result_.worst;
      return result_;
    }
    return conclude(random, options);
  }

  PropertyResult run_one(const Case& values) {
    const Outcome outcome = probe(values);
    if (std::holds_alternative<OutOfWork>(outcome)) {
      unfinished_ = values;
      settle(false);
      return result_;
    }
    if (const auto* failure = std::get_if<SubjectFailure>(&outcome)) {
      result_.verdict = verdict_of(failure->kind());
      result_.reason = text_of(*failure);
      result_.simplest = Example{token(values), failure->what(), {}};
      return result_;
    }
    record(values, std::get<Judgement>(outcome));
    if (is_violation(outcome)) result_.simplest = result_.worst;
    settle(is_violation(outcome));
    return result_;
  }

 private:
  void make_check() {
    if (property_.sessions == Sessions::own) {
      subject_check_ = property_.make_subject_check(spec_);
    } else {
      check_ = property_.make_check(spec_);
    }
  }

  // Judges one of the audit's cases. False where the others need not be asked.
  bool take(const Case& values) {
    const Outcome outcome = probe(values);
    if (std::holds_alternative<OutOfWork>(outcome)) {
      unfinished_ = values;
      return false;
    }
    if (const auto* failure = std::get_if<SubjectFailure>(&outcome)) {
      if (failure->kind() != FailureKind::unsupported) {
        failed_ = values;
        failure_ = *failure;
        return false;
      }
      unsupported_reason_ = failure->what();
      ++unsupported_;
      return true;
    }
    const auto& judgement = std::get<Judgement>(outcome);
    left_out_ = judgement.left_out;
    record(values, judgement);
    if (is_violation(outcome)) take_violation(values, judgement.least_violated);
    return true;
  }

  // The counterexample to begin with is that of the least position, by itself if that shows it.
  void take_violation(const Case& values, const std::optional<std::int64_t>& place) {
    const bool is_first = !violation_;
    if (!is_first && !(place && (!violation_place_ || *place < *violation_place_))) return;
    if (place) violation_place_ = place;
    const std::optional<Case> alone = alone_at(values, place);
    if (alone && is_violation(probe(*alone))) {
      violation_ = alone;
    } else if (is_first) {
      violation_ = values;
    }
  }

  // The case of one position alone; nothing where values are that, or it is no case.
  std::optional<Case> alone_at(const Case& values, const std::optional<std::int64_t>& place) const {
    Case alone = values;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].role == FieldRole::position && place) alone[i] = *place;
      if (fields_[i].role == FieldRole::run || fields_[i].role == FieldRole::batch) alone[i] = 1;
      if (fields_[i].role == FieldRole::order) alone[i] = 0;
    }
    if (!place || alone == values || !property_.admits(spec_, alone)) return std::nullopt;
    return alone;
  }

  Judgement judge(const Case& values) {
    if (subject_check_) return subject_check_(subject_, values);
    if (!session_) session_ = subject_.open(spec_);
    return check_(*session_, values);
  }

  Outcome probe(const Case& values) {
    const std::uint64_t before = reference::steps_taken();
    Outcome outcome = probe_within(values, std::min(steps_left_, steps_of_case_));
    steps_left_ -= std::min(steps_left_, reference::steps_taken() - before);
    return outcome;
  }

  Outcome probe_within(const Case& values, std::uint64_t steps) {
    try {
      const reference::WorkLimit limit(steps);
      Outcome outcome = judge(values);
      if (is_violation(outcome)) draw_horizon(values, std::get<Judgement>(outcome).least_violated);
      return outcome;
    } catch (const SubjectFailure& failure) {
      if (ends_session(failure.kind())) session_.reset();
      return failure;
    } catch (const reference::WorkLimitReached&) {
      make_check();  // the oracle may have stopped in the middle of what it keeps
      return OutOfWork{};
    }
  }

  // A violation was seen at these values, at `place` if that is known.
  void draw_horizon(const Case& values, const std::optional<std::int64_t>& place) {
    if (property_.sessions == Sessions::own) return;  // about calls, not about places
    const std::optional<std::int64_t> furthest = place ? place : reach_of(fields_, values);
    if (furthest && (!result_.horizon || *furthest <= *result_.horizon)) result_.horizon = *furthest - 1;
  }

  std::string token(const Case& values) const { return write_token(property_.id, fields_, values); }

  void record(const Case& values, const Judgement& judgement) {
    ++result_.cases;
    if (judgement.may_hide) ++hiding_;
    if (judgement.within == Certainty::unknown) ++undecided_;
    // Not (a <= b), so that the first case and a NaN replace what is there.
    if (!result_.worst || !(judgement.deviation.of_bound <= result_.worst->deviation.of_bound)) {
      result_.worst = Example{token(values), judgement.finding, judgement.deviation};
      worst_ = values;
      worst_place_ = judgement.worst_place;
    }
  }

  // The worst of a long case is told by its own position, if that shows it as well.
  void narrow_worst() {
    const std::optional<Case> alone = alone_at(worst_, worst_place_);
    if (!alone) return;
    const Outcome outcome = probe(*alone);
    const auto* judgement = std::get_if<Judgement>(&outcome);
    if (judgement == nullptr || judgement->deviation.of_bound < result_.worst->deviation.of_bound) return;
    result_.worst = Example{token(*alone), judgement->finding, judgement->deviation};
    worst_ = *alone;
  }

  // Shrinking lands just past the bound and hides how bad it is: looks from the worst case seen for a worse one, by
  // exchanging one of its fields at a time for a drawn one. Of a long case only its worst position is taken.
  void seek_worst(rc::Random random, const AuditOptions& options) {
    const std::stop_token& stop = options.stop;
    const rc::Gen<Case> generator = property_.cases(spec_);
    const int limit = property_.sessions == Sessions::own ? own_worst_limit
                      : options.profile == Profile::quick ? quick_worst_limit
                                                          : worst_limit;
    worst_ = alone_at(worst_, worst_place_).value_or(worst_);
    for (int tries = 0; tries < limit; ++tries) {
      // Nothing is beyond what has no bound or is not a number.
      if (!std::isfinite(result_.worst->deviation.of_bound)) return;
      if (stop.stop_requested()) throw Interrupted();
      const Case drawn = generator(random.split()).value();
      Case values = worst_;
      const std::size_t field = static_cast<std::size_t>(tries) % values.size();
      values[field] = drawn[field];
      if (values == worst_ || !property_.admits(spec_, values)) continue;
      const Outcome outcome = probe(values);
      if (std::holds_alternative<OutOfWork>(outcome)) return;
      if (const auto* judgement = std::get_if<Judgement>(&outcome)) record(values, *judgement);
    }
  }

  // The tree of simpler cases: each field by itself moves towards that of the property's simplest case, the bits of a
  // value towards simpler ones.
  rc::Shrinkable<Case> shrinkable(const Case& start) const {
    return rc::shrinkable::shrinkRecur(start, [simplest = property_.simplest(spec_), this](const Case& values) {
      rc::Seq<Case> simpler;
      for (std::size_t field = 0; field < values.size(); ++field) {
        const auto with = [values, field](std::int64_t value) {
          Case changed = values;
          changed[field] = value;
          return changed;
        };
        auto candidates = fields_[field].role == FieldRole::bits
                              ? gen::simpler_bits(spec_.dtype, values[field])
                              : gen::simpler_integers(values[field], simplest[field]);
        simpler = rc::seq::concat(std::move(simpler), rc::seq::map(std::move(candidates), with));
      }
      return simpler;
    });
  }

  // Follows shrinks for as long as `still` accepts one. Depth first: the first simpler case that fails is taken.
  template <class Still>
  Case shrink(const Case& start, const std::stop_token& stop, Still still) {
    rc::Shrinkable<Case> best = shrinkable(start);
    int tries = 0;
    int crashes = 0;
    for (bool simpler = true; simpler;) {
      simpler = false;
      auto candidates = best.shrinks();
      while (auto candidate = candidates.next()) {
        if (stop.stop_requested()) throw Interrupted();
        const Case values = candidate->value();
        if (!property_.admits(spec_, values)) continue;
        if (++tries > (property_.sessions == Sessions::own ? own_shrink_limit : shrink_limit) || crashes > crash_limit)
          return best.value();
        const Outcome outcome = probe(values);
        if (std::holds_alternative<OutOfWork>(outcome)) return best.value();
        if (std::holds_alternative<SubjectFailure>(outcome)) ++crashes;
        if (still(outcome)) {
          best = std::move(*candidate);
          simpler = true;
          break;
        }
      }
    }
    return best.value();
  }

  PropertyResult fail(Case values, const SubjectFailure& failure, const std::stop_token& stop) {
    SubjectFailure simplest = failure;
    // A hang is not shrunk: every try would cost a whole time-out.
    if (failure.kind() != FailureKind::timed_out) {
      values = shrink(values, stop, [&](const Outcome& outcome) {
        const auto* other = std::get_if<SubjectFailure>(&outcome);
        if (other == nullptr || other->kind() != failure.kind()) return false;
        simplest = *other;
        return true;
      });
    }
    result_.verdict = verdict_of(simplest.kind());
    result_.reason = text_of(simplest);
    result_.simplest = Example{token(values), simplest.what(), {}};
    result_.worst.reset();
    return result_;
  }

  PropertyResult conclude(const rc::Random& random, const AuditOptions& options) {
    settle(violation_.has_value());
    // Each search may work as much as the judging, and the last case too.
    steps_left_ = steps_;
    if (result_.worst) narrow_worst();
    if (!violation_) return result_;
    steps_left_ = steps_;
    if (result_.theory == Theory::holds) seek_worst(random, options);
    Judgement simplest;
    steps_left_ = steps_;
    const Case values = shrink(*violation_, options.stop, is_violation);
    // The token must work alone, so its finding is what a fresh session says.
    session_.reset();
    steps_left_ = steps_;
    const Outcome outcome = probe(values);
    if (is_violation(outcome)) {
      simplest = std::get<Judgement>(outcome);
    } else {
      simplest.finding = "seen only after other calls; this case alone, in a fresh session, does not show it";
    }
    result_.simplest = Example{token(values), simplest.finding, simplest.deviation};
    // Simple cases have tight bounds, so the search for the simplest may end at the worst.
    if (result_.simplest->deviation.of_bound > result_.worst->deviation.of_bound) result_.worst = result_.simplest;
    return result_;
  }

  void settle(bool violated) {
    if (violated && result_.theory == Theory::fails) {
      result_.verdict = Verdict::holds;
      result_.reason = "the encoding lacks this property, as theory says; the case shows it";
    } else if (violated) {
      result_.verdict = Verdict::violated;
    } else if (unfinished_) {
      result_.verdict = Verdict::undecided;
      result_.reason = fmt::format("{}: judging it exceeds the limit of work; {} cases were judged before",
                                   token(*unfinished_), result_.cases);
    } else if (result_.cases == 0 && unsupported_ > 0) {
      result_.verdict = Verdict::unsupported;
      result_.reason = unsupported_reason_;
    } else if (result_.cases == 0) {
      result_.verdict = Verdict::undecided;
      result_.reason = "no case ran";
    } else if (undecided_ > 0) {
      result_.verdict = Verdict::undecided;
      result_.reason = fmt::format("{} of {} cases could not be decided at {} bits of precision", undecided_,
                                   result_.cases, reference::last_precision.bits);
    } else if (result_.theory == Theory::fails && hiding_ == result_.cases) {
      result_.verdict = Verdict::not_applicable;
      result_.reason =
          "theory says that this encoding lacks the property, but under this claim the bound hides it in "
          "every case";
      result_.worst.reset();
    } else if (result_.theory == Theory::fails) {
      result_.verdict = Verdict::violated;
      result_.reason =
          "theory says that this encoding lacks the property, yet every case has it: this is not the encoding claimed";
    } else {
      result_.verdict = Verdict::holds;
      if (unsupported_ > 0)
        result_.reason = fmt::format("{} more cases are unsupported: {}", unsupported_, unsupported_reason_);
    }
  }

  const Property& property_;
  const UncountedSubject subject_;
  const Spec& spec_;
  CaseFields fields_;
  Check check_;
  SubjectCheck subject_check_;
  std::unique_ptr<Session> session_;
  std::uint64_t steps_of_case_;  // what one case may take
  std::uint64_t steps_;          // what each part may take: the cases, the search for the worst, that for the simplest
  std::uint64_t steps_left_;     // of the part at hand
  std::optional<Case> unfinished_;  // what would have taken more
  std::int64_t left_out_ = 0;       // values of the last case that was judged
  std::int64_t undecided_ = 0;
  std::int64_t hiding_ = 0;  // cases that say nothing where theory fails
  std::int64_t unsupported_ = 0;
  std::string unsupported_reason_;
  std::optional<SubjectFailure> failure_;
  Case failed_;  // the case in which it failed
  std::optional<Case> violation_;
  std::optional<std::int64_t> violation_place_;
  Case worst_;
  std::optional<std::int64_t> worst_place_;
  PropertyResult result_;
};

}  // namespace

PropertyResult run_trial(const Property& property, const Subject& subject, const Spec& spec,
                         const AuditOptions& options, const std::function<void()>& progress) {
  return Trial(property, subject, spec).run(options, progress);
}

PropertyResult run_case(const Property& property, const Subject& subject, const Spec& spec, const Case& values) {
  return Trial(property, subject, spec).run_one(values);
}

}  // namespace sextant
