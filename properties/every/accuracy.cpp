#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/floats.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/accuracy_of.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/question_cases.hpp"
#include "properties/model/value_judge.hpp"
#include "properties/model/xpos_budget.hpp"
#include "reference/rope.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

// A sinusoidal case asks for `rows` consecutive positions, an odd number of them out of order: implementations have a
// path for each. A rope case rotates a whole tensor (gen/vectors.hpp).
const std::vector<std::string> sinusoidal_fields{"position", "rows"};
const std::vector<std::string> rope_fields{"position", "tokens", "batch", "heads", "fill"};

Check sinusoidal_check(const Spec& spec) {
  const auto& encoding = std::get<Sinusoidal>(spec.encoding);
  reference::SinusoidalReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), pairs(encoding));
  const reference::FastRotations fast = oracle.fast();
  std::vector<double> frequencies;
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair)
    frequencies.push_back(oracle.shift(1, pair, reference::first_precision).angle.upper());
  return [=, judge = ValueJudge(budget), fast_row = fast.make_row()](Session& session, const Case& values) mutable {
    std::vector<std::int64_t> positions = gen::consecutive(values[0], values[1]);
    if (values[1] % 2 == 1) std::ranges::rotate(positions, positions.end() - 1);
    const Tensor table = encode(session, spec, positions);
    const auto scale = DoubleDoubleWithin::exactly(encoding.scale);
    Judgement judgement;
    for (std::size_t row = 0; row < positions.size(); ++row) {
      const std::int64_t place = positions[row] + encoding.position_offset;
      fast.at(place, fast_row);
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const auto i = static_cast<std::size_t>(pair);
        const Channels channels = channels_of_pair(encoding, pair);
        const DoubleDoubleWithin sine = scale * fast_row.sin(i);
        const DoubleDoubleWithin cosine = scale * fast_row.cos(i);
        for (const std::int64_t channel : {channels.first, channels.second}) {
          const bool is_sine = channel == channels.first;
          const auto at = [&](Precision precision) -> Target {
            const reference::Rotation& rotation = oracle.rotation(positions[row], pair, precision);
            const Enclosure factor(encoding.scale, precision);
            const Enclosure truth = factor * (is_sine ? rotation.sin : rotation.cos);
            const Enclosure derivative = factor * (is_sine ? rotation.cos : rotation.sin);
            return {truth, budget.element_bound(truth, derivative, factor, rotation.angle, pair)};
          };
          const DoubleDoubleWithin& truth = is_sine ? sine : cosine;
          const double derivative = is_sine ? cosine.high : sine.high;
          const double angle = frequencies[i] * static_cast<double>(place);
          const QuickTarget quick{truth,
                                  budget.element_bound(magnitude(truth), derivative, encoding.scale, angle, pair)};
          judge.judge(judgement, table.at(static_cast<std::int64_t>(row) * encoding.dim + channel), quick, at,
                      [&] { return fmt::format("position {}, channel {}", positions[row], channel); });
        }
      }
    }
    return judgement;
  };
}

// Channels that no frequency turns carry their input's value. The sign of zero is not part of it (rope/untouched.cpp):
// x * 1 + x' * 0, as honest code has it for such channels, makes +0 of -0. x holds no NaN here.
void judge_passthrough(Judgement& judgement, const std::vector<Passthrough>& channels, const Tensor& x, const Tensor& y,
                       std::int64_t start) {
  for (const Passthrough& channel : channels) {
    const double given = x.at(start + channel.input);
    const double got = y.at(start + channel.output);
    const bool same = got == given;
    const Deviation deviation =
        same ? Deviation{} : Deviation{not_finite().of_bound, std::fabs(got - given), ulp_error(x.dtype, got, given)};
    judgement.add(same ? Certainty::yes : Certainty::no, deviation, [&] {
      return fmt::format("channel {} is not rotated: got {}, expected {}", channel.output, value_text(x.dtype, got),
                         value_text(x.dtype, given));
    });
  }
}

// The fast tier of a rotary encoding in calls of one length, with what bounds need of it in double.
struct FastRope {
  FastRope(reference::RopeReference& oracle, std::int64_t call_length)
      : length(call_length), rotations(oracle.fast(call_length)), row(rotations.make_row()) {
    for (std::int64_t pair = 0; pair < pairs(oracle.encoding()); ++pair) {
      frequencies.push_back(oracle.rotation(1, pair, call_length, reference::first_precision).angle.upper());
    }
  }

