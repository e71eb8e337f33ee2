#include "properties/identify/rotations/claimed_frequencies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "properties/identify/rotations/frequency_format.hpp"
#include "properties/identify/round_numbers.hpp"
#include "reference/rope_scaling.hpp"

namespace sextant::identify {
namespace {

bool is_frequency(const MeasuredTurn& turn, std::size_t pair, double w) {
  return std::fabs(std::fabs(turn.radians) - w) <=
         left_open(FrequencyFormat::float32, pair, {std::fabs(turn.radians), turn.uncertainty, turn.departs});
}

bool are_frequencies(const std::vector<MeasuredTurn>& turns, const std::function<double(std::size_t)>& frequency) {
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (!is_frequency(turns[i], i, frequency(i))) return false;
  }
  return true;
}

// What a frequency's rounding to float32 and a product's leave open of a ratio.
constexpr double ratio_slack = 0x1p-20;

std::string words_of_ratio(double ratio) {
  constexpr double turn = 2 * std::numbers::pi;
  const auto is_near = [&](double number) { return std::fabs(ratio / number - 1) <= ratio_slack; };
  const std::string text = is_near(turn)                   ? "2 pi"
                           : is_near(1 / turn)             ? "1 / (2 pi)"
                           : is_near(std::numbers::pi)     ? "pi"
                           : is_near(1 / std::numbers::pi) ? "1 / pi"
                                                           : fmt::format("{:.6g}", ratio);
  return fmt::format("every frequency is {} times the one asked for", text);
}

// How many turns of the trained length a pair makes by itself, in units of llama3's middle band: 0 to 1 within it.
double place_in_blend(double radians, const Llama3Scaling& rule) {
  const double turned = static_cast<double>(rule.original_max_position_embeddings) * radians / (2 * std::numbers::pi);
  return (turned - rule.low_freq_factor) / (rule.high_freq_factor - rule.low_freq_factor);
}

std::vector<double> unscaled_frequencies(Rope rope) {
  rope.rope_scaling = DefaultScaling{};
  return frequencies_of(rope, 1);
}

// Llama 3's rule with another blend of w and w / s, `share` being that of w.
std::optional<std::string> other_blend(const std::vector<MeasuredTurn>& turns, const Rope& claim,
                                       const Llama3Scaling& rule) {
  const std::vector<double> unscaled = unscaled_frequencies(claim);
  const auto by_share = [&](const std::function<double(double)>& share) {
    return are_frequencies(turns, [&](std::size_t i) {
      const double w = unscaled[i];
      const double part = share(place_in_blend(w, rule));
      return w * (part + (1 - part) / rule.factor);
    });
  };
  if (by_share([](double t) { return t <= 0 ? 0 : t >= 1 ? 1 : 1 - t; }))
    return "the blend of llama3's middle band is reversed";
  if (by_share([](double t) { return t <= 0 ? 0 : 1; })) return "llama3's middle band is left unscaled";
  if (by_share([](double t) { return t < 1 ? 0 : 1; })) return "llama3's middle band is scaled as the slow one";
  return std::nullopt;
}

// Which frequencies are not the claimed ones; nothing where phases are those of no frequency.
std::optional<std::vector<std::size_t>> odd_pairs(const std::vector<MeasuredTurn>& turns,
                                                  const std::vector<double>& claimed) {
  if (claimed.size() != turns.size() || turns.empty()) return std::nullopt;
  std::vector<std::size_t> odd;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool is_odd = !is_frequency(turns[i], i, claimed[i]);
    // Phases that are no multiples of one step are those of no frequency.
    if (is_odd && turns[i].departs) return std::nullopt;
    if (is_odd) odd.push_back(i);
  }
  return odd;
}

std::string words_of_odd(const std::vector<MeasuredTurn>& turns, const std::vector<double>& claimed,
                         const std::vector<std::size_t>& odd, std::string_view remark) {
  constexpr std::size_t most_told = 3;
  std::vector<std::string> words;
  for (const std::size_t i : odd) {
    if (words.size() < most_told)
      words.push_back(fmt::format("pair {}'s is {:.8g} times the claimed one", i, turns[i].radians / claimed[i]));
  }
  return fmt::format("{} of {} frequencies are not those asked for{}: {}", odd.size(), turns.size(), remark,
                     fmt::join(words, ", "));
}

}  // namespace

std::vector<double> frequencies_of(const Rope& rope, std::int64_t length) {
  reference::RopeFrequencies frequencies(rope);
  std::vector<double> radians;
  for (std::int64_t i = 0; i < pairs(rope); ++i)
    radians.push_back(frequencies.radians(i, length, reference::first_precision).upper());
  return radians;
}

std::optional<std::string> multiplied_beyond_half_turns(const std::vector<MeasuredTurn>& turns,
                                                        const std::vector<double>& claimed) {
  constexpr std::size_t enough = 4;
  if (claimed.size() != turns.size() || turns.size() < enough) return std::nullopt;
  // The slowest pair's is surely below half a turn.
  const double ratio = turns.back().radians / claimed.back();
  const double off = turns.back().uncertainty / claimed.back() + ratio_slack * std::fabs(ratio);
  if (!(ratio * *std::ranges::max_element(claimed) > std::numbers::pi)) return std::nullopt;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double apart = std::remainder(turns[i].radians - ratio * claimed[i], 2 * std::numbers::pi);
    if (!(std::fabs(apart) <= turns[i].uncertainty + claimed[i] * off)) return std::nullopt;
  }
  return words_of_ratio(ratio);
}

