#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/engine/property.hpp"
#include "properties/verdict/tally.hpp"
#include "properties/verdict/verdict.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// How many cases each property gets.
enum class Profile { quick, standard, exhaustive };

/// "quick", ...
std::string_view name_of(Profile profile);

/// Cases drawn per property, the fixed first ones not counted.
std::int64_t cases_of(Profile profile, Sessions sessions = Sessions::shared);

/// Whether a violation's simplest and worst cases are looked for, or its verdict is enough.
enum class Counterexamples { sought, not_sought };

/// How many values a property's sweep compares at most.
std::int64_t values_of(Profile profile);

/// How much an audit asks of each property, at most. Whatever these are, of each one case is asked.
struct Amount {
  std::optional<std::int64_t> values;  ///< that its sweep compares
  /// Of its first cases and of its drawn ones, each. Of a property whose cases open sessions of their own, a fifth of
  /// the first ones and a sixteenth of the drawn ones.
  std::optional<std::int64_t> cases;
  std::optional<std::int64_t> largest_call;  ///< size_of (case.hpp) of a case that is no block of a sweep

  bool operator==(const Amount&) const = default;
};

struct AuditOptions;
/// The same of an audit's options.
std::int64_t cases_of(const AuditOptions& options, Sessions sessions);
std::int64_t values_of(const AuditOptions& options);

/// A run's part `index` of `count`, 1 <= index <= count: every count-th of all properties' cases.
struct Part {
  std::int64_t index = 1;
  std::int64_t count = 1;
};

/// How to run an audit.
struct AuditOptions {
  Profile profile = Profile::standard;
  std::uint64_t seed = 1;
  /// Which of the cases are judged. Parts of a run keep their tallies, of which merge (reports/merge.hpp) makes the
  /// whole.
  Part part;
  /// How much of each property is asked, at most; what is not given, the profile says.
  Amount amount;
  /// Properties judged at once. Each has a session of its own, so the results do not depend on it.
  int threads = 1;
  /// What judging one property may take of the exact tier, in the steps of reference/work_limit.hpp, before it ends as
  /// undecided; unless given, trial.cpp's share for each case. The searches for the simplest and the worst case may
  /// take as much again each; what the subject does is not counted.
  std::optional<std::uint64_t> steps;
  Counterexamples counterexamples = Counterexamples::sought;
  std::stop_token stop;
  /// Called after every case, from any thread, one call at a time: how many steps are done of those of the properties
  /// that apply.
  std::function<void(std::int64_t done, std::int64_t total)> progress = [](std::int64_t, std::int64_t) {};
  /// Called once, before any property is judged. What it throws ends the audit.
  std::function<void(const Description& subject)> introduced = [](const Description&) {};
  /// Called with each property's result as soon as it is there, from any thread, one call at a time. What it throws
  /// ends the audit.
  std::function<void(const PropertyResult& result)> judged = [](const PropertyResult&) {};
  /// Called while a property is judged, after each block of its sweep and now and then between other cases: what has to
  /// be kept to go on from there. As `judged`.
  std::function<void(const Underway& underway)> underway = [](const Underway&) {};
  /// Properties that an earlier start of this run had begun: their first cases are not judged again.
  std::vector<Underway> begun;
};

/// What an audit found, and what the subject said of itself.
struct AuditOutcome {
  Description subject;
  std::vector<PropertyResult> results;
};

/// Judges `subject` by each of `properties`, in their order. A subject that crashes, hangs or breaks the protocol gets
/// a verdict that says so, and the next property a fresh session; one that cannot even describe itself, or hangs at the
/// very first case, is not asked again.
/// @throws Interrupted on a stop request; SubjectNameError if the subject cannot be started at all.
AuditOutcome audit(const std::vector<Property>& properties, const Subject& subject, const Spec& spec,
                   const AuditOptions& options);

/// The results of a subject that is not judged: each property that applies has this verdict and reason.
std::vector<PropertyResult> none_judged(const std::vector<Property>& properties, const Subject& subject,
                                        const Spec& spec, Verdict verdict, const std::string& reason);

/// Judges the case of a token, alone, in a fresh session: what --replay does.
/// @throws TokenError if there is no such case, or it is outside the property's domain, or the property says nothing of
/// the spec; else as audit.
AuditOutcome replay(const Property& property, std::string_view token, const Subject& subject, const Spec& spec);

}  // namespace sextant