  std::int64_t length;
  reference::FastRotations rotations;
  reference::RotationRow row;
  std::vector<double> frequencies;
};

// x of every magnitude, where the claim still holds on hardware that flushes subnormal products to zero: zeros, and
// sizes from 2^10 above the normal numbers' last place to an eighth of the largest value, where no rotation overflows
// and a square does.
Tensor of_every_magnitude(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill) {
  constexpr std::array classes{gen::FloatClass::zero, gen::FloatClass::huge, gen::FloatClass::normal,
                               gen::FloatClass::beside_power_of_two};
  const Format format = format_of(dtype);
  const double least = std::ldexp(1.0, std::min(format.min_exponent + format.precision + 10, format.max_exponent - 6));
  Tensor x = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::uint64_t word = gen::word(fill, i);
    const double value =
        gen::from_bits(dtype, gen::float_in(dtype, classes[word % classes.size()], gen::word(fill + 1, i)));
    x.set(i, value == 0 ? value : std::copysign(std::clamp(std::fabs(value), least, largest_finite(dtype) / 8), value));
  }
  return x;
}

// fill is the one field that only says which values: those from here on are of every magnitude.
constexpr std::int64_t every_magnitude = 900;

Check rope_check(const Spec& spec) {
  const auto& encoding = std::get<Rope>(spec.encoding);
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position);
  const std::vector<Passthrough> untouched = passthrough_channels(encoding);
  const auto factor = DoubleDoubleWithin::of(oracle.attention_factor(reference::first_precision));
  // Where the frequencies depend on the length of the call, those of the last call.
  FastRope first_fast(oracle, 0);
  return [=, judge = ValueJudge(budget), fast = std::move(first_fast)](Session& session, const Case& values) mutable {
    const gen::Extents extents{.batch = values[2], .tokens = values[1], .heads = values[3]};
    const Tensor x =
        values[4] < every_magnitude
            ? gen::vectors(encoding, spec.dtype, extents, values[4])
            : of_every_magnitude(spec.dtype, {extents.batch, extents.tokens, extents.heads, encoding.head_dim},
                                 values[4]);
    const std::vector<std::int64_t> positions = gen::positions(gen::range_of(spec), values[0], extents);
    const std::int64_t length = reference::sequence_length(positions);
    if (length_limit(encoding.rope_scaling) && fast.length != length) fast = FastRope(oracle, length);
    const Tensor y = rotate(session, spec, x, positions);
    Judgement judgement;
    for (std::size_t token = 0; token < positions.size(); ++token) {
      const std::int64_t first_head = static_cast<std::int64_t>(token) * extents.heads;
      fast.rotations.at(encoding.direction == Direction::clockwise ? -positions[token] : positions[token], fast.row);
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const auto i = static_cast<std::size_t>(pair);
        const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
        const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
        const DoubleDoubleWithin sine = factor * fast.row.sin(i);
        const DoubleDoubleWithin cosine = factor * fast.row.cos(i);
        const double angle = fast.frequencies[i] * static_cast<double>(positions[token]);
        for (std::int64_t head = 0; head < extents.heads; ++head) {
          const std::int64_t start = (first_head + head) * encoding.head_dim;
          const double x0 = x.at(start + from.first);
          const double x1 = x.at(start + from.second);
          const auto given0 = DoubleDoubleWithin::exactly(x0);
          const auto given1 = DoubleDoubleWithin::exactly(x1);
          const reference::Bounds bound =
              budget.component_bound(std::fabs(factor.high) * std::hypot(x0, x1), angle, pair);
          for (const std::int64_t channel : {to.first, to.second}) {
            const auto at = [&](Precision precision) -> Target {
              const reference::Rotation& rotation = oracle.rotation(positions[token], pair, length, precision);
              const Enclosure& exact_factor = oracle.attention_factor(precision);
              const reference::RealPair given{Enclosure(x0, precision), Enclosure(x1, precision)};
              const reference::RealPair turned = reference::RopeReference::rotate(rotation, given);
              const Enclosure norm = exact_factor * hypot(given.first, given.second);
              return {exact_factor * (channel == to.first ? turned.first : turned.second),
                      budget.component_bound(norm, rotation.angle, pair)};
            };
            const DoubleDoubleWithin truth =
                channel == to.first ? given0 * cosine - given1 * sine : given0 * sine + given1 * cosine;
            judge.judge(judgement, y.at(start + channel), {truth, bound}, at, [&] {
              return fmt::format("position {}, batch row {}, head {}, channel {}", positions[token],
                                 static_cast<std::int64_t>(token) / extents.tokens, head, channel);
            });
          }
        }
      }
      for (std::int64_t head = 0; head < extents.heads; ++head) {
        judge_passthrough(judgement, untouched, x, y, (first_head + head) * encoding.head_dim);
      }
    }
    return judgement;
  };
}

