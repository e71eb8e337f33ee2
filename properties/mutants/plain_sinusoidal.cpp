#include "properties/mutants/plain_sinusoidal.hpp"

#include <cmath>

namespace sextant::mutants {

PlainSinusoidal::PlainSinusoidal(const Sinusoidal& claimed, Dtype of_values) : encoding(claimed), dtype(of_values) {
  const Sinusoidal& e = encoding;
  position = [e](const Row& row) { return e.positions.at(row.position + e.position_offset); };
  frequencies = [e] {
    const auto divisor = static_cast<double>(pairs(e) - e.downscale_freq_shift);
    std::vector<double> list;
    for (std::int64_t i = 0; i < pairs(e); ++i)
      list.push_back(std::pow(e.base, i == 0 ? 0.0 : -static_cast<double>(i) / divisor));
    return list;
  };
  cosine_frequencies = frequencies;
  angle = [e](double p, double w) {
    const double product = in_float32(in_float32(p) * in_float32(w));
    return e.angle_scale == 1 ? product : in_float32(in_float32(e.angle_scale) * product);
  };
  sine = [](double a) { return static_cast<double>(std::sin(static_cast<float>(a))); };
  cosine = [](double a) { return static_cast<double>(std::cos(static_cast<float>(a))); };
  finish = [e](double value) { return in_float32(value * in_float32(e.scale)); };
  channels = [e](std::int64_t pair) { return channels_of_pair(e, pair); };
  afterwards = [](Tensor&, std::span<const std::int64_t>) {};
}

Tensor PlainSinusoidal::encode(std::span<const std::int64_t> positions) const {
  const auto count = static_cast<std::int64_t>(positions.size());
  Tensor table = Tensor::zeros(dtype, {count, encoding.dim});
  const std::vector<double> of_sine = frequencies();
  const std::vector<double> of_cosine = cosine_frequencies();
  for (std::int64_t row = 0; row < count; ++row) {
    const double p = position({positions[static_cast<std::size_t>(row)], row, count});
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const auto i = static_cast<std::size_t>(pair);
      const Channels at = channels(pair);
      table.set(row * encoding.dim + at.first, finish(sine(angle(p, of_sine[i]))));
      table.set(row * encoding.dim + at.second, finish(cosine(angle(p, of_cosine[i]))));
    }
  }
  afterwards(table, positions);
  return table;
}

}  // namespace sextant::mutants
