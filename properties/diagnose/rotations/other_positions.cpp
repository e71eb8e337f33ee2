// Over 400 lines: a list of readings, each a few lines, and the calls that tell them from each other.
#include "properties/diagnose/rotations/other_positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/rotations/claimed_frequencies.hpp"
#include "properties/identify/rotations/other_lengths.hpp"

namespace sextant::identify {
namespace {

// Positions before 0 are asked of no claim that has none, and turned backwards all the same.
Spec with_negative(Spec spec) {
  spec.min_position = -spec.max_position;
  return spec;
}

// Which functions of an angle have xPos' scale.
enum class ScaledPart { sines, cosines };

class OtherPositions {
 public:
  explicit OtherPositions(const Spec& claim) : claim_(claim) {}

  std::vector<VectorReading> made() && {
    if (axes_of(claim_.encoding) > 1) return {};
    const Rope* rope = rope_of(claim_);
    if (const auto* linear = std::get_if<LinearScaling>(&rope->rope_scaling)) add_divided(linear->factor);
    add_wrapped();
    add_counted();
    add_by_row();
    if (const auto* xpos = held<Xpos>(claim_)) add_centres(*xpos);
    return std::move(list_);
  }

 private:
  void add(std::string words, std::function<double(std::int64_t position)> position) {
    list_.push_back(
        {std::move(words), DiagnosedStage::position,
         [claim = claim_, position = std::move(position)](const VectorInCall& vector) -> std::optional<TakenVector> {
           const double other = position(vector.place().front());
           if (!std::isfinite(other) || other != std::floor(other)) return std::nullopt;
           TakenVector taken = as_claimed(with_negative(claim), vector);
           taken.place = {static_cast<std::int64_t>(other)};
           return taken;
         }});
  }

  // p / s counts in steps of the claim's frequencies, 1/s of the unscaled ones.
  void add_divided(double s) {
    const auto divided = [s](auto round) {
      return [=](std::int64_t p) { return round(static_cast<double>(p) / s) * s; };
    };
    add("positions are divided by the factor as whole numbers, rounded down",
        divided([](double p) { return std::floor(p); }));
    add("positions are divided by the factor and rounded to whole numbers",
        divided([](double p) { return std::nearbyint(p); }));
    add("positions are divided by the factor and rounded up to whole numbers",
        divided([](double p) { return std::ceil(p); }));
    // Whole multiples of 1/s where s is a power of 2; of others nothing is said.
    add("positions divided by the factor are rounded to float16: right up to position 2048",
        divided([](double p) { return round_to(Dtype::float16, p); }));
    add("positions divided by the factor are rounded to bfloat16: right up to position 256",
        divided([](double p) { return round_to(Dtype::bfloat16, p); }));
  }

  void add_wrapped() {
    if (claim_.max_position <= 32768) return;
    add("positions are numbers of 16 bits with a sign: 32768 is turned as -32768", [](std::int64_t p) {
      const std::int64_t low = ((p % 65536) + 65536) % 65536;
      return static_cast<double>(low >= 32768 ? low - 65536 : low);
    });
  }

  // What a row begins with is taken for another position, wherever that is; what is taken for 0 is told by name.
  void add_counted() {
    const auto moved = [&](std::string words, std::function<std::int64_t(const VectorInCall& vector)> by) {
      list_.push_back({std::move(words), DiagnosedStage::position,
                       [claim = claim_, by = std::move(by)](const VectorInCall& vector) {
                         TakenVector taken = as_claimed(with_negative(claim), vector);
                         taken.place.front() += by(vector);
                         return std::optional(std::move(taken));
                       }});
    };
    for (const std::int64_t start : {1, 2}) {
      moved(fmt::format("positions are counted from the row's first, which is taken for {}", start),
            [start](const VectorInCall& at) { return start - at.coordinate(0, at.batch, 0); });
      moved(fmt::format("positions are counted from the call's first, which is taken for {}", start),
            [start](const VectorInCall& at) { return start - at.coordinate(0, 0, 0); });
    }
  }

