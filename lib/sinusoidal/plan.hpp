#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/kernels/frequency_pieces.hpp"
#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/step_rotations.hpp"
#include "lib/numeric/rounding.hpp"
#include "lib/spec/spec.hpp"

// Private to lib/sinusoidal: what an encoder keeps, and the kernels' interface.

namespace sextant {

/// sin and cos of the angles of as many pairs as the widest vector has floats.
struct alignas(64) SingleStepGroup {
  static constexpr std::size_t lanes = 2 * FrequencyPieces::lanes;
  std::array<float, lanes> sin;
  std::array<float, lanes> cos;
};

/// What is computed once per encoder.
struct SinusoidalPlan {
  Sinusoidal encoding;
  CountUnit unit;
  FrequencyPieces frequencies;
  /// Rows whose positions lie less than this from an anchor's, to both sides, can share it. At most 64: the anchor's
  /// cost is spread over them, and the rows of steps must stay in the first-level cache at dim 64. Fewer in tables
  /// wider than 8192, so that the steps stay below 16 MiB.
  std::int64_t block = 64;
  std::int64_t span() const { return 2 * block - 1; }
  /// e^{i w j} for j = 0 .. block - 1, then for j = span(), as double-doubles within precise_rotation_error: one entry
  /// for each group of pairs.
  std::vector<StepGroup> step_high;
  std::vector<StepGroup> step_low;
  /// The steps j = 0 .. block - 1 rounded to float.
  std::vector<SingleStepGroup> step_single;

  /// The entry of step j, or of span() for j = block, that `pair` is in.
  std::size_t step_at(std::int64_t j, std::size_t pair) const {
    return (static_cast<std::size_t>(j) * frequencies.padded() + pair) / FrequencyPieces::lanes;
  }
  std::size_t single_step_at(std::int64_t j, std::size_t pair) const {
    const std::size_t groups = (frequencies.padded() + SingleStepGroup::lanes - 1) / SingleStepGroup::lanes;
    return static_cast<std::size_t>(j) * groups + pair / SingleStepGroup::lanes;
  }
};

/// The plan of an encoding whose counts are of that unit. @throws SpecError if it is outside of its domain, TargetError
/// as targets.hpp says.
SinusoidalPlan sinusoidal_plan(const Sinusoidal& encoding, const CountUnit& unit = {});

/// The rows [first_row, last_row) of a call. Their positions, position_offset included, are list[row] + offset, or
/// first + row * step where there is no list.
struct Strip {
  const std::int64_t* list;
  std::int64_t offset;
  std::int64_t first;
  std::int64_t step;
  std::int64_t first_row;
  std::int64_t last_row;
  Rows out;
  Rounding rounding;
  Caching caching;

  std::int64_t position(std::int64_t row) const { return list != nullptr ? list[row] + offset : first + row * step; }
};

/// Fills the steps.
void fill_steps(SinusoidalPlan& plan);

/// Encodes a strip. False if a value could not be decided by the last tier; its element is then without meaning.
bool encode_strip(const SinusoidalPlan& plan, const Strip& strip);

}  // namespace sextant
