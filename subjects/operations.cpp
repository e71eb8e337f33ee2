#include "subjects/operations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "subjects/table_order.hpp"

namespace sextant {
namespace {

using Shape = std::vector<std::int64_t>;

// How a result is made one of the dtype, where the two frameworks that are met most have it.
std::string converting_fix(const std::string& name, Dtype dtype) {
  if (name == "y")
    return "return y.astype(x.dtype), for a list np.asarray(y, x.dtype), for a torch tensor y.to(x.dtype)";
  return fmt::format("return it as {0}: .astype(\"{0}\"), of a torch tensor .to(torch.{0})", name_of(dtype));
}

// What the axes of a result are called; nothing of those that are seldom wrong.
std::vector<std::string_view> axes_of(std::string_view name) {
  if (name == "y" || name == "q" || name == "k") return {"batch", "n", "heads", "head_dim"};
  if (name == "out") return {"batch", "heads", "n", "head_dim"};
  if (name == "encoding") return {"n", "dim"};
  if (name == "bias") return {"heads", "queries", "keys"};
  return {};
}

// What most likely made the shape another one.
std::string shape_fix(const std::string& name, Shape got, const Shape& expected) {
  const std::string meant = name == "y" ? "x is [batch, n, heads, head_dim], and so is the result" : "";
  const std::vector<std::string_view> axes = axes_of(name);
  const Shape returned = got;
  Shape sorted = expected;
  std::ranges::sort(sorted);
  std::ranges::sort(got);
  if (got == sorted) {
    const bool is_bhnd = name == "y" && returned == Shape{expected[0], expected[2], expected[1], expected[3]};
    return fmt::format(
        "its axes are in another order{}{}{}", meant.empty() ? "" : ": ", meant,
        is_bhnd ? "; a Python function of [batch, heads, n, head_dim] is named with layout=bhnd behind it" : "");
  }
  if (got.size() != expected.size())
    return fmt::format("return {} axes{}{}{}", expected.size(), returned.empty() ? ", not a scalar" : "",
                       meant.empty() ? "" : ": ", meant);
  if (axes.size() != expected.size()) return "";
  std::vector<std::string> others;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (returned[axis] != expected[axis])
      others.push_back(fmt::format("{} {}, not {}", axes[axis], expected[axis], returned[axis]));
  }
  return fmt::format("return [{}] with {}", fmt::join(axes, ", "), fmt::join(others, " and "));
}

// Moves one tensor out of a reply.
Tensor take(Tensors& reply, const std::string& name, Dtype dtype, const Shape& shape) {
  const auto found = reply.find(name);
  if (found == reply.end()) {
    throw SubjectFailure(FailureKind::protocol, fmt::format("the reply has no tensor \"{}\"", name));
  }
  if (found->second.shape != shape) {
    throw SubjectFailure(FailureKind::protocol,
                         fmt::format("\"{}\" came back with shape {}, expected {}", name,
                                     shape_text(found->second.shape), shape_text(shape)),
                         {{}, "", shape_fix(name, found->second.shape, shape)});
  }
  // Behind the shape: a scalar is not mended by its dtype.
  if (found->second.dtype != dtype) {
    throw SubjectFailure(FailureKind::protocol,
                         fmt::format("\"{}\" came back as {}, {} says {}", name, name_of(found->second.dtype),
                                     dtype == Dtype::int64 ? "the protocol" : "the spec", name_of(dtype)),
                         {{}, "", converting_fix(name, dtype)});
  }
  return std::move(found->second);
}
Tensor take(Tensors&& reply, const std::string& name, Dtype dtype, const Shape& shape) {
  return take(reply, name, dtype, shape);
}

[[noreturn]] void refuse(std::string_view operation, const std::string& reason) {
  throw std::invalid_argument(fmt::format("{}: {}", operation, reason));
}

// An argument of the spec's dtype and of this shape.
void check(std::string_view operation, const char* name, const Spec& spec, const Tensor& tensor, const Shape& shape) {
  if (tensor.dtype != spec.dtype)
    refuse(operation, fmt::format("{} is {}, the spec says {}", name, name_of(tensor.dtype), name_of(spec.dtype)));
  if (tensor.shape != shape)
    refuse(operation, fmt::format("{} has shape {}, expected {}", name, shape_text(tensor.shape), shape_text(shape)));
}

[[noreturn]] void refuse_spec(std::string_view operation, const Spec& spec) {
  refuse(operation, fmt::format("{} has none", encoding_name(spec)));
}

std::int64_t extent(const Tensor& tensor, std::size_t axis) {
  return axis < tensor.shape.size() ? tensor.shape[axis] : 0;
}

// Positions with the axes that the encoding has before `shape`, as a subject is given them.
Tensor positions_tensor(std::string_view operation, const Signature& signature, Shape shape,
                        std::span<const std::int64_t> positions) {
  if (signature.axes > 1 || signature.axes_lead) shape.insert(shape.begin(), signature.axes);
  if (elements_of(shape) != std::ssize(positions)) {
    refuse(operation, fmt::format("{} positions, expected {}", positions.size(), shape_text(shape)));
  }
  const PositionGrid& grid = signature.positions;
  if (grid.dtype == Dtype::int64) return Tensor::of_integers(std::move(shape), positions);
  Tensor real = Tensor::zeros(grid.dtype, std::move(shape));
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    real.set(index, grid.at(positions[i]));
    // Outside of a claim alone, since a claim ends where the dtype no longer has every multiple of the step.
    if (real.at(index) != grid.at(positions[i])) {
      refuse(operation, fmt::format("position {} is no {}", grid.text(positions[i]), name_of(grid.dtype)));
    }
  }
  return real;
}