  // Positions by those of the row's other tokens.
  void add_by_row() {
    const auto by_row = [&](std::string words, std::function<std::int64_t(const VectorInCall& vector)> position) {
      list_.push_back({std::move(words), DiagnosedStage::position,
                       [claim = claim_, position = std::move(position)](const VectorInCall& vector) {
                         const std::int64_t other = position(vector);
                         TakenVector taken = as_claimed(other < 0 ? with_negative(claim) : claim, vector);
                         taken.place.front() = other;
                         return std::optional(std::move(taken));
                       }});
    };
    const auto own = [](const VectorInCall& at) { return at.coordinate(0, at.batch, at.token); };
    by_row("positions beyond that of the row's last token are taken for it",
           [own](const VectorInCall& at) { return std::min(own(at), at.coordinate(0, at.batch, at.tokens - 1)); });
    by_row("in batches of one row positions are counted from its first, which is taken for 0",
           [own](const VectorInCall& at) { return at.batches == 1 ? own(at) - at.coordinate(0, 0, 0) : own(at); });
    by_row("in calls of one token of one row the position is taken for 0",
           [own](const VectorInCall& at) { return at.batches == 1 && at.tokens == 1 ? 0 : own(at); });
    by_row("positions below that of the row's first token are taken for it",
           [own](const VectorInCall& at) { return std::max(own(at), at.coordinate(0, at.batch, 0)); });
    by_row("steps from token to token are taken for 1, 0 or -1: gaps between positions are closed",
           [](const VectorInCall& at) {
             std::int64_t position = at.coordinate(0, at.batch, 0);
             for (std::int64_t token = 1; token <= at.token; ++token)
               position += std::clamp<std::int64_t>(
                   at.coordinate(0, at.batch, token) - at.coordinate(0, at.batch, token - 1), -1, 1);
             return position;
           });
    by_row("all rows of a batch follow its first position one by one, in calls that do not begin at 0",
           [own](const VectorInCall& at) {
             const std::int64_t first = at.coordinate(0, 0, 0);
             return first == 0 ? own(at) : first + at.token;
           });
    by_row("steps of more than 1 from token to token are taken for 1: gaps between positions are closed",
           [](const VectorInCall& at) {
             std::int64_t position = at.coordinate(0, at.batch, 0);
             for (std::int64_t token = 1; token <= at.token; ++token)
               position +=
                   std::min<std::int64_t>(at.coordinate(0, at.batch, token) - at.coordinate(0, at.batch, token - 1), 1);
             return position;
           });
    add_counted_where("rows in which a position comes twice", [](const VectorInCall& at) {
      const std::vector<std::int64_t> sorted = sorted_row(at);
      return std::ranges::adjacent_find(sorted) != sorted.end();
    });
    add_counted_where("rows whose positions ever fall", [](const VectorInCall& at) {
      for (std::int64_t token = 1; token < at.tokens; ++token) {
        if (at.coordinate(0, at.batch, token) < at.coordinate(0, at.batch, token - 1)) return true;
      }
      return false;
    });
    by_row("tokens behind a position 0 in their row are counted from it one by one, as in packed rows",
           [own](const VectorInCall& at) {
             for (std::int64_t token = at.token; token > 0; --token) {
               if (at.coordinate(0, at.batch, token) == 0) return at.token - token;
             }
             return own(at);
           });
    enum class Steps { given, one };
    for (const auto& [steps, how] :
         {std::pair(Steps::given, "in the row's own steps"), std::pair(Steps::one, "one by one")})
      by_row(fmt::format("where a row's positions fall they are counted anew from 0, {}, as in packed rows", how),
             [steps = steps](const VectorInCall& at) {
               std::int64_t position = at.coordinate(0, at.batch, 0);
               bool is_counted = false;
               for (std::int64_t token = 1; token <= at.token; ++token) {
                 const std::int64_t step = at.coordinate(0, at.batch, token) - at.coordinate(0, at.batch, token - 1);
                 position = step < 0 ? 0 : position + (is_counted && steps == Steps::one ? 1 : step);
                 is_counted = is_counted || step < 0;
               }
               return position;
             });
    by_row("positions go on in steps of the row's first two tokens: p0 + t (p1 - p0)", [](const VectorInCall& at) {
      const std::int64_t first = at.coordinate(0, at.batch, 0);
      return at.tokens == 1 ? first : first + at.token * (at.coordinate(0, at.batch, 1) - first);
    });
    by_row(
        "positions are counted back one by one from the row's last token, which has its own",
        [](const VectorInCall& at) { return at.coordinate(0, at.batch, at.tokens - 1) - (at.tokens - 1 - at.token); });
    by_row("all rows of a batch are counted back one by one from the greatest position of their last tokens",
           [](const VectorInCall& at) {
             std::int64_t greatest = at.coordinate(0, 0, at.tokens - 1);
             for (std::int64_t batch = 1; batch < at.batches; ++batch)
               greatest = std::max(greatest, at.coordinate(0, batch, at.tokens - 1));
             return greatest - (at.tokens - 1 - at.token);
           });
    by_row("positions are counted back one by one from the row's greatest, which its last token has",
           [](const VectorInCall& at) { return at.row_length(at.batch) - (at.tokens - at.token); });
    by_row("rows whose positions fall are turned the other way", [own](const VectorInCall& at) {
      for (std::int64_t token = 1; token < at.tokens; ++token) {
        if (at.coordinate(0, at.batch, token) >= at.coordinate(0, at.batch, token - 1)) return own(at);
      }
      return at.tokens > 1 ? -own(at) : own(at);
    });
    by_row("rows that end at a lower position than they begin with are turned the other way",
           [own](const VectorInCall& at) {
             const bool ends_lower = at.coordinate(0, at.batch, at.tokens - 1) < at.coordinate(0, at.batch, 0);
             return ends_lower ? -own(at) : own(at);
           });
    by_row("rows that end at a lower position than they begin with are read backwards", [own](const VectorInCall& at) {
      const bool ends_lower = at.coordinate(0, at.batch, at.tokens - 1) < at.coordinate(0, at.batch, 0);
      return ends_lower ? at.coordinate(0, at.batch, at.tokens - 1 - at.token) : own(at);
    });
    by_row("rows whose positions fall are read in rising order", [own](const VectorInCall& at) {
      for (std::int64_t token = 1; token < at.tokens; ++token) {
        if (at.coordinate(0, at.batch, token) > at.coordinate(0, at.batch, token - 1)) return own(at);
      }
      return at.coordinate(0, at.batch, at.tokens - 1 - at.token);
    });
  }

