#include "reference/sinusoidal.hpp"
#include "properties/gen/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>

#include "properties/gen/vectors.hpp"
#include "properties/model/codes.hpp"
#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/rotation_rows.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/value_judge.hpp"
#include "properties/model/variants.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

ErrorBudget budget_of(const Spec& spec, AccuracyClass accuracy, const reference::SinusoidalReference& oracle) {
  ArithmeticClaim claim = arithmetic_of(spec);
  claim.accuracy = accuracy;
  return {claim, oracle.frequencies(), pairs(oracle.encoding())};
}

class SinusoidalJudge final : public CodeJudge {
 public:
  SinusoidalJudge(const Spec& spec, const Sinusoidal& encoding)
      : oracle_(encoding),
        budget_(budget_of(spec, spec.accuracy, oracle_)),
        judge_(budget_, encoding.scale > 0 ? ExactZero::positive : ExactZero::either),
        fast_(oracle_.fast()),
        values_(static_cast<std::size_t>(encoding.dim)) {
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      channels_.push_back(channels_of_pair(encoding, pair));
      frequencies_.push_back(oracle_.shift(1, pair, reference::first_precision).angle.upper());
    }
  }

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const Sinusoidal& encoding = oracle_.encoding();
    std::vector<std::int64_t> places = call.positions;
    for (std::int64_t& place : places) place += encoding.position_offset;
    each_rotation(fast_, places, [&](std::size_t i, const reference::RotationRow& row) {
      const Row at{call.positions[i], static_cast<std::int64_t>(i), static_cast<double>(places[i]), row};
      const std::int64_t start = static_cast<std::int64_t>(i) * encoding.dim;
      judgement.place = at.position;
      const Screen screen(budget_, judgement, at.position);
      answer.read(start, values_);
      judge_padding(judgement, at);
      if (answer.dtype == Dtype::float64 ? passes_by<long double>(screen, at) : passes_by<double>(screen, at)) return;
      judge_row(judgement, at);
    });
    return judgement;
  }

 private:
  // A row of the table: what its values are judged by.
  struct Row {
    std::int64_t position;
    std::int64_t token;
    double place;  // with the offset
    const reference::RotationRow& rotations;
  };

  // What belongs to no frequency is 0.
  void judge_padding(Judgement& judgement, const Row& row) const {
    const auto channel = padding_channel(oracle_.encoding());
    if (!channel || values_[static_cast<std::size_t>(*channel)] == 0) return;
    judgement.add_exact(fmt::format("{}: got {}, expected 0, which pads the row", text_at(row, *channel),
                                    value_text(budget_.dtype(), values_[static_cast<std::size_t>(*channel)])),
                        [] { return ""; });
  }

  std::string text_at(const Row& row, std::int64_t channel) const {
    return text_of_code(oracle_.encoding().positions.text(row.position), row.token, channel);
  }

  // Whether judging any of a row's values would change nothing.
  template <class Real>
  bool passes_by(const Screen& screen, const Row& row) const {
    // The rotation's component is within epsilon/2 of itself as Real, and by 2^-99; the product adds epsilon/2.
    constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
    const double scale = oracle_.encoding().scale;
    const double size = std::fabs(scale);
    if (!(size > 0x1p-400 && size < 0x1p400)) return false;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const double error = budget_.quick_angle_error(frequencies_[i] * row.place, static_cast<std::int64_t>(i));
      const auto passes = [&](std::int64_t channel, double high, double low, double derivative) {
        const Real truth = static_cast<Real>(scale) * (static_cast<Real>(high) + static_cast<Real>(low));
        const Real slack = 2 * epsilon * std::fabs(truth) + static_cast<Real>(0x1p-97) * static_cast<Real>(size);
        const double bound = screen.element_bound(scale * high, scale * derivative, size, error);
        return screen.passes(values_[static_cast<std::size_t>(channel)], truth, slack, bound);
      };
      const reference::RotationRow& at = row.rotations;
      if (!passes(channels_[i].first, at.sin_high[i], at.sin_low[i], at.cos_high[i]) ||
          !passes(channels_[i].second, at.cos_high[i], at.cos_low[i], at.sin_high[i]))
        return false;
    }
    return true;
  }

  void judge_row(Judgement& judgement, const Row& row) {
    const Sinusoidal& encoding = oracle_.encoding();
    const auto scale = DoubleDoubleWithin::exactly(encoding.scale);
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const auto i = static_cast<std::size_t>(pair);
      const DoubleDoubleWithin sine = scale * row.rotations.sin(i);
      const DoubleDoubleWithin cosine = scale * row.rotations.cos(i);
      const double angle = frequencies_[i] * row.place;
      for (const Component component : {Component::sine, Component::cosine}) {
        const bool is_sine = component == Component::sine;
        const std::int64_t channel = is_sine ? channels_[i].first : channels_[i].second;
        const auto exact = [&](Precision precision) { return target(row.position, pair, component, precision); };
        const DoubleDoubleWithin& truth = is_sine ? sine : cosine;
        const double derivative = is_sine ? cosine.high : sine.high;
        const QuickTarget quick{truth, budget_.element_bound(magnitude(truth), derivative, encoding.scale, angle, pair),
                                budget_.conditioned_ulp(truth.high, angle, derivative)};
        judge_.judge(judgement, values_[static_cast<std::size_t>(channel)], quick, exact,
                     [&] { return text_at(row, channel); });
      }
    }
  }

  Target target(std::int64_t position, std::int64_t pair, Component component, Precision precision) {
    const bool is_sine = component == Component::sine;
    const reference::Rotation& rotation = oracle_.rotation(position, pair, precision);
    const Enclosure factor(oracle_.encoding().scale, precision);
    const Enclosure truth = factor * (is_sine ? rotation.sin : rotation.cos);
    const Enclosure derivative = factor * (is_sine ? rotation.cos : rotation.sin);
    return {truth, budget_.element_bound(truth, derivative, factor, rotation.angle, pair)};
  }

  PositionGrid grid() const override { return oracle_.encoding().positions; }

  void judge_rows(Judgement& judgement, const TwoRows& rows) override {
    const auto place = static_cast<double>(rows.place[0] + oracle_.encoding().position_offset);
    if (const auto channel = padding_channel(oracle_.encoding())) judge_same_value(judgement, rows, *channel);
    for (std::int64_t pair = 0; pair < pairs(oracle_.encoding()); ++pair) {
      const double angle = frequencies_[static_cast<std::size_t>(pair)] * place;
      const double least = budget_.least_pair_bound(std::fabs(oracle_.encoding().scale), angle, pair);
      const Channels channels = channels_of_pair(oracle_.encoding(), pair);
      judge_pair(judgement, rows, channels, least, [&](Precision precision) -> Allowance {
        const Enclosure norm = abs(Enclosure(oracle_.encoding().scale, precision));
        return {budget_.pair_bound(norm, oracle_.angle(rows.place[0], pair, precision), pair), norm};
      });
    }
  }

  reference::SinusoidalReference oracle_;
  ErrorBudget budget_;
  ValueJudge judge_;
  reference::FastRotations fast_;
  std::vector<double> frequencies_;
  std::vector<Channels> channels_;
  std::vector<double> values_;  // one row's
};

