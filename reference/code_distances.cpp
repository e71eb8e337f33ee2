#include "reference/code_distances.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

// Steps are those of docs/proofs/code-distances.md.

namespace sextant::reference {
namespace {

// The angle's distance from whole turns, in turns: at most 1/2.
double distance_from_whole(Phase angle) { return std::ldexp(static_cast<double>(std::min(angle, -angle)), -128); }

double square_of(double turns) {
  const double sine = 2 * std::sin(std::numbers::pi * turns);
  return sine * sine;
}

// The least D, or its least local minima.
class Search {
 public:
  Search(std::span<const FixedTurns> pairs, std::int64_t most_offset)
      : pairs_(pairs.begin(), pairs.end()), most_(most_offset) {
    // Slow pairs first: they tell of whole stretches.
    std::ranges::sort(pairs_, {}, speed_of);
    for (const FixedTurns& pair : pairs_) speeds_.push_back(speed_of(pair));
  }

  struct Result {
    std::int64_t searched;
    std::vector<OffsetDistance> found;
  };
  Result nearest() { return search(1, Of::all); }
  Result aliases(std::size_t count) { return search(count, Of::local_minima); }

 private:
  enum class Of { all, local_minima };
  struct Found {
    std::int64_t offset;
    double squared;
  };

  static double speed_of(const FixedTurns& pair) { return distance_from_whole(phase_of(pair, 1)); }

  Result search(std::size_t count, Of of) {
    count_ = count;
    of_ = of;
    found_.clear();
    searched_ = 0;
    looks_ = 0;
    descend(1, most_);
    Result result{searched_, {}};
    for (const Found& one : found_) result.found.push_back({one.offset, std::sqrt(one.squared)});
    return result;
  }

  // Or as much of it as is above `enough`.
  double squared_distance(std::int64_t offset, double enough = std::numeric_limits<double>::infinity()) {
    double sum = 0;
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend() && sum <= enough; ++pair, ++looks_)
      sum += square_of(distance_from_whole(phase_of(*pair, offset)));
    return sum;
  }

  // What an offset must be below to be of interest.
  double limit() const {
    return found_.size() < count_ ? std::numeric_limits<double>::infinity() : found_.back().squared;
  }

  // Step 2: whether all offsets from first to last are further apart than that.
  bool is_beyond(std::int64_t first, std::int64_t last) {
    const double most = limit() * (1 + 0x1p-40);
    const std::int64_t middle = first + (last - first) / 2;
    const auto half = static_cast<double>(std::max(middle - first, last - middle));
    double sum = 0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const double moved = half * speeds_[i];
      if (moved >= 0.5) return false;  // neither do the faster ones tell
      ++looks_;
      const double least = distance_from_whole(phase_of(pairs_[i], middle)) - moved;
      if (least > 0) sum += square_of(least);
      if (sum > most) return true;
    }
    return false;
  }

  void descend(std::int64_t first, std::int64_t last) {
    constexpr std::int64_t most_looks = std::int64_t{1} << 24;
    constexpr std::int64_t short_stretch = 4;
    if (looks_ >= most_looks) return;
    ++looks_;
    if (!is_beyond(first, last)) {
      if (last - first >= short_stretch) {
        const std::int64_t middle = first + (last - first) / 2;
        descend(first, middle);
        descend(middle + 1, last);
        return;
      }
      for (std::int64_t offset = first; offset <= last; ++offset) take(offset);
    }
    if (searched_ == first - 1) searched_ = last;
  }

  void take(std::int64_t offset) {
    const double squared = squared_distance(offset, limit());
    if (squared >= limit()) return;
    if (of_ == Of::local_minima) {
      if (offset == 1 || offset == most_) return;
      if (squared_distance(offset - 1) <= squared || squared_distance(offset + 1) < squared) return;
    }
    const auto place = std::ranges::upper_bound(found_, squared, {}, &Found::squared);
    found_.insert(place, {offset, squared});
    if (found_.size() > count_) found_.pop_back();
  }

  std::vector<FixedTurns> pairs_;
  std::vector<double> speeds_;  // of one position, in turns
  std::int64_t most_;
  // Of the search at hand.
  std::size_t count_ = 0;
  Of of_ = Of::all;
  std::vector<Found> found_;
  std::int64_t searched_ = 0;
  std::int64_t looks_ = 0;
};

}  // namespace

CodeDistances code_distances(std::span<const FixedTurns> frequencies, std::int64_t most_offset, std::size_t aliases) {
  if (frequencies.empty()) throw std::invalid_argument("code_distances: no pairs");
  if (most_offset < 1 || most_offset > std::int64_t{1} << 54)
    throw std::invalid_argument("code_distances: expected offsets from 1 to at most 2^54");
  Search search(frequencies, most_offset);
  const Search::Result nearest = search.nearest();
  const Search::Result alike = search.aliases(aliases);
  return {nearest.searched, nearest.found.front(), alike.searched, alike.found};
}

}  // namespace sextant::reference