bool is_rope(const Spec& spec) { return std::holds_alternative<Rope>(spec.encoding); }

bool is_sinusoidal(const Spec& spec) { return std::holds_alternative<Sinusoidal>(spec.encoding); }

// Whether cases are this file's own; else they are questions.
bool has_own_cases(const Spec& spec) { return is_rope(spec) || is_sinusoidal(spec); }

struct Choose {
  const Spec& spec;
  Check operator()(const Sinusoidal&) const { return sinusoidal_check(spec); }
  Check operator()(const Rope&) const { return rope_check(spec); }
  Check operator()(const RopeNd&) const { return rotation_accuracy(spec); }
  Check operator()(const Xpos&) const { return rotation_accuracy(spec); }
  Check operator()(const Alibi&) const { return bias_accuracy(spec); }
  Check operator()(const RelativeBias&) const { return bias_accuracy(spec); }
  Check operator()(const Attention&) const { return attention_accuracy(spec); }
  Check operator()(const auto&) const { return code_accuracy(spec); }
};

Check check_of(const Spec& spec) { return std::visit(Choose{spec}, spec.encoding); }

bool admits(const Spec& spec, const Case& values) {
  const gen::PositionRange range = gen::range_of(spec);
  if (values[0] < range.first || values[0] >= range.last || values[1] < 1 || values[1] > 64) return false;
  if (!is_rope(spec)) return values[0] <= range.last - values[1];
  return values[2] >= 1 && values[2] <= 16 && values[3] >= 1 && values[3] <= 64 && values[4] >= 0;
}

rc::Gen<Case> cases(const Spec& spec) {
  const gen::PositionRange range = gen::range_of(spec);
  const auto rows = gen::one_of({1, 2, 3, 4, 7});
  if (!is_rope(spec)) {
    return rc::gen::map(rc::gen::pair(gen::position(range), rows),
                        [last = range.last](const std::pair<std::int64_t, std::int64_t>& drawn) {
                          return Case{drawn.first, std::min(drawn.second, last - drawn.first)};
                        });
  }
  // Extents that mostly differ from each other: equal ones hide swapped axes.
  const auto parts =
      rc::gen::tuple(gen::position(range), rows, gen::one_of({1, 2, 3}), gen::one_of({1, 2, 5}), gen::count(0, 1000));
  return rc::gen::map(
      parts, [](const auto& drawn) { return std::apply([](auto... value) { return Case{value...}; }, drawn); });
}

// Calls of 64 tokens that together are the claim, where those are not too many: 16384, for a million positions.
std::vector<Case> every_case(const Spec& spec) {
  constexpr std::int64_t rows = 64;
  std::vector<Case> cases;
  if (!has_own_cases(spec) || (spec.max_position - spec.min_position) / rows > 16384) return cases;
  for (std::int64_t p = spec.min_position; p < spec.max_position; p += rows) {
    const std::int64_t count = std::min(rows, spec.max_position - p);
    cases.push_back(is_rope(spec) ? Case{p, count, 1, 1, 1} : Case{p, count});
  }
  return cases;
}

}  // namespace

