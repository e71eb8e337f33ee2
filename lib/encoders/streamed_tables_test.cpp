#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "lib/encoders/encoders.hpp"
#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/target_test.hpp"

// Tables so large that they are written past the caches have the bits of their parts, which are not, and touch nothing
// else, at every alignment of their rows.

namespace sextant::encoders_streamed_tables_test {
namespace {

class StreamedTablesOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(StreamedTablesOn);

constexpr std::int64_t part = 100;  // rows that are small enough

std::vector<std::int64_t> counted(std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) positions[static_cast<std::size_t>(i)] = i * 7 % 1009;
  return positions;
}

Tensor values(Dtype dtype, std::vector<std::int64_t> shape) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, static_cast<double>(i * 31 % 2027 - 1000) / 8);
  return tensor;
}

using Encode = std::function<void(std::int64_t first, const Rows& out)>;

// encode(first, out) writes the rows from `first` on.
void expect_parts(Dtype dtype, std::int64_t rows, std::int64_t dim, const Encode& encode) {
  const std::size_t row_bytes = static_cast<std::size_t>(dim) * size_of(dtype);
  ASSERT_GT(rows * static_cast<std::int64_t>(row_bytes), written_past_caches);
  ASSERT_LT(part * static_cast<std::int64_t>(row_bytes), written_past_caches);
  std::vector<std::byte> wanted(static_cast<std::size_t>(rows) * row_bytes);
  for (std::int64_t first = 0; first < rows; first += part)
    encode(first, {dtype, wanted.data() + static_cast<std::size_t>(first) * row_bytes, std::min(part, rows - first),
                   dim, dim});
  for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
    for (const std::int64_t gap : {0, 3}) {
      for (const std::size_t shift : {0, 1, 24}) {
        const std::size_t stride = row_bytes + static_cast<std::size_t>(gap) * size_of(dtype);
        GuardedBytes memory(static_cast<std::size_t>(rows - 1) * stride + row_bytes + shift, against);
        std::byte* start = memory.data() + (against == GuardedBytes::Against::start ? shift : 0);
        std::vector<std::byte> expected(memory.size(), std::byte{GuardedBytes::filler});
        for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
          std::memcpy(expected.data() + (start - memory.data()) + row * stride, wanted.data() + row * row_bytes,
                      row_bytes);
        encode(0, {dtype, start, rows, dim, dim + gap});
        ASSERT_EQ(std::memcmp(expected.data(), memory.data(), expected.size()), 0)
            << name_of(dtype) << " dim " << dim << " gap " << gap << " shift " << shift;
      }
    }
  }
}

std::span<const std::int64_t> of_rows(const std::vector<std::int64_t>& positions, std::int64_t first, const Rows& out) {
  return std::span(positions).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(out.rows));
}

TEST_P(StreamedTablesOn, Learned) {
  target_in_use();
  for (const auto& [dtype, dim] :
       {std::pair{Dtype::float32, std::int64_t{256}}, {Dtype::float32, 301}, {Dtype::bfloat16, 551}}) {
    const std::vector<std::int64_t> positions = counted(2500);
    const Tensor weight = values(dtype, {1009, dim});
    const LearnedEncoder encoder({dim, 1009});
    expect_parts(dtype, 2500, dim, [&](std::int64_t first, const Rows& out) {
      encoder.encode(of_rows(positions, first, out), weight, out);
    });
  }
}

TEST_P(StreamedTablesOn, Integer) {
  for (const auto& [dtype, dim] : {std::pair{Dtype::float64, std::int64_t{128}},
                                   {Dtype::float32, 301},
                                   {Dtype::bfloat16, 551},
                                   {Dtype::float16, 551}}) {
    const std::vector<std::int64_t> positions = counted(2500);
    for (const bool normalize : {false, true}) {
      const IntegerEncoder encoder({dim, normalize}, 1009);
      expect_parts(dtype, 2500, dim,
                   [&](std::int64_t first, const Rows& out) { encoder.encode(of_rows(positions, first, out), out); });
    }
  }
}

