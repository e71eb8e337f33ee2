#include "properties/engine/budget.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <deque>
#include <optional>

#include "properties/engine/case_judge.hpp"
#include "properties/engine/cases_of_property.hpp"
#include "properties/engine/groups.hpp"
#include "properties/engine/trial.hpp"
#include "reference/work_limit.hpp"

namespace sextant {
namespace {

constexpr double for_measuring = 1.0 / 6;
// What the reckoning leaves out: the survey, the reports, a machine that has other work to do.
constexpr double to_be_used = 0.8;
constexpr std::int64_t least_values = 1 << 12;
constexpr std::int64_t small_call = 64;
constexpr std::int64_t largest_call = std::int64_t{1} << 24;

// What a case of some size takes: `each`, and beyond the size of which that was measured `more * (size^power -
// least^power)`, in seconds.
struct Price {
  double opening = 0;  // of the session, once
  double each = 0;
  std::int64_t least = 1;
  double more = 0;
  double power = 1;
  bool shows_size = false;  // whether cases of several sizes were asked, so that `more` is known
  bool is_guess = false;    // whether `more` is what it may be at most, for want of any such cases

  double of(std::int64_t size) const { return each + more * std::max(grown(size) - grown(least), 0.0); }
  double at_least(std::int64_t size) const { return is_guess ? each : of(size); }
  double grown(std::int64_t size) const { return std::pow(static_cast<double>(size), power); }
};

// Asks the cases of properties that are judged together, as trials do.
class Stopwatch {
 public:
  Stopwatch(const std::vector<const Property*>& group, const Subject& subject, const Spec& spec, const Clock& clock)
      : first_(*group.front()), spec_(spec), clock_(clock) {
    for (const Property* property : group) judges_.emplace_back(*property, subject, spec);
    if (group.size() > 1) answers_.emplace(first_, subject, spec);
  }

  // What the case took; nothing where it is none.
  std::optional<double> seconds_of(const Case& values) {
    if (!first_.admits(spec_, values)) return std::nullopt;
    if (answers_) answers_->forget();
    const double start = clock_();
    for (CaseJudge& judge : judges_) {
      try {
        constexpr std::uint64_t some_seconds = std::uint64_t{1} << 32;  // of the judge, who must not run away here
        const reference::WorkLimit limit(some_seconds);
        answers_ ? judge.judge(answers_->to(values)) : judge.judge(values);
      } catch (const SubjectFailure&) {
        // A refusal takes its time as well.
      } catch (const reference::WorkLimitReached&) {
        judge.renew();
      }
    }
    return clock_() - start;
  }

 private:
  const Property& first_;
  const Spec& spec_;
  const Clock& clock_;
  std::deque<CaseJudge> judges_;
  std::optional<SharedAnswers> answers_;
};

// Of one or several properties that are judged together: the sizes of what a whole audit asks, and the price.
struct Group {
  const Property& property;         // the first
  std::vector<Case> cases;          // of a whole audit, the first ones before the drawn ones
  std::vector<std::int64_t> first;  // sizes
  std::vector<std::int64_t> drawn;  // likewise
  std::optional<Price> price;       // nothing until it is measured

