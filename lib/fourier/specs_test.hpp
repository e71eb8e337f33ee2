#pragma once

#include <string>
#include <variant>
#include <vector>

#include "lib/kernels/truth_test.hpp"
#include "lib/spec/spec.hpp"

// For the tests of fourier: an encoding of each kind, places for it and a matrix.

namespace sextant {

struct NamedFeatures {
  std::string name;
  std::string json;

  Fourier encoding() const { return std::get<Fourier>(parse_spec(json).encoding); }
};

inline std::vector<NamedFeatures> every_kind_of_features() {
  return {
      {"nerf", R"({"encoding":"fourier","axes":3,"bands":10,"identity":"first","position_dtype":"float32",)"
               R"("position_step":9.5367431640625e-07,"min_position":-8,"max_position":8})"},
      {"paper", R"({"encoding":"fourier","axes":2,"bands":4,"angle_unit":"half_turn",)"
                R"("channel_order":"axis_frequency_function","position_dtype":"float64"})"},
      {"exponents", R"({"encoding":"fourier","axes":3,"bands":10,"highest":8,"angle_unit":"turn",)"
                    R"("channel_order":"function_axis_frequency","identity":"last","position_dtype":"float32"})"},
      {"linear", R"({"encoding":"fourier","bands":9,"ladder":"linear","highest":12.25,"angle_unit":"half_turn",)"
                 R"("channel_order":"function_frequency_axis","identity":"first","first":"cos","coordinates":"ends",)"
                 R"("extents":[31,24]})"},
      {"cells", R"({"encoding":"fourier","bands":17,"ladder":"weight","coordinates":"centres","extents":[64,48],)"
                R"("identity":"last"})"},
      {"gaussian", R"({"encoding":"fourier","axes":4,"bands":7,"ladder":"weight","angle_unit":"radian",)"
                   R"("channel_order":"frequency_function","position_dtype":"float64"})"},
      {"line", R"({"encoding":"fourier","bands":1,"lowest":-3.5,"channel_order":"frequency_axis_function"})"},
      {"pixels", R"({"encoding":"fourier","bands":3,"channel_order":"axis_function_frequency","angle_unit":"turn",)"
                 R"("identity":"first","coordinates":"centres","extents":[20,1,7],"position_dtype":"float32"})"},
  };
}

/// Counts [axes, n] of n places, another walk on each axis, on a grid within it.
inline std::vector<std::int64_t> some_places(const Fourier& encoding, std::int64_t n) {
  std::vector<std::int64_t> places;
  for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t walk = i * i * (37 + 2 * axis) + i * (5 + axis) + axis;
      const std::int64_t end =
          encoding.extents.empty()
              ? 1 << 22
              : *encoding.positions.count_of(static_cast<double>(encoding.extents[static_cast<std::size_t>(axis)]));
      places.push_back(walk % end - (encoding.extents.empty() && i % 3 == 0 ? end / 2 : 0));
    }
  }
  return places;
}

/// Frequencies of about 2, some of them 0 or far smaller or larger.
inline Tensor some_matrix(const Fourier& encoding, Dtype dtype) {
  Tensor weight = random_tensor(dtype, {encoding.axes, encoding.bands}, 7, 3);
  weight.set(0, 0);
  const std::int64_t last = weight.elements() - 1;
  if (last > 0) weight.set(1, weight.at(1) * 0x1p-9);
  weight.set(last, 4096);
  return weight;
}

}  // namespace sextant
