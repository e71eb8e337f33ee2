// Attention of whole calls and of steps, with the position's rotation or bias applied within.
//
//   1. Arguments are checked, all before anything is computed.
//   2. Inputs of 16 bits become float32; queries are turned where the results go, and keys into memory of their own
//      (vectors.cpp), by the encoder that the specification's position has (position_part.cpp).
//   3. Blocks of queries are attended to by turns (blocks.cpp): two products (products.cpp) with softmax between them
//      (softmax_rows.cpp), a bias added to the scores.
//   4. The gradient is computed in double from the same inputs (gradient.cpp).
//
// The error bound, attention_error, is proved in docs/proofs/attention-encoder.md: what a score errs by (step 1), a
// weight (step 2), their sums and quotient (step 3), what underflow takes (step 4) and the dtype's rounding (step 5).

#include "lib/attention/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "lib/attention/blocks.hpp"
#include "lib/attention/gradient.hpp"
#include "lib/attention/position_part.hpp"
#include "lib/attention/softmax_rows.hpp"
#include "lib/attention/unfilled.hpp"
#include "lib/attention/vectors.hpp"
#include "lib/kernels/checks.hpp"
#include "lib/numeric/heads.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

constexpr const char* attend_name = "DotProductAttention::attend";
constexpr const char* backward_name = "DotProductAttention::backward";

// Of a query's own scale, step 1: a logarithm within 2 ULP, a product, a sum, the product with the scale of all and
// with the query; or two logarithms, a quotient and those products.
double roundings_of(const QueryScale& scale) { return scale.rule == QueryScaleRule::log_n ? 11 : 8; }

Dtype arithmetic_of(Dtype dtype) { return dtype == Dtype::float64 ? Dtype::float64 : Dtype::float32; }

const Attention& checked(const Attention& encoding) {
  Spec spec;
  spec.encoding = encoding;
  // Every encoding has the positions 0 and 1, but for the tables with only one.
  spec.max_position =
      std::clamp<std::int64_t>(position_bounds_of(encoding).value_or(PositionBounds{.end = 2}).end, 1, 2);
  validate(spec);
  return encoding;
}

Tensor converted(const Tensor& x, Dtype dtype) {
  Tensor result = Tensor::zeros(dtype, x.shape);
  convert(vectors_of(x), vectors_of(result));
  return result;
}

// In place, both.
void turn(const Turning& turning, Tensor& x, std::span<const std::int64_t> positions, Role role) {
  turning.turn(vectors_of(std::as_const(x)), positions, role, vectors_of(x));
}
void turn_back(const Turning& turning, Tensor& grad, std::span<const std::int64_t> positions, Role role) {
  turning.turn_back(vectors_of(std::as_const(grad)), positions, role, vectors_of(grad));
}

// Those of every token where the result looks at them.
void check_positions(const char* function, const char* name, const Attention& encoding,
                     std::span<const std::int64_t> positions, std::int64_t tokens) {
  if (!sees_positions(encoding)) return;
  check_count(function, name, positions, signature_of(encoding).axes * tokens);
  check_range(function, name, positions);
}

CallShape shape_of(const AttentionInputs& inputs) {
  const bool is_step = !inputs.query_positions.empty() || inputs.q.shape[2] != inputs.k.shape[2];
  return {.batch = inputs.q.shape[0],
          .queries = inputs.q.shape[2],
          .keys = inputs.k.shape[2],
          .kind = is_step ? CallShape::Kind::step : CallShape::Kind::whole,
          .starts = inputs.starts,
          .ends = inputs.ends};
}

// Of the queries: the keys' in a whole call.
std::span<const std::int64_t> positions_of_queries(const AttentionInputs& inputs) {
  return inputs.query_positions.empty() ? inputs.positions : inputs.query_positions;
}

// Each row's sequence lies among its keys, and holds the queries of a step.
void check_sequences(const char* function, const CallShape& shape) {
  if (!shape.starts.empty()) check_count(function, "starts", shape.starts, shape.batch);
  if (!shape.ends.empty()) check_count(function, "ends", shape.ends, shape.batch);
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    const KeyRange sequence = shape.sequence(row);
    if (sequence.first < 0 || sequence.end > shape.keys || sequence.first > sequence.end ||
        (shape.kind == CallShape::Kind::step && shape.queries > sequence.count())) {
      const std::string least = shape.kind == CallShape::Kind::step ? std::to_string(shape.queries) : "0";
      throw std::invalid_argument(std::string(function) + ": starts and ends: of batch row " + std::to_string(row) +
                                  " they are " + std::to_string(sequence.first) + " and " +
                                  std::to_string(sequence.end) + ", expected " + least +
                                  " or more tokens within 0 to " + std::to_string(shape.keys));
    }
  }
}

