#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/encoders/encoders.hpp"
#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"

// Turned vectors that are so many that they are written past the caches have the bits that they have in place, where
// they are not, and nothing else is touched: with heads that begin with a line, at either end of what may be touched,
// and with heads that do not.

namespace sextant::encoders_streamed_heads_test {
namespace {

class StreamedHeadsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(StreamedHeadsOn);

constexpr std::int64_t tokens = 131;
constexpr std::int64_t heads = 34;

// Some zeros, NaN and magnitudes far apart, which no quick tier passes.
void fill(Dtype dtype, std::byte* head, std::int64_t width, std::int64_t seed) {
  for (std::int64_t i = 0; i < width; ++i) {
    const std::int64_t draw = (seed * width + i) * 7919 % 104729;
    double value = static_cast<double>(draw % 2027 - 1000) / 64;
    if (draw % 401 == 0) value = std::numeric_limits<double>::quiet_NaN();
    if (draw % 211 == 0) value = draw % 2 == 0 ? 0.0 : 0x1p-14;
    store(dtype, value, head + static_cast<std::size_t>(i) * size_of(dtype));
  }
}

// turn(x, y) at every alignment, with room after each head and each token.
template <class Turn>
void expect_as_in_place(const std::string& name, Dtype dtype, std::int64_t width, const Turn& turn) {
  const std::size_t element = size_of(dtype);
  const auto line = static_cast<std::int64_t>(64 / element);
  const std::size_t head_bytes = static_cast<std::size_t>(width) * element;
  ASSERT_GT(tokens * heads * static_cast<std::int64_t>(head_bytes), written_past_caches);
  for (const std::int64_t gap : {std::int64_t{0}, line, std::int64_t{3}}) {
    Heads x{dtype, nullptr, 1, tokens, heads, width, 0, (width + gap) * heads + gap, width + gap};
    const auto offset = [&](std::int64_t row) {
      return static_cast<std::size_t>(row / heads * x.token_stride + row % heads * x.head_stride) * element;
    };
    const std::size_t bytes = offset(tokens * heads - 1) + head_bytes;
    std::vector<std::byte> wanted(bytes, std::byte{GuardedBytes::filler});
    for (std::int64_t row = 0; row < tokens * heads; ++row) fill(dtype, wanted.data() + offset(row), width, row);
    const std::vector<std::byte> given = wanted;
    x.data = wanted.data();
    turn(read_only(x), x);
    for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
      GuardedBytes source(bytes, against);
      GuardedBytes target(bytes, against);
      std::memcpy(source.data(), given.data(), bytes);
      Heads from = x;
      from.data = source.data();
      Heads to = x;
      to.data = target.data();
      turn(read_only(from), to);
      ASSERT_EQ(std::memcmp(target.data(), wanted.data(), bytes), 0)
          << name << ' ' << name_of(dtype) << ", gap " << gap
          << (against == GuardedBytes::Against::start ? ", at the start" : ", at the end");
    }
  }
}

std::vector<std::int64_t> counted(std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), -40);
  return positions;
}

Rope rope_of(std::int64_t width, Pairing in, Pairing out) {
  Rope rope;
  rope.head_dim = rope.rotary_dim = width;
  rope.pairing = in;
  rope.output_pairing = out;
  return rope;
}

constexpr Pairing half = Pairing::half;
constexpr Pairing interleaved = Pairing::interleaved;

// As wide as makes them many enough.
std::int64_t width_of(Dtype dtype) { return 512 / static_cast<std::int64_t>(size_of(dtype)); }

TEST_P(StreamedHeadsOn, Rope) {
  const std::vector<std::int64_t> positions = counted(tokens);
  for (const Dtype dtype : floating_dtypes) {
    for (const auto& [in, out] : {std::pair{half, half}, {interleaved, interleaved}, {half, interleaved}}) {
      const RopeEncoder encoder(rope_of(width_of(dtype), in, out));
      for (const Rounding rounding : {Rounding::certified, Rounding::fast}) {
        expect_as_in_place("rope", dtype, width_of(dtype),
                           [&](const ConstHeads& x, const Heads& y) { encoder.apply(x, positions, y, rounding); });
        if (HasFatalFailure()) return;
      }
    }
  }
}

