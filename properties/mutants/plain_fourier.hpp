#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "subjects/function.hpp"

namespace sextant::mutants {

/// How angles and values are rounded on their way.
enum class Steps { in_float32, in_float64 };

/// Fourier features as they are commonly written, in float32, or in double where exact angles are claimed: a step a
/// member, each of which a mutant may replace. As made it is right for every field of the spec.
struct PlainFourier {
  PlainFourier(const Fourier& claimed, Dtype of_values, Steps steps);

  /// From now on everything is as this claim has it, but for the width of a row.
  void claim(const Fourier& other);

  /// [n, width]; `given` is the matrix of the ladder `weight`, else null.
  Tensor encode(const std::vector<std::int64_t>& positions, const Tensor* given) const;

  Fourier encoding;
  Dtype dtype;
  bool unit_first = false;  ///< whether it multiplies coordinates, not products
  double unit = 1;          ///< 1, pi or 2 pi
  std::function<double(double value)> rounded;
  std::function<double(double p)> position;
  std::function<double(std::int64_t axis, double p)> coordinate;
  std::function<double(std::int64_t band)> frequency;
  std::function<Tensor(const Tensor& weight)> matrix;
  std::function<double(double angle)> sine;
  std::function<double(double angle)> cosine;
  std::function<double(double c)> in_row;  ///< what the row holds of a coordinate
  std::function<Channels(std::int64_t axis, std::int64_t band)> channels;
  std::function<std::optional<std::int64_t>(std::int64_t axis)> identity;
  std::function<void(Tensor& table, const std::vector<std::int64_t>& positions)>
      afterwards;  ///< what is done to the finished table

 private:
  double angle(const std::vector<double>& c, std::int64_t axis, std::int64_t band, const Tensor* weight) const;
};

/// A fresh one for each session, changed once: what the change keeps in a shared_ptr is the session's state.
FunctionSubject::Make fourier_subject(std::function<void(PlainFourier&)> change);

}  // namespace sextant::mutants
