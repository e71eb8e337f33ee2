#include "properties/identify/attention/parted_attention.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sextant::identify {
namespace {

using PartNumbers = std::set<std::int64_t>;

// A set of numbers, of heads or of rows, and its words.
struct ToldPart {
  std::string words;
  std::function<bool(std::int64_t number)> holds;
};

// Some of `count` things, of which the bad ones are among others that are told alike.
class Parts {
 public:
  Parts(std::string one, std::string many, std::int64_t count, PartNumbers bad)
      : one_(std::move(one)), many_(std::move(many)), count_(count), bad_(std::move(bad)) {}

  void add_usual() {
    if (bad_.size() == 1) {
      const std::int64_t only = *bad_.begin();
      add(fmt::format("in {} {} alone", one_, only), [only](std::int64_t number) { return number == only; });
    }
    if (count_ > 3) {
      add(fmt::format("in odd {} alone", many_), [](std::int64_t number) { return number % 2 == 1; });
      add(fmt::format("in even {} alone", many_), [](std::int64_t number) { return number % 2 == 0; });
    }
    // The first of several is the one that is treated apart.
    if (count_ > 3 || one_ == "batch row")
      add(fmt::format("in every {} but the first", one_), [](std::int64_t number) { return number > 0; });
  }

  void add_ranges() {
    const std::int64_t first = *bad_.begin();
    const std::int64_t last = *bad_.rbegin();
    if (first > 1)
      add(fmt::format("in {} from {} {} on", many_, one_, first),
          [first](std::int64_t number) { return number >= first; });
    if (last < count_ - 1 && last > 0)
      add(fmt::format("in {} up to {} {}", many_, one_, last), [last](std::int64_t number) { return number <= last; });
    add(fmt::format("in {} {} alone", many_, fmt::join(bad_, ", ")),
        [bad = bad_](std::int64_t number) { return bad.contains(number); });
  }

  void add(std::string words, std::function<bool(std::int64_t number)> holds) {
    list_.push_back({std::move(words), std::move(holds)});
  }

  // Those that hold all bad ones and leave out another one, those of the bad ones alone first.
  std::vector<ToldPart> taken() && {
    std::erase_if(list_, [this](const ToldPart& told) {
      return held(told) == count_ || !std::ranges::all_of(bad_, [&](std::int64_t one) { return told.holds(one); });
    });
    std::ranges::stable_partition(list_, [this](const ToldPart& told) { return held(told) == std::ssize(bad_); });
    return std::move(list_);
  }

 private:
  std::int64_t held(const ToldPart& told) const {
    std::int64_t held = 0;
    for (std::int64_t number = 0; number < count_; ++number) held += told.holds(number) ? 1 : 0;
    return held;
  }

  std::string one_;
  std::string many_;
  std::int64_t count_;
  PartNumbers bad_;
  std::vector<ToldPart> list_;
};

PartNumbers numbers_of(const std::vector<AttentionPlaceOfHead>& places, std::int64_t AttentionPlaceOfHead::*number) {
  PartNumbers list;
  for (const AttentionPlaceOfHead& at : places) list.insert(at.*number);
  return list;
}

}  // namespace

std::vector<PartOfPlaces> parts_of(const AskedCase& asked, const std::vector<AttentionPlaceOfHead>& wrong,
                                   const Attention& claimed) {
  std::vector<PartOfPlaces> list;
  if (wrong.empty()) return list;
  const auto add = [&](Parts parts, PartOfPlaces::Of of, std::int64_t AttentionPlaceOfHead::*number) {
    for (ToldPart& told : std::move(parts).taken())
      list.push_back(
          {of, std::move(told.words),
           [number, holds = std::move(told.holds)](const AttentionPlaceOfHead& at) { return holds(at.*number); }});
  };
  const std::int64_t heads = std::ssize(numbers_of(asked.places(), &AttentionPlaceOfHead::head));
  Parts of_heads("head", "heads", heads, numbers_of(wrong, &AttentionPlaceOfHead::head));
  of_heads.add_usual();
  const std::int64_t group = claimed.num_heads / claimed.num_kv_heads;
  if (group > 1 && heads == claimed.num_heads) {
    const std::int64_t own = wrong.front().head / group;
    of_heads.add(fmt::format("in the heads of key head {} alone", own),
                 [own, group](std::int64_t head) { return head / group == own; });
    of_heads.add("in the first head of each group alone", [group](std::int64_t head) { return head % group == 0; });
    of_heads.add("in every head of a group but its first", [group](std::int64_t head) { return head % group != 0; });
  }
  of_heads.add_ranges();
  add(std::move(of_heads), PartOfPlaces::Of::heads, &AttentionPlaceOfHead::head);
  const std::int64_t rows = asked.request().batch;
  if (rows < 2) return list;
  Parts of_rows("batch row", "batch rows", rows, numbers_of(wrong, &AttentionPlaceOfHead::batch));
  of_rows.add_usual();
  of_rows.add_ranges();
  add(std::move(of_rows), PartOfPlaces::Of::rows, &AttentionPlaceOfHead::batch);
  return list;
}

std::vector<OtherAttention> explaining_in_part(const AskedCase& asked, const std::vector<OtherAttention>& others,
                                               const std::vector<PartOfPlaces>& parts) {
  std::vector<OtherAttention> found;
  for (const PartOfPlaces& part : parts) {
    std::vector<OtherAttention> list = others;
    for (OtherAttention& other : list) {
      other.applies = part.holds;
      other.where = ", " + part.words;
    }
    if (const OtherAttention* other = explaining(asked, list, asked.places())) found.push_back(*other);
  }
  return found;
}

}  // namespace sextant::identify
