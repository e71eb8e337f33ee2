// Over 400 lines: a list of readings, each a few lines.
#include "properties/diagnose/rotations/other_norms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/rotations/claimed_frequencies.hpp"
#include "properties/identify/rotations/other_lengths.hpp"
#include "properties/identify/round_numbers.hpp"

namespace sextant::identify {
namespace {

double squares_of(const std::vector<double>& channels) {
  double sum = 0;
  for (const double value : channels) sum += value * value;
  return sum;
}

// In the order of the channels, each sum a number of bfloat16.
double squares_in_bfloat16(const std::vector<double>& channels) {
  double sum = 0;
  for (const double value : channels) sum = round_to(Dtype::bfloat16, sum + round_to(Dtype::bfloat16, value * value));
  return sum;
}

// One step of Newton's from a guess whose exponent is -1/2 of the number's.
double approximate_inverse_root(double number) {
  constexpr auto of_one = std::bit_cast<std::uint32_t>(1.0F);
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  const auto guess = static_cast<double>(std::bit_cast<float>(of_one / 2 * 3 - bits / 2));
  return guess * (1.5 - number / 2 * guess * guess);
}

enum class HowMany { one, several };

// Some of the vectors.
struct SomeVectors {
  std::string words;
  HowMany many;
  std::function<bool(const VectorInCall& vector)> holds;
};

std::vector<SomeVectors> groups() {
  const auto is_key = [](const VectorInCall& at) { return at.side == VectorSide::key; };
  const auto is_query = [](const VectorInCall& at) { return at.side == VectorSide::query; };
  std::vector<SomeVectors> list{{"keys", HowMany::several, is_key}, {"queries", HowMany::several, is_query}};
  const auto with = [&](std::string words, HowMany many, auto side, auto holds) {
    list.push_back({std::move(words), many, [=](const VectorInCall& at) { return side(at) && holds(at); }});
  };
  const auto any = [](const VectorInCall&) { return true; };
  const auto first = [](const VectorInCall& at) { return at.head == 0; };
  const auto later = [](const VectorInCall& at) { return at.head > 0; };
  const auto last = [](const VectorInCall& at) { return at.head == at.heads - 1; };
  const auto later_rows = [](const VectorInCall& at) { return at.batch > 0; };
  const auto single = [](const VectorInCall& at) { return at.tokens == 1; };
  with("the first query head", HowMany::one, is_query, first);
  with("the last query head", HowMany::one, is_query, last);
  with("query heads after the first", HowMany::several, is_query, later);
  with("the first key head", HowMany::one, is_key, first);
  with("the last key head", HowMany::one, is_key, last);
  with("key heads after the first", HowMany::several, is_key, later);
  with("query heads of a number from that of key heads on", HowMany::several, is_query,
       [](const VectorInCall& at) { return at.head >= at.call.vectors.back().shape[2]; });
  with("queries and keys of rows after the first", HowMany::several, any, later_rows);
  with("queries of rows after the first", HowMany::several, is_query, later_rows);
  with("keys of rows after the first", HowMany::several, is_key, later_rows);
  with("queries and keys of calls of one token", HowMany::several, any, single);
  with("queries of calls of one token", HowMany::several, is_query, single);
  with("keys of calls of one token", HowMany::several, is_key, single);
  // The tokens before and behind each of these borders are among those that are looked at.
  for (const std::int64_t border : {32, 64, 128, 256})
    with(fmt::format("queries and keys of tokens from number {} of a call on", border), HowMany::several, any,
         [border](const VectorInCall& at) { return at.token >= border; });
  return list;
}

class OtherNorms {
 public:
  OtherNorms(const Spec& claim, const QkNormRope& encoding) : claim_(claim), encoding_(encoding) {}

  std::vector<VectorReading> made() && {
    add_kept_weight();
    for (const SomeVectors& group : groups()) add_group(group);
    add_rounded();
    add_rest();
    add_means();
    add_centred();
    return std::move(list_);
  }

 private:
  using Change = std::function<std::optional<TakenVector>(const VectorInCall& vector, TakenVector taken)>;

  void add(std::string words, DiagnosedStage stage, Change change) {
    list_.push_back({std::move(words), stage, [claim = claim_, change = std::move(change)](const VectorInCall& vector) {
                       return change(vector, as_claimed(claim, vector));
                     }});
  }

