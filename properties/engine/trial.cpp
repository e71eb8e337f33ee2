// Over 400 lines, since judging the cases and the searches for the worst and the simplest one share what a trial keeps:
// its session, what work is left, and the tally.
//
// What one case comes to depends on no other case, so that a property's cases can be dealt out to shards: tally.hpp
// says what is kept of them. The searches begin at a case that the tally keeps, and each shard searches from its own:
// of all shards' searches one begins where that of a whole run does, and the others are dropped. There are two
// exceptions. A trial asks its cases in one session, so what a subject does that answers by what it was asked before
// depends on the share. And the limit of work is that of the share's cases together, so that a judge who never comes to
// an end may give up at another case.
#include "properties/engine/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "properties/engine/case_judge.hpp"
#include "properties/engine/cases_of_property.hpp"
#include "properties/engine/failure.hpp"
#include "properties/gen/floats.hpp"
#include "properties/gen/shrink.hpp"
#include "properties/model/model.hpp"
#include "properties/verdict/tally.hpp"
#include "reference/enclosure.hpp"
#include "reference/work_limit.hpp"

namespace sextant {
namespace {

using reference::Certainty;

// A search for a simpler counterexample stops after this many tries. A field offers some hundred simpler values at
// most.
constexpr std::int64_t shrink_limit = 600;
// Each crash on the way costs a process, so fewer of those; likewise each case that opens sessions of its own.
constexpr int crash_limit = 24;
constexpr std::int64_t own_shrink_limit = 40;
// A search of either kind ends too when its calls have moved as many values as the property's cases did, to the subject
// and back: what fails in the largest calls alone is simplest in calls almost as large, and nobody waits longer for it
// than for the verdict, a few seconds aside. The most is what the largest sweep of a standard audit moves.
constexpr std::int64_t least_values_of_search = std::int64_t{1} << 24;
constexpr std::int64_t most_values_of_search = std::int64_t{1} << 28;
// Tries of the search for the worst case.
constexpr std::int64_t worst_limit = 100;
constexpr std::int64_t quick_worst_limit = 20;
constexpr std::int64_t own_worst_limit = 8;

// What one case came to: a judgement, why the subject gave none, or that the judge would have to work more than it may.
struct OutOfWork {};
using Outcome = std::variant<Judgement, SubjectFailure, OutOfWork>;

bool is_violation(const Outcome& outcome) {
  const auto* judgement = std::get_if<Judgement>(&outcome);
  return judgement != nullptr && judgement->within == Certainty::no;
}

// What a case may take of the exact tier on average, and how many times as much one may take. It is ten times what
// cases of honest implementations took where they took most (attention with xpos, one run of every encoding); a runaway
// takes any number. It grows with what an answer is judged by.
constexpr std::uint64_t dearest_case = 16;
std::uint64_t steps_per_case(const Spec& spec) {
  return (std::uint64_t{1} << 20) * static_cast<std::uint64_t>(256 + model_of(spec)->judged_values());
}

// One property against one subject.
class Trial {
 public:
  Trial(const Property& property, const Subject& subject, const Spec& spec)
      : property_(property),
        judge_(property, subject, spec),
        spec_(spec),
        fields_(property.fields(spec)),
        shrink_tries_(property.sessions == Sessions::own ? own_shrink_limit : shrink_limit),
        worst_tries_(property.sessions == Sessions::own ? own_worst_limit : worst_limit),
        steps_of_case_(dearest_case * steps_per_case(spec)),
        steps_(steps_of_case_),
        steps_left_(steps_) {
    about_.id = property.id;
    about_.title = property.explanation.title;
    about_.statement = property.explanation.statement;
    about_.level = property.level;
    about_.theory = property.theory(spec);
  }

