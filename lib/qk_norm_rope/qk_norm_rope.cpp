// Root-mean-square normalization of each head and its rotation, in one pass and one rounding.
//
//   1. The rotations of some tokens at a time are those of RopeEncoder's tables in float64, made by the thread that
//      turns their heads; where a scaling rule looks at the length, that is the call's or the row's, as the rule has
//      it.
//   2. Heads are normalized, turned and rounded by vectors of doubles (turned_heads.cpp), and written past the caches
//      where the results exceed them.
//   3. Heads with a NaN or an infinity, and gains or factors beyond 2^200, are done by themselves, as IEEE 754
//      arithmetic makes them.
//
// docs/proofs/accuracy-classes.md, step 27, has the bound.

#include "lib/qk_norm_rope/qk_norm_rope.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/parallel.hpp"
#include "lib/numeric/canonical_nan.hpp"
#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/qk_norm_rope/turned_heads.hpp"
#include "lib/rope/call.hpp"
#include "lib/rope/job.hpp"
#include "lib/rope/plan.hpp"

namespace sextant {
namespace {

constexpr std::string_view qk_norm_rope_encoder = "QkNormRopeEncoder";

const QkNormRope& checked(const QkNormRope& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  return encoding;
}

// The rotations of some tokens, in double and in the rotation's sense, times the attention factor.
class TokenRows {
 public:
  TokenRows(const RopePlan& plan, std::span<const std::int64_t> positions)
      : pairs_(static_cast<std::size_t>(pairs(plan.encoding))), cos_(positions.size() * pairs_), sin_(cos_.size()) {
    if (pairs_ == 0) return;
    const TableJob job(PairTurns(plan), positions, rows_of(cos_), rows_of(sin_));
    write_rotation_rows(job, 0, std::ssize(positions));
    if (plan.encoding.direction == Direction::clockwise) {
      for (double& sine : sin_) sine = -sine;
    }
  }

  std::span<const double> cos(std::int64_t token) const { return row(cos_, token); }
  std::span<const double> sin(std::int64_t token) const { return row(sin_, token); }

 private:
  Rows rows_of(std::vector<double>& table) const {
    const auto width = static_cast<std::int64_t>(pairs_);
    return {Dtype::float64, reinterpret_cast<std::byte*>(table.data()), std::ssize(table) / width, width, width};
  }
  std::span<const double> row(const std::vector<double>& table, std::int64_t token) const {
    return std::span(table).subspan(static_cast<std::size_t>(token) * pairs_, pairs_);
  }

  std::size_t pairs_;
  std::vector<double> cos_;
  std::vector<double> sin_;
};

// significand 2^exponent: a product that no factor takes out of double's range before another brings it back.
struct Scaled {
  double significand;
  int exponent;

  double value() const { return std::ldexp(significand, exponent); }
};

// The same roundings as those of a b c where these stay in range. The factors are finite.
Scaled product(double a, double b, double c) {
  int of_a = 0;
  int of_b = 0;
  int of_c = 0;
  const double significand = std::frexp(a, &of_a) * std::frexp(b, &of_b) * std::frexp(c, &of_c);
  constexpr int lowest = -(1 << 20);  // of zero, so that the other of a pair has the say
  return {significand, significand == 0 ? lowest : of_a + of_b + of_c};
}

struct TurnedBoth {
  double first;
  double second;
};

// Turned by cos and sin, which are finite, in the scale of the larger.
TurnedBoth turned(const Scaled& first, const Scaled& second, double cos, double sin) {
  const int exponent = std::max(first.exponent, second.exponent);
  int of_rotation = 0;
  std::frexp(std::max(std::fabs(cos), std::fabs(sin)), &of_rotation);
  const double a = std::ldexp(first.significand, first.exponent - exponent);
  const double b = std::ldexp(second.significand, second.exponent - exponent);
  const double c = std::ldexp(cos, -of_rotation);
  const double s = std::ldexp(sin, -of_rotation);
  return {Scaled{a * c - b * s, exponent + of_rotation}.value(), Scaled{a * s + b * c, exponent + of_rotation}.value()};
}

// One head by itself, whatever its values are.
class HeadTurner {
 public:
  HeadTurner(const QkNormRope& encoding, std::span<const double> gains)
      : encoding_(encoding),
        gains_(gains),
        passthrough_(passthrough_channels(encoding.rope)),
        from_(gains.size()),
        to_(gains.size()) {}

