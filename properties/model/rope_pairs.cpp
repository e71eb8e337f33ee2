#include "properties/model/rope_pairs.hpp"

#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/vectors.hpp"
#include "reference/rope.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

class RopePairs : public EncodedPairs {
 public:
  RopePairs(const Spec& spec, const Rope& encoding) : spec_(spec), oracle_(encoding) {}

  std::int64_t count() const override { return pairs(encoding()); }
  double orientation() const override { return encoding().direction == Direction::clockwise ? -1 : 1; }

  Rows ask(Session& session, const std::vector<std::int64_t>& positions) const override {
    const Tensor x =
        gen::vectors(encoding(), spec_.dtype, {.batch = 1, .tokens = std::ssize(positions), .heads = 1}, 0);
    return rows_of(rotate(session, spec_, x, positions));
  }

  std::optional<Rows> ask_turned(Session& session, const std::vector<std::int64_t>& positions,
                                 const std::vector<PairValues>& vectors) const override {
    Tensor x = Tensor::zeros(spec_.dtype, {1, std::ssize(positions), 1, encoding().head_dim});
    for (std::int64_t start = 0; start < x.elements(); start += encoding().head_dim) {
      for (std::int64_t pair = 0; pair < count(); ++pair) {
        const Channels at = channels_of_pair(encoding(), encoding().pairing, pair);
        x.set(start + at.first, vectors[static_cast<std::size_t>(pair)].cos);
        x.set(start + at.second, vectors[static_cast<std::size_t>(pair)].sin);
      }
    }
    return rows_of(rotate(session, spec_, x, positions));
  }

  std::optional<Rows> emulate(const reference::Recipe& recipe,
                              const std::vector<std::int64_t>& positions) const override {
    return emulated(recipe, positions, reference::sequence_length(positions));
  }

  std::optional<std::vector<double>> recipe_radians(const reference::Recipe& recipe,
                                                    std::int64_t length) const override {
    auto known = reference::recipe_frequencies(recipe, encoding(), length);
    if (!known || known->radians.empty()) return std::nullopt;
    return std::move(known->radians);
  }

  Enclosure radius(Precision precision) override { return oracle_.attention_factor(spec_.max_position, precision); }
  Enclosure angle(std::int64_t position, std::int64_t pair, Precision precision) override {
    return oracle_.angle(position, pair, spec_.max_position, precision);
  }
  reference::Rotation advance(std::int64_t step, std::int64_t pair, Precision precision) override {
    return oracle_.rotation(step, pair, spec_.max_position, precision);
  }
  std::vector<double> frequencies(std::int64_t length) override {
    std::vector<double> list;
    for (std::int64_t pair = 0; pair < count(); ++pair)
      list.push_back(std::fabs(oracle_.angle(1, pair, length, reference::first_precision).upper()));
    return list;
  }

  ErrorBudget budget(AccuracyClass accuracy) const override {
    ArithmeticClaim claim = arithmetic_of(spec_);
    claim.accuracy = accuracy;
    return {claim, oracle_.frequencies(), spec_.max_position};
  }

  double bound(const ErrorBudget& allowed, const Truth& at, std::size_t i, Component, double size) const override {
    const auto pair = static_cast<std::int64_t>(i);
    const double angle = at.angle[i];
    const reference::Bounds quick = allowed.component_bound(size, angle, pair);
    if (quick.lower > 0) return quick.lower;
    // At a border of binades: the exact tier's bound of the doubles nearest to the truth.
    const auto near = [](double x) { return Enclosure(x, reference::first_precision); };
    return allowed.component_bound(near(size), near(angle), pair).upper();
  }

  double unit(double, double size) const override { return ulp(spec_.dtype, size); }
  std::int64_t place(std::int64_t position) const override { return orientation() < 0 ? -position : position; }

 protected:
  const Spec& spec() const { return spec_; }
  const Rope& encoding() const { return oracle_.encoding(); }