  // Makes ready to judge the cases of the share, whose answers are `shared` if that is not null.
  void begin(const AuditOptions& options, const Share& share, SharedAnswers* shared) {
    shared_ = shared;
    cases_.emplace(property_, spec_, options);
    share_ = share;
    const auto limit = [&](std::int64_t count) {
      return options.steps.value_or(steps_per_case(spec_) *
                                    std::max<std::uint64_t>(dearest_case, static_cast<std::uint64_t>(count)));
    };
    if (options.amount.cases) {
      const std::int64_t tries = tries_of_aside(property_, spec_, options).value_or(shrink_tries_);
      shrink_tries_ = std::min(shrink_tries_, tries);
      worst_tries_ = std::min(worst_tries_, tries);
    }
    steps_ = limit(cases_->count());
    steps_left_ = limit(share.part_of(cases_->count()));
    if (cases_->sweep().claimed > 0)
      tally_.coverage = Coverage{.claimed = cases_->sweep().claimed, .of = cases_->sweep().of};
    underway_.id = property_.id;
    if (const auto begun = std::ranges::find(options.begun, property_.id, &Underway::id); begun != options.begun.end())
      go_on(underway_ = *begun);
    told_ = std::chrono::steady_clock::now();
  }

  // The number of the next case; nothing when all are judged.
  std::optional<std::int64_t> next() const {
    const std::int64_t number = share_.first() + underway_.done * share_.parts;
    return is_decided_ || number >= cases_->count() ? std::nullopt : std::optional(number);
  }

  // Judges it.
  void judge_next(const AuditOptions& options, const std::function<void()>& progress) {
    const std::int64_t number = next().value();
    ++underway_.done;
    if (options.stop.stop_requested()) throw Interrupted();
    const Case values = cases_->at(number);
    if (!property_.admits(spec_, values)) return;
    const std::int64_t judged = tally_.judged;
    take(number, values);
    progress();
    if (const auto* block = cases_->block(number); block != nullptr && tally_.judged > judged) {
      tally_.coverage->positions += block->positions;
      tally_.coverage->values += block->positions * cases_->sweep().values_of_position - left_out_;
    }
    if (tally_.failure || (tally_.counterexample && options.counterexamples == Counterexamples::not_sought)) {
      is_decided_ = true;
      return;
    }
    constexpr auto seldom = std::chrono::milliseconds(100);
    if (cases_->block(number) == nullptr && std::chrono::steady_clock::now() < told_ + seldom) return;
    underway_.tally = tally_;
    options.underway(underway_);
    told_ = std::chrono::steady_clock::now();
  }

  // Looks for the simplest counterexample and the worst.
  PropertyResult conclude(const AuditOptions& options) {
    shared_ = nullptr;
    const Extent extent = share_.parts == 1 ? Extent::whole : Extent::share;
    search(*cases_, options);
    PropertyResult result = settled(std::move(about_), tally_, extent);
    if (extent == Extent::share) result.share = std::make_shared<const Tally>(std::move(tally_));
    return result;
  }

  PropertyResult run_one(const Case& values) {
    take(0, values);
    // A case that is replayed is told as it is.
    if (tally_.counterexample) tally_.counterexample->example = tally_.worst->example;
    return settled(std::move(about_), tally_, Extent::whole);
  }

 private:
  // Takes over what an earlier start of the run has judged. @throws TokenError for cases that are none here.
  void go_on(const Underway& underway) {
    tally_ = underway.tally;
    const auto check = [&](const Example& example) {
      if (!property_.admits(spec_, case_of(example)))
        throw TokenError(fmt::format("{}: is no case of this claim", example.token));
    };
    if (tally_.worst) check(tally_.worst->example);
    if (tally_.counterexample) check(tally_.counterexample->example);
  }