  static std::vector<std::int64_t> sorted_row(const VectorInCall& at) {
    std::vector<std::int64_t> row;
    for (std::int64_t token = 0; token < at.tokens; ++token) row.push_back(at.coordinate(0, at.batch, token));
    std::ranges::sort(row);
    return row;
  }

  // Rows of a kind whose tokens are counted one by one from the first or the least.
  void add_counted_where(const std::string& rows, std::function<bool(const VectorInCall& at)> holds) {
    enum class From { first, least };
    for (const auto& [from, words] : {std::pair(From::first, "first"), std::pair(From::least, "least")})
      list_.push_back({fmt::format("{} are counted one by one from their {} position", rows, words),
                       DiagnosedStage::position, [claim = claim_, holds, from = from](const VectorInCall& at) {
                         TakenVector taken = as_claimed(claim, at);
                         if (!holds(at)) return std::optional(std::move(taken));
                         const std::int64_t start =
                             from == From::first ? at.coordinate(0, at.batch, 0) : sorted_row(at).front();
                         taken.place.front() = start + at.token;
                         return std::optional(std::move(taken));
                       }});
  }

  void add_centres(const Xpos& xpos) {
    const auto centred = [&](std::string words, std::function<std::int64_t(const VectorInCall&)> centre) {
      list_.push_back({std::move(words), DiagnosedStage::position,
                       [claim = claim_, centre = std::move(centre)](const VectorInCall& vector) {
                         TakenVector taken = as_claimed(claim, vector);
                         held<Xpos>(taken.spec)->centre = centre(vector);
                         return std::optional(std::move(taken));
                       }});
    };
    if (std::holds_alternative<HalfOfCall>(xpos.centre)) {
      centred("each batch row has a centre of its own, half of its length, where the claim has half of the call's",
              [half = std::get<HalfOfCall>(xpos.centre)](const VectorInCall& vector) {
                return centre_at(half, vector.row_length(vector.batch));
              });
    }
    centred("the centre is half of the call's length less one, rounded down: (l - 1) // 2",
            [](const VectorInCall& vector) { return (vector.call_length() - 1) / 2; });
    centred("the centre is a quarter of the call's length",
            [](const VectorInCall& vector) { return vector.call_length() / 4; });
    centred("the centre is the call's first position plus half of its number of tokens",
            [](const VectorInCall& vector) { return vector.coordinate(0, 0, 0) + vector.tokens / 2; });
    centred("the centre is a row's first position plus half of its number of tokens",
            [](const VectorInCall& vector) { return vector.coordinate(0, vector.batch, 0) + vector.tokens / 2; });
    centred("the centre is half of the number of tokens, whatever their positions",
            [](const VectorInCall& vector) { return vector.tokens / 2; });
    centred("the centre is half of the sum of the call's least and greatest position", [](const VectorInCall& vector) {
      const auto [least, most] = std::ranges::minmax(vector.call.positions);
      return (least + most) / 2;
    });
    for (const HalfOfCall half : {HalfOfCall::floor, HalfOfCall::ceil})
      centred(fmt::format("the centre is half of the sum of the call's least position and its length, rounded {}",
                          half == HalfOfCall::floor ? "down" : "up"),
              [half](const VectorInCall& vector) {
                return centre_at(half, std::ranges::min(vector.call.positions) + vector.call_length());
              });
    centred("the centre is added to positions, where the claim subtracts it", [claim = claim_](const VectorInCall& at) {
      return -std::get<std::int64_t>(held<Xpos>(as_claimed(claim, at).spec)->centre);
    });
    // A power of p - c and an angle of p - c are those of a position that counts from c.
    const bool is_at_0 = xpos.centre == std::variant<std::int64_t, HalfOfCall>(std::int64_t{0});
    if (!is_at_0)
      list_.push_back({"angles count from the centre too, where the claim's count from position 0",
                       DiagnosedStage::position, [claim = claim_](const VectorInCall& vector) {
                         TakenVector taken = as_claimed(with_negative(claim), vector);
                         auto& centre = std::get<std::int64_t>(held<Xpos>(taken.spec)->centre);
                         taken.place.front() -= centre;
                         centre = 0;
                         return std::optional(std::move(taken));
                       }});
    add_powers();
    add_rounded_scales();
    add_zetas();
    for (const auto& [part, words] : {std::pair(ScaledPart::sines, "sines alone are scaled, and cosines are not"),
                                      std::pair(ScaledPart::cosines, "cosines alone are scaled, and sines are not")})
      add_scales_of_part(part, words);
    if (xpos.rope.pairing == Pairing::interleaved) add_scales_by_channel();
    for (std::int64_t steps = 1; steps < pairs(xpos.rope); ++steps) {
      for (const auto& [member, words] : {std::pair(&Channels::second, "second"), std::pair(&Channels::first, "first")})
        add_scales_of_member(steps, member, words);
    }
  }

