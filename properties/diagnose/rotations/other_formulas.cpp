// Over 400 lines: a list of other formulas, each a few lines that are read alone.
#include "properties/diagnose/rotations/other_formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string_view>
#include <utility>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/format_text.hpp"
#include "properties/identify/rotations/other_lengths.hpp"
#include "reference/rope_scaling.hpp"

namespace sextant::identify {
namespace {

// What a pair is turned by, each times whatever multiplies it.
struct Turning {
  double cos;
  double sin;
};

// Of the claim's own rule at one length.
struct ClaimedTurnings {
  std::vector<double> radians;
  double factor = 1;
};

ClaimedTurnings turnings_of(const Rope& rope, std::int64_t length) {
  reference::RopeFrequencies truth(rope);
  ClaimedTurnings own;
  for (std::int64_t pair = 0; pair < pairs(rope); ++pair)
    own.radians.push_back(truth.radians(pair, length, reference::first_precision).upper());
  own.factor = truth.attention_factor(length, reference::first_precision).upper();
  return own;
}

class OtherFormulas {
 public:
  OtherFormulas(const Spec& claim, const Rope& rope) : claim_(claim), rope_(rope) {}

  std::vector<VectorReading> made() && {
    add_exponents();
    add_exchanged();
    add_cosines();
    add_other_positions();
    add_passed();
    add_members();
    add_channels();
    return std::move(list_);
  }

 private:
  void add(std::string words, DiagnosedStage stage,
           std::function<std::optional<TakenVector>(const VectorInCall& vector, TakenVector taken)> change) {
    list_.push_back({std::move(words), stage, [claim = claim_, change = std::move(change)](const VectorInCall& vector) {
                       return change(vector, as_claimed(claim, vector));
                     }});
  }

  // Another rope, whatever the length.
  void add_rope(std::string words, const std::function<void(Rope& rope)>& change) {
    list_.push_back(
        {std::move(words), DiagnosedStage::frequency, [other = with_rope(claim_, change)](const VectorInCall& vector) {
           return std::optional(as_claimed(other, vector));
         }});
  }

  void add_exponents() {
    add_rope(fmt::format("exponents are halved: pair i has base^(-i / n), where the claim has base^(-2i / n), as with "
                         "base {:.6g}",
                         std::sqrt(rope_.rope_theta)),
             [](Rope& rope) { rope.rope_theta = std::sqrt(rope.rope_theta); });
    add_rope(
        fmt::format("exponents are doubled: pair i has base^(-4i / n), where the claim has base^(-2i / n), as with "
                    "base {:.6g}",
                    rope_.rope_theta * rope_.rope_theta),
        [](Rope& rope) { rope.rope_theta *= rope.rope_theta; });
  }

  void add_exchanged() {
    if (std::get_if<LongropeScaling>(&rope_.rope_scaling) != nullptr) {
      add_rope("longrope's two lists change places: short calls have long_factor, long ones short_factor",
               [](Rope& rope) {
                 auto& longrope = std::get<LongropeScaling>(rope.rope_scaling);
                 std::swap(longrope.short_factor, longrope.long_factor);
               });
      for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16})
        add_rope(fmt::format("longrope's factors are rounded to {}", name_of(dtype)), [dtype](Rope& rope) {
          auto& longrope = std::get<LongropeScaling>(rope.rope_scaling);
          for (auto* factors : {&longrope.short_factor, &longrope.long_factor}) {
            for (double& factor : *factors) factor = round_to(dtype, factor);
          }
        });
      add_rope("pairs have longrope's factor of the next pair, and the last its own", [](Rope& rope) {
        auto& longrope = std::get<LongropeScaling>(rope.rope_scaling);
        for (auto* factors : {&longrope.short_factor, &longrope.long_factor})
          std::copy(factors->begin() + 1, factors->end(), factors->begin());
      });
      add_rope("pairs have longrope's factor of the next pair, and the last the first one's", [](Rope& rope) {
        auto& longrope = std::get<LongropeScaling>(rope.rope_scaling);
        for (auto* factors : {&longrope.short_factor, &longrope.long_factor})
          std::ranges::rotate(*factors, factors->begin() + 1);
      });
      add_rope("longrope's factors multiply frequencies, where the claim divides by them", [](Rope& rope) {
        auto& longrope = std::get<LongropeScaling>(rope.rope_scaling);
        for (auto* factors : {&longrope.short_factor, &longrope.long_factor}) {
          for (double& factor : *factors) factor = 1 / factor;
        }
      });
    }
    if (const auto* llama3 = std::get_if<Llama3Scaling>(&rope_.rope_scaling)) add_llama3(*llama3);
    if (std::get_if<YarnScaling>(&rope_.rope_scaling) != nullptr) {
      add_yarn();
      add_rounded_magnitudes();
    }
    add_reversed();
  }

