#include "reference/rope_nd.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "properties/model/budget.hpp"
#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/scaled_rotations.hpp"
#include "properties/model/scaled_turns.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;

// As scaled_turns.hpp asks. Each axis has a fast tier of its own, since coordinates repeat on some and not on others.
class AxialTurns {
 public:
  explicit AxialTurns(const RopeNd& encoding) : oracle_(encoding) { find_rotations(); }

  const Rope& head() const { return oracle_.encoding().rope; }
  const std::vector<double>& frequencies() const { return frequencies_; }
  std::int64_t axis_count() const { return std::ssize(axes_); }

  // Where the frequencies depend on the length, those of the last are kept.
  void set_length(std::int64_t length) {
    if (!length_limit(head().rope_scaling) || length_ == length) return;
    length_ = length;
    find_rotations();
  }

  std::int64_t coordinate(CoordinatesAt place, std::int64_t pair) const {
    return place[static_cast<std::size_t>(oracle_.axis_of(pair))];
  }
  double count(CoordinatesAt place, std::int64_t pair) const {
    const std::int64_t axis = oracle_.axis_of(pair);
    return static_cast<double>(counted(oracle_.encoding(), axis, place[static_cast<std::size_t>(axis)]));
  }

  // A row that is not the one of the last call must be new.
  void turn_to(CoordinatesAt place, reference::RotationRow& row) {
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      Axis& axis = axes_[a];
      const std::int64_t count = counted(oracle_.encoding(), static_cast<std::int64_t>(a), place[a]);
      if (axis.count == count) continue;
      axis.count = count;
      axis.rotations.at(count, axis.row);
      for (std::size_t i = 0; i < axis.pairs.size(); ++i) {
        const std::size_t pair = axis.pairs[i];
        row.sin_high[pair] = axis.row.sin_high[i];
        row.sin_low[pair] = axis.row.sin_low[i];
        row.cos_high[pair] = axis.row.cos_high[i];
        row.cos_low[pair] = axis.row.cos_low[i];
      }
    }
  }

  reference::RotationRow make_row() {
    for (Axis& axis : axes_) axis.count.reset();
    const std::vector<double> zeros(frequencies_.size());
    return {zeros, zeros, zeros, zeros};
  }

  const reference::Rotation& rotation(CoordinatesAt place, std::int64_t pair, std::int64_t length,
                                      Precision precision) {
    return oracle_.rotation(place, pair, length, precision);
  }
  Enclosure angle(CoordinatesAt place, std::int64_t pair, std::int64_t length, Precision precision) {
    return oracle_.angle(place, pair, length, precision);
  }
  const Enclosure& attention_factor(std::int64_t length, Precision precision) {
    return oracle_.attention_factor(length, precision);
  }
  ErrorBudget budget(const ArithmeticClaim& claim, std::int64_t longest) const { return {claim, oracle_, longest}; }

 private:
  // The pairs that one axis turns.
  struct Axis {
    std::vector<std::size_t> pairs;
    reference::FastRotations rotations;
    reference::RotationRow row;         // of those pairs alone
    std::optional<std::int64_t> count;  // where row stands
  };

  void find_rotations() {
    frequencies_.clear();
    axes_.clear();
    std::vector<std::vector<std::size_t>> of_axes(oracle_.encoding().sections.size());
    for (std::int64_t pair = 0; pair < pairs(head()); ++pair) {
      of_axes[static_cast<std::size_t>(oracle_.axis_of(pair))].push_back(static_cast<std::size_t>(pair));
      frequencies_.push_back(oracle_.radians(pair, length_, reference::first_precision).upper());
    }
    for (std::vector<std::size_t>& own : of_axes) {
      auto rotations = reference::FastRotations::of(
          [&](std::int64_t i, Precision precision) {
            return oracle_.radians(static_cast<std::int64_t>(own[static_cast<std::size_t>(i)]), length_, precision);
          },
          std::ssize(own));
      auto row = rotations.make_row();
      axes_.push_back({std::move(own), std::move(rotations), std::move(row), std::nullopt});
    }
  }

  reference::RopeNdReference oracle_;
  std::int64_t length_ = 0;
  std::vector<double> frequencies_;
  std::vector<Axis> axes_;
};

class AxialJudge final : public ScaledJudge<AxialTurns> {
 public:
  AxialJudge(const Spec& spec, const RopeNd& encoding) : ScaledJudge(spec, AxialTurns(encoding)) {}

 private:
  void each_token(const Call& call, const std::function<void(std::size_t, const PairsAt&)>& visit) override {
    take_length(reference::sequence_length(call.positions));
    const auto tokens = static_cast<std::int64_t>(call.positions.size()) / turns().axis_count();
    reference::RotationRow row = turns().make_row();
    PairsAt at{.rotations = &row, .scales = factors(), .angles = turns().frequencies()};
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::vector<std::int64_t> place = place_at(call.positions, tokens, token);
      turns().turn_to(place, row);
      for (std::size_t pair = 0; pair < at.angles.size(); ++pair)
        at.angles[pair] = turns().frequencies()[pair] * turns().count(place, static_cast<std::int64_t>(pair));
      visit(static_cast<std::size_t>(token), at);
    }
  }
};

class AxialModel final : public ScaledRotationModel {
 public:
  AxialModel(const Spec& spec, const RopeNd& encoding)
      : ScaledRotationModel(spec, encoding.rope, ladders_of(encoding)), encoding_(encoding) {}

