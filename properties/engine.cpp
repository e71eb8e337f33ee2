#include "properties/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include "properties/gen/shrink.hpp"
#include "properties/gen/vectors.hpp"

namespace sextant {
namespace {

using reference::Certainty;

// A search for a simpler counterexample stops after this many tries. A field offers some hundred simpler values at most.
constexpr int shrink_limit = 600;
// Each crash on the way costs a process, so fewer of those; likewise each case that opens sessions of its own.
constexpr int crash_limit = 24;
constexpr int own_shrink_limit = 40;
// Tries of the search for the worst case.
constexpr int worst_limit = 100;
constexpr int own_worst_limit = 8;
constexpr std::size_t quick_own_cases = 2;

// What one case came to: a judgement, or why the subject gave none.
using Outcome = std::variant<Judgement, SubjectFailure>;

bool is_violation(const Outcome& outcome) {
  const auto* judgement = std::get_if<Judgement>(&outcome);
  return judgement != nullptr && judgement->within == Certainty::no;
}

// After these the process is gone or out of step, so the next case needs a new one.
bool ends_session(FailureKind kind) { return kind != FailureKind::unsupported && kind != FailureKind::error; }

Verdict verdict_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::timed_out: return Verdict::timed_out;
    case FailureKind::unsupported: return Verdict::unsupported;
    case FailureKind::crashed:
    case FailureKind::protocol:
    case FailureKind::error: return Verdict::crashed;
  }
  throw std::invalid_argument("verdict_of: no such failure kind");
}