  // Judges one of the audit's cases.
  void take(std::int64_t number, const Case& values) {
    const Outcome outcome =
        shared_ == nullptr ? probe(values) : probe_by([&] { return judge_.judge(shared_->to(values)); });
    if (std::holds_alternative<OutOfWork>(outcome)) {
      if (!tally_.unfinished) tally_.unfinished = Remark{number, token(values)};
      return;
    }
    if (const auto* failure = std::get_if<SubjectFailure>(&outcome)) return take_failure(number, values, *failure);
    const auto& judgement = std::get<Judgement>(outcome);
    ++tally_.judged;
    left_out_ = judgement.left_out;
    if (judgement.may_hide) ++tally_.hiding;
    tally_.informative += judgement.informative;
    tally_.uninformative += judgement.uninformative;
    if (!judgement.remark.empty() && !tally_.remark) tally_.remark = Remark{number, judgement.remark};
    if (judgement.within == Certainty::unknown) {
      ++tally_.undecided;
      tally_.precision = reference::last_precision.bits;
    }
    const bool violates = is_violation(outcome);
    const WorstCase seen{.number = number,
                         .is_violated = violates,
                         .of_bound = judgement.deviation.of_bound,
                         .place = judgement.worst_place,
                         .example = {token(values), judgement.finding, judgement.deviation}};
    if (!tally_.worst || is_before(seen, *tally_.worst)) tally_.worst = seen;
    if (!violates) return;
    tally_.horizon = lesser(tally_.horizon, horizon_below(judgement));
    take_violation(number, values, judgement.least_violated);
  }

  void take_failure(std::int64_t number, const Case& values, const SubjectFailure& failure) {
    if (failure.kind() == FailureKind::unsupported) {
      if (!tally_.why_unsupported) tally_.why_unsupported = Remark{number, failure.what()};
      ++tally_.unsupported;
      return;
    }
    failure_kind_ = failure.kind();
    tally_.failure = FailedCase{.number = number,
                                .verdict = verdict_of(failure.kind()),
                                .reason = text_with_place_of(failure),
                                .example = {token(values), failure.what(), {}}};
  }

  // The counterexample to begin with is that of the least position that shows it by itself.
  void take_violation(std::int64_t number, const Case& values, const std::optional<std::int64_t>& place) {
    const std::optional<Counterexample>& kept = tally_.counterexample;
    if (kept && !(place && (!kept->place || *place < *kept->place))) return;
    const std::optional<Case> alone = alone_at(values, place);
    if (alone && (*alone == values || is_violation(probe(*alone)))) {
      tally_.counterexample = Counterexample{number, place, {token(*alone), "", {}}};
    } else if (!kept) {
      tally_.counterexample = Counterexample{number, std::nullopt, {token(values), "", {}}};
    }
  }

