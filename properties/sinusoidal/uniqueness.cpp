#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/encoded_pairs.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"
#include "reference/code_distances.hpp"
#include "reference/fast_rotations.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;

// Two stretches of as many rows.
struct Stretches {
  std::int64_t position;
  std::int64_t other_position;
  std::int64_t rows;
};

constexpr std::size_t aliases_asked = 3;

// How near codes of the claim come to each other.
reference::CodeDistances distances_of(const Spec& spec) {
  return model_of(spec)->encoded_pairs()->distances(spec.max_position - 1 - spec.min_position, aliases_asked);
}

// "pairs repeat every 6.28, 62.8, 628, 6.28e+03 positions": of many the first two and the last.
std::string periods_text(const Sinusoidal& encoding) {
  reference::SinusoidalReference oracle(encoding);
  constexpr std::int64_t few = 4;
  const std::int64_t last = pairs(encoding) - 1;
  std::string text = "pairs repeat every";
  for (std::int64_t pair = 0; pair <= last; ++pair) {
    if (last >= few && pair == 2) {
      text += " ...";
      pair = last;
    }
    const double w = oracle.shift(1, pair, reference::first_precision).angle.upper();
    text += fmt::format("{}{:.3g}", pair == 0 || (last >= few && pair == last) ? " " : ", ",
                        2 * std::numbers::pi / std::fabs(w) * encoding.positions.step);
  }
  return text + " positions";
}

// "the nearest codes are 0.96 apart, at offset 1 of 1 to 131071; nearer than offsets beside them: 44 (0.04 apart), ..."
std::string text_of(const reference::CodeDistances& distances, const Sinusoidal& encoding) {
  const double size = std::fabs(encoding.scale);
  const PositionGrid& grid = encoding.positions;
  std::string text =
      fmt::format("the nearest codes are {:.3g} apart, at offset {} of {} to {}", distances.nearest.distance * size,
                  grid.text(distances.nearest.offset), grid.text(1), grid.text(distances.searched));
  for (const auto& alias : distances.aliases) {
    text += fmt::format("{} {} ({:.3g} apart)",
                        &alias == distances.aliases.data() ? "; nearer than the offsets beside them:" : ",",
                        grid.text(alias.offset), alias.distance * size);
  }
  if (!distances.aliases.empty() && distances.searched_for_aliases < distances.searched)
    text += fmt::format(", of {} to {}", grid.text(1), grid.text(distances.searched_for_aliases));
  return text + "; " + periods_text(encoding);
}

CasesOf<Stretches> stretches() {
  CasesOf<Stretches> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Stretches>> {
    return {{"position", FieldRole::position, &Stretches::position, claimed(spec)},
            {"other_position", FieldRole::position, &Stretches::other_position, claimed(spec)},
            {"rows", FieldRole::run, &Stretches::rows, {1, 64}}};
  };
  cases.related = [](const Spec& spec, const Stretches& asked) {
    return std::max(asked.position, asked.other_position) <= spec.max_position - asked.rows;
  };
  cases.first = [](const Spec& spec) -> std::vector<Stretches> {
    const std::int64_t rows = std::min<std::int64_t>(64, spec.max_position - spec.min_position);
    const std::int64_t near = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - rows);
    std::vector<Stretches> list{{.position = near, .other_position = spec.max_position - rows, .rows = rows}};
    // Codes that are alike, where they are as small as positions can be and as large.
    for (const auto& alias : distances_of(spec).aliases) {
      const std::int64_t room = spec.max_position - spec.min_position - alias.offset;
      const std::int64_t count = std::min(rows, room);
      for (const std::int64_t first : {spec.min_position, spec.max_position - count - alias.offset})
        list.push_back({.position = first, .other_position = first + alias.offset, .rows = count});
    }
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    const std::int64_t rows = std::min<std::int64_t>(32, spec.max_position - spec.min_position);
    const gen::PositionRange starts{spec.min_position, spec.max_position - rows + 1};
    return gen::map(gen::pair(gen::position(starts), gen::position(starts)),
                    [rows](const std::pair<std::int64_t, std::int64_t>& drawn) {
                      return Stretches{.position = drawn.first, .other_position = drawn.second, .rows = rows};
                    });
  };
  return cases;
}

// What one channel of any implementation within its class holds at some of the positions: every value of position p
// lies within B_p of the truth t_p, so that p and q certainly differ here if t_p - B_p > t_q + B_q for any two of them,
// which the greatest lower end and the least upper end tell.
struct Ends {
  double greatest_lower = -std::numeric_limits<double>::infinity();
  double least_upper = std::numeric_limits<double>::infinity();
  std::int64_t above = 0;  // where they are
  std::int64_t below = 0;

  // high + low within `error`, B at most `bound`: the outer factor and the step to the next double cover the few
  // roundings here.
  void take(const DoubleDoubleWithin& truth, double bound, std::int64_t position) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double reach = (bound + std::fabs(truth.low) + truth.error) * (1 + 0x1p-50);
    if (const double lower = std::nextafter(truth.high - reach, -infinity); lower > greatest_lower)
      greatest_lower = lower, above = position;
    if (const double upper = std::nextafter(truth.high + reach, infinity); upper < least_upper)
      least_upper = upper, below = position;
  }

  bool apart() const { return greatest_lower > least_upper; }
};