  void turn(std::span<const double> cos, std::span<const double> sin, Dtype dtype, const std::byte* x, Dtype y_dtype,
            std::byte* y) {
    double sum = 0;
    for (std::size_t i = 0; i < from_.size(); ++i) {
      from_[i] = load(dtype, x + i * size_of(dtype));
      sum += from_[i] * from_[i];
    }
    root_ = 1 / std::sqrt(sum / static_cast<double>(from_.size()) + encoding_.epsilon);
    for (std::size_t pair = 0; pair < cos.size(); ++pair) {
      const Rope& rope = encoding_.rope;
      const Channels input = channels_of_pair(rope, rope.pairing, static_cast<std::int64_t>(pair));
      const Channels output = channels_of_pair(rope, rope.output_pairing, static_cast<std::int64_t>(pair));
      const TurnedBoth both = turned_pair(input, cos[pair], sin[pair]);
      to_[static_cast<std::size_t>(output.first)] = both.first;
      to_[static_cast<std::size_t>(output.second)] = both.second;
    }
    for (const Passthrough& channel : passthrough_)
      to_[static_cast<std::size_t>(channel.output)] =
          is_finite(channel.input) ? scaled(channel.input).value() : normalized(channel.input);
    for (std::size_t i = 0; i < to_.size(); ++i) store(y_dtype, canonical(to_[i]), y + i * size_of(y_dtype));
  }

 private:
  TurnedBoth turned_pair(const Channels& input, double cos, double sin) const {
    if (is_finite(input.first) && is_finite(input.second) && std::isfinite(cos) && std::isfinite(sin))
      return turned(scaled(input.first), scaled(input.second), cos, sin);
    const double first = normalized(input.first);
    const double second = normalized(input.second);
    return {first * cos - second * sin, first * sin + second * cos};
  }

  bool is_finite(std::int64_t channel) const {
    const auto i = static_cast<std::size_t>(channel);
    return std::isfinite(from_[i]) && std::isfinite(root_) && std::isfinite(gains_[i]);
  }
  Scaled scaled(std::int64_t channel) const {
    const auto i = static_cast<std::size_t>(channel);
    return product(from_[i], root_, gains_[i]);
  }
  // As IEEE 754 arithmetic makes it. The gain first, which may be infinite where the channel times the root is too
  // small for double.
  double normalized(std::int64_t channel) const {
    const auto i = static_cast<std::size_t>(channel);
    return from_[i] * gains_[i] * root_;
  }

  const QkNormRope& encoding_;
  std::span<const double> gains_;
  std::vector<Passthrough> passthrough_;
  std::vector<double> from_;
  std::vector<double> to_;
  double root_ = 1;
};

// What normalized elements are multiplied by.
std::vector<double> gains_of(const Tensor& weight, double offset) {
  const StandardArithmetic arithmetic;
  std::vector<double> gains(static_cast<std::size_t>(weight.elements()));
  weight.read(0, gains);
  for (double& gain : gains) gain += offset;
  return gains;
}

// Of magnitude 2^200 at most: heads' channels times them, and turned, stay far within double.
bool is_ordinary(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::fabs(value) <= 0x1p200; });
}

std::int64_t bytes_of(std::int64_t elements, Dtype dtype) {
  return elements * static_cast<std::int64_t>(size_of(dtype));
}

// Of results apart from x.
Caching caching_of_results(const Heads& y) {
  const bool dense = y.head_stride == y.head_dim && y.token_stride == y.heads * y.head_dim;
  if (!dense && bytes_of(y.head_dim, y.dtype) < least_streamed_apart) return Caching::kept;
  return caching_of(bytes_of(y.batch * y.tokens * y.heads * y.head_dim, y.dtype));
}

// A block begins with rows that are not turned from others, and ends by waiting for memory if it streams; what is left
// of the last round of blocks has idle threads.
std::int64_t tokens_at_once(const Heads& y) {
  return std::clamp<std::int64_t>(y.tokens / (4 * omp_get_max_threads()), 32, 128);
}

}  // namespace

QkNormRopeEncoder::QkNormRopeEncoder(const QkNormRope& encoding)
    : encoding_(checked(encoding)), plans_(std::make_shared<const RopePlans>(encoding.rope)) {}

// What the function that was called has its arguments as.
struct QkNormRopeEncoder::Names {
  VectorNames vectors;
  const char* weight = "weight";
};

VectorCall QkNormRopeEncoder::check(const ConstHeads& x, const Tensor& weight, std::span<const std::int64_t> positions,
                                    const Heads& y, const Names& names) const {
  const std::int64_t head_dim = encoding_.rope.head_dim;
  const VectorCall call =
      check_vectors(qk_norm_rope_encoder, head_dim, 1, x, positions, y, ResultDtype::any_floating, names.vectors);
  check_tensor(qk_norm_rope_encoder, names.weight, weight, {head_dim});
  check_dtype(qk_norm_rope_encoder, names.weight, weight.dtype, names.vectors.x, x.dtype);
  return call;
}