bool have_frequencies(const std::vector<MeasuredTurn>& turns, const std::vector<double>& frequencies) {
  return turns.size() == frequencies.size() && are_frequencies(turns, [&](std::size_t i) { return frequencies[i]; });
}

std::optional<std::string> rounded_wavelengths(const std::vector<MeasuredTurn>& turns,
                                               const std::vector<double>& claimed) {
  constexpr double turn = 2 * std::numbers::pi;
  if (have_frequencies(turns, claimed)) return std::nullopt;
  for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
    std::vector<double> rounded = claimed;
    for (double& w : rounded) w = turn / round_to(dtype, turn / w);
    if (have_frequencies(turns, rounded)) return fmt::format("wavelengths are rounded to {}", name_of(dtype));
  }
  return std::nullopt;
}

std::optional<std::string> different_frequencies(const std::vector<MeasuredTurn>& turns, const Rope& claim,
                                                 std::int64_t length) {
  const std::vector<double> claimed = frequencies_of(claim, length);
  if (claimed.size() != turns.size() || turns.empty()) return std::nullopt;
  if (const auto* llama3 = std::get_if<Llama3Scaling>(&claim.rope_scaling)) {
    if (auto words = other_blend(turns, claim, *llama3)) return words;
  }
  // A step that phases leave at once is that of a few positions, which may be turned as others.
  constexpr std::int64_t few = 64;
  if (std::ranges::any_of(turns, [](const MeasuredTurn& turn) { return turn.departs && *turn.departs <= few; }))
    return std::nullopt;
  const double ratio = roundest_in({turns.front().radians / claimed.front() * (1 - 0x1p-20),
                                    turns.front().radians / claimed.front() * (1 + 0x1p-20)})
                           .value;
  if (are_frequencies(turns, [&](std::size_t i) { return claimed[i] * ratio; }))
    return ratio == 1 ? std::nullopt : std::optional(words_of_ratio(ratio));
  const auto odd = odd_pairs(turns, claimed);
  if (!odd) return std::nullopt;
  const auto* llama3 = std::get_if<Llama3Scaling>(&claim.rope_scaling);
  const std::vector<double> unscaled = unscaled_frequencies(claim);
  const bool is_of_blend = llama3 != nullptr && !odd->empty() && std::ranges::all_of(*odd, [&](std::size_t pair) {
                             const double place = place_in_blend(unscaled[pair], *llama3);
                             return place > 0 && place < 1;
                           });
  return words_of_odd(turns, claimed, *odd, is_of_blend ? ", all of them in llama3's middle band" : "");
}

bool are_off_alike(const std::vector<MeasuredTurn>& turns, const std::vector<double>& claimed,
                   const std::vector<MeasuredTurn>& others, const std::vector<double>& claimed_of_others) {
  if (turns.size() != claimed.size() || others.size() != claimed_of_others.size() || turns.size() != others.size())
    return false;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double ratio = turns[i].radians / claimed[i];
    const double other = others[i].radians / claimed_of_others[i];
    const double off =
        turns[i].uncertainty / claimed[i] + others[i].uncertainty / claimed_of_others[i] + 2 * ratio_slack * ratio;
    if (!(std::fabs(ratio - other) <= off)) return false;
  }
  return true;
}

std::optional<std::string> odd_frequencies(const std::vector<MeasuredTurn>& turns, const std::vector<double>& claimed) {
  const auto odd = odd_pairs(turns, claimed);
  if (!odd) return std::nullopt;
  return words_of_odd(turns, claimed, *odd, {});
}

std::optional<std::string> reduced_angles(const std::vector<std::int64_t>& positions, const Rows& rows,
                                          const std::vector<double>& frequencies, double noise) {
  constexpr double turn = 2 * std::numbers::pi;
  // What a reduction that was repeated so many times has left of it, by the number of times.
  struct Left {
    double times;
    double phase;
    double off;
  };
  std::vector<Left> seen;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      const double angle = frequencies[i] * static_cast<double>(positions[at]);
      const double whole = std::floor(angle / turn);
      const double part = angle / turn - whole;
      if (whole > 0x1p16 || part < 0x1p-10 || part > 1 - 0x1p-10) continue;
      const double phase = std::atan2(rows[at][i].sin, rows[at][i].cos);
      seen.push_back({whole, std::remainder(phase - angle, turn), noise + angle * 0x1p-22});
    }
  }
  std::ranges::sort(seen, {}, &Left::times);
  // Each more often reduced angle narrows down what one reduction leaves.
  double low = -0.01;
  double high = 0.01;
  for (const Left& one : seen) {
    if (one.times == 0) {
      if (std::fabs(one.phase) > one.off) return std::nullopt;
      continue;
    }
    if ((high - low) * one.times > turn / 2) return std::nullopt;
    const double middle = (low + high) / 2 * one.times;
    const double phase = middle + std::remainder(one.phase - middle, turn);
    low = std::max(low, (phase - one.off) / one.times);
    high = std::min(high, (phase + one.off) / one.times);
    if (low > high) return std::nullopt;
  }
  // It is surely another length where none of the range is 2 pi's.
  if (seen.empty() || (low <= 0 && high >= 0)) return std::nullopt;
  return fmt::format("angles are reduced by {:.9g}, not by 2 pi", roundest_in({turn - high, turn - low}).value);
}

