// What Swin v2's network makes a window's bias of.

#include <sextant/log_coordinates.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  const sextant::LogCoordinatesEncoder encoder({.window = {9, 9}});
  const std::vector<std::int64_t> offsets{7, 0, -7, 8};                            // rows of two tokens, then columns
  const sextant::Tensor table = encoder.encode(offsets, sextant::Dtype::float32);  // [2, 2]
  expect(table.at(0) == 1 && table.at(1) == -1, "seven eighths of the way to the window's end is log8 of 8");
  expect(table.at(2) == 0 && table.at(3) > 1, "and the end is a little beyond");
  return failures();
}
