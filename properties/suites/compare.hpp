#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "properties/suites/suite.hpp"

namespace sextant::suites {

/// numpy's and torch's rule: |got - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double relative;
  double absolute;
};

Outcome close(const Tensor& got, const Tensor& expected, const Tolerance& tolerance);

/// torch.testing.assert_close's of a dtype.
Tolerance default_tolerance(Dtype dtype);

/// ggml's: the sum of squared differences over that of the expected values is at most `most`.
Outcome close_in_squares(const Tensor& got, const Tensor& expected, double most);

/// The mean of |got - expected| over that of |expected| is at most `most`.
Outcome close_in_mean(const Tensor& got, const Tensor& expected, double most);

/// The cosine of the angle between both is above `least`.
Outcome close_in_direction(const Tensor& got, const Tensor& expected, double least);

/// Values about as torch.randn's: sums of twelve uniform ones, rounded to the dtype.
Tensor normal_values(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill);

/// The first that is not passed.
Outcome all_of(std::initializer_list<Outcome> outcomes);

}  // namespace sextant::suites
