#include "properties/identify/rotations/rounded_products.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/identification.hpp"
#include "properties/identify/rotations/asked_turns.hpp"
#include "properties/identify/rotations/rounded_values.hpp"
#include "properties/model/model.hpp"
#include "properties/model/ordinary_vectors.hpp"

namespace sextant::identify {
namespace {

// Of a float32 angle this large, off by 2^-17, a 16-bit cosine is another one in some of a hundred.
constexpr double most_radians = 256;
// Whose values are not all near 1 or 0.
constexpr double least_radians = 0x1p-6;
constexpr std::int64_t block = 8;

// Values of which two guesses say different things, and how many are as each of them says.
struct Votes {
  std::int64_t rounded = 0;
  std::int64_t exact = 0;
  std::int64_t neither = 0;

  // Nothing where few tell, or where a tenth of them tells otherwise.
  std::optional<bool> are_rounded() const {
    constexpr std::int64_t fewest = 6;
    const std::int64_t all = rounded + exact + neither;
    if (all < fewest) return std::nullopt;
    if (10 * rounded >= 9 * all) return true;
    if (10 * exact >= 9 * all) return false;
    return std::nullopt;
  }
};

// The four products of a pair: (x0 cos - x1 sin, x0 sin + x1 cos).
enum Product : std::size_t { x0_cos, x1_sin, x0_sin, x1_cos };
constexpr std::array<std::string_view, 4> names{"x0 cos", "x1 sin", "x0 sin", "x1 cos"};
using OfProducts = std::array<bool, 4>;

class Steps {
 public:
  Steps(AskedTurns& turns, Dtype dtype)
      : turns_(turns), dtype_(dtype), vectors_(ordinary_vectors(turns.count(), dtype)) {}

  // Of each product whether its cosine or sine is rounded, at some positions; nothing where answers do not say.
  std::optional<OfProducts> table(const std::vector<std::int64_t>& positions, int drawings) {
    std::array<Votes, 4> votes;
    for (int drawing = 0; drawing < drawings; ++drawing) {
      for (const bool is_first : {true, false}) {
        const std::vector<PairValues> asked = vectors(drawing, is_first, !is_first);
        each(positions, asked, [&](const PairValues& x, const PairValues& t, const PairValues& y) {
          const double one = is_first ? x.cos : x.sin;
          vote(votes[is_first ? x0_cos : x1_cos], one, t.cos, is_first ? y.cos : y.sin);
          vote(votes[is_first ? x0_sin : x1_sin], is_first ? one : -one, t.sin, is_first ? y.sin : y.cos);
        });
      }
    }
    OfProducts found{};
    for (std::size_t i = 0; i < votes.size(); ++i) {
      const auto is_rounded = votes[i].are_rounded();
      if (!is_rounded) return std::nullopt;
      found[i] = *is_rounded;
    }
    return found;
  }

  // Of which products are rounded before they are added, of values that are rounded so.
  std::optional<OfProducts> products(const std::vector<std::int64_t>& positions, const OfProducts& of_table) {
    // Each choice for the two products of a component, [component][choice].
    std::array<std::array<std::int64_t, 4>, 2> missed{};
    std::int64_t all = 0;
    for (int drawing = 0; drawing < 2; ++drawing) {
      each(positions, vectors(drawing, true, true), [&](const PairValues& x, const PairValues& t, const PairValues& y) {
        const auto product = [&](Product which, double value, double factor) {
          return value * (of_table[which] ? rounded(factor) : factor);
        };
        const std::array<std::array<double, 2>, 2> terms{
            {{product(x0_cos, x.cos, t.cos), -product(x1_sin, x.sin, t.sin)},
             {product(x0_sin, x.cos, t.sin), product(x1_cos, x.sin, t.cos)}}};
        const std::array<double, 2> got{y.cos, y.sin};
        for (std::size_t component = 0; component < 2; ++component) {
          for (std::size_t choice = 0; choice < 4; ++choice) {
            double sum = 0;
            for (std::size_t term = 0; term < 2; ++term)
              sum += (choice >> term & 1) != 0 ? rounded(terms[component][term]) : terms[component][term];
            missed[component][choice] += rounded(sum) == got[component] ? 0 : 1;
          }
        }
        ++all;
      });
    }
    OfProducts found{};
    for (std::size_t component = 0; component < 2; ++component) {
      const auto best = std::ranges::min_element(missed[component]);
      const auto choice = static_cast<std::size_t>(best - missed[component].begin());
      // Few values that a float32 angle turns over, and many that tell the others apart.
      if (20 * *best > all) return std::nullopt;
      for (std::size_t other = 0; other < 4; ++other) {
        if (other != choice && missed[component][other] < 3 * *best + 6) return std::nullopt;
      }
      for (std::size_t term = 0; term < 2; ++term) found[2 * component + term] = (choice >> term & 1) != 0;
    }
    return found;
  }

