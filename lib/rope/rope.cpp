#include "lib/rope/rope.hpp"

#include <optional>

#include "lib/rope/call.hpp"
#include "lib/rope/job.hpp"
#include "lib/rope/plan.hpp"

namespace sextant {
namespace {

constexpr std::string_view encoder = "RopeEncoder";

void turn(const RopePlans& plans, const RopePass& pass, const ConstHeads& x, std::span<const std::int64_t> positions,
          const Heads& y, Rounding rounding) {
  const VectorCall call = check_vectors(encoder, plans.encoding().head_dim, 1, x, positions, y);
  if (call.elements == 0) return;
  std::optional<RopePlan> own;
  const RopePlan& plan = plans.for_length(call.length, own);
  const bool ordinary = plan.factor.high >= 0x1p-20 && plan.factor.high <= 0x1p20;
  const RopeJob job(PairTurns(plan), plan.encoding, pass, ordinary ? rounding : Rounding::certified, x, positions, y);
  share(job.units(), call.elements, [&](std::int64_t first, std::int64_t last) { rotate_units(job, first, last); });
}

Tensor turned(const RopePlans& plans, const RopePass& pass, const Tensor& x, std::span<const std::int64_t> positions,
              Rounding rounding) {
  const ConstHeads from = heads_of(x);
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  turn(plans, pass, from, positions, heads_of(y), rounding);
  return y;
}

}  // namespace

RopeEncoder::RopeEncoder(const Rope& encoding) : plans_(std::make_shared<const RopePlans>(encoding)) {}

const Rope& RopeEncoder::encoding() const { return plans_->encoding(); }

void RopeEncoder::apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y,
                        Rounding rounding) const {
  turn(*plans_, forward_pass(encoding()), x, positions, y, rounding);
}

void RopeEncoder::apply(const Heads& x, std::span<const std::int64_t> positions, Rounding rounding) const {
  apply(read_only(x), positions, x, rounding);
}

void RopeEncoder::backward(const ConstHeads& grad, std::span<const std::int64_t> positions, const Heads& grad_x,
                           Rounding rounding) const {
  turn(*plans_, backward_pass(encoding()), grad, positions, grad_x, rounding);
}

void RopeEncoder::tables(std::span<const std::int64_t> positions, const Rows& cos, const Rows& sin) const {
  const std::int64_t length = check_tables(encoder, pairs(encoding()), positions, cos, sin);
  std::optional<RopePlan> own;
  const TableJob job(PairTurns(plans_->for_length(length, own)), positions, cos, sin);
  share(cos.rows, cos.rows * cos.width * 2,
        [&](std::int64_t first, std::int64_t last) { write_rotation_rows(job, first, last); });
}

Tensor RopeEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, Rounding rounding) const {
  return turned(*plans_, forward_pass(encoding()), x, positions, rounding);
}

Tensor RopeEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions, Rounding rounding) const {
  return turned(*plans_, backward_pass(encoding()), grad, positions, rounding);
}

}  // namespace sextant
