#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/strided_heads_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/numeric/ulp.hpp"
#include "lib/rope/rope.hpp"

// What the kernels touch: no byte outside the contract, for any width, tail, alignment and stride, and what they refuse
// to touch.

namespace sextant::rope_memory_test {
namespace {

constexpr Dtype dtypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64};

class RopeMemoryOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(RopeMemoryOn);

Rope rope_of_width(std::int64_t head_dim, std::int64_t rotary_dim, Pairing pairing, Pairing output_pairing) {
  Rope encoding;
  encoding.head_dim = head_dim;
  encoding.rotary_dim = rotary_dim;
  encoding.pairing = pairing;
  encoding.output_pairing = output_pairing;
  return encoding;
}

Heads view(Dtype dtype, std::byte* data, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
           std::int64_t gap) {
  const std::int64_t head_stride = head_dim + gap;
  const std::int64_t token_stride = heads * head_stride + gap;
  return {dtype, data, 1, tokens, heads, head_dim, tokens * token_stride, token_stride, head_stride};
}

ConstHeads constant(const Heads& of) {
  return {of.dtype,    of.data,         of.batch,        of.tokens,     of.heads,
          of.head_dim, of.batch_stride, of.token_stride, of.head_stride};
}

std::size_t bytes_of(const Heads& of) {
  return static_cast<std::size_t>((of.tokens - 1) * of.token_stride + (of.heads - 1) * of.head_stride + of.head_dim) *
         size_of(of.dtype);
}

// Dense and gapped, against either guard page, in place and out of place: the same values, and the gaps as they were.
void check_memory(const Rope& encoding, Dtype dtype, Rounding rounding) {
  constexpr std::int64_t tokens = 3;
  constexpr std::int64_t heads = 2;
  const std::int64_t positions[tokens] = {3, 70001, 70002};
  const RopeEncoder encoder(encoding);
  Tensor x = Tensor::zeros(dtype, {1, tokens, heads, encoding.head_dim});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, std::ldexp(static_cast<double>((i * 37) % 101 - 50), -6));
  const Tensor expected = encoder.rotate(x, positions, rounding);
  const std::size_t head_bytes = static_cast<std::size_t>(encoding.head_dim) * size_of(dtype);
  for (const std::int64_t gap : {0, 3}) {
    for (const auto against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
      Heads from = view(dtype, nullptr, tokens, heads, encoding.head_dim, gap);
      GuardedBytes source(bytes_of(from), against);
      GuardedBytes target(bytes_of(from), against);
      Heads to = from;
      from.data = source.data();
      to.data = target.data();
      const auto place = [&](const Heads& at, std::int64_t row) {
        return at.data +
               static_cast<std::size_t>(row / heads * at.token_stride + row % heads * at.head_stride) * size_of(dtype);
      };
      for (std::int64_t row = 0; row < tokens * heads; ++row) {
        std::memcpy(place(from, row), x.data.data() + static_cast<std::size_t>(row) * head_bytes, head_bytes);
      }
      encoder.apply(constant(from), positions, to, rounding);
      encoder.apply(from, positions, rounding);
      for (const Heads& result : {to, from}) {
        std::vector<std::byte> whole(bytes_of(result), std::byte{GuardedBytes::filler});
        for (std::int64_t row = 0; row < tokens * heads; ++row) {
          std::memcpy(whole.data() + (place(result, row) - result.data),
                      expected.data.data() + static_cast<std::size_t>(row) * head_bytes, head_bytes);
        }
        ASSERT_EQ(std::memcmp(whole.data(), result.data, whole.size()), 0)
            << "head_dim " << encoding.head_dim << ' ' << name_of(dtype) << " gap " << gap << " pairings "
            << static_cast<int>(encoding.pairing) << static_cast<int>(encoding.output_pairing)
            << (result.data == from.data ? " in place" : "");
      }
    }
  }
}