  void add_rounded_magnitudes() {
    const double factor = reference::RopeFrequencies(rope_).attention_factor(0, reference::first_precision).upper();
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
      const double rounded = round_to(dtype, factor);
      if (rounded == factor) continue;
      list_.push_back({fmt::format("the attention factor is rounded to {}: it is {:.10g}", name_of(dtype), rounded),
                       DiagnosedStage::table,
                       [other = with_rope(claim_, [rounded](Rope& rope) {
                          auto& yarn = std::get<YarnScaling>(rope.rope_scaling);
                          yarn.mscale.reset();
                          yarn.mscale_all_dim.reset();
                          yarn.attention_factor = rounded;
                        })](const VectorInCall& vector) { return std::optional(as_claimed(other, vector)); }});
    }
  }

  // base^(-2 (m - 1 - i) / n) of m pairs.
  void add_reversed() {
    if (!std::holds_alternative<DefaultScaling>(rope_.rope_scaling)) return;
    const double last = std::pow(rope_.rope_theta,
                                 -2 * static_cast<double>(pairs(rope_) - 1) / static_cast<double>(rotary_width(rope_)));
    add_frequencies("frequencies come in reverse order: the first pair has the last one's",
                    [last](double w, double) { return last / w; });
  }

  // Frequencies that no spec says, made of the unscaled ones.
  void add_frequencies(std::string words, std::function<double(double unscaled, double claimed)> other) {
    add_turning(std::move(words), DiagnosedStage::frequency,
                [rope = rope_, other = std::move(other)](std::int64_t pair, double position, double radians,
                                                         double factor) -> std::optional<Turning> {
                  const double exponent = 2 * static_cast<double>(pair) / static_cast<double>(rotary_width(rope));
                  const double angle = other(std::pow(rope.rope_theta, -exponent), radians) * position;
                  return Turning{factor * std::cos(angle), factor * std::sin(angle)};
                });
  }

  void add_llama3(const Llama3Scaling& rule) {
    const auto l = static_cast<double>(rule.original_max_position_embeddings);
    // As released code does with the two factors in each other's place, where it asks for slow pairs first.
    add_frequencies("llama3's middle band is scaled as slow pairs are, as where its two factors change places",
                    [rule, l](double w, double) {
                      return 2 * std::numbers::pi / w > l / rule.high_freq_factor ? w / rule.factor : w;
                    });
    // What the blend of one has more than w / s the other has less than w: with t and 1 - t exchanged everywhere.
    add_frequencies(
        "llama3's ramp is inverted: fast pairs are scaled and slow ones are not, as where its two factors change "
        "places",
        [rule](double w, double claimed) { return w + w / rule.factor - claimed; });
    // t of w' = (1 - t) w / s + t w, as the claim's frequency shows it.
    add_frequencies("llama3's middle band has its wavelengths interpolated, where the claim interpolates frequencies",
                    [s = rule.factor](double w, double claimed) {
                      const double t = (claimed / w - 1 / s) / (1 - 1 / s);
                      return w / ((1 - t) * s + t);
                    });
    add_frequencies("wavelengths are taken without 2 pi: 1 over the frequency", [rule, l](double w, double) {
      const double wavelength = 1 / w;
      if (wavelength < l / rule.high_freq_factor) return w;
      if (wavelength > l / rule.low_freq_factor) return w / rule.factor;
      const double smooth = (l / wavelength - rule.low_freq_factor) / (rule.high_freq_factor - rule.low_freq_factor);
      return (1 - smooth) * w / rule.factor + smooth * w;
    });
  }

  // w t + (w / s)(1 - t) for t and 1 - t exchanged: what one has more than w / s the other has less than w.
  void add_yarn() {
    const YarnScaling& rule = std::get<YarnScaling>(rope_.rope_scaling);
    const double s = rule.factor;
    add_frequencies("yarn's ramp is inverted: fast pairs are slowed, and slow ones are not",
                    [s](double w, double claimed) { return w + w / s - claimed; });
    // The ramp r of w' = w (1 - r) + w r / s, as the claim's frequency shows it.
    const auto ramp = [s](double w, double claimed) { return (1 - claimed / w) / (1 - 1 / s); };
    add_frequencies("yarn's ramp has its wavelengths interpolated, where the claim interpolates frequencies",
                    [s, ramp](double w, double claimed) { return w / (1 + (s - 1) * ramp(w, claimed)); });
    add_frequencies("yarn's ramp is a step: pairs from its middle on are slowed, and those before are not",
                    [s, ramp](double w, double claimed) { return ramp(w, claimed) > 0.5 ? w / s : w; });
    // Of borders that are whole pairs the same.
    add_exchanged_betas(rule);
    add_frequencies("yarn's ramp is left out: every frequency is divided by the factor, as linear scaling does",
                    [s](double w, double) { return w / s; });
  }

  // A ramp that runs from the pair of beta_slow to that of beta_fast, down.
  void add_exchanged_betas(const YarnScaling& rule) {
    const auto n = static_cast<double>(rotary_width(rope_));
    const auto pair_of = [&](double turns) {
      const double wavelength =
          static_cast<double>(rule.original_max_position_embeddings) / (turns * 2 * std::numbers::pi);
      return n * std::log(wavelength) / (2 * std::log(rope_.rope_theta));
    };
    double low = pair_of(rule.beta_slow);
    double high = pair_of(rule.beta_fast);
    if (rule.truncate == Truncate::yes) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, n - 1);
    if (low == high) return;
    add_frequencies("yarn's beta_fast and beta_slow change places",
                    [=, base = rope_.rope_theta, s = rule.factor](double w, double) {
                      const double pair = -std::log(w) / std::log(base) * n / 2;
                      const double slowed = std::clamp((pair - low) / (high - low), 0.0, 1.0);
                      return w / s * slowed + w * (1 - slowed);
                    });
  }

  // Cosines and sines that are others than the claim's, in double, whose own errors are far below a bound of float32.
  void add_turning(
      std::string words, DiagnosedStage stage,
      std::function<std::optional<Turning>(std::int64_t pair, double position, double radians, double factor)> other) {
    if (claim_.dtype != Dtype::float32) return;
    add(std::move(words), stage,
        [other = std::move(other)](const VectorInCall& vector, TakenVector taken) -> std::optional<TakenVector> {
          const Rope& rope = *rope_of(taken.spec);
          const ClaimedTurnings own = turnings_of(rope, vector.call_length());
          const std::vector<double> x = vector.values(vector.number());
          const double sense = rope.direction == Direction::clockwise ? -1 : 1;
          const double position = static_cast<double>(taken.place.front()) * rope.positions.step;
          taken.plus.assign(x.size(), 0);
          for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
            const double radians = own.radians[static_cast<std::size_t>(pair)] / rope.positions.step;
            const auto by = other(pair, position, radians, own.factor);
            if (!by) return std::nullopt;
            const double cos = own.factor * std::cos(radians * position) - by->cos;
            const double sin = sense * (own.factor * std::sin(radians * position) - by->sin);
            const Channels from = channels_of_pair(rope, rope.pairing, pair);
            const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
            const double a = x[static_cast<std::size_t>(from.first)];
            const double b = x[static_cast<std::size_t>(from.second)];
            taken.plus[static_cast<std::size_t>(to.first)] = a * cos - b * sin;
            taken.plus[static_cast<std::size_t>(to.second)] = a * sin + b * cos;
          }
          return taken;
        });
  }

  void add_cosines() {
    const auto other_than_1 = [](double factor, Turning turning) {
      return factor == 1 ? std::nullopt : std::optional(turning);
    };
    add_turning("cosines alone are multiplied by the attention factor, and sines are not", DiagnosedStage::table,
                [=](std::int64_t, double position, double radians, double factor) {
                  return other_than_1(factor, {factor * std::cos(radians * position), std::sin(radians * position)});
                });
    add_turning("sines alone are multiplied by the attention factor, and cosines are not", DiagnosedStage::table,
                [=](std::int64_t, double position, double radians, double factor) {
                  return other_than_1(factor, {std::cos(radians * position), factor * std::sin(radians * position)});
                });
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
      // Nothing of what lies so near to the middle of two numbers that an angle of float32 may decide.
      const auto rounded = [dtype](double value, double angle) -> std::optional<double> {
        const double off = 0x1p-22 * (1 + std::fabs(angle));
        const double below = round_to(dtype, value - off);
        return below == round_to(dtype, value + off) ? std::optional(below) : std::nullopt;
      };
      const std::string format = format_text(dtype, claim_.dtype);
      add_turning(fmt::format("cosines alone are rounded to {}, and sines are not", format), DiagnosedStage::table,
                  [rounded](std::int64_t, double position, double radians, double factor) -> std::optional<Turning> {
                    const double angle = radians * position;
                    const auto cos = rounded(factor * std::cos(angle), angle);
                    if (!cos) return std::nullopt;
                    return Turning{*cos, factor * std::sin(angle)};
                  });
      add_turning(fmt::format("sines alone are rounded to {}, and cosines are not", format), DiagnosedStage::table,
                  [rounded](std::int64_t, double position, double radians, double factor) -> std::optional<Turning> {
                    const double angle = radians * position;
                    const auto sin = rounded(factor * std::sin(angle), angle);
                    if (!sin) return std::nullopt;
                    return Turning{factor * std::cos(angle), *sin};
                  });
    }
  }

  // Sines and cosines that are those of two positions.
  void add_other_positions() {
    struct Shift {
      std::string_view words;
      int sines;
      int cosines;
    };
    for (const Shift& shift : {Shift{"sines are those of the position after, p + 1, and cosines of its own", 1, 0},
                               Shift{"sines are those of the position before, p - 1, and cosines of its own", -1, 0},
                               Shift{"cosines are those of the position after, p + 1, and sines of its own", 0, 1},
                               Shift{"cosines are those of the position before, p - 1, and sines of its own", 0, -1}})
      add_turning(std::string(shift.words), DiagnosedStage::table,
                  [shift](std::int64_t, double position, double radians, double factor) {
                    return Turning{factor * std::cos(radians * (position + shift.cosines)),
                                   factor * std::sin(radians * (position + shift.sines))};
                  });
  }

  // What multiplies cosines and sines, of channels that have none.
  void add_passed() {
    std::vector<std::int64_t> rest(static_cast<std::size_t>(rope_.head_dim));
    std::iota(rest.begin(), rest.end(), 0);
    for (std::int64_t pair = 0; pair < pairs(rope_); ++pair) {
      const Channels turned = channels_of_pair(rope_, rope_.output_pairing, pair);
      std::erase(rest, turned.first);
      std::erase(rest, turned.second);
    }
    if (rest.empty() || std::holds_alternative<DefaultScaling>(rope_.rope_scaling)) return;
    add("the attention factor multiplies the channels that are not rotated too", DiagnosedStage::rotation,
        [rest](const VectorInCall& vector, TakenVector taken) -> std::optional<TakenVector> {
          const double factor = turnings_of(*rope_of(taken.spec), vector.call_length()).factor;
          if (factor == 1) return taken;
          const std::vector<double> x = vector.values(vector.number());
          for (const std::int64_t channel : rest) taken.passed[channel] = factor * x[static_cast<std::size_t>(channel)];
          return taken;
        });
  }

  // (a, b) is turned to (ca - sb, sa + cb). What each member of the right result has more than this formula's.
  struct Members {
    double first;
    double second;
  };
  void add_differences(std::string words,
                       std::function<Members(double a, double b, double cos, double sin)> right_less_other) {
    if (claim_.dtype != Dtype::float32) return;
    add(std::move(words), DiagnosedStage::rotation,
        [less = std::move(right_less_other)](const VectorInCall& vector, TakenVector taken) {
          const Rope& rope = *rope_of(taken.spec);
          const ClaimedTurnings own = turnings_of(rope, vector.call_length());
          const std::vector<double> x = vector.values(vector.number());
          const double sense = rope.direction == Direction::clockwise ? -1 : 1;
          const double position = static_cast<double>(taken.place.front());
          taken.plus.assign(x.size(), 0);
          for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
            const double angle = own.radians[static_cast<std::size_t>(pair)] * position;
            const Channels from = channels_of_pair(rope, rope.pairing, pair);
            const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
            const Members members =
                less(x[static_cast<std::size_t>(from.first)], x[static_cast<std::size_t>(from.second)],
                     own.factor * std::cos(angle), sense * own.factor * std::sin(angle));
            taken.plus[static_cast<std::size_t>(to.first)] = members.first;
            taken.plus[static_cast<std::size_t>(to.second)] = members.second;
          }
          return std::optional(std::move(taken));
        });
  }

  void add_members() {
    add_differences(
        "the first member of a pair is overwritten before the second has read it: the second is made of the first's "
        "result",
        [](double a, double b, double cos, double sin) {
          return Members{0, (a - (a * cos - b * sin)) * sin};
        });
    add_differences(
        "the second member of a pair is overwritten before the first has read it: the first is made of the second's "
        "result",
        [](double a, double b, double cos, double sin) {
          return Members{((a * sin + b * cos) - b) * sin, 0};
        });
    add_differences("what is multiplied by the sine is the member itself, not its partner: (a, -b) for (-b, a)",
                    [](double a, double b, double, double sin) {
                      return Members{-(a + b) * sin, (a + b) * sin};
                    });
  }

  void add_channels() {
    add("pairs are scaled to length 1", DiagnosedStage::rotation, [](const VectorInCall& vector, TakenVector taken) {
      const Rope& rope = *rope_of(taken.spec);
      const std::vector<double> x = vector.values(vector.number());
      taken.times.assign(x.size(), 1);
      for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
        const Channels from = channels_of_pair(rope, rope.pairing, pair);
        const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
        const double length =
            std::hypot(x[static_cast<std::size_t>(from.first)], x[static_cast<std::size_t>(from.second)]);
        for (const std::int64_t channel : {to.first, to.second})
          taken.times[static_cast<std::size_t>(channel)] = length;
      }
      return std::optional(std::move(taken));
    });
    const std::int64_t rest = rope_.head_dim - rope_.rotary_dim;
    if (rest == 0 || rope_.rotary_layout == RotaryLayout::spread) return;
    const bool is_prefix = rope_.rotary_layout == RotaryLayout::prefix;
    add(is_prefix ? "the channels that do not turn are written before those that do, where they came behind them"
                  : "the channels that turn are written before those that do not, where they came behind them",
        DiagnosedStage::rotation,
        [moved = is_prefix ? rest : rope_.rotary_dim](const VectorInCall&, TakenVector taken) {
          const std::int64_t width = rope_of(taken.spec)->head_dim;
          for (std::int64_t channel = 0; channel < width; ++channel) taken.written.push_back((channel + moved) % width);
          return std::optional(std::move(taken));
        });
    if (is_prefix) return;
    add("the channels that turn are read from the head's first ones, and written to its last", DiagnosedStage::rotation,
        [rest](const VectorInCall& vector, TakenVector taken) {
          const std::vector<double> x = vector.values(vector.number());
          taken.given = x;
          for (std::size_t i = static_cast<std::size_t>(rest); i < x.size(); ++i)
            taken.given[i] = x[i - static_cast<std::size_t>(rest)];
          return std::optional(std::move(taken));
        });
  }

  Spec claim_;
  Rope rope_;
  std::vector<VectorReading> list_;
};

