#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <cstddef>
#include <random>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "reference/enclosure.hpp"
#include "reference/rounding.hpp"

// For the encoders' tests: the oracle's nearest values, and the same bits on any number of threads.

namespace sextant {

inline constexpr Dtype floating_dtypes[] = {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16};

/// The value of the dtype nearest to the real number that enclose(reference::Precision) encloses.
template <class Enclose>
double nearest(Dtype dtype, Enclose enclose) {
  for (reference::Precision precision = reference::first_precision; precision.bits <= reference::last_precision.bits;
       precision.bits *= 2) {
    if (const auto value = reference::correctly_rounded(dtype, enclose(precision))) return *value;
  }
  ADD_FAILURE() << "the oracle is undecided";
  return 0;
}

/// Whether make() gives the same bytes with 1, 2 and 3 threads; make returns a Tensor.
template <class Make>
void expect_same_on_threads(Make make) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Tensor alone = make();
  for (const int threads : {2, 3}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(make().data, alone.data) << threads << " threads";
  }
  omp_set_num_threads(before);
}

/// A tensor of values between -range and range, of the dtype.
inline Tensor random_tensor(Dtype dtype, std::vector<std::int64_t> shape, unsigned seed, double range = 2) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-range, range);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value(random));
  return tensor;
}

/// The same elements, exactly.
inline Tensor in_float64(const Tensor& x) {
  Tensor wide = Tensor::zeros(Dtype::float64, x.shape);
  for (std::int64_t i = 0; i < x.elements(); ++i) wide.set(i, x.at(i));
  return wide;
}

}  // namespace sextant
