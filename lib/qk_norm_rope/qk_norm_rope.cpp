// Root-mean-square normalization of each head and its rotation, in one pass and one rounding.
//
//   1. Rotations of a row's tokens are RopeEncoder's tables in float64.
//   2. A head is read to double, normalized, multiplied by its gains, rotated, and rounded to the result's dtype.
//   3. Where a scaling rule looks at the length, that is of the call or of the row, as the rule has it.
//
// Double arithmetic throughout: the header states the bound, 0.51 ULP of the pair's norm.

#include "lib/qk_norm_rope/qk_norm_rope.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/parallel.hpp"
#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/rope/call.hpp"

namespace sextant {
namespace {

constexpr std::string_view qk_norm_rope_encoder = "QkNormRopeEncoder";

const QkNormRope& checked(const QkNormRope& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  return encoding;
}

// The rotations of one batch row, in double: row t has those of its token t, times the attention factor.
class RowTables {
 public:
  // @param longest  the position that gives the length, which a scaling rule may look at
  RowTables(const RopeEncoder& rope, std::span<const std::int64_t> positions, std::int64_t longest)
      : pairs_(pairs(rope.encoding())) {
    std::vector<std::int64_t> rows(positions.begin(), positions.end());
    rows.push_back(longest);
    const auto count = std::ssize(rows);
    cos_ = Tensor::zeros(Dtype::float64, {count, pairs_});
    sin_ = cos_;
    if (pairs_ == 0) return;
    rope.tables(rows, {Dtype::float64, cos_.data.data(), count, pairs_, pairs_},
                {Dtype::float64, sin_.data.data(), count, pairs_, pairs_});
  }

  void read(std::int64_t token, std::span<double> cos, std::span<double> sin) const {
    cos_.read(token * pairs_, cos);
    sin_.read(token * pairs_, sin);
  }

 private:
  std::int64_t pairs_;
  Tensor cos_;
  Tensor sin_;
};

// What one thread turns heads with.
class HeadTurner {
 public:
  HeadTurner(const QkNormRope& encoding, std::span<const double> gains)
      : encoding_(encoding),
        gains_(gains),
        passthrough_(passthrough_channels(encoding.rope)),
        from_(gains.size()),
        to_(gains.size()),
        cos_(static_cast<std::size_t>(pairs(encoding.rope))),
        sin_(cos_.size()) {
    for (std::int64_t pair = 0; pair < std::ssize(cos_); ++pair) {
      input_.push_back(channels_of_pair(encoding.rope, encoding.rope.pairing, pair));
      output_.push_back(channels_of_pair(encoding.rope, encoding.rope.output_pairing, pair));
    }
    if (encoding.rope.direction == Direction::clockwise) sense_ = -1;
  }

  void take_token(const RowTables& tables, std::int64_t token) { tables.read(token, cos_, sin_); }

  void turn(Dtype dtype, const std::byte* x, Dtype y_dtype, std::byte* y) {
    for (std::size_t i = 0; i < from_.size(); ++i) from_[i] = load(dtype, x + i * size_of(dtype));
    normalize();
    for (std::size_t pair = 0; pair < cos_.size(); ++pair) {
      const double first = from_[static_cast<std::size_t>(input_[pair].first)];
      const double second = from_[static_cast<std::size_t>(input_[pair].second)];
      const double sine = sense_ * sin_[pair];
      to_[static_cast<std::size_t>(output_[pair].first)] = first * cos_[pair] - second * sine;
      to_[static_cast<std::size_t>(output_[pair].second)] = first * sine + second * cos_[pair];
    }
    for (const Passthrough& channel : passthrough_)
      to_[static_cast<std::size_t>(channel.output)] = from_[static_cast<std::size_t>(channel.input)];
    for (std::size_t i = 0; i < to_.size(); ++i) store(y_dtype, to_[i], y + i * size_of(y_dtype));
  }