  // zeta_i = (2i/n + 0.4) / 1.4 to the power of a position.
  static double scale_of(const TakenVector& taken, std::int64_t pair) {
    const auto& xpos = *held<Xpos>(taken.spec);
    return scale_of(xpos, pair, steps_from_centre(taken) / xpos.scale_base);
  }

  static double scale_of(const Xpos& xpos, std::int64_t pair, double power) {
    const auto n = static_cast<double>(rotary_width(xpos.rope));
    const double sign = xpos.role == Role::query ? 1 : -1;
    return std::pow((2 * static_cast<double>(pair) / n + 0.4) / 1.4, sign * power);
  }

  static double steps_from_centre(const TakenVector& taken) {
    return static_cast<double>(taken.place.front() - std::get<std::int64_t>(held<Xpos>(taken.spec)->centre));
  }

  // Another power of zeta than (p - centre) / scale_base.
  void add_powers() {
    const auto with_power = [&](std::string words, double (*power)(double steps, double base)) {
      list_.push_back({std::move(words), DiagnosedStage::table, [claim = claim_, power](const VectorInCall& vector) {
                         TakenVector taken = as_claimed(claim, vector);
                         const Xpos& xpos = *held<Xpos>(taken.spec);
                         taken.times.assign(static_cast<std::size_t>(xpos.rope.head_dim), 1);
                         const double other = power(steps_from_centre(taken), xpos.scale_base);
                         for (std::int64_t pair = 0; pair < pairs(xpos.rope); ++pair) {
                           const Channels to = channels_of_pair(xpos.rope, xpos.rope.output_pairing, pair);
                           for (const std::int64_t channel : {to.first, to.second})
                             taken.times[static_cast<std::size_t>(channel)] =
                                 scale_of(taken, pair) / scale_of(xpos, pair, other);
                         }
                         return std::optional(std::move(taken));
                       }});
    };
    with_power("steps from the centre are divided by scale_base as whole numbers, rounded down",
               [](double steps, double base) { return std::floor(steps / base); });
    with_power("steps from the centre are divided by scale_base as whole numbers, rounded toward 0",
               [](double steps, double base) { return std::trunc(steps / base); });
    with_power("scales are powers of the distance from the centre, without its sign",
               [](double steps, double base) { return std::fabs(steps) / base; });
  }