void QkNormRopeEncoder::apply(const ConstHeads& x, const Tensor& weight, std::span<const std::int64_t> positions,
                              const Heads& y) const {
  turn(check(x, weight, positions, y, {}), x, weight, positions, y);
}

void QkNormRopeEncoder::turn(const VectorCall& call, const ConstHeads& x, const Tensor& weight,
                             std::span<const std::int64_t> positions, const Heads& y) const {
  if (call.elements == 0) return;
  const std::int64_t head_dim = encoding_.rope.head_dim;
  const std::vector<double> gains = gains_of(weight, encoding_.weight_offset);
  const bool alike = length_scope(encoding_.rope.rope_scaling) == LengthScope::call;
  const HeadNorm norm(encoding_.rope, encoding_.epsilon, gains);
  const bool ordinary_gains = is_ordinary(gains);
  const Caching caching = call.in_place ? Caching::kept : caching_of_results(y);
  const std::int64_t together = tokens_at_once(y);
  for (std::int64_t row = 0; row < x.batch; ++row) {
    const auto own = positions.subspan(static_cast<std::size_t>(row * x.tokens), static_cast<std::size_t>(x.tokens));
    std::optional<RopePlan> own_plan;
    const RopePlan& plan = plans_->for_length(alike ? call.length : std::ranges::max(own) + 1, own_plan);
    parallel_for((x.tokens + together - 1) / together, call.elements / x.batch, [&](std::int64_t block) {
      HeadTurner turner(encoding_, gains);
      HeadBuffers buffers(head_dim, x.heads);
      LineWriter writer(caching);
      const std::int64_t first = block * together;
      const std::int64_t last = std::min(x.tokens, first + together);
      const TokenRows rotations(plan,
                                own.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
      for (std::int64_t token = first; token < last; ++token) {
        const TokenHeads heads{x.dtype, head_at(x, row * x.tokens + token, 0), bytes_of(x.head_stride, x.dtype),
                               y.dtype, head_at(y, row * y.tokens + token, 0), bytes_of(y.head_stride, y.dtype),
                               x.heads, rotations.cos(token - first),          rotations.sin(token - first)};
        const auto by_itself = [&](std::int64_t head) {
          turner.turn(heads.cos, heads.sin, heads.x_dtype, heads.x + head * heads.x_stride, heads.y_dtype,
                      heads.y + head * heads.y_stride);
        };
        if (ordinary_gains && is_ordinary(heads.cos) && is_ordinary(heads.sin)) {
          turn_heads(norm, heads, buffers, writer, by_itself);
        } else {
          for (std::int64_t head = 0; head < x.heads; ++head) by_itself(head);
        }
      }
      writer.finish();
    });
  }
}

void QkNormRopeEncoder::apply(const Heads& x, const Tensor& weight, std::span<const std::int64_t> positions) const {
  const ConstHeads from = read_only(x);
  turn(check(from, weight, positions, x, {.vectors = names_in_place}), from, weight, positions, x);
}

QkNormRopeEncoder::Turned QkNormRopeEncoder::apply(const Inputs& inputs) const {
  const auto& [q, k, q_weight, k_weight, positions] = inputs;
  check_heads(qk_norm_rope_encoder, "q", q, encoding_.rope.head_dim);
  check_heads(qk_norm_rope_encoder, "k", k, encoding_.rope.head_dim);
  if (k.shape[0] != q.shape[0] || k.shape[1] != q.shape[1]) {
    throw std::invalid_argument(fmt::format("{}: k has {} x {} tokens, q {} x {}", qk_norm_rope_encoder, k.shape[0],
                                            k.shape[1], q.shape[0], q.shape[1]));
  }
  Turned turned{Tensor::zeros(q.dtype, q.shape), Tensor::zeros(k.dtype, k.shape)};
  const Heads q_out = heads_of(turned.q);
  const Heads k_out = heads_of(turned.k);
  const VectorCall of_q = check(heads_of(q), q_weight, positions, q_out, {{"q", "q"}, "q_weight"});
  const VectorCall of_k = check(heads_of(k), k_weight, positions, k_out, {{"k", "k"}, "k_weight"});
  turn(of_q, heads_of(q), q_weight, positions, q_out);
  turn(of_k, heads_of(k), k_weight, positions, k_out);
  return turned;
}

}  // namespace sextant