  std::vector<Question> first_questions() const override {
    std::vector<Question> questions = EncodingModel::first_questions();
    for (const Question& question : ScaledRotationModel::first_questions()) questions.push_back(question);
    return questions;
  }

  std::vector<Variant> variants() const override {
    Variants<RopeNd> list(spec());
    add_rope_variants<RopeNd>(list, [](RopeNd& e) -> Rope& { return e.rope; });
    // One pair goes from the longest section to the last axis, or to a new one.
    list.with("sections", [](RopeNd& e) {
      const auto longest = std::ranges::max_element(e.sections);
      if (longest + 1 == e.sections.end()) e.sections.push_back(0);
      --*std::ranges::max_element(e.sections);
      ++e.sections.back();
    });
    list.with("section_order", [](RopeNd& e) {
      e.section_order = e.section_order == SectionOrder::blocked ? SectionOrder::interleaved : SectionOrder::blocked;
    });
    list.with("axis_order", [](RopeNd& e) {
      e.axis_order = order_of_axes(e);
      std::rotate(e.axis_order.begin(), e.axis_order.begin() + 1, e.axis_order.end());
    });
    list.with("pairing_scope", [](RopeNd& e) { e.rope.parts = e.rope.parts == 1 ? axes(e) : 1; });
    list.with("extents", [](RopeNd& e) {
      for (std::int64_t& extent : e.extents) extent += 3;
    });
    list.with("coordinate_shifts", [](RopeNd& e) {
      if (e.coordinates == Coordinates::index) return;
      e.coordinate_shifts.empty() ? e.coordinate_shifts.assign(e.extents.size(), 0.375) : e.coordinate_shifts.clear();
    });
    list.with("coordinate_scales", [](RopeNd& e) {
      if (e.coordinates == Coordinates::index) return;
      e.coordinate_scales.empty() ? e.coordinate_scales.assign(e.extents.size(), 1.3) : e.coordinate_scales.clear();
    });
    list.with("coordinates", [](RopeNd& e) {
      if (e.coordinates == Coordinates::index) return;
      e.coordinate_shifts.clear();
      e.coordinate_scales.clear();
      e.coordinates = Coordinates::index;
      e.extents.clear();
      e.ladder = LadderShape::falling;
    });
    list.with("coordinates", [](RopeNd& e) {
      if (e.coordinates == Coordinates::index) return;
      const bool of_starts = e.coordinates == Coordinates::normalized_starts;
      e.coordinates = of_starts ? Coordinates::normalized : Coordinates::normalized_starts;
    });
    list.with("ladder", [](RopeNd& e) {
      e.ladder = e.ladder == LadderShape::falling ? LadderShape::both_ends : LadderShape::falling;
    });
    list.with("frequencies", [](RopeNd& e) {
      e.frequencies = e.frequencies == AxisFrequencies::shared ? AxisFrequencies::per_axis : AxisFrequencies::shared;
      e.ladder = LadderShape::falling;
      e.rope_thetas.clear();
    });
    list.with("rope_thetas", [](RopeNd& e) {
      if (e.rope_thetas.empty()) e.rope_thetas.assign(e.sections.size(), e.rope.rope_theta);
      e.rope_thetas.back() = e.rope_thetas.back() * 3 + 7;
    });
    return list.made();
  }

  // Those that differ in one axis alone, or in all but their sum, too: what is kept under less than the whole list, or
  // under a few digits, is kept for both.
  std::vector<Variant> siblings() const override {
    Variants<RopeNd> list(spec(), variants());
    const auto with_list = [&](const char* field, std::vector<double> RopeNd::*member, double neutral) {
      constexpr double step = 0.125;
      constexpr double little = 0x1p-8;  // which two decimals do not tell
      const auto changed = [&](const std::vector<double>& by) {
        list.with(field, [&](RopeNd& e) {
          if (e.coordinates == Coordinates::index) return;
          if ((e.*member).empty()) (e.*member).assign(e.extents.size(), neutral);
          for (std::size_t axis = 0; axis < std::min(by.size(), (e.*member).size()); ++axis)
            (e.*member)[axis] += by[axis];
        });
      };
      const std::size_t count = encoding_.extents.size();
      for (std::size_t axis = 0; axis < count; ++axis) {
        std::vector<double> by(count, 0);
        by[axis] = step;
        changed(by);
        by[axis] = little;
        changed(by);
      }
      if (count < 2) return;
      std::vector<double> by(count, 0);
      by.front() = step;
      by.back() = -step;
      changed(by);
    };
    with_list("coordinate_shifts", &RopeNd::coordinate_shifts, 0);
    with_list("coordinate_scales", &RopeNd::coordinate_scales, 1);
    for (std::size_t axis = 0; axis < encoding_.extents.size(); ++axis)
      list.with("extents", [&](RopeNd& e) { e.extents[axis] += 3; });
    for (std::size_t axis = 0; axis < encoding_.rope_thetas.size(); ++axis)
      list.with("rope_thetas", [&](RopeNd& e) { e.rope_thetas[axis] *= 1.5; });
    return list.made();
  }

  std::unique_ptr<TurningOracle> turning() const override {
    return std::make_unique<ScaledTurning<AxialTurns>>(spec(), AxialTurns(encoding_));
  }

 private:
  std::unique_ptr<RotationJudge> rotation_judge() const override {
    return std::make_unique<AxialJudge>(spec(), encoding_);
  }
  std::vector<std::int64_t> image() const override { return encoding_.extents; }

  RopeNd encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const RopeNd& encoding) {
  return std::make_unique<AxialModel>(spec, encoding);
}

}  // namespace sextant
