#include "properties/identify/attention/taken_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

namespace sextant::identify {
namespace {

using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
Key key_of_row(const AttentionPlaceOfHead& at) { return {at.batch, at.head, at.token}; }

// Of one side of the places: which of its numbers are wrong.
struct AskedNumbers {
  std::set<std::int64_t> all;
  std::set<std::int64_t> wrong;

  bool is_part() const { return wrong.size() < all.size(); }

  // "token 164 of 165"; nothing of numbers of no order.
  std::optional<std::string> words(std::string_view one, std::string_view many) const {
    const std::size_t count = all.size();
    if (wrong.size() == 1) return fmt::format("{} {} of {}", one, *wrong.begin(), count);
    const std::int64_t first = *wrong.begin();
    const std::int64_t last = *wrong.rbegin();
    if (last - first + 1 == std::ssize(wrong)) return fmt::format("{} {} to {} of {}", many, first, last, count);
    constexpr std::size_t most_told = 4;
    if (wrong.size() > most_told) return std::nullopt;
    return fmt::format("{} {} of {}", many, fmt::join(wrong, ", "), count);
  }
};

// A place whose right values another one may have.
struct RowTaken {
  std::string one;
  std::string many;
  std::function<AttentionPlaceOfHead(AttentionPlaceOfHead at)> of;
};

std::vector<RowTaken> rows_taken() {
  std::vector<RowTaken> list;
  const auto moved = [&](std::string_view what, std::int64_t AttentionPlaceOfHead::*number) {
    list.push_back({fmt::format("the {} before it", what), fmt::format("the {}s before them", what), [=](auto at) {
                      at.*number -= 1;
                      return at;
                    }});
    list.push_back({fmt::format("the {} after it", what), fmt::format("the {}s after them", what), [=](auto at) {
                      at.*number += 1;
                      return at;
                    }});
    const std::string first = fmt::format("{} 0", what);
    list.push_back({first, first, [=](auto at) {
                      at.*number = 0;
                      return at;
                    }});
  };
  moved("token", &AttentionPlaceOfHead::token);
  moved("head", &AttentionPlaceOfHead::head);
  moved("batch row", &AttentionPlaceOfHead::batch);
  for (const std::int64_t tile : {8, 16, 32, 64, 128, 256, 512, 1024})
    list.push_back(
        {fmt::format("the token {} before it", tile), fmt::format("the tokens {} before them", tile), [tile](auto at) {
           at.token -= tile;
           return at;
         }});
  return list;
}

class WrongRows {
 public:
  WrongRows(const AskedCase& answers, const std::vector<AttentionPlaceOfHead>& wrong) : asked_(answers), wrong_(wrong) {
    for (RightRow& row : answers.right_rows()) right_.emplace(key_of_row(row.place), std::move(row));
    for (const auto& [key, row] : right_) {
      tokens_.all.insert(row.place.token);
      heads_.all.insert(row.place.head);
      rows_.all.insert(row.place.batch);
    }
    for (const AttentionPlaceOfHead& at : wrong) {
      tokens_.wrong.insert(at.token);
      heads_.wrong.insert(at.head);
      rows_.wrong.insert(at.batch);
    }
  }

  TakenRows told() const {
    const std::string where = places();
    if (where.empty()) return {};
    if (const std::string zeros = zeros_text(where); !zeros.empty()) return {fmt::format("{}{}", zeros, rest), true};
    for (const RowTaken& other : rows_taken()) {
      if (has_values_of(other))
        return {fmt::format("{} {} the values of {}{}", where, are_many() ? "have" : "has",
                            are_many() ? other.many : other.one, rest),
                true};
    }
    return {fmt::format("{} {} wrong{}", where, are_many() ? "are" : "is", rest), false};
  }

 private:
  static constexpr std::string_view rest = ", and the rest is right";

  // The numbers that are told of first, the others being where those are.
  const AskedNumbers& told_first() const { return tokens_.is_part() ? tokens_ : heads_.is_part() ? heads_ : rows_; }
  bool are_many() const { return told_first().wrong.size() > 1; }

  std::string places() const {
    if (wrong_.size() != tokens_.wrong.size() * heads_.wrong.size() * rows_.wrong.size()) return {};
    std::string words;
    const auto add = [&](const AskedNumbers& numbers, std::string_view one, std::string_view many) {
      if (!numbers.is_part()) return true;
      const auto text = numbers.words(one, many);
      if (!text) return false;
      words += (words.empty() ? "" : " in ") + *text;
      return true;
    };
    const bool are_told =
        add(tokens_, "token", "tokens") && add(heads_, "head", "heads") && add(rows_, "batch row", "batch rows");
    return are_told ? words : std::string();
  }

  bool has_values_of(const RowTaken& other) const {
    double off = 0;
    double off_own = 0;
    for (const AttentionPlaceOfHead& at : wrong_) {
      const auto there = right_.find(key_of_row(other.of(at)));
      if (there == right_.end()) return false;
      const std::vector<double> got = asked_.answer(at);
      if (!there->second.is_met_by(got)) return false;
      off += there->second.off(got);
      off_own += right_.at(key_of_row(at)).off(got);
    }
    // Wide bounds admit values of many places.
    constexpr double nearer = 8;
    return nearer * off < off_own;
  }

  // Of all channels, or of those that are wrong.
  std::string zeros_text(const std::string& where) const {
    std::set<std::size_t> channels;
    for (const AttentionPlaceOfHead& at : wrong_) {
      const std::vector<double> got = asked_.answer(at);
      const RightRow& right = right_.at(key_of_row(at));
      for (std::size_t c = 0; c < got.size(); ++c) {
        if (!right.is_met_by(got, c)) channels.insert(c);
      }
    }
    bool all = true;
    for (const AttentionPlaceOfHead& at : wrong_) {
      const std::vector<double> got = asked_.answer(at);
      for (const std::size_t c : channels) {
        if (got[c] != 0) return {};
      }
      all = all && std::ranges::all_of(got, [](double value) { return value == 0; });
    }
    if (all) return fmt::format("{} {} back as zeros", where, are_many() ? "come" : "comes");
    return fmt::format("{} {} of {} {} back as zeros", channels.size() == 1 ? "channel" : "channels",
                       fmt::join(channels, ", "), where, channels.size() == 1 ? "comes" : "come");
  }

  const AskedCase& asked_;
  const std::vector<AttentionPlaceOfHead>& wrong_;
  std::map<Key, RightRow> right_;
  AskedNumbers tokens_;
  AskedNumbers heads_;
  AskedNumbers rows_;
};

}  // namespace

TakenRows taken_rows(const AskedCase& asked, const std::vector<AttentionPlaceOfHead>& wrong) {
  return wrong.empty() ? TakenRows{} : WrongRows(asked, wrong).told();
}

}  // namespace sextant::identify
