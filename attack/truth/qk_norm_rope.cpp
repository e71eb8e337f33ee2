#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attack/truth/truths.hpp"

// Zhang and Sennrich 2019, equation 4, of each head, and Su et al. 2021, equation 34. The claim is a bound: 0.51 ULP of
// a turned pair's norm, of float64 steps 24 and 9 of docs/proofs/accuracy-classes.md. Everything here is in long
// double, 2^-50 of float32's bound and 2^-8 of float64's, so that an element further away than 1 + 2^-6 of the bound is
// wrong.

namespace sextant::attack {
namespace {

using Number = long double;

// One unit in the last place of a number of the format.
Number ulp_of(const ElementFormat& format, Number size) {
  int exponent = 0;
  std::frexp(size, &exponent);
  return std::ldexp(Number{1}, std::max(exponent - 1, format.least) - format.stored());
}

class JudgeOfHeads {
 public:
  JudgeOfHeads(const QkNormRope& encoding, const Case& example, Checker& checker)
      : encoding_(encoding), example_(example), checker_(checker), width_(encoding.rope.head_dim) {}

  // A batch row's frequencies and what multiplies its pairs.
  void take_row(std::int64_t row) {
    const std::int64_t length = length_of_row(encoding_.rope, example_, row);
    frequencies_ = frequencies_of(encoding_.rope, length);
    factor_ = number_near(AttentionFactor(encoding_.rope, length).times(exactly(first_precision, 1.0)));
  }

  // The head whose elements begin there, with the weight whose elements begin there.
  void judge(std::int64_t start, std::int64_t weight, std::int64_t position) {
    std::vector<Number> n;
    Number sum = 0;
    for (std::int64_t i = 0; i < width_; ++i) n.push_back(given(start + i));
    for (const Number value : n) sum += value * value;
    const Number root = 1 / std::sqrt(sum / static_cast<Number>(width_) + static_cast<Number>(encoding_.epsilon));
    for (std::int64_t i = 0; i < width_; ++i)
      n[static_cast<std::size_t>(i)] *= root * (static_cast<Number>(encoding_.weight_offset) + given(weight + i));
    const auto at = [&](std::int64_t channel) { return n[static_cast<std::size_t>(channel)]; };
    std::vector<bool> turned(n.size());
    const std::int64_t count = stands_still(encoding_.rope) ? 0 : encoding_.rope.rotary_dim / 2;
    for (std::int64_t pair = 0; pair < count; ++pair) {
      const ChannelsOfPair from = rotary_channels(encoding_.rope, encoding_.rope.pairing, pair);
      const ChannelsOfPair to = rotary_channels(encoding_.rope, encoding_.rope.output_pairing, pair);
      const auto turn = frequencies_->turned(pair, position, first_precision);
      const Number c = number_near(turn->cosine);
      const Number s = (encoding_.rope.direction == Direction::clockwise ? -1 : 1) * number_near(turn->sine);
      const Number size = factor_ * std::hypot(at(from.first), at(from.second));
      compare(start + to.first, factor_ * (at(from.first) * c - at(from.second) * s), size);
      compare(start + to.second, factor_ * (at(from.first) * s + at(from.second) * c), size);
      turned[static_cast<std::size_t>(to.first)] = turned[static_cast<std::size_t>(to.second)] = true;
    }
    // Where pairings differ, what stands still in the head's middle moves too; the case says that they do not.
    for (std::int64_t i = 0; i < width_; ++i)
      if (!turned[static_cast<std::size_t>(i)]) compare(start + i, at(i), std::abs(at(i)));
  }

 private:
  Number given(std::int64_t element) const {
    return value_of(checker_.format(), example_.elements[static_cast<std::size_t>(element)]);
  }

  void compare(std::int64_t element, Number truth, Number size) {
    checker_.count();
    const auto got = static_cast<Number>(value_of(checker_.format(), checker_.got(element)));
    const Number unit = ulp_of(checker_.format(), size);
    const Number of_norm = (static_cast<Number>(width_) / 2 + 10) * 0x1p-53L * size;
    const bool is_float64 = example_.spec.dtype == Dtype::float64;
    const Number bound = (is_float64 ? of_norm + 4 * unit : 0.51L * unit) * (1 + 0x1p-6L);
    if (std::abs(got - truth) <= bound) return;
    checker_.refuse(element, rounded(checker_.format(), exactly(64, static_cast<double>(truth)).low.get()),
                    "the encoder's bound, and beside it the true value");
  }

  const QkNormRope& encoding_;
  const Case& example_;
  Checker& checker_;
  std::int64_t width_;
  std::shared_ptr<const Frequencies> frequencies_;
  Number factor_ = 1;
};

}  // namespace

void judge_encoding(const QkNormRope& encoding, const Case& example, Checker& checker) {
  if (std::numeric_limits<Number>::digits < 64) return;
  const std::int64_t width = encoding.rope.head_dim;
  const std::int64_t tokens = example.batch * example.tokens;
  const std::int64_t of_queries = tokens * example.heads * width;
  const std::int64_t of_keys = tokens * key_heads_of(example) * width;
  JudgeOfHeads heads(encoding, example, checker);
  for (std::int64_t token = 0; token < tokens; ++token) {
    if (token % example.tokens == 0) heads.take_row(token / example.tokens);
    const std::int64_t position = example.positions[static_cast<std::size_t>(token)];
    for (std::int64_t head = 0; head < example.heads; ++head)
      heads.judge((token * example.heads + head) * width, of_queries + of_keys, position);
    for (std::int64_t head = 0; head < key_heads_of(example); ++head)
      heads.judge(of_queries + (token * key_heads_of(example) + head) * width, of_queries + of_keys + width, position);
  }
}

}  // namespace sextant::attack