  void add_group(const SomeVectors& group) {
    const std::string_view are = group.many == HowMany::several ? "are" : "is";
    const std::string_view have = group.many == HowMany::several ? "have" : "has";
    const auto where = [&](std::string words, DiagnosedStage stage, Change change) {
      add(std::move(words), stage,
          [holds = group.holds, change = std::move(change)](const VectorInCall& at, TakenVector taken) {
            return holds(at) ? change(at, std::move(taken)) : std::optional(std::move(taken));
          });
    };
    where(fmt::format("{} {} normalized and not turned", group.words, are), DiagnosedStage::rotation,
          [](const VectorInCall&, TakenVector taken) {
            std::ranges::fill(taken.place, 0);
            return std::optional(std::move(taken));
          });
    where(fmt::format("{} {} turned and not normalized", group.words, are), DiagnosedStage::rounding,
          [rope = encoding_.rope](const VectorInCall&, TakenVector taken) {
            const Rope fixed = held<QkNormRope>(taken.spec)->rope;
            taken.spec.encoding = fixed;
            return std::optional(std::move(taken));
          });
    where(fmt::format("{} {} as they came, neither normalized nor turned", group.words,
                      group.many == HowMany::several ? "stay" : "stays"),
          DiagnosedStage::rotation, [](const VectorInCall&, TakenVector taken) {
            taken.is_as_given = true;
            return std::optional(std::move(taken));
          });
    const auto weight_of = [&](std::string_view whose, std::int64_t row) {
      where(fmt::format("{} {} the {} weight", group.words, have, whose), DiagnosedStage::other,
            [row](const VectorInCall& vector, TakenVector taken) {
              taken.weight = weight_row(*vector.call.weight, row);
              return std::optional(std::move(taken));
            });
    };
    weight_of("queries'", 0);
    weight_of("keys'", 1);
    where(fmt::format("{} {} the mean of the queries' and the keys' weight", group.words, have), DiagnosedStage::other,
          [](const VectorInCall& vector, TakenVector taken) {
            Tensor mean = weight_row(*vector.call.weight, 0);
            const Tensor keys = weight_row(*vector.call.weight, 1);
            for (std::int64_t i = 0; i < mean.elements(); ++i) mean.set(i, (mean.at(i) + keys.at(i)) / 2);
            taken.weight = std::move(mean);
            // Which is rounded once more than the answer.
            taken.times.assign(static_cast<std::size_t>(keys.elements()), 1);
            return std::optional(std::move(taken));
          });
    where(fmt::format("{} {} normalized, and not multiplied by the weight", group.words, are), DiagnosedStage::other,
          [offset = encoding_.weight_offset](const VectorInCall& vector, TakenVector taken) {
            Tensor one = Tensor::zeros(vector.call.weight->dtype, {vector.call.weight->shape[1]});
            for (std::int64_t i = 0; i < one.elements(); ++i) one.set(i, 1 - offset);
            taken.weight = std::move(one);
            return std::optional(std::move(taken));
          });
    for (const double base : bases_in_use) {
      if (base == encoding_.rope.rope_theta) continue;
      where(fmt::format("{} {} turned by base {}, where the claim has {}", group.words, are, base,
                        encoding_.rope.rope_theta),
            DiagnosedStage::frequency, [base](const VectorInCall&, TakenVector taken) {
              held<QkNormRope>(taken.spec)->rope.rope_theta = base;
              return std::optional(std::move(taken));
            });
    }
    for (const std::int64_t by : {1, -1}) {
      where(fmt::format("{} {} turned one position too {}", group.words, are, by > 0 ? "far" : "little"),
            DiagnosedStage::position, [by](const VectorInCall&, TakenVector taken) -> std::optional<TakenVector> {
              taken.place.front() += by;
              if (taken.place.front() < 0) return std::nullopt;
              return taken;
            });
    }
  }

  void add_kept_weight() {
    add("the weights of a session's first call are kept", DiagnosedStage::other,
        [](const VectorInCall& vector, TakenVector taken) {
          taken.weight = weight_row(*vector.first_call.weight, vector.side == VectorSide::key ? 1 : 0);
          return std::optional(std::move(taken));
        });
  }

