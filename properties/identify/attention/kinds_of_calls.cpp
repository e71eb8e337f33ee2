#include "properties/identify/attention/kinds_of_calls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace sextant::identify {
namespace {

constexpr unsigned whole_calls = 1U << 0;
constexpr unsigned of_one = 1U << 1;
constexpr unsigned of_two = 1U << 2;
constexpr unsigned of_three = 1U << 3;
constexpr unsigned of_more = 1U << 4;
constexpr unsigned every_step = of_one | of_two | of_three | of_more;

// Which of asked_queries a number of queries counts as.
unsigned set_of(std::int64_t queries) {
  const auto greater = std::ranges::upper_bound(asked_queries, queries);
  return 1U << (greater - asked_queries.begin() - 1);
}

}  // namespace

std::vector<KindOfCall> kinds_of_calls() {
  std::vector<KindOfCall> list;
  for (const HasPadding padding : {HasPadding::no, HasPadding::yes}) {
    for (const std::int64_t queries : asked_queries) list.push_back({queries, padding});
  }
  return list;
}

ToldKinds::ToldKinds(const std::vector<ShownKind>& shown) {
  const auto any = [&](Shows shows) {
    return std::ranges::any_of(shown, [&](const ShownKind& kind) { return kind.shows == shows; });
  };
  if (!any(Shows::it)) return;
  is_claimed_elsewhere_ = !any(Shows::neither);
  is_any_claimed_ = any(Shows::claim);
  // Numbers that are told by few words first, then all others; no padding is told of where none need be.
  std::vector<Set> sets{all,    every_step,      whole_calls,        of_two | of_three | of_more,
                        of_one, of_one | of_two, of_three | of_more, whole_calls | of_one,
                        of_two};
  for (Set other = 1; other < all; ++other) {
    if (std::ranges::find(sets, other) == sets.end()) sets.push_back(other);
  }
  std::stable_sort(sets.begin() + 9, sets.end(), [](Set a, Set b) { return std::popcount(a) > std::popcount(b); });
  std::vector<std::pair<Set, Padding>> told;
  for (const Set queries : {sets[0], sets[1], sets[2]}) told.emplace_back(queries, Padding::any);
  for (const Padding padding : {Padding::with, Padding::without}) told.emplace_back(all, padding);
  for (const Padding padding : {Padding::any, Padding::with, Padding::without}) {
    for (const Set queries : sets) told.emplace_back(queries, padding);
  }
  // A number of queries of which no call shows it, with padding or without, is among them where nothing else tells the
  // others.
  const auto is_shown = [&](Set queries) {
    return std::ranges::all_of(asked_queries, [&](std::int64_t number) {
      const auto is_of_number = [&](const ShownKind& kind) { return kind.kind.queries == number; };
      const auto shows_it = [&](const ShownKind& kind) { return is_of_number(kind) && kind.shows == Shows::it; };
      return (queries & set_of(number)) == 0 || std::ranges::count_if(shown, is_of_number) < 2 ||
             std::ranges::any_of(shown, shows_it);
    });
  };
  const bool has_others = any(Shows::claim) || any(Shows::neither);
  for (const bool are_unshown_told : {false, true}) {
    for (const auto& [queries, padding] : told) {
      if (has_others && !are_unshown_told && !is_shown(queries)) continue;
      queries_ = queries;
      padding_ = padding;
      is_found_ = std::ranges::all_of(shown, [&](const ShownKind& kind) {
        return kind.shows == Shows::either || (kind.shows == Shows::it) == holds(kind.kind.queries, kind.kind.padding);
      });
      if (is_found_) return;
    }
  }
}

bool ToldKinds::are_whole_calls() const { return is_found_ && queries_ == whole_calls && padding_ == Padding::any; }

bool ToldKinds::holds(std::int64_t queries, HasPadding padding) const {
  if (padding_ != Padding::any && (padding_ == Padding::with) != (padding == HasPadding::yes)) return false;
  return (queries_ & set_of(queries)) != 0;
}

// Of how many queries steps are: empty where they are of any number.
std::string ToldKinds::steps(Set queries) {
  switch (queries & every_step) {
    case every_step: return "";
    case of_one: return "one query";
    case of_two: return "two queries";
    case of_one | of_two: return "one query or two";
    case of_two | of_three | of_more: return "several queries";
    case of_three | of_more: return "3 and more queries";
    case of_more: return "more than 3 queries";
    case of_one | of_two | of_three: return "up to 3 queries";
    default: break;
  }
  std::vector<std::string> numbers;
  for (std::size_t i = 1; i < asked_queries.size(); ++i) {
    if ((queries & (1U << i)) == 0) continue;
    numbers.push_back(fmt::format("{}", asked_queries[i]));
  }
  return fmt::format("{} queries", fmt::join(numbers, ", "));
}

