// Over 400 lines: one search over axes, whose steps share the rows that were asked once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/rotations/claimed_frequencies.hpp"
#include "properties/identify/rotations/identify_axes.hpp"
#include "properties/identify/rotations/other_axes.hpp"
#include "properties/identify/rotations/positions_used.hpp"
#include "properties/identify/rotations/rope_rules.hpp"
#include "properties/identify/rotations/rotation_layout.hpp"
#include "properties/identify/rotations/rounded_products.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// A rotation over several axes as one over the axis that is asked: the others' coordinates are all the same.
class OneAxis final : public Session {
 public:
  OneAxis(Session& session, std::int64_t axis, std::int64_t axes, std::int64_t others = 0)
      : session_(session), axis_(axis), axes_(axes), others_(others) {}

  Description describe() override { return session_.describe(); }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    Tensors asked = inputs;
    const Tensor& positions = inputs.at("positions");
    const std::vector<std::int64_t> along = positions.integers();
    std::vector<std::int64_t> all(along.size() * static_cast<std::size_t>(axes_), others_);
    std::ranges::copy(along, all.begin() + axis_ * std::ssize(along));
    std::vector<std::int64_t> shape{axes_};
    shape.insert(shape.end(), positions.shape.begin(), positions.shape.end());
    asked.insert_or_assign("positions", Tensor::of_integers(shape, all));
    return session_.call(operation, asked);
  }

 private:
  Session& session_;
  std::int64_t axis_;
  std::int64_t axes_;
  std::int64_t others_;
};

// A claim of the frequencies of all axes, and how simple it is.
struct NdFit {
  RopeNd encoding;
  FrequencyFormat format = FrequencyFormat::float32;
  int digits = 0;
  bool is_pinned = true;
};

// The same rotation where each axis has another one's coordinate: that one takes over its pairs and its base.
RopeNd reordered(const RopeNd& claimed, const std::vector<std::int64_t>& order) {
  RopeNd other = claimed;
  other.axis_order = order_of_axes(claimed);
  for (std::int64_t& axis : other.axis_order) axis = order[static_cast<std::size_t>(axis)];
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    const auto taken = static_cast<std::size_t>(order[axis]);
    other.sections[taken] = claimed.sections[axis];
    if (!claimed.rope_thetas.empty()) other.rope_thetas[taken] = claimed.rope_thetas[axis];
  }
  if (std::ranges::is_sorted(other.axis_order)) other.axis_order.clear();
  return other;
}

class RopeNdIdentifier {
 public:
  RopeNdIdentifier(CountedSession& session, const Spec& claim, const RopeNd& encoding)
      : session_(session), claim_(claim), nd_(encoding), rope_claim_(claim) {
    Rope rope = encoding.rope;
    rope.parts = 1;
    rope_claim_.encoding = rope;
    for (std::int64_t axis = 0; axis < axes(encoding); ++axis)
      along_.push_back(std::make_unique<OneAxis>(session, axis, axes(encoding)));
  }

  Identification run() {
    if (nd_.coordinates != Coordinates::index) {
      // Position 0 of each axis is turned, so that no axis can be asked alone.
      if (!take_other_axes() && !take_angles())
        found_.table.emplace_back("normalized coordinates are none of those that are tried");
    } else if (const auto order = exchanged_axes(AskedAnswers(session_, claim_), claim_); !order.empty()) {
      take_order(order);
    } else if (length_limit(nd_.rope.rope_scaling)) {
      found_.table.emplace_back("a rule that looks at a call's length is not told of several axes");
    } else if (find_pairs() && find_layout()) {
      measure();
      name_frequencies();
      if (!found_.spec && found_.faults.empty() && are_dealt_backwards())
        found_.faults.emplace_back("frequencies are dealt out backwards: the last axis has the first of each round",
                                   DiagnosedStage::frequency);
      if (!found_.spec) tell_pairs();
    }
    if (!found_.spec && found_.faults.empty()) compare_axes();
    if (!found_.spec && found_.faults.empty() && nd_.coordinates == Coordinates::index) take_other_axes();
    found_.calls = session_.calls();
    return std::move(found_);
  }

 private:
  const Rope& head() const { return *held<Rope>(rope_claim_); }

