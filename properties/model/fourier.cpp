// Over 400 lines: the one model of an encoding of three ladders, whose questions, siblings, oracle and judge share its
// coordinates.
#include "reference/fourier.hpp"
#include "lib/numeric/index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/cell_questions.hpp"
#include "properties/model/codes.hpp"
#include "properties/model/fourier_budget.hpp"
#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/value_judge.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

// Targets of the first precision: a claim of a few cells asks for the same ones in every call.
class KeptTargets {
 public:
  struct Key {
    std::int64_t list;  // or axis
    std::int64_t channel;
    std::int64_t position;
    auto operator<=>(const Key&) const = default;
  };

  template <class Make>
  Target at(const Key& key, Precision precision, Make make) {
    if (precision.bits != reference::first_precision.bits) return make();
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
    Target target = make();
    if (kept_.size() < most) kept_.emplace(key, target);
    return target;
  }

  void clear() { kept_.clear(); }

 private:
  static constexpr std::size_t most = 1 << 14;
  std::map<Key, Target> kept_;
};

class FourierJudge final : public CodeJudge {
 public:
  FourierJudge(const Spec& spec, const Fourier& encoding)
      : encoding_(encoding), dtype_(spec.dtype), roundings_(arithmetic_of(spec), encoding) {
    for (std::int64_t list = 0; list < angle_lists(encoding); ++list) {
      std::vector<double> of_bands;
      for (std::int64_t band = 0; band < encoding.bands; ++band) of_bands.push_back(roundings_.of_angle(list, band));
      lists_.push_back({ErrorBudget(arithmetic_of(spec), of_bands), of_bands});
    }
    if (!is_given(encoding)) take(reference::FourierReference(encoding));
    judge_.emplace(lists_.front().budget, ExactZero::positive);
  }

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    compare_under(call);
    const std::int64_t tokens = answer.shape[0];
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::vector<std::int64_t> place = place_at(call.positions, tokens, token);
      judgement.place = place.front();
      const std::int64_t start = token * width(encoding_);
      for (std::int64_t list = 0; list < angle_lists(encoding_); ++list)
        judge_list(judgement, place, token, list, answer, start);
      for (std::int64_t axis = 0; axis < encoding_.axes; ++axis)
        judge_identity(judgement, place, token, axis, answer, start);
    }
    return judgement;
  }

 private:
  // The angles of an axis, or of all together.
  struct List {
    ErrorBudget budget;
    std::vector<double> roundings;  // of each band's angles
  };
  // The kernels of an axis, and what each unit of its coordinate turns each band by.
  struct Axis {
    reference::FastRotations fast;
    reference::RotationRow row;
    std::vector<double> radians;
  };

  void take(reference::FourierReference oracle) {
    axes_.clear();
    kept_.clear();
    for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
      reference::FastRotations fast = oracle.fast(axis);
      reference::RotationRow row = fast.make_row();
      std::vector<double> radians;
      for (std::int64_t band = 0; band < encoding_.bands; ++band)
        radians.push_back(abs(oracle.radians_of_coordinate(axis, band, reference::first_precision)).upper());
      axes_.push_back({std::move(fast), std::move(row), std::move(radians)});
    }
    oracle_.emplace(std::move(oracle));
  }

  PositionGrid grid() const override { return encoding_.positions; }

  void compare_under(const Call& call) override {
    if (!is_given(encoding_) || (weight_ && weight_->data == call.weight->data)) return;
    weight_ = call.weight;
    take(reference::FourierReference(encoding_, *weight_));
  }

  std::string text_of(std::span<const std::int64_t> place, std::int64_t token, std::int64_t channel) const {
    return text_of_code(text_of_place(encoding_.positions, place), token, channel);
  }

  std::int64_t first_axis(std::int64_t list) const { return is_given(encoding_) ? 0 : list; }
  std::int64_t last_axis(std::int64_t list) const { return is_given(encoding_) ? encoding_.axes - 1 : list; }

  double quick_coordinate(std::int64_t axis, std::int64_t position) const {
    return std::fabs(static_cast<double>(counted(encoding_, axis, position)) * encoding_.positions.step /
                     static_cast<double>(divisor_of(encoding_, axis)));
  }

  // What the errors of an angle are relative to (step 22): its terms' sizes, the coordinates' absolute errors and those
  // of subnormal products in them, and of a cosine the quarter of a turn that may be added. In doubles within 2^-48 of
  // itself.
  double quick_size(std::span<const std::int64_t> place, std::int64_t list, std::int64_t band, bool is_sine) const {
    const double all = lists_[index(list)].roundings[index(band)];
    double size = is_sine ? 0 : std::numbers::pi / all;
    for (std::int64_t axis = first_axis(list); axis <= last_axis(list); ++axis) {
      const double coordinate = quick_coordinate(axis, place[index(axis)]);
      size += axes_[index(axis)].radians[index(band)] * (coordinate + roundings_.of_quotient(axis) / all) +
              roundings_.of_underflow() * (1 + coordinate) / all;
    }
    return size;
  }
  Enclosure size(std::span<const std::int64_t> place, std::int64_t list, std::int64_t band, bool is_sine,
                 Precision precision) const {
    const Enclosure all(lists_[index(list)].roundings[index(band)], precision);
    Enclosure sum = is_sine ? Enclosure(0.0, precision) : Enclosure::pi(precision) / all;
    for (std::int64_t axis = first_axis(list); axis <= last_axis(list); ++axis) {
      const Enclosure coordinate = abs(oracle_->coordinate(axis, place[index(axis)], precision));
      const Enclosure of_quotient(roundings_.of_quotient(axis), precision);
      const Enclosure of_underflow(roundings_.of_underflow(), precision);
      sum = sum + abs(oracle_->radians_of_coordinate(axis, band, precision)) * (coordinate + of_quotient / all) +
            of_underflow * (Enclosure(1.0, precision) + coordinate) / all;
    }
    return sum;
  }

  struct SinCos {
    DoubleDoubleWithin sin;
    DoubleDoubleWithin cos;
  };

  // Of a weight the product of the axes' rotations, within 2^-96: the bounds of budget.hpp allow 2^-98, and 2^-96 is as
  // little beside the 2^-40 that they are apart.
  SinCos quick_rotation(std::int64_t list, std::size_t band) const {
    const reference::RotationRow& first = axes_[index(first_axis(list))].row;
    SinCos at{first.sin(band), first.cos(band)};
    for (std::int64_t axis = first_axis(list) + 1; axis <= last_axis(list); ++axis) {
      const reference::RotationRow& row = axes_[index(axis)].row;
      at = {at.sin * row.cos(band) + at.cos * row.sin(band), at.cos * row.cos(band) - at.sin * row.sin(band)};
    }
    return at;
  }

  // Whether every coordinate, or its frequency, is 0.
  bool is_zero_angle(std::span<const std::int64_t> place, std::int64_t list, std::int64_t band) const {
    for (std::int64_t axis = first_axis(list); axis <= last_axis(list); ++axis) {
      if (counted(encoding_, axis, place[index(axis)]) != 0 && axes_[index(axis)].radians[index(band)] != 0)
        return false;
    }
    return true;
  }

  void judge_list(Judgement& judgement, const std::vector<std::int64_t>& place, std::int64_t token, std::int64_t list,
                  const Tensor& answer, std::int64_t start) {
    judgement.coordinate = is_given(encoding_) ? std::ranges::max(place) : place[index(list)];
    for (std::int64_t axis = first_axis(list); axis <= last_axis(list); ++axis)
      axes_[index(axis)].fast.at(counted(encoding_, axis, place[index(axis)]), axes_[index(axis)].row);
    const ErrorBudget& budget = lists_[index(list)].budget;
    for (std::int64_t band = 0; band < encoding_.bands; ++band) {
      const Channels channels = channels_of(encoding_, list, band);
      const SinCos at = quick_rotation(list, index(band));
      const bool is_zero = is_zero_angle(place, list, band);
      for (const bool is_sine : {true, false}) {
        const std::int64_t channel = is_sine ? channels.first : channels.second;
        // Of an angle of 0 the right value is known, and says no more than those before it.
        const double given = answer.at(start + channel);
        if (is_zero && !judgement.finding.empty() && given == (is_sine ? 0 : 1) && !std::signbit(given)) continue;
        const DoubleDoubleWithin& truth = is_sine ? at.sin : at.cos;
        const double derivative = is_sine ? at.cos.high : at.sin.high;
        const auto computed = [&](Precision precision) -> Target {
          const reference::Rotation& rotation = oracle_->rotation(place, list, band, precision);
          const Enclosure& value = is_sine ? rotation.sin : rotation.cos;
          return {value, budget.element_bound(value, is_sine ? rotation.cos : rotation.sin, Enclosure(1.0, precision),
                                              size(place, list, band, is_sine, precision), band)};
        };
        const auto exact = [&](Precision precision) {
          // The angle of a given matrix has as many positions as there are axes.
          if (is_given(encoding_)) return computed(precision);
          return kept_.at({list, channel, place[index(list)]}, precision, [&] { return computed(precision); });
        };
        judge_->judge(judgement, given,
                      {truth, budget.element_bound(magnitude(truth), derivative, 1,
                                                   quick_size(place, list, band, is_sine), band)},
                      exact, [&] { return text_of(place, token, channel); });
      }
    }
  }

  // Whether a position in the row is beyond the dtype's largest number, 65504 of float16, when it is rounded. A class'
  // one rounding before that, gamma_1 of step 23, is within 2 u.
  bool overflows(std::int64_t position, double by) const {
    if (encoding_.coordinates != FourierCoordinates::index) return false;
    return std::isinf(round_to(dtype_, encoding_.positions.at(position) * by));
  }

  void judge_identity(Judgement& judgement, std::span<const std::int64_t> place, std::int64_t token, std::int64_t axis,
                      const Tensor& answer, std::int64_t start) {
    const auto channel = identity_channel(encoding_, axis);
    if (!channel) return;
    const std::int64_t position = place[index(axis)];
    judgement.coordinate = position;
    const double value = answer.at(start + *channel);
    const bool is_it = encoding_.coordinates == FourierCoordinates::index && value == encoding_.positions.at(position);
    if (is_it && (value != 0 || !std::signbit(value)) && !judgement.finding.empty()) return;
    if (overflows(position, 1 - 2 * roundings_.roundoff()) ||
        (std::isinf(value) && overflows(position, 1 + 2 * roundings_.roundoff()))) {
      const double infinite = std::copysign(INFINITY, encoding_.positions.at(position));
      return judgement.add_exact(
          value == infinite ? std::nullopt
                            : std::optional(fmt::format("{}: got {}, expected {}, which the position is rounded to",
                                                        text_of(place, token, *channel), value, infinite)),
          [] { return "every position beyond the dtype's numbers is infinite"; });
    }
    const auto exact = [&](Precision precision) {
      return kept_.at({axis, *channel, position}, precision, [&]() -> Target {
        Enclosure truth = oracle_->coordinate(axis, position, precision);
        Enclosure bound = roundings_.coordinate_bound(axis, truth);
        return {std::move(truth), std::move(bound)};
      });
    };
    const DoubleDoubleWithin unknown{exact(reference::first_precision).truth.upper(), 0, INFINITY};
    judge_->judge(judgement, value, {unknown, {0, INFINITY}}, exact, [&] { return text_of(place, token, *channel); });
  }

  void judge_rows(Judgement& judgement, const TwoRows& rows) override {
    for (std::int64_t list = 0; list < angle_lists(encoding_); ++list) {
      const ErrorBudget& budget = lists_[index(list)].budget;
      for (std::int64_t band = 0; band < encoding_.bands; ++band) {
        const double least = budget.least_pair_bound(1, quick_size(rows.place, list, band, false), band);
        judge_pair(judgement, rows, channels_of(encoding_, list, band), least, [&](Precision precision) -> Allowance {
          const Enclosure one(1.0, precision);
          return {budget.pair_bound(one, size(rows.place, list, band, false, precision), band), one};
        });
      }
    }
    for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
      const auto channel = identity_channel(encoding_, axis);
      if (!channel || rows.in_one(*channel) == rows.in_other(*channel)) continue;
      const auto truth = [&](Precision precision) {
        return oracle_->coordinate(axis, rows.place[index(axis)], precision);
      };
      judge_channel(
          judgement, rows, *channel,
          [&](Precision precision) {
            return Enclosure(2.0, precision) * roundings_.coordinate_bound(axis, truth(precision));
          },
          truth);
    }
  }

  Fourier encoding_;
  Dtype dtype_;
  FourierRoundings roundings_;
  std::vector<List> lists_;
  std::optional<ValueJudge> judge_;
  std::optional<reference::FourierReference> oracle_;
  std::vector<Axis> axes_;
  KeptTargets kept_;
  std::optional<Tensor> weight_;
};

