#include "lib/binary/binary.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "lib/numeric/checks.hpp"

namespace sextant {

BinaryEncoder::BinaryEncoder(const Binary& encoding) : encoding_(encoding) {
  Spec spec;
  spec.encoding = encoding;
  spec.max_position = 1;
  validate(spec);
}

void BinaryEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const {
  check_bytes("BinaryEncoder::encode", out, std::ssize(positions) * encoding_.dim, dtype);
  const std::size_t width = size_of(dtype);
  std::byte* place = out.data();
  for (const std::int64_t position : positions) {
    // dim is at most 63, so the shift is defined.
    if (position < 0 || (position >> encoding_.dim) != 0) {
      throw std::out_of_range(fmt::format("BinaryEncoder::encode: position {} has not {} binary digits", position, encoding_.dim));
    }
    for (std::int64_t channel = 0; channel < encoding_.dim; ++channel, place += width) {
      const std::int64_t digit = position >> channel & 1;
      store(dtype, static_cast<double>(encoding_.normalize ? 2 * digit - 1 : digit), place);
    }
  }
}

Tensor BinaryEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions), encoding_.dim});
  encode(positions, dtype, table.data);
  return table;
}

}  // namespace sextant
