#include "lib/binary/binary.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include "lib/kernels/table_rows.hpp"

namespace sextant {

BinaryEncoder::BinaryEncoder(const Binary& encoding) : encoding_(encoding) {
  Spec spec;
  spec.encoding = encoding;
  spec.max_position = 1;
  validate(spec);
}

void BinaryEncoder::encode(std::span<const std::int64_t> positions, const Rows& out) const {
  check_table(out, std::ssize(positions), encoding_.dim);
  for (const std::int64_t position : positions) {
    // dim is at most 63, so the shift is defined.
    if (position < 0 || (position >> encoding_.dim) != 0) {
      throw std::out_of_range(
          fmt::format("BinaryEncoder::encode: position {} has not {} binary digits", position, encoding_.dim));
    }
  }
  with_bits_of(out.dtype, [&]<class Bits>(Bits) {
    // The elements of every eight digits in a row.
    constexpr std::int64_t together = 8;
    const auto zero = bits_of<Bits>(out.dtype, encoding_.normalize ? -1 : 0);
    const auto one = bits_of<Bits>(out.dtype, 1);
    std::array<std::array<Bits, together>, 1U << together> eights;
    for (std::size_t digits = 0; digits < eights.size(); ++digits) {
      for (std::size_t i = 0; i < together; ++i) eights[digits][i] = (digits >> i & 1) != 0 ? one : zero;
    }
    for_each_row(out, [&](std::int64_t row, std::byte* place) {
      auto rest = static_cast<std::uint64_t>(positions[static_cast<std::size_t>(row)]);
      if (encoding_.dim < together) {
        for (std::int64_t i = 0; i < encoding_.dim; ++i)
          put(place, i, eights[rest & 0xFF][static_cast<std::size_t>(i)]);
        return;
      }
      // The last eight digits may overlap with those before.
      const std::int64_t last = encoding_.dim - together;
      const auto end = static_cast<std::size_t>(last) * sizeof(Bits);
      std::memcpy(place + end, eights[rest >> last].data(), sizeof eights[0]);
      for (std::size_t i = 0; i < end; i += sizeof eights[0], rest >>= together)
        std::memcpy(place + i, eights[rest & 0xFF].data(), sizeof eights[0]);
    });
  });
}

void BinaryEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const {
  encode(positions, dense_rows("BinaryEncoder::encode", out, dtype, std::ssize(positions), encoding_.dim));
}

Tensor BinaryEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions), encoding_.dim});
  encode(positions, dtype, table.data);
  return table;
}

}  // namespace sextant