  // Positions from there on, as many as a block has.
  std::vector<std::int64_t> block_at(std::int64_t first) const {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < block; ++i) positions.push_back(std::min(first + i, range().last - 1));
    return positions;
  }

  gen::PositionRange range() const { return turns_.range(); }

 private:
  double rounded(double value) const { return round_to(dtype_, value); }

  std::vector<PairValues> vectors(int drawing, bool has_first, bool has_second) const {
    std::vector<PairValues> list = vectors_;
    std::ranges::rotate(list, list.begin() + (static_cast<std::ptrdiff_t>(drawing) * 5) % std::ssize(list));
    for (PairValues& x : list) {
      if (!has_first) x.cos = 0;
      if (!has_second) x.sin = 0;
    }
    return list;
  }

  void vote(Votes& votes, double x, double factor, double got) const {
    const double of_rounded = rounded(x * rounded(factor));
    const double of_exact = rounded(x * factor);
    if (of_rounded == of_exact) return;
    ++(got == of_rounded ? votes.rounded : got == of_exact ? votes.exact : votes.neither);
  }

  void each(const std::vector<std::int64_t>& positions, const std::vector<PairValues>& asked,
            const std::function<void(const PairValues& x, const PairValues& t, const PairValues& y)>& take) {
    const Rows rows = turns_.turned(positions, asked);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t pair = 0; pair < asked.size(); ++pair) {
        const double angle = turns_.angle(positions[row], static_cast<std::int64_t>(pair));
        if (std::fabs(angle) > most_radians || std::fabs(angle) < least_radians) continue;
        take(asked[pair], {.sin = turns_.factor() * std::sin(angle), .cos = turns_.factor() * std::cos(angle)},
             rows[row][pair]);
      }
    }
  }

  AskedTurns& turns_;
  Dtype dtype_;
  std::vector<PairValues> vectors_;
};

constexpr OfProducts none{false, false, false, false};
constexpr OfProducts all_four{true, true, true, true};
constexpr OfProducts of_cosines{true, false, false, true};
constexpr OfProducts of_sines{false, true, true, false};

std::string of_table_words(const OfProducts& table, std::string_view format) {
  if (table == all_four) return fmt::format("cosines and sines are rounded to {} before they are used", format);
  if (table == of_cosines)
    return fmt::format("cosines are rounded to {} before they are used, and sines are not", format);
  if (table == of_sines)
    return fmt::format("sines are rounded to {} before they are used, and cosines are not", format);
  if (table == none) return {};
  std::vector<std::string_view> some;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i]) some.push_back(names[i]);
  }
  return fmt::format("of a pair's products the cosine or sine of {} is rounded to {}, and those of the others are not",
                     fmt::join(some, ", "), format);
}

std::string of_products_words(const OfProducts& products, std::string_view format) {
  if (products == all_four) return fmt::format("products are rounded to {} before they are added", format);
  if (products == of_cosines)
    return fmt::format("products with cosines are rounded to {} before they are added, and those with sines are not",
                       format);
  if (products == of_sines)
    return fmt::format("products with sines are rounded to {} before they are added, and those with cosines are not",
                       format);
  if (products == none) return {};
  std::vector<std::string_view> some;
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (products[i]) some.push_back(names[i]);
  }
  return fmt::format("of a pair's products {} {} rounded to {} before {} added, and the others are not",
                     fmt::join(some, ", "), some.size() == 1 ? "is" : "are", format,
                     some.size() == 1 ? "it is" : "they are");
}