  // The first of the claims that this one is mistaken for which every answer meets.
  bool take_other_axes() {
    const auto met = first_met(AskedAnswers(session_, claim_), claim_, other_axes(claim_, nd_));
    if (!met) return false;
    found_.spec = met->claim.spec;
    if (!met->claim.words.empty()) found_.convention.emplace_back(met->claim.words, met->claim.stage);
    found_.of_bound = met->of_bound;
    // Others were not asked about.
    found_.confidence = Confidence::medium;
    return true;
  }

  // With the claim of the other order, where a spec says it.
  void take_order(const std::vector<std::int64_t>& order) {
    const std::string words = "positions of axes change places: " + order_text(order);
    const auto met = first_met(AskedAnswers(session_, claim_), claim_,
                               {{with_encoding(reordered(nd_, order)), words, DiagnosedStage::position}});
    if (!met) {
      found_.faults.emplace_back(words, DiagnosedStage::position);
      return;
    }
    found_.spec = met->claim.spec;
    found_.convention.emplace_back(words, DiagnosedStage::position);
    found_.of_bound = met->of_bound;
    found_.confidence = Confidence::medium;
  }

  Spec with_encoding(RopeNd encoding) const {
    Spec spec = claim_;
    spec.encoding = std::move(encoding);
    return spec;
  }

  bool take_angles() {
    std::optional<Fault> fault = fault_of_angles(session_, claim_, nd_);
    if (!fault) return false;
    found_.faults.push_back(*std::move(fault));
    return true;
  }

  // Which axis turns each pair. A pair that several axes turn, or channels that are mixed otherwise, end it.
  bool find_pairs() {
    std::map<std::int64_t, std::int64_t> times_kept;
    for (std::int64_t axis = 0; axis < axes(nd_); ++axis) {
      const RotationStructure one = structure_of(*along_[static_cast<std::size_t>(axis)], rope_claim_, head());
      if (!one.tangled.empty() || !one.lost.empty()) {
        found_.faults.push_back(vague(fmt::format("axis {}: {} channels are mixed otherwise than in pairs, {} are lost",
                                                  axis, one.tangled.size(), one.lost.size())));
        return false;
      }
      for (const TurnedPair& pair : one.pairs) {
        structure_.pairs.push_back(pair);
        axis_of_pair_.push_back(axis);
      }
      for (const Passthrough& channel : one.kept) {
        if (++times_kept[channel.input] == axes(nd_)) structure_.kept.push_back(channel);
      }
      found_.seen.push_back(fmt::format("axis {} turns {} pairs{}", axis, one.pairs.size(),
                                        one.pairs.empty() ? "" : ": " + pairs_text(one)));
    }
    if (has_shared_pairs()) drop_constant_turns();
    std::map<std::int64_t, std::int64_t> axis_of_channel;
    for (std::size_t i = 0; i < structure_.pairs.size(); ++i) {
      const auto [at, is_new] = axis_of_channel.emplace(structure_.pairs[i].input.first, axis_of_pair_[i]);
      if (is_new) continue;
      if (!is_turned_by_both(structure_.pairs[i], at->second, axis_of_pair_[i])) {
        found_.faults.push_back(
            vague("which axis turns a pair is another one in some calls", DiagnosedStage::position));
        return false;
      }
      found_.faults.push_back(fmt::format("the pair of channel {} is turned by axis {} and by axis {}", at->first,
                                          at->second, axis_of_pair_[i]));
      return false;
    }
    if (structure_.pairs.empty()) found_.table.emplace_back("no axis turns any pair");
    return !structure_.pairs.empty();
  }