// Its extents are those of the result.
void check_queries(const char* function, const Attention& encoding, const Tensor& q) {
  if (q.shape.size() != 4)
    throw std::invalid_argument(std::string(function) + ": q has shape " + shape_text(q.shape) +
                                ", expected [batch, num_heads, n, head_dim]");
  check_tensor(function, "q", q, {q.shape[0], encoding.num_heads, q.shape[2], encoding.head_dim});
}

void check_inputs(const char* function, const Attention& encoding, const AttentionInputs& inputs) {
  const Tensor& q = inputs.q;
  check_queries(function, encoding, q);
  const std::int64_t batch = q.shape[0];
  const std::int64_t n = q.shape[2];
  const std::int64_t keys = inputs.k.shape.size() == 4 ? inputs.k.shape[2] : n;
  for (const auto& [name, tensor] : {std::pair<std::string_view, const Tensor&>("k", inputs.k), {"v", inputs.v}}) {
    check_tensor(function, name, tensor, {batch, encoding.num_kv_heads, keys, encoding.head_dim});
    check_dtype(function, name, tensor.dtype, "q", q.dtype);
  }
  check_positions(function, "positions", encoding, inputs.positions, batch * keys);
  const CallShape shape = shape_of(inputs);
  if (shape.kind == CallShape::Kind::step)
    check_positions(function, "query_positions", encoding, inputs.query_positions, batch * n);
  check_sequences(function, shape);
  const auto weight = signature_of(encoding).weight;
  if (weight.has_value() != (inputs.weight != nullptr)) {
    const std::string name(weight ? encoding_name(*encoding.position) : "");
    throw std::invalid_argument(
        std::string(function) +
        ": weight: " + (weight ? "none, expected that of " + name : "given, but no position of the spec has one"));
  }
  if (weight) check_tensor(function, "weight", *inputs.weight, {weight->rows, encoding.num_heads});
  if (encoding.sinks != (inputs.sinks != nullptr))
    throw std::invalid_argument(std::string(function) + ": sinks: " +
                                (encoding.sinks ? "none, expected one for each head" : "given, but the spec has none"));
  if (encoding.sinks) check_tensor(function, "sinks", *inputs.sinks, {encoding.num_heads});
}

// The largest position of each batch row of a step, of queries and keys.
std::vector<std::int64_t> last_positions(const AttentionInputs& inputs, std::int64_t batch) {
  std::vector<std::int64_t> last(static_cast<std::size_t>(batch), std::numeric_limits<std::int64_t>::min());
  for (const auto& [positions, n] :
       {std::pair(inputs.positions, inputs.k.shape[2]), {inputs.query_positions, inputs.q.shape[2]}}) {
    for (std::int64_t i = 0; i < std::ssize(positions); ++i) {
      std::int64_t& of_row = last[static_cast<std::size_t>(i / n % batch)];
      of_row = std::max(of_row, positions[static_cast<std::size_t>(i)]);
    }
  }
  return last;
}

Sequences sequences_of(const AttentionInputs& inputs) {
  return {inputs.positions, inputs.k.shape[2], positions_of_queries(inputs), inputs.q.shape[2]};
}

template <class Scalar>
std::vector<Scalar> sinks_of(const AttentionInputs& inputs) {
  std::vector<Scalar> sinks;
  for (std::int64_t head = 0; inputs.sinks != nullptr && head < inputs.sinks->elements(); ++head)
    sinks.push_back(static_cast<Scalar>(inputs.sinks->at(head)));
  return sinks;
}

// Of the query that is number n >= 0.
double scale_at(const QueryScale& scale, std::int64_t n) {
  if (scale.rule == QueryScaleRule::log_n) {
    if (n <= scale.length) return 1;
    return std::log(static_cast<double>(n)) / std::log(static_cast<double>(scale.length));
  }
  return 1 + scale.amount * std::log1p(static_cast<double>(n / scale.period));
}

// Of each query, [batch, queries]; empty where queries are not scaled by positions.
template <class Scalar>
std::vector<Scalar> query_scales_of(const Attention& encoding, const AttentionInputs& inputs) {
  std::vector<Scalar> scales;
  if (!encoding.query_scale) return scales;
  const QueryScale& scale = *encoding.query_scale;
  for (const std::int64_t position : positions_of_queries(inputs)) {
    if (position < -scale.offset)
      throw std::invalid_argument("DotProductAttention: positions: a query at " + std::to_string(position) +
                                  ", where no scale is stated");
    scales.push_back(static_cast<Scalar>(scale_at(scale, position + scale.offset)));
  }
  return scales;
}

