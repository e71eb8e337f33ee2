#include "properties/identify/rotations/other_axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/rotations/claimed_frequencies.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// What normalized coordinates c become, scale (c + shift), on an axis of so many patches.
struct Move {
  double shift = 0;
  double scale = 1;
};

// The nearest that a spec says, which is off by less than any angle shows but at frequencies of thousands.
double nearest_shift(double shift) { return std::ldexp(std::nearbyint(std::ldexp(shift, 30)), -30); }

class List {
 public:
  List(const Spec& claim, const RopeNd& encoding) : claim_(claim), encoding_(encoding) {}

  std::vector<TriedClaim> made() && {
    add_other_fields();
    if (encoding_.coordinates != Coordinates::index) {
      add_other_coordinates();
      if (!encoding_.coordinate_shifts.empty() || !encoding_.coordinate_scales.empty()) add_other_moves();
    }
    return std::move(list_);
  }

 private:
  template <class Change>
  void with(std::string words, DiagnosedStage stage, const Change& change) {
    RopeNd tried = encoding_;
    change(tried);
    list_.push_back({claim_, std::move(words), stage});
    list_.back().spec.encoding = std::move(tried);
  }

  Move claimed(std::size_t axis) const {
    return {encoding_.coordinate_shifts.empty() ? 0 : encoding_.coordinate_shifts[axis],
            encoding_.coordinate_scales.empty() ? 1 : encoding_.coordinate_scales[axis]};
  }

  // `own` of coordinates that are divided by another extent F than the axis' E:
  // s (2p/F - 1 + t) = s E/F (2p/E - 1 + 1 + (t - 1) F/E).
  Move divided_by(std::int64_t other, std::size_t axis, const Move& own) const {
    const double ratio = static_cast<double>(other) / static_cast<double>(encoding_.extents[axis]);
    return {1 + (own.shift - 1) * ratio, own.scale / ratio};
  }

  // With every axis moved as `moved` says.
  template <class Moved>
  void with_moves(std::string words, const Moved& moved) {
    with(std::move(words), DiagnosedStage::position, [&](RopeNd& tried) {
      tried.coordinate_shifts.clear();
      tried.coordinate_scales.clear();
      for (std::size_t axis = 0; axis < encoding_.extents.size(); ++axis) {
        const Move move = moved(axis);
        tried.coordinate_shifts.push_back(nearest_shift(move.shift));
        tried.coordinate_scales.push_back(move.scale);
      }
    });
  }

