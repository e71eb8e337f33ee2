#include "lib/tent/tent.hpp"

#include <cmath>
#include <stdexcept>

namespace sextant {

TentEncoder::TentEncoder(const Tent& encoding) : encoding_(encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
}

Tensor TentEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  if (dtype == Dtype::int64) throw std::invalid_argument("TentEncoder::encode: dtype: expected a floating one");
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions), encoding_.dim});
  std::int64_t element = 0;
  for (const std::int64_t position : positions) {
    for (std::int64_t i = 0; i < encoding_.dim; ++i) {
      // The last i + 1 bits are the remainder, of negative positions too.
      const std::int64_t remainder = position & ((std::int64_t{2} << i) - 1);
      table.set(element++, std::fabs(std::ldexp(static_cast<double>(remainder), -static_cast<int>(i)) - 1));
    }
  }
  return table;
}

}  // namespace sextant