TEST_P(RopeMemoryOn, NothingOutsideTheContractIsTouchedAtAnyWidth) {
  for (std::int64_t width = 2; width <= 130; width += 2) {
    for (const Dtype dtype : dtypes) {
      for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
        for (const Pairing output : {Pairing::half, Pairing::interleaved}) {
          check_memory(rope_of_width(width, width, pairing, output), dtype, Rounding::certified);
          if (HasFatalFailure()) return;
        }
      }
    }
    check_memory(rope_of_width(width + 6, width, Pairing::half, Pairing::interleaved), Dtype::float32, Rounding::fast);
    check_memory(rope_of_width(width + 8, width, Pairing::interleaved, Pairing::half), Dtype::bfloat16, Rounding::fast);
    for (const Pairing output : {Pairing::half, Pairing::interleaved}) {
      for (const Dtype dtype : dtypes) {
        Rope suffix = rope_of_width(width + 6, width, Pairing::interleaved, output);
        suffix.rotary_layout = RotaryLayout::suffix;
        check_memory(suffix, dtype, Rounding::certified);
        check_memory(suffix, dtype, Rounding::fast);
      }
    }
    if (HasFatalFailure()) return;
  }
}

TEST_P(RopeMemoryOn, GradientsAndTablesTouchNothingElse) {
  const std::vector<std::int64_t> positions{3, 70001, 70002, -5};
  for (std::int64_t width = 2; width <= 70; width += 2) {
    for (const Dtype dtype : dtypes) {
      for (const Pairing output : {Pairing::half, Pairing::interleaved}) {
        const RopeEncoder encoder(rope_of_width(width + 2, width, Pairing::interleaved, output));
        const Tensor grad = tensor_of_bits(dtype, {2, 2, 2, width + 2}, 3);
        for (const Rounding rounding : {Rounding::certified, Rounding::fast}) {
          const Tensor wanted = encoder.backward(grad, positions, rounding);
          for (const auto against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
            GuardedBytes source(grad.data.size(), against);
            GuardedBytes target(grad.data.size(), against);
            std::memcpy(source.data(), grad.data.data(), source.size());
            encoder.backward(constant(heads_of(grad, {source.data(), source.size()})), positions,
                             heads_of(grad, {target.data(), target.size()}), rounding);
            ASSERT_EQ(std::memcmp(target.data(), wanted.data.data(), target.size()), 0)
                << "width " << width << ' ' << name_of(dtype);
          }
        }
      }
      const RopeEncoder encoder(rope_of_width(width, width, Pairing::half, Pairing::half));
      const std::int64_t pairs = width / 2;
      Tensor wanted[2] = {Tensor::zeros(dtype, {4, pairs}), Tensor::zeros(dtype, {4, pairs})};
      encoder.tables(positions, {dtype, wanted[0].data.data(), 4, pairs, pairs},
                     {dtype, wanted[1].data.data(), 4, pairs, pairs});
      for (const std::int64_t gap : {0, 3}) {
        const std::size_t row_bytes = static_cast<std::size_t>(pairs) * size_of(dtype);
        const std::size_t stride_bytes = static_cast<std::size_t>(pairs + gap) * size_of(dtype);
        for (const auto against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
          GuardedBytes cos(3 * stride_bytes + row_bytes, against);
          GuardedBytes sin(cos.size(), against);
          encoder.tables(positions, {dtype, cos.data(), 4, pairs, pairs + gap},
                         {dtype, sin.data(), 4, pairs, pairs + gap});
          for (const auto& [table, memory] : {std::pair(&wanted[0], &cos), {&wanted[1], &sin}}) {
            std::vector<std::byte> whole(memory->size(), std::byte{GuardedBytes::filler});
            for (std::size_t row = 0; row < 4; ++row)
              std::memcpy(whole.data() + row * stride_bytes, table->data.data() + row * row_bytes, row_bytes);
            ASSERT_EQ(std::memcmp(whole.data(), memory->data(), whole.size()), 0)
                << pairs << " pairs " << name_of(dtype) << " gap " << gap;
          }
        }
      }
    }
  }
}