  // Scales of 16 bits, and powers of them. Nothing of what lies near the middle of two such numbers.
  void add_rounded_scales() {
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
      const auto rounded = [dtype](double value) -> std::optional<double> {
        const double below = round_to(dtype, value * (1 - 0x1p-20));
        return below == round_to(dtype, value * (1 + 0x1p-20)) ? std::optional(below) : std::nullopt;
      };
      const auto with_scale = [&](std::string words, auto other) {
        list_.push_back({std::move(words), DiagnosedStage::table,
                         [claim = claim_, other](const VectorInCall& vector) -> std::optional<TakenVector> {
                           TakenVector taken = as_claimed(claim, vector);
                           const Xpos& xpos = *held<Xpos>(taken.spec);
                           taken.times.assign(static_cast<std::size_t>(xpos.rope.head_dim), 1);
                           for (std::int64_t pair = 0; pair < pairs(xpos.rope); ++pair) {
                             const std::optional<double> scale = other(taken, xpos, pair);
                             if (!scale || *scale == 0) return std::nullopt;
                             const Channels to = channels_of_pair(xpos.rope, xpos.rope.output_pairing, pair);
                             for (const std::int64_t channel : {to.first, to.second})
                               taken.times[static_cast<std::size_t>(channel)] = scale_of(taken, pair) / *scale;
                           }
                           return taken;
                         }});
      };
      with_scale(fmt::format("scales are rounded to {}", name_of(dtype)),
                 [rounded](const TakenVector& taken, const Xpos&, std::int64_t pair) {
                   return rounded(scale_of(taken, pair));
                 });
      with_scale(fmt::format("powers of zeta are rounded to {}", name_of(dtype)),
                 [rounded](const TakenVector& taken, const Xpos& xpos, std::int64_t pair) -> std::optional<double> {
                   const double power = steps_from_centre(taken) / xpos.scale_base;
                   const auto other = power == 0 ? std::optional(0.0) : rounded(power);
                   if (!other) return std::nullopt;
                   return scale_of(xpos, pair, *other);
                 });
    }
  }

