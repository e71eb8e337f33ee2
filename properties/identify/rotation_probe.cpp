#include "properties/identify/rotation_probe.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>

#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// At 0 a rotation is the identity; of the others one at least turns each pair by an angle that no dtype rounds to 0.
constexpr std::int64_t structure_positions[] = {0, 1, 3, 1001};

// Answers [positions][input channel][output channel].
class Matrices {
 public:
  Matrices(Session& session, const Spec& spec, std::int64_t width) : width_(width) {
    std::vector<std::int64_t> positions;
    for (const std::int64_t position : structure_positions) {
      if (position >= spec.max_position) break;
      positions.insert(positions.end(), static_cast<std::size_t>(width), position);
    }
    count_ = std::ssize(positions) / width;
    Tensor x = Tensor::zeros(spec.dtype, {1, std::ssize(positions), 1, width});
    for (std::int64_t token = 0; token < std::ssize(positions); ++token) x.set(token * width + token % width, 1);
    answer_ = rotate(session, spec, x, positions);
  }

  std::int64_t count() const { return count_; }
  double at(std::int64_t index, std::int64_t input, std::int64_t output) const {
    return answer_.at((index * width_ + input) * width_ + output);
  }

  // The output channels that an input reaches at some position.
  std::vector<std::int64_t> reached(std::int64_t input) const {
    std::vector<std::int64_t> outputs;
    for (std::int64_t output = 0; output < width_; ++output) {
      for (std::int64_t index = 0; index < count_; ++index) {
        if (at(index, input, output) == 0) continue;
        outputs.push_back(output);
        break;
      }
    }
    return outputs;
  }

 private:
  std::int64_t width_;
  std::int64_t count_ = 0;
  Tensor answer_;
};

}  // namespace

RotationStructure structure_of(Session& session, const Spec& spec, const Rope& shape) {
  const Matrices matrices(session, spec, shape.head_dim);
  RotationStructure structure;
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> by_outputs;
  std::optional<double> factor;
  for (std::int64_t input = 0; input < shape.head_dim; ++input) {
    std::vector<std::int64_t> outputs = matrices.reached(input);
    if (outputs.empty()) {
      structure.lost.push_back(input);
    } else if (outputs.size() == 1) {
      structure.kept.push_back({outputs.front(), input});
      for (std::int64_t index = 0; index < matrices.count(); ++index) {
        const double value = matrices.at(index, input, outputs.front());
        if (!factor) factor = value;
        if (value != *factor) factor = std::nan("");
      }
    } else if (outputs.size() == 2) {
      by_outputs[std::move(outputs)].push_back(input);
    } else {
      structure.tangled.push_back(input);
    }
  }
  if (factor) structure.kept_factor = *factor;
  for (const auto& [outputs, inputs] : by_outputs) {
    if (inputs.size() == 2) {
      structure.pairs.push_back({{inputs[0], inputs[1]}, {outputs[0], outputs[1]}});
    } else {
      structure.tangled.insert(structure.tangled.end(), inputs.begin(), inputs.end());
    }
  }
  std::ranges::sort(structure.pairs, {}, [](const TurnedPair& pair) { return pair.input.first; });
  std::ranges::sort(structure.tangled);
  return structure;
}

