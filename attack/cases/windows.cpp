#include <algorithm>
#include <cmath>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"

namespace sextant::attack {
namespace {

WindowBias draw_window_bias(Random& random) {
  WindowBias encoding;
  const std::int64_t number_of_axes = random.between(1, 3);
  const std::int64_t most = number_of_axes == 1 ? 200 : number_of_axes == 2 ? 24 : 8;
  for (std::int64_t axis = 0; axis < number_of_axes; ++axis)
    encoding.window.push_back(random.of({random.between(1, most), std::int64_t{7}, std::int64_t{1}}));
  if (random.once_in(3)) encoding.class_token = ClassToken::first;
  return encoding;
}

// Extents beside powers of two, whose predecessors divide or are divided; and any.
std::int64_t draw_extent(Random& random) {
  const std::int64_t power = std::int64_t{1} << random.between(1, 20);
  return std::clamp<std::int64_t>(
      random.of({random.between(2, 32), power + random.between(-1, 1), random.between(2, 1 << 20)}), 2, 1 << 20);
}

LogCoordinates draw_log_coordinates(Random& random) {
  LogCoordinates encoding;
  const std::int64_t number_of_axes = random.between(1, 3);
  for (std::int64_t axis = 0; axis < number_of_axes; ++axis) encoding.window.push_back(draw_extent(random));
  if (random.once_in(3)) {
    for (std::int64_t axis = 0; axis < number_of_axes; ++axis)
      encoding.pretrained_window.push_back(draw_extent(random));
  }
  return encoding;
}

// Offsets that `draw(divisor, extent)` gives for each axis, and zeros among them.
template <class Draw>
Case offsets_case(Random& random, const LogCoordinates& encoding, Dtype dtype, std::int64_t rows, Draw draw) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t size =
          random.once_in(12) ? 0 : draw(divisor(encoding, axis), encoding.window[static_cast<std::size_t>(axis)]);
      offsets.push_back(std::clamp(random.sign() > 0 ? size : -size, -furthest, furthest));
    }
  }
  return table_case(random, encoding, dtype, std::move(offsets));
}

}  // namespace

std::vector<Case> usual_window_bias(Random& random, Dtype dtype) {
  const WindowBias encoding = draw_window_bias(random);
  Case example = table_case(random, encoding, dtype, {});
  example.heads = random.between(1, 6);
  example.operation = random.once_in(3) ? Operation::grad_weight : Operation::bias;
  const std::int64_t tokens = position_count(encoding);
  for (auto* list : {&example.positions, &example.keys}) {
    if (tokens <= 64 && random.once_in(2)) {
      for (std::int64_t token = 0; token < tokens; ++token) list->push_back(token);
    } else {
      for (std::int64_t i = random.between(1, 40); i > 0; --i)
        list->push_back(random.of({random.between(std::int64_t{0}, tokens - 1), std::int64_t{0}, tokens - 1}));
    }
  }
  const auto pairs = static_cast<std::int64_t>(example.positions.size() * example.keys.size());
  example.elements = draw_elements(
      random, dtype, example.heads * (example.operation == Operation::bias ? weight_rows(encoding) : pairs));
  return {example};
}

std::vector<Case> usual_log_coordinates(Random& random, Dtype dtype) {
  const LogCoordinates encoding = draw_log_coordinates(random);
  const std::int64_t limit = random.of({std::int64_t{32}, std::int64_t{1} << 20, furthest});
  return {offsets_case(random, encoding, dtype, random.between(1, 40), [&](std::int64_t, std::int64_t extent) {
    return random.once_in(2) ? random.between(std::int64_t{1}, extent) : std::abs(draw_position(random, limit));
  })};
}

// The integer offset whose coordinate comes next to a tie t: 8^t = 1 + 8 d / m.
std::vector<Case> near_ties_log_coordinates(Random& random, Dtype dtype) {
  const LogCoordinates encoding = draw_log_coordinates(random);
  const ElementFormat format = element_format(dtype);
  return {offsets_case(random, encoding, dtype, 16, [&](std::int64_t below, std::int64_t) {
    const int exponent = static_cast<int>(random.between(0, 3));
    const std::int64_t least = std::int64_t{1} << (format.precision - 1);
    const std::int64_t place = least + random.between(std::int64_t{0}, least - 1);
    const long double tie = std::ldexp(static_cast<long double>(place) + 0.5L, exponent - format.precision + 1);
    const long double offset = static_cast<long double>(below) * (std::exp2(3 * tie) - 1) / 8;
    if (!(offset < 0x1p53L)) return random.between(std::int64_t{1}, furthest);
    return std::max<std::int64_t>(std::llrint(offset) + random.between(-1, 1), 1);
  })};
}

// 1 + 8 d / m a power of two, and its neighbours.
std::vector<Case> whole_log_coordinates(Random& random, Dtype dtype) {
  LogCoordinates encoding = draw_log_coordinates(random);
  auto& extents = encoding.pretrained_window.empty() ? encoding.window : encoding.pretrained_window;
  for (std::int64_t& extent : extents) extent = 1 + 8 * random.of({random.between(1, 40), random.between(1, 1 << 16)});
  return {offsets_case(random, encoding, dtype, 24, [&](std::int64_t below, std::int64_t) {
    const std::int64_t power = std::int64_t{1} << random.between(0, 33);
    return std::max<std::int64_t>(below / 8 * (power - 1) + (random.once_in(4) ? random.between(-1, 1) : 0), 0);
  })};
}

// The encoder keeps the values of offsets within the window, and of no more than 1024 of them.
std::vector<Case> guards_log_coordinates(Random& random, Dtype dtype) {
  LogCoordinates encoding = draw_log_coordinates(random);
  for (std::int64_t& extent : encoding.window)
    extent = random.of({1023 + random.between(0, 2), random.between(2, 40), std::int64_t{1} << 20});
  return {offsets_case(random, encoding, dtype, 20, [&](std::int64_t, std::int64_t extent) {
    const std::int64_t end = std::min<std::int64_t>(extent, 1024);
    return random.of({end + random.between(-2, 2), furthest - random.between(0, 2), random.between(1, 2)});
  })};
}

}  // namespace sextant::attack
