#include "reference/sinusoidal_nd.hpp"

#include <algorithm>
#include <cmath>

#include "lib/numeric/index.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/cell_questions.hpp"
#include "properties/model/codes.hpp"
#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/value_judge.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

class PlacesJudge final : public CodeJudge {
 public:
  PlacesJudge(const Spec& spec, const SinusoidalNd& encoding)
      : oracle_(encoding), judge_(ErrorBudget(arithmetic_of(spec), oracle_, 0), ExactZero::positive) {
    for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
      reference::FastRotations fast = oracle_.fast(axis);
      reference::RotationRow row = fast.make_row();
      axes_.push_back({std::move(fast), std::move(row), ErrorBudget(arithmetic_of(spec), oracle_, axis), {}});
      for (std::int64_t pair = 0; pair < pairs(encoding, axis); ++pair)
        axes_.back().radians.push_back(oracle_.radians(axis, pair, reference::first_precision).upper());
    }
  }

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const std::int64_t tokens = answer.shape[0];
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::vector<std::int64_t> place = place_at(call.positions, tokens, token);
      const std::int64_t start = token * encoding().dim;
      for (std::int64_t axis = 0; axis < std::ssize(axes_); ++axis) judge_axis(judgement, place, axis, answer, start);
      judgement.coordinate = std::ranges::max(place);
      for (std::int64_t channel = filled_channels(encoding()); channel < encoding().dim; ++channel) {
        const double value = answer.at(start + channel);
        judgement.add_exact(value == 0 ? std::nullopt
                                       : std::optional(fmt::format("{}: got {}, expected 0, which lies beyond the axes",
                                                                   text_of(place, channel), value)),
                            [] { return "every channel beyond the axes' is 0"; });
      }
    }
    return judgement;
  }

 private:
  struct Axis {
    reference::FastRotations fast;
    reference::RotationRow row;
    ErrorBudget budget;
    std::vector<double> radians;
  };

  const SinusoidalNd& encoding() const { return oracle_.encoding(); }

  static std::string text_of(const std::vector<std::int64_t>& place, std::int64_t channel) {
    return fmt::format("position ({}), channel {}", fmt::join(place, ", "), channel);
  }

  void judge_axis(Judgement& judgement, const std::vector<std::int64_t>& place, std::int64_t number,
                  const Tensor& answer, std::int64_t start) {
    Axis& axis = axes_[index(number)];
    const std::int64_t position = place[index(number)];
    const std::int64_t count = position + encoding().position_offset;
    judgement.coordinate = position;
    axis.fast.at(count, axis.row);
    for (std::int64_t pair = 0; pair < pairs(encoding(), number); ++pair) {
      const std::size_t i = index(pair);
      const Channels channels = channels_of_pair(encoding(), number, pair);
      const double angle = axis.radians[i] * static_cast<double>(count);
      for (const bool is_sine : {true, false}) {
        const std::int64_t channel = is_sine ? channels.first : channels.second;
        if (channel >= encoding().dim) continue;
        // Of an angle of 0 the right value is known, and says no more than those before it.
        const double given = answer.at(start + channel);
        if (count == 0 && !judgement.finding.empty() && given == (is_sine ? 0 : 1) && !std::signbit(given)) continue;
        const DoubleDoubleWithin truth = is_sine ? axis.row.sin(i) : axis.row.cos(i);
        const DoubleDoubleWithin derivative = is_sine ? axis.row.cos(i) : axis.row.sin(i);
        const auto exact = [&](Precision precision) -> Target {
          const reference::Rotation& rotation = oracle_.rotation(position, number, pair, precision);
          const Enclosure one(1.0, precision);
          const Enclosure& value = is_sine ? rotation.sin : rotation.cos;
          return {value,
                  axis.budget.element_bound(value, is_sine ? rotation.cos : rotation.sin, one, rotation.angle, pair)};
        };
        judge_.judge(judgement, answer.at(start + channel),
                     {truth, axis.budget.element_bound(magnitude(truth), derivative.high, 1, angle, pair),
                      axis.budget.conditioned_ulp(truth.high, angle, derivative.high)},
                     exact, [&] { return text_of(place, channel); });
      }
    }
  }

  void judge_rows(Judgement& judgement, const TwoRows& rows) override {
    for (std::int64_t number = 0; number < std::ssize(axes_); ++number) {
      const Axis& axis = axes_[index(number)];
      const std::int64_t position = rows.place[index(number)];
      const auto count = static_cast<double>(position + encoding().position_offset);
      for (std::int64_t pair = 0; pair < pairs(encoding(), number); ++pair) {
        const Channels channels = channels_of_pair(encoding(), number, pair);
        const double least = axis.budget.least_pair_bound(1, axis.radians[index(pair)] * count, pair);
        const auto bound_at = [&](Precision precision) {
          return axis.budget.pair_bound(Enclosure(1.0, precision), oracle_.angle(position, number, pair, precision),
                                        pair);
        };
        for (const std::int64_t channel : {channels.first, channels.second}) {
          if (channel >= encoding().dim || certainly_agrees(judgement, rows, channel, least)) continue;
          judge_channel(
              judgement, rows, channel,
              [&](Precision precision) { return Enclosure(2.0, precision) * bound_at(precision); },
              [](Precision precision) { return Enclosure(1.0, precision); });
        }
      }
    }
    for (std::int64_t channel = filled_channels(encoding()); channel < encoding().dim; ++channel)
      judge_same_value(judgement, rows, channel);
  }

  reference::SinusoidalNdReference oracle_;
  ValueJudge judge_;
  std::vector<Axis> axes_;
};