TurnedRows turned_rows(Session& session, const Spec& spec, const Rope& shape, const std::vector<TurnedPair>& pairs,
                       const std::vector<std::int64_t>& positions) {
  const std::int64_t width = shape.head_dim;
  const std::int64_t count = std::ssize(positions);
  std::vector<std::int64_t> twice = positions;
  twice.insert(twice.end(), positions.begin(), positions.end());
  Tensor x = Tensor::zeros(spec.dtype, {1, 2 * count, 1, width});
  for (std::int64_t token = 0; token < count; ++token) {
    for (const TurnedPair& pair : pairs) {
      x.set(token * width + pair.input.first, 1);
      x.set((count + token) * width + pair.input.second, 1);
    }
  }
  const Tensor y = rotate(session, spec, x, twice);
  TurnedRows rows{positions, {}, {}};
  for (std::int64_t token = 0; token < count; ++token) {
    auto& first = rows.first.emplace_back();
    auto& second = rows.second.emplace_back();
    for (const TurnedPair& pair : pairs) {
      const auto value = [&](std::int64_t row, std::int64_t channel) { return y.at(row * width + channel); };
      first.push_back({.sin = value(token, pair.output.second), .cos = value(token, pair.output.first)});
      second.push_back(
          {.sin = -value(count + token, pair.output.first), .cos = value(count + token, pair.output.second)});
    }
  }
  return rows;
}

Norm norm_of(const Rows& rows, Dtype dtype) {
  double sum = 0;
  double count = 0;
  for (const auto& row : rows) {
    for (const PairValues& value : row) {
      sum += std::hypot(value.sin, value.cos);
      ++count;
    }
  }
  Norm norm;
  const double unit = std::ldexp(1, -format_of(dtype).precision);
  if (count == 0) return {1, 4 * unit, {1, 1}};
  norm.size = sum / count;
  // Of each pair how far its norms are apart, in the middle: one that is odd says nothing of the others.
  std::vector<double> spreads;
  for (std::size_t pair = 0; pair < rows.front().size(); ++pair) {
    Range seen{HUGE_VAL, 0};
    for (const auto& row : rows) {
      const double size = std::hypot(row[pair].sin, row[pair].cos);
      seen = {std::min(seen.low, size), std::max(seen.high, size)};
    }
    spreads.push_back((seen.high - seen.low) / norm.size);
  }
  std::ranges::nth_element(spreads, spreads.begin() + std::ssize(spreads) / 2);
  const double spread = spreads[spreads.size() / 2];
  norm.noise = 4 * std::max(unit, spread);
  // The mean of values each rounded twice.
  const double off = norm.size * std::max(unit, spread / 4);
  norm.range = {norm.size - off, norm.size + off};
  return norm;
}

std::vector<std::int64_t> doubling_positions(std::int64_t end) {
  std::vector<std::int64_t> positions{0};
  constexpr std::int64_t longest = std::int64_t{1} << 20;
  for (std::int64_t position = 1; position < end && position <= longest; position *= 2) positions.push_back(position);
  return positions;
}

std::vector<MeasuredTurn> measured_turns(const std::vector<std::int64_t>& positions, const Rows& rows,
                                         const Norm& norm) {
  // A sine that is exactly 0 may have been below the least number of float16.
  constexpr double least_seen = 0x1p-24;
  std::vector<MeasuredTurn> turns;
  for (std::size_t pair = 0; pair < rows.front().size(); ++pair) {
    MeasuredTurn turn;
    // No frequency in use is above half a turn a position.
    turn.uncertainty = std::numbers::pi;
    for (std::size_t at = 1; at < positions.size(); ++at) {
      const PairValues& value = rows[at][pair];
      const auto step = static_cast<double>(positions[at]);
      const double phase = std::atan2(value.sin, value.cos);
      const double angle = std::max(std::fabs(phase), std::fabs(turn.radians * step));
      const double off = norm.noise * std::min(angle, 1.0) + (value.sin == 0 ? least_seen : 0);
      if (at > 1 && step * turn.uncertainty + off >= std::numbers::pi / 2) break;
      const double residue = std::remainder(phase - turn.radians * step, 2 * std::numbers::pi);
      // Not (... <= ...), so that a NaN ends it too.
      if (!(std::fabs(residue) <= step * turn.uncertainty + off)) {
        turn.departs = positions[at];
        break;
      }
      if (off / step < turn.uncertainty) {
        turn.radians += residue / step;
        turn.uncertainty = off / step;
      }
    }
    turns.push_back(turn);
  }
  return turns;
}

}  // namespace sextant::identify