// About normal: a sum of uniform numbers of variance 1/12 each, that of 12 of them, less 6.
double drawn_normal(std::int64_t fill, std::int64_t i) {
  double normal = -6;
  for (int part = 0; part < 12; ++part)
    normal += static_cast<double>(gen::word(fill, i * 12 + part + (std::int64_t{1} << 32)) >> 11) * 0x1p-53;
  return normal;
}

// Of so many fills one asks about a matrix of patterns.
constexpr std::int64_t table_of_patterns = 8;

// What trained and hand-made matrices have beside drawn numbers: a column like the one before, its opposite, one of
// equal values, one of the first axis or of the last alone; zeros of either sign, and the least number of the dtype.
double of_pattern(Dtype dtype, std::int64_t fill, std::int64_t axis, std::int64_t axes, std::int64_t column) {
  const double own = drawn_normal(fill, axis + axes * (column / 4 * 4));
  switch (column % 8) {
    case 1: return own;
    case 2: return -own;
    case 3: return 0.75;
    case 4: return axis == 0 ? own : 0;
    case 5: return axis == axes - 1 ? own : -0.0;
    case 6: return axis % 2 == 0 ? ulp(dtype, 0) : -ulp(dtype, 0);
    case 7: return axis == 0 ? -0.0 : 0;
    default: return own;
  }
}