  Group(const Property& judged, const Spec& spec, const AuditOptions& options) : property(judged) {
    const CaseFields fields = property.fields(spec);
    for (const Case& values : property.first_cases(spec)) {
      cases.push_back(values);
      first.push_back(size_of(fields, values));
    }
    AuditOptions whole = options;
    whole.amount = {.values = least_values, .cases = std::nullopt, .largest_call = std::nullopt};
    const CasesOfProperty all(property, spec, whole);
    const std::int64_t count = cases_of(whole, property.sessions);
    for (std::int64_t number = all.first_block() - count; number < all.first_block(); ++number) {
      cases.push_back(all.at(number));
      drawn.push_back(size_of(fields, cases.back()));
    }
  }
};

std::vector<std::int64_t> block_sizes(const Property& property, const Spec& spec, std::int64_t values) {
  const CaseFields fields = property.fields(spec);
  std::vector<std::int64_t> sizes;
  for (const BlockOf<Case>& block : property.sweep(spec, values).blocks) sizes.push_back(size_of(fields, block.values));
  return sizes;
}

// Of cases that open sessions, which take about alike whatever their size: as many as there is time for.
Price price_of_sessions(const Group& group, Stopwatch& watch, const Clock& clock, double patience) {
  const double end = clock() + patience;
  double sum = 0;
  int asked = 0;
  for (const Case& values : group.cases) {
    if (asked > 0 && clock() + sum / asked > end) break;
    if (const auto seconds = watch.seconds_of(values)) sum += *seconds, ++asked;
  }
  return {.each = asked > 0 ? sum / asked : 0};
}

// Of cases in one session: the smallest, then each at least four times as large for as long as `patience`. The first
// call of all also opens the session.
Price price_of_calls(const Group& group, const std::vector<BlockOf<Case>>& blocks, const CaseFields& fields,
                     Stopwatch& watch, const Clock& clock, double patience) {
  std::vector<std::pair<std::int64_t, const Case*>> by_size;
  for (const Case& values : group.cases) by_size.emplace_back(size_of(fields, values), &values);
  for (const BlockOf<Case>& block : blocks) by_size.emplace_back(size_of(fields, block.values), &block.values);
  std::ranges::stable_sort(by_size, {}, [](const auto& sized) { return sized.first; });

  Price price;
  std::int64_t last = 0;  // size asked
  double last_more = 0;   // what it took beyond `each`
  double end = 0;
  for (const auto& [size, values] : by_size) {
    if (size < 4 * last) continue;
    // Until it is known, what a case takes is taken to grow as its size.
    const double expected =
        price.shows_size ? price.of(size) : price.each * static_cast<double>(size) / static_cast<double>(last);
    if (last > 0 && clock() + expected > end) break;
    const auto seconds = watch.seconds_of(*values);
    if (!seconds) continue;
    if (last == 0) {
      price.each = watch.seconds_of(*values).value_or(*seconds);
      price.opening = std::max(*seconds - price.each, 0.0);
      price.least = size;
      // Where opening a session takes long, a little longer tells what a larger call takes.
      end = clock() + std::max(patience, price.opening / 4);
    } else {
      // What takes longer with the size shows in calls that are long enough.
      const double more = std::max(*seconds - price.each, 0.0);
      const bool both_show = std::min(more, last_more) > 0.5 * price.each;
      if (both_show)
        price.power = std::clamp(
            std::log(more / last_more) / std::log(static_cast<double>(size) / static_cast<double>(last)), 1.0, 2.0);
      price.more = more / (price.grown(size) - price.grown(price.least));
      last_more = more;
      price.shows_size = true;
    }
    last = size;
  }
  return price;
}

// Cases that there was no time to ask. What grows with the size is taken for what the dearest of the others takes, for
// each of a few calls, or else in proportion; groups for the mean of the others; a case that opens sessions for two of
// them and some calls.
void reckon_unmeasured(std::vector<Group>& groups) {
  constexpr double calls = 3;
  Price dearest;
  for (const Group& group : groups) {
    if (!group.price || !group.price->shows_size) continue;
    dearest.more = std::max(dearest.more, group.price->more);
    dearest.power = std::max(dearest.power, group.price->power);
    dearest.shows_size = true;
  }
  Price mean;
  int measured = 0;
  for (Group& group : groups) {
    if (!group.price || group.property.sessions == Sessions::own) continue;
    Price& price = *group.price;
    if (!price.shows_size) {
      price.more = dearest.shows_size ? calls * dearest.more : price.each;
      price.power = dearest.power;
      price.is_guess = !dearest.shows_size;
    }
    ++measured;
    mean.opening += price.opening;
    mean.each += price.each;
    mean.more = std::max(mean.more, price.more);
    mean.power = std::max(mean.power, price.power);
    mean.is_guess = mean.is_guess || price.is_guess;
  }
  for (double* part : {&mean.opening, &mean.each}) *part /= std::max(measured, 1);
  constexpr double sessions_of_case = 2;
  constexpr double calls_of_case = 8;
  for (Group& group : groups) {
    if (group.price) continue;
    group.price = group.property.sessions == Sessions::own
                      ? Price{.each = sessions_of_case * mean.opening + calls_of_case * mean.of(1)}
                      : mean;
  }
}

// The greatest below `number`, which is 2 at least.
std::int64_t power_of_two_below(std::int64_t number) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(number - 1)));
}

// Which part of an audit is reckoned; what all of it takes at least.
enum class Reckoned { cases, all, all_at_least };

class Reckoning {
 public:
  Reckoning(const std::vector<Property>& properties, const Subject& subject, const Spec& spec,
            const AuditOptions& options)
      : spec_(spec), options_(options) {
    for (const auto& group : judged_together(properties, subject, spec)) {
      groups_.emplace_back(properties[group.front()], spec, options);
      auto& members = members_.emplace_back();
      for (const std::size_t i : group) members.push_back(&properties[i]);
    }
  }

