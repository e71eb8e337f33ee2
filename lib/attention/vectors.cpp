// Queries, keys and values on their way into the blocks: converted to the dtype that is computed in, each element to
// the nearest, and turned, rows of a step by their own lengths. The encoders turn; here is where from and where to.
// What the conversion and the rotation are off by is counted in docs/proofs/attention-encoder.md.

#include "lib/attention/vectors.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "lib/kernels/parallel.hpp"

namespace sextant {
namespace {

// The nearest bfloat16, ties to even; a NaN stays one.
std::uint16_t bfloat16_of(std::uint32_t bits) {
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

// convert(a `From` as bits) for every element, as `To`. Memory of vectors is aligned for every element.
template <class From, class To, class Convert>
void convert_bits(const ConstHeads& x, const Heads& to, std::int64_t first, std::int64_t last, Convert convert) {
  const auto* const source = reinterpret_cast<const From*>(x.data);
  auto* const destination = reinterpret_cast<To*>(to.data);
  for (std::int64_t i = first; i < last; ++i) destination[i] = convert(source[i]);
}

std::int64_t elements(const ConstHeads& x) { return x.batch * x.heads * x.tokens * x.head_dim; }

// Tokens [first, last) of every head of a batch row, which both have.
void copy_tokens(const ConstHeads& from, const Heads& to, std::int64_t row, std::int64_t first, std::int64_t last) {
  const std::size_t token = static_cast<std::size_t>(from.head_dim) * size_of(from.dtype);
  for (std::int64_t head = 0; head < from.heads; ++head) {
    const auto at = [&](const auto& x) {
      return static_cast<std::size_t>((row * x.heads + head) * x.tokens + first) * token;
    };
    std::memcpy(to.data + at(to), from.data + at(from), static_cast<std::size_t>(last - first) * token);
  }
}

}  // namespace

ConstHeads vectors_of(const Tensor& x) {
  return vectors_like(
      ConstHeads{.batch = x.shape[0], .tokens = x.shape[2], .heads = x.shape[1], .head_dim = x.shape[3]}, x.dtype,
      x.data.data());
}

Heads vectors_of(Tensor& x) {
  const ConstHeads extents = vectors_of(std::as_const(x));
  return vectors_like(extents, x.dtype, x.data.data());
}

std::size_t size_of(const Heads& vectors) {
  return static_cast<std::size_t>(elements(read_only(vectors))) * size_of(vectors.dtype);
}

void convert(const ConstHeads& x, const Heads& to) {
  constexpr std::int64_t chunk = elements_per_thread;
  const std::int64_t all = elements(x);
  parallel_for((all + chunk - 1) / chunk, all, [&](std::int64_t i) {
    const std::int64_t first = i * chunk;
    const std::int64_t last = std::min(all, first + chunk);
    if (x.dtype == Dtype::bfloat16 && to.dtype == Dtype::float32) {
      convert_bits<std::uint16_t, std::uint32_t>(x, to, first, last,
                                                 [](std::uint16_t bits) { return std::uint32_t{bits} << 16; });
    } else if (x.dtype == Dtype::float32 && to.dtype == Dtype::bfloat16) {
      convert_bits<std::uint32_t, std::uint16_t>(x, to, first, last, bfloat16_of);
    } else {
      const auto at = [&](std::int64_t element, Dtype dtype) {
        return static_cast<std::size_t>(element) * size_of(dtype);
      };
      for (std::int64_t element = first; element < last; ++element)
        store(to.dtype, load(x.dtype, x.data + at(element, x.dtype)), to.data + at(element, to.dtype));
    }
  });
}

void turn_in_step(const Turning& turning, const ConstHeads& x, std::span<const std::int64_t> positions,
                  std::span<const std::int64_t> last, std::span<const std::int64_t> first, Role role, const Heads& to) {
  // One token more in each row, which is dropped, gives it its length.
  Tensor memory = Tensor::zeros(x.dtype, {x.batch, x.heads, x.tokens + 1, x.head_dim});
  const Heads longer = vectors_of(memory);
  for (std::int64_t row = 0; row < x.batch; ++row) copy_tokens(x, longer, row, 0, x.tokens);
  std::vector<std::int64_t> where;
  for (std::int64_t at = 0; at < std::ssize(positions); at += x.tokens) {
    const auto of_row = positions.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(x.tokens));
    where.insert(where.end(), of_row.begin(), of_row.end());
    where.push_back(last[static_cast<std::size_t>(at / x.tokens % x.batch)]);
  }
  turning.turn(read_only(longer), where, role, longer);
  for (std::int64_t row = 0; row < x.batch; ++row) {
    const std::int64_t begin = first.empty() ? 0 : first[static_cast<std::size_t>(row)];
    if (to.data != x.data) copy_tokens(x, to, row, 0, begin);
    copy_tokens(read_only(longer), to, row, begin, x.tokens);
  }
}

}  // namespace sextant