 private:
  void normalize() {
    double sum = 0;
    for (const double value : from_) sum += value * value;
    const double root = 1 / std::sqrt(sum / static_cast<double>(from_.size()) + encoding_.epsilon);
    for (std::size_t i = 0; i < from_.size(); ++i) from_[i] = from_[i] * root * gains_[i];
  }

  const QkNormRope& encoding_;
  std::span<const double> gains_;
  std::vector<Passthrough> passthrough_;
  std::vector<Channels> input_;
  std::vector<Channels> output_;
  std::vector<double> from_;
  std::vector<double> to_;
  std::vector<double> cos_;
  std::vector<double> sin_;
  double sense_ = 1;
};

// What normalized elements are multiplied by.
std::vector<double> gains_of(const Tensor& weight, double offset) {
  const StandardArithmetic arithmetic;
  std::vector<double> gains(static_cast<std::size_t>(weight.elements()));
  weight.read(0, gains);
  for (double& gain : gains) gain += offset;
  return gains;
}

// The bytes from the start of a view to that of a head.
template <class Bytes>
std::int64_t head_start(const HeadsOf<Bytes>& view, std::int64_t row, std::int64_t token, std::int64_t head) {
  return (row * view.batch_stride + token * view.token_stride + head * view.head_stride) *
         static_cast<std::int64_t>(size_of(view.dtype));
}

}  // namespace

QkNormRopeEncoder::QkNormRopeEncoder(const QkNormRope& encoding) : encoding_(checked(encoding)), rope_(encoding.rope) {}

void QkNormRopeEncoder::apply(const ConstHeads& x, const Tensor& weight, std::span<const std::int64_t> positions,
                              const Heads& y) const {
  const std::int64_t head_dim = encoding_.rope.head_dim;
  const VectorCall call = check_vectors(qk_norm_rope_encoder, head_dim, 1, x, positions, y, ResultDtype::any_floating);
  check_tensor(qk_norm_rope_encoder, "weight", weight, {head_dim});
  if (weight.dtype != x.dtype)
    throw std::invalid_argument(std::string(qk_norm_rope_encoder) + ": the weight is of another dtype than x");
  if (call.elements == 0) return;
  const std::vector<double> gains = gains_of(weight, encoding_.weight_offset);
  const bool alike = length_scope(encoding_.rope.rope_scaling) == LengthScope::call;
  const std::int64_t longest_of_call = *std::ranges::max_element(positions);
  constexpr std::int64_t tokens_together = 16;
  const std::int64_t blocks = (x.tokens + tokens_together - 1) / tokens_together;
  for (std::int64_t row = 0; row < x.batch; ++row) {
    const auto own = positions.subspan(static_cast<std::size_t>(row * x.tokens), static_cast<std::size_t>(x.tokens));
    const RowTables tables(rope_, own, alike ? longest_of_call : *std::ranges::max_element(own));
    parallel_for(blocks, call.elements / x.batch, [&](std::int64_t block) {
      HeadTurner turner(encoding_, gains);
      const std::int64_t last = std::min(x.tokens, (block + 1) * tokens_together);
      for (std::int64_t token = block * tokens_together; token < last; ++token) {
        turner.take_token(tables, token);
        for (std::int64_t head = 0; head < x.heads; ++head)
          turner.turn(x.dtype, x.data + head_start(x, row, token, head), y.dtype,
                      y.data + head_start(y, row, token, head));
      }
    });
  }
}

void QkNormRopeEncoder::apply(const Heads& x, const Tensor& weight, std::span<const std::int64_t> positions) const {
  apply(read_only(x), weight, positions, x);
}

QkNormRopeEncoder::Turned QkNormRopeEncoder::apply(const Inputs& inputs) const {
  Turned turned{Tensor::zeros(inputs.q.dtype, inputs.q.shape), Tensor::zeros(inputs.k.dtype, inputs.k.shape)};
  apply(heads_of(inputs.q), inputs.q_weight, inputs.positions, heads_of(turned.q));
  apply(heads_of(inputs.k), inputs.k_weight, inputs.positions, heads_of(turned.k));
  return turned;
}

}  // namespace sextant
