#include "properties/identify/rotations/rotation_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

double unit_of(Dtype dtype) { return std::ldexp(1, -format_of(dtype).precision); }

double phase_of_pair(const PairValues& value) { return std::atan2(value.sin, value.cos); }

// Whether what is infinite in float16 comes back as some number at position 0.
bool keeps_great_values(Session& session, const Spec& spec, const Rope& shape) {
  Tensor x = Tensor::zeros(spec.dtype, {1, 1, 1, shape.head_dim});
  for (std::int64_t i = 0; i < shape.head_dim; ++i) x.set(i, 0x1p20);
  const Tensor y = rotate(session, spec, x, std::vector<std::int64_t>{0});
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    if (!std::isfinite(y.at(i))) return false;
  }
  return true;
}

}  // namespace

bool adds_the_vector(const Rows& rows, Dtype dtype) {
  Rows without = rows;
  for (auto& row : without) {
    for (PairValues& value : row) value.cos -= 1;
  }
  // Lengths of x + R(x) lie between 0 and 2; those of a rotation are apart by a few roundings.
  return norm_of(rows, dtype).noise > 0.5 && norm_of(without, dtype).noise <= 64 * unit_of(dtype);
}

bool are_normalized(Session& session, const Spec& spec, const Rope& shape) {
  const auto made_of = [&](double value) {
    Tensor x = Tensor::zeros(spec.dtype, {1, 1, 1, shape.head_dim});
    for (std::int64_t i = 0; i < shape.head_dim; ++i) x.set(i, value);
    return rotate(session, spec, x, std::vector<std::int64_t>{0});
  };
  const Tensor whole = made_of(1);
  const Tensor twice = made_of(2);
  const Tensor half = made_of(0.5);
  const double off = 8 * unit_of(spec.dtype);
  for (std::int64_t i = 0; i < shape.head_dim; ++i) {
    const double size = std::fabs(whole.at(i));
    if (!(size > 0) || std::fabs(twice.at(i) - whole.at(i)) > off * size ||
        std::fabs(half.at(i) - whole.at(i)) > off * size)
      return false;
  }
  return true;
}

bool have_no_signs(const std::vector<std::int64_t>& positions, const Rows& rows, const std::vector<double>& frequencies,
                   double noise) {
  constexpr double turn = 2 * std::numbers::pi;
  // A sine that is the root of 1 - cos^2 is off by the root of the cosine's rounding.
  const double off = noise + 0x1p-11;
  constexpr double surely_negative = -0.01;
  constexpr int enough = 8;
  int lost = 0;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (rows[at].size() != frequencies.size()) return false;
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      const double angle = frequencies[i] * static_cast<double>(positions[at]);
      if (angle * 0x1p-21 > off) continue;
      const double phase = std::remainder(angle, turn);
      if (!(std::fabs(phase_of_pair(rows[at][i]) - std::fabs(phase)) <= 2 * off)) return false;
      // Phases near half a turn have either sign.
      if (phase < surely_negative && phase > surely_negative - 3) ++lost;
    }
  }
  return lost >= enough;
}

namespace {

// A number of so many bits, whatever its exponent.
enum class Shortened { rounded, cut };
double of_bits(double value, int bits, Shortened how) {
  if (value == 0) return value;
  const double unit = std::ldexp(1, std::ilogb(value) + 1 - bits);
  return unit * (how == Shortened::rounded ? std::nearbyint(value / unit) : std::trunc(value / unit));
}

// The same of formats of other numbers of bits, and of bits that are cut off, as a mask does. The vector `x` has
// numbers of 14 bits.
std::string words_of_shortened_vectors(const Tensor& x, const Tensor& at_0, const Tensor& at_1,
                                       const std::vector<TurnedPair>& pairs, Dtype dtype, double size) {
  const double off = 8 * unit_of(dtype);
  constexpr int fewest = 4;
  constexpr int most = 12;
  for (int bits = most; bits >= fewest && bits + 8 <= format_of(dtype).precision; --bits) {
    for (const Shortened how : {Shortened::rounded, Shortened::cut}) {
      bool are_short = true;
      bool is_result = true;
      for (const TurnedPair& pair : pairs) {
        for (const auto& [from, to] :
             {std::pair{pair.input.first, pair.output.first}, std::pair{pair.input.second, pair.output.second}}) {
          are_short = are_short && std::fabs(at_0.at(to) / size - of_bits(x.at(from), bits, how)) <= off;
          is_result = is_result && of_bits(at_1.at(to), bits, how) == at_1.at(to);
        }
      }
      if (!are_short || is_result) continue;
      return how == Shortened::rounded
                 ? fmt::format("vectors are rounded to {} bits before they are turned", bits)
                 : fmt::format("vectors are cut to {} bits before they are turned, not rounded", bits);
    }
  }
  return {};
}

}  // namespace

std::string words_of_rounded_vectors(Session& session, const Spec& spec, const Rope& shape,
                                     const std::vector<TurnedPair>& pairs, double size) {
  // Numbers that no 16-bit format has.
  Tensor x = Tensor::zeros(spec.dtype, {1, 1, 1, shape.head_dim});
  for (std::int64_t i = 0; i < shape.head_dim; ++i) x.set(i, 1 + static_cast<double>(2 * (i % 512) + 1) * 0x1p-13);
  const Tensor at_0 = rotate(session, spec, x, std::vector<std::int64_t>{0});
  const Tensor at_1 = rotate(session, spec, x, std::vector<std::int64_t>{1});
  const double off = 8 * unit_of(spec.dtype);
  for (const Dtype narrow : {Dtype::float16, Dtype::bfloat16}) {
    if (format_of(narrow).precision + 8 > format_of(spec.dtype).precision) continue;
    bool are_rounded = true;
    bool is_result = true;
    for (const TurnedPair& pair : pairs) {
      for (const auto& [from, to] :
           {std::pair{pair.input.first, pair.output.first}, std::pair{pair.input.second, pair.output.second}}) {
        are_rounded = are_rounded && std::fabs(at_0.at(to) / size - round_to(narrow, x.at(from))) <= off;
        is_result = is_result && round_to(narrow, at_1.at(to)) == at_1.at(to);
      }
    }
    if (!are_rounded || is_result) continue;
    // A format of as many bits and float32's exponents, as graphics processors multiply in.
    if (narrow == Dtype::float16 && keeps_great_values(session, spec, shape))
      return fmt::format("vectors are rounded to {} bits before they are turned, as TF32 has them",
                         format_of(narrow).precision);
    return fmt::format("vectors are rounded to {} before they are turned", name_of(narrow));
  }
  return words_of_shortened_vectors(x, at_0, at_1, pairs, spec.dtype, size);
}

std::optional<std::int64_t> place_of_0(const std::vector<PairValues>& row, const std::vector<MeasuredTurn>& turns,
                                       double noise) {
  // The slowest pair has the least whole turns behind it.
  const MeasuredTurn& slowest = turns.back();
  const double place = std::round(phase_of_pair(row.back()) / slowest.radians);
  if (!(std::fabs(place) < 0x1p40) || place == 0) return std::nullopt;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double angle = turns[i].radians * place;
    const double off = 2 * noise + std::fabs(place) * turns[i].uncertainty + std::fabs(angle) * 0x1p-21;
    if (!(std::fabs(std::remainder(phase_of_pair(row[i]) - angle, 2 * std::numbers::pi)) <= off)) return std::nullopt;
  }
  return static_cast<std::int64_t>(place);
}

}  // namespace sextant::identify