Tensor encode_with(Session& session, const Spec& spec, std::span<const std::int64_t> positions, Tensors inputs) {
  const Signature signature = signature_of(spec.encoding);
  if (!signature.dim || signature.operation == Operation::table) refuse_spec("encode", spec);
  const std::int64_t rows = std::ssize(positions) / signature.axes;
  inputs.insert_or_assign("positions", positions_tensor("encode", signature, {rows}, positions));
  return take(session.call("encode", inputs), "encoding", spec.dtype, {rows, *signature.dim});
}

// A trained table, with as many columns as it comes with where the encoding leaves them open.
void check_weight(std::string_view operation, const Spec& spec, const WeightShape& shape, const Tensor& weight) {
  check(operation, "weight", spec, weight, {shape.rows, shape.columns.value_or(extent(weight, 1))});
}

Tensors rotate_inputs(const Spec& spec, const Tensor& x, std::span<const std::int64_t> positions) {
  const Signature signature = signature_of(spec.encoding);
  if (signature.operation != Operation::rotate) refuse_spec("rotate", spec);
  check("rotate", "x", spec, x, {extent(x, 0), extent(x, 1), extent(x, 2), signature.head_dim.value()});
  Tensors inputs = named("positions", positions_tensor("rotate", signature, {x.shape[0], x.shape[1]}, positions));
  inputs.insert_or_assign("x", x);
  return inputs;
}

Tensors bias_inputs(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions) {
  return {{"query_positions", Tensor::of_integers({std::ssize(query_positions)}, query_positions)},
          {"key_positions", Tensor::of_integers({std::ssize(key_positions)}, key_positions)}};
}

}  // namespace

std::vector<std::int64_t> counts_of(const Tensor& positions, const PositionGrid& grid) {
  if (positions.dtype != grid.dtype) {
    throw SubjectFailure(FailureKind::error, fmt::format("positions are {}, the spec says {}", name_of(positions.dtype),
                                                         name_of(grid.dtype)));
  }
  if (grid.dtype == Dtype::int64) return positions.integers();
  std::vector<std::int64_t> counts;
  counts.reserve(static_cast<std::size_t>(positions.elements()));
  for (std::int64_t i = 0; i < positions.elements(); ++i) {
    const auto count = grid.count_of(positions.at(i));
    if (!count) {
      throw SubjectFailure(FailureKind::error,
                           fmt::format("position {} is no multiple of position_step = {}", positions.at(i), grid.step));
    }
    counts.push_back(*count);
  }
  return counts;
}

