#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant::mutants {

/// A row of a call: which position is asked for, and where it stands among the call's.
struct Row {
  std::int64_t position;  ///< of real ones the count of steps
  std::int64_t index;
  std::int64_t count;
};

/// Vaswani et al. 2017, section 3.5, as it is commonly written: step by step in float32, one function a step, each of
/// which a mutant may replace. As made it is right within float32-angle for every field of the spec.
struct PlainSinusoidal {
  PlainSinusoidal(const Sinusoidal& claimed, Dtype of_values);

  Sinusoidal encoding;
  Dtype dtype;

  std::function<double(const Row&)> position;        ///< the number that frequencies are multiplied by: p + offset
  std::function<std::vector<double>()> frequencies;  ///< [pairs] of the sines
  std::function<std::vector<double>()> cosine_frequencies;         ///< the same
  std::function<double(double position, double frequency)> angle;  ///< fl32(fl32(p) fl32(w)), times the angle scale
  std::function<double(double angle)> sine;                        ///< fl32(sin)
  std::function<double(double angle)> cosine;                      ///< fl32(cos)
  std::function<double(double value)> finish;                      ///< times the scale, in float32
  std::function<Channels(std::int64_t pair)> channels;             ///< of sine and cosine
  std::function<void(Tensor& table, std::span<const std::int64_t> positions)>
      afterwards;  ///< what is done to the finished table

  /// [n, dim].
  Tensor encode(std::span<const std::int64_t> positions) const;
};

/// The nearest float32. Here in full, since the plain implementations do little else.
inline double in_float32(double value) { return static_cast<double>(static_cast<float>(value)); }

}  // namespace sextant::mutants
