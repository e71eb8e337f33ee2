// The rotary encoder's calls.
//
//   1. Arguments are checked (call.hpp); a length that a scaling rule looks at is the call's or each row's own.
//   2. The plan of that length has frequencies and rotations of small steps (plan.hpp).
//   3. Units of work, tokens and heads, are shared among threads (job.hpp), and turned by kernels that are compiled
//      once per dtype and Highway target (tiers/, kernels/).
//   4. Results of another dtype go by way of cast.cpp, but for 16 bits of float32, which have kernels; encodings
//      without a pair are copied (standing.cpp).
//
// docs/proofs/rope.md shows that results are the nearest values.

#include "lib/rope/rope.hpp"

#include <algorithm>
#include <optional>

#include "lib/kernels/checks.hpp"
#include "lib/numeric/domains.hpp"
#include "lib/rope/call.hpp"
#include "lib/rope/cast.hpp"
#include "lib/rope/job.hpp"
#include "lib/rope/plan.hpp"
#include "lib/rope/standing.hpp"

namespace sextant {
namespace {

constexpr std::string_view rope_encoder = "RopeEncoder";

// Of a call that has been checked.
void turn_at_length(const RopePlans& plans, std::int64_t length, const RopePass& pass, const ConstHeads& x,
                    std::span<const std::int64_t> positions, const Heads& y, Rounding rounding) {
  std::optional<RopePlan> own;
  const RopePlan& plan = plans.for_length(length, own);
  const bool ordinary = plan.factor.high >= 0x1p-20 && plan.factor.high <= 0x1p20;
  if (!ordinary) rounding = Rounding::certified;
  if (x.dtype == Dtype::float32 && size_of(y.dtype) == 2) {
    rounding = Rounding::certified;  // as quick, and within fast's bound
  } else if (x.dtype != y.dtype) {
    return turn_and_round(plan, pass, rounding, x, positions, y);
  }
  const RopeJob job(PairTurns(plan), plan.encoding, pass, rounding, x, positions, y);
  share(job.units(), x.batch * x.tokens * x.heads * x.head_dim,
        [&](std::int64_t first, std::int64_t last) { rotate_units(job, first, last); });
}

template <class Bytes>
HeadsOf<Bytes> batch_row(HeadsOf<Bytes> heads, std::int64_t row) {
  heads.data += static_cast<std::size_t>(row * heads.batch_stride) * size_of(heads.dtype);
  heads.batch = 1;
  return heads;
}

void turn(const RopePlans& plans, const RopePass& pass, const ConstHeads& x, std::span<const std::int64_t> positions,
          const Heads& y, Rounding rounding, ResultDtype result, const VectorNames& names) {
  check_rounding(rope_encoder, rounding);
  const VectorCall call = check_vectors(rope_encoder, plans.encoding().head_dim, 1, x, positions, y, result, names);
  if (call.elements == 0) return;
  if (pairs(plans.encoding()) == 0)
    return x.dtype == y.dtype ? carry(plans.encoding(), pass, x, y) : carry_and_round(plans.encoding(), pass, x, y);
  const RopeScaling& scaling = plans.encoding().rope_scaling;
  const bool alike = length_scope(scaling) == LengthScope::call || call.length <= *length_limit(scaling);
  if (alike || x.batch == 1) return turn_at_length(plans, call.length, pass, x, positions, y, rounding);
  for (std::int64_t row = 0; row < x.batch; ++row) {
    const auto of_row = positions.subspan(static_cast<std::size_t>(row * x.tokens), static_cast<std::size_t>(x.tokens));
    turn_at_length(plans, std::ranges::max(of_row) + 1, pass, batch_row(x, row), of_row, batch_row(y, row), rounding);
  }
}

Tensor turned(const RopePlans& plans, const RopePass& pass, const Tensor& x, std::span<const std::int64_t> positions,
              Rounding rounding, const VectorNames& names) {
  check_heads(rope_encoder, names.x, x, plans.encoding().head_dim);
  Tensor y = Tensor::zeros(x.dtype, x.shape);
  turn(plans, pass, heads_of(x), positions, heads_of(y), rounding, ResultDtype::that_of_x, names);
  return y;
}

}  // namespace

RopeEncoder::RopeEncoder(const Rope& encoding) : plans_(std::make_shared<const RopePlans>(encoding)) {}

const Rope& RopeEncoder::encoding() const { return plans_->encoding(); }

void RopeEncoder::apply(const ConstHeads& x, std::span<const std::int64_t> positions, const Heads& y,
                        Rounding rounding) const {
  turn(*plans_, forward_pass(encoding()), x, positions, y, rounding, ResultDtype::any_floating, {});
}

void RopeEncoder::apply(const Heads& x, std::span<const std::int64_t> positions, Rounding rounding) const {
  turn(*plans_, forward_pass(encoding()), read_only(x), positions, x, rounding, ResultDtype::that_of_x, names_in_place);
}

void RopeEncoder::backward(const ConstHeads& grad, std::span<const std::int64_t> positions, const Heads& grad_x,
                           Rounding rounding) const {
  turn(*plans_, backward_pass(encoding()), grad, positions, grad_x, rounding, ResultDtype::that_of_x,
       names_of_gradients);
}

void RopeEncoder::tables(std::span<const std::int64_t> positions, const Rows& cos, const Rows& sin) const {
  const std::int64_t length = check_tables(rope_encoder, pairs(encoding()), positions, cos, sin);
  std::optional<RopePlan> own;
  const TableJob job(PairTurns(plans_->for_length(length, own)), positions, cos, sin);
  share(cos.rows, cos.rows * cos.width * 2,
        [&](std::int64_t first, std::int64_t last) { write_rotation_rows(job, first, last); });
}

Tensor RopeEncoder::rotate(const Tensor& x, std::span<const std::int64_t> positions, Rounding rounding) const {
  return turned(*plans_, forward_pass(encoding()), x, positions, rounding, {});
}

Tensor RopeEncoder::backward(const Tensor& grad, std::span<const std::int64_t> positions, Rounding rounding) const {
  return turned(*plans_, backward_pass(encoding()), grad, positions, rounding, names_of_gradients);
}

}  // namespace sextant