// More than one tile of frequencies, and more than is set aside on the stack.
TEST_P(RopeMemoryOn, WideHeadsAreTheSameInPlaceAndOutOfPlace) {
  for (const std::int64_t width : {512L, 514L, 1030L, 4104L}) {
    for (const Dtype dtype : dtypes) {
      check_memory(rope_of_width(width, width, Pairing::interleaved, Pairing::half), dtype, Rounding::certified);
      check_memory(rope_of_width(width, width, Pairing::half, Pairing::interleaved), dtype, Rounding::certified);
      Rope suffix = rope_of_width(width + 130, width, Pairing::interleaved, Pairing::half);
      suffix.rotary_layout = RotaryLayout::suffix;
      check_memory(suffix, dtype, Rounding::certified);
      if (HasFatalFailure()) return;
    }
  }
}

// A NaN's payload in a channel that is not turned, NaN and infinity in one that is.
TEST_P(RopeMemoryOn, PassingChannelsKeepTheirBitsAndNaNStaysInItsPair) {
  const RopeEncoder encoder(rope_of_width(40, 34, Pairing::interleaved, Pairing::interleaved));
  std::vector<std::uint32_t> x(40, 0x3F800000U);
  x[6] = 0x7F800123U;   // signalling, in pair 3
  x[10] = 0xFF800000U;  // -infinity, in pair 5
  x[34] = 0xFFC12345U;
  x[35] = 0x7F800001U;
  x[36] = 0x80000000U;
  const std::vector<std::uint32_t> before = x;
  encoder.apply(Heads{Dtype::float32, reinterpret_cast<std::byte*>(x.data()), 1, 1, 1, 40, 40, 40, 40},
                std::vector<std::int64_t>{1});
  EXPECT_EQ(std::vector<std::uint32_t>(x.begin() + 34, x.end()),
            std::vector<std::uint32_t>(before.begin() + 34, before.end()));
  EXPECT_EQ(x[6], 0x7FC00000U);
  EXPECT_EQ(x[7], 0x7FC00000U);
  EXPECT_EQ(x[10], 0xFF800000U);  // -inf cos - sin
  EXPECT_EQ(x[11], 0xFF800000U);  // -inf sin + cos
  for (const std::size_t i : {0U, 1U, 4U, 5U, 8U, 9U, 12U, 33U}) EXPECT_LT(x[i] & 0x7FFFFFFFU, 0x40000000U) << i;

  Rope suffix = rope_of_width(40, 34, Pairing::interleaved, Pairing::half);
  suffix.rotary_layout = RotaryLayout::suffix;
  std::vector<std::uint32_t> last(40, 0x3F800000U);
  last[0] = 0xFFC12345U;
  last[5] = 0x7F800001U;
  RopeEncoder(suffix).apply(Heads{Dtype::float32, reinterpret_cast<std::byte*>(last.data()), 1, 1, 1, 40, 40, 40, 40},
                            std::vector<std::int64_t>{1});
  EXPECT_EQ(last[0], 0xFFC12345U);
  EXPECT_EQ(last[5], 0x7F800001U);
  for (std::size_t i = 6; i < 40; ++i) EXPECT_LT(last[i] & 0x7FFFFFFFU, 0x40000000U) << i;
}

// The bound that rope.hpp states for Rounding::fast, in ULP of a norm.
double stated_ulps(Dtype dtype, double factor, double norm) {
  if (dtype == Dtype::float16) return 0.5 + 6.5 * 0x1p-13;
  if (dtype == Dtype::bfloat16) return 0.5 + 6.5 * 0x1p-16;
  return (factor == 1 ? 1.71 : 2.01) + (std::ilogb(norm + ulp(dtype, norm)) > std::ilogb(norm) ? 0.5 : 0);
}

