#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::identify {

/// Numbers of queries by which calls of attention differ: 0 is a whole call, others are of steps, 5 standing for more.
inline constexpr std::array<std::int64_t, 5> asked_queries{0, 1, 2, 3, 5};

enum class HasPadding { no, yes };

/// A kind of call: how many queries it has, and whether its rows have padding.
struct KindOfCall {
  std::int64_t queries = 0;
  HasPadding padding = HasPadding::no;

  friend bool operator==(const KindOfCall&, const KindOfCall&) = default;
};

/// All of them.
std::vector<KindOfCall> kinds_of_calls();

/// What a call is answered by: the difference, the claim, either, as where they are the same, or neither.
enum class Shows { it, claim, either, neither };

struct ShownKind {
  KindOfCall kind;
  Shows shows = Shows::either;
};

/// The kinds of calls in which a difference shows, told from those that are as claimed by a set of numbers of queries
/// and by padding: the least that is to be said of them.
class ToldKinds {
 public:
  /// @param shown  without one that shows the difference, or where nothing simple tells them apart, nothing is told
  explicit ToldKinds(const std::vector<ShownKind>& shown);

  bool is_of_padding() const { return is_found_ && padding_ == Padding::with; }
  /// Says of which side padding is, " on the right", where it is told of calls with padding.
  void set_side(std::string side) { side_ = std::move(side); }

  bool are_all() const { return is_found_ && queries_ == all && padding_ == Padding::any; }
  /// Whole calls alone, with padding and without.
  bool are_whole_calls() const;
  bool is_found() const { return is_found_; }
  /// ", in steps of one query alone", ", in steps, and not over rows with padding"; empty where it is so of all, where
  /// none of the others is as claimed, or where nothing is told.
  std::string condition() const;
  /// "in steps of one query, and right in those of several and in whole calls".
  std::string wrong_and_right() const;
  /// Whether it is among them.
  bool holds(std::int64_t queries, HasPadding padding) const;

 private:
  enum class Padding { any, with, without };
  using Set = unsigned;  // of indices in asked_queries
  static constexpr Set all = (1U << asked_queries.size()) - 1;

  static std::string steps(Set queries);
  std::string calls(Set queries, Padding padding) const;

  Set queries_ = all;
  Padding padding_ = Padding::any;
  bool is_found_ = false;
  bool is_claimed_elsewhere_ = false;  // all others are as claimed
  bool is_any_claimed_ = false;
  std::string side_;
};

/// Batches of so many rows.
struct Batches {
  std::string_view words;  ///< "batches of an even number of rows"; empty where they are of any number
  bool (*hold)(std::int64_t rows);
};

/// Of which a difference is that shows in those of 2 rows, by what is seen of those of 1, 3 and 4.
Batches batches_of(Shows one, Shows three, Shows four);

/// The same by what is seen of those of 1, 2 and so on rows, one of which has it: "batches of 3 and more rows".
struct ManyBatches {
  std::string words;  ///< empty where none that were asked are as claimed, or nothing is told
  std::vector<std::int64_t> right;

  bool hold(std::int64_t rows) const;
};
ManyBatches batches_of(const std::vector<Shows>& of_rows);

/// " on the right": of calls with padding that show a difference, by what is seen of those with padding on one side.
std::string side_text(Shows left, Shows right);

}  // namespace sextant::identify
