#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/powers.hpp"

namespace sextant {

/// sin and cos of the angles of a group of pairs, as vectors read them.
struct alignas(64) StepGroup {
  std::array<double, FrequencyPieces::lanes> sin;
  std::array<double, FrequencyPieces::lanes> cos;
};

/// The floats nearest to those of two groups.
struct alignas(64) StepGroupInFloat {
  std::array<float, 2 * FrequencyPieces::lanes> sin;
  std::array<float, 2 * FrequencyPieces::lanes> cos;
};

/// e^{2 pi i f j} of each frequency f, in turns, for the steps j = 0 .. count - 1, each component within rotation_error
/// of the real number. A rotation at any position is then one product of that at the multiple of `count` below it,
/// which neighbouring positions share.
class StepRotations {
 public:
  static constexpr std::int64_t count = 16;

  StepRotations() = default;
  /// On the instruction set in use. @throws TargetError as targets.hpp says.
  explicit StepRotations(const FrequencyPieces& frequencies);
  /// The same times the powers 2^(g j) of the pairs, each factor rounded to double and their product once: within 3.8
  /// 2^-53 of the power in the Euclidean norm.
  StepRotations(const FrequencyPieces& frequencies, const PowerRates& rates);

  /// The groups of step j, 0 <= j < count: one for each FrequencyPieces::lanes of the padded frequencies.
  const StepGroup* at(std::int64_t j) const {
    return groups_.data() + static_cast<std::size_t>(j) * (groups_.size() / count);
  }

  /// The same in float; what fills up the last group is 0.
  const StepGroupInFloat* at_in_float(std::int64_t j) const {
    return in_float_.data() + static_cast<std::size_t>(j) * (in_float_.size() / count);
  }

 private:
  void fill_in_float();

  std::vector<StepGroup> groups_;
  std::vector<StepGroupInFloat> in_float_;
};

}  // namespace sextant