  // The case of one position alone; nothing where that is no case.
  std::optional<Case> alone_at(const Case& values, const std::optional<std::int64_t>& place) const {
    Case alone = values;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].role == FieldRole::position && place) alone[i] = *place;
      const FieldRole role = fields_[i].role;
      if (role == FieldRole::run || role == FieldRole::sequence || role == FieldRole::batch) alone[i] = 1;
      if (fields_[i].role == FieldRole::order) alone[i] = 0;
    }
    if (!place || !property_.admits(spec_, alone)) return std::nullopt;
    return alone;
  }

  Outcome probe(const Case& values) {
    return probe_by([&] { return judge_.judge(values); });
  }

  // What judging comes to within the work that is left.
  template <class Judging>
  Outcome probe_by(Judging judging) {
    const std::uint64_t before = reference::steps_taken();
    Outcome outcome = probe_within(std::min(steps_left_, steps_of_case_), judging);
    steps_left_ -= std::min(steps_left_, reference::steps_taken() - before);
    return outcome;
  }

  // The same, of a search: `horizon` is drawn below what it violates.
  Outcome probe(const Case& values, std::optional<std::int64_t>& horizon) {
    Outcome outcome = probe(values);
    if (is_violation(outcome)) horizon = lesser(horizon, horizon_below(std::get<Judgement>(outcome)));
    return outcome;
  }

  template <class Judging>
  Outcome probe_within(std::uint64_t steps, Judging judging) {
    try {
      const reference::WorkLimit limit(steps);
      return judging();
    } catch (const SubjectFailure& failure) {
      return failure;
    } catch (const reference::WorkLimitReached&) {
      judge_.renew();
      return OutOfWork{};
    }
  }

  // Below the position that a violation is about. One of no single position may be wrong at any of its case's, so that
  // nothing is known to hold up to one of them.
  std::optional<std::int64_t> horizon_below(const Judgement& judgement) const {
    if (property_.sessions == Sessions::own) return std::nullopt;  // about calls, not about places
    if (!judgement.least_coordinate) return std::nullopt;
    return std::min(*judgement.least_coordinate, spec_.max_position - 1) - 1;
  }

  std::string token(const Case& values) const { return write_token(property_.id, fields_, values); }

  Case case_of(const Example& example) const { return read_token(example.token, fields_); }

  // From what the judging has left: each search may work as much as the judging of all cases, and the last case too.
  void search(const CasesOfProperty& cases, const AuditOptions& options) {
    if (tally_.failure) {
      tally_.failure->asked = asked_before(cases, tally_.failure->number);
      steps_left_ = steps_;
      return shrink_failure(options.stop);
    }
    if (!tally_.worst) return;
    if (tally_.counterexample && options.counterexamples == Counterexamples::not_sought) {
      tally_.counterexample->example = tally_.worst->example;
      return;
    }
    steps_left_ = steps_;
    narrow_worst();
    if (!tally_.counterexample) return;
    steps_left_ = steps_;
    if (about_.theory == Theory::holds) seek_worst(cases.random(), options);
    shrink_counterexample(options.stop);
  }

  std::int64_t asked_before(const CasesOfProperty& cases, std::int64_t end) const {
    std::int64_t asked = 0;
    for (std::int64_t number = 0; number < end; ++number) asked += property_.admits(spec_, cases.at(number)) ? 1 : 0;
    return asked;
  }

  // The worst of a long case is told by its own position, if that shows it as well.
  void narrow_worst() {
    WorstCase& worst = *tally_.worst;
    const Case values = case_of(worst.example);
    const std::optional<Case> alone = alone_at(values, worst.place);
    if (!alone || *alone == values) return;
    const Outcome outcome = probe(*alone, worst.horizon);
    const auto* judgement = std::get_if<Judgement>(&outcome);
    if (judgement == nullptr || judgement->deviation.of_bound < worst.of_bound) return;
    worst.example = {token(*alone), judgement->finding, judgement->deviation};
  }

  // Shrinking lands just past the bound and hides how bad it is: looks from the worst case seen for a worse one, by
  // exchanging one of its fields at a time for a drawn one. Of a long case only its worst position is taken.
  void seek_worst(rc::Random random, const AuditOptions& options) {
    const rc::Gen<Case> generator = property_.cases(spec_);
    const std::int64_t limit =
        options.profile == Profile::quick ? std::min(worst_tries_, quick_worst_limit) : worst_tries_;
    WorstCase& worst = *tally_.worst;
    Case start = case_of(worst.example);
    start = alone_at(start, worst.place).value_or(start);
    const std::int64_t most_moved = judge_.values_moved() + values_of_search();
    for (std::int64_t tries = 0; tries < limit; ++tries) {
      // Nothing is beyond what has no bound or is not a number.
      if (!std::isfinite(worst.example.deviation.of_bound) || judge_.values_moved() > most_moved) return;
      if (options.stop.stop_requested()) throw Interrupted();
      const Case drawn = generator(random.split()).value();
      Case values = start;
      const std::size_t field = static_cast<std::size_t>(tries) % values.size();
      values[field] = drawn[field];
      if (values == start || !property_.admits(spec_, values)) continue;
      const Outcome outcome = probe(values, worst.horizon);
      if (std::holds_alternative<OutOfWork>(outcome)) return;
      const auto* judgement = std::get_if<Judgement>(&outcome);
      if (judgement == nullptr) continue;
      ++worst.searched;
      if (judgement->deviation.of_bound <= worst.example.deviation.of_bound) continue;
      worst.example = {token(values), judgement->finding, judgement->deviation};
      start = values;
    }
  }

  // The fields, extents first: what takes long in large calls is then tried in small ones.
  std::vector<std::size_t> fields_to_shrink() const {
    std::vector<std::size_t> order(fields_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_partition(order.begin(), order.end(), [&](std::size_t field) {
      const FieldRole role = fields_[field].role;
      return role == FieldRole::run || role == FieldRole::sequence || role == FieldRole::batch ||
             role == FieldRole::count;
    });
    return order;
  }

  // What a field can be instead, simplest first: the bits of a value go towards simpler ones, any other field towards
  // that of the property's simplest case.
  rc::Seq<std::int64_t> simpler(std::size_t field, const Case& values, const Case& simplest) const {
    return fields_[field].role == FieldRole::bits ? gen::simpler_bits(spec_.dtype, values[field])
                                                  : gen::simpler_integers(values[field], simplest[field]);
  }

  // What a search that begins now may move.
  std::int64_t values_of_search() const {
    return std::clamp(judge_.values_moved(), least_values_of_search, most_values_of_search);
  }

  // Makes field after field simpler for as long as `still` accepts what a case comes to, and goes round them until none
  // can be. A field takes its first simpler value that is accepted, then that value's, as far as it goes.
  template <class Still>
  Case shrink(Case best, const std::stop_token& stop, std::optional<std::int64_t>& horizon, Still still) {
    const Case simplest = property_.simplest(spec_);
    const std::vector<std::size_t> order = fields_to_shrink();
    const std::int64_t most_moved = judge_.values_moved() + values_of_search();
    std::set<Case> rejected;
    std::int64_t tries = 0;
    int crashes = 0;
    std::size_t done = 0;  // fields that cannot be simpler, the last ones tried
    for (std::size_t i = 0; done < order.size(); i = (i + 1) % order.size()) {
      const std::size_t field = order[i];
      const Case before = best;
      auto candidates = simpler(field, best, simplest);
      while (const auto candidate = candidates.next()) {
        if (stop.stop_requested()) throw Interrupted();
        Case values = best;
        values[field] = *candidate;
        if (rejected.contains(values) || !property_.admits(spec_, values)) continue;
        if (++tries > shrink_tries_ || crashes > crash_limit || judge_.values_moved() > most_moved) return best;
        const Outcome outcome = probe(values, horizon);
        if (std::holds_alternative<OutOfWork>(outcome)) return best;
        if (std::holds_alternative<SubjectFailure>(outcome)) ++crashes;
        if (!still(outcome)) {
          rejected.insert(std::move(values));
          continue;
        }
        best = std::move(values);
        candidates = simpler(field, best, simplest);
      }
      done = best == before ? done + 1 : 1;
    }
    return best;
  }

  void shrink_failure(const std::stop_token& stop) {
    // A hang is not shrunk: every try would cost a whole time-out.
    if (failure_kind_ == FailureKind::timed_out) return;
    FailedCase& failed = *tally_.failure;
    std::optional<std::int64_t> horizon;
    const Case values = shrink(case_of(failed.example), stop, horizon, [&](const Outcome& outcome) {
      const auto* other = std::get_if<SubjectFailure>(&outcome);
      if (other == nullptr || other->kind() != failure_kind_) return false;
      failed.reason = text_with_place_of(*other);
      failed.example.finding = other->what();
      return true;
    });
    failed.example.token = token(values);
    // The token must work alone here too.
    judge_.end_session();
    const Outcome outcome = probe(values);
    if (const auto* alone = std::get_if<SubjectFailure>(&outcome); alone != nullptr && alone->kind() == failure_kind_)
      return;
    failed.example.shown = Shown::after_other_calls;
    failed.reason += "; only after other calls";
  }

  void shrink_counterexample(const std::stop_token& stop) {
    Counterexample& counterexample = *tally_.counterexample;
    steps_left_ = steps_;
    std::string seen = tally_.worst->example.finding;  // what is told if a fresh session does not show it
    const Case values =
        shrink(case_of(counterexample.example), stop, counterexample.horizon, [&](const Outcome& outcome) {
          if (!is_violation(outcome)) return false;
          seen = std::get<Judgement>(outcome).finding;
          return true;
        });
    // The token must work alone, so its finding is what a fresh session says.
    judge_.end_session();
    steps_left_ = steps_;
    const Outcome outcome = probe(values, counterexample.horizon);
    if (is_violation(outcome)) {
      const auto& simplest = std::get<Judgement>(outcome);
      counterexample.example = {token(values), simplest.finding, simplest.deviation};
    } else {
      counterexample.example = {token(values), "seen only after other calls: " + seen, {}, Shown::after_other_calls};
    }
  }

  const Property& property_;
  CaseJudge judge_;
  const Spec& spec_;
  CaseFields fields_;
  SharedAnswers* shared_ = nullptr;
  std::int64_t shrink_tries_;
  std::int64_t worst_tries_;
  std::uint64_t steps_of_case_;  // what one case may take
  std::uint64_t steps_;          // what each part may take: the cases, the search for the worst, that for the simplest
  std::uint64_t steps_left_;     // of the part at hand
  FailureKind failure_kind_ = FailureKind::crashed;
  std::int64_t left_out_ = 0;  // values of the last case that was judged
  std::optional<CasesOfProperty> cases_;
  Share share_;
  Underway underway_;
  std::chrono::steady_clock::time_point told_;  // when it was last told how far it is
  bool is_decided_ = false;                     // before all cases are judged
  PropertyResult about_;
  Tally tally_;
};

}  // namespace

