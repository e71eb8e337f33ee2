#include "lib/attention/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "lib/attention/blocks.hpp"
#include "lib/attention/gradient.hpp"
#include "lib/attention/position_part.hpp"
#include "lib/attention/softmax_rows.hpp"
#include "lib/kernels/checks.hpp"
#include "lib/kernels/parallel.hpp"
#include "lib/numeric/heads.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

// The error bound, attention_error, is proved in docs/proofs/attention-encoder.md: what a score errs by (step 1), a
// weight (step 2), their sums and quotient (step 3), what underflow takes (step 4) and the dtype's rounding (step 5).

namespace sextant {
namespace {

constexpr std::string_view function = "DotProductAttention::attend";

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

// The nearest bfloat16, ties to even; a NaN stays one.
std::uint16_t bfloat16_of(std::uint32_t bits) {
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

// convert(a `From` as bits) for every element, as `To`. Memory of tensors is aligned for every element.
template <class From, class To, class Convert>
void convert_bits(const Tensor& x, Tensor& to, std::int64_t first, std::int64_t last, Convert convert) {
  const auto* const source = reinterpret_cast<const From*>(x.data.data());
  auto* const destination = reinterpret_cast<To*>(to.data.data());
  for (std::int64_t i = first; i < last; ++i) destination[i] = convert(source[i]);
}

Tensor converted(const Tensor& x, Dtype dtype) {
  Tensor result = Tensor::zeros(dtype, x.shape);
  constexpr std::int64_t chunk = elements_per_thread;
  parallel_for((x.elements() + chunk - 1) / chunk, x.elements(), [&](std::int64_t i) {
    const std::int64_t first = i * chunk;
    const std::int64_t last = std::min(x.elements(), first + chunk);
    if (x.dtype == Dtype::bfloat16 && dtype == Dtype::float32) {
      convert_bits<std::uint16_t, std::uint32_t>(x, result, first, last,
                                                 [](std::uint16_t bits) { return std::uint32_t{bits} << 16; });
    } else if (x.dtype == Dtype::float32 && dtype == Dtype::bfloat16) {
      convert_bits<std::uint32_t, std::uint16_t>(x, result, first, last, bfloat16_of);
    } else {
      for (std::int64_t element = first; element < last; ++element) result.set(element, x.at(element));
    }
  });
  return result;
}

// The vectors of a tensor [batch, heads, n, head_dim].
template <class OfTensor>
auto vectors_of(OfTensor& x) {
  const std::int64_t width = x.shape[3];
  auto* const data = x.data.data();
  return HeadsOf<std::remove_pointer_t<decltype(data)>>{.dtype = x.dtype,
                                                        .data = data,
                                                        .batch = x.shape[0],
                                                        .tokens = x.shape[2],
                                                        .heads = x.shape[1],
                                                        .head_dim = width,
                                                        .batch_stride = x.shape[1] * x.shape[2] * width,
                                                        .token_stride = width,
                                                        .head_stride = x.shape[2] * width};
}

// Makes `to` what the role makes of x, [batch, heads, n, head_dim], which may be `to` itself.
void turn(const Turning& turning, const Tensor& x, std::span<const std::int64_t> positions, Role role, Tensor& to) {
  if (&x != &to) to = Tensor::zeros(x.dtype, x.shape);
  turning.turn(vectors_of(x), positions, role, vectors_of(to));
}

// Tokens of a tensor, [batch, heads, n, head_dim]: as many of every head as both have of [first, last).
void copy_tokens(const Tensor& from, Tensor& to, std::int64_t row, std::int64_t first, std::int64_t last) {
  const std::size_t token = static_cast<std::size_t>(from.shape[3]) * size_of(from.dtype);
  for (std::int64_t head = 0; head < from.shape[1]; ++head) {
    const auto at = [&](const Tensor& x) {
      return static_cast<std::size_t>((row * x.shape[1] + head) * x.shape[2] + first) * token;
    };
    std::memcpy(to.data.data() + at(to), from.data.data() + at(from), static_cast<std::size_t>(last - first) * token);
  }
}

// Queries or keys of a step, whose positions are [axes, batch, n], as the role has them. `last` has the largest
// position of each batch row, of queries and keys together.
Tensor turned_in_step(const Turning& turning, const Tensor& x, std::span<const std::int64_t> positions,
                      std::span<const std::int64_t> last, Role role) {
  const std::int64_t batch = x.shape[0];
  const std::int64_t n = x.shape[2];
  // One token more in each row, which is dropped, gives it its length.
  Tensor longer = Tensor::zeros(x.dtype, {batch, x.shape[1], n + 1, x.shape[3]});
  for (std::int64_t row = 0; row < batch; ++row) copy_tokens(x, longer, row, 0, n);
  std::vector<std::int64_t> where;
  for (std::int64_t at = 0; at < std::ssize(positions); at += n) {
    const auto of_row = positions.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(n));
    where.insert(where.end(), of_row.begin(), of_row.end());
    where.push_back(last[static_cast<std::size_t>(at / n % batch)]);
  }
  turn(turning, longer, where, role, longer);
  Tensor result = Tensor::zeros(x.dtype, x.shape);
  for (std::int64_t row = 0; row < batch; ++row) copy_tokens(longer, result, row, 0, n);
  return result;
}

// In place.
void turn_back(const Turning& turning, Tensor& grad, std::span<const std::int64_t> positions, Role role) {
  turning.turn_back(vectors_of(std::as_const(grad)), positions, role, vectors_of(grad));
}

// Those of every token where the result looks at them.
void check_positions(const Attention& encoding, std::span<const std::int64_t> positions, std::int64_t tokens) {
  if (!sees_positions(encoding)) return;
  check_count(function, positions, signature_of(encoding).axes * tokens);
  check_range(function, positions);
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
void check_sequences(const CallShape& shape) {
  if (!shape.starts.empty()) check_count(function, shape.starts, shape.batch);
  if (!shape.ends.empty()) check_count(function, shape.ends, shape.batch);
  for (std::int64_t row = 0; row < shape.batch; ++row) {
    const KeyRange sequence = shape.sequence(row);
    if (sequence.first < 0 || sequence.end > shape.keys || sequence.first > sequence.end ||
        (shape.kind == CallShape::Kind::step && shape.queries > sequence.count())) {
      throw std::invalid_argument(std::string(function) + ": batch row " + std::to_string(row) + " has the tokens " +
                                  std::to_string(sequence.first) + " to " + std::to_string(sequence.end) + " of " +
                                  std::to_string(shape.keys) + " keys, for " + std::to_string(shape.queries) +
                                  " queries");
    }
  }
}

void check_inputs(const Attention& encoding, const AttentionInputs& inputs) {
  const Tensor& q = inputs.q;
  if (q.shape.size() != 4)
    throw std::invalid_argument(std::string(function) + ": q has shape " + shape_text(q.shape) +
                                ", expected [batch, num_heads, n, head_dim]");
  const std::int64_t batch = q.shape[0];
  const std::int64_t n = q.shape[2];
  check_tensor(function, "q", q, {batch, encoding.num_heads, n, encoding.head_dim});
  const std::int64_t keys = inputs.k.shape.size() == 4 ? inputs.k.shape[2] : n;
  for (const auto& [name, tensor] : {std::pair<std::string_view, const Tensor&>("k", inputs.k), {"v", inputs.v}}) {
    check_tensor(function, name, tensor, {batch, encoding.num_kv_heads, keys, encoding.head_dim});
    if (tensor.dtype != q.dtype) {
      throw std::invalid_argument(std::string(function) + ": " + std::string(name) + " is " +
                                  std::string(name_of(tensor.dtype)) + ", q is " + std::string(name_of(q.dtype)));
    }
  }
  check_positions(encoding, inputs.positions, batch * keys);
  check_positions(encoding, positions_of_queries(inputs), batch * n);
  check_sequences(shape_of(inputs));
  const auto weight = signature_of(encoding).weight;
  if (weight.has_value() != (inputs.weight != nullptr)) {
    const std::string name(weight ? encoding_name(*encoding.position) : "");
    throw std::invalid_argument(std::string(function) +
                                (weight ? ": " + name + " needs a weight" : ": a weight that no bias looks up"));
  }
  if (weight) check_tensor(function, "weight", *inputs.weight, {weight->rows, encoding.num_heads});
  if (encoding.sinks != (inputs.sinks != nullptr))
    throw std::invalid_argument(std::string(function) + (encoding.sinks ? ": no sinks" : ": sinks that no head has"));
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
      throw std::invalid_argument(std::string(function) + ": a query at " + std::to_string(position) +
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
Tensor attend_as(const Attention& encoding, const AttentionInputs& inputs, const Tensor& q, const Tensor& k,
                 const Tensor& v) {
  const auto bias = score_bias<Scalar>(encoding, sequences_of(inputs), inputs.weight);
  const std::vector<Scalar> sinks = sinks_of<Scalar>(inputs);
  const std::vector<Scalar> query_scales = query_scales_of<Scalar>(encoding, inputs);
  Tensor out = Tensor::zeros(q.dtype, q.shape);
  attend_in_blocks(encoding,
                   AttentionArrays<Scalar>{shape_of(inputs), array<Scalar>(q), array<Scalar>(k), array<Scalar>(v),
                                           bias.get(), sinks.empty() ? nullptr : sinks.data(),
                                           query_scales.empty() ? nullptr : query_scales.data(),
                                           reinterpret_cast<Scalar*>(out.data.data())});
  return out;
}

// x itself, or a converted copy that `kept` holds.
const Tensor& in_arithmetic(const Tensor& x, Tensor& kept) {
  const Dtype arithmetic = arithmetic_of(x.dtype);
  if (x.dtype == arithmetic) return x;
  kept = converted(x, arithmetic);
  return kept;
}

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
  check_inputs(encoding_, inputs);
  Tensor kept[3];
  const Tensor* q = &in_arithmetic(inputs.q, kept[0]);
  const Tensor* k = &in_arithmetic(inputs.k, kept[1]);
  const Tensor& v = in_arithmetic(inputs.v, kept[2]);
  const CallShape shape = shape_of(inputs);
  if (turning_ && shape.kind == CallShape::Kind::whole) {
    turn(*turning_, *q, inputs.positions, Role::query, kept[0]);
    turn(*turning_, *k, inputs.positions, Role::key, kept[1]);
  } else if (turning_) {
    const std::vector<std::int64_t> last = last_positions(inputs, shape.batch);
    kept[0] = turned_in_step(*turning_, *q, inputs.query_positions, last, Role::query);
    Tensor keys = turned_in_step(*turning_, *k, inputs.positions, last, Role::key);
    if (encoding_.cached_keys == CachedKeys::rotated) {
      for (std::int64_t row = 0; row < shape.batch; ++row) copy_tokens(*k, keys, row, 0, shape.token(row, 0));
    }
    kept[1] = std::move(keys);
  }
  if (turning_) {
    q = &kept[0];
    k = &kept[1];
  }
  Tensor out = q->dtype == Dtype::float64 ? attend_as<double>(encoding_, inputs, *q, *k, v)
                                          : attend_as<float>(encoding_, inputs, *q, *k, v);
  return out.dtype == inputs.q.dtype ? out : converted(out, inputs.q.dtype);
}

AttentionGradients DotProductAttention::backward(const AttentionInputs& inputs, const Tensor& grad) const {
  const StandardArithmetic arithmetic;
  check_inputs(encoding_, inputs);
  if (shape_of(inputs).kind == CallShape::Kind::step || !inputs.starts.empty() || !inputs.ends.empty())
    throw std::invalid_argument("DotProductAttention::backward: expected a whole call without padding");
  check_tensor(function, "grad", grad, inputs.q.shape);
  if (grad.dtype != inputs.q.dtype) {
    throw std::invalid_argument("DotProductAttention::backward: grad is " + std::string(name_of(grad.dtype)) +
                                ", q is " + std::string(name_of(inputs.q.dtype)));
  }
  Tensor q = converted(inputs.q, Dtype::float64);
  Tensor k = converted(inputs.k, Dtype::float64);
  const Tensor v = converted(inputs.v, Dtype::float64);
  const Tensor by_out = converted(grad, Dtype::float64);
  if (turning_) {
    turn(*turning_, q, inputs.positions, Role::query, q);
    turn(*turning_, k, inputs.positions, Role::key, k);
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
  check_bytes(function, out, elements_of(inputs.q.shape), inputs.q.dtype);
  const Tensor result = attend(inputs);
  std::ranges::copy(result.data, out.begin());
}

}  // namespace sextant
