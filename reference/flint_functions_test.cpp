// Over 400 lines: each function of the oracle by a second library, a few lines each.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "reference/alibi.hpp"
#include "reference/attention.hpp"
#include "reference/ball_test.hpp"
#include "reference/integer.hpp"
#include "reference/random_encoding_test.hpp"
#include "reference/relative_bias.hpp"
#include "reference/rope_nd.hpp"
#include "reference/sinusoidal_2d.hpp"
#include "reference/sinusoidal_nd.hpp"
#include "reference/xpos.hpp"

// Every function of the oracle, written a second time over FLINT's balls from the formula that its header states, at
// random encodings and arguments, special ones among them. At each: the two enclosures meet; those of two precisions
// meet; and the width is below what the precision and the function's condition allow.

namespace sextant::reference::flint_functions_test {
namespace {

struct Question {
  std::string told;  // for the message
  std::function<Enclosure(Precision)> enclosure;
  Ball twin;
  // the enclosure is narrower than 2^(lost_bits - precision) max(|value|, 1), or |value| where relative
  double lost_bits;
  bool relative;
};

void expect_right(const Question& question) {
  const Enclosure narrow = question.enclosure(Precision{320});
  for (const Precision precision : {Precision{128}, Precision{200}}) {
    const Enclosure wide = question.enclosure(precision);
    ASSERT_TRUE(question.twin.meets(wide)) << question.told;
    ASSERT_FALSE(certainly_above(wide, narrow) || certainly_above(narrow, wide)) << question.told;
    const double size = abs(wide).upper();
    const double unit = question.relative ? size : std::max(size, 1.0);
    ASSERT_LE(wide.width(), unit * std::exp2(question.lost_bits - static_cast<double>(precision.bits)))
        << question.told;
  }
  ASSERT_TRUE(question.twin.meets(narrow)) << question.told;
}

Ball ratio(std::int64_t numerator, std::int64_t denominator) { return Ball(numerator) / Ball(denominator); }

const Ball one(std::int64_t{1});
const Ball two(std::int64_t{2});

std::int64_t width_of(const Rope& rope) { return rotary_width(rope); }

// base^(-2i/n).
Ball geometric(double base, std::int64_t pair, std::int64_t n) { return exp(log(Ball(base)) * ratio(-2 * pair, n)); }

Ball clamped(const Ball& x) { return max(min(x, one), Ball(std::int64_t{0})); }

// The formulas of rope_scaling.hpp. Nothing where a floor or a clamp of FLINT's leaves the twin no single answer.
struct Twin {
  const Rope& rope;
  std::int64_t pair;
  std::int64_t length;

  Ball w() const { return geometric(rope.rope_theta, pair, width_of(rope)); }
  Ball stretched(const Ball& s) const {
    return pow(Ball(rope.rope_theta) * pow(s, ratio(width_of(rope), width_of(rope) - 2)),
               ratio(-2 * pair, width_of(rope)));
  }
  Ball blended(const Ball& share, double factor) const { return w() * ((one - share) / Ball(factor) + share); }