  // Channels that do not turn, as they came: the right ones are those times the weight by the root.
  void add_rest() {
    const Rope& rope = encoding_.rope;
    if (rope.rotary_dim == rope.head_dim) return;
    std::vector<std::size_t> rest(static_cast<std::size_t>(rope.head_dim));
    std::iota(rest.begin(), rest.end(), std::size_t{0});
    for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
      const Channels turned = channels_of_pair(rope, rope.output_pairing, pair);
      std::erase(rest, static_cast<std::size_t>(turned.first));
      std::erase(rest, static_cast<std::size_t>(turned.second));
    }
    add("channels that do not turn stay as they came, where the claim has them normalized", DiagnosedStage::other,
        [encoding = encoding_, rest](const VectorInCall& vector, TakenVector taken) {
          const std::vector<double> channels = vector.values(vector.number());
          const Tensor weight = weight_row(*vector.call.weight, vector.side == VectorSide::key ? 1 : 0);
          taken.times.assign(channels.size(), 1);
          for (const std::size_t channel : rest)
            taken.times[channel] =
                (weight.at(static_cast<std::int64_t>(channel)) + encoding.weight_offset) / root_of(channels, encoding);
          return std::optional(std::move(taken));
        });
  }

  // Heads whose root is another one: they are that quotient times as long.
  void add_root(std::string words, DiagnosedStage stage,
                std::function<std::optional<double>(const VectorInCall& vector, double right_root)> root) {
    add(std::move(words), stage,
        [encoding = encoding_, root = std::move(root)](const VectorInCall& vector,
                                                       TakenVector taken) -> std::optional<TakenVector> {
          const double right = root_of(vector.values(vector.number()), encoding);
          const auto other = root(vector, right);
          if (!other || !(*other > 0)) return std::nullopt;
          taken.times.assign(static_cast<std::size_t>(encoding.rope.head_dim), *other / right);
          return taken;
        });
  }

  static double root_of(const std::vector<double>& channels, const QkNormRope& encoding) {
    return std::sqrt(squares_of(channels) / static_cast<double>(channels.size()) + encoding.epsilon);
  }

  void add_means() {
    const QkNormRope encoding = encoding_;
    // Beyond the last key there is none: what such code reads there is told of no call.
    const auto of_other_key = [&](std::string words, std::function<std::int64_t(const VectorInCall&)> stride) {
      add_root(
          std::move(words), DiagnosedStage::other,
          [encoding, stride = std::move(stride)](const VectorInCall& vector, double right) -> std::optional<double> {
            if (vector.side != VectorSide::key) return right;
            const std::int64_t token = vector.batch * vector.tokens + vector.token;
            const std::int64_t number = token * stride(vector) + vector.head;
            if (number >= vector.batches * vector.tokens * vector.heads) return std::nullopt;
            return root_of(vector.values(number), encoding);
          });
    };
    of_other_key("a key's mean is that of another key, found by as many heads a token as queries have",
                 [](const VectorInCall& vector) { return vector.query_heads; });
    for (const std::int64_t times : {2, 3, 4, 8}) {
      of_other_key(
          fmt::format("a key's mean is that of another key, found by {} times as many heads a token as keys have",
                      times),
          [times](const VectorInCall& vector) { return times * vector.heads; });
    }
    add_means_over_heads();
    add_root("heads are multiplied by the weight before they are normalized: the mean is of what is weighted",
             DiagnosedStage::other, [encoding](const VectorInCall& vector, double) {
               std::vector<double> channels = vector.values(vector.number());
               const Tensor weight = weight_row(*vector.call.weight, vector.side == VectorSide::key ? 1 : 0);
               for (std::size_t i = 0; i < channels.size(); ++i)
                 channels[i] *= weight.at(static_cast<std::int64_t>(i)) + encoding.weight_offset;
               return std::optional(root_of(channels, encoding));
             });
    add_root("a head's mean is that of the token's last head", DiagnosedStage::other,
             [encoding](const VectorInCall& vector, double) {
               return std::optional(root_of(vector.values(vector.number() - vector.head + vector.heads - 1), encoding));
             });
    // Of a smaller one no head that is asked shows anything.
    for (int power = 1; power <= 3; ++power) {
      const double least = std::pow(10.0, -power);
      add_root(fmt::format("the root of a head's mean square is {:g} at least, in place of the claim's epsilon", least),
               DiagnosedStage::other, [least](const VectorInCall& vector, double) {
                 const std::vector<double> channels = vector.values(vector.number());
                 const double mean = squares_of(channels) / static_cast<double>(channels.size());
                 return std::optional(std::max(std::sqrt(mean), least));
               });
    }
    add_root("squares are summed in bfloat16", DiagnosedStage::rounding,
             [encoding](const VectorInCall& vector, double) {
               const std::vector<double> channels = vector.values(vector.number());
               return std::optional(
                   std::sqrt(squares_in_bfloat16(channels) / static_cast<double>(channels.size()) + encoding.epsilon));
             });
    // In a format of 16 bits, of which 65504 is the greatest number, that keeps it in place of greater ones.
    for (const double limit : {65504.0, 32768.0}) {
      add_root(fmt::format("the sum of a head's squares is limited to {:g}: greater heads come out too large", limit),
               DiagnosedStage::rounding, [encoding, limit](const VectorInCall& vector, double) {
                 const std::vector<double> channels = vector.values(vector.number());
                 return std::optional(std::sqrt(
                     std::min(squares_of(channels), limit) / static_cast<double>(channels.size()) + encoding.epsilon));
               });
      add_root(fmt::format("the mean of a head's squares is limited to {:g}: greater heads come out too large", limit),
               DiagnosedStage::rounding, [encoding, limit](const VectorInCall& vector, double) {
                 const std::vector<double> channels = vector.values(vector.number());
                 return std::optional(std::sqrt(
                     std::min(squares_of(channels) / static_cast<double>(channels.size()), limit) + encoding.epsilon));
               });
      add_root(fmt::format("squares of channels are limited to {:g}: greater heads come out too large", limit),
               DiagnosedStage::rounding, [encoding, limit](const VectorInCall& vector, double) {
                 double sum = 0;
                 const std::vector<double> channels = vector.values(vector.number());
                 for (const double value : channels) sum += std::min(value * value, limit);
                 return std::optional(std::sqrt(sum / static_cast<double>(channels.size()) + encoding.epsilon));
               });
    }
    add_root("the inverse root is approximate: one step of Newton's from a guess by the number's bits",
             DiagnosedStage::rounding, [](const VectorInCall&, double right) {
               return std::optional(1 / approximate_inverse_root(right * right));
             });
  }