  // Other numbers than zeta_i, by what stands for 2i / n.
  void add_zetas() {
    const auto with_zeta = [&](std::string words, std::function<double(double pair, double n)> other) {
      list_.push_back({std::move(words), DiagnosedStage::table,
                       [claim = claim_, other = std::move(other)](const VectorInCall& vector) {
                         TakenVector taken = as_claimed(claim, vector);
                         const Xpos& xpos = *held<Xpos>(taken.spec);
                         taken.times.assign(static_cast<std::size_t>(xpos.rope.head_dim), 1);
                         const auto n = static_cast<double>(rotary_width(xpos.rope));
                         const double power = steps_from_centre(taken) / xpos.scale_base;
                         const double sign = xpos.role == Role::query ? 1 : -1;
                         for (std::int64_t pair = 0; pair < pairs(xpos.rope); ++pair) {
                           const double zeta = other(static_cast<double>(pair), n);
                           const Channels to = channels_of_pair(xpos.rope, xpos.rope.output_pairing, pair);
                           for (const std::int64_t channel : {to.first, to.second})
                             taken.times[static_cast<std::size_t>(channel)] =
                                 scale_of(taken, pair) / std::pow(zeta, sign * power);
                         }
                         return std::optional(std::move(taken));
                       }});
    };
    with_zeta("zeta counts pairs from 1: pair i has that of pair i + 1",
              [](double pair, double n) { return (2 * (pair + 1) / n + 0.4) / 1.4; });
    with_zeta("zeta rises half as fast: it is made of i / n, where the claim has 2i / n",
              [](double pair, double n) { return (pair / n + 0.4) / 1.4; });
    with_zeta("zeta ends at 1: it is made of 2i / (n - 2), where the claim has 2i / n",
              [](double pair, double n) { return (2 * pair / std::max(n - 2, 1.0) + 0.4) / 1.4; });
    with_zeta("zeta is 2i / n + 0.4, not divided by 1.4 as the claim has it",
              [](double pair, double n) { return 2 * pair / n + 0.4; });
    with_zeta("zeta falls where the claim's rises: pair i has that of the last but i",
              [](double pair, double n) { return (2 * (n / 2 - 1 - pair) / n + 0.4) / 1.4; });
  }

  // y0 = a s cos - b s sin, y1 = a s sin + b s cos: what is not scaled lacks s - 1 times itself.
  void add_scales_of_part(ScaledPart part, std::string words) {
    list_.push_back({std::move(words), DiagnosedStage::table, [claim = claim_, part](const VectorInCall& vector) {
                       TakenVector taken = as_claimed(claim, vector);
                       const Rope& rope = held<Xpos>(taken.spec)->rope;
                       const std::vector<double> x = vector.values(vector.number());
                       const std::vector<double> w = frequencies_of(rope, vector.call_length());
                       const double sense = rope.direction == Direction::clockwise ? -1 : 1;
                       taken.plus.assign(x.size(), 0);
                       for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
                         const Channels from = channels_of_pair(rope, rope.pairing, pair);
                         const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
                         const double a = x[static_cast<std::size_t>(from.first)];
                         const double b = x[static_cast<std::size_t>(from.second)];
                         const double angle =
                             w[static_cast<std::size_t>(pair)] * static_cast<double>(taken.place.front());
                         const double lacks = scale_of(taken, pair) - 1;
                         const double sin = sense * std::sin(angle);
                         const double cos = std::cos(angle);
                         const bool lack_cosines = part == ScaledPart::sines;
                         taken.plus[static_cast<std::size_t>(to.first)] = lacks * (lack_cosines ? a * cos : -b * sin);
                         taken.plus[static_cast<std::size_t>(to.second)] = lacks * (lack_cosines ? b * cos : a * sin);
                       }
                       return std::optional(std::move(taken));
                     }});
  }

