#include "properties/identify/codes/channel_formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

#include "lib/numeric/dtype.hpp"

namespace sextant::identify {
namespace {

enum class Function { sine, cosine };

double in_float32(double value) { return round_to(Dtype::float32, value); }

// What a channel is: that of a function of a pair at a position, offset and all.
struct Formula {
  std::string words;
  std::function<double(std::int64_t pair, Function function, double position)> value;
};

// Frequencies of a claim by the exponent's numerator, which is a pair's number.
class Series {
 public:
  explicit Series(const Sinusoidal& claim) : claim_(claim), step_(angles_per_step(claim)) {}

  double angle(double numerator, double position) const {
    const auto divisor = static_cast<double>(pairs(claim_) - claim_.downscale_freq_shift);
    return position * step_ * (numerator == 0 ? 1 : std::pow(claim_.base, -numerator / divisor));
  }

  double value(double numerator, Function function, double position) const {
    return of_angle(function, angle(numerator, position));
  }

  double of_angle(Function function, double angle) const {
    return claim_.scale * (function == Function::sine ? std::sin(angle) : std::cos(angle));
  }

  bool is_second(Function function) const { return (function == Function::sine) == (claim_.first == First::cos); }

 private:
  Sinusoidal claim_;
  double step_;
};

std::vector<Formula> formulas(const Series& series) {
  const auto of_pair = [series](std::int64_t pair, Function function, double p) {
    return series.value(static_cast<double>(pair), function, p);
  };
  std::vector<Formula> list{
      {"", of_pair},
      {"exponents count channels, not pairs: channel c has the frequency base^(-c / dim), so that sine and cosine of a "
       "pair have two",
       [series](std::int64_t pair, Function function, double p) {
         return series.value(static_cast<double>(pair) + (series.is_second(function) ? 0.5 : 0), function, p);
       }},
      {"exponents are twice the channel's number: channel c has the frequency base^(-2c / dim)",
       [series](std::int64_t pair, Function function, double p) {
         return series.value(static_cast<double>(2 * pair) + (series.is_second(function) ? 1 : 0), function, p);
       }},
      {"sines are those of pi - p, not of p",
       [series, of_pair](std::int64_t pair, Function function, double p) {
         return of_pair(pair, function, function == Function::sine ? std::numbers::pi - p : p);
       }},
      {"every channel is a sine: cosines are left out",
       [of_pair](std::int64_t pair, Function, double p) { return of_pair(pair, Function::sine, p); }},
      {"every channel is a cosine: sines are left out",
       [of_pair](std::int64_t pair, Function, double p) { return of_pair(pair, Function::cosine, p); }},
      {"values are moved into [0, 1]: each is half the claim's, and a half",
       [of_pair](std::int64_t pair, Function function, double p) { return of_pair(pair, function, p) / 2 + 0.5; }},
      {"position 0 is encoded as zeros",
       [of_pair](std::int64_t pair, Function function, double p) { return p == 0 ? 0 : of_pair(pair, function, p); }},
      {"each channel is the absolute value of the claim's",
       [of_pair](std::int64_t pair, Function function, double p) { return std::fabs(of_pair(pair, function, p)); }},
  };
  for (int steps = 256; steps <= 65536; steps *= 2) {
    const double step = 2 * std::numbers::pi / steps;
    list.push_back({fmt::format("angles are rounded to {} steps a turn", steps),
                    [series, step](std::int64_t pair, Function function, double p) {
                      const double steps_of = series.angle(static_cast<double>(pair), p) / step;
                      // Between two steps the angle's own rounding decides.
                      if (std::fabs(steps_of - std::floor(steps_of) - 0.5) < 0x1p-20 * (1 + steps_of))
                        return std::nan("");
                      return series.of_angle(function, step * std::round(steps_of));
                    }});
  }
  return list;
}

}  // namespace

std::string words_of_channels(const std::vector<std::int64_t>& positions, const Tensor& table,
                              const Sinusoidal& claim) {
  const Series series(claim);
  const double unit = std::ldexp(1, -format_of(table.dtype).precision);
  std::vector<bool> is_zero(static_cast<std::size_t>(claim.dim), true);
  for (std::int64_t i = 0; i < table.elements(); ++i) {
    if (table.at(i) != 0) is_zero[static_cast<std::size_t>(i % claim.dim)] = false;
  }
  enum class Zeros { asked, passed_over };
  const auto fits = [&](const Formula& formula, Zeros zeros) {
    std::int64_t told = 0;
    for (std::size_t row = 0; row < positions.size(); ++row) {
      const auto place = static_cast<double>(positions[row] + claim.position_offset);
      for (std::int64_t pair = 0; pair < pairs(claim); ++pair) {
        const double angle = std::fabs(series.angle(static_cast<double>(pair), place));
        const double off = std::fabs(claim.scale) * (32 * unit + angle * 0x1p-21);
        if (off > std::fabs(claim.scale) / 4) continue;
        const Channels at = channels_of_pair(claim, pair);
        for (const auto& [channel, function] :
             {std::pair{at.first, Function::sine}, std::pair{at.second, Function::cosine}}) {
          if (zeros == Zeros::passed_over && is_zero[static_cast<std::size_t>(channel)]) continue;
          const double expected = formula.value(pair, function, place);
          if (std::isnan(expected)) continue;
          const double seen = table.at(static_cast<std::int64_t>(row) * claim.dim + channel);
          if (!(std::fabs(seen - expected) <= off)) return false;
          ++told;
        }
      }
    }
    return told > 2 * claim.dim;
  };
  const std::vector<Formula> tried = formulas(series);
  const auto found = std::ranges::find_if(tried, [&](const Formula& one) { return fits(one, Zeros::asked); });
  if (found != tried.end()) return found->words;
  if (!fits(tried.front(), Zeros::passed_over)) return {};
  std::vector<std::int64_t> zeros;
  for (std::int64_t pair = 0; pair < pairs(claim); ++pair) {
    const Channels at = channels_of_pair(claim, pair);
    for (const std::int64_t channel : {at.first, at.second}) {
      if (is_zero[static_cast<std::size_t>(channel)]) zeros.push_back(channel);
    }
  }
  std::ranges::sort(zeros);
  return zeros.size() == 1
             ? fmt::format("channel {} is 0 at every position", zeros.front())
             : fmt::format("{} channels are 0 at every position, from {} on", zeros.size(), zeros.front());
}

std::string words_of_members(const Tensor& table, const Sinusoidal& claim) {
  if (claim.scale != 1 || table.dtype != Dtype::float32) return {};
  const auto of_other_in_float32 = [](double other) {
    return in_float32(std::sqrt(in_float32(1 - in_float32(other * other))));
  };
  const auto of_other_in_float64 = [](double other) { return in_float32(std::sqrt(1 - other * other)); };
  const auto are_made = [&](Function function, const auto& of_other) {
    // Nearer to 0 than this the other function's rounding moves a value by more than four of its own last places.
    constexpr double near_zero = 0.25;
    // By chance a quarter of right values are the same.
    constexpr std::int64_t enough = 16;
    std::int64_t told = 0;
    for (std::int64_t row = 0; row < table.shape[0]; ++row) {
      for (std::int64_t pair = 0; pair < pairs(claim); ++pair) {
        const Channels at = channels_of_pair(claim, pair);
        const double sine = table.at(row * claim.dim + at.first);
        const double cosine = table.at(row * claim.dim + at.second);
        const double own = std::fabs(function == Function::sine ? sine : cosine);
        if (own != of_other(function == Function::sine ? cosine : sine)) return false;
        if (own < near_zero) ++told;
      }
    }
    return told >= enough;
  };
  const auto are_made_anyhow = [&](Function function) {
    return are_made(function, of_other_in_float32) || are_made(function, of_other_in_float64);
  };
  if (are_made_anyhow(Function::cosine)) return "cosines are computed as sqrt(1 - sin^2): inexact near their zeros";
  if (are_made_anyhow(Function::sine)) return "sines are computed as sqrt(1 - cos^2): inexact near their zeros";
  return {};
}

}  // namespace sextant::identify
