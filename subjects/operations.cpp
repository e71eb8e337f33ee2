#include "subjects/operations.hpp"

#include <fmt/format.h>

#include <utility>

namespace sextant {
namespace {

Tensor take(Tensors reply, const std::string& name, Dtype dtype, const std::vector<std::int64_t>& shape) {
  const auto found = reply.find(name);
  if (found == reply.end()) {
    throw SubjectFailure(FailureKind::protocol, fmt::format("the reply has no tensor \"{}\"", name));
  }
  if (found->second.dtype != dtype) {
    throw SubjectFailure(FailureKind::protocol, fmt::format("\"{}\" came back as {}, the spec says {}", name,
                                                            name_of(found->second.dtype), name_of(dtype)));
  }
  if (found->second.shape != shape) {
    throw SubjectFailure(FailureKind::protocol, fmt::format("\"{}\" came back with shape {}, expected {}", name,
                                                            shape_text(found->second.shape), shape_text(shape)));
  }
  return std::move(found->second);
}

}  // namespace

Tensor encode(Session& session, const Spec& spec, std::span<const std::int64_t> positions) {
  const auto rows = static_cast<std::int64_t>(positions.size());
  const Tensors inputs{{"positions", Tensor::of_integers({rows}, positions)}};
  return take(session.call("encode", inputs), "encoding", spec.dtype, {rows, std::get<Sinusoidal>(spec.encoding).dim});
}

Tensor rotate(Session& session, const Spec& spec, const Tensor& x, std::span<const std::int64_t> positions) {
  const Tensors inputs{{"x", x}, {"positions", Tensor::of_integers({x.shape.at(0), x.shape.at(1)}, positions)}};
  return take(session.call("rotate", inputs), "y", spec.dtype, x.shape);
}

}  // namespace sextant
