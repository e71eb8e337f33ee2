#include "lib/attention/attention.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

#include "attack/truth/truths.hpp"
#include "lib/spec/of.hpp"

// Vaswani et al. 2017, equation 1: softmax(q k^T / sqrt(d)) v, with what the position encoding does to q, k and the
// scores. The claim is a bound, that of attention_error, some 2^-53 (float64) and more of the magnitudes; here
// everything is in long double, to first order 2^11 times as exact, so that an element further away than 1 + 2^-9 of
// the bound is wrong.

namespace sextant::attack {
namespace {

using Number = long double;
using Numbers = std::vector<Number>;

// Rotates all vectors of [batch, heads, n, head_dim] where the encoding turns q and k.
class Turned {
 public:
  Turned(const Attention& encoding, const Case& example) : encoding_(encoding), example_(example) {}

  void turn(Numbers& x, std::int64_t heads, Role role) const {
    if (const auto* rope = carried<Rope>(encoding_)) turn_by(x, heads, *rope, nullptr, role);
    if (const auto* xpos = carried<Xpos>(encoding_)) turn_by(x, heads, xpos->rope, xpos, role);
  }

 private:
  void turn_by(Numbers& x, std::int64_t heads, const Rope& rope, const Xpos* xpos, Role role) const {
    const std::int64_t n = example_.tokens;
    for (std::int64_t b = 0; b < example_.batch; ++b) {
      const std::int64_t length = length_of_row(rope, example_, b);
      const auto frequencies = frequencies_of(rope, length);
      const Number scale = number_near(AttentionFactor(rope, length).times(exactly(first_precision, 1.0)));
      for (std::int64_t token = 0; token < n; ++token) {
        const std::int64_t position = example_.positions[static_cast<std::size_t>(b * n + token)];
        for (std::int64_t pair = 0; pair < rope.rotary_dim / 2; ++pair) {
          const auto turn = frequencies->turned(pair, stands_still(rope) ? 0 : position, first_precision);
          const Number c = number_near(turn->cosine);
          const Number s = (rope.direction == Direction::clockwise ? -1 : 1) * number_near(turn->sine);
          Number power = scale;
          if (xpos != nullptr) {
            Xpos own = *xpos;
            own.role = role;
            power *= number_near(xpos_power(own, pair, xpos_count(own, position, length), first_precision));
          }
          for (std::int64_t head = 0; head < heads; ++head) {
            const std::int64_t start = ((b * heads + head) * n + token) * rope.head_dim;
            const ChannelsOfPair in = rotary_channels(rope, rope.pairing, pair);
            const ChannelsOfPair out = rotary_channels(rope, rope.output_pairing, pair);
            pending_.push_back(
                {start + out.first, power * (x[at(start + in.first)] * c - x[at(start + in.second)] * s)});
            pending_.push_back(
                {start + out.second, power * (x[at(start + in.first)] * s + x[at(start + in.second)] * c)});
          }
        }
      }
    }
    for (const auto& [index, value] : pending_) x[at(index)] = value;
    pending_.clear();
  }

  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  struct Value {
    std::int64_t index;
    Number value;
  };
  const Attention& encoding_;
  const Case& example_;
  mutable std::vector<Value> pending_;
};

// What is judged here must not be taken for attention without a position.
void refuse_unknown(const Attention& encoding) {
  const bool is_known = carried<Rope>(encoding) || carried<Xpos>(encoding) || carried<Alibi>(encoding);
  if (acts_within(encoding) && !is_known)
    throw std::logic_error("no truth is written for attention with " + std::string(encoding_name(*encoding.position)));
  if (encoding.window || encoding.softmax_scale || encoding.logit_softcap || encoding.sinks)
    throw std::logic_error("no truth is written for attention with a window, a scale, a softcap or sinks");
}

Number bias_of(const Attention& encoding, std::int64_t head, std::int64_t query, std::int64_t key) {
  const auto* alibi = carried<Alibi>(encoding);
  if (alibi == nullptr) return 0;
  const auto [numerator, denominator] = alibi_exponent(*alibi, head);
  const Number slope = alibi->slope_dtype
                           ? static_cast<Number>(alibi_slope(*alibi, head, first_precision).low.nearest())
                           : std::exp2(static_cast<Number>(numerator) / static_cast<Number>(denominator));
  return slope * static_cast<Number>(alibi->form == AlibiForm::key_index ? key : -std::abs(query - key));
}

// Each whole period behind the query is one more.
Number scale_of_query(const Attention& encoding, std::int64_t position) {
  if (!encoding.query_scale) return 1;
  const QueryScale& scale = *encoding.query_scale;
  const std::int64_t from_start = position + scale.offset;
  if (scale.rule == QueryScaleRule::log_n) {
    // The logarithm to the base of the length, never below 1.
    const Number bits = std::log2(std::max<Number>(static_cast<Number>(from_start), 1));
    return std::max<Number>(bits / std::log2(static_cast<Number>(scale.length)), 1);
  }
  const std::int64_t period = scale.period;
  const double amount = scale.amount;
  const std::int64_t into_period = from_start % period;
  return 1 + static_cast<Number>(amount) * std::log(static_cast<Number>((from_start - into_period) / period + 1));
}

}  // namespace

void judge_encoding(const Attention& encoding, const Case& example, Checker& checker) {
  refuse_unknown(encoding);
  if (std::numeric_limits<Number>::digits < 64) return;
  const std::int64_t n = example.tokens;
  const std::int64_t d = encoding.head_dim;
  auto take = [&, next = std::size_t{0}](std::int64_t heads) mutable {
    Numbers list(static_cast<std::size_t>(example.batch * heads * n * d));
    for (Number& value : list) value = value_of(checker.format(), example.elements[next++]);
    return list;
  };
  Numbers q = take(encoding.num_heads);
  Numbers k = take(encoding.num_kv_heads);
  const Numbers v = take(encoding.num_kv_heads);
  const Turned turned(encoding, example);
  turned.turn(q, encoding.num_heads, Role::query);
  turned.turn(k, encoding.num_kv_heads, Role::key);

  AttentionMagnitudes magnitudes{0, 0, 0};
  Numbers truth;
  const Number root = std::sqrt(static_cast<Number>(d));
  const auto position = [&](std::int64_t b, std::int64_t token) {
    return example.positions.empty() ? token : example.positions[static_cast<std::size_t>(b * n + token)];
  };
  for (std::int64_t b = 0; b < example.batch; ++b) {
    for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
      const std::int64_t kv = head / (encoding.num_heads / encoding.num_kv_heads);
      const Number* keys = k.data() + (b * encoding.num_kv_heads + kv) * n * d;
      const Number* values = v.data() + (b * encoding.num_kv_heads + kv) * n * d;
      for (std::int64_t t = 0; t < n; ++t) {
        const Number* query = q.data() + ((b * encoding.num_heads + head) * n + t) * d;
        const std::int64_t seen = encoding.causal ? t + 1 : n;
        const Number of_query = scale_of_query(encoding, position(b, t));
        Numbers scores;
        Number largest = -HUGE_VALL;
        for (std::int64_t m = 0; m < seen; ++m) {
          Number score = 0;
          // 2 |a b| <= a^2 + b^2, and the sum of squares is one that rotations keep: a score that holds before and
          // after them.
          Number norm = 0;
          for (std::int64_t i = 0; i < d; ++i) {
            score += query[i] * keys[m * d + i];
            norm += query[i] * query[i] + keys[m * d + i] * keys[m * d + i];
          }
          const Number bias = bias_of(encoding, head, position(b, t), position(b, m));
          magnitudes.score = std::max(magnitudes.score, static_cast<double>(of_query * norm / root));
          magnitudes.bias = std::max(magnitudes.bias, static_cast<double>(std::abs(bias)) * (1 + 0x1p-50));
          scores.push_back(of_query * score / root + bias);
          largest = std::max(largest, scores.back());
        }
        Number total = 0;
        for (Number& score : scores) total += score = std::exp(score - largest);
        for (std::int64_t i = 0; i < d; ++i) {
          Number sum = 0;
          for (std::int64_t m = 0; m < seen; ++m) {
            sum += scores[static_cast<std::size_t>(m)] * values[m * d + i];
            magnitudes.value = std::max(magnitudes.value, static_cast<double>(std::abs(values[m * d + i])));
          }
          truth.push_back(sum / total);
        }
      }
    }
  }
  const double bound = attention_error(encoding, n, example.spec.dtype, magnitudes) * (1 + 0x1p-9);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    checker.count();
    const auto element = static_cast<std::int64_t>(i);
    const auto got = static_cast<Number>(value_of(checker.format(), checker.got(element)));
    if (!(std::abs(got - truth[i]) <= bound)) {
      checker.refuse(element, rounded(checker.format(), exactly(64, static_cast<double>(truth[i])).low.get()),
                     "attention_error, and beside it the true value");
    }
  }
}

}  // namespace sextant::attack