// Tensors of Scalar's dtype as arrays: std::vector<std::byte> aligns its memory for every scalar.
template <class Scalar>
const Scalar* array(const Tensor& tensor) {
  return reinterpret_cast<const Scalar*>(tensor.data.data());
}

template <class Scalar>
void attend_as(const Attention& encoding, const AttentionInputs& inputs, const ConstHeads& q, const ConstHeads& k,
               const ConstHeads& v, const Heads& out) {
  const auto array_of = [](const ConstHeads& x) { return reinterpret_cast<const Scalar*>(x.data); };
  const auto bias = score_bias<Scalar>(encoding, sequences_of(inputs), inputs.weight);
  const std::vector<Scalar> sinks = sinks_of<Scalar>(inputs);
  const std::vector<Scalar> query_scales = query_scales_of<Scalar>(encoding, inputs);
  attend_in_blocks(encoding, AttentionArrays<Scalar>{shape_of(inputs), array_of(q), array_of(k), array_of(v),
                                                     bias.get(), sinks.empty() ? nullptr : sinks.data(),
                                                     query_scales.empty() ? nullptr : query_scales.data(),
                                                     reinterpret_cast<Scalar*>(out.data)});
}

// Vectors as attention computes with them: the caller's, or others in memory of its own.
struct Operand {
  Operand(const Tensor& x, Dtype arithmetic) : vectors(vectors_of(x)) {
    if (x.dtype == arithmetic) return;
    const Heads wide = own(arithmetic);
    convert(vectors, wide);
    vectors = read_only(wide);
  }

  // Where they go when they change.
  Heads own(Dtype dtype) {
    const Heads extents = vectors_like<std::byte>(vectors, dtype, nullptr);
    if (memory.data() == nullptr) memory = Unfilled<std::byte>(static_cast<std::int64_t>(size_of(extents)));
    return vectors_like(vectors, dtype, memory.data());
  }

  ConstHeads vectors;
  Unfilled<std::byte> memory;
};

}  // namespace

double attention_error(const Attention& encoding, std::int64_t n, Dtype dtype, const AttentionMagnitudes& magnitudes) {
  const Dtype arithmetic = arithmetic_of(dtype);
  const double u = unit_roundoff(arithmetic);
  const auto d = static_cast<double>(encoding.head_dim);
  const double terms = static_cast<double>(n) + (encoding.sinks ? 1 : 0);
  const auto blocks = std::ceil(static_cast<double>(n) / static_cast<double>(keys_per_block));
  const double carried = u * (terms + blocks + 2);
  if (u * d > 0x1p-4 || carried > 0.5)
    throw std::invalid_argument("attention_error: more terms than the arithmetic can bound");
  const double capped = encoding.logit_softcap
                            ? (2 * hyperbolic_tangent_ulp + 2) * std::min(magnitudes.score, *encoding.logit_softcap)
                            : 0;
  const double of_query = encoding.query_scale ? roundings_of(*encoding.query_scale) : 0;
  const double weight = 9.0 / 8 * u *
                        ((d + 10 + of_query) * magnitudes.score + 6 * magnitudes.bias + capped +
                         (2 * exponential_ulp + 1) * (blocks + 1));
  const double growth = std::expm1(2 * (weight + carried / (1 - carried)));
  const double underflow = (terms + blocks) * std::ldexp(1.0, format_of(arithmetic).min_exponent + 1);
  const double own = dtype == arithmetic ? 0 : unit_roundoff(dtype);
  // A value below the dtype's normal range is rounded to a multiple of its least value.
  const double least =
      dtype == arithmetic ? 0 : std::ldexp(1.0, format_of(dtype).min_exponent - format_of(dtype).precision);
  return magnitudes.value * (growth + (own + underflow) * (1 + growth)) + least;
}

DotProductAttention::DotProductAttention(const Attention& encoding)
    : encoding_(checked(encoding)), turning_(turning(encoding)) {}
DotProductAttention::~DotProductAttention() = default;
DotProductAttention::DotProductAttention(DotProductAttention&&) noexcept = default;
DotProductAttention& DotProductAttention::operator=(DotProductAttention&&) noexcept = default;

