#include "properties/identify/rotations/rotation_probe.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// At 0 a rotation is the identity; of the others one at least turns each pair by an angle that no dtype rounds to 0. Of
// real positions some are whole, as what takes no others turns nothing by fractions.
std::vector<std::int64_t> structure_positions(const Spec& spec) {
  const auto whole = std::llround(1 / position_grid_of(spec.encoding).step);
  std::vector<std::int64_t> positions{0, 1, 3, 1001};
  if (whole > 1) positions.insert(positions.end(), {whole, 3 * whole});
  std::ranges::sort(positions);
  return positions;
}

// Answers [positions][input channel][output channel].
class Matrices {
 public:
  Matrices(Session& session, const Spec& spec, std::int64_t width) : width_(width) {
    std::vector<std::int64_t> positions;
    for (const std::int64_t position : structure_positions(spec)) {
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
  // A call for each member, so that positions ascend in both, whatever a subject makes of those that do not.
  const auto turned = [&](std::int64_t Channels::*member) {
    Tensor x = Tensor::zeros(spec.dtype, {1, count, 1, width});
    for (std::int64_t token = 0; token < count; ++token) {
      for (const TurnedPair& pair : pairs) x.set(token * width + pair.input.*member, 1);
    }
    return rotate(session, spec, x, positions);
  };
  const Tensor of_first = turned(&Channels::first);
  const Tensor of_second = turned(&Channels::second);
  TurnedRows rows{positions, {}, {}};
  for (std::int64_t token = 0; token < count; ++token) {
    auto& first = rows.first.emplace_back();
    auto& second = rows.second.emplace_back();
    for (const TurnedPair& pair : pairs) {
      const std::int64_t to_first = token * width + pair.output.first;
      const std::int64_t to_second = token * width + pair.output.second;
      first.push_back({.sin = of_first.at(to_second), .cos = of_first.at(to_first)});
      second.push_back({.sin = -of_second.at(to_first), .cos = of_second.at(to_second)});
    }
  }
  return rows;
}

Rows turned_vectors(Session& session, const Spec& spec, const Rope& shape, const std::vector<TurnedPair>& pairs,
                    const std::vector<std::int64_t>& positions, const AskedShape& asked) {
  const std::int64_t width = shape.head_dim;
  const std::int64_t vectors = std::ssize(positions) * asked.heads;
  Tensor x = Tensor::zeros(spec.dtype, {asked.batches, std::ssize(positions) / asked.batches, asked.heads, width});
  for (std::int64_t vector = 0; vector < vectors; ++vector) {
    for (const TurnedPair& pair : pairs) x.set(vector * width + pair.input.first, 1);
  }
  const Tensor y = rotate(session, spec, x, positions);
  Rows rows;
  for (std::int64_t vector = 0; vector < vectors; ++vector) {
    auto& row = rows.emplace_back();
    for (const TurnedPair& pair : pairs)
      row.push_back(
          {.sin = y.at(vector * width + pair.output.second), .cos = y.at(vector * width + pair.output.first)});
  }
  return rows;
}

}  // namespace sextant::identify