std::int64_t cases_in(const Property& property, const Spec& spec, const AuditOptions& options) {
  return CasesOfProperty(property, spec, options).count();
}

std::optional<std::int64_t> tries_of_aside(const Property& property, const Spec& spec, const AuditOptions& options) {
  if (property.level != Level::advice && property.theory(spec) != Theory::fails) return std::nullopt;
  constexpr std::int64_t tries_for_case = 3;
  return tries_for_case * cases_of(options, property.sessions);
}

std::vector<PropertyResult> run_trials(std::span<const Property* const> properties, const Subject& subject,
                                       const Spec& spec, const AuditOptions& options, const Share& share,
                                       const std::function<void()>& progress) {
  std::optional<SharedAnswers> answers;
  if (properties.size() > 1) answers.emplace(*properties.front(), subject, spec);
  std::deque<Trial> trials;
  std::vector<double> seconds(properties.size(), 0);
  const auto timed = [&](std::size_t i, auto run) {
    const auto start = std::chrono::steady_clock::now();
    run(trials[i]);
    seconds[i] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (std::size_t i = 0; i < properties.size(); ++i) {
    trials.emplace_back(*properties[i], subject, spec);
    timed(i, [&](Trial& trial) { trial.begin(options, share, answers ? &*answers : nullptr); });
  }
  // All judge one case before any goes on; where a run is taken up, some may have been further than others.
  while (true) {
    std::optional<std::int64_t> least;
    for (const Trial& trial : trials) least = lesser(least, trial.next());
    if (!least) break;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (trials[i].next() == least) timed(i, [&](Trial& trial) { trial.judge_next(options, progress); });
    }
  }
  answers.reset();
  std::vector<PropertyResult> results;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    timed(i, [&](Trial& trial) { results.push_back(trial.conclude(options)); });
    results.back().seconds = seconds[i];
  }
  return results;
}

PropertyResult run_case(const Property& property, const Subject& subject, const Spec& spec, const Case& values) {
  return Trial(property, subject, spec).run_one(values);
}

}  // namespace sextant