Tensor encode(Session& session, const Spec& spec, std::span<const std::int64_t> positions) {
  if (const Signature signature = signature_of(spec.encoding); signature.dim && signature.weight)
    refuse("encode", fmt::format("{} needs a weight", encoding_name(spec)));
  return encode_with(session, spec, positions, {});
}

Tensor encode(Session& session, const Spec& spec, std::span<const std::int64_t> positions, const Tensor& weight) {
  const Signature signature = signature_of(spec.encoding);
  if (!signature.dim || !signature.weight) refuse_spec("encode with a weight", spec);
  check_weight("encode", spec, *signature.weight, weight);
  return encode_with(session, spec, positions, {{"weight", weight}});
}

Tensor table(Session& session, const Spec& spec, std::span<const std::int64_t> positions) {
  const Signature signature = signature_of(spec.encoding);
  if (signature.operation != Operation::table) refuse_spec("table", spec);
  const std::int64_t rows = std::ssize(positions);
  Tensors reply = session.call("table", named("positions", positions_tensor("table", signature, {rows}, positions)));
  const std::int64_t pairs = signature.dim.value() / 2;
  const TableOrder& order = order_of_reply(reply);
  std::vector<Tensor> parts;
  for (const std::string_view name : order.tensors)
    parts.push_back(take(reply, std::string(name), spec.dtype, {rows, columns_of(order, pairs)}));
  return cosines_then_sines(order, parts, pairs);
}

Tensor rotate(Session& session, const Spec& spec, const Tensor& x, std::span<const std::int64_t> positions) {
  return take(session.call("rotate", rotate_inputs(spec, x, positions)), "y", spec.dtype, x.shape);
}

QueriesAndKeys qk_norm_rope(Session& session, const Spec& spec, const QkNormRopeRequest& request) {
  constexpr std::string_view operation = "qk_norm_rope";
  const Signature signature = signature_of(spec.encoding);
  if (signature.operation != Operation::qk_norm_rope) refuse_spec(operation, spec);
  const std::int64_t head_dim = signature.head_dim.value();
  const Shape tokens{extent(request.q, 0), extent(request.q, 1)};
  check(operation, "q", spec, request.q, {tokens[0], tokens[1], extent(request.q, 2), head_dim});
  check(operation, "k", spec, request.k, {tokens[0], tokens[1], extent(request.k, 2), head_dim});
  check(operation, "q_weight", spec, request.q_weight, {head_dim});
  check(operation, "k_weight", spec, request.k_weight, {head_dim});
  Tensors inputs = named("positions", positions_tensor(operation, signature, tokens, request.positions));
  inputs.insert_or_assign("q", request.q);
  inputs.insert_or_assign("k", request.k);
  inputs.insert_or_assign("q_weight", request.q_weight);
  inputs.insert_or_assign("k_weight", request.k_weight);
  Tensors reply = session.call(operation, inputs);
  return {take(reply, "q", spec.dtype, request.q.shape), take(reply, "k", spec.dtype, request.k.shape)};
}

Tensor bias(Session& session, const Spec& spec, std::span<const std::int64_t> query_positions,
            std::span<const std::int64_t> key_positions) {
  const Signature signature = signature_of(spec.encoding);
  if (signature.operation != Operation::bias || signature.weight) refuse_spec("bias without a weight", spec);
  return take(session.call("bias", bias_inputs(query_positions, key_positions)), "bias", spec.dtype,
              {signature.heads.value(), std::ssize(query_positions), std::ssize(key_positions)});
}

Tensor bias(Session& session, const Spec& spec, std::span<const std::int64_t> query_positions,
            std::span<const std::int64_t> key_positions, const Tensor& weight) {
  const Signature signature = signature_of(spec.encoding);
  if (signature.operation != Operation::bias || !signature.weight) refuse_spec("bias with a weight", spec);
  check_weight("bias", spec, *signature.weight, weight);
  Tensors inputs = bias_inputs(query_positions, key_positions);
  inputs.insert_or_assign("weight", weight);
  return take(session.call("bias", inputs), "bias", spec.dtype,
              {weight.shape[1], std::ssize(query_positions), std::ssize(key_positions)});
}