// Frequencies as they are drawn, normal numbers, some of them 0: of the fills that question.hpp names larger and
// smaller ones too, from thousands to what is no more than a rounding of 1; of others patterns.
Tensor drawn_frequencies(const Spec& spec, const Fourier& encoding, std::int64_t fill) {
  Tensor weight = Tensor::zeros(spec.dtype, {encoding.axes, encoding.bands});
  const std::int64_t kind = fill % tables_of_every_magnitude_in;
  for (std::int64_t i = 0; i < weight.elements(); ++i) {
    if (kind == table_of_patterns) {
      weight.set(i, of_pattern(spec.dtype, fill + 1, i / encoding.bands, encoding.axes, i % encoding.bands));
      continue;
    }
    const std::uint64_t word = gen::word(fill + 1, i);
    constexpr int exponents = 54;
    constexpr int least = -40;
    const int exponent = kind == table_of_every_magnitude ? static_cast<int>(word % exponents) + least : 0;
    weight.set(i, word % 17 == 0 ? 0 : std::ldexp(drawn_normal(fill + 1, i), exponent));
  }
  return weight;
}

class FourierModel final : public CodeModel {
 public:
  FourierModel(const Spec& spec, const Fourier& encoding) : CodeModel(spec, width(encoding)), encoding_(encoding) {}