// What is turned begins or ends within a line.
TEST_P(StreamedHeadsOn, PartOfAHead) {
  const std::vector<std::int64_t> positions = counted(tokens);
  for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
    for (const RotaryLayout layout : {RotaryLayout::prefix, RotaryLayout::suffix, RotaryLayout::spread}) {
      for (const Pairing pairing : {half, interleaved}) {
        Rope rope = rope_of(width_of(dtype), pairing, pairing);
        rope.rotary_dim = width_of(dtype) - 10;
        rope.rotary_layout = layout;
        const RopeEncoder encoder(rope);
        expect_as_in_place("part of a head", dtype, width_of(dtype),
                           [&](const ConstHeads& x, const Heads& y) { encoder.apply(x, positions, y); });
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Into a cache of another dtype, whose slots may begin anywhere: as a few tokens at a time, which are not streamed.
TEST_P(StreamedHeadsOn, OfAnotherDtype) {
  const std::vector<std::int64_t> positions = counted(tokens);
  for (const auto& [from, to] : {std::pair{Dtype::float32, Dtype::bfloat16},
                                 {Dtype::float32, Dtype::float16},
                                 {Dtype::bfloat16, Dtype::float32}}) {
    const std::int64_t width = width_of(to);
    const std::size_t head_bytes = static_cast<std::size_t>(width) * size_of(to);
    Tensor x = Tensor::zeros(from, {1, tokens, heads, width});
    for (std::int64_t row = 0; row < tokens * heads; ++row)
      fill(from, x.data.data() + static_cast<std::size_t>(row * width) * size_of(from), width, row);
    for (const auto& [in, out] : {std::pair{half, half}, {interleaved, interleaved}, {half, interleaved}}) {
      const RopeEncoder encoder(rope_of(width, in, out));
      std::vector<std::byte> wanted(static_cast<std::size_t>(tokens * heads) * head_bytes);
      ASSERT_GT(std::ssize(wanted), written_past_caches);
      constexpr std::int64_t together = 10;
      for (std::int64_t first = 0; first < tokens; first += together) {
        ConstHeads some = read_only(heads_of(x));
        some.data += static_cast<std::size_t>(first * some.token_stride) * size_of(from);
        some.tokens = std::min(together, tokens - first);
        const Heads slots{to,    wanted.data() + static_cast<std::size_t>(first * heads) * head_bytes,
                          1,     some.tokens,
                          heads, width,
                          0,     heads * width,
                          width};
        encoder.apply(
            some, std::span(positions).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(some.tokens)),
            slots);
      }
      for (const std::int64_t gap : {std::int64_t{0}, static_cast<std::int64_t>(64 / size_of(to)), std::int64_t{3}}) {
        const std::size_t slot_bytes = static_cast<std::size_t>(width + gap) * size_of(to);
        const std::size_t bytes = static_cast<std::size_t>(tokens * heads - 1) * slot_bytes + head_bytes;
        std::vector<std::byte> expected(bytes, std::byte{GuardedBytes::filler});
        for (std::size_t row = 0; row < static_cast<std::size_t>(tokens * heads); ++row)
          std::memcpy(expected.data() + row * slot_bytes, wanted.data() + row * head_bytes, head_bytes);
        for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
          GuardedBytes source(x.data.size(), against);
          std::memcpy(source.data(), x.data.data(), source.size());
          GuardedBytes target(bytes, against);
          encoder.apply(read_only(heads_of(x, {source.data(), source.size()})), positions,
                        {to, target.data(), 1, tokens, heads, width, 0, heads * (width + gap), width + gap});
          ASSERT_EQ(std::memcmp(target.data(), expected.data(), bytes), 0)
              << name_of(from) << " to " << name_of(to) << ", gap " << gap
              << (against == GuardedBytes::Against::start ? ", at the start" : ", at the end");
        }
      }
    }
  }
}

TEST_P(StreamedHeadsOn, RopeNd) {
  std::vector<std::int64_t> positions;
  for (const std::int64_t period : {50, 7, 1}) {
    for (std::int64_t token = 0; token < tokens; ++token) positions.push_back(token / period % 37 - 5);
  }
  for (const Dtype dtype : floating_dtypes) {
    for (const SectionOrder order : {SectionOrder::blocked, SectionOrder::interleaved}) {
      for (const Pairing pairing : {half, interleaved}) {
        RopeNd encoding;
        encoding.rope = rope_of(width_of(dtype), pairing, pairing);
        const std::int64_t third = width_of(dtype) / 6;
        encoding.sections = {width_of(dtype) / 2 - 2 * third, third, third};
        encoding.section_order = order;
        const RopeNdEncoder encoder(encoding);
        expect_as_in_place("rope_nd", dtype, width_of(dtype),
                           [&](const ConstHeads& x, const Heads& y) { encoder.apply(x, positions, y); });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(StreamedHeadsOn, Xpos) {
  const std::vector<std::int64_t> positions = counted(tokens);
  for (const Dtype dtype : floating_dtypes) {
    for (const Pairing pairing : {half, interleaved}) {
      Xpos encoding;
      encoding.rope = rope_of(width_of(dtype), pairing, pairing);
      const XposEncoder encoder(encoding);
      expect_as_in_place("xpos", dtype, width_of(dtype),
                         [&](const ConstHeads& x, const Heads& y) { encoder.apply(x, positions, y); });
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace sextant::encoders_streamed_heads_test