  void add_means_over_heads() {
    const auto over_heads = [&](std::string words, auto holds) {
      add_root(std::move(words), DiagnosedStage::other,
               [encoding = encoding_, holds](const VectorInCall& vector, double right) -> std::optional<double> {
                 if (!holds(vector.side)) return right;
                 double sum = 0;
                 for (std::int64_t head = 0; head < vector.heads; ++head)
                   sum += squares_of(vector.values(vector.number() - vector.head + head));
                 return std::sqrt(sum / static_cast<double>(vector.heads * encoding.rope.head_dim) + encoding.epsilon);
               });
    };
    over_heads("keys' mean is over all key heads of a token, where the claim has each head its own",
               [](VectorSide side) { return side == VectorSide::key; });
    over_heads("queries' mean is over all query heads of a token, where the claim has each head its own",
               [](VectorSide side) { return side == VectorSide::query; });
  }

  // A mean that is subtracted as layer normalization does, from the channels that turn alone.
  // Weights, and what is normalized, as numbers of 16 bits.
  void add_rounded() {
    struct Side {
      std::string_view whose;
      std::string_view heads;
      bool (*holds)(const VectorInCall& at);
    };
    constexpr std::array sides{
        Side{"weights", "normalized heads", [](const VectorInCall&) { return true; }},
        Side{"keys' weights", "normalized keys", [](const VectorInCall& at) { return at.side == VectorSide::key; }},
        Side{"queries' weights", "normalized queries",
             [](const VectorInCall& at) { return at.side == VectorSide::query; }}};
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
      if (format_of(dtype).precision >= format_of(claim_.dtype).precision) continue;
      for (const Side& side : sides) {
        add_rounded_weight(fmt::format("{} are rounded to {}", side.whose, name_of(dtype)), dtype, 0, side.holds);
        if (encoding_.weight_offset != 0)
          add_rounded_weight(
              fmt::format("sums of {:g} and {} are rounded to {}", encoding_.weight_offset, side.whose, name_of(dtype)),
              dtype, encoding_.weight_offset, side.holds);
        add_rounded_heads(fmt::format("{} are rounded to {} before they are turned", side.heads, name_of(dtype)),
                          side.holds,
                          [dtype](double normed, double weight) { return rounded_surely(dtype, normed * weight); });
        add_rounded_heads(
            fmt::format("{} are rounded to {} before the weight multiplies them", side.heads, name_of(dtype)),
            side.holds, [dtype](double normed, double weight) -> std::optional<double> {
              const auto other = rounded_surely(dtype, normed);
              if (!other) return std::nullopt;
              return *other * weight;
            });
      }
    }
  }

  // Nothing of what lies so near to the middle of two numbers that another rounding may decide.
  static std::optional<double> rounded_surely(Dtype dtype, double value) {
    const double below = round_to(dtype, value * (1 - 0x1p-21));
    return below == round_to(dtype, value * (1 + 0x1p-21)) ? std::optional(below) : std::nullopt;
  }