std::vector<std::int64_t> bucket(Session& session, const Spec& spec, std::span<const std::int64_t> relative) {
  if (!signature_of(spec.encoding).buckets) refuse_spec("bucket", spec);
  const Shape shape{std::ssize(relative)};
  return take(session.call("bucket", {{"relative", Tensor::of_integers(shape, relative)}}), "bucket", Dtype::int64,
              shape)
      .integers();
}

namespace {

Tensors attend_inputs(const Spec& spec, const AttendRequest& request) {
  const Signature signature = signature_of(spec.encoding);
  if (signature.operation != Operation::attend) refuse_spec("attend", spec);
  const std::int64_t heads = signature.heads.value();
  const std::int64_t kv_heads = signature.kv_heads.value();
  const std::int64_t head_dim = signature.head_dim.value();
  const std::int64_t batch = extent(request.q, 0);
  const std::int64_t n = extent(request.q, 2);
  const std::int64_t keys = request.query_positions.empty() ? n : extent(request.k, 2);
  check("attend", "q", spec, request.q, {batch, heads, n, head_dim});
  check("attend", "k", spec, request.k, {batch, kv_heads, keys, head_dim});
  check("attend", "v", spec, request.v, {batch, kv_heads, keys, head_dim});
  Tensors inputs = named("positions", positions_tensor("attend", signature, {batch, keys}, request.positions));
  if (!request.query_positions.empty()) {
    inputs.insert_or_assign("query_positions",
                            positions_tensor("attend", signature, {batch, n}, request.query_positions));
  }
  for (const auto& [name, edges] : {std::pair("starts", request.starts), {"ends", request.ends}}) {
    // Indices of tokens.
    if (!edges.empty()) inputs.insert_or_assign(name, positions_tensor("attend", Signature{}, {batch}, edges));
  }
  if (signature.sinks != (request.sinks != nullptr))
    refuse("attend", signature.sinks ? "the spec has sinks" : "the spec has no sinks");
  if (request.sinks != nullptr) {
    check("attend", "sinks", spec, *request.sinks, {heads});
    inputs.insert_or_assign("sinks", *request.sinks);
  }
  inputs.insert_or_assign("q", request.q);
  inputs.insert_or_assign("k", request.k);
  inputs.insert_or_assign("v", request.v);
  if (request.weight != nullptr) inputs.insert_or_assign("weight", *request.weight);
  return inputs;
}

}  // namespace

Tensor attend(Session& session, const Spec& spec, const AttendRequest& request) {
  return take(session.call("attend", attend_inputs(spec, request)), "out", spec.dtype, request.q.shape);
}

AttendGradients backward(Session& session, const Spec& spec, const AttendRequest& request, const Tensor& grad) {
  check("backward", "grad", spec, grad, request.q.shape);
  Tensors inputs = attend_inputs(spec, request);
  inputs.insert_or_assign("grad", grad);
  Tensors reply = session.backward("attend", inputs);
  return {take(reply, "grad_q", spec.dtype, request.q.shape), take(reply, "grad_k", spec.dtype, request.k.shape),
          take(reply, "grad_v", spec.dtype, request.v.shape)};
}

Tensor backward(Session& session, const Spec& spec, std::string_view of, Tensors inputs, const Tensor& grad) {
  if (grad.dtype != spec.dtype)
    refuse("backward", fmt::format("grad is {}, the spec says {}", name_of(grad.dtype), name_of(spec.dtype)));
  const char* name = inputs.contains("weight") ? "weight" : "x";
  const auto by = inputs.find(name);
  if (by == inputs.end()) refuse("backward", fmt::format("{} has neither x nor weight to differentiate by", of));
  const Shape shape = by->second.shape;
  inputs.insert_or_assign("grad", grad);
  return take(session.backward(of, inputs), fmt::format("grad_{}", name), spec.dtype, shape);
}

Tensor rotate_backward(Session& session, const Spec& spec, const Tensor& x, std::span<const std::int64_t> positions,
                       const Tensor& grad) {
  return backward(session, spec, "rotate", rotate_inputs(spec, x, positions), grad);
}

void reset(Session& session) {
  try {
    session.call("reset", {});
  } catch (const SubjectFailure& failure) {
    if (failure.kind() != FailureKind::unsupported) throw;
  }
}

}  // namespace sextant
