#include "reference/sinusoidal_2d.hpp"

#include <algorithm>
#include <cmath>

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

class GridJudge final : public CodeJudge {
 public:
  GridJudge(const Spec& spec, const Sinusoidal2d& encoding)
      : oracle_(encoding),
        fast_(reference::GeometricFrequencies(oracle_.frequencies()).fast()),
        budget_(arithmetic_of(spec), oracle_.frequencies(), pairs(encoding)),
        judge_(budget_, ExactZero::positive),
        row_(fast_.make_row()) {
    reference::GeometricFrequencies frequencies = oracle_.frequencies();
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair)
      frequencies_.push_back(frequencies.radians(pair, reference::first_precision).upper());
  }

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const std::int64_t tokens = answer.shape[0];
    for (std::int64_t token = 0; token < tokens; ++token) {
      const reference::GridPosition at{call.positions[static_cast<std::size_t>(token)],
                                       call.positions[static_cast<std::size_t>(tokens + token)]};
      for (const GridAxis axis : {GridAxis::height, GridAxis::width})
        judge_half(judgement, at, axis, answer, token * oracle_.encoding().dim);
    }
    return judgement;
  }

 private:
  void judge_half(Judgement& judgement, const reference::GridPosition& at, GridAxis axis, const Tensor& answer,
                  std::int64_t start) {
    const Sinusoidal2d& encoding = oracle_.encoding();
    const std::int64_t coordinate = axis == GridAxis::height ? at.row : at.column;
    judgement.coordinate = coordinate;
    fast_.at(coordinate, row_);
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const auto i = static_cast<std::size_t>(pair);
      const Channels channels = channels_of_pair(encoding, axis, pair);
      const double angle = frequencies_[i] * static_cast<double>(coordinate);
      for (const bool is_sine : {true, false}) {
        // Of an angle of 0 the right value is known, and says no more than those before it.
        const std::int64_t channel = is_sine ? channels.first : channels.second;
        const double given = answer.at(start + channel);
        if (coordinate == 0 && !judgement.finding.empty() && given == (is_sine ? 0 : 1) && !std::signbit(given))
          continue;
        const DoubleDoubleWithin truth = is_sine ? row_.sin(i) : row_.cos(i);
        const DoubleDoubleWithin derivative = is_sine ? row_.cos(i) : row_.sin(i);
        const auto exact = [&](Precision precision) -> Target {
          const reference::Rotation& rotation = oracle_.rotation(at, axis, pair, precision);
          const Enclosure one(1.0, precision);
          const Enclosure& value = is_sine ? rotation.sin : rotation.cos;
          return {value,
                  budget_.element_bound(value, is_sine ? rotation.cos : rotation.sin, one, rotation.angle, pair)};
        };
        judge_.judge(judgement, given,
                     {truth, budget_.element_bound(magnitude(truth), derivative.high, 1, angle, pair),
                      budget_.conditioned_ulp(truth.high, angle, derivative.high)},
                     exact, [&] { return fmt::format("row {}, column {}, channel {}", at.row, at.column, channel); });
      }
    }
  }

  void judge_rows(Judgement& judgement, const TwoRows& rows) override {
    const Sinusoidal2d& encoding = oracle_.encoding();
    for (const GridAxis axis : {GridAxis::height, GridAxis::width}) {
      const auto coordinate = static_cast<double>(rows.place[axis == GridAxis::height ? 0 : 1]);
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels channels = channels_of_pair(encoding, axis, pair);
        const double near = frequencies_[static_cast<std::size_t>(pair)] * coordinate;
        judge_pair(
            judgement, rows, channels, budget_.least_pair_bound(1, near, pair), [&](Precision precision) -> Allowance {
              const Enclosure norm(1.0, precision);
              const Enclosure& angle = oracle_.rotation({rows.place[0], rows.place[1]}, axis, pair, precision).angle;
              return {budget_.pair_bound(norm, angle, pair), norm};
            });
      }
    }
  }

  reference::Sinusoidal2dReference oracle_;
  std::vector<double> frequencies_;
  reference::FastRotations fast_;
  ErrorBudget budget_;
  ValueJudge judge_;
  reference::RotationRow row_;
};

