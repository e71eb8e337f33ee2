#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/table_rows_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/sinusoidal/plan.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"

// What an encoder reads and writes: the rows it is given and nothing else, for every width, tail, alignment and stride.

namespace sextant::sinusoidal_memory_test {
namespace {

class SinusoidalMemoryOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(SinusoidalMemoryOn);

struct Shape {
  std::int64_t rows;
  std::int64_t gap;   // elements between the rows
  std::size_t shift;  // bytes between the guard and the rows
  GuardedBytes::Against against;
};

void expect_exact_bytes(const SinusoidalPlan& plan, Dtype dtype, Caching caching, const Shape& shape,
                        const Tensor& wanted) {
  const std::int64_t dim = plan.encoding.dim;
  const std::int64_t stride = dim + shape.gap;
  const std::size_t element = size_of(dtype);
  const std::size_t extent = static_cast<std::size_t>((shape.rows - 1) * stride + dim) * element;
  GuardedBytes memory(extent + shape.shift, shape.against);
  std::byte* start = memory.data() + (shape.against == GuardedBytes::Against::start ? shape.shift : 0);
  Strip strip{nullptr, 0, 100, 1, 0, shape.rows, {dtype, start, shape.rows, dim, stride}, Rounding::certified, caching};
  ASSERT_TRUE(encode_strip(plan, strip));
  std::vector<std::byte> expected(memory.size(), std::byte{GuardedBytes::filler});
  const auto offset = static_cast<std::size_t>(start - memory.data());
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    std::memcpy(expected.data() + offset + static_cast<std::size_t>(row * stride) * element,
                wanted.data.data() + static_cast<std::size_t>(row * dim) * element,
                static_cast<std::size_t>(dim) * element);
  }
  ASSERT_EQ(std::memcmp(expected.data(), memory.data(), expected.size()), 0)
      << "dim " << dim << " " << name_of(dtype) << " gap " << shape.gap << " shift " << shape.shift
      << (caching == Caching::streamed ? " streamed" : " kept");
}

TEST_P(SinusoidalMemoryOn, TouchesNoByteOutsideOfItsRows) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < 37; ++i) positions.push_back(100 + i);
  for (std::int64_t dim = 2; dim <= 130; dim += 2) {
    Sinusoidal encoding;
    encoding.dim = dim;
    encoding.layout = dim % 4 == 0 ? Layout::concatenated : Layout::interleaved;
    encoding.first = dim % 6 == 0 ? First::cos : First::sin;
    for (int turn = 0; turn < 2; ++turn) {
      const SinusoidalPlan plan = sinusoidal_plan(encoding);
      for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
        const Tensor wanted = SinusoidalEncoder(encoding).encode(positions, dtype);
        const std::size_t element = size_of(dtype);
        for (const Caching caching : {Caching::kept, Caching::streamed}) {
          for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
            const auto k = static_cast<std::size_t>(dim);
            expect_exact_bytes(plan, dtype, caching, {37, 0, 0, against}, wanted);
            expect_exact_bytes(plan, dtype, caching, {1, 0, element * (k % 64), against}, wanted);
            expect_exact_bytes(plan, dtype, caching, {5, 1 + dim % 7, element * (k % 9), against}, wanted);
            expect_exact_bytes(plan, dtype, caching, {33, 0, 16, against}, wanted);
            expect_exact_bytes(plan, dtype, caching, {9, 0, 1 + 2 * (k % 3), against},
                               wanted);  // not even aligned to the element
          }
        }
        if (HasFailure()) return;
      }
      encoding.layout = encoding.layout == Layout::interleaved ? Layout::concatenated : Layout::interleaved;
    }
  }
}

// Positions far from each other and close together, in no order, of both roundings, and real ones.
TEST_P(SinusoidalMemoryOn, RowsOfListsToo) {
  const std::vector<std::int64_t> positions{100, 101, 102, 5, -70001, -70000, std::int64_t{1} << 53, 103, 103};
  for (std::int64_t dim = 2; dim <= 70; dim += 2) {
    Sinusoidal encoding;
    encoding.layout = dim % 4 == 0 ? Layout::concatenated : Layout::interleaved;
    encoding.dim = dim % 8 == 0 ? dim + 1 : dim;
    if (dim % 6 == 0) encoding.positions = {.step = 0x1p-10, .dtype = Dtype::float64};
    const SinusoidalEncoder encoder(encoding);
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
      for (const Rounding rounding : {Rounding::certified, Rounding::fast}) {
        expect_only_its_rows(encoder.encode(positions, dtype, rounding),
                             [&](const Rows& out) { encoder.encode(positions, out, rounding); });
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Wider than a tile of pairs, and wide enough for blocks of fewer rows.
TEST_P(SinusoidalMemoryOn, WideTablesToo) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < 37; ++i) positions.push_back(100 + i);
  for (const std::int64_t dim : {1026, 2048, 20000}) {
    for (const Layout layout : {Layout::interleaved, Layout::concatenated}) {
      Sinusoidal encoding;
      encoding.dim = dim;
      encoding.layout = layout;
      const SinusoidalPlan plan = sinusoidal_plan(encoding);
      const Tensor wanted = SinusoidalEncoder(encoding).encode(positions, Dtype::float32);
      // Rows of other tables are pairs of the same frequencies only if the dim is the same, so that a single row is the
      // comparison.
      for (std::size_t row : {std::size_t{0}, std::size_t{36}}) {
        const Tensor alone =
            SinusoidalEncoder(encoding).encode(std::vector<std::int64_t>{positions[row]}, Dtype::float32);
        const std::size_t bytes = static_cast<std::size_t>(dim) * 4;
        ASSERT_EQ(std::memcmp(alone.data.data(), wanted.data.data() + row * bytes, bytes), 0);
      }
      for (const Caching caching : {Caching::kept, Caching::streamed}) {
        expect_exact_bytes(plan, Dtype::float32, caching, {37, 0, 16, GuardedBytes::Against::end}, wanted);
        expect_exact_bytes(plan, Dtype::float32, caching, {5, 3, 4, GuardedBytes::Against::start}, wanted);
      }
    }
  }
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  } catch (const std::out_of_range& error) {
    return std::string("out of range: ") + error.what();
  }
  return "accepted";
}