// Rows shorter than a vector, and of more digits than a word is left with.
TEST_P(StreamedTablesOn, Binary) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::bfloat16, Dtype::float16}) {
    for (const std::int64_t dim : {1, 5, 20, 32, 57, 63}) {
      const std::int64_t rows = written_past_caches / dim / static_cast<std::int64_t>(size_of(dtype)) + 77;
      std::vector<std::int64_t> positions = counted(rows);
      for (std::int64_t& position : positions) {
        // The upper digits too.
        const auto spread = static_cast<std::uint64_t>(position) * 0x9E3779B97F4A7C15U;
        position = static_cast<std::int64_t>(spread >> (64 - dim));
      }
      const BinaryEncoder encoder({dim, dim % 2 == 0});
      expect_parts(dtype, rows, dim,
                   [&](std::int64_t first, const Rows& out) { encoder.encode(of_rows(positions, first, out), out); });
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(StreamedTablesOn, Sinusoidal2d) {
  for (const auto& [dtype, dim] : {std::pair{Dtype::float32, std::int64_t{256}}, {Dtype::bfloat16, 556}}) {
    const std::vector<std::int64_t> rows = counted(2500);
    Sinusoidal2d encoding;
    encoding.dim = dim;
    encoding.height = encoding.width = 1009;
    const Sinusoidal2dEncoder encoder(encoding);
    for (const std::int64_t step : {1, 1000003}) {  // close together, and so far apart that they are searched
      expect_parts(dtype, 2500, dim, [&](std::int64_t first, const Rows& out) {
        std::vector<std::int64_t> both;
        for (const std::int64_t row : of_rows(rows, first, out)) both.push_back(row * step);
        for (const std::int64_t row : of_rows(rows, first, out)) both.push_back(row % 37);
        encoder.encode(both, out);
      });
    }
  }
}

// Long parts, which are streamed from where they are, zeros behind them, and single channels, of which rows are made.
TEST_P(StreamedTablesOn, SinusoidalNd) {
  for (const auto& [dtype, dim] : {std::pair{Dtype::float32, std::int64_t{259}}, {Dtype::bfloat16, 556}}) {
    const std::vector<std::int64_t> rows = counted(2500);
    for (const ChannelOrder order : {ChannelOrder::blocked, ChannelOrder::alternating}) {
      SinusoidalNd encoding;
      encoding.dim = dim;
      encoding.extents = {1009, 37, 7};
      encoding.channels = {84, 84, 84};
      encoding.channel_order = order;
      const SinusoidalNdEncoder encoder(encoding);
      for (const std::int64_t step : {1, 1000003}) {
        expect_parts(dtype, 2500, dim, [&](std::int64_t first, const Rows& out) {
          std::vector<std::int64_t> places;
          for (const std::int64_t row : of_rows(rows, first, out)) places.push_back(row * step);
          for (const std::int64_t row : of_rows(rows, first, out)) places.push_back(row % 37);
          for (const std::int64_t row : of_rows(rows, first, out)) places.push_back(row % 7);
          encoder.encode(places, out);
        });
      }
    }
  }
}

// Offsets within the window, which are looked up in a large table and computed in its parts, and one beyond it.
TEST_P(StreamedTablesOn, LogCoordinates) {
  target_in_use();
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::bfloat16, Dtype::float16}) {
    for (const std::int64_t dim : {1, 3}) {
      const LogCoordinatesEncoder encoder({std::vector<std::int64_t>(static_cast<std::size_t>(dim), 300), {}});
      const std::int64_t rows = written_past_caches / dim / static_cast<std::int64_t>(size_of(dtype)) + 77;
      std::vector<std::int64_t> offsets = counted(rows);
      for (std::int64_t& offset : offsets) offset = offset % 599 - 299;
      offsets[7] = 305;
      expect_parts(dtype, rows, dim, [&](std::int64_t first, const Rows& out) {
        std::vector<std::int64_t> all;
        for (std::int64_t axis = 0; axis < dim; ++axis) {
          for (const std::int64_t offset : of_rows(offsets, first, out))
            all.push_back(axis % 2 == 0 ? offset : -offset);
        }
        encoder.encode(all, out);
      });
      if (HasFatalFailure()) return;
    }
  }
}

// bias(queries, out) of one head.
void expect_matrices(Dtype dtype,
                     const std::function<void(std::span<const std::int64_t>, std::span<std::byte>)>& bias) {
  std::vector<std::int64_t> queries(1400);
  std::iota(queries.begin(), queries.end(), -3);
  constexpr std::int64_t keys = 1203;
  const std::size_t row_bytes = keys * size_of(dtype);
  ASSERT_GT(queries.size() * row_bytes, written_past_caches);
  std::vector<std::byte> wanted(queries.size() * row_bytes);
  for (std::size_t row = 0; row < queries.size(); ++row)
    bias(std::span(queries).subspan(row, 1), std::span(wanted).subspan(row * row_bytes, row_bytes));
  for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
    GuardedBytes memory(wanted.size() + 2, against);
    std::byte* start = memory.data() + (against == GuardedBytes::Against::start ? 2 : 0);
    bias(queries, {start, wanted.size()});
    ASSERT_EQ(std::memcmp(start, wanted.data(), wanted.size()), 0) << name_of(dtype);
    const std::byte* rest = against == GuardedBytes::Against::start ? memory.data() : start + wanted.size();
    for (std::size_t i = 0; i < 2; ++i) ASSERT_EQ(rest[i], std::byte{GuardedBytes::filler});
  }
}

TEST_P(StreamedTablesOn, Alibi) {
  std::vector<std::int64_t> keys(1203);
  std::iota(keys.begin(), keys.end(), 5);
  std::vector<std::int64_t> apart = keys;
  apart.back() += 2;  // no neighbour of the one before
  for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16, Dtype::float16, Dtype::float64}) {
    for (const AlibiForm form : {AlibiForm::distance, AlibiForm::key_index}) {
      const AlibiEncoder encoder(Alibi{1, Mask::causal, form});
      for (const auto* list : {&keys, &apart})
        expect_matrices(dtype, [&](auto queries, auto out) { encoder.bias(queries, *list, dtype, out); });
    }
  }
}

TEST_P(StreamedTablesOn, RelativeBias) {
  target_in_use();
  std::vector<std::int64_t> keys(1203);
  std::iota(keys.begin(), keys.end(), 5);
  const RelativeBiasEncoder encoder(RelativeBias{32, 128, true});
  for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
    const Tensor weight = values(dtype, {32, 1});
    expect_matrices(dtype, [&](auto queries, auto out) { encoder.bias(queries, keys, weight, out); });
  }
}

}  // namespace
}  // namespace sextant::encoders_streamed_tables_test
