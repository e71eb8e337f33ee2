#include "properties/identify/codes/coordinate_maps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "lib/numeric/dtype.hpp"
#include "lib/numeric/index.hpp"
#include "properties/identify/round_numbers.hpp"

namespace sextant::identify {
namespace {

using Place = std::vector<std::int64_t>;

class Maps {
 public:
  explicit Maps(const MapQuestion& question) : question_(question) {}

  std::optional<CoordinateMap> of(std::span<const TakenCoordinate> seen) const {
    std::set<std::int64_t> own;
    for (const TakenCoordinate& one : seen) own.insert(at(one.place));
    if (all_are(seen, [this](const Place& place) { return own_of(place); })) return std::nullopt;
    if (auto map = of_other_axis(seen)) return map;
    constexpr std::size_t fewest = 4;
    if (own.size() < fewest) return std::nullopt;
    if (auto map = affine(seen)) return map;
    if (auto map = of_each(seen)) return map;
    return where_odd(seen);
  }

 private:
  std::int64_t at(const Place& place) const { return place[index(question_.axis)]; }
  double own_of(const Place& place) const { return static_cast<double>(at(place)); }
  double off_of(double coordinate) const { return question_.noise + question_.relative * std::fabs(coordinate); }

  template <class Of>
  bool all_are(std::span<const TakenCoordinate> seen, const Of& of) const {
    return std::ranges::all_of(seen, [&](const TakenCoordinate& one) {
      return std::fabs(one.taken - of(one.place)) <= off_of(one.taken) + off_of(own_of(one.place));
    });
  }

  std::string number(double steps) const { return fmt::format("{:.6g}", steps * question_.step); }

  // A number a person would write, near a fitted one; 0 where that is.
  static double rounded(double value, double off) {
    if (std::fabs(value) <= off) return 0;
    const double size = std::fabs(value);
    return std::copysign(roundest_in({size - off, size + off}).value, value);
  }

  // Sums a_0 c_0 + a_1 c_1 + ... + b, by least squares.
  std::optional<std::vector<double>> fitted(std::span<const TakenCoordinate> seen) const {
    const std::size_t axes = seen.front().place.size();
    const std::size_t unknown = axes + 1;
    if (seen.size() < unknown + 1) return std::nullopt;
    std::vector<std::vector<double>> rows(unknown, std::vector<double>(unknown + 1, 0));
    for (const TakenCoordinate& one : seen) {
      std::vector<double> terms;
      for (const std::int64_t c : one.place) terms.push_back(static_cast<double>(c));
      terms.push_back(1);
      for (std::size_t i = 0; i < unknown; ++i) {
        for (std::size_t j = 0; j < unknown; ++j) rows[i][j] += terms[i] * terms[j];
        rows[i][unknown] += terms[i] * one.taken;
      }
    }
    for (std::size_t i = 0; i < unknown; ++i) {
      std::size_t pivot = i;
      for (std::size_t j = i; j < unknown; ++j) {
        if (std::fabs(rows[j][i]) > std::fabs(rows[pivot][i])) pivot = j;
      }
      if (!(std::fabs(rows[pivot][i]) > 1e-6)) return std::nullopt;
      std::swap(rows[i], rows[pivot]);
      for (std::size_t j = 0; j < unknown; ++j) {
        if (j == i) continue;
        const double times = rows[j][i] / rows[i][i];
        for (std::size_t k = i; k <= unknown; ++k) rows[j][k] -= times * rows[i][k];
      }
    }
    std::vector<double> made;
    for (std::size_t i = 0; i < unknown; ++i) {
      const double value = rows[i][unknown] / rows[i][i];
      const double off = i < axes ? 0x1p-14 * std::max(1.0, std::fabs(value)) : 2 * off_of(value) + 0x1p-10;
      made.push_back(rounded(value, off));
    }
    return made;
  }

  std::optional<CoordinateMap> affine(std::span<const TakenCoordinate> seen) const {
    const auto sums = fitted(seen);
    if (!sums) return std::nullopt;
    const auto of = [sums = *sums](const Place& place) {
      double sum = sums.back();
      for (std::size_t axis = 0; axis < place.size(); ++axis) sum += sums[axis] * static_cast<double>(place[axis]);
      return sum;
    };
    if (!all_are(seen, of)) return std::nullopt;
    return CoordinateMap{words_of_sum(*sums), of};
  }

  std::string words_of_sum(const std::vector<double>& sums) const {
    const std::size_t own = index(question_.axis);
    const double times = sums[own];
    const double plus = sums.back();
    bool is_of_others = false;
    for (std::size_t axis = 0; axis + 1 < sums.size(); ++axis)
      is_of_others = is_of_others || (axis != own && sums[axis] != 0);
    if (!is_of_others && times == -1 && !question_.extents.empty() &&
        plus == static_cast<double>(question_.extents[own] - 1))
      return fmt::format("coordinates are counted from the other end: 0 is encoded as {}", number(plus));
    if (!is_of_others && times == 1)
      return fmt::format("coordinates are {} {} than the claim's", number(std::fabs(plus)), plus < 0 ? "less" : "more");
    if (!is_of_others && plus == 0 && times == -1) return "coordinates have the other sign";
    if (!is_of_others && plus == 0 && times != 0)
      return fmt::format("coordinates are multiplied by {:.6g}{}", times, words_of_ratio(times));
    std::vector<std::string> terms;
    for (std::size_t axis = 0; axis + 1 < sums.size(); ++axis) {
      if (sums[axis] == 0) continue;
      const std::string name = sums.size() == 2 ? "p" : fmt::format("p{}", axis);
      terms.push_back(sums[axis] == 1 ? name : fmt::format("{:.6g} {}", sums[axis], name));
    }
    if (plus != 0 || terms.empty()) terms.push_back(number(plus));
    return fmt::format("coordinates are {}, where the claim has {}", fmt::join(terms, " + "),
                       sums.size() == 2 ? std::string("p") : fmt::format("p{}", own));
  }