class SinusoidalPairs final : public EncodedPairs {
 public:
  SinusoidalPairs(const Spec& spec, const Sinusoidal& encoding) : spec_(spec), oracle_(encoding) {}

  std::int64_t count() const override { return pairs(encoding()); }

  Rows ask(Session& session, const std::vector<std::int64_t>& positions) const override {
    const Tensor table = encode(session, spec_, positions);
    Rows rows;
    for (std::int64_t start = 0; start < table.elements(); start += encoding().dim)
      rows.push_back(row_of([&](std::int64_t channel) { return table.at(start + channel); }));
    return rows;
  }

  std::optional<Rows> emulate(const reference::Recipe& recipe,
                              const std::vector<std::int64_t>& positions) const override {
    auto emulation = reference::SinusoidalEmulation::of(recipe, encoding(), spec_.dtype);
    if (!emulation) return std::nullopt;
    Rows rows;
    for (const std::int64_t position : positions) {
      const std::vector<double> values = emulation->encode(position);
      rows.push_back(row_of([&](std::int64_t channel) { return values[static_cast<std::size_t>(channel)]; }));
    }
    return rows;
  }

  std::optional<std::vector<double>> recipe_radians(const reference::Recipe& recipe, std::int64_t) const override {
    auto known = reference::recipe_frequencies(recipe, encoding());
    if (!known || known->radians.empty()) return std::nullopt;
    return std::move(known->radians);
  }