// Where the table is rounded otherwise than it is near the start: at positions beyond one alone, or up to it.
struct Border {
  OfProducts beyond;
  std::int64_t last = 0;  // position before it
};

std::optional<Border> border_of(Steps& steps, const OfProducts& early) {
  constexpr int drawings = 3;
  std::int64_t same = block;
  for (std::int64_t first = 128; first + block < steps.range().last; first *= 2) {
    // Beyond the power itself, at which a format's positions end.
    const auto there = steps.table(steps.block_at(first + 1), drawings);
    if (!there) return std::nullopt;
    if (*there == early) {
      same = first + block;
      continue;
    }
    std::int64_t other = first + 1;
    while (other - same > 1) {
      const std::int64_t middle = same + (other - same) / 2;
      const auto at = steps.table({middle}, 4 * drawings);
      if (!at) return std::nullopt;
      (*at == early ? same : other) = middle;
    }
    return Border{*there, same};
  }
  return std::nullopt;
}

}  // namespace

RoundedProducts rounded_products(Session& session, const Spec& spec) {
  const RoundedProducts as_said{.are_of_evaluation = true, .words = {}};
  const bool is_of_products = spec.evaluation == Evaluation::dtype;
  if (!is_16_bit(spec.dtype) || !(is_of_products || spec.evaluation == Evaluation::table)) return as_said;
  AskedTurns turns(session, spec);
  if (!turns.is_known()) return as_said;
  Steps steps(turns, spec.dtype);
  if (steps.range().first > 0 || steps.range().last < 4 * block) return as_said;
  const std::vector<std::int64_t> near = steps.block_at(1);
  const std::string_view format = name_of(spec.dtype);
  constexpr int drawings = 2;
  const auto table = steps.table(near, drawings);
  const auto products = table ? steps.products(near, *table) : std::nullopt;
  const RoundedProducts guess{
      .words = fmt::format("{} rounded to {} somewhere{}",
                           is_of<QkNormRope>(spec) ? "normalized heads, the table or the products are" : "values are",
                           format, is_of<QkNormRope>(spec) ? "" : " in the table or the products"),
      .stage = DiagnosedStage::rounding};
  if (!products) return guess;
  std::string words = of_table_words(*table, format);
  const bool is_normed = is_of<QkNormRope>(spec);
  const std::optional<bool> are_heads = turns.are_heads_rounded();
  if (is_normed && !are_heads) return guess;
  const bool is_as_said = *table == all_four && *products == (is_of_products ? all_four : none) &&
                          (!is_normed || *are_heads == is_of_products);
  // What is so of some heads or calls alone is not what the first head of these says.
  if (!turns.are_alike()) return guess;
  const auto border = border_of(steps, *table);
  if (!border && is_as_said) return as_said;
  if (border) {
    words = border->beyond == none
                ? fmt::format("{}, at positions up to {} alone", words, border->last)
                : fmt::format("{}, at positions beyond {} alone", of_table_words(border->beyond, format), border->last);
  }
  if (is_normed && *are_heads)
    words = fmt::format("normalized heads are rounded to {} before the weight multiplies them{}{}", format,
                        words.empty() ? "" : "; ", words);
  const std::string of_products = of_products_words(*products, format);
  if (words.empty() && of_products.empty()) return guess;
  if (of_products.empty()) return {.words = words};
  return {.words = words + (words.empty() ? "" : "; ") + of_products, .stage = DiagnosedStage::rounding};
}

bool told_rounded_steps(Session& session, const Spec& claim, Identification& found) {
  if (!found.spec || !found.faults.empty() || found.spec->evaluation == claim.evaluation) return false;
  const RoundedProducts rounded = rounded_products(session, *found.spec);
  if (rounded.are_of_evaluation) return false;
  // Truncated results look like such an evaluation's: identify.cpp tells them.
  if (rounded_values(session, *found.spec).are_truncated) return false;
  found.seen.push_back(rounded.words);
  Spec otherwise = *found.spec;
  otherwise.evaluation = claim.evaluation;
  // Words in place of fields are of those alone.
  const bool is_alone = to_json(otherwise) == to_json(claim);
  (is_alone ? found.convention : found.faults).emplace_back(rounded.words, rounded.stage);
  return true;
}

}  // namespace sextant::identify