Property accuracy_property() {
  Property property;
  property.id = "accuracy";
  property.explanation = {
      "every value is as near to the true one as its accuracy class claims",
      "sinusoidal: |PE(p, c) - scale*sin|cos(w_i (p + offset))| <= k ulp + effect of the class's angle error\n"
      "rope: |y_c - a (R(p w_i) x)_c| <= k ulp(a hypot(x0, x1)) + the same effect, a the attention factor of "
      "rope_scaling; "
      "channels not rotated keep their values (0 and -0 are the same)\n"
      "sinusoidal_2d: the same in each half, of the row's and the column's code; rope_nd: by each pair's own axis; "
      "xpos: times zeta_i^(p/scale_base)\n"
      "integer, binary, learned, relative_bias: p, its digits, weight[p], weight[bucket(k - q)], exactly\n"
      "alibi: |b - (-m_h (q - k))| <= k ulp + gamma_c |b|; attention: |out - softmax(q k^T/sqrt(d) + b) v| <= the "
      "error of its sums",
      "Vaswani et al. 2017, sections 3.2.1 and 3.5; Su et al. 2021, section 3.2.2, equation 15; Press et al. 2021, "
      "section 3; Raffel et al. 2019, section 2.1; "
      "Sun et al. 2022, section 3.2; lib/spec for each",
      "every encoding; of xpos the pairs that the dtype can hold, and attention with it where it can hold all",
      "properties/model/budget.hpp: an angle off by d = |p w_i| c_i u/(1 - c_i u), c_i = 5 + 2 |ln w_i|, u that of the "
      "class, "
      "moves the value by at most |derivative| d + d^2/2; evaluation and rounding add k = 4 ULP. correctly-rounded and "
      "faithful are judged by what the enclosed true value rounds to. Other encodings: accuracy_codes.cpp, "
      "accuracy_biases.cpp, accuracy_rotations.cpp and "
      "accuracy_attention.cpp derive theirs",
      "another base, frequency list, scaling rule or attention factor, layout, pairing, sign or position; "
      "low-precision positions, frequencies or angles; poor "
      "range reduction; a table in another order; channels rotated that should not be"};
  Property questions;
  use_questions(questions);
  property.fields = [questions](const Spec& spec) {
    return is_rope(spec) ? rope_fields : is_sinusoidal(spec) ? sinusoidal_fields : questions.fields(spec);
  };
  property.not_applicable = accuracy_not_stated;
  property.admits = [questions](const Spec& spec, const Case& values) {
    return has_own_cases(spec) ? admits(spec, values) : questions.admits(spec, values);
  };
  property.simplest = [questions](const Spec& spec) {
    if (!has_own_cases(spec)) return questions.simplest(spec);
    const std::int64_t p = gen::simplest_position(gen::range_of(spec));
    return is_rope(spec) ? Case{p, 1, 1, 1, 0} : Case{p, 1};
  };
  property.first_cases = [questions](const Spec& spec) {
    if (!has_own_cases(spec)) return questions.first_cases(spec);
    const gen::PositionRange range = gen::range_of(spec);
    std::vector<std::int64_t> positions{gen::simplest_position(range), range.first, range.last - 1};
    // The calls on either side of the length at which a scaling rule takes other frequencies.
    const auto* rope = std::get_if<Rope>(&spec.encoding);
    if (const auto limit = rope == nullptr ? std::nullopt : length_limit(rope->rope_scaling)) {
      for (const std::int64_t p : {*limit - 1, *limit}) {
        if (p >= range.first && p < range.last) positions.push_back(p);
      }
    }
    std::vector<Case> ends;
    ends.reserve(positions.size());
    for (const std::int64_t p : positions) {
      ends.push_back(is_rope(spec) ? Case{p, 1, 1, 1, 0} : Case{p, 1});
    }
    // Calls of several tokens, over those ends too: one that begins before a limit and ends behind it.
    if (is_rope(spec)) {
      for (const std::int64_t p : positions) ends.push_back({p, 3, 2, 2, 1});
      ends.push_back({positions[0], 2, 1, 3, every_magnitude});
    }
    return ends;
  };
  property.cases = [questions](const Spec& spec) { return has_own_cases(spec) ? cases(spec) : questions.cases(spec); };
  property.make_check = check_of;
  property.every_case = every_case;
  return property;
}

std::optional<std::string> accuracy_not_stated(const Spec& spec) {
  const auto* attention = std::get_if<Attention>(&spec.encoding);
  const auto* xpos = attention == nullptr || !attention->position ? nullptr : std::get_if<Xpos>(&*attention->position);
  if (xpos != nullptr && !is_representable(*xpos, spec))
    return fmt::format("{} cannot hold xpos's scales up to position {}", name_of(spec.dtype), spec.max_position - 1);
  return std::nullopt;
}

}  // namespace sextant