  // Those whose words are the fields that differ.
  void add_other_fields() {
    with({}, DiagnosedStage::position, [](RopeNd& e) { std::ranges::reverse(e.axis_order); });
    with({}, DiagnosedStage::position, [&](RopeNd& e) {
      e.axis_order = order_of_axes(encoding_);
      std::ranges::reverse(e.axis_order);
    });
    with({}, DiagnosedStage::position, [](RopeNd& e) { e.axis_order.clear(); });
    for (const SectionOrder order : {SectionOrder::blocked, SectionOrder::interleaved})
      with({}, DiagnosedStage::position, [&](RopeNd& e) { e.section_order = order; });
    for (const RotaryLayout layout : {RotaryLayout::prefix, RotaryLayout::suffix})
      with({}, DiagnosedStage::rotation, [&](RopeNd& e) { e.rope.rotary_layout = layout; });
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved})
      with({}, DiagnosedStage::rotation, [&](RopeNd& e) { e.rope.pairing = e.rope.output_pairing = pairing; });
    for (const Direction direction : {Direction::counterclockwise, Direction::clockwise})
      with({}, DiagnosedStage::rotation, [&](RopeNd& e) { e.rope.direction = direction; });
    for (const std::int64_t parts : {std::int64_t{1}, axes(encoding_)})
      with(parts == 1 ? "partners are those of the whole head, where the claim has them within each axis' part"
                      : "partners are those within each axis' part, where the claim has them in the whole head",
           DiagnosedStage::rotation, [&](RopeNd& e) { e.rope.parts = parts; });
    with({}, DiagnosedStage::frequency, [](RopeNd& e) { e.ladder = LadderShape::falling; });
    if (encoding_.ladder == LadderShape::both_ends) add_open_end();
  }

  // base^(k/m) is (base^((m-1)/m))^(k/(m-1)).
  void add_open_end() {
    const auto [fewest, most] = std::ranges::minmax(encoding_.sections);
    if (fewest != most || fewest < 2) return;
    const auto pairs = static_cast<double>(fewest);
    with("exponents are divided by the number of pairs, not by one less: frequencies end short of the base",
         DiagnosedStage::frequency, [&](RopeNd& e) {
           e.rope.rope_theta = std::pow(e.rope.rope_theta, (pairs - 1) / pairs);
           for (double& base : e.rope_thetas) base = std::pow(base, (pairs - 1) / pairs);
         });
  }

  void add_other_coordinates() {
    const auto extent = [&](std::size_t axis) { return static_cast<double>(encoding_.extents[axis]); };
    for (const Coordinates coordinates : {Coordinates::normalized, Coordinates::normalized_starts})
      with({}, DiagnosedStage::position, [&](RopeNd& e) { e.coordinates = coordinates; });
    with("coordinates are not normalized: each is its number", DiagnosedStage::position, [](RopeNd& e) {
      e.coordinates = Coordinates::index;
      e.extents.clear();
      e.coordinate_shifts.clear();
      e.coordinate_scales.clear();
    });
    for (const std::int64_t number : {first_extent(), last_extent(), longest()}) {
      const std::string words = words_of_extent(number);
      with(words, DiagnosedStage::position, [&](RopeNd& e) { e.extents.assign(e.extents.size(), number); });
      // Of positions beyond that extent.
      with_moves(words, [&](std::size_t axis) { return divided_by(number, axis, claimed(axis)); });
    }
    for (const auto& [words, factor] :
         {std::pair("coordinates have half the unit: parts of half a turn, where the claim has whole ones", 0.5),
          std::pair("coordinates have twice the claimed unit", 2.0),
          std::pair("coordinates have four times the claimed unit", 4.0),
          std::pair("coordinates have a quarter of the claimed unit", 0.25)}) {
      const bool is_of_turns = factor == 0.5 && encoding_.coordinate_scales.empty();
      with_moves(factor == 0.5 && !is_of_turns ? "coordinates have half the claimed unit" : words,
                 [&](std::size_t axis) {
                   const Move own = claimed(axis);
                   return Move{own.shift, factor * own.scale};
                 });
    }
    // (2p + 1 - e)/e with another end or span: e/(e-1) of it is from -1 to 1, half of it, with 1 added, from 0 to 1.
    if (encoding_.coordinates == Coordinates::normalized)
      with_moves("the first and the last patch lie at the ends, -1 and 1", [&](std::size_t axis) {
        const Move own = claimed(axis);
        const double wider = extent(axis) / std::max(extent(axis) - 1, 1.0);
        return Move{own.shift / wider, own.scale * wider};
      });
    with_moves("coordinates lie in [0, 1], not in [-1, 1]", [&](std::size_t axis) {
      return Move{1 + 2 * claimed(axis).shift, claimed(axis).scale / 2};
    });
    with_moves("coordinates begin at 0, not at -1", [&](std::size_t axis) { return Move{1, claimed(axis).scale}; });
    with_moves("the first axis has the unit of the last", [&](std::size_t axis) {
      return axis == 0 ? divided_by(last_extent(), 0, claimed(encoding_.extents.size() - 1)) : claimed(axis);
    });
  }

  void add_other_moves() {
    const std::size_t last = encoding_.extents.size() - 1;
    const auto extent = [&](std::size_t axis) { return static_cast<double>(encoding_.extents[axis]); };
    with_moves("coordinates are not moved", [&](std::size_t axis) { return Move{0, claimed(axis).scale}; });
    with_moves("coordinates are not multiplied", [&](std::size_t axis) { return Move{claimed(axis).shift, 1}; });
    with_moves("coordinates are neither moved nor multiplied", [](std::size_t) { return Move{}; });
    with_moves("coordinates are multiplied before they are moved", [&](std::size_t axis) {
      return Move{claimed(axis).shift / claimed(axis).scale, claimed(axis).scale};
    });
    with_moves("every axis is multiplied by the first one's scale", [&](std::size_t axis) {
      return Move{claimed(axis).shift, claimed(0).scale};
    });
    with_moves("every axis is moved by the first one's shift", [&](std::size_t axis) {
      return Move{claimed(0).shift, claimed(axis).scale};
    });
    with_moves("the last axis is multiplied by its scale twice", [&](std::size_t axis) {
      const Move own = claimed(axis);
      return Move{own.shift, axis == last ? own.scale * own.scale : own.scale};
    });
    with_moves("coordinates are multiplied by their scales twice", [&](std::size_t axis) {
      const Move own = claimed(axis);
      return Move{own.shift, own.scale * own.scale};
    });
    with_moves("coordinates are moved the other way", [&](std::size_t axis) {
      return Move{-claimed(axis).shift, claimed(axis).scale};
    });
    with_moves("coordinates are divided by their scales", [&](std::size_t axis) {
      return Move{claimed(axis).shift, 1 / claimed(axis).scale};
    });
    with_moves("shifts are taken for numbers of patches", [&](std::size_t axis) {
      return Move{2 * claimed(axis).shift / extent(axis), claimed(axis).scale};
    });
    // s (c + 1) - 1 + s t.
    with_moves("coordinates in [0, 1] are multiplied, before they are made to lie in [-1, 1]", [&](std::size_t axis) {
      const Move own = claimed(axis);
      return Move{own.shift + 1 - 1 / own.scale, own.scale};
    });
  }

  // Of an axis that is both the first or last one and the longest, either may be meant.
  std::string words_of_extent(std::int64_t number) const {
    std::vector<std::string_view> whose;
    if (number == first_extent()) whose.emplace_back("the first");
    if (number == last_extent()) whose.emplace_back("the last");
    if (number == longest()) whose.emplace_back("the longest");
    return fmt::format("every axis is divided by {} one's extent", fmt::join(whose, " or "));
  }
  std::int64_t first_extent() const { return encoding_.extents.front(); }
  std::int64_t last_extent() const { return encoding_.extents.back(); }
  std::int64_t longest() const { return std::ranges::max(encoding_.extents); }

  Spec claim_;
  RopeNd encoding_;
  std::vector<TriedClaim> list_;
};