  void add_scales_of_member(std::int64_t steps, std::int64_t Channels::*member, std::string_view words) {
    list_.push_back(
        {fmt::format("the members of a pair have different scales: the {} ones have that of the pair {} further on, "
                     "counted round",
                     words, steps),
         DiagnosedStage::table, [claim = claim_, steps, member](const VectorInCall& vector) {
           TakenVector taken = as_claimed(claim, vector);
           const Rope& rope = held<Xpos>(taken.spec)->rope;
           taken.times.assign(static_cast<std::size_t>(rope.head_dim), 1);
           for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
             const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
             taken.times[static_cast<std::size_t>(to.*member)] =
                 scale_of(taken, pair) / scale_of(taken, (pair + steps) % pairs(rope));
           }
           return std::optional(std::move(taken));
         }});
  }

  // Channel c of the m that turn has the scale of pair c mod m/2, in place of c/2.
  void add_scales_by_channel() {
    list_.push_back(
        {"the list of scales is repeated as a whole over channels, where pairs are neighbours: channel c has the scale "
         "of pair c modulo the number of pairs",
         DiagnosedStage::table, [claim = claim_](const VectorInCall& vector) -> std::optional<TakenVector> {
           TakenVector taken = as_claimed(claim, vector);
           const auto& xpos = *held<Xpos>(taken.spec);
           const std::int64_t count = pairs(xpos.rope);
           taken.times.assign(static_cast<std::size_t>(xpos.rope.head_dim), 1);
           const std::int64_t first = first_rotary_channel(xpos.rope);
           for (std::int64_t c = 0; c < 2 * count; ++c)
             taken.times[static_cast<std::size_t>(first + c)] = scale_of(taken, c / 2) / scale_of(taken, c % count);
           return taken;
         }});
  }

  Spec claim_;
  std::vector<VectorReading> list_;
};

// Vectors by a comparison of two numbers of them and their call.
struct ByExtents {
  std::string words;
  std::function<bool(const VectorInCall& vector)> holds;
};

std::vector<ByExtents> comparisons(ComparedWith with) {
  if (with == ComparedWith::block) {
    std::vector<ByExtents> list;
    for (const std::int64_t number : {32, 64, 128, 256, 512, 1024})
      list.push_back(
          {fmt::format("vectors from number {} of a call on, its rows, tokens and heads counted together,", number),
           [number](const VectorInCall& at) { return at.number() >= number; }});
    return list;
  }
  return {{"heads of a number from the call's number of tokens on (head h where h >= tokens)",
           [](const VectorInCall& at) { return at.head >= at.tokens; }},
          {"tokens of a number from the call's number of heads on (token t where t >= heads)",
           [](const VectorInCall& at) { return at.token >= at.heads; }},
          {"rows of a batch from the call's number of heads on (row b where b >= heads)",
           [](const VectorInCall& at) { return at.batch >= at.heads; }},
          {"rows of a batch from the call's number of tokens on (row b where b >= tokens)",
           [](const VectorInCall& at) { return at.batch >= at.tokens; }},
          {"tokens of a number from the call's number of rows on (token t where t >= rows)",
           [](const VectorInCall& at) { return at.batches > 1 && at.token >= at.batches; }},
          {"heads of a number from the call's number of rows on (head h where h >= rows)",
           [](const VectorInCall& at) { return at.head >= at.batches; }}};
}

}  // namespace

std::vector<VectorReading> other_positions(const Spec& claim) {
  if (rope_of(claim) == nullptr) return {};
  return OtherPositions(claim).made();
}

std::string wrong_by_comparison(AskedVectors& asked, const VectorReading& own, ComparedWith with) {
  for (const ByExtents& place : comparisons(with)) {
    if (!asked.are_wrong_where(place.holds)) continue;
    const auto as = [&](const std::function<void(TakenVector & taken)>& change) {
      return asked.are_explained({"", DiagnosedStage::other, [&](const VectorInCall& vector) {
                                    auto taken = own.taken(vector);
                                    if (taken && place.holds(vector)) change(*taken);
                                    return taken;
                                  }});
    };
    const auto moved = [&](std::int64_t by) {
      return as([by](TakenVector& taken) {
        for (std::int64_t& coordinate : taken.place) coordinate += by;
      });
    };
    if (as([](TakenVector& taken) { taken.is_as_given = true; }))
      return fmt::format("{} are not rotated, and the rest is right", place.words);
    if (moved(1)) return fmt::format("{} are turned one position too far, and the rest is right", place.words);
    if (moved(-1)) return fmt::format("{} are turned one position too little, and the rest is right", place.words);
    return fmt::format("{} are wrong, and the rest is right", place.words);
  }
  return {};
}