  gen::PositionRange range() const override { return {spec().min_position, std::ranges::min(ends())}; }

  // A question's coordinates wrap round at the end of each axis, so it may begin anywhere on the longest.
  std::vector<FieldOf<Question>> question_fields() const override {
    std::vector<FieldOf<Question>> fields = sextant::question_fields(spec());
    for (FieldOf<Question>& field : fields) {
      if (field.role == FieldRole::position) field.range.most = std::ranges::max(ends()) - 1;
    }
    fields.push_back(order_field());
    return fields;
  }

  std::vector<Question> first_questions() const override {
    std::vector<Question> questions = CodeModel::first_questions();
    if (is_given(encoding_)) {
      const Question patterns{.position = gen::simplest_position(range()), .tokens = 130, .fill = table_of_patterns};
      if (admits(patterns)) questions.push_back(patterns);
    }
    for (const auto& list : {questions_of_cells(space(), gen::simplest_position(range())),
                             questions_of_placements(space(), gen::simplest_position(range()))}) {
      for (const Question& question : list) {
        if (admits(question)) questions.push_back(question);
      }
    }
    return questions;
  }

  rc::Gen<Question> drawn_questions() const override { return with_drawn_cells(CodeModel::drawn_questions(), space()); }

  std::vector<Question> questions_of_same_ends() const override { return sextant::questions_of_same_ends(space()); }

  SweepOf<Question> sweep(std::int64_t most_values) const override {
    SweepOf<Question> sweep = sweep_over({spec().min_position, std::ranges::max(ends())}, judged_values(), most_values);
    if (encoding_.axes > 1) sweep.of = "coordinates of each axis";
    return sweep;
  }