class PlacesModel final : public CodeModel {
 public:
  PlacesModel(const Spec& spec, const SinusoidalNd& encoding) : CodeModel(spec, encoding.dim), encoding_(encoding) {}

  gen::PositionRange range() const override {
    return {spec().min_position, std::min(spec().max_position, std::ranges::min(encoding_.extents))};
  }

  // A question's coordinates wrap round at the end of each axis, so it may begin anywhere on the longest.
  std::vector<FieldOf<Question>> question_fields() const override {
    std::vector<FieldOf<Question>> fields = sextant::question_fields(spec());
    for (FieldOf<Question>& field : fields) {
      if (field.role == FieldRole::position) field.range.most = longest_side().last - 1;
    }
    fields.push_back(order_field());
    return fields;
  }

  std::vector<Question> first_questions() const override {
    std::vector<Question> questions = CodeModel::first_questions();
    for (const auto& list :
         {questions_of_cells(space(), spec().min_position), questions_of_placements(space(), spec().min_position)}) {
      for (const Question& question : list) {
        if (admits(question)) questions.push_back(question);
      }
    }
    for (const std::int64_t tokens : {12, 35, 65, 96, 240, 1024}) {
      const Question question{.position = spec().min_position, .tokens = tokens, .fill = masked_grid};
      if (admits(question)) questions.push_back(question);
    }
    return questions;
  }

  rc::Gen<Question> drawn_questions() const override { return with_drawn_cells(CodeModel::drawn_questions(), space()); }

  std::vector<Question> questions_of_same_ends() const override { return sextant::questions_of_same_ends(space()); }

  // Every cell; of a grid of too many values every coordinate of each axis.
  SweepOf<Question> sweep(std::int64_t most_values) const override {
    if (cells_of(space()) <= most_values / judged_values()) return sweep_of_cells(space());
    SweepOf<Question> sweep = sweep_over(longest_side(), judged_values(), most_values);
    sweep.of = "coordinates of each axis";
    return sweep;
  }

  std::vector<Variant> variants() const override {
    Variants<SinusoidalNd> list(spec());
    const auto scale_all = [](SinusoidalNd& e, double factor) {
      e.scales.resize(e.extents.size(), 1);
      for (double& scale : e.scales) scale *= factor;
    };
    list.with("dim", [](SinusoidalNd& e) { e.dim += 2; });
    // Positions on the grid alone change nothing, but where they are divided by the last.
    if (encoding_.coordinates == Coordinates::normalized)
      list.with("extents", [](SinusoidalNd& e) {
        for (std::int64_t& extent : e.extents) extent += 3;
      });
    list.with("channels", [](SinusoidalNd& e) {
      if (e.channels.size() > 1) e.channels.front() -= 2;
      e.channels.back() += 2;
    });
    list.with("axis_order", [](SinusoidalNd& e) {
      e.axis_order = order_of_axes(e);
      std::ranges::reverse(e.axis_order);
      if (std::ranges::is_sorted(e.axis_order)) e.axis_order.clear();
    });
    list.with("base", [](SinusoidalNd& e) { e.base = e.base * 3 + 7; });
    list.with("layout", [](SinusoidalNd& e) { e.layout = other(e.layout); });
    list.with("first", [](SinusoidalNd& e) { e.first = e.first == First::sin ? First::cos : First::sin; });
    list.with("denominator", [](SinusoidalNd& e) {
      e.denominator = e.denominator == Denominator::dim ? Denominator::half_minus_one : Denominator::dim;
    });
    list.with("channel_order", [](SinusoidalNd& e) {
      e.channel_order = e.channel_order == ChannelOrder::blocked ? ChannelOrder::alternating : ChannelOrder::blocked;
    });
    list.with("position_offset", [](SinusoidalNd& e) { e.position_offset += 3; });
    list.with("coordinates", [](SinusoidalNd& e) {
      const bool were_normalized = e.coordinates == Coordinates::normalized;
      e.coordinates = were_normalized ? Coordinates::index : Coordinates::normalized;
      e.epsilon = 0;
      e.scales.clear();
    });
    list.with("epsilon", [](SinusoidalNd& e) { e.epsilon = (e.epsilon + 1) / 2; });
    list.with("scales", [&](SinusoidalNd& e) { scale_all(e, 1.5); });
    return list.made();
  }