// Turns vectors of as many heads of tokens at these positions, in place too, and holds them to the stated bound. The
// truth is the certified rotation of the same x in float64, within half a ULP of itself: 2^-29 ULP of float32's at
// most.
void check_fast(const Rope& encoding, Dtype dtype, std::span<const std::int64_t> positions, std::int64_t heads) {
  const RopeEncoder encoder(encoding);
  const auto* const yarn = std::get_if<YarnScaling>(&encoding.rope_scaling);
  const double factor = yarn != nullptr ? *yarn->attention_factor : 1;
  const std::int64_t width = encoding.head_dim;
  const Tensor x = random_tensor(dtype, {1, std::ssize(positions), heads, width}, 3);
  const Tensor exact = encoder.rotate(in_float64(x), positions);
  const Tensor fast = encoder.rotate(x, positions, Rounding::fast);
  Tensor turned = x;
  encoder.apply(heads_of(turned), positions, Rounding::fast);
  ASSERT_EQ(turned.data, fast.data) << "in place";
  for (std::int64_t head = 0; head < x.elements(); head += width) {
    for (std::int64_t pair = 0; pair < width / 2; ++pair) {
      const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
      const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
      const double norm = factor * std::hypot(x.at(head + from.first), x.at(head + from.second));
      const double room = dtype == Dtype::float64 ? 0.5 : 0;
      for (const std::int64_t channel : {to.first, to.second}) {
        ASSERT_LE(std::fabs(fast.at(head + channel) - exact.at(head + channel)),
                  (stated_ulps(dtype, factor, norm) + room) * ulp(dtype, norm))
            << name_of(dtype) << ' ' << heads << " heads of " << width << ", vector " << head / width;
      }
    }
  }
}

