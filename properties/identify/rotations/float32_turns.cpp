#include "properties/identify/rotations/float32_turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/position_grid.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// No powers of two, at which products are exact.
constexpr std::int64_t unrounded_positions[] = {
    3,    7,    11,   23,   47,   57,    101,   251,   301,   511,   771,   1001,  1285,  1999,  2047,  3001,
    4099, 5003, 7001, 8193, 9001, 11003, 15013, 20011, 25013, 33027, 40009, 50021, 66003, 70001, 90001, 100003};
constexpr double full_turn = 2 * std::numbers::pi;

float float32_product(float a, float b) {
  const volatile float rounded = a * b;
  return rounded;
}

// What is left of an angle; how it is made.
struct Float32Reduction {
  std::string words;
  double (*left)(float angle);
};

template <int parts, bool is_nearest, bool is_fused>
double less_whole_parts(float angle) {
  const auto part = static_cast<float>(full_turn / parts);
  const float quotient = angle / part;
  const float whole = is_nearest ? std::nearbyint(quotient) : std::floor(quotient);
  return is_fused ? static_cast<double>(std::fma(-whole, part, angle))
                  : static_cast<double>(angle - float32_product(whole, part));
}

double in_turns(float angle) {
  const float turns = float32_product(angle, static_cast<float>(1 / full_turn));
  return static_cast<double>(turns - std::floor(turns)) * full_turn;
}

std::vector<Float32Reduction> float32_reductions() {
  const auto by = [](const char* name, double part) {
    return fmt::format("angles are reduced by a float32 {}, {:.9g}, not by {}", name,
                       static_cast<double>(static_cast<float>(part)), name);
  };
  const std::string whole = by("2 pi", full_turn);
  const std::string half = by("pi", full_turn / 2);
  const std::string quarter = by("pi / 2", full_turn / 4);
  return {{whole, less_whole_parts<1, false, false>},
          {whole, less_whole_parts<1, false, true>},
          {whole, less_whole_parts<1, true, false>},
          {whole, less_whole_parts<1, true, true>},
          {half, less_whole_parts<2, true, false>},
          {half, less_whole_parts<2, true, true>},
          {quarter, less_whole_parts<4, true, false>},
          {quarter, less_whole_parts<4, true, true>},
          {"angles are counted in turns in float32, multiplied by 1 / (2 pi) as that format has it", in_turns}};
}

double as_it_is(float angle) { return static_cast<double>(angle); }

// The phases of one pair at the positions asked.
struct PairPhases {
  double frequency;  // the claim's
  std::vector<double> seen;
  double noise;
};

// Frequencies of float32 that a library's power may come to.
bool is_phase_explained(const PairPhases& pair, const std::vector<double>& places, double (*left)(float angle)) {
  constexpr int most_steps = 4;
  auto frequency = static_cast<float>(pair.frequency);
  for (int step = 0; step < most_steps; ++step) frequency = std::nextafter(frequency, 0.0F);
  for (int step = -most_steps; step <= most_steps; ++step) {
    bool is_it = true;
    for (std::size_t i = 0; is_it && i < places.size(); ++i) {
      const double phase = left(float32_product(static_cast<float>(places[i]), frequency));
      is_it = std::fabs(std::remainder(pair.seen[i] - phase, full_turn)) <= pair.noise;
    }
    if (is_it) return true;
    frequency = std::nextafter(frequency, std::numeric_limits<float>::infinity());
  }
  return false;
}

}  // namespace

std::string words_of_float32_turns(Session& session, const Spec& spec) {
  const auto encoded = model_of(spec)->encoded_pairs();
  if (!encoded || spec.dtype != Dtype::float32 || position_grid_of(spec.encoding).step != 1 || spec.min_position > 0)
    return {};
  std::vector<std::int64_t> positions;
  for (const std::int64_t position : unrounded_positions) {
    if (position < spec.max_position) positions.push_back(position);
  }
  if (positions.empty()) return {};
  const Rows rows = encoded->ask(session, positions);
  const std::vector<double> frequencies = encoded->frequencies(positions.back() + 1);
  if (rows.size() != positions.size() || rows.front().size() != frequencies.size()) return {};
  std::vector<double> places;
  for (const std::int64_t position : positions)
    places.push_back(std::fabs(static_cast<double>(encoded->place(position))));
  const double sense = encoded->place(positions.back()) < 0 ? -1 : 1;
  // A phase is off by three units of sine and cosine each, and what is left, below 8, by the rounding of float32.
  constexpr double noise = 6 * 0x1p-24 + 0x1p-22;
  std::vector<PairPhases> pairs;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    PairPhases& pair = pairs.emplace_back(PairPhases{.frequency = frequencies[i], .seen = {}, .noise = noise});
    for (const auto& row : rows) pair.seen.push_back(sense * std::atan2(row[i].sin, row[i].cos));
  }
  const auto explains = [&](double (*left)(float angle)) {
    return std::ranges::all_of(pairs, [&](const PairPhases& pair) { return is_phase_explained(pair, places, left); });
  };
  if (explains(as_it_is)) return {};
  for (const Float32Reduction& one : float32_reductions()) {
    if (explains(one.left)) return one.words;
  }
  return {};
}

}  // namespace sextant::identify
