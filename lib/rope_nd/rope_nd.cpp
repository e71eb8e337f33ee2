#include "lib/rope_nd/rope_nd.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "lib/kernels/checks.hpp"
#include "lib/rope/call.hpp"
#include "lib/rope/job.hpp"
#include "lib/rope/plan.hpp"

namespace sextant {
namespace {

PairAxes pair_axes(const RopeNd& encoding, std::size_t padded) {
  const std::vector<std::int64_t> axis_of = axis_of_pairs(encoding);
  const auto count = static_cast<std::size_t>(axes(encoding));
  PairAxes result{axes(encoding), std::vector<std::uint64_t>(count * padded),
                  std::vector<PairRange>(count, {padded, 0})};
  for (std::size_t i = 0; i < padded; ++i) {
    const auto axis = static_cast<std::size_t>(axis_of[std::min(i, axis_of.size() - 1)]);
    result.masks[axis * padded + i] = ~std::uint64_t{0};
    PairRange& range = result.ranges[axis];
    const std::size_t group = i / FrequencyPieces::lanes * FrequencyPieces::lanes;
    range = {std::min(range.first, group), group + FrequencyPieces::lanes};
  }
  return result;
}

constexpr std::string_view encoder = "RopeNdEncoder";

}  // namespace

struct RopeNdEncoder::State {
  explicit State(const RopeNd& encoding)
      : plans(encoding),
        axis_count(axes(encoding)),
        axes_of_pairs(pair_axes(encoding, plans.first().frequencies.padded())) {}

  void turn(const RopePass& pass, const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y) const;

  RopePlans plans;
  std::int64_t axis_count;
  PairAxes axes_of_pairs;
};

void RopeNdEncoder::State::turn(const RopePass& pass, const ConstHeads& x, std::span<const std::int64_t> positions,
                                const Heads& y) const {
  const VectorCall call = check_vectors(encoder, plans.encoding().head_dim, axis_count, x, positions, y);
  if (call.elements == 0) return;
  std::optional<RopePlan> own;
  const RopePlan& plan = plans.for_length(call.length, own);
  const RopeJob job(PairTurns(plan, axes_of_pairs), plan.encoding, pass, Rounding::certified, x, positions, y);
  share(job.units(), call.elements, [&](std::int64_t first, std::int64_t last) { rotate_units(job, first, last); });
}

RopeNdEncoder::RopeNdEncoder(const RopeNd& encoding) : state_(std::make_shared<const State>(encoding)) {}

void RopeNdEncoder::apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y) const {
  state_->turn(forward_pass(state_->plans.encoding()), x, positions, y);
}

void RopeNdEncoder::apply(const Heads& x, std::span<const std::int64_t> positions) const {
  apply(read_only(x), positions, x);
}

void RopeNdEncoder::backward(const ConstHeads& grad, std::span<const std::int64_t> positions,
                             const Heads& grad_x) const {
  state_->turn(backward_pass(state_->plans.encoding()), grad, positions, grad_x);
}

Tensor RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  const ConstHeads from = heads_of(x);
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  apply(from, positions, heads_of(y));
  return y;
}

void RopeNdEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, std::span<std::byte> out) const {
  check_apart(encoder, x.data, out);
  const Heads y = heads_of(x, out);
  if (reinterpret_cast<std::uintptr_t>(out.data()) % size_of(x.dtype) == 0) return apply(heads_of(x), positions, y);
  std::ranges::copy(rotate(x, positions).data, out.begin());
}

Tensor RopeNdEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  const ConstHeads from = heads_of(grad);
  Tensor grad_x = Tensor::zeros(grad.dtype, grad.shape);
  backward(from, positions, heads_of(grad_x));
  return grad_x;
}

}  // namespace sextant