// Normalized coordinates of 16 bits: c = (2p + 1) / extent - 1, which a scale of its own makes another number.
std::vector<VectorReading> rounded_coordinates(const Spec& claim, const RopeNd& encoding) {
  std::vector<VectorReading> list;
  const bool is_plain = encoding.coordinates == Coordinates::normalized && encoding.coordinate_shifts.empty() &&
                        encoding.coordinate_scales.empty();
  if (!is_plain) return list;
  struct Unit {
    std::string_view words;
    double size;
  };
  for (const Unit& unit :
       {Unit{"normalized coordinates", 1}, Unit{"normalized coordinates times 2 pi", 2 * std::numbers::pi}}) {
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16})
      list.push_back({fmt::format("{} are rounded to {}", unit.words, name_of(dtype)), DiagnosedStage::position,
                      [claim, dtype, size = unit.size](const VectorInCall& vector) {
                        TakenVector taken = as_claimed(claim, vector);
                        auto& axes = *held<RopeNd>(taken.spec);
                        for (std::size_t axis = 0; axis < axes.extents.size(); ++axis) {
                          const auto extent = static_cast<double>(axes.extents[axis]);
                          const double c = size * ((2 * static_cast<double>(taken.place[axis]) + 1) / extent - 1);
                          axes.coordinate_scales.push_back(c == 0 ? 1 : round_to(dtype, c) / c);
                        }
                        return std::optional(std::move(taken));
                      }});
  }
  return list;
}

}  // namespace

