#include "lib/numeric/heads.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant {
namespace {

template <class Bytes, class TensorType>
HeadsOf<Bytes> view_of(TensorType& tensor, const char* name) {
  const std::vector<std::int64_t>& shape = tensor.shape;
  if (shape.size() != 4)
    throw std::invalid_argument(
        fmt::format("{}: shape {}, expected [batch, n, heads, head_dim]", name, shape_text(shape)));
  if (tensor.data.size() != static_cast<std::size_t>(elements_of(shape)) * size_of(tensor.dtype)) {
    throw std::invalid_argument(
        fmt::format("{}: {} bytes, which is not what its shape {} holds", name, tensor.data.size(), shape_text(shape)));
  }
  return {tensor.dtype,
          tensor.data.data(),
          shape[0],
          shape[1],
          shape[2],
          shape[3],
          shape[1] * shape[2] * shape[3],
          shape[2] * shape[3],
          shape[3]};
}

}  // namespace

ConstHeads read_only(const Heads& heads) {
  return {heads.dtype,    heads.data,         heads.batch,        heads.tokens,     heads.heads,
          heads.head_dim, heads.batch_stride, heads.token_stride, heads.head_stride};
}

ConstHeads heads_of(const Tensor& tensor) { return view_of<const std::byte>(tensor, "tensor"); }

Heads heads_of(Tensor& tensor) { return view_of<std::byte>(tensor, "tensor"); }

Heads heads_of(const Tensor& shape, std::span<std::byte> memory) {
  const ConstHeads x = view_of<const std::byte>(shape, "shape");
  if (memory.size() != shape.data.size()) {
    throw std::invalid_argument(
        fmt::format("memory: {} bytes, which is not what shape {} holds", memory.size(), shape_text(shape.shape)));
  }
  return {x.dtype,    memory.data(),  x.batch,        x.tokens,     x.heads,
          x.head_dim, x.batch_stride, x.token_stride, x.head_stride};
}

}  // namespace sextant