std::string ToldKinds::calls(Set queries, Padding padding) const {
  const std::string of_padding = padding == Padding::with      ? " with padding" + side_
                                 : padding == Padding::without ? " without padding"
                                                               : "";
  if (queries == all) return fmt::format("calls{}", of_padding);
  std::string words;
  if ((queries & whole_calls) != 0) words = fmt::format("whole calls{}", of_padding);
  if ((queries & every_step) == 0) return words;
  const std::string numbers = steps(queries);
  return fmt::format("{}{}steps{}{}{}", words, words.empty() ? "" : " and ", numbers.empty() ? "" : " of ", numbers,
                     of_padding.empty() ? "" : " over rows" + of_padding);
}

std::string ToldKinds::condition() const {
  if (!is_found_ || are_all() || !is_any_claimed_) return "";
  const Set others = all & ~queries_;
  // Most calls are told by those that are not among them.
  const bool are_most = padding_ == Padding::any && std::popcount(others) == 1 && others != whole_calls;
  if (are_most && is_claimed_elsewhere_) return fmt::format(", and not in {}", calls(others, padding_));
  return fmt::format(", in {}{}", calls(queries_, padding_), is_claimed_elsewhere_ ? " alone" : "");
}

std::string ToldKinds::wrong_and_right() const {
  const std::string wrong = calls(queries_, padding_);
  if (queries_ == all)
    return fmt::format("in {}, and right in {}", wrong,
                       padding_ == Padding::without ? "those with it"
                       : side_.empty()              ? "those without"
                                                    : "all others");
  if (padding_ != Padding::any) return fmt::format("in {}, and right in all others", wrong);
  const Set others = all & ~queries_;
  std::vector<std::string> right;
  const bool has_steps = (queries_ & every_step) != 0;
  if ((others & every_step) != 0)
    right.push_back(has_steps ? fmt::format("those of {}", steps(others))
                              : fmt::format("steps{}", others == every_step ? "" : " of " + steps(others)));
  if ((others & whole_calls) != 0) right.emplace_back("whole calls");
  return fmt::format("in {}, and right in {}", wrong, fmt::join(right, " and in "));
}

Batches batches_of(Shows one, Shows three, Shows four) {
  if (three == Shows::claim && four == Shows::claim)
    return {"batches of 2 rows", [](std::int64_t rows) { return rows == 2; }};
  if (three == Shows::claim && four == Shows::it)
    return {"batches of an even number of rows", [](std::int64_t rows) { return rows % 2 == 0; }};
  if (three == Shows::it && four == Shows::claim)
    return {"batches of up to 3 rows", [](std::int64_t rows) { return rows <= 3; }};
  if (one == Shows::claim) return {"batches of several rows", [](std::int64_t rows) { return rows > 1; }};
  return {"", [](std::int64_t) { return true; }};
}

bool ManyBatches::hold(std::int64_t rows) const { return std::ranges::find(right, rows) == right.end(); }

ManyBatches batches_of(const std::vector<Shows>& of_rows) {
  ManyBatches found;
  std::vector<std::int64_t> wrong;
  for (std::int64_t rows = 1; rows <= std::ssize(of_rows); ++rows) {
    const Shows one = of_rows[static_cast<std::size_t>(rows - 1)];
    if (one == Shows::claim) found.right.push_back(rows);
    if (one == Shows::it || one == Shows::neither) wrong.push_back(rows);
  }
  if (found.right.empty() || wrong.empty()) return {};
  if (wrong.front() > found.right.back()) {
    found.words = fmt::format("batches of {} and more rows", wrong.front());
    return found;
  }
  const bool is_of_one = wrong.size() == 1;
  found.words = fmt::format("batches of {} rows, and not of {}", fmt::join(wrong, ", "), fmt::join(found.right, ", "));
  if (is_of_one && wrong.front() == 1)
    found.words = fmt::format("batches of one row, and not of {}", fmt::join(found.right, ", "));
  return found;
}

std::string side_text(Shows left, Shows right) {
  if (left == Shows::it && right == Shows::claim) return " on the left";
  return left == Shows::claim && right == Shows::it ? " on the right" : "";
}

}  // namespace sextant::identify