  Enclosure radius(Precision precision) override { return abs(Enclosure(encoding().scale, precision)); }
  Enclosure angle(std::int64_t position, std::int64_t pair, Precision precision) override {
    return oracle_.angle(position, pair, precision);
  }
  reference::Rotation advance(std::int64_t step, std::int64_t pair, Precision precision) override {
    return oracle_.shift(step, pair, precision);
  }
  std::vector<double> frequencies(std::int64_t) override {
    std::vector<double> list;
    for (std::int64_t pair = 0; pair < count(); ++pair)
      list.push_back(std::fabs(advance(1, pair, reference::first_precision).angle.upper()));
    return list;
  }

  ErrorBudget budget(AccuracyClass accuracy) const override { return budget_of(spec_, accuracy, oracle_); }

  double bound(const ErrorBudget& allowed, const Truth& at, std::size_t i, Component component,
               double size) const override {
    const auto pair = static_cast<std::int64_t>(i);
    const auto other = component == Component::sine ? Component::cosine : Component::sine;
    const DoubleDoubleWithin& value = at.value(i, component);
    const double derivative = at.value(i, other).high;
    const double angle = at.angle[i];
    const reference::Bounds quick = allowed.element_bound(magnitude(value), derivative, size, angle, pair);
    if (quick.lower > 0) return quick.lower;
    // At a border of binades: the exact tier's bound of the doubles nearest to the truth.
    const auto near = [](double x) { return Enclosure(x, reference::first_precision); };
    return allowed.element_bound(near(value.high), near(derivative), near(size), near(angle), pair).upper();
  }

  double unit(double truth, double) const override { return ulp(spec_.dtype, truth); }
  std::int64_t place(std::int64_t position) const override { return position + encoding().position_offset; }

 private:
  const Sinusoidal& encoding() const { return oracle_.encoding(); }

  template <class At>
  std::vector<PairValues> row_of(At at) const {
    std::vector<PairValues> values;
    for (std::int64_t pair = 0; pair < count(); ++pair) {
      const Channels channels = channels_of_pair(encoding(), pair);
      values.push_back({at(channels.first), at(channels.second)});
    }
    return values;
  }

  reference::FastRotations fast(std::int64_t) override { return oracle_.fast(); }
  DoubleDoubleWithin factor(std::int64_t) override { return DoubleDoubleWithin::exactly(encoding().scale); }

  Spec spec_;
  reference::SinusoidalReference oracle_;
};

class SinusoidalModel final : public CodeModel {
 public:
  SinusoidalModel(const Spec& spec, const Sinusoidal& encoding) : CodeModel(spec, encoding.dim), encoding_(encoding) {}

  std::vector<Variant> variants() const override {
    Variants<Sinusoidal> list(spec());
    list.with("base", [](Sinusoidal& e) { e.base = e.base * 3 + 7; });
    list.with("dim", [](Sinusoidal& e) { e.dim += 2; });
    list.with("layout", [](Sinusoidal& e) { e.layout = other(e.layout); });
    list.with("angle_scale", [](Sinusoidal& e) { e.angle_scale *= 1.5; });
    // Counts of other steps are other positions. Their dtype changes how they are given, and no value.
    list.with("position_step", [](Sinusoidal& e) { e.positions.step /= 2; });
    list.with("first", [](Sinusoidal& e) { e.first = e.first == First::sin ? First::cos : First::sin; });
    const auto shift = [](Sinusoidal& e) { e.downscale_freq_shift += e.downscale_freq_shift == 0 ? 1 : -1; };
    list.with(encoding_.downscale_freq_shift > 1 ? "downscale_freq_shift" : "denominator", shift);
    list.with("position_offset", [](Sinusoidal& e) { e.position_offset += 3; });
    list.with("scale", [](Sinusoidal& e) { e.scale *= 0.75; });
    return list.made();
  }

  std::vector<FieldOf<Question>> question_fields() const override {
    std::vector<FieldOf<Question>> fields{{"position", FieldRole::position, &Question::position, claimed(spec())},
                                          {"rows", FieldRole::run, &Question::tokens, {1, longest_call}},
                                          order_field()};
    // Of real positions which: any, whole numbers, halves.
    if (encoding_.positions.dtype != Dtype::int64)
      fields.push_back({"numbers", FieldRole::fill, &Question::batch, {1, static_cast<std::int64_t>(Numbers::halves)}});
    return fields;
  }

  bool related(const Question& question) const override { return question.position <= range().last - question.tokens; }

