#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/budget.hpp"
#include "reference/recipe.hpp"
#include "reference/rope.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {

/// A pair's values at one position: (sin, cos) of a sinusoid, of a unit vector for rope.
struct PairValues {
  double sin;
  double cos;
};

using Rows = std::vector<std::vector<PairValues>>;  // [positions][pairs]

/// A spec of sinusoidal or rope, alike: what is asked, and what is true.
class EncodedPairs {
 public:
  explicit EncodedPairs(const Spec& spec) : spec_(spec) {
    if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.encoding)) {
      sine_.emplace(*sinusoidal);
    } else {
      rope_.emplace(std::get<Rope>(spec.encoding));
    }
  }

  std::int64_t pairs_count() const { return sine_ ? pairs(sine_->encoding()) : pairs(rope_->encoding()); }
  double radius() {
    return sine_ ? std::fabs(sine_->encoding().scale) : rope_->attention_factor(reference::first_precision).upper();
  }

  Rows ask(Session& session, const std::vector<std::int64_t>& positions) const {
    Rows rows;
    const auto count = std::ssize(positions);
    if (sine_) {
      const Sinusoidal& encoding = sine_->encoding();
      const Tensor table = encode(session, spec_, positions);
      for (std::int64_t row = 0; row < count; ++row) {
        auto& values = rows.emplace_back();
        for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
          const Channels at = channels_of_pair(encoding, pair);
          values.push_back({table.at(row * encoding.dim + at.first), table.at(row * encoding.dim + at.second)});
        }
      }
      return rows;
    }
    const Rope& encoding = rope_->encoding();
    const Tensor x = gen::vectors(encoding, spec_.dtype, {.batch = 1, .tokens = count, .heads = 1}, 0);
    const Tensor y = rotate(session, spec_, x, positions);
    for (std::int64_t row = 0; row < count; ++row) {
      auto& values = rows.emplace_back();
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels at = channels_of_pair(encoding, encoding.output_pairing, pair);
        values.push_back({y.at(row * encoding.head_dim + at.second), y.at(row * encoding.head_dim + at.first)});
      }
    }
    return rows;
  }

  // What a recipe gives for the same question; nothing where none is known.
  std::optional<Rows> emulate(const reference::Recipe& recipe, const std::vector<std::int64_t>& positions) const {
    auto emulation = reference::RecipeEmulation::of(recipe, spec_);
    if (!emulation) return std::nullopt;
    Rows rows;
    const std::int64_t length = reference::sequence_length(positions);
    for (const std::int64_t position : positions) {
      auto& values = rows.emplace_back();
      if (sine_) {
        const std::vector<double> row = emulation->encode(position);
        for (std::int64_t pair = 0; pair < pairs(sine_->encoding()); ++pair) {
          const Channels at = channels_of_pair(sine_->encoding(), pair);
          values.push_back({row[static_cast<std::size_t>(at.first)], row[static_cast<std::size_t>(at.second)]});
        }
      } else {
        for (const reference::Intermediates& had : emulation->at(position, length)) {
          const auto turned = emulation->rotate(had, 1, 0);
          values.push_back({turned.second, turned.first});
        }
      }
    }
    return rows;
  }

  struct Truth {
    std::vector<reference::DoubleDoubleWithin> sin;  // times scale or attention factor
    std::vector<reference::DoubleDoubleWithin> cos;
    std::vector<double> angle;
  };

  // [positions], in a call of `length`.
  std::vector<Truth> truth(const std::vector<std::int64_t>& positions, std::int64_t length) {
    const reference::FastRotations fast = sine_ ? sine_->fast() : rope_->fast(length);
    const auto factor = sine_ ? reference::DoubleDoubleWithin::exactly(sine_->encoding().scale)
                              : reference::DoubleDoubleWithin::of(rope_->attention_factor(reference::first_precision));
    const std::vector<double> w = frequencies(length);
    reference::RotationRow row = fast.make_row();
    std::vector<Truth> list;
    for (const std::int64_t position : positions) {
      const std::int64_t place = sine_            ? position + sine_->encoding().position_offset
                                 : is_clockwise() ? -position
                                                  : position;
      fast.at(place, row);
      Truth& at = list.emplace_back();
      for (std::size_t i = 0; i < w.size(); ++i) {
        at.sin.push_back(factor * row.sin(i));
        at.cos.push_back(factor * row.cos(i));
        at.angle.push_back(w[i] * static_cast<double>(place));
      }
    }
    return list;
  }

  // Positive, in radians per position.
  std::vector<double> frequencies(std::int64_t length) {
    std::vector<double> list;
    for (std::int64_t pair = 0; pair < pairs_count(); ++pair) {
      const reference::Enclosure angle = sine_ ? sine_->shift(1, pair, reference::first_precision).angle
                                               : rope_->angle(1, pair, length, reference::first_precision);
      list.push_back(std::fabs(angle.upper()));
    }
    return list;
  }

  bool is_clockwise() const { return rope_ && rope_->encoding().direction == Direction::clockwise; }

  ErrorBudget budget(AccuracyClass accuracy) const {
    if (sine_) return {accuracy, spec_.dtype, sine_->frequencies(), pairs(sine_->encoding())};
    return {accuracy, spec_.dtype, rope_->frequencies(), spec_.max_position};
  }

  // What the class allows for one value.
  double bound(const ErrorBudget& allowed, const Truth& at, std::size_t i, bool is_sine, double size) const {
    const auto pair = static_cast<std::int64_t>(i);
    const reference::DoubleDoubleWithin& value = is_sine ? at.sin[i] : at.cos[i];
    const reference::Bounds quick =
        sine_ ? allowed.element_bound(magnitude(value), is_sine ? at.cos[i].high : at.sin[i].high, size, at.angle[i],
                                      pair)
              : allowed.component_bound(size, at.angle[i], pair);
    if (quick.lower > 0) return quick.lower;
    // At a border of binades: the exact tier's bound of the doubles nearest to the truth.
    const reference::Precision precision = reference::first_precision;
    const auto near = [&](double x) { return reference::Enclosure(x, precision); };
    return (sine_ ? allowed.element_bound(near(value.high), near(is_sine ? at.cos[i].high : at.sin[i].high), near(size),
                                          near(at.angle[i]), pair)
                  : allowed.component_bound(near(size), near(at.angle[i]), pair))
        .upper();
  }

  // The unit of a ULP: the pair's norm for a rotation, the value itself for a code.
  double unit(double truth, double size) const { return ulp(spec_.dtype, rope_ ? size : truth); }

 private:
  Spec spec_;
  std::optional<reference::SinusoidalReference> sine_;
  std::optional<reference::RopeReference> rope_;
};

}  // namespace sextant