  // Until `seconds` have gone by, or a little longer: one case of the first group is asked in any case.
  void measure(const Subject& subject, const Clock& clock, double seconds) {
    const double start = clock();
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (options_.stop.stop_requested()) throw Interrupted();
      if (i > 0 && clock() >= start + seconds) break;
      Group& group = groups_[i];
      // The time is shared alike, but for the sweeps, which are asked the most.
      const std::vector<BlockOf<Case>> blocks = group.property.sweep(spec_, values_of(options_)).blocks;
      const double parts = static_cast<double>(groups_.size() - i) + (blocks.empty() ? 0 : 3);
      const double patience = (start + seconds - clock()) / parts * (blocks.empty() ? 1 : 4);
      Stopwatch watch(members_[i], subject, spec_, clock);
      group.price = group.property.sessions == Sessions::own
                        ? price_of_sessions(group, watch, clock, patience)
                        : price_of_calls(group, blocks, group.property.fields(spec_), watch, clock, patience);
    }
    reckon_unmeasured(groups_);
  }

  // What an audit of this amount takes, in seconds.
  double seconds_of(const Amount& amount, Reckoned reckoned) const {
    AuditOptions options = options_;
    options.amount = amount;
    double sum = 0;
    double longest = 0;
    double opening = 0;
    for (const Group& group : groups_) {
      const double seconds = seconds_of(group, options, reckoned);
      sum += seconds;
      longest = std::max(longest, seconds);
      opening = std::max(opening, group.price->opening);
    }
    // The subject introduces itself first, alone. Then threads share the groups; a second one helps half as much as it
    // could, as what is judged may have threads of its own.
    return opening + std::max(longest, 2 * sum / (1 + std::max(options_.threads, 1)));
  }

 private:
  double seconds_of(const Group& group, const AuditOptions& options, Reckoned reckoned) const {
    const Price& price = *group.price;
    const Sessions sessions = group.property.sessions;
    const auto priced = [&](std::int64_t size) {
      return reckoned == Reckoned::all_at_least ? price.at_least(size) : price.of(size);
    };
    double seconds = price.opening;
    const auto first = first_cases_asked(group.first, options, sessions);
    const auto drawn = drawn_cases_asked(group.drawn, options, sessions);
    for (const std::size_t i : first) seconds += priced(group.first[i]);
    for (const std::size_t i : drawn) seconds += priced(group.drawn[i]);
    if (const auto tries = tries_of_aside(group.property, spec_, options))
      seconds += 2 * priced(1) * static_cast<double>(*tries);
    if (reckoned != Reckoned::cases) {
      for (const std::int64_t size : block_sizes(group.property, spec_, values_of(options))) seconds += priced(size);
    }
    return seconds;
  }

  const Spec& spec_;
  const AuditOptions& options_;
  std::vector<Group> groups_;
  std::vector<std::vector<const Property*>> members_;
};

// As amount_within says, of an audit that does not fit as a whole.
Amount chosen(const Reckoning& reckoning, const AuditOptions& options, double seconds) {
  const std::int64_t most_cases = cases_of(options, Sessions::shared);
  Amount amount{.values = values_of(options), .cases = most_cases, .largest_call = small_call};
  while (*amount.cases > 1 && reckoning.seconds_of(amount, Reckoned::cases) > seconds / 4)
    amount.cases = std::max<std::int64_t>(*amount.cases * 7 / 10, 1);
  for (Amount larger = amount; *larger.largest_call <= largest_call; *larger.largest_call *= 2) {
    if (reckoning.seconds_of(larger, Reckoned::cases) > seconds / 2) break;
    amount = larger;
  }
  while (*amount.values > least_values && reckoning.seconds_of(amount, Reckoned::all) > seconds)
    amount.values = std::max(least_values, power_of_two_below(*amount.values));
  for (Amount more = amount; *more.cases < most_cases;) {
    more.cases = std::min(*more.cases * 10 / 7 + 1, most_cases);
    if (reckoning.seconds_of(more, Reckoned::all) > seconds) break;
    amount = more;
  }
  for (Amount larger = amount; *larger.largest_call <= largest_call; *larger.largest_call *= 2) {
    if (reckoning.seconds_of(larger, Reckoned::all) > seconds) break;
    amount = larger;
  }
  return amount;
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

BudgetedAmount amount_within(double budget, const std::vector<Property>& properties, const Subject& subject,
                             const Spec& spec, const AuditOptions& options, const Clock& clock) {
  const double start = clock();
  Reckoning reckoning(properties, subject, spec, options);
  reckoning.measure(subject, clock, for_measuring * budget);
  const double spent = clock() - start;
  const double left = to_be_used * budget - spent;

  Amount amount;
  if (reckoning.seconds_of(amount, Reckoned::all) > left) amount = chosen(reckoning, options, left);
  BudgetedAmount budgeted{amount, spent + reckoning.seconds_of(amount, Reckoned::all_at_least)};
  const std::int64_t enough = std::min(enough_cases, cases_of(options, Sessions::shared));
  if (amount.cases.value_or(enough) < enough) {
    amount.cases = enough;
    // A longer budget is measured longer, too.
    budgeted.seconds_of_enough = reckoning.seconds_of(amount, Reckoned::all_at_least) / (to_be_used - for_measuring);
  }
  return budgeted;
}

}  // namespace sextant