class GridModel final : public CodeModel {
 public:
  GridModel(const Spec& spec, const Sinusoidal2d& encoding) : CodeModel(spec, encoding.dim), encoding_(encoding) {}

  gen::PositionRange range() const override {
    return {spec().min_position, std::min({spec().max_position, encoding_.height, encoding_.width})};
  }

  // A question's rows and columns wrap round at the end of each, so it may begin anywhere on the longer side.
  std::vector<FieldOf<Question>> question_fields() const override {
    std::vector<FieldOf<Question>> fields = sextant::question_fields(spec());
    for (FieldOf<Question>& field : fields) {
      if (field.role == FieldRole::position) field.range.most = longer_side().last - 1;
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
    return questions;
  }

  rc::Gen<Question> drawn_questions() const override { return with_drawn_cells(CodeModel::drawn_questions(), space()); }

  std::vector<Question> questions_of_same_ends() const override { return sextant::questions_of_same_ends(space()); }

  // Every cell; of a grid of too many values every row and every column.
  SweepOf<Question> sweep(std::int64_t most_values) const override {
    if (cells_of(space()) <= most_values / judged_values()) return sweep_of_cells(space());
    SweepOf<Question> sweep = sweep_over(longer_side(), judged_values(), most_values);
    sweep.of = "rows and columns";
    return sweep;
  }

  std::vector<Variant> variants() const override {
    Variants<Sinusoidal2d> list(spec());
    list.with("base", [](Sinusoidal2d& e) { e.base = e.base * 3 + 7; });
    list.with("dim", [](Sinusoidal2d& e) { e.dim += 4; });
    list.with("layout", [](Sinusoidal2d& e) { e.layout = other(e.layout); });
    list.with("axis_order", [](Sinusoidal2d& e) {
      e.axis_order = e.axis_order == AxisOrder::height_first ? AxisOrder::width_first : AxisOrder::height_first;
    });
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<GridJudge>(spec(), encoding_); }

 protected:
  // Rows and columns of their own: a square grid walked along its diagonal hides swapped axes. Each is inside the claim
  // and in the axis' own extent of the grid, wrapped round there.
  std::vector<std::int64_t> accuracy_positions(const Question& question) const override {
    if (auto positions = cell_positions(space(), question)) return *std::move(positions);
    const std::int64_t first = spec().min_position;
    const auto coordinate_at = [&](std::int64_t steps, std::int64_t extent) {
      return first + steps % (std::min(spec().max_position, extent) - first);
    };
    const std::int64_t start = question.position - first;
    const auto order = static_cast<gen::Order>(question.order);
    std::vector<std::int64_t> steps;
    for (std::int64_t token = 0; token < question.tokens; ++token)
      steps.push_back(gen::steps(order, 0, token, question.tokens));
    std::vector<std::int64_t> positions;
    for (const std::int64_t step : steps) positions.push_back(coordinate_at(start + step, encoding_.height));
    // At another rate, but for every third fill, which a sweep has: so its columns are all of them, as its rows are.
    const std::int64_t rate = 1 + (question.fill + 2) % 3;
    for (const std::int64_t step : steps)
      positions.push_back(coordinate_at((start + step) * rate + 1 + question.fill, encoding_.width));
    return positions;
  }

 private:
  CellSpace space() const {
    const std::int64_t first = spec().min_position;
    return {.axes = {{first, std::min(spec().max_position, encoding_.height)},
                     {first, std::min(spec().max_position, encoding_.width)}},
            .values = judged_values()};
  }

  gen::PositionRange longer_side() const {
    return {spec().min_position, std::min(spec().max_position, std::max(encoding_.height, encoding_.width))};
  }

  Sinusoidal2d encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Sinusoidal2d& encoding) {
  return std::make_unique<GridModel>(spec, encoding);
}

}  // namespace sextant
