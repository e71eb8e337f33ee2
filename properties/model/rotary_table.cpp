#include "lib/spec/rotary_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "properties/model/codes.hpp"
#include "properties/model/models.hpp"
#include "properties/model/rope_pairs.hpp"
#include "properties/model/rotation_rows.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/value_judge.hpp"
#include "properties/model/variants.hpp"
#include "reference/rope.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

// Rows are [copies][cos of each pair, then sin of each]: what a layout has twice is judged twice.
class RotaryTableJudge final : public CodeJudge {
 public:
  RotaryTableJudge(const Spec& spec, const RotaryTable& encoding)
      : oracle_(encoding.rope),
        length_(spec.max_position),
        budget_(arithmetic_of(spec), oracle_.frequencies(), length_),
        fast_(oracle_.fast(length_)),
        factor_(DoubleDoubleWithin::of(oracle_.attention_factor(length_, reference::first_precision))),
        judge_(budget_, factor_.high > 0 ? ExactZero::positive : ExactZero::either) {
    const Enclosure& factor = oracle_.attention_factor(length_, reference::first_precision);
    is_unit_ = factor.lower() == 1 && factor.upper() == 1;
    for (std::int64_t pair = 0; pair < count(); ++pair)
      frequencies_.push_back(oracle_.angle(1, pair, length_, reference::first_precision).upper());
  }

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const std::int64_t width = answer.shape[1];
    values_.resize(static_cast<std::size_t>(width));
    each_rotation(fast_, call.positions, [&](std::size_t i, const reference::RotationRow& row) {
      const Row at{call.positions[i], static_cast<std::int64_t>(i), row};
      judgement.place = at.position;
      const Screen screen(budget_, judgement, at.position);
      answer.read(at.token * width, values_);
      for (std::int64_t first = 0; first < width; first += 2 * count()) {
        if (answer.dtype == Dtype::float64 ? passes_by<long double>(screen, at, first)
                                           : passes_by<double>(screen, at, first))
          continue;
        judge_row(judgement, at, first);
      }
    });
    return judgement;
  }

 private:
  struct Row {
    std::int64_t position;
    std::int64_t token;
    const reference::RotationRow& rotations;
  };

  std::int64_t count() const { return pairs(oracle_.encoding()); }
  double size() const { return std::fabs(factor_.high); }
  double angle_at(std::int64_t position, std::size_t i) const {
    return frequencies_[i] * static_cast<double>(position);
  }

  // Whether judging any value of one copy of a row would change nothing.
  template <class Real>
  bool passes_by(const Screen& screen, const Row& row, std::int64_t first) const {
    // Screen takes a norm to be exact under pair-norm.
    if (!is_unit_ && budget_.accuracy() == AccuracyClass::pair_norm) return false;
    // The component and the factor are each within epsilon/2 of themselves as Real, and by 2^-97; the product adds
    // epsilon/2.
    constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
    if (!(size() > 0x1p-400 && size() < 0x1p400)) return false;
    const Real factor = static_cast<Real>(factor_.high) + static_cast<Real>(factor_.low);
    const reference::RotationRow& at = row.rotations;
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
      const double error = budget_.quick_angle_error(angle_at(row.position, i), static_cast<std::int64_t>(i));
      const auto passes = [&](std::size_t column, double high, double low, double derivative) {
        const Real truth = factor * (static_cast<Real>(high) + static_cast<Real>(low));
        const Real slack = 3 * epsilon * std::fabs(truth) + static_cast<Real>(0x1p-96 * size());
        const double bound = screen.element_bound(factor_.high * high, factor_.high * derivative, size(), error);
        return screen.passes(values_[column], truth, slack, bound);
      };
      const std::size_t cosine = static_cast<std::size_t>(first) + i;
      if (!passes(cosine, at.cos_high[i], at.cos_low[i], at.sin_high[i]) ||
          !passes(cosine + frequencies_.size(), at.sin_high[i], at.sin_low[i], at.cos_high[i]))
        return false;
    }
    return true;
  }

  void judge_row(Judgement& judgement, const Row& row, std::int64_t first) {
    for (std::size_t i = 0; i < frequencies_.size(); ++i) {
      const auto pair = static_cast<std::int64_t>(i);
      const DoubleDoubleWithin cosine = factor_ * row.rotations.cos(i);
      const DoubleDoubleWithin sine = factor_ * row.rotations.sin(i);
      const double angle = angle_at(row.position, i);
      for (const Component component : {Component::cosine, Component::sine}) {
        const bool is_sine = component == Component::sine;
        const DoubleDoubleWithin& truth = is_sine ? sine : cosine;
        const double derivative = is_sine ? cosine.high : sine.high;
        const std::int64_t column = first + pair + (is_sine ? count() : 0);
        const QuickTarget quick{truth, quick_bound(truth, derivative, angle, pair),
                                budget_.conditioned_ulp(truth.high, angle, derivative)};
        judge_.judge(
            judgement, values_[static_cast<std::size_t>(column)], quick,
            [&](Precision precision) { return target(row.position, pair, component, precision); },
            [&] { return text_at(row, pair, component, first); });
      }
    }
  }

  reference::Bounds quick_bound(const DoubleDoubleWithin& truth, double derivative, double angle,
                                std::int64_t pair) const {
    // element_bound takes a norm to be exact under pair-norm.
    if (!is_unit_ && budget_.accuracy() == AccuracyClass::pair_norm)
      return budget_.component_bound(size(), angle, pair);
    return budget_.element_bound(magnitude(truth), derivative, size(), angle, pair);
  }

  Target target(std::int64_t position, std::int64_t pair, Component component, Precision precision) {
    const bool is_sine = component == Component::sine;
    const reference::Rotation& rotation = oracle_.rotation(position, pair, length_, precision);
    const Enclosure& factor = oracle_.attention_factor(length_, precision);
    const Enclosure truth = factor * (is_sine ? rotation.sin : rotation.cos);
    const Enclosure derivative = factor * (is_sine ? rotation.cos : rotation.sin);
    return {truth, budget_.element_bound(truth, derivative, factor, rotation.angle, pair)};
  }

  std::string text_at(const Row& row, std::int64_t pair, Component component, std::int64_t first) const {
    return fmt::format("position {}, token {}, {} of pair {}{}", row.position, row.token,
                       component == Component::sine ? "sin" : "cos", pair, first == 0 ? "" : ", its second copy");
  }

  void judge_rows(Judgement& judgement, const TwoRows& rows) override {
    const std::int64_t position = rows.place[0];
    const std::int64_t width = rows.one.shape[1];
    for (std::int64_t first = 0; first < width; first += 2 * count()) {
      for (std::int64_t pair = 0; pair < count(); ++pair) {
        const double least = budget_.least_pair_bound(size(), angle_at(position, static_cast<std::size_t>(pair)), pair);
        judge_pair(judgement, rows, {first + pair, first + count() + pair}, least,
                   [&](Precision precision) -> Allowance {
                     const Enclosure norm = abs(oracle_.attention_factor(length_, precision));
                     return {budget_.pair_bound(norm, oracle_.angle(position, pair, length_, precision), pair), norm};
                   });
      }
    }
  }

  reference::RopeReference oracle_;
  std::int64_t length_;
  ErrorBudget budget_;
  reference::FastRotations fast_;
  DoubleDoubleWithin factor_;
  ValueJudge judge_;
  bool is_unit_ = false;
  std::vector<double> frequencies_;
  std::vector<double> values_;  // one row's
};