enum class LadderOrder { claimed, reversed };

// What pairs are turned by along the diagonal of a grid, from its first place to its last.
class DiagonalAngles {
 public:
  DiagonalAngles(Session& session, const Spec& claim, const RopeNd& encoding) : encoding_(encoding) {
    constexpr std::int64_t most = 64;
    count_ = std::min(most, std::ranges::max(encoding.extents));
    std::vector<std::int64_t> positions;
    for (std::size_t axis = 0; axis < encoding.extents.size(); ++axis) {
      for (std::int64_t at = 0; at < count_; ++at) positions.push_back(position(axis, at));
    }
    Tensor x = Tensor::zeros(claim.dtype, {1, count_, 1, encoding.rope.head_dim});
    for (std::int64_t at = 0; at < count_; ++at) {
      for (std::int64_t pair = 0; pair < pairs(encoding.rope); ++pair)
        x.set(at * encoding.rope.head_dim + channels_of_pair(encoding.rope, encoding.rope.pairing, pair).first, 1);
    }
    answer_ = rotate(session, claim, x, positions);
    noise_ = 8 * std::ldexp(1, -format_of(claim.dtype).precision);
    for (const Ladder& ladder : ladders_.ladders) frequencies_.push_back(frequencies_of(ladder.rope, 1));
  }