std::optional<VectorReading> limited_results(const Spec& claim, double limit) {
  if (held<Rope>(claim) == nullptr || claim.dtype != Dtype::float32) return std::nullopt;
  return VectorReading{
      fmt::format("results are limited to {:.9g}: what is beyond it is {:.9g} or -{:.9g}", limit, limit, limit),
      DiagnosedStage::rotation, [claim, limit](const VectorInCall& vector) {
        TakenVector taken = as_claimed(claim, vector);
        const Rope& rope = *rope_of(taken.spec);
        const ClaimedTurnings own = turnings_of(rope, vector.call_length());
        const std::vector<double> x = vector.values(vector.number());
        const double sense = rope.direction == Direction::clockwise ? -1 : 1;
        taken.plus.assign(x.size(), 0);
        for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
          const double angle = own.radians[static_cast<std::size_t>(pair)] * static_cast<double>(taken.place.front());
          const double cos = own.factor * std::cos(angle);
          const double sin = sense * own.factor * std::sin(angle);
          const Channels from = channels_of_pair(rope, rope.pairing, pair);
          const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
          const double a = x[static_cast<std::size_t>(from.first)];
          const double b = x[static_cast<std::size_t>(from.second)];
          const auto beyond = [&](double right) { return right - std::clamp(right, -limit, limit); };
          taken.plus[static_cast<std::size_t>(to.first)] = beyond(a * cos - b * sin);
          taken.plus[static_cast<std::size_t>(to.second)] = beyond(a * sin + b * cos);
        }
        return std::optional(std::move(taken));
      }};
}

std::vector<VectorReading> other_formulas(const Spec& claim) {
  if (const auto* axes = held<RopeNd>(claim)) return rounded_coordinates(claim, *axes);
  const auto* rope = held<Rope>(claim);
  if (rope == nullptr || pairs(*rope) == 0) return {};
  return OtherFormulas(claim, *rope).made();
}

}  // namespace sextant::identify
