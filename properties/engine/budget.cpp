#include "properties/engine/budget.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <optional>

#include "reference/work_limit.hpp"

namespace sextant {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Asks a property's cases in one session, as a trial does.
class Stopwatch {
 public:
  Stopwatch(const Property& property, const Subject& subject, const Spec& spec)
      : property_(property), subject_(subject), spec_(spec) {
    if (property.sessions == Sessions::own) {
      subject_check_ = property.make_subject_check(spec);
    } else {
      check_ = property.make_check(spec);
    }
  }

  // What the case took, in seconds; nothing where the subject gave no answer or it is no case.
  std::optional<double> seconds_of(const Case& values) {
    if (!property_.admits(spec_, values)) return std::nullopt;
    try {
      constexpr std::uint64_t some_seconds = std::uint64_t{1} << 32;  // of the judge, who must not run away here
      const reference::WorkLimit limit(some_seconds);
      if (!subject_check_ && !session_) session_ = subject_.open(spec_);
      const double start = now();
      if (subject_check_) {
        subject_check_(subject_, values);
      } else {
        check_(*session_, values);
      }
      return now() - start;
    } catch (const SubjectFailure&) {
      return std::nullopt;
    } catch (const reference::WorkLimitReached&) {
      return std::nullopt;
    }
  }

 private:
  const Property& property_;
  const Subject& subject_;
  const Spec& spec_;
  Check check_;
  SubjectCheck subject_check_;
  std::unique_ptr<Session> session_;
};

// How many tokens, rows and heads a case asks, together: most of what it takes grows with that.
double size_of(const CaseFields& fields, const Case& values) {
  double size = 1;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldRole role = fields[i].role;
    if (role == FieldRole::run || role == FieldRole::batch || role == FieldRole::count)
      size *= static_cast<double>(std::max<std::int64_t>(values[i], 1));
  }
  return size;
}

// Of one property's cases, without its sweep. A few are asked. The quickest tells what any case takes; what the others
// take beyond goes by their size, of which few cases have most.
double seconds_of_cases(const Property& property, Stopwatch& watch, const Spec& spec, const AuditOptions& options,
                        double patience) {
  const CaseFields fields = property.fields(spec);
  std::vector<Case> cases = property.first_cases(spec);
  const rc::Gen<Case> generator = property.cases(spec);
  rc::Random random(options.seed);
  for (std::int64_t i = 0; i < cases_of(options, property.sessions); ++i)
    cases.push_back(generator(random.split()).value());

  const double end = now() + patience;
  std::vector<double> seconds;
  double size_asked = 0;
  constexpr std::size_t few = 12;
  for (std::size_t i = 0; i < few && now() < end; ++i) {
    const Case& values = cases[i * (cases.size() - 1) / (few - 1)];
    if (const auto taken = watch.seconds_of(values)) {
      seconds.push_back(*taken);
      size_asked += size_of(fields, values);
    }
  }
  if (seconds.empty()) return 0;
  const double least = *std::ranges::min_element(seconds);
  double beyond = 0;
  for (const double taken : seconds) beyond += taken - least;
  double size = 0;
  for (const Case& values : cases) size += size_of(fields, values);
  return least * static_cast<double>(cases.size()) + beyond / size_asked * size;
}

// Of one value of the property's sweep, by the last block of those that are tried; nothing if it has none.
std::optional<double> seconds_of_value(const SweepOf<Case>& sweep, Stopwatch& watch, double patience) {
  std::optional<double> least;
  const double end = now() + patience;
  for (const BlockOf<Case>& block : sweep.blocks) {
    if (now() >= end) break;
    const auto seconds = watch.seconds_of(block.values);
    if (seconds) least = *seconds / static_cast<double>(block.positions * sweep.values_of_position);
  }
  return least;
}

}  // namespace

Amount amount_within(double seconds, const std::vector<Property>& properties, const Subject& subject, const Spec& spec,
                     const AuditOptions& options) {
  const double start = now();
  Amount amount{values_of(options), cases_of(options, Sessions::shared)};
  const double patience = 0.1 * seconds / static_cast<double>(2 * std::max<std::size_t>(properties.size(), 1));
  double of_cases = 0;
  double of_value = 0;  // of every sweep, one after the other
  for (const Property& property : properties) {
    if (options.stop.stop_requested()) throw Interrupted();
    if (property.not_applicable(spec) || (property.needs == Needs::live_subject && !subject.is_live())) continue;
    Stopwatch watch(property, subject, spec);
    of_cases += seconds_of_cases(property, watch, spec, options, patience);
    of_value += seconds_of_value(property.sweep(spec, amount.values), watch, patience).value_or(0);
  }
  // Cases are more telling than values: they get half of the time, if they take that much.
  of_cases /= static_cast<double>(std::max(options.threads, 1));
  const double for_cases = 0.5 * seconds;
  if (of_cases > for_cases) {
    constexpr std::int64_t fewest = 4;
    const double part = for_cases / of_cases;
    amount.cases = std::max(static_cast<std::int64_t>(part * static_cast<double>(amount.cases)), fewest);
    of_cases = for_cases;
  }
  // A tenth is left to the survey, the searches and the reports.
  const double for_values = 0.9 * seconds - of_cases - (now() - start);
  constexpr double least_values = 1 << 16;
  const double affordable = of_value > 0 ? std::clamp(for_values / of_value, least_values, 0x1p40) : 0x1p40;
  if (affordable < static_cast<double>(amount.values))
    amount.values = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(affordable)));
  return amount;
}

}  // namespace sextant