Tensor DotProductAttention::attend(const AttentionInputs& inputs) const {
  const StandardArithmetic arithmetic;
  check_inputs(attend_name, encoding_, inputs);
  Tensor out = Tensor::zeros(inputs.q.dtype, inputs.q.shape);
  if (out.data.empty()) return out;
  const Dtype arithmetic_dtype = arithmetic_of(inputs.q.dtype);
  Operand q(inputs.q, arithmetic_dtype);
  Operand k(inputs.k, arithmetic_dtype);
  const Operand v(inputs.v, arithmetic_dtype);
  // A block of queries is read before it is written: they may lie where the results go.
  const Heads results = out.dtype == arithmetic_dtype ? vectors_of(out) : q.own(arithmetic_dtype);
  if (turning_) {
    const Heads keys = k.own(arithmetic_dtype);
    const CallShape shape = shape_of(inputs);
    if (shape.kind == CallShape::Kind::whole) {
      turning_->turn(q.vectors, inputs.positions, Role::query, results);
      turning_->turn(k.vectors, inputs.positions, Role::key, keys);
    } else {
      const std::vector<std::int64_t> last = last_positions(inputs, shape.batch);
      std::vector<std::int64_t> first_of_step;
      for (std::int64_t row = 0; encoding_.cached_keys == CachedKeys::rotated && row < shape.batch; ++row)
        first_of_step.push_back(shape.token(row, 0));
      turn_in_step(*turning_, q.vectors, inputs.query_positions, last, {}, Role::query, results);
      turn_in_step(*turning_, k.vectors, inputs.positions, last, first_of_step, Role::key, keys);
    }
    q.vectors = read_only(results);
    k.vectors = read_only(keys);
  }
  arithmetic_dtype == Dtype::float64 ? attend_as<double>(encoding_, inputs, q.vectors, k.vectors, v.vectors, results)
                                     : attend_as<float>(encoding_, inputs, q.vectors, k.vectors, v.vectors, results);
  if (out.dtype != arithmetic_dtype) convert(read_only(results), vectors_of(out));
  return out;
}

AttentionGradients DotProductAttention::backward(const AttentionInputs& inputs, const Tensor& grad) const {
  const StandardArithmetic arithmetic;
  check_inputs(backward_name, encoding_, inputs);
  if (shape_of(inputs).kind == CallShape::Kind::step || !inputs.starts.empty() || !inputs.ends.empty())
    throw std::invalid_argument(std::string(backward_name) +
                                ": query_positions, starts and ends: expected none, and as many keys as queries");
  check_tensor(backward_name, "grad", grad, inputs.q.shape);
  check_dtype(backward_name, "grad", grad.dtype, "q", inputs.q.dtype);
  Tensor q = converted(inputs.q, Dtype::float64);
  Tensor k = converted(inputs.k, Dtype::float64);
  const Tensor v = converted(inputs.v, Dtype::float64);
  const Tensor by_out = converted(grad, Dtype::float64);
  if (turning_) {
    turn(*turning_, q, inputs.positions, Role::query);
    turn(*turning_, k, inputs.positions, Role::key);
  }
  const std::int64_t n = q.shape[2];
  const auto bias = score_bias<double>(encoding_, sequences_of(inputs), inputs.weight);
  const std::vector<double> sinks = sinks_of<double>(inputs);
  const std::vector<double> query_scales = query_scales_of<double>(encoding_, inputs);
  Tensor gradients[3] = {Tensor::zeros(Dtype::float64, q.shape), Tensor::zeros(Dtype::float64, k.shape),
                         Tensor::zeros(Dtype::float64, k.shape)};
  const auto writable = [](Tensor& tensor) { return reinterpret_cast<double*>(tensor.data.data()); };
  add_gradients(encoding_,
                {q.shape[0], n, array<double>(q), array<double>(k), array<double>(v), array<double>(by_out), bias.get(),
                 sinks.empty() ? nullptr : sinks.data(), query_scales.empty() ? nullptr : query_scales.data(),
                 writable(gradients[0]), writable(gradients[1]), writable(gradients[2])});
  if (turning_) {
    turn_back(*turning_, gradients[0], inputs.positions, Role::query);
    turn_back(*turning_, gradients[1], inputs.positions, Role::key);
  }
  return {converted(gradients[0], grad.dtype), converted(gradients[1], grad.dtype),
          converted(gradients[2], grad.dtype)};
}

void DotProductAttention::attend(const AttentionInputs& inputs, std::span<std::byte> out) const {
  check_queries(attend_name, encoding_, inputs.q);
  check_bytes(attend_name, out, inputs.q.elements(), inputs.q.dtype);
  const Tensor result = attend(inputs);
  std::ranges::copy(result.data, out.begin());
}

}  // namespace sextant