  // Whether angles are 2 pi w coordinate(s (c + t)), but for the roundings of float32.
  template <class Coordinate>
  bool are(const Coordinate& coordinate, LadderOrder order) const {
    const double sense = encoding_.rope.direction == Direction::clockwise ? -1 : 1;
    for (std::int64_t pair = 0; pair < std::ssize(ladders_.places); ++pair) {
      const auto& place = ladders_.places[static_cast<std::size_t>(pair)];
      const auto axis = static_cast<std::size_t>(place.ladder);
      const std::int64_t index =
          order == LadderOrder::claimed ? place.index : encoding_.sections[axis] - 1 - place.index;
      const double w = highest(axis) * frequencies_[axis][static_cast<std::size_t>(index)];
      const Channels to = channels_of_pair(encoding_.rope, encoding_.rope.output_pairing, pair);
      for (std::int64_t at = 0; at < count_; ++at) {
        const double angle = 2 * std::numbers::pi * w * coordinate(claimed_coordinate(axis, at));
        const double off =
            std::hypot(value(at, to.first) - std::cos(angle), value(at, to.second) - sense * std::sin(angle));
        if (!(off <= noise_ + (2 * std::numbers::pi * w + std::fabs(angle)) * 0x1p-21)) return false;
      }
    }
    return true;
  }

 private:
  std::int64_t position(std::size_t axis, std::int64_t at) const { return at * encoding_.extents[axis] / count_; }
  double value(std::int64_t at, std::int64_t channel) const {
    return answer_.at(at * encoding_.rope.head_dim + channel);
  }
  double scale(std::size_t axis) const {
    return encoding_.coordinate_scales.empty() ? 1 : encoding_.coordinate_scales[axis];
  }
  // The base, where frequencies rise to it.
  double highest(std::size_t axis) const { return ladders_.ladders[axis].stretch / scale(axis); }

  double claimed_coordinate(std::size_t axis, std::int64_t at) const {
    const double into_patch = encoding_.coordinates == Coordinates::normalized ? 0.5 : 0;
    const double part =
        (static_cast<double>(position(axis, at)) + into_patch) / static_cast<double>(encoding_.extents[axis]);
    const double shift = encoding_.coordinate_shifts.empty() ? 0 : encoding_.coordinate_shifts[axis];
    return scale(axis) * (2 * part - 1 + shift);
  }

  RopeNd encoding_;
  Ladders ladders_ = ladders_of(encoding_);
  std::vector<std::vector<double>> frequencies_;  // of each ladder
  std::int64_t count_ = 0;
  Tensor answer_;
  double noise_ = 0;
};

}  // namespace

std::optional<Fault> fault_of_angles(Session& session, const Spec& claim, const RopeNd& encoding) {
  const bool is_plain = std::holds_alternative<DefaultScaling>(encoding.rope.rope_scaling);
  if (encoding.coordinates == Coordinates::index || encoding.frequencies != AxisFrequencies::per_axis || !is_plain)
    return std::nullopt;
  const DiagonalAngles seen(session, claim, encoding);
  const auto as_claimed = [](double c) { return c; };
  if (seen.are(as_claimed, LadderOrder::claimed)) return std::nullopt;
  if (seen.are(as_claimed, LadderOrder::reversed))
    return Fault("each axis has its frequencies in reverse order", DiagnosedStage::frequency);
  if (seen.are([](double c) { return std::clamp(c, -1.0, 1.0); }, LadderOrder::claimed))
    return Fault("coordinates beyond -1 and 1 are clipped to them", DiagnosedStage::position);
  return std::nullopt;
}

std::vector<TriedClaim> other_axes(const Spec& claim, const RopeNd& encoding) { return List(claim, encoding).made(); }

}  // namespace sextant::identify