// Whether the claim tells some of a few positions apart: which two. Each position is asked of the fast tier once,
// whatever the number of pairs that they make; a value whose bound it leaves open tells nothing.
class Telling {
 public:
  Telling(const Spec& spec, const Sinusoidal& encoding)
      : encoding_(encoding),
        oracle_(encoding_),
        budget_(arithmetic_of(spec), oracle_.frequencies(), pairs(encoding_)),
        fast_(oracle_.fast()),
        row_(fast_.make_row()) {
    for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair)
      frequencies_.push_back(oracle_.shift(1, pair, reference::first_precision).angle.upper());
  }

  std::optional<std::pair<std::int64_t, std::int64_t>> certainly_apart(std::span<const std::int64_t> positions) {
    std::vector<Ends> channels(static_cast<std::size_t>(encoding_.dim));
    const auto scale = DoubleDoubleWithin::exactly(encoding_.scale);
    for (const std::int64_t position : positions) {
      const std::int64_t place = position + encoding_.position_offset;
      fast_.at(place, row_);
      for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair) {
        const auto i = static_cast<std::size_t>(pair);
        const DoubleDoubleWithin sine = scale * row_.sin(i);
        const DoubleDoubleWithin cosine = scale * row_.cos(i);
        const double angle = frequencies_[i] * static_cast<double>(place);
        const auto bound = [&](const DoubleDoubleWithin& truth, double derivative) {
          return budget_.element_bound(magnitude(truth), derivative, encoding_.scale, angle, pair).upper;
        };
        const Channels at = channels_of_pair(encoding_, pair);
        channels[static_cast<std::size_t>(at.first)].take(sine, bound(sine, cosine.high), position);
        channels[static_cast<std::size_t>(at.second)].take(cosine, bound(cosine, sine.high), position);
      }
    }
    for (const Ends& ends : channels) {
      if (ends.apart()) return std::pair{std::min(ends.above, ends.below), std::max(ends.above, ends.below)};
    }
    return std::nullopt;
  }

 private:
  Sinusoidal encoding_;
  reference::SinusoidalReference oracle_;
  ErrorBudget budget_;
  reference::FastRotations fast_;
  reference::RotationRow row_;
  std::vector<double> frequencies_;
};

// The positions of each code that several share, 0 and -0 being the same, in the order of their first.
std::vector<std::vector<std::int64_t>> sharing(const Tensor& table, std::span<const std::int64_t> positions) {
  Tensor codes = table;
  for (std::int64_t i = 0; i < codes.elements(); ++i) {
    if (codes.at(i) == 0) codes.set(i, 0);
  }
  const std::size_t row_bytes = codes.data.size() / positions.size();
  std::map<std::string_view, std::vector<std::int64_t>> by_code;
  for (std::size_t row = 0; row < positions.size(); ++row) {
    by_code[std::string_view(reinterpret_cast<const char*>(codes.data.data()) + row * row_bytes, row_bytes)].push_back(
        positions[row]);
  }
  std::vector<std::vector<std::int64_t>> shared;
  for (auto& [code, list] : by_code) {
    if (list.size() > 1) shared.push_back(std::move(list));
  }
  std::ranges::sort(shared);
  return shared;
}

CheckOf<Stretches> uniqueness_check(const Spec& spec, const Sinusoidal& encoding) {
  const std::string nearest = text_of(distances_of(spec), encoding);
  return [spec, nearest, grid = encoding.positions, telling = Telling(spec, encoding)](Session& session,
                                                                                       const Stretches& asked) mutable {
    std::vector<std::int64_t> positions = gen::consecutive(asked.position, asked.rows);
    const std::vector<std::int64_t> others = gen::consecutive(asked.other_position, asked.rows);
    positions.insert(positions.end(), others.begin(), others.end());
    std::ranges::sort(positions);
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    const Tensor table = encode(session, spec, positions);
    Judgement judgement;
    judgement.remark = nearest;
    judgement.add_exact(std::nullopt,
                        [&] { return fmt::format("{} positions, all codes distinct", positions.size()); });
    for (const std::vector<std::int64_t>& shared : sharing(table, positions)) {
      if (const auto two = telling.certainly_apart(shared)) {
        judgement.add_exact(
            fmt::format("positions {} and {} have the same code", grid.text(two->first), grid.text(two->second)),
            [] { return ""; });
        return judgement;
      }
    }
    return judgement;
  };
}

}  // namespace

Property uniqueness_property() {
  Property property;
  property.id = "uniqueness";
  property.explanation = {
      "distinct positions have distinct codes",
      "PE(p) != PE(q) for p != q, wherever the claimed accuracy tells the two apart",
      "w_0 = 1 and pi is irrational, so no two integers differ by a whole number of turns (Vaswani et al. 2017, "
      "section 3.5)",
      "sinusoidal",
      "two equal rows (0 and -0 are the same) count as a violation only where some channel's true values differ by "
      "more than the sum of the two bounds "
      "of properties/model/budget.hpp, so that no implementation within its class can show them",
      "positions of low precision, clamped or wrapped ones, one row for all, tables repeated beyond their end"};
  property.not_applicable = stated_for<Sinusoidal>(one_position_only);
  use_cases(property, stretches(), of<Sinusoidal>(uniqueness_check));
  return property;
}

}  // namespace sextant
