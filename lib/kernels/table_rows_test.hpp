#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/numeric/tensor.hpp"

namespace sextant {

/// Fails unless encode(Rows) writes the rows of `wanted`, [rows, dim], and no other byte: for several strides and
/// alignments, between pages that may not be touched.
inline void expect_only_its_rows(const Tensor& wanted, const std::function<void(const Rows&)>& encode) {
  const std::int64_t rows = wanted.shape[0];
  const std::int64_t dim = wanted.shape[1];
  const std::size_t element = size_of(wanted.dtype);
  const std::size_t width = static_cast<std::size_t>(dim) * element;
  for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
    for (const std::int64_t gap : {0, 1, 5}) {
      for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, element, std::size_t{7}}) {
        const std::int64_t stride = dim + gap;
        GuardedBytes memory(static_cast<std::size_t>((rows - 1) * stride) * element + width + shift, against);
        std::byte* start = memory.data() + (against == GuardedBytes::Against::start ? shift : 0);
        encode({wanted.dtype, start, rows, dim, stride});
        std::vector<std::byte> expected(memory.size(), std::byte{GuardedBytes::filler});
        const auto offset = static_cast<std::size_t>(start - memory.data());
        for (std::int64_t row = 0; row < rows; ++row) {
          std::byte* place = expected.data() + offset + static_cast<std::size_t>(row * stride) * element;
          std::memcpy(place, wanted.data.data() + static_cast<std::size_t>(row) * width, width);
        }
        ASSERT_EQ(std::memcmp(expected.data(), memory.data(), expected.size()), 0)
            << "dim " << dim << " " << name_of(wanted.dtype) << " gap " << gap << " shift " << shift;
      }
    }
  }
}

/// What encode(Rows) says of a view for two positions that is wrong in one field each. `good` is a right one.
inline void expect_refusals(const Rows& good, const std::function<void(const Rows&)>& encode) {
  const auto refusal = [&](const Rows& out) -> std::string {
    try {
      encode(out);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto with = [&](auto change) {
    Rows out = good;
    change(out);
    return refusal(out);
  };
  const std::string width = std::to_string(good.width);
  EXPECT_EQ(refusal(good), "accepted");
  EXPECT_EQ(with([](Rows& out) { out.rows = 3; }), "out: 3 rows for 2 positions");
  EXPECT_EQ(with([](Rows& out) { ++out.width, ++out.row_stride; }),
            "out: width " + std::to_string(good.width + 1) + " for dim " + width);
  EXPECT_EQ(with([](Rows& out) { out.row_stride = out.width - 1; }),
            "out: row_stride " + std::to_string(good.width - 1) + " is less than the width " + width);
  EXPECT_EQ(with([](Rows& out) { out.dtype = Dtype::int64; }), "out: dtype int64 is not a floating dtype");
  EXPECT_EQ(with([](Rows& out) { out.data = nullptr; }), "out: data is null");
  EXPECT_EQ(with([](Rows& out) { out.row_stride = std::int64_t{1} << 60; }), "out: the extent is too large");
}

}  // namespace sextant