TEST_P(RopeMemoryOn, FastIsWithinItsStatedBound) {
  constexpr std::int64_t last = std::int64_t{1} << 53;
  const std::int64_t positions[] = {0, 1, 77, 131071, std::int64_t{1} << 40, -77, last, -last};
  // Of 64 pairs the rows of 16-bit elements are made in float, of 65 in double.
  for (const auto& [pairing, width] : {std::pair{Pairing::half, 128}, std::pair{Pairing::half, 130},
                                       std::pair{Pairing::interleaved, 128}, std::pair{Pairing::interleaved, 130}}) {
    for (const char* factor : {"1", "1.3862943611198906", "0.70710678118654757"}) {
      Rope encoding = rope_of_width(width, width, pairing, pairing);
      YarnScaling yarn;
      yarn.original_max_position_embeddings = 4096;
      yarn.attention_factor = std::stod(factor);
      encoding.rope_scaling = yarn;
      for (const Dtype dtype : dtypes) {
        check_fast(encoding, dtype, positions, 40);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Heads are turned some at a time by entries that stay in registers, and rows step from an anchor that their neighbours
// share: so any number of heads, and positions that rise, fall, repeat, leave gaps and come back.
TEST_P(RopeMemoryOn, FastIsWithinItsStatedBoundForAnyHeadsAndOrder) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < 40; ++i) positions.push_back(1000 + i);
  for (std::int64_t i = 0; i < 70; ++i) positions.push_back(5000 - i);
  for (const std::int64_t gap : {1, 15, 16, 17, 64})
    for (std::int64_t i = 0; i < 6; ++i) positions.push_back(-3000 - gap * i);
  for (const std::int64_t again : {7, 7, 7, 1039, 1038, 7, (1 << 30) + 7, 7}) positions.push_back(again);
  for (const std::int64_t width : {32, 34, 64, 128, 192}) {
    for (const Pairing in : {Pairing::half, Pairing::interleaved}) {
      for (const Pairing out : {Pairing::half, Pairing::interleaved}) {
        for (const Dtype dtype : dtypes) {
          // 67 are more than are turned together from 128 channels on.
          for (const std::int64_t heads : {1, 2, 3, 5, 7, 67}) {
            const std::size_t count = heads > 3 ? 12 : positions.size();
            check_fast(rope_of_width(width, width, in, out), dtype, std::span(positions).last(count), heads);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(RopeMemory, RefusesByName) {
  const RopeEncoder encoder(rope_of_width(4, 4, Pairing::half, Pairing::half));
  std::vector<float> memory(64);
  auto* const data = reinterpret_cast<std::byte*>(memory.data());
  const Heads good = view(Dtype::float32, data, 2, 2, 4, 0);
  const std::vector<std::int64_t> positions{0, 1};
  const auto refusal = [&](const Heads& x, const Heads& y, const std::vector<std::int64_t>& at) -> std::string {
    const std::vector<float> before = memory;
    try {
      encoder.apply(constant(x), at, y);
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(before, memory);
      return error.what();
    } catch (const std::out_of_range& error) {
      EXPECT_EQ(before, memory);
      return std::string("out of range: ") + error.what();
    }
    return "accepted";
  };
  const auto changed = [&](auto change) {
    Heads other = good;
    change(other);
    return other;
  };
  const auto expect = [&](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  EXPECT_EQ(refusal(good, good, positions), "accepted");
  expect(refusal(good, changed([](Heads& y) { y.data += 4; }), positions), "y: partly overlaps x");
  expect(refusal(good, changed([](Heads& y) { y.head_stride = 3; }), positions),
         "y: head_stride 3 makes two elements one");
  expect(refusal(good, changed([](Heads& y) { y.dtype = Dtype::float16; }), positions),
         "y: overlaps x, which has another dtype");
  expect(refusal(good, changed([](Heads& y) { y.dtype = Dtype::int64; }), positions), "y: dtype int64");
  expect(refusal(good, changed([](Heads& y) { y.heads = 1; }), positions), "y: extents");
  expect(refusal(changed([](Heads& x) { x.dtype = Dtype::int64; }), good, positions), "x: dtype int64");
  expect(refusal(changed([](Heads& x) { x.head_dim = 6; }), good, positions), "x: head_dim is 6");
  expect(refusal(changed([](Heads& x) { x.tokens = -1; }), good, positions), "x: tokens -1 is negative");
  expect(refusal(changed([](Heads& x) { x.token_stride = -1; }), good, positions), "x: token_stride -1 is negative");
  expect(refusal(changed([](Heads& x) { x.data = nullptr; }), good, positions), "x: data is null");
  expect(refusal(changed([](Heads& x) { x.data += 1; }), good, positions), "x: data is not aligned");
  expect(refusal(changed([](Heads& x) { x.token_stride = std::int64_t{1} << 60; }), good, positions),
         "x: tokens 2 with token_stride 1152921504606846976 is too large an extent");
  expect(refusal(good, good, {0}), "positions: 1 of them");
  expect(refusal(good, good, {0, (std::int64_t{1} << 53) + 1}),
         "out of range: RopeEncoder: positions: 9007199254740993 is outside");
  expect(refusal(good, good, {-(std::int64_t{1} << 53) - 1, 0}),
         "out of range: RopeEncoder: positions: -9007199254740993 is outside");
  EXPECT_NO_THROW(encoder.apply(view(Dtype::float32, nullptr, 0, 2, 4, 0), {}));
  EXPECT_EQ(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 2, 0, 4}), positions).elements(), 0);
  std::vector<float> sin(4);
  const Rows table{Dtype::float32, data, 2, 2, 2};
  EXPECT_NO_THROW(
      encoder.tables(positions, table, {Dtype::float32, reinterpret_cast<std::byte*>(sin.data()), 2, 2, 2}));
  EXPECT_EQ(memory[0], 1);
  EXPECT_EQ(memory[2], 0.540302305868F);  // cos 1
  EXPECT_EQ(sin[0], 0);
  EXPECT_THROW(encoder.tables(positions, table, table), std::invalid_argument);
  EXPECT_THROW(encoder.tables(positions, table, {Dtype::float32, reinterpret_cast<std::byte*>(sin.data()), 1, 2, 2}),
               std::invalid_argument);
}

}  // namespace
}  // namespace sextant::rope_memory_test