  std::vector<Question> first_questions() const override {
    // Few rows, and more than kernels have in a block.
    const auto [first, last] = range();
    std::vector<Question> questions{
        {gen::simplest_position(range())}, {first}, {last - 1}, {first, std::min<std::int64_t>(1025, last - first)}};
    // Heads and rows are none of its fields, so that some are the same.
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> asked;
    for (const Question& question : of_kernels()) {
      if (asked.emplace(question.position, question.tokens, question.order).second)
        questions.push_back({.position = question.position, .tokens = question.tokens, .order = question.order});
    }
    const auto put = [](Question& question, Numbers numbers) { question.batch = static_cast<std::int64_t>(numbers); };
    for (const Question& question : questions_of_numbers(encoding_.positions, gen::simplest_position(range()), put)) {
      if (admits(question)) questions.push_back(question);
    }
    for (const Question& question : of_schedules()) {
      if (admits(question)) questions.push_back(question);
    }
    return questions;
  }

  rc::Gen<Question> drawn_questions() const override {
    const auto parts = gen::tuple(gen::position(range()), gen::one_of({1, 2, 3, 4, 7}), gen::count(0, gen::orders - 1));
    const rc::Gen<Question> few = gen::map(parts, [](const auto& drawn) {
      return Question{.position = std::get<0>(drawn), .tokens = std::get<1>(drawn), .order = std::get<2>(drawn)};
    });
    const rc::Gen<Question> all = of_many_shapes(few, range(), {{1, longest_drawn, 1}, values_of_call / encoding_.dim});
    return gen::map(all, [last = range().last](Question question) {
      question.tokens = std::min(question.tokens, last - question.position);
      return question;
    });
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<SinusoidalJudge>(spec(), encoding_); }
  std::unique_ptr<EncodedPairs> encoded_pairs() const override {
    return std::make_unique<SinusoidalPairs>(spec(), encoding_);
  }

 protected:
  std::vector<std::int64_t> accuracy_positions(const Question& question) const override {
    return positions_among(static_cast<Numbers>(question.batch), encoding_.positions, range(), question.position,
                           {1, question.tokens, 1}, static_cast<gen::Order>(question.order));
  }

 private:
  // What samplers of 1000, 50 and 20 steps ask: all timesteps at once, as a table of them is made, and one after the
  // other, each for a whole batch (diffusers' schedulers, "leading": steps count from 0 or 1).
  std::vector<Question> of_schedules() const {
    constexpr std::int64_t timesteps = 1000;
    const gen::PositionRange all = range();
    const std::int64_t width = all.last - all.first;
    // In whole numbers; of a claim that has fewer, as of timesteps in [0, 1], spread over all of it.
    const double counts_of_one = 1 / encoding_.positions.step;
    const bool has_whole =
        counts_of_one == std::floor(counts_of_one) && static_cast<double>(width) >= 50 * counts_of_one;
    const std::int64_t unit = has_whole ? static_cast<std::int64_t>(counts_of_one) : 1;
    const std::int64_t most = has_whole ? std::min(width / unit, timesteps) : width;
    std::vector<Question> questions{{.position = all.first,
                                     .tokens = std::min(most, timesteps),
                                     .order = static_cast<std::int64_t>(gen::Order::descending)}};
    for (const auto& [steps, rows, order] :
         {std::tuple{50, 2, gen::Order::descending_by_twenty}, std::tuple{20, 8, gen::Order::descending_by_fifty}}) {
      const std::int64_t stride = std::max<std::int64_t>(most / steps, 1);
      for (const std::int64_t offset : {0, 1}) {
        questions.push_back(
            {.position = all.first + offset * unit, .tokens = steps, .order = static_cast<std::int64_t>(order)});
      }
      for (std::int64_t step = steps - 1; step >= 0; --step) {
        questions.push_back({.position = all.first + (step * stride + 1) * unit,
                             .tokens = rows,
                             .order = static_cast<std::int64_t>(gen::Order::all_equal)});
      }
    }
    if (encoding_.positions.dtype == Dtype::int64) return questions;
    // Of real positions whole numbers too, which are timesteps that a program has made floats; equal ones are whole.
    for (std::size_t i = 0, count = questions.size(); i < count; ++i) {
      if (questions[i].order == static_cast<std::int64_t>(gen::Order::all_equal)) continue;
      questions.push_back(questions[i]);
      questions.back().batch = static_cast<std::int64_t>(Numbers::whole);
    }
    return questions;
  }

  Sinusoidal encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Sinusoidal& encoding) {
  return std::make_unique<SinusoidalModel>(spec, encoding);
}

}  // namespace sextant
