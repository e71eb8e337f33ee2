#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant::mutants {

/// What a call of rotate looks like.
struct RotateCall {
  std::int64_t batch;
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t length;                      ///< the largest position + 1, of the call or of the batch row at hand
  std::span<const std::int64_t> positions;  ///< [batch, tokens]
};

/// What each of `batch` rows of a call takes for its length.
using RowLengths =
    std::function<std::vector<std::int64_t>(std::span<const std::int64_t> positions, std::int64_t batch)>;

/// As the rule says.
RowLengths row_lengths_of(const RopeScaling& scaling);

/// One vector of a call.
struct Place {
  std::int64_t batch;
  std::int64_t token;
  std::int64_t head;
};

/// The sine and cosine that a pair is turned by.
struct Turn {
  double sin;
  double cos;
};

/// Su et al. 2021, section 3.2.2, as it is commonly written: step by step in float32, one function a step, each of
/// which a mutant may replace. As made it is right within float32-angle for every field of the spec, every scaling rule
/// included.
struct PlainRope {
  PlainRope(const Rope& claimed, Dtype of_values);

  Rope encoding;
  Dtype dtype;

  std::function<double(const RotateCall&, const Place&)> position;      ///< the position of a vector's token
  RowLengths row_lengths;                                               ///< that frequencies are formed at
  std::function<std::vector<double>(const RotateCall&)> frequencies;    ///< [pairs], scaled
  std::function<double(std::int64_t length)> factor;                    ///< the attention factor
  std::function<double(double position, double frequency)> angle;       ///< fl32(fl32(p) fl32(w))
  std::function<Turn(double angle)> turn;                               ///< fl32(sin), fl32(cos), negated for clockwise
  std::function<Channels(const RotateCall&, std::int64_t pair)> input;  ///< where a pair is read
  std::function<Channels(const RotateCall&, std::int64_t pair)> output;  ///< where it is written
  std::function<void(double& a, double& b, const Turn& turn)> apply;     ///< each operation rounded to float32
  std::function<bool(const RotateCall&, const Place&)> skips;            ///< whether a vector is left as it came
  std::function<double(double value)> receive;                           ///< what happens to a value of x first
  std::function<void(Tensor& y, const Tensor& x, const RotateCall&)>
      afterwards;  ///< what is done to the finished result

  /// y of x, [batch, tokens, heads, head_dim].
  Tensor rotate(const Tensor& x, std::span<const std::int64_t> positions) const;

  /// The adjoint: x's gradient of y's, turned back by the same steps.
  Tensor backward(const Tensor& grad, std::span<const std::int64_t> positions) const;
};

/// The frequencies of `encoding` under its scaling rule, in double, as the papers and deployed code write them
/// (lib/spec/rope_scaling.hpp).
std::vector<double> plain_frequencies(const Rope& encoding, std::int64_t length);

/// Its attention factor, likewise.
double plain_factor(const Rope& encoding, std::int64_t length);

/// base^(-2i/width), [count].
std::vector<double> geometric(double base, std::int64_t width, std::int64_t count);

}  // namespace sextant::mutants