  std::vector<Variant> variants() const override {
    Variants<Fourier> list(spec());
    if (!is_given(encoding_)) {
      list.with("bands", [](Fourier& e) { e.bands += e.bands == 1 ? 0 : 1; });
      list.with("ladder", [](Fourier& e) {
        e.ladder = e.ladder == FrequencyLadder::linear ? FrequencyLadder::powers_of_two : FrequencyLadder::linear;
        e.lowest = std::clamp(e.lowest, 1.0, 8.0);
        e.highest = e.bands == 1 ? e.lowest : std::clamp(e.highest, e.lowest, 30.0);
      });
      list.with("lowest", [](Fourier& e) {
        e.lowest += e.bands == 1 || e.lowest + 0.5 <= e.highest ? 0.5 : 0;
        if (e.bands == 1) e.highest = e.lowest;
      });
      list.with("highest", [](Fourier& e) { e.highest += e.bands == 1 ? 0 : 0.5; });
    }
    for (const AngleUnit unit : {AngleUnit::radian, AngleUnit::half_turn, AngleUnit::turn})
      list.with("angle_unit", [&](Fourier& e) { e.angle_unit = unit; });
    for (const FourierOrder order : {FourierOrder::frequency_function_axis, FourierOrder::function_axis_frequency,
                                     FourierOrder::function_frequency_axis, FourierOrder::axis_frequency_function,
                                     FourierOrder::function_frequency, FourierOrder::frequency_function})
      list.with("channel_order", [&](Fourier& e) { e.channel_order = order; });
    list.with("first", [](Fourier& e) { e.first = e.first == First::sin ? First::cos : First::sin; });
    for (const Identity identity : {Identity::none, Identity::first, Identity::last})
      list.with("identity", [&](Fourier& e) { e.identity = identity; });
    for (const auto kind : {FourierCoordinates::index, FourierCoordinates::centres, FourierCoordinates::ends}) {
      list.with("coordinates", [&](Fourier& e) {
        e.coordinates = kind;
        if (kind == FourierCoordinates::index) e.extents.clear();
      });
    }
    list.with("extents", [](Fourier& e) {
      for (std::int64_t& extent : e.extents) extent += 3;
    });
    // Counts of other steps are other positions. Their dtype changes how they are given, and no value.
    list.with("position_step", [](Fourier& e) { e.positions.step /= 2; });
    return list.made();
  }

  std::vector<Variant> siblings() const override {
    Variants<Fourier> list(spec(), variants());
    if (is_given(encoding_)) list.with("bands", [](Fourier& e) { e.bands += 2; });
    // In one axis alone too.
    for (std::size_t axis = 0; axis < encoding_.extents.size(); ++axis)
      list.with("extents", [&](Fourier& e) { e.extents[axis] += 3; });
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<FourierJudge>(spec(), encoding_); }

 protected:
  // Coordinates of their own on each axis: along a diagonal one axis could stand for another. Each is inside the claim
  // and in the axis' own extent, wrapped round there.
  std::vector<std::int64_t> accuracy_positions(const Question& question) const override {
    if (auto positions = cell_positions(space(), question)) return *std::move(positions);
    const std::int64_t start = question.position - spec().min_position;
    const auto order = static_cast<gen::Order>(question.order);
    std::vector<std::int64_t> positions;
    for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
      // At another rate on each axis, but for every third fill, which a sweep has: so it meets every coordinate.
      const std::int64_t rate = axis == 0 ? 1 : 1 + axis * ((question.fill + 2) % 3);
      for (std::int64_t token = 0; token < question.tokens; ++token) {
        const std::int64_t step = gen::steps(order, 0, token, question.tokens);
        const std::int64_t coordinate = start % side(axis) + step % side(axis) * rate + axis * (1 + question.fill);
        positions.push_back(spec().min_position + coordinate % side(axis));
      }
    }
    return positions;
  }

  std::optional<Tensor> drawn_weight(std::int64_t fill) const override {
    if (!is_given(encoding_)) return std::nullopt;
    return drawn_frequencies(spec(), encoding_, drawing_of(fill));
  }

 private:
  std::int64_t extent_of(std::int64_t axis) const { return encoding_.extents[index(axis)]; }

  // Where the claim ends on an axis, in counts.
  std::int64_t end(std::int64_t axis) const {
    if (encoding_.extents.empty()) return spec().max_position;
    return std::min(spec().max_position, *encoding_.positions.count_of(static_cast<double>(extent_of(axis))));
  }
  std::int64_t side(std::int64_t axis) const { return end(axis) - spec().min_position; }
  std::vector<std::int64_t> ends() const {
    std::vector<std::int64_t> list;
    for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) list.push_back(end(axis));
    return list;
  }

  // Of real positions the cells of a grid are spread from 0 to the end of the shortest axis.
  CellSpace space() const {
    CellSpace space{.axes = {}, .values = judged_values(), .dearness = is_given(encoding_) ? 4 : 2};
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
      space.axes.push_back({spec().min_position, end(axis)});
      least = std::min(least, end(axis));
    }
    constexpr std::int64_t usual_side = 40;
    if (encoding_.positions.step != 1) space.step = std::max<std::int64_t>(least / usual_side, 1);
    return space;
  }

  Fourier encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Fourier& encoding) {
  return std::make_unique<FourierModel>(spec, encoding);
}

}  // namespace sextant
