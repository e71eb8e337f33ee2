#include "properties/model/encoded_pairs.hpp"

namespace sextant {

std::vector<EncodedPairs::Truth> EncodedPairs::truth(const std::vector<std::int64_t>& positions, std::int64_t length) {
  const reference::FastRotations rotations = fast(length);
  const reference::DoubleDoubleWithin a = factor(length);
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

reference::CodeDistances EncodedPairs::distances(std::int64_t most_offset, std::size_t aliases) {
  std::vector<reference::FixedTurns> frequencies;
  for (std::int64_t pair = 0; pair < count(); ++pair) {
    frequencies.push_back(
        reference::fixed_turns([&](reference::Precision precision) { return advance(1, pair, precision).angle; }));
  }
  return reference::code_distances(frequencies, most_offset, aliases);
}

}  // namespace sextant
