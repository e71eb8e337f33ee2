#include "properties/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "properties/engine/failure.hpp"
#include "properties/engine/groups.hpp"
#include "properties/engine/trial.hpp"
#include "subjects/unusable.hpp"

namespace sextant {
namespace {

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
      introduction.failure =
          SubjectFailure(FailureKind::unsupported, fmt::format("the subject has no {}", name_of(spec.dtype)));
    }
  } catch (const SubjectUnusable& unusable) {
    throw SubjectNameError(fmt::format("{}: {}", subject.name(), unusable.what()));
  } catch (const SubjectFailure& failure) {
    introduction.failure = failure;
  }
  return introduction;
}

// What this part of the run judges of each property.
std::vector<Share> shares_of(const std::vector<Property>& properties, const Subject& subject, const Spec& spec,
                             const AuditOptions& options) {
  std::vector<Share> shares(properties.size());
  if (options.part.count == 1) return shares;
  std::int64_t offset = 0;
  for (const std::vector<std::size_t>& group : judged_together(properties, subject, spec)) {
    for (const std::size_t i : group)
      shares[i] = {offset % options.part.count, options.part.index - 1, options.part.count};
    offset += cases_in(properties[group.front()], spec, options);
  }
  return shares;
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
    case Profile::exhaustive: return shared ? 1000 : 100;
  }
  throw std::invalid_argument("cases_of: no such profile");
}

std::int64_t values_of(Profile profile) {
  switch (profile) {
    case Profile::quick: return std::int64_t{1} << 22;
    case Profile::standard: return std::int64_t{1} << 27;
    case Profile::exhaustive: return std::int64_t{1} << 33;
  }
  throw std::invalid_argument("values_of: no such profile");
}

std::int64_t cases_of(const AuditOptions& options, Sessions sessions) {
  const std::int64_t most = cases_of(options.profile, sessions);
  if (!options.amount.cases) return most;
  constexpr std::int64_t shared_for_each_own = 16;  // about as the profiles have it
  return std::min(most, *options.amount.cases / (sessions == Sessions::own ? shared_for_each_own : 1));
}

std::int64_t values_of(const AuditOptions& options) {
  return options.amount.values.value_or(values_of(options.profile));
}

AuditOutcome audit(const std::vector<Property>& properties, const Subject& subject, const Spec& spec,
                   const AuditOptions& options) {
  AuditOutcome outcome{{}, std::vector<PropertyResult>(properties.size())};
  std::vector<std::optional<std::string>> reasons;  // why a property does not apply
  for (const Property& property : properties) reasons.push_back(why_not_applicable(property, subject, spec));
  const std::int64_t share = cases_of(options, Sessions::shared);
  const auto applies = [](const std::optional<std::string>& reason) { return !reason; };
  const std::int64_t total = std::ranges::count_if(reasons, applies) * share;
  std::mutex mutex;  // guards done and failure, and lets one call of options through at a time
  std::int64_t done = 0;
  std::exception_ptr failure;
  const auto advance = [&](std::int64_t steps) {
    const std::lock_guard lock(mutex);
    done += steps;
    options.progress(done, total);
  };

  // A subject that hangs is found out by the first case of the first property that applies, so that it costs one
  // time-out and not one for each property. Other failures there are for that property itself to report.
  Introduction introduction = introduce(subject, spec);
  options.introduced(introduction.description);
  if (!introduction.failure) {
    const auto first = std::ranges::find_if(reasons, applies);
    if (first != reasons.end()) {
      const Property& property = properties[static_cast<std::size_t>(first - reasons.begin())];
      const PropertyResult result = run_case(property, subject, spec, property.first_cases(spec).front());
      if (result.verdict == Verdict::timed_out)
        introduction.failure = SubjectFailure(FailureKind::timed_out, result.simplest->finding);
    }
  }

  const std::vector<Share> shares = shares_of(properties, subject, spec, options);
  AuditOptions own_options = options;
  own_options.underway = [&](const Underway& underway) {
    const std::lock_guard lock(mutex);
    options.underway(underway);
  };
  const auto told = [&](std::size_t index, PropertyResult result) {
    outcome.results[index] = std::move(result);
    const std::lock_guard lock(mutex);
    options.judged(outcome.results[index]);
  };

  for (std::size_t i = 0; i < properties.size(); ++i) {
    if (reasons[i]) {
      told(i, set_aside(properties[i], Verdict::not_applicable, std::move(*reasons[i])));
    } else if (introduction.failure) {
      advance(share);
      told(i, set_aside(properties[i], verdict_of(introduction.failure->kind()), text_of(*introduction.failure)));
    }
  }
  std::vector<std::vector<std::size_t>> groups;
  if (!introduction.failure) groups = judged_together(properties, subject, spec);
  const auto judge = [&](const std::vector<std::size_t>& group) {
    std::vector<const Property*> judged;
    for (const std::size_t index : group) judged.push_back(&properties[index]);
    const std::int64_t all = share * std::ssize(group);
    std::int64_t own = 0;
    std::vector<PropertyResult> results = run_trials(judged, subject, spec, own_options, shares[group.front()], [&] {
      if (own < all) advance(1);
      ++own;
    });
    advance(std::max<std::int64_t>(all - own, 0));
    for (std::size_t i = 0; i < group.size(); ++i) told(group[i], std::move(results[i]));
  };

  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t index = next++; index < groups.size(); index = next++) {
      try {
        judge(groups[index]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = groups.size();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min<std::size_t>(static_cast<std::size_t>(options.threads), groups.size()); ++i) {
      helpers.emplace_back(work);
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);

  outcome.subject = std::move(introduction.description);
  return outcome;
}

std::vector<PropertyResult> none_judged(const std::vector<Property>& properties, const Subject& subject,
                                        const Spec& spec, Verdict verdict, const std::string& reason) {
  std::vector<PropertyResult> results;
  for (const Property& property : properties) {
    const auto not_applicable = why_not_applicable(property, subject, spec);
    results.push_back(not_applicable ? set_aside(property, Verdict::not_applicable, *not_applicable)
                                     : set_aside(property, verdict, reason));
  }
  return results;
}

AuditOutcome replay(const Property& property, std::string_view token, const Subject& subject, const Spec& spec) {
  if (const auto reason = why_not_applicable(property, subject, spec)) {
    throw TokenError(fmt::format("--replay: {} does not apply here: {}", property.id, *reason));
  }
  const CaseFields fields = property.fields(spec);
  const Case values = read_token(token, fields);
  if (const auto fault = out_of_range(fields, values)) throw TokenError(fmt::format("--replay: {}", *fault));
  if (!property.admits(spec, values)) {
    throw TokenError(fmt::format("--replay: {}: these values together are outside the domain of this spec",
                                 write_token(property.id, fields, values)));
  }
  Introduction introduction = introduce(subject, spec);
  PropertyResult result = introduction.failure ? set_aside(property, verdict_of(introduction.failure->kind()),
                                                           text_of(*introduction.failure))
                                               : timed([&] { return run_case(property, subject, spec, values); });
  return {std::move(introduction.description), {std::move(result)}};
}

}  // namespace sextant