  // Whether a pair is turned otherwise at two positions of one axis where the other's is the same, of both axes and
  // wherever the other one stands, in calls of one token and of several: an axis that is asked alone may be taken for
  // another one.
  bool is_turned_by_both(const TurnedPair& pair, std::int64_t one, std::int64_t other) {
    struct Place {
      std::int64_t one;
      std::int64_t other;
    };
    static constexpr Place places[] = {{1, 3}, {2, 3}, {3, 1}, {3, 2}, {3, 3}, {5, 7}, {6, 7}, {7, 5}, {7, 6}, {7, 7}};
    constexpr auto count = static_cast<std::int64_t>(std::size(places));
    const std::int64_t width = head().head_dim;
    const auto answers = [&](std::int64_t from, std::int64_t tokens) {
      Tensor x = Tensor::zeros(claim_.dtype, {1, tokens, 1, width});
      std::vector<std::int64_t> positions(static_cast<std::size_t>(axes(nd_) * tokens), 0);
      for (std::int64_t token = 0; token < tokens; ++token) {
        x.set(token * width + pair.input.first, 1);
        const Place& place = places[from + token];
        positions[static_cast<std::size_t>(one * tokens + token)] = place.one;
        positions[static_cast<std::size_t>(other * tokens + token)] = place.other;
      }
      return rotate(session_, claim_, x, positions);
    };
    const Tensor together = answers(0, count);
    std::vector<double> alone;
    for (std::int64_t i = 0; i < count; ++i) {
      const Tensor y = answers(i, 1);
      for (std::int64_t c = 0; c < width; ++c) alone.push_back(y.at(c));
    }
    const auto differ = [&](const auto& value, std::int64_t a, std::int64_t b) {
      for (std::int64_t c = 0; c < width; ++c) {
        if (value(a * width + c) != value(b * width + c)) return true;
      }
      return false;
    };
    const auto are_all_other = [&](const auto& value) {
      return differ(value, 0, 1) && differ(value, 2, 3) && differ(value, 1, 4) && differ(value, 3, 4) &&
             differ(value, 5, 6) && differ(value, 7, 8) && differ(value, 6, 9) && differ(value, 8, 9);
    };
    return are_all_other([&](std::int64_t at) { return together.at(at); }) &&
           are_all_other([&](std::int64_t at) { return alone[static_cast<std::size_t>(at)]; });
  }

  bool has_shared_pairs() const {
    std::vector<std::int64_t> channels;
    for (const TurnedPair& pair : structure_.pairs) channels.push_back(pair.input.first);
    std::ranges::sort(channels);
    return std::ranges::adjacent_find(channels) != channels.end();
  }