  // Those that differ in one axis alone too.
  std::vector<Variant> siblings() const override {
    Variants<SinusoidalNd> list(spec(), variants());
    for (std::size_t axis = 0; axis < encoding_.extents.size(); ++axis) {
      list.with("extents", [&](SinusoidalNd& e) { e.extents[axis] += 3; });
      list.with("scales", [&](SinusoidalNd& e) {
        if (e.scales.empty()) e.scales.assign(e.extents.size(), 1);
        e.scales[axis] *= 1.25;
      });
    }
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<PlacesJudge>(spec(), encoding_); }

 protected:
  // Coordinates of their own on each axis: a grid walked along its diagonal hides swapped axes. Each is inside the
  // claim and in the axis' own extent, wrapped round there.
  std::vector<std::int64_t> accuracy_positions(const Question& question) const override {
    if (auto positions = cell_positions(space(), question)) return *std::move(positions);
    if (question.fill == masked_grid) return masked_cells(question);
    const std::int64_t start = question.position - spec().min_position;
    const auto order = static_cast<gen::Order>(question.order);
    std::vector<std::int64_t> steps;
    for (std::int64_t token = 0; token < question.tokens; ++token)
      steps.push_back(gen::steps(order, 0, token, question.tokens));
    std::vector<std::int64_t> positions;
    for (std::int64_t axis = 0; axis < axes(encoding_); ++axis) {
      // At another rate on each axis, but for every third fill, which a sweep has: so it meets every coordinate.
      const std::int64_t rate = axis == 0 ? 1 : 1 + axis * ((question.fill + 2) % 3);
      for (const std::int64_t step : steps) {
        const std::int64_t coordinate = (start + step) * rate + axis * (1 + question.fill);
        positions.push_back(spec().min_position + coordinate % side(axis));
      }
    }
    return positions;
  }

 private:
  // The fill of questions about cells of the grid in their order of which every fourth or so is left out, as masked
  // models have them.
  static constexpr std::int64_t masked_grid = 701;

  std::vector<std::int64_t> masked_cells(const Question& question) const {
    std::vector<std::int64_t> kept;
    for (std::int64_t cell = 0; std::ssize(kept) < question.tokens; ++cell) {
      if (gen::word(cell, 1) % 4 != 0) kept.push_back(cell);
    }
    std::vector<std::int64_t> positions;
    for (std::int64_t axis = 0; axis < axes(encoding_); ++axis) {
      for (const std::int64_t cell : kept)
        positions.push_back(spec().min_position + cell / cells_from(axis + 1) % side(axis));
    }
    return positions;
  }

  // How many coordinates of an axis are claimed.
  std::int64_t side(std::int64_t axis) const {
    return std::min(spec().max_position, encoding_.extents[index(axis)]) - spec().min_position;
  }

  // The cells of all axes from this one on; where they are more than any call has, some number that is more.
  std::int64_t cells_from(std::int64_t axis) const {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    std::int64_t cells = 1;
    for (; axis < axes(encoding_); ++axis) cells = cells > most / side(axis) ? most : cells * side(axis);
    return cells;
  }

  CellSpace space() const {
    CellSpace space{.axes = {}, .values = judged_values()};
    for (std::int64_t axis = 0; axis < axes(encoding_); ++axis)
      space.axes.push_back({spec().min_position, spec().min_position + side(axis)});
    return space;
  }

  gen::PositionRange longest_side() const {
    return {spec().min_position, std::min(spec().max_position, std::ranges::max(encoding_.extents))};
  }

  SinusoidalNd encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const SinusoidalNd& encoding) {
  return std::make_unique<PlacesModel>(spec, encoding);
}

}  // namespace sextant