  // ", 20 / 14" of the grid's sides.
  std::string words_of_ratio(double times) const {
    for (const std::int64_t over : question_.extents) {
      for (const std::int64_t under : question_.extents) {
        if (over != under && std::fabs(times * static_cast<double>(under) / static_cast<double>(over) - 1) < 0x1p-14)
          return fmt::format(", {} / {}", over, under);
      }
    }
    return {};
  }

  // Of few places too: the numbers of two axes are seldom the same.
  std::optional<CoordinateMap> of_other_axis(std::span<const TakenCoordinate> seen) const {
    for (std::size_t axis = 0; axis < seen.front().place.size(); ++axis) {
      if (axis == index(question_.axis)) continue;
      const auto of = [axis](const Place& place) { return static_cast<double>(place[axis]); };
      const auto apart = std::ranges::count_if(
          seen, [&](const TakenCoordinate& one) { return std::fabs(of(one.place) - own_of(one.place)) >= 1; });
      if (apart >= 2 && all_are(seen, of))
        return CoordinateMap{fmt::format("coordinates are those of axis {}", axis), of};
    }
    return std::nullopt;
  }

  // Of each coordinate by itself.
  std::optional<CoordinateMap> of_each(std::span<const TakenCoordinate> seen) const {
    std::vector<CoordinateMap> tried;
    const auto add = [&](std::string words, std::function<double(std::int64_t)> of) {
      tried.push_back({std::move(words), [axis = index(question_.axis), of = std::move(of)](const Place& place) {
                         return of(place[axis]);
                       }});
    };
    add("coordinates lose their sign", [](std::int64_t c) { return std::fabs(static_cast<double>(c)); });
    std::optional<std::int64_t> first;
    for (const TakenCoordinate& one : seen) {
      const std::int64_t own = at(one.place);
      const bool is_other = std::fabs(one.taken - own_of(one.place)) > off_of(one.taken) + off_of(own_of(one.place));
      if (!is_other) continue;
      if (!first || own < *first) first = own;
      // One that is off by a period.
      const double apart = std::round(own_of(one.place) - one.taken);
      if (tried.size() > 8 || !(apart > 1)) continue;
      const auto period = static_cast<std::int64_t>(apart);
      add(fmt::format("coordinates wrap at {}", number(apart)),
          [period](std::int64_t c) { return static_cast<double>(((c % period) + period) % period); });
    }
    for (const TakenCoordinate& one : seen) {
      if (!first || at(one.place) != *first) continue;
      const double last = std::round(one.taken);
      add(fmt::format("coordinates above {0} are clamped to it", number(last)),
          [last](std::int64_t c) { return std::min(static_cast<double>(c), last); });
      break;
    }
    for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16})
      add(fmt::format("coordinates are rounded to {}", name_of(dtype)),
          [dtype, unit = question_.unit, plus = question_.plus](std::int64_t c) {
            return round_to(dtype, unit * (static_cast<double>(c) + plus)) / unit - plus;
          });
    for (std::int64_t by = 2; by <= 64; ++by) {
      const auto down = [by](std::int64_t c) { return (c >= 0 ? c : c - by + 1) / by; };
      add(fmt::format("coordinates are rounded down to multiples of {}", number(static_cast<double>(by))),
          [by, down](std::int64_t c) { return static_cast<double>(down(c) * by); });
      add(fmt::format("coordinates are divided by {} and rounded down", by),
          [down](std::int64_t c) { return static_cast<double>(down(c)); });
    }
    for (CoordinateMap& map : tried) {
      if (all_are(seen, map.of)) return std::move(map);
    }
    return std::nullopt;
  }

  // Another function where the coordinate of some axis is odd, or even: rows that run in turns.
  std::optional<CoordinateMap> where_odd(std::span<const TakenCoordinate> seen) const {
    for (std::size_t axis = 0; axis < seen.front().place.size(); ++axis) {
      for (const std::int64_t odd : {1, 0}) {
        std::vector<TakenCoordinate> there;
        std::vector<TakenCoordinate> elsewhere;
        for (const TakenCoordinate& one : seen)
          (((one.place[axis] % 2 + 2) % 2 == odd) ? there : elsewhere).push_back(one);
        constexpr std::size_t fewest = 4;
        if (there.size() < fewest || elsewhere.size() < fewest) continue;
        if (!all_are(elsewhere, [this](const Place& place) { return own_of(place); })) continue;
        auto map = affine(there);
        if (!map) continue;
        const std::string of = seen.front().place.size() == 1 ? "they are" : fmt::format("that of axis {} is", axis);
        map->words += fmt::format(", where {} {}", of, odd == 1 ? "odd" : "even");
        map->of = [axis, odd, own = index(question_.axis), of_odd = std::move(map->of)](const Place& place) {
          return (place[axis] % 2 + 2) % 2 == odd ? of_odd(place) : static_cast<double>(place[own]);
        };
        return map;
      }
    }
    return std::nullopt;
  }

  const MapQuestion& question_;
};

}  // namespace

std::optional<CoordinateMap> coordinate_map(std::span<const TakenCoordinate> seen, const MapQuestion& question) {
  return seen.empty() ? std::nullopt : Maps(question).of(seen);
}

}  // namespace sextant::identify