  // The pairs of each vector.
  Rows rows_of(const Tensor& y) const {
    Rows rows;
    for (std::int64_t start = 0; start < y.elements(); start += encoding().head_dim) {
      auto& values = rows.emplace_back();
      for (std::int64_t pair = 0; pair < count(); ++pair) {
        const Channels at = channels_of_pair(encoding(), encoding().output_pairing, pair);
        values.push_back({y.at(start + at.second), y.at(start + at.first)});
      }
    }
    return rows;
  }

  std::optional<Rows> emulated(const reference::Recipe& recipe, const std::vector<std::int64_t>& positions,
                               std::int64_t length) const {
    auto emulation = reference::RopeEmulation::of(recipe, encoding(), spec_.dtype);
    if (!emulation) return std::nullopt;
    Rows rows;
    for (const std::int64_t position : positions) {
      auto& values = rows.emplace_back();
      for (const reference::Intermediates& had : emulation->at(position, length)) {
        const auto turned = emulation->rotate(had, 1, 0);
        values.push_back({turned.second, turned.first});
      }
    }
    return rows;
  }

  reference::FastRotations fast(std::int64_t length) override { return oracle_.fast(length); }
  DoubleDoubleWithin factor(std::int64_t length) override {
    return DoubleDoubleWithin::of(oracle_.attention_factor(length, reference::first_precision));
  }

  Spec spec_;
  reference::RopeReference oracle_;
};

class TablePairs final : public RopePairs {
 public:
  using RopePairs::RopePairs;

  std::optional<Rows> ask_turned(Session&, const std::vector<std::int64_t>&,
                                 const std::vector<PairValues>&) const override {
    return std::nullopt;
  }

  Rows ask(Session& session, const std::vector<std::int64_t>& positions) const override {
    const Tensor values = table(session, spec(), positions);
    Rows rows;
    for (std::int64_t start = 0; start < values.elements(); start += values.shape[1]) {
      auto& row = rows.emplace_back();
      for (std::int64_t pair = 0; pair < count(); ++pair)
        row.push_back({.sin = values.at(start + count() + pair), .cos = values.at(start + pair)});
    }
    return rows;
  }

  std::optional<Rows> emulate(const reference::Recipe& recipe,
                              const std::vector<std::int64_t>& positions) const override {
    return emulated(recipe, positions, spec().max_position);
  }
  std::optional<std::vector<double>> recipe_radians(const reference::Recipe& recipe, std::int64_t) const override {
    return RopePairs::recipe_radians(recipe, spec().max_position);
  }
  std::vector<double> frequencies(std::int64_t) override { return RopePairs::frequencies(spec().max_position); }

  double bound(const ErrorBudget& allowed, const Truth& at, std::size_t i, Component component,
               double size) const override {
    const auto pair = static_cast<std::int64_t>(i);
    const DoubleDoubleWithin& value = at.value(i, component);
    const auto other = component == Component::sine ? Component::cosine : Component::sine;
    const double derivative = at.value(i, other).high;
    const double angle = at.angle[i];
    const auto near = [](double x) { return Enclosure(x, reference::first_precision); };
    // element_bound takes a norm to be exact under pair-norm.
    if (allowed.accuracy() == AccuracyClass::pair_norm) return RopePairs::bound(allowed, at, i, component, size);
    const reference::Bounds quick = allowed.element_bound(magnitude(value), derivative, size, angle, pair);
    if (quick.lower > 0) return quick.lower;
    return allowed.element_bound(near(value.high), near(derivative), near(size), near(angle), pair).upper();
  }

  double unit(double truth, double) const override { return ulp(spec().dtype, truth); }

 private:
  reference::FastRotations fast(std::int64_t) override { return RopePairs::fast(spec().max_position); }
  DoubleDoubleWithin factor(std::int64_t) override { return RopePairs::factor(spec().max_position); }
};

}  // namespace

std::unique_ptr<EncodedPairs> make_rope_pairs(const Spec& spec, const Rope& encoding) {
  return std::make_unique<RopePairs>(spec, encoding);
}

std::unique_ptr<EncodedPairs> make_table_pairs(const Spec& spec, const Rope& encoding) {
  return std::make_unique<TablePairs>(spec, encoding);
}

}  // namespace sextant