TEST(SinusoidalEncoder, RefusesWhatIsOutsideOfItsContractByName) {
  Sinusoidal encoding;
  encoding.dim = 4;
  encoding.position_offset = std::int64_t{1} << 53;
  const SinusoidalEncoder encoder(encoding);
  std::vector<float> memory(64);
  auto* data = reinterpret_cast<std::byte*>(memory.data());
  const std::vector<std::int64_t> two{0, 1};
  const auto with = [&](const Rows& out) { return refusal([&] { encoder.encode(two, out); }); };
  EXPECT_EQ(with({Dtype::float32, data, 2, 4, 4}), "accepted");
  EXPECT_EQ(with({Dtype::float32, data, 3, 4, 4}), "out: 3 rows for 2 positions");
  EXPECT_EQ(with({Dtype::float32, data, 2, 6, 6}), "out: width 6 for dim 4");
  EXPECT_EQ(with({Dtype::float32, data, 2, 4, 3}), "out: row_stride 3 is less than the width 4");
  EXPECT_EQ(with({Dtype::int64, data, 2, 4, 4}), "out: dtype int64 is not a floating dtype");
  EXPECT_EQ(with({Dtype::float32, nullptr, 2, 4, 4}), "out: data is null");
  EXPECT_EQ(with({Dtype::float32, data, -1, 4, 4}), "out: rows -1 is negative");
  EXPECT_EQ(with({Dtype::float32, data, 2, 4, std::int64_t{1} << 60}), "out: the extent is too large");
  const Rows one{Dtype::float32, data, 1, 4, 4};
  const auto at = [&](std::int64_t position) {
    return refusal([&] { encoder.encode(std::vector<std::int64_t>{position}, one); });
  };
  EXPECT_EQ(at(std::int64_t{1} << 53), "accepted");
  EXPECT_EQ(at(-(std::int64_t{1} << 54)), "accepted");
  EXPECT_EQ(
      at((std::int64_t{1} << 53) + 1),
      "out of range: positions: 9007199254740993 with position_offset 9007199254740992 is outside of -2^54 to 2^54");
  EXPECT_NE(at(std::numeric_limits<std::int64_t>::max()), "accepted");
  EXPECT_NE(at(std::numeric_limits<std::int64_t>::min()), "accepted");
  const Rows rows{Dtype::float32, data, 2, 4, 4};
  EXPECT_EQ(refusal([&] {
              encoder.encode(PositionRange{0, 2, std::numeric_limits<std::int64_t>::max()}, rows);
            }),
            "out of range: positions: 1 steps of 9223372036854775807 leave -2^54 to 2^54");
  EXPECT_NE(refusal([&] { encoder.encode(PositionRange{0, 2, std::int64_t{1} << 54}, rows); }), "accepted");
  EXPECT_EQ(refusal([&] { encoder.encode(PositionRange{0, -1, 1}, rows); }), "positions: count -1 is negative");
  // What is refused is not begun.
  std::fill(memory.begin(), memory.end(), 7.0F);
  EXPECT_NE(refusal([&] {
              encoder.encode(std::vector<std::int64_t>{0, (std::int64_t{1} << 53) + 1}, rows);
            }),
            "accepted");
  EXPECT_EQ(memory[0], 7.0F);
}

TEST(SinusoidalEncoder, OneServesThreadsAtOnce) {
  Sinusoidal encoding;
  encoding.dim = 34;
  const SinusoidalEncoder encoder(encoding);
  std::vector<Tensor> tables(3, Tensor::zeros(Dtype::float32, {200, 34}));
  std::vector<std::thread> threads;
  for (Tensor& table : tables) {
    threads.emplace_back([&] {
      encoder.encode(PositionRange{-5, 200, 1}, {Dtype::float32, table.data.data(), 200, 34, 34});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tables[0].data, tables[1].data);
  EXPECT_EQ(tables[0].data, tables[2].data);
}

TEST(SinusoidalEncoder, ARangeIsTheListOfItsPositions) {
  Sinusoidal encoding;
  encoding.dim = 10;
  encoding.position_offset = 3;
  const SinusoidalEncoder encoder(encoding);
  for (const std::int64_t step : {1, 2, 7, 0, -1, -40, 1000}) {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < 100; ++i) positions.push_back(50 + i * step);
    Tensor table = Tensor::zeros(Dtype::float32, {100, 10});
    encoder.encode(PositionRange{50, 100, step}, {Dtype::float32, table.data.data(), 100, 10, 10});
    EXPECT_EQ(table.data, encoder.encode(positions, Dtype::float32).data) << step;
  }
}

}  // namespace
}  // namespace sextant::sinusoidal_memory_test