std::optional<Dtype> rounded_less_turns(const std::vector<std::int64_t>& positions, const Rows& rows,
                                        const std::vector<double>& frequencies, double noise) {
  constexpr double turn = 2 * std::numbers::pi;
  constexpr int enough = 32;
  // What is left lies from 0 on, or about 0.
  const auto from_0 = [](double angle) { return std::fmod(angle, turn); };
  const auto about_0 = [](double angle) { return std::remainder(angle, turn); };
  const auto are_rounded = [&](Dtype dtype, const auto& less_turns) {
    int reduced = 0;
    for (std::size_t at = 0; at < rows.size(); ++at) {
      for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const double angle = frequencies[i] * static_cast<double>(positions[at]);
        const double left = less_turns(angle);
        // Of a float32 angle, whose own rounding may decide which number is the nearest.
        const double off = 0x1p-24 + 0x1p-22 * angle;
        const double rounded = round_to(dtype, left - off);
        if (off > 0x1p-10 || rounded != round_to(dtype, left + off)) continue;
        const double phase = std::atan2(rows[at][i].sin, rows[at][i].cos);
        if (!(std::fabs(std::remainder(phase - rounded, turn)) <= 2 * noise + off)) return false;
        if (angle > turn && std::fabs(rounded - left) > 4 * (noise + off)) ++reduced;
      }
    }
    return reduced >= enough;
  };
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    if (are_rounded(dtype, from_0) || are_rounded(dtype, about_0)) return dtype;
  }
  return std::nullopt;
}

std::optional<std::string> stepped_angles(const Rows& rows, double noise) {
  constexpr int fewest = 64;
  constexpr int most = 65536;
  constexpr int enough = 32;
  for (int steps = fewest; steps <= most; steps *= 2) {
    const double step = 2 * std::numbers::pi / steps;
    if (16 * noise > step) return std::nullopt;
    int told = 0;
    bool are_multiples = true;
    for (const auto& row : rows) {
      for (const PairValues& value : row) {
        const double phase = std::atan2(value.sin, value.cos);
        are_multiples = are_multiples && std::fabs(std::remainder(phase, step)) <= noise;
        if (std::fabs(phase) > step / 2) ++told;
      }
    }
    if (are_multiples && told >= enough) return fmt::format("angles are rounded to {} steps a turn", steps);
  }
  return std::nullopt;
}

std::optional<std::string> table_of_members(const TurnedRows& rows, Dtype dtype, const Rope& claim) {
  const std::vector<double> claimed = frequencies_of(claim, rows.positions.back() + 1);
  if (claimed.empty() || rows.first.front().size() != claimed.size()) return std::nullopt;
  // What each member is turned by: y0 = x0 cos a - x1 sin a, y1 = x1 cos b + x0 sin b.
  Rows members[2];
  for (std::size_t at = 0; at < rows.positions.size(); ++at) {
    for (Rows& member : members) member.emplace_back();
    for (std::size_t i = 0; i < claimed.size(); ++i) {
      members[0].back().push_back({.sin = rows.second[at][i].sin, .cos = rows.first[at][i].cos});
      members[1].back().push_back({.sin = rows.first[at][i].sin, .cos = rows.second[at][i].cos});
    }
  }
  const std::vector<MeasuredTurn> turns[2] = {measured_turns(rows.positions, members[0], norm_of(members[0], dtype)),
                                              measured_turns(rows.positions, members[1], norm_of(members[1], dtype))};
  const auto has_table = [&](const std::function<std::size_t(std::size_t)>& frequency_of_channel) {
    for (std::size_t i = 0; i < claimed.size(); ++i) {
      const Channels at = channels_of_pair(claim, claim.pairing, static_cast<std::int64_t>(i));
      const std::int64_t start = first_rotary_channel(claim);
      const std::size_t index[2] = {frequency_of_channel(static_cast<std::size_t>(at.first - start)),
                                    frequency_of_channel(static_cast<std::size_t>(at.second - start))};
      for (const int member : {0, 1}) {
        if (!is_frequency(turns[member][i], index[member], claimed[index[member]])) return false;
      }
    }
    return true;
  };
  const std::size_t count = claimed.size();
  if (claim.pairing == Pairing::interleaved && has_table([&](std::size_t channel) { return channel % count; }))
    return "a table of two equal halves is applied to adjacent pairs";
  if (claim.pairing == Pairing::half && has_table([](std::size_t channel) { return channel / 2; }))
    return "a table of adjacent repeats is applied to halves";
  return std::nullopt;
}

}  // namespace sextant::identify