std::string text_of(const SubjectFailure& failure) {
  return failure.kind() == FailureKind::unsupported ? failure.what() : fmt::format("{}: {}", name_of(failure.kind()), failure.what());
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
      : property_(property), subject_(subject), spec_(spec), fields_(property.fields(spec)) {
    if (property.sessions == Sessions::own) {
      subject_check_ = property.make_subject_check(spec);
    } else {
      check_ = property.make_check(spec);
    }
    result_.id = property.id;
    result_.title = property.explanation.title;
    result_.statement = property.explanation.statement;
    result_.level = property.level;
    result_.theory = property.theory(spec);
  }

  // Judges first_cases, then `count` drawn ones; afterwards looks for the simplest counterexample.
  PropertyResult run(const AuditOptions& options, const std::function<void()>& progress) {
    const Profile profile = options.profile;
    const std::stop_token& stop = options.stop;
    rc::Random random(options.seed ^ hash_of(property_.id));
    const rc::Gen<Case> generator = property_.cases(spec_);
    std::vector<Case> cases = property_.first_cases(spec_);
    // Each of these cases starts a worker or two anew: too slow for a quick look at all of them.
    if (profile == Profile::quick && property_.sessions == Sessions::own && cases.size() > quick_own_cases) cases.resize(quick_own_cases);
    for (std::int64_t i = 0; i < cases_of(profile, property_.sessions); ++i) cases.push_back(generator(random.split()).value());
    if (profile == Profile::exhaustive) {
      const std::vector<Case> every = property_.every_case(spec_);
      cases.insert(cases.end(), every.begin(), every.end());
    }

    std::optional<Case> violation;
    for (const Case& values : cases) {
      if (stop.stop_requested()) throw Interrupted();
      if (!property_.admits(spec_, values)) continue;
      const Outcome outcome = probe(values);
      progress();
      if (const auto* failure = std::get_if<SubjectFailure>(&outcome)) {
        if (failure->kind() == FailureKind::unsupported) {
          unsupported_reason_ = failure->what();
          ++unsupported_;
          continue;
        }
        return fail(values, *failure, stop);
      }
      record(values, std::get<Judgement>(outcome));
      if (is_violation(outcome) && !violation) violation = values;
      if (violation && options.counterexamples == Counterexamples::not_sought) break;
    }
    if (violation && options.counterexamples == Counterexamples::not_sought) {
      settle(true);
      result_.simplest = result_.worst;
      return result_;
    }
    return conclude(violation, random, stop);
  }

  PropertyResult run_one(const Case& values) {
    const Outcome outcome = probe(values);
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
  Judgement judge(const Case& values) {
    if (subject_check_) return subject_check_(subject_, values);
    if (!session_) session_ = subject_.open(spec_);
    return check_(*session_, values);
  }

  Outcome probe(const Case& values) {
    try {
      Outcome outcome = judge(values);
      if (is_violation(outcome)) draw_horizon(values);
      return outcome;
    } catch (const SubjectFailure& failure) {
      if (ends_session(failure.kind())) session_.reset();
      return failure;
    }
  }

  // A violation was seen at these values.
  void draw_horizon(const Case& values) {
    if (property_.sessions == Sessions::own) return;  // about calls, not about places
    std::optional<std::int64_t> furthest;
    std::int64_t beyond = 0;
    for (std::size_t field = 0; field < fields_.size(); ++field) {
      const std::string& name = fields_[field];
      if (name.ends_with("position") && (!furthest || values[field] > *furthest)) furthest = values[field];
      if (name == "offset" || name == "step" || name == "shift" || name == "by") beyond += values[field];
      if (name == "batch") beyond += gen::batch_row_distance * (values[field] - 1);
      if (name == "rows" || name == "tokens" || name == "length") beyond += values[field] - 1;
    }
    if (furthest) *furthest += beyond;
    if (furthest && (!result_.horizon || *furthest <= *result_.horizon)) result_.horizon = *furthest - 1;
  }

  std::string token(const Case& values) const { return write_token(property_.id, fields_, values); }

  void record(const Case& values, const Judgement& judgement) {
    ++result_.cases;
    if (judgement.within == Certainty::unknown) ++undecided_;
    // Not (a <= b), so that the first case and a NaN replace what is there.
    if (!result_.worst || !(judgement.deviation.of_bound <= result_.worst->deviation.of_bound)) {
      result_.worst = Example{token(values), judgement.finding, judgement.deviation};
      worst_ = values;
    }
  }

  // Shrinking lands just past the bound and hides how bad it is: looks from the worst case seen for a worse one, by exchanging one of its fields
  // at a time for a drawn one.
  void seek_worst(rc::Random random, const std::stop_token& stop) {
    const rc::Gen<Case> generator = property_.cases(spec_);
    for (int tries = 0; tries < (property_.sessions == Sessions::own ? own_worst_limit : worst_limit); ++tries) {
      // Nothing is beyond what has no bound or is not a number.
      if (!std::isfinite(result_.worst->deviation.of_bound)) return;
      if (stop.stop_requested()) throw Interrupted();
      const Case drawn = generator(random.split()).value();
      Case values = worst_;
      const std::size_t field = static_cast<std::size_t>(tries) % values.size();
      values[field] = drawn[field];
      if (values == worst_ || !property_.admits(spec_, values)) continue;
      const Outcome outcome = probe(values);
      if (const auto* judgement = std::get_if<Judgement>(&outcome)) record(values, *judgement);
    }
  }

  // The tree of simpler cases: each field by itself moves towards that of the property's simplest case.
  rc::Shrinkable<Case> shrinkable(const Case& start) const {
    return rc::shrinkable::shrinkRecur(start, [simplest = property_.simplest(spec_)](const Case& values) {
      rc::Seq<Case> simpler;
      for (std::size_t field = 0; field < values.size(); ++field) {
        const auto with = [values, field](std::int64_t value) {
          Case changed = values;
          changed[field] = value;
          return changed;
        };
        simpler = rc::seq::concat(std::move(simpler), rc::seq::map(gen::simpler_integers(values[field], simplest[field]), with));
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
        if (++tries > (property_.sessions == Sessions::own ? own_shrink_limit : shrink_limit) || crashes > crash_limit) return best.value();
        const Outcome outcome = probe(values);
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

  PropertyResult conclude(const std::optional<Case>& violation, const rc::Random& random, const std::stop_token& stop) {
    settle(violation.has_value());
    if (!violation) return result_;
    if (result_.theory == Theory::holds) seek_worst(random, stop);
    Judgement simplest;
    const Case values = shrink(*violation, stop, is_violation);
    // The token must work alone, so its finding is what a fresh session says.
    session_.reset();
    const Outcome outcome = probe(values);
    if (is_violation(outcome)) {
      simplest = std::get<Judgement>(outcome);
    } else {
      simplest.finding = "only after other calls: in a fresh session this case alone does not show it";
    }
    result_.simplest = Example{token(values), simplest.finding, simplest.deviation};
    // Simple cases have tight bounds, so the search for the simplest may end at the worst.
    if (result_.simplest->deviation.of_bound > result_.worst->deviation.of_bound) result_.worst = result_.simplest;
    return result_;
  }

  void settle(bool violated) {
    if (violated && result_.theory == Theory::fails) {
      result_.verdict = Verdict::holds;
      result_.reason = "fails, as it must: the witness is shown";
    } else if (violated) {
      result_.verdict = Verdict::violated;
    } else if (result_.cases == 0 && unsupported_ > 0) {
      result_.verdict = Verdict::unsupported;
      result_.reason = unsupported_reason_;
    } else if (result_.cases == 0) {
      result_.verdict = Verdict::undecided;
      result_.reason = "no case ran";
    } else if (undecided_ > 0) {
      result_.verdict = Verdict::undecided;
      result_.reason = fmt::format("{} of {} cases stayed open at {} bits", undecided_, result_.cases, reference::last_precision.bits);
    } else if (result_.theory == Theory::fails) {
      result_.verdict = Verdict::violated;
      result_.reason = "mathematics says that this must fail here, and no case shows it";
    } else {
      result_.verdict = Verdict::holds;
      if (unsupported_ > 0) result_.reason = fmt::format("{} more cases are unsupported: {}", unsupported_, unsupported_reason_);
    }
  }

  const Property& property_;
  const Subject& subject_;
  const Spec& spec_;
  std::vector<std::string> fields_;
  Check check_;
  SubjectCheck subject_check_;
  std::unique_ptr<Session> session_;
  std::int64_t undecided_ = 0;
  std::int64_t unsupported_ = 0;
  std::string unsupported_reason_;
  Case worst_;
  PropertyResult result_;
};

// Why the property has nothing to say here.
std::optional<std::string> not_applicable(const Property& property, const Subject& subject, const Spec& spec) {
  if (auto reason = property.not_applicable(spec)) return reason;
  if (property.needs == Needs::live_subject && !subject.is_live()) return "a recording cannot be asked anew";
  return std::nullopt;
}

PropertyResult set_aside(const Property& property, Verdict verdict, std::string reason) {
  PropertyResult result;
  result.id = property.id;
  result.title = property.explanation.title;
  result.statement = property.explanation.statement;
  result.level = property.level;
  result.verdict = verdict;
  result.reason = std::move(reason);
  return result;
}

// What a subject says of itself, and why there is no use in asking it more, if so.
struct Introduction {
  Description description;
  std::optional<SubjectFailure> failure;
};

Introduction introduce(const Subject& subject, const Spec& spec) {
  Introduction introduction;
  try {
    introduction.description = subject.open(spec)->describe();
    const auto& dtypes = introduction.description.dtypes;
    if (!dtypes.empty() && std::find(dtypes.begin(), dtypes.end(), name_of(spec.dtype)) == dtypes.end()) {
      introduction.failure = SubjectFailure(FailureKind::unsupported, fmt::format("the subject has no {}", name_of(spec.dtype)));
    }
  } catch (const SubjectFailure& failure) {
    introduction.failure = failure;
  }
  return introduction;
}

template <class Run>
PropertyResult timed(Run run) {
  const auto start = std::chrono::steady_clock::now();
  PropertyResult result = run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

std::string_view name_of(Profile profile) {
  switch (profile) {
    case Profile::quick: return "quick";
    case Profile::standard: return "standard";
    case Profile::exhaustive: return "exhaustive";
  }
  throw std::invalid_argument("name_of: no such profile");
}

std::int64_t cases_of(Profile profile, Sessions sessions) {
  const bool shared = sessions == Sessions::shared;
  switch (profile) {
    case Profile::quick: return shared ? 40 : 0;
    case Profile::standard: return shared ? 200 : 12;
    case Profile::exhaustive: return shared ? 4000 : 200;
  }
  throw std::invalid_argument("cases_of: no such profile");
}

AuditOutcome audit(const std::vector<Property>& properties, const Subject& subject, const Spec& spec, const AuditOptions& options) {
  AuditOutcome outcome{{}, std::vector<PropertyResult>(properties.size())};
  const std::int64_t share = cases_of(options.profile);
  const std::int64_t total = static_cast<std::int64_t>(properties.size()) * share;
  std::mutex mutex;  // guards done and failure, and lets one progress call through at a time
  std::int64_t done = 0;
  std::exception_ptr failure;
  const auto advance = [&](std::int64_t steps) {
    const std::lock_guard lock(mutex);
    done += steps;
    options.progress(done, total);
  };

  // A subject that hangs is found out by the first case of the first property that applies, so that it costs one time-out and not
  // one for each property. Other failures there are for that property itself to report.
  Introduction introduction = introduce(subject, spec);
  if (!introduction.failure) {
    const auto first = std::find_if(properties.begin(), properties.end(),
                                    [&](const Property& property) { return !not_applicable(property, subject, spec); });
    if (first != properties.end()) {
      const PropertyResult result = Trial(*first, subject, spec).run_one(first->first_cases(spec).front());
      if (result.verdict == Verdict::timed_out) introduction.failure = SubjectFailure(FailureKind::timed_out, result.simplest->finding);
    }
  }

  const auto judge = [&](const Property& property) {
    if (auto reason = not_applicable(property, subject, spec)) {
      advance(share);
      return set_aside(property, Verdict::not_applicable, std::move(*reason));
    }
    if (introduction.failure) {
      advance(share);
      return set_aside(property, verdict_of(introduction.failure->kind()), text_of(*introduction.failure));
    }
    std::int64_t own = 0;
    PropertyResult result = timed([&] {
      return Trial(property, subject, spec).run(options, [&] {
        if (own < share) advance(1);
        ++own;
      });
    });
    advance(std::max<std::int64_t>(share - own, 0));
    return result;
  };

  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t index = next++; index < properties.size(); index = next++) {
      try {
        outcome.results[index] = judge(properties[index]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = properties.size();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min<std::size_t>(static_cast<std::size_t>(options.threads), properties.size()); ++i) {
      helpers.emplace_back(work);
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);

  outcome.subject = std::move(introduction.description);
  return outcome;
}

AuditOutcome replay(const Property& property, const Case& values, const Subject& subject, const Spec& spec) {
  if (const auto reason = not_applicable(property, subject, spec)) {
    throw TokenError(fmt::format("--replay: {} does not apply here: {}", property.id, *reason));
  }
  if (!property.admits(spec, values)) {
    throw TokenError(fmt::format("--replay: {} is outside the domain of this spec", write_token(property.id, property.fields(spec), values)));
  }
  Introduction introduction = introduce(subject, spec);
  PropertyResult result = introduction.failure
                              ? set_aside(property, verdict_of(introduction.failure->kind()), text_of(*introduction.failure))
                              : timed([&] { return Trial(property, subject, spec).run_one(values); });
  return {std::move(introduction.description), {std::move(result)}};
}

}  // namespace sextant
