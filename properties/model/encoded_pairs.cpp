#include "properties/model/encoded_pairs.hpp"

namespace sextant {

std::vector<EncodedPairs::Truth> EncodedPairs::truth(const std::vector<std::int64_t>& positions, std::int64_t length) {
  const reference::FastRotations rotations = fast(length);
  const reference::DoubleDoubleWithin a = factor();
  const std::vector<double> w = frequencies(length);
  reference::RotationRow row = rotations.make_row();
  std::vector<Truth> list;
  for (const std::int64_t position : positions) {
    rotations.at(place(position), row);
    Truth& at = list.emplace_back();
    for (std::size_t i = 0; i < w.size(); ++i) {
      at.sin.push_back(a * row.sin(i));
      at.cos.push_back(a * row.cos(i));
      at.angle.push_back(w[i] * static_cast<double>(place(position)));
    }
  }
  return list;
}

}  // namespace sextant
