#include "lib/reach/reach.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace sextant {

ReachEncoder::ReachEncoder(const Reach& encoding) : encoding_(encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
}

Tensor ReachEncoder::bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
                          Dtype dtype) const {
  if (dtype == Dtype::int64) throw std::invalid_argument("ReachEncoder::bias: dtype: expected a floating one");
  Tensor result = Tensor::zeros(dtype, {encoding_.num_heads, std::ssize(query_positions), std::ssize(key_positions)});
  std::int64_t element = 0;
  for (std::int64_t head = 0; head < encoding_.num_heads; ++head) {
    for (const std::int64_t query : query_positions) {
      for (const std::int64_t key : key_positions) {
        const std::int64_t seen = std::min(std::abs(query - key), std::int64_t{1} << head);
        result.set(element++, static_cast<double>(-seen));
      }
    }
  }
  return result;
}

}  // namespace sextant
