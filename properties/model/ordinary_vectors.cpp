#include "properties/model/ordinary_vectors.hpp"

#include <cmath>
#include <numbers>

namespace sextant {

std::vector<PairValues> ordinary_vectors(std::int64_t count, Dtype dtype) {
  const double golden = std::numbers::pi * (3 - std::sqrt(5.0));
  std::vector<PairValues> vectors;
  for (std::int64_t i = 0; i < count; ++i) {
    const double direction = 1 + golden * static_cast<double>(i);
    vectors.push_back({round_to(dtype, std::sin(direction)), round_to(dtype, std::cos(direction))});
  }
  return vectors;
}

}  // namespace sextant