std::vector<CallPlaces> calls_about_extents(const Spec& claim) {
  const std::int64_t axes = axes_of(claim.encoding);
  const std::int64_t last = axes > 1 ? 16 : std::min<std::int64_t>(claim.max_position - 1, 100003);
  std::vector<CallPlaces> calls;
  const auto add = [&](std::int64_t batches, std::int64_t tokens, std::int64_t heads, std::int64_t span) {
    CallPlaces places{batches, heads, {}};
    for (std::int64_t i = 0; i < axes * batches * tokens; ++i)
      places.positions.push_back(1 + ((i + 1) * 211 + 13) % std::max<std::int64_t>(span - 1, 1));
    calls.push_back(std::move(places));
  };
  const std::int64_t near = std::min<std::int64_t>(last, 509);
  add(3, 5, 2, near);
  add(2, 9, 4, last);
  add(1, 1, 3, near);
  add(1, 1, 12, last);
  add(2, 1, 3, near);
  // Neither the first row nor the last has the least or the greatest position, and every number of tokens and rows
  // that a sentence may go by stands beside the next one.
  add(4, 1, 2, near);
  add(3, 2, 2, near);
  add(4, 3, 1, near);
  for (const std::int64_t tokens : {2, 3, 4, 7, 8, 9}) add(1, tokens, 2, tokens % 2 == 0 ? near : last);
  add(2, 4, 1, last);
  add(3, 8, 1, near);
  add(5, 3, 2, near);
  add(1, 2, 12, near);
  add(1, 5, 9, last);
  add(1, 40, 4, near);
  add(1, 260, 1, near);
  add(1, 260, 2, last);
  add(2, 40, 20, near);
  add(40, 3, 12, near);
  // Norms go by a head alone, whatever the order of positions.
  if (axes == 1 && near >= 128 && !is_of<QkNormRope>(claim)) {
    calls.push_back({2, 2, {97, 83, 41, 23, 7, 101, 71, 53, 19, 5}});
    // Ends whose distance the steps between divide.
    calls.push_back({2, 1, {10, 3, 50, 1, 26, 40, 2, 9, 7, 20}});
    // A long row whose ends are those of consecutive positions, and what is between is not.
    CallPlaces with_ends{1, 1, {21}};
    for (std::int64_t token = 1; token < 99; ++token) with_ends.positions.push_back(1 + (token * 97 + 31) % 113);
    with_ends.positions.push_back(120);
    calls.push_back(std::move(with_ends));
    // Positions that come twice, and steps back.
    calls.push_back({2, 1, {5, 9, 5, 14, 31, 2, 3, 8, 40, 71}});
    calls.push_back({2, 1, {11, 12, 13, 40, 41, 6, 6, 7, 30, 31}});
    // Beside one that rises, and with a second document in a row.
    calls.push_back({2, 1, {31, 37, 61, 113, 89, 43}});
    calls.push_back({2, 1, {5, 9, 0, 14, 3, 0, 7, 12, 21, 4}});
    // Padding on the left, of several zeros, of one and of none.
    calls.push_back({3, 1, {0, 0, 0, 0, 1, 2, 0, 1, 2, 3, 4, 5, 1, 0, 2, 0, 0, 6}});
    // Beginning at 0 beside one that does not, in a row that falls and has positions twice.
    calls.push_back({2, 1, {0, 14, 9, 9, 22, 6, 2, 8, 3, 3}});
  }
  return calls;
}

}  // namespace sextant::identify