  void add_rounded_weight(std::string words, Dtype dtype, double offset, bool (*holds)(const VectorInCall& at)) {
    add(std::move(words), DiagnosedStage::rounding,
        [dtype, offset, holds](const VectorInCall& at, TakenVector taken) -> std::optional<TakenVector> {
          if (!holds(at)) return taken;
          Tensor weight = weight_row(*at.call.weight, at.side == VectorSide::key ? 1 : 0);
          for (std::int64_t i = 0; i < weight.elements(); ++i) {
            const double other = round_to(dtype, offset + weight.at(i)) - offset;
            weight.set(i, other);
            // A sum of another format may be no weight of the claim's.
            if (weight.at(i) != other) return std::nullopt;
          }
          taken.weight = std::move(weight);
          return taken;
        });
  }

  // What is lost of each channel is turned as it is. A rule that makes vectors longer multiplies it too, and is left
  // out.
  void add_rounded_heads(std::string words, bool (*holds)(const VectorInCall& at),
                         std::function<std::optional<double>(double normed, double weight)> other) {
    if (!std::holds_alternative<DefaultScaling>(encoding_.rope.rope_scaling) || claim_.dtype != Dtype::float32) return;
    add(std::move(words), DiagnosedStage::rounding,
        [holds, other = std::move(other), encoding = encoding_](const VectorInCall& at,
                                                                TakenVector taken) -> std::optional<TakenVector> {
          if (!holds(at)) return taken;
          const std::vector<double> x = at.values(at.number());
          const Tensor weights = weight_row(*at.call.weight, at.side == VectorSide::key ? 1 : 0);
          const double root = std::sqrt(squares_of(x) / static_cast<double>(x.size()) + encoding.epsilon);
          std::vector<double> lost;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const double normed = x[i] / root;
            const double weight = encoding.weight_offset + weights.at(static_cast<std::int64_t>(i));
            const auto rounded = other(normed, weight);
            if (!rounded) return std::nullopt;
            lost.push_back(normed * weight - *rounded);
          }
          const Rope& rope = encoding.rope;
          const std::vector<double> w = frequencies_of(rope, at.call_length());
          const double sense = rope.direction == Direction::clockwise ? -1 : 1;
          taken.plus = lost;
          for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
            const double angle = w[static_cast<std::size_t>(pair)] * static_cast<double>(taken.place.front());
            const Channels from = channels_of_pair(rope, rope.pairing, pair);
            const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
            const double a = lost[static_cast<std::size_t>(from.first)];
            const double b = lost[static_cast<std::size_t>(from.second)];
            const double cos = std::cos(angle);
            const double sin = sense * std::sin(angle);
            taken.plus[static_cast<std::size_t>(to.first)] = a * cos - b * sin;
            taken.plus[static_cast<std::size_t>(to.second)] = a * sin + b * cos;
          }
          return taken;
        });
  }

  void add_centred() {
    const Rope& rope = encoding_.rope;
    if (rope.rotary_dim == rope.head_dim) return;
    add("the mean of the channels that turn is subtracted from them, before heads are normalized",
        DiagnosedStage::other, [encoding = encoding_](const VectorInCall& vector, TakenVector taken) {
          const Rope& of = encoding.rope;
          taken.given = vector.values(vector.number());
          double sum = 0;
          const auto each = [&](const auto& change) {
            for (std::int64_t pair = 0; pair < pairs(of); ++pair) {
              const Channels at = channels_of_pair(of, of.pairing, pair);
              change(taken.given[static_cast<std::size_t>(at.first)]);
              change(taken.given[static_cast<std::size_t>(at.second)]);
            }
          };
          each([&](double value) { sum += value; });
          const double mean = sum / static_cast<double>(2 * pairs(of));
          each([&](double& value) { value -= mean; });
          // What is turned is rounded to the format, once more than the answer.
          taken.times.assign(taken.given.size(), 1);
          return std::optional(std::move(taken));
        });
  }

  Spec claim_;
  QkNormRope encoding_;
  std::vector<VectorReading> list_;
};

}  // namespace

std::vector<VectorReading> other_norms(const Spec& claim) {
  const auto* encoding = held<QkNormRope>(claim);
  return encoding == nullptr ? std::vector<VectorReading>{} : OtherNorms(claim, *encoding).made();
}

}  // namespace sextant::identify