class RotaryTableModel final : public CodeModel {
 public:
  RotaryTableModel(const Spec& spec, const RotaryTable& encoding)
      : CodeModel(spec, 2 * pairs(encoding)), encoding_(encoding) {}

  Tensor ask(Session& session, const Call& call) const override { return table(session, spec(), call.positions); }

  std::vector<Variant> variants() const override {
    Variants<RotaryTable> list(spec());
    const auto with = [&](const char* field, void (*change)(Rope & rope)) {
      list.with(field, [change](RotaryTable& e) { change(e.rope); });
    };
    with("rope_theta", [](Rope& e) { e.rope_theta = e.rope_theta * 3 + 7; });
    with("rotary_dim",
         [](Rope& e) { e.rotary_dim = e.rotary_dim == e.head_dim ? e.head_dim / 2 / 2 * 2 : e.head_dim; });
    with("rope_scaling", [](Rope& e) {
      e.rope_scaling = std::holds_alternative<LinearScaling>(e.rope_scaling) ? RopeScaling(DefaultScaling{})
                                                                             : RopeScaling(LinearScaling{2.5});
    });
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<RotaryTableJudge>(spec(), encoding_); }
  std::unique_ptr<EncodedPairs> encoded_pairs() const override { return make_table_pairs(spec(), encoding_.rope); }

 private:
  RotaryTable encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const RotaryTable& encoding) {
  return std::make_unique<RotaryTableModel>(spec, encoding);
}

}  // namespace sextant
