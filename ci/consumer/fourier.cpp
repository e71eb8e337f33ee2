// NeRF's features of a point, and Segment Anything's of a cell.

#include <sextant/fourier.hpp>

#include <cstdint>
#include <vector>

#include "expect.hpp"

int main() {
  sextant::Fourier nerf;
  nerf.axes = 3;
  nerf.bands = 10;
  nerf.highest = 9;
  nerf.identity = sextant::Identity::first;
  nerf.positions = {.step = 0x1p-7, .dtype = sextant::Dtype::float32};
  const std::vector<std::int64_t> point{128, 64, 0};  // (1, 1/2, 0), in steps of 2^-7
  const sextant::Tensor features = sextant::FourierEncoder(nerf).encode(point, sextant::Dtype::float32);  // [1, 63]
  expect(features.at(0) == 1 && features.at(1) == 0.5, "the point itself comes first");
  expect(features.at(3) == 0.8414709848F && features.at(5) == 0 && features.at(8) == 1,
         "then the sines of its coordinates, then the cosines");

  sextant::Fourier cells;
  cells.axes = 2;
  cells.bands = 1;
  cells.ladder = sextant::FrequencyLadder::weight;
  cells.angle_unit = sextant::AngleUnit::turn;
  cells.channel_order = sextant::FourierOrder::function_frequency;
  cells.coordinates = sextant::FourierCoordinates::centres;
  cells.extents = {2, 1};
  sextant::Tensor matrix = sextant::Tensor::zeros(sextant::Dtype::float32, {2, 1});
  matrix.set(0, 0.5);
  const std::vector<std::int64_t> cell{1, 0};                                        // its middle is at (1/2, 0)
  const sextant::Tensor code = sextant::FourierEncoder(cells).encode(cell, matrix);  // [1, 2]
  expect(code.at(0) == 1 && code.at(1) == 0, "a quarter of a turn");
  return failures();
}