  // A pair that is turned at the origin is turned whichever axis is asked: its own is the one along which that changes.
  void drop_constant_turns() {
    const std::vector<std::int64_t> positions = doubling_positions(claim_.max_position);
    std::vector<TurnedPair> kept;
    std::vector<std::int64_t> axes_of_kept;
    for (std::int64_t axis = 0; axis < axes(nd_); ++axis) {
      std::vector<TurnedPair> own;
      for (std::size_t i = 0; i < structure_.pairs.size(); ++i) {
        if (axis_of_pair_[i] == axis) own.push_back(structure_.pairs[i]);
      }
      if (own.empty()) continue;
      const Rows rows = turned_rows(*along_[static_cast<std::size_t>(axis)], rope_claim_, head(), own, positions).first;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const bool changes = std::ranges::any_of(rows, [&](const auto& row) {
          return row[i].sin != rows.front()[i].sin || row[i].cos != rows.front()[i].cos;
        });
        if (!changes) continue;
        kept.push_back(own[i]);
        axes_of_kept.push_back(axis);
      }
    }
    structure_.pairs = std::move(kept);
    axis_of_pair_ = std::move(axes_of_kept);
  }

  // Which pairs another axis turns than the claim's: "pairs 16 to 39 are turned by axis 0 instead of axis 1".
  void compare_axes() {
    const std::vector<std::int64_t> claimed = axis_of_pairs(nd_);
    struct Run {
      std::int64_t first;
      std::int64_t last;
      std::int64_t claimed;
      std::int64_t found;
    };
    std::vector<Run> runs;
    for (std::int64_t i = 0; i < std::ssize(claimed); ++i) {
      const Channels at = channels_of_pair(nd_.rope, nd_.rope.pairing, i);
      const auto seen = std::ranges::find_if(structure_.pairs, [&](const TurnedPair& pair) {
        return pair.input.first == at.first && pair.input.second == at.second;
      });
      if (seen == structure_.pairs.end()) return;
      const std::int64_t found = axis_of_pair_[static_cast<std::size_t>(seen - structure_.pairs.begin())];
      const std::int64_t own = claimed[static_cast<std::size_t>(i)];
      if (found == own) continue;
      if (!runs.empty() && runs.back().last == i - 1 && runs.back().claimed == own && runs.back().found == found) {
        runs.back().last = i;
      } else {
        runs.push_back({i, i, own, found});
      }
    }
    constexpr std::size_t most_told = 4;
    std::vector<std::string> words;
    for (const Run& run : std::span(runs).first(std::min(runs.size(), most_told)))
      words.push_back(fmt::format("{} turned by axis {} instead of axis {}",
                                  run.first == run.last ? fmt::format("pair {} is", run.first)
                                                        : fmt::format("pairs {} to {} are", run.first, run.last),
                                  run.found, run.claimed));
    if (runs.size() > most_told) words.emplace_back("and so on");
    if (!words.empty()) found_.faults.emplace_back(fmt::format("{}", fmt::join(words, ", ")), DiagnosedStage::position);
  }

  // Where pairs stand, and how the axes share them.
  bool find_layout() {
    for (const std::int64_t parts : parts_tried()) {
      Rope rope = head();
      rope.parts = parts;
      for (RotationLayout& layout : layouts_of(structure_, rope)) {
        std::vector<std::int64_t> shared;
        for (const std::size_t pair : layout.order) shared.push_back(axis_of_pair_[pair]);
        if (const auto sections = sections_of(layout.rope, shared)) {
          layout_ = std::move(layout);
          shape_ = *sections;
          return true;
        }
      }
    }
    found_.table.emplace_back("the axes share the pairs in no known way");
    for (std::size_t i = 0; i < structure_.pairs.size(); ++i)
      found_.table.push_back(fmt::format("channels {:>3} and {:>3}: turned by axis {}", structure_.pairs[i].input.first,
                                         structure_.pairs[i].input.second, axis_of_pair_[i]));
    return false;
  }

  std::vector<std::int64_t> parts_tried() const {
    std::vector<std::int64_t> list{nd_.rope.parts};
    for (const std::int64_t parts : {std::int64_t{1}, axes(nd_)}) {
      if (parts != nd_.rope.parts) list.push_back(parts);
    }
    return list;
  }

  std::optional<RopeNd> sections_of(const Rope& rope, const std::vector<std::int64_t>& shared) const {
    RopeNd tried = nd_;
    tried.rope = rope;
    tried.sections.assign(nd_.sections.size(), 0);
    for (const std::int64_t axis : shared) ++tried.sections[static_cast<std::size_t>(axis)];
    std::vector<SectionOrder> orders{SectionOrder::blocked, SectionOrder::interleaved};
    if (nd_.section_order == SectionOrder::interleaved) std::ranges::reverse(orders);
    std::vector<std::int64_t> order = order_of_axes(nd_);
    std::vector<std::vector<std::int64_t>> permutations{order};
    std::ranges::sort(order);
    do permutations.push_back(order);
    while (std::ranges::next_permutation(order).found);
    for (const SectionOrder section_order : orders) {
      tried.section_order = section_order;
      for (std::size_t i = 0; i < permutations.size(); ++i) {
        tried.axis_order = i == 0 ? nd_.axis_order : permutations[i];
        if (i > 0 && std::ranges::is_sorted(tried.axis_order)) tried.axis_order.clear();
        try {
          if (axis_of_pairs(tried) == shared) return tried;
        } catch (const std::out_of_range&) {
          // Sections that this order cannot deal.
        }
      }
    }
    return std::nullopt;
  }

  void measure() {
    const std::vector<std::int64_t> positions = doubling_positions(claim_.max_position);
    turns_.resize(layout_.order.size());
    for (std::int64_t axis = 0; axis < axes(nd_); ++axis) {
      const std::vector<std::size_t> own = pairs_of(axis);
      if (own.empty()) continue;
      const TurnedRows rows =
          turned_rows(*along_[static_cast<std::size_t>(axis)], rope_claim_, head(), channels_of(own), positions);
      norm_ = norm_of(rows.first, claim_.dtype);
      const std::vector<MeasuredTurn> turns = measured_turns(positions, rows.first, norm_);
      if (is_turned(rows.first.front(), norm_)) {
        starts_turned_.push_back(axis);
        found_.faults.emplace_back(words_of_origin(axis, rows.first.front(), turns), DiagnosedStage::position);
      }
      for (std::size_t i = 0; i < own.size(); ++i) turns_[own[i]] = turns[i];
    }
    const auto backward = std::ranges::count_if(turns_, [](const MeasuredTurn& turn) { return turn.radians < 0; });
    shape_.rope.direction = 2 * backward > std::ssize(turns_) ? Direction::clockwise : Direction::counterclockwise;
    if (backward != 0 && backward != std::ssize(turns_)) tell_other_ways(backward);
    double worst = 0;
    for (MeasuredTurn& turn : turns_) {
      turn.radians = std::fabs(turn.radians);
      worst = std::max(worst, turn.uncertainty / turn.radians);
    }
    found_.seen.push_back(fmt::format("frequencies each known to within {:.1e} of their value", worst));
  }

  // More than half a turn a position looks like less the other way; powers of a base are at most a radian.
  void tell_other_ways(std::ptrdiff_t backward) {
    const bool are_slow =
        std::ranges::all_of(turns_, [](const MeasuredTurn& turn) { return std::fabs(turn.radians) < 1.5; });
    found_.faults.push_back(fmt::format("{} of {} pairs turn the other way{}",
                                        std::min(backward, std::ssize(turns_) - backward), turns_.size(),
                                        are_slow ? "" : ", or by more than half a turn a position"));
  }

  // What explains that position 0 of an axis is turned: all its pairs by one offset of the positions.
  std::string words_of_origin(std::int64_t axis, const std::vector<PairValues>& row,
                              const std::vector<MeasuredTurn>& turns) const {
    for (const int offset : {1, -1}) {
      bool is_it = true;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const double angle = offset * turns[i].radians;
        const double apart = std::remainder(std::atan2(row[i].sin, row[i].cos) - angle, 2 * std::numbers::pi);
        is_it = is_it && std::fabs(apart) <= 2 * norm_.noise + turns[i].uncertainty;
      }
      if (is_it)
        return fmt::format("one position off along axis {}: position p is turned as p {} 1", axis,
                           offset > 0 ? '+' : '-');
    }
    return fmt::format("position 0 of axis {} is turned", axis);
  }

  // Of the layout's pairs.
  std::vector<std::size_t> pairs_of(std::int64_t axis) const {
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < layout_.order.size(); ++i) {
      if (axis_of_pair_[layout_.order[i]] == axis) own.push_back(i);
    }
    return own;
  }

  std::vector<TurnedPair> channels_of(const std::vector<std::size_t>& pairs) const {
    std::vector<TurnedPair> channels;
    for (const std::size_t i : pairs) channels.push_back(structure_.pairs[layout_.order[i]]);
    return channels;
  }

  // Of one ladder: its frequencies from the first on.
  std::vector<RuleFit> fits_of(Rope ladder, std::vector<MeasuredTurn> turns) const {
    ladder.parts = 1;
    return fitting_rules(ladder, {.lists = {{claim_.max_position, std::move(turns), norm_.range}},
                                  .switching_length = std::nullopt,
                                  .claimed = nd_.rope.rope_scaling});
  }

  void take_ladder(std::vector<NdFit>& list, AxisFrequencies way, const std::vector<MeasuredTurn>& turns) const {
    for (const RuleFit& fit : fits_of(shape_.rope, turns)) {
      NdFit made{shape_, fit.format, fit.digits, fit.is_pinned};
      made.encoding.frequencies = way;
      made.encoding.rope_thetas.clear();
      made.encoding.rope.rope_theta = fit.rope.rope_theta;
      made.encoding.rope.rope_scaling = fit.rope.rope_scaling;
      list.push_back(made);
    }
  }

  // Of ladders of their own the simplest of each axis, where they have one rule.
  void take_ladders(std::vector<NdFit>& list) const {
    NdFit made{shape_};
    made.encoding.frequencies = AxisFrequencies::per_axis;
    made.encoding.rope_thetas.clear();
    std::optional<std::string_view> rule;
    for (std::int64_t axis = 0; axis < axes(nd_); ++axis) {
      std::vector<MeasuredTurn> turns;
      for (const std::size_t i : pairs_of(axis)) turns.push_back(turns_[i]);
      Rope ladder = shape_.rope;
      ladder.head_dim = ladder.rotary_dim = 2 * std::ssize(turns);
      ladder.rotary_layout = RotaryLayout::prefix;
      if (turns.empty()) return;
      const std::vector<RuleFit> fits = fits_of(ladder, turns);
      if (fits.empty() || (rule && *rule != name_of(fits.front().rope.rope_scaling))) return;
      const RuleFit& best = fits.front();
      rule = name_of(best.rope.rope_scaling);
      made.encoding.rope.rope_scaling = best.rope.rope_scaling;
      // Exponents divided by the head's pairs make a base that no few digits are.
      Rope of_head = ladder;
      of_head.rope_theta =
          std::pow(nd_.rope.rope_theta, static_cast<double>(turns.size()) / static_cast<double>(pairs(nd_.rope)));
      const bool divides_by_head = std::holds_alternative<DefaultScaling>(best.rope.rope_scaling) &&
                                   have_frequencies(turns, frequencies_of(of_head, claim_.max_position));
      made.encoding.rope_thetas.push_back(divides_by_head ? of_head.rope_theta : best.rope.rope_theta);
      made.format = std::max(made.format, best.format);
      // A base that is the last axis' has been counted.
      const bool is_known = axis > 0 && made.encoding.rope_thetas.back() == made.encoding.rope_thetas.front();
      made.digits += is_known ? 0 : best.digits;
      made.is_pinned = made.is_pinned && best.is_pinned;
    }
    made.encoding.rope.rope_theta = made.encoding.rope_thetas.front();
    if (std::ranges::adjacent_find(made.encoding.rope_thetas, std::ranges::not_equal_to()) ==
        made.encoding.rope_thetas.end())
      made.encoding.rope_thetas.clear();
    // Beside a base of each axis the head's own says nothing.
    if (!made.encoding.rope_thetas.empty()) made.encoding.rope.rope_theta = nd_.rope.rope_theta;
    list.push_back(made);
  }

  // The turns in the order of the one ladder that they are dealt from; nothing where that has gaps.
  std::optional<std::vector<MeasuredTurn>> dealt() const {
    RopeNd tried = shape_;
    tried.frequencies = AxisFrequencies::dealt;
    std::vector<std::optional<MeasuredTurn>> sorted(turns_.size());
    const Ladders ladders = ladders_of(tried);
    for (std::size_t i = 0; i < ladders.places.size(); ++i) {
      const std::int64_t index = ladders.places[i].index;
      if (index >= std::ssize(sorted)) return std::nullopt;
      sorted[static_cast<std::size_t>(index)] = turns_[i];
    }
    std::vector<MeasuredTurn> all;
    for (const auto& turn : sorted) {
      if (!turn) return std::nullopt;
      all.push_back(*turn);
    }
    return all;
  }

  // The claim's frequencies, of which each round is dealt from the last axis on.
  bool are_dealt_backwards() const {
    const auto [fewest, most] = std::ranges::minmax(nd_.sections);
    if (nd_.frequencies != AxisFrequencies::dealt || fewest != most || shape_.sections != nd_.sections) return false;
    Rope ladder = nd_.rope;
    ladder.parts = 1;
    const std::vector<double> all = frequencies_of(ladder, claim_.max_position);
    std::vector<double> backwards;
    const std::int64_t count = axes(nd_);
    for (const auto& place : ladders_of(nd_).places) {
      const std::int64_t index = place.index / count * count + count - 1 - place.index % count;
      if (index >= std::ssize(all)) return false;
      backwards.push_back(all[static_cast<std::size_t>(index)]);
    }
    return have_frequencies(turns_, backwards);
  }

  void name_frequencies() {
    std::vector<NdFit> fits;
    take_ladder(fits, AxisFrequencies::shared, turns_);
    take_ladders(fits);
    if (const auto turns = dealt()) take_ladder(fits, AxisFrequencies::dealt, *turns);
    std::erase_if(fits, [&](const NdFit& fit) { return !is_valid(fit.encoding); });
    std::ranges::stable_sort(fits, {}, [&](const NdFit& fit) {
      return std::pair(fit.digits, fit.encoding.frequencies == nd_.frequencies ? 0 : 1);
    });
    if (fits.empty()) return;
    const NdFit& best = fits.front();
    found_.spec = claim_;
    found_.spec->encoding = best.encoding;
    if (const auto words = words_of(best.format); !words.empty())
      found_.arithmetic.emplace_back(std::string(words), DiagnosedStage::frequency);
    int rival = INT_MAX;
    for (const NdFit& fit : std::span(fits).subspan(1)) {
      if (fit.format != best.format) continue;
      rival = std::min(rival, fit.digits);
      Spec other = claim_;
      other.encoding = fit.encoding;
      if (found_.equal.size() < 3 && fit.digits <= best.digits + 3) found_.equal.push_back(describe(other));
    }
    const bool known_positions = check_positions();
    const FittedAnswers fitted = fitted_answers(session_, *found_.spec);
    found_.spec = fitted.spec;
    found_.of_bound = fitted.of_bound;
    const bool departs = fitted.hold && told_rounded_steps(session_, claim_, found_);
    found_.confidence = !known_positions || !fitted.hold || !found_.faults.empty() ? Confidence::low
                        : best.is_pinned && rival > best.digits && !departs        ? Confidence::high
                                                                                   : Confidence::medium;
  }

  bool is_valid(const RopeNd& encoding) const {
    Spec spec = claim_;
    spec.encoding = encoding;
    try {
      validate(spec);
      return true;
    } catch (const SpecError&) {
      return false;
    }
  }

  bool check_positions() {
    for (std::int64_t axis = 0; axis < axes(nd_); ++axis) {
      const std::vector<std::size_t> own = pairs_of(axis);
      if (own.empty() || std::ranges::find(starts_turned_, axis) != starts_turned_.end()) continue;
      ExpectedPairs expected{{}, norm_.noise};
      for (const std::size_t i : own) {
        expected.turns.push_back(turns_[i]);
        if (shape_.rope.direction == Direction::clockwise) expected.turns.back().radians *= -1;
      }
      const auto used_along = [&](Session& along) {
        return positions_used({.ask =
                                   [&](const std::vector<std::int64_t>& positions, const AskedShape& asked) {
                                     return turned_vectors(along, rope_claim_, head(), channels_of(own), positions,
                                                           asked);
                                   },
                               .shape = {2, 3},
                               .first = claim_.min_position,
                               .end = claim_.max_position},
                              expected);
      };
      const PositionsUsed used = used_along(*along_[static_cast<std::size_t>(axis)]);
      if (!used.as_given && !used.words.empty()) {
        // What is so where the other axes stand at 0 may be their position elsewhere.
        constexpr std::int64_t elsewhere = 5;
        OneAxis others(session_, axis, axes(nd_), std::min(elsewhere, claim_.max_position - 1));
        if (used_along(others).words != used.words) return false;
      }
      if (!used.words.empty())
        (used.as_given ? found_.arithmetic : found_.faults).push_back(fmt::format("{} (axis {})", used.words, axis));
      if (!used.as_given) return !used.words.empty();
    }
    return true;
  }

  void tell_pairs() {
    found_.table.emplace_back("the frequencies of the axes are those of no known rule");
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const TurnedPair& pair = structure_.pairs[layout_.order[i]];
      found_.table.push_back(fmt::format("channels {:>3} and {:>3}: axis {}, {:.9g} +- {:.1e} radians a position",
                                         pair.input.first, pair.input.second, axis_of_pair_[layout_.order[i]],
                                         turns_[i].radians, turns_[i].uncertainty));
    }
  }

  CountedSession& session_;
  Spec claim_;
  RopeNd nd_;
  Spec rope_claim_;  // of the head, as one axis alone is asked
  std::vector<std::unique_ptr<Session>> along_;
  RotationStructure structure_;             // of all axes together
  std::vector<std::int64_t> axis_of_pair_;  // of the structure's
  RotationLayout layout_;
  RopeNd shape_;  // with the sections as seen
  Norm norm_;
  std::vector<MeasuredTurn> turns_;          // in the layout's order, positive
  std::vector<std::int64_t> starts_turned_;  // axes whose position 0 is turned
  Identification found_;
};

}  // namespace

Identification identify_rope_nd(CountedSession& session, const Spec& claim, const RopeNd& encoding) {
  return RopeNdIdentifier(session, claim, encoding).run();
}

}  // namespace sextant::identify