  Ball operator()(const DefaultScaling&) const { return w(); }
  Ball operator()(const LinearScaling& rule) const { return w() / Ball(rule.factor); }
  Ball operator()(const NtkScaling& rule) const { return stretched(Ball(rule.factor)); }
  Ball operator()(const DynamicScaling& rule) const {
    const std::int64_t trained = rule.original_max_position_embeddings;
    if (length <= trained) return w();
    // The power of two above l/L, by its exponent.
    std::int64_t exponent = 0;
    while ((length - 1) >> exponent >= trained) ++exponent;
    const bool doubles = rule.length_steps == LengthSteps::doublings;
    const Ball times = doubles ? Ball(std::int64_t{1} << exponent) : ratio(length, trained);
    return stretched(one + Ball(rule.factor) * (times - one));
  }
  Ball operator()(const YarnScaling& rule) const {
    const std::int64_t n = width_of(rope);
    const auto end = [&](double turns) {
      return Ball(n) * log(Ball(rule.original_max_position_embeddings) / (two * Ball::pi() * Ball(turns))) /
             (two * log(Ball(rope.rope_theta)));
    };
    Ball low = end(rule.beta_fast);
    Ball high = end(rule.beta_slow);
    if (rule.truncate == Truncate::yes) {
      low = floor(low);
      high = ceil(high);
    }
    low = max(low, Ball(std::int64_t{0}));
    high = min(high, Ball(n - 1));
    if (low.is_integer() && high.is_integer() && low.middle() == high.middle()) high = high + ratio(1, 1000);
    return blended(one - clamped((Ball(pair) - low) / (high - low)), rule.factor);
  }
  Ball operator()(const LongropeScaling& rule) const {
    const auto& factors = length <= rule.original_max_position_embeddings ? rule.short_factor : rule.long_factor;
    return w() / Ball(factors.at(static_cast<std::size_t>(pair)));
  }
  Ball operator()(const Llama3Scaling& rule) const {
    const Ball turns = Ball(rule.original_max_position_embeddings) * w() / (two * Ball::pi());
    return blended(
        clamped((turns - Ball(rule.low_freq_factor)) / (Ball(rule.high_freq_factor) - Ball(rule.low_freq_factor))),
        rule.factor);
  }
  Ball operator()(const ProportionalScaling& rule) const { return w() / Ball(rule.factor); }
  Ball operator()(const NoTurning&) const { throw std::logic_error("no frequency"); }
};

Ball attention_factor(const RopeScaling& scaling, std::int64_t length) {
  const auto scale = [](double factor, double x) { return ratio(1, 10) * Ball(x) * log(Ball(factor)) + one; };
  if (const auto* yarn = std::get_if<YarnScaling>(&scaling)) {
    if (yarn->attention_factor) return Ball(*yarn->attention_factor);
    return yarn->mscale ? scale(yarn->factor, *yarn->mscale) / scale(yarn->factor, *yarn->mscale_all_dim)
                        : scale(yarn->factor, 1);
  }
  if (const auto* longrope = std::get_if<LongropeScaling>(&scaling)) {
    if (longrope->short_mscale) {
      const bool is_short = length <= longrope->original_max_position_embeddings;
      return Ball(is_short ? *longrope->short_mscale : *longrope->long_mscale);
    }
    if (longrope->attention_factor) return Ball(*longrope->attention_factor);
    return sqrt(one + log(Ball(*longrope->factor)) / log(Ball(longrope->original_max_position_embeddings)));
  }
  return one;
}

constexpr std::int64_t encodings = 60;

TEST(FlintFunctions, Sinusoidal) {
  Draw draw(1);
  for (std::int64_t i = 0; i < multiplied(4 * encodings); ++i) {
    SinusoidalReference oracle(draw.sinusoidal());
    const Sinusoidal& encoding = oracle.encoding();
    const std::int64_t pair = draw.integer(0, pairs(encoding) - 1);
    const std::int64_t position = draw.position();
    const std::int64_t n = 2 * (pairs(encoding) - encoding.downscale_freq_shift);
    const Ball angle = geometric(encoding.base, pair, n) * Ball(position + encoding.position_offset);
    const std::string told = "base " + std::to_string(encoding.base) + " pair " + std::to_string(pair) + " position " +
                             std::to_string(position);
    // The angle, up to 2^54, is within 2^(6-precision) of itself, the exponent of the frequency being at most 21.
    expect_right({told, [&](Precision p) { return oracle.rotation(position, pair, p).sin; }, sin(angle), 62, false});
    expect_right({told, [&](Precision p) { return oracle.rotation(position, pair, p).cos; }, cos(angle), 62, false});
  }
}

TEST(FlintFunctions, Sinusoidal2d) {
  Draw draw(2);
  for (std::int64_t i = 0; i < multiplied(encodings); ++i) {
    Sinusoidal2d encoding{.dim = 4 * draw.integer(1, 32),
                          .height = draw.integer(1, 200),
                          .width = draw.integer(1, 200),
                          .base = draw.magnitude(1, 1e6)};
    encoding.layout = draw.coin() ? Layout::interleaved : Layout::concatenated;
    encoding.axis_order = draw.coin() ? AxisOrder::height_first : AxisOrder::width_first;
    Sinusoidal2dReference oracle(encoding);
    const GridPosition place{draw.integer(0, encoding.height - 1), draw.integer(0, encoding.width - 1)};
    const std::int64_t channel = draw.integer(0, encoding.dim - 1);
    // The 1-D code of the coordinate that the channel's half encodes.
    const std::int64_t half = encoding.dim / 2;
    const bool first_half = channel < half;
    const bool of_height = first_half == (encoding.axis_order == AxisOrder::height_first);
    const std::int64_t inner = channel % half;
    const bool interleaved = encoding.layout == Layout::interleaved;
    const std::int64_t pair = interleaved ? inner / 2 : inner % (half / 2);
    const bool is_sine = interleaved ? inner % 2 == 0 : inner < half / 2;
    const Ball angle = geometric(encoding.base, pair, half) * Ball(of_height ? place.row : place.column);
    expect_right({"channel " + std::to_string(channel), [&](Precision p) { return oracle.code(place, channel, p); },
                  is_sine ? sin(angle) : cos(angle), 16, false});
  }
}

TEST(FlintFunctions, SinusoidalNd) {
  Draw draw(11);
  for (std::int64_t i = 0; i < multiplied(encodings); ++i) {
    SinusoidalNd encoding;
    const std::int64_t count = draw.integer(1, 4);
    for (std::int64_t axis = 0; axis < count; ++axis) {
      encoding.extents.push_back(draw.integer(2, 200));
      encoding.channels.push_back(2 * draw.integer(2, 32));
      encoding.dim += encoding.channels.back();
    }
    encoding.base = draw.magnitude(1, 1e6);
    encoding.denominator = draw.coin() ? Denominator::dim : Denominator::half_minus_one;
    encoding.position_offset = draw.integer(0, 3);
    if (draw.coin()) {
      encoding.coordinates = Coordinates::normalized;
      encoding.epsilon = draw.coin() ? 1e-6 : 0;
    } else {
      for (std::int64_t axis = 0; axis < count; ++axis) encoding.scales.push_back(draw.magnitude(0.125, 100));
    }
    SinusoidalNdReference oracle(encoding);
    const std::int64_t axis = draw.integer(0, count - 1);
    const auto a = static_cast<std::size_t>(axis);
    const std::int64_t pair = draw.integer(0, encoding.channels[a] / 2 - 1);
    const std::int64_t position = draw.integer(0, encoding.extents[a] - 1);
    const std::int64_t n = encoding.channels[a] - (encoding.denominator == Denominator::dim ? 0 : 2);
    const std::int64_t at = position + encoding.position_offset;
    const bool normalized = encoding.coordinates == Coordinates::normalized;
    const Ball divisor = normalized ? Ball(encoding.extents[a] - 1 + encoding.position_offset) + Ball(encoding.epsilon)
                                    : Ball(encoding.scales[a]);
    const Ball turn = normalized ? Ball(std::int64_t{2}) * Ball::pi() : Ball(std::int64_t{1});
    const Ball angle = geometric(encoding.base, pair, n) * Ball(at) * turn / divisor;
    const std::string told = "axis " + std::to_string(axis) + " pair " + std::to_string(pair);
    expect_right(
        {told, [&](Precision p) { return oracle.rotation(position, axis, pair, p).sin; }, sin(angle), 24, false});
    expect_right(
        {told, [&](Precision p) { return oracle.rotation(position, axis, pair, p).cos; }, cos(angle), 24, false});
  }
}

TEST(FlintFunctions, RopeUnderEveryScalingRule) {
  Draw draw(3);
  std::vector<int> drawn(std::variant_size_v<RopeScaling>);
  for (std::int64_t i = 0; i < multiplied(10 * encodings); ++i) {
    const Rope rope = draw.rope();
    RopeReference oracle(rope);
    RopeFrequencies frequencies(rope);
    ++drawn[rope.rope_scaling.index()];
    const std::int64_t length =
        draw.coin() ? draw.integer(1, 1 << 18) : length_limit(rope.rope_scaling).value_or(1) + draw.integer(0, 1);
    const std::int64_t pair = draw.integer(0, pairs(rope) - 1);
    const std::int64_t position = draw.position();
    const std::string told = std::string(name_of(rope.rope_scaling)) + " theta " + std::to_string(rope.rope_theta) +
                             " dim " + std::to_string(width_of(rope)) + " pair " + std::to_string(pair) + " length " +
                             std::to_string(length) + " position " + std::to_string(position);
    const Ball w = std::visit(Twin{rope, pair, length}, rope.rope_scaling);
    // Of the rules' own operations the ramps lose most: their ends are up to 2^7, over spans of 2^-10 or more, times up
    // to a hundredfold change of frequency.
    expect_right({told, [&](Precision p) { return frequencies.radians(pair, length, p); }, w, 36, true});
    const Ball angle = w * Ball(rope.direction == Direction::clockwise ? -position : position);
    expect_right(
        {told, [&](Precision p) { return oracle.rotation(position, pair, length, p).sin; }, sin(angle), 92, false});
    expect_right(
        {told, [&](Precision p) { return oracle.rotation(position, pair, length, p).cos; }, cos(angle), 92, false});
    expect_right({told, [&](Precision p) { return frequencies.attention_factor(length, p); },
                  attention_factor(rope.rope_scaling, length), 6, true});
  }
  drawn.pop_back();  // rope_type none, which has no frequencies
  for (const int count : drawn) EXPECT_GT(count, 10);
}

TEST(FlintFunctions, RopeOfSeveralAxes) {
  Draw draw(4);
  for (std::int64_t i = 0; i < multiplied(encodings); ++i) {
    RopeNd encoding;
    const std::int64_t axis_count = draw.integer(1, 4);
    for (std::int64_t axis = 0; axis < axis_count; ++axis) encoding.sections.push_back(draw.integer(1, 12));
    std::int64_t total = 0;
    for (const std::int64_t section : encoding.sections) total += section;
    encoding.rope.head_dim = encoding.rope.rotary_dim = 2 * total;
    encoding.rope.rope_theta = draw.magnitude(1, 1e7);
    RopeNdReference oracle(encoding);
    std::vector<std::int64_t> place;
    for (std::int64_t axis = 0; axis < axis_count; ++axis) place.push_back(draw.position());
    const std::int64_t pair = draw.integer(0, total - 1);
    std::size_t axis = 0;  // blocked: the axis whose section the pair lies in
    for (std::int64_t end = encoding.sections[0]; pair >= end; end += encoding.sections[axis]) ++axis;
    const Ball angle = geometric(encoding.rope.rope_theta, pair, 2 * total) * Ball(place[axis]);
    expect_right({"pair " + std::to_string(pair), [&](Precision p) { return oracle.rotation(place, pair, p).sin; },
                  sin(angle), 62, false});
    expect_right({"pair " + std::to_string(pair), [&](Precision p) { return oracle.rotation(place, pair, p).cos; },
                  cos(angle), 62, false});
  }
}

TEST(FlintFunctions, XposScale) {
  Draw draw(5);
  for (std::int64_t i = 0; i < multiplied(encodings); ++i) {
    Xpos encoding;
    encoding.rope.head_dim = 2 * draw.integer(1, 64);
    encoding.rope.rotary_dim = encoding.rope.head_dim;
    encoding.scale_base = draw.magnitude(64, 2000);
    encoding.role = draw.coin() ? Role::query : Role::key;
    XposReference oracle(encoding);
    const std::int64_t n = encoding.rope.rotary_dim;
    const std::int64_t pair = draw.integer(0, pairs(encoding.rope) - 1);
    const std::int64_t position = draw.integer(-10000, 10000);
    const Ball zeta = (ratio(2 * pair, n) + ratio(2, 5)) / ratio(7, 5);
    const Ball scale =
        exp(log(zeta) * Ball(encoding.role == Role::query ? position : -position) / Ball(encoding.scale_base));
    // The exponent is at most 10^4 ln(7/2) / 64, below 2^8: the scale is a double.
    expect_right({"pair " + std::to_string(pair) + " of " + std::to_string(n),
                  [&](Precision p) { return oracle.scale(position, pair, p); }, scale, 14, true});
  }
}

TEST(FlintFunctions, AlibiSlopesAndBias) {
  Draw draw(6);
  for (std::int64_t i = 0; i < multiplied(2 * encodings); ++i) {
    const std::int64_t heads = draw.integer(1, 100);
    AlibiReference oracle({.num_heads = heads,
                           .mask = Mask::symmetric,
                           .form = draw.coin() ? AlibiForm::distance : AlibiForm::key_index});
    std::int64_t power = 1;
    while (2 * power <= heads) power *= 2;
    const std::int64_t head = draw.integer(0, heads - 1);
    const Ball slope = head < power ? exp(log(two) * ratio(-8 * (head + 1), power))
                                    : exp(log(two) * ratio(-8 * (2 * (head - power) + 1), 2 * power));
    const std::int64_t query = draw.position();
    const std::int64_t key = draw.position();
    const std::int64_t distance = query > key ? query - key : key - query;
    const Ball bias = oracle.encoding().form == AlibiForm::distance ? slope * Ball(-distance) : slope * Ball(key);
    const std::string told = std::to_string(heads) + " heads, head " + std::to_string(head);
    expect_right({told, [&](Precision p) { return oracle.slope(head, p); }, slope, 8, true});
    expect_right({told, [&](Precision p) { return *oracle.bias(query, key, head, p); }, bias, 10, true});
  }
}

TEST(FlintFunctions, T5Buckets) {
  Draw draw(7);
  std::int64_t judged = 0;
  const std::int64_t total = multiplied(10 * encodings);
  for (std::int64_t i = 0; i < total; ++i) {
    RelativeBias encoding{
        .num_buckets = 4 * draw.integer(1, 40), .max_distance = draw.integer(200, 5000), .bidirectional = draw.coin()};
    const std::int64_t relative = draw.integer(-6000, 6000);
    const std::int64_t directed = encoding.bidirectional ? encoding.num_buckets / 2 : encoding.num_buckets;
    const std::int64_t exact = directed / 2;
    const std::int64_t n = encoding.bidirectional ? std::abs(relative) : std::max<std::int64_t>(-relative, 0);
    std::int64_t expected = n;
    if (n >= exact) {
      const Ball step = floor(log(ratio(n, exact)) / log(ratio(encoding.max_distance, exact)) * Ball(directed - exact));
      if (!step.is_integer()) continue;  // on a border, where powers decide
      expected = std::min(directed - 1, exact + static_cast<std::int64_t>(step.middle()));
    }
    if (encoding.bidirectional && relative > 0) expected += directed;
    ASSERT_EQ(bucket(encoding, relative), expected)
        << encoding.num_buckets << ' ' << encoding.max_distance << ' ' << relative;
    ++judged;
  }
  EXPECT_GT(judged, total * 9 / 10);
}

TEST(FlintFunctions, Attention) {
  Draw draw(8);
  for (std::int64_t i = 0; i < multiplied(10); ++i) {
    const Attention encoding{.num_heads = 1,
                             .num_kv_heads = 1,
                             .head_dim = draw.integer(1, 8),
                             .causal = draw.coin(),
                             .position = std::nullopt};
    const std::int64_t n = draw.integer(1, 9);
    const std::int64_t row = draw.integer(0, n - 1);
    const auto width = static_cast<std::size_t>(encoding.head_dim);
    const auto count = static_cast<std::size_t>(n);
    std::vector<double> query(width);
    std::vector<std::vector<double>> keys(count, std::vector<double>(width));
    std::vector<std::vector<double>> values = keys;
    std::vector<double> bias(count);
    for (double& q : query) q = draw.real(-3, 3);
    for (auto* list : {&keys, &values}) {
      for (auto& vector : *list) {
        for (double& x : vector) x = draw.real(-3, 3);
      }
    }
    for (double& b : bias) b = draw.real(-5, 0);

    const std::size_t seen = encoding.causal ? static_cast<std::size_t>(row) + 1 : count;
    Ball total;
    std::vector<Ball> weights;
    for (std::size_t key = 0; key < seen; ++key) {
      Ball score;
      for (std::size_t c = 0; c < width; ++c) score = score + Ball(query[c]) * Ball(keys[key][c]);
      weights.push_back(exp(score / sqrt(Ball(encoding.head_dim)) + Ball(bias[key])));
      total = total + weights.back();
    }
    for (std::size_t c = 0; c < width; ++c) {
      Ball out;
      for (std::size_t key = 0; key < seen; ++key) out = out + weights[key] * Ball(values[key][c]) / total;
      const auto enclosure = [&](Precision p) {
        const auto reals = [&](const std::vector<double>& list) {
          RealVector vector;
          for (const double x : list) vector.emplace_back(x, p);
          return vector;
        };
        std::vector<RealVector> real_keys;
        std::vector<RealVector> real_values;
        for (std::size_t key = 0; key < count; ++key) {
          real_keys.push_back(reals(keys[key]));
          real_values.push_back(reals(values[key]));
        }
        const RealVector real_query = reals(query);
        const RealVector real_bias = reals(bias);
        const KeyRange keys_seen{0, static_cast<std::int64_t>(seen)};
        return attend(encoding, {keys_seen, real_query, real_keys, real_values, real_bias}, p).at(c);
      };
      // Scores up to 2^7 make exponentials that are off by as much; sums of up to nine.
      expect_right({"channel " + std::to_string(c), enclosure, out, 20, false});
    }
  }
}

TEST(FlintFunctions, NormalisedIntegers) {
  Draw draw(9);
  for (std::int64_t i = 0; i < multiplied(encodings); ++i) {
    const std::int64_t last = draw.integer(2, std::int64_t{1} << 40);
    const std::int64_t position = draw.integer(0, last - 1);
    expect_right({std::to_string(position),
                  [&](Precision p) { return code(Integer{.dim = 1, .normalize = true}, last, position, p); },
                  ratio(position, last - 1), 2, true});
  }
}

TEST(FlintFunctions, APlantedFaultIsSeen) {
  AlibiReference oracle({.num_heads = 12});
  const Ball slope = exp(log(two) * ratio(-8, 16));  // the ninth of twelve heads: the first of sixteen
  EXPECT_TRUE(slope.meets(oracle.slope(8, Precision{128})));
  EXPECT_FALSE(slope.meets(oracle.slope(9, Precision{128})));
  EXPECT_FALSE(slope.meets(oracle.slope(8, Precision{128}) *
                           (Enclosure(1.0, Precision{128}) + Enclosure(0x1p-120, Precision{128}))));
}

}  // namespace
}  // namespace sextant::reference::flint_functions_test
