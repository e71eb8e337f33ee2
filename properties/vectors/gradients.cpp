#include "properties/vectors/gradients.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "lib/spec/of.hpp"
#include "lib/spec/operation.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/attention_gradient.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/table_gradient.hpp"
#include "properties/vectors/vector.hpp"
#include "subjects/operations.hpp"

namespace sextant::vectors {
namespace {

// What a rotation's gradient does not depend on.
Tensor other_values(const Tensor& grad) { return patterned(grad.dtype, grad.shape, 100); }

Operation operation_of(const EncodingModel& model) { return signature_of(model.spec().encoding).operation; }

// A weight that rows are taken from; fourier's is multiplied.
bool has_table(const Spec& spec) { return held<Learned>(spec) || held<RelativeBias>(spec) || held<WindowBias>(spec); }

TableGradient table_gradient_of(const Spec& spec, const Call& call) {
  const Tensor& grad = call.vectors[0];
  if (const auto* learned = held<Learned>(spec))
    return table_gradient(spec, *learned, *call.weight, call.positions, grad);
  if (const auto* buckets = held<RelativeBias>(spec))
    return table_gradient(spec, *buckets, *call.weight, call.query_positions, call.positions, grad);
  if (const auto* window = held<WindowBias>(spec))
    return table_gradient(spec, *window, *call.weight, call.query_positions, call.positions, grad);
  throw std::logic_error("no table has a gradient here");
}

class TableGradientJudge final : public Judge {
 public:
  explicit TableGradientJudge(const Spec& spec) : spec_(spec) {}
  Judgement values(const Call& call, const Tensor& answer) override {
    return judge_table_gradient(spec_, table_gradient_of(spec_, call), answer);
  }
  Judgement agreement(const Parts&, const Tensor&, const Tensor&) override {
    throw std::logic_error("gradients of parts are not compared");
  }

 private:
  Spec spec_;
};

// Elements from `first` on, of another shape.
Tensor part_of(const Tensor& answer, std::int64_t first, const std::vector<std::int64_t>& shape) {
  Tensor part = Tensor::zeros(answer.dtype, shape);
  const auto width = static_cast<std::ptrdiff_t>(size_of(answer.dtype));
  std::copy_n(answer.data.begin() + first * width, part.data.size(), part.data.begin());
  return part;
}

// Every group of heads of every batch row. The truths of the last call are kept.
class AttentionGradientJudge final : public Judge {
 public:
  explicit AttentionGradientJudge(const Spec& spec) : spec_(spec), oracle_(spec) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    compute(call);
    const std::vector<std::int64_t>& shape = call.vectors[0].shape;
    const std::vector<std::int64_t>& kv_shape = call.vectors[1].shape;
    const Tensor q = part_of(answer, 0, shape);
    const Tensor k = part_of(answer, q.elements(), kv_shape);
    const Tensor v = part_of(answer, q.elements() + k.elements(), kv_shape);
    const std::int64_t heads_of_group = shape[1] / kv_shape[1];
    Judgement judgement;
    for (std::int64_t group = 0; group < std::ssize(truths_); ++group) {
      const GroupGradients& truth = truths_[static_cast<std::size_t>(group)];
      judge_gradient(judgement, {"dq", q, group * heads_of_group * shape[2], truth.q});
      judge_gradient(judgement, {"dk", k, group * shape[2], truth.k});
      judge_gradient(judgement, {"dv", v, group * shape[2], truth.v});
    }
    return judgement;
  }

  Judgement agreement(const Parts&, const Tensor&, const Tensor&) override {
    throw std::logic_error("gradients of parts are not compared");
  }

 private:
  void compute(const Call& call) {
    const bool is_same =
        std::ranges::equal(call.vectors, vectors_, {}, &Tensor::data, &Tensor::data) && call.positions == positions_;
    if (is_same) return;
    const AttentionCase request = attention_case(call);
    truths_.clear();
    for (std::int64_t batch = 0; batch < request.batch; ++batch) {
      for (std::int64_t kv = 0; kv < request.k.shape[1]; ++kv)
        truths_.push_back(gradients_of_group(spec_, oracle_, request, call.vectors[3], batch, kv));
    }
    vectors_ = call.vectors;
    positions_ = call.positions;
  }

  Spec spec_;
  AttentionOracle oracle_;
  std::vector<Tensor> vectors_;
  std::vector<std::int64_t> positions_;
  std::vector<GroupGradients> truths_;  // batch row by batch row
};

}  // namespace

bool has_gradient(const EncodingModel& model) {
  const Spec& spec = model.spec();
  switch (operation_of(model)) {
    case Operation::rotate: return model.gradient_judge() != nullptr;
    case Operation::encode:
    case Operation::bias: return has_table(spec);
    case Operation::attend:
      // Evaluated in 16 bits, no bound on its weights says anything (docs/proofs/attention-gradient.md).
      return !model.not_judged() && spec.evaluation != Evaluation::dtype &&
             spec.evaluation != Evaluation::dtype_accumulate;
    default: return false;
  }
}

Call with_gradient(const EncodingModel& model, Call call, std::int64_t tokens) {
  const Dtype dtype = model.spec().dtype;
  if (operation_of(model) == Operation::attend) call.vectors.push_back(call.vectors[0]);
  if (operation_of(model) == Operation::encode) {
    for (std::size_t i = 0; std::ssize(call.positions) < tokens; ++i) call.positions.push_back(call.positions[i]);
    call.vectors = {Tensor::zeros(dtype, {std::ssize(call.positions), call.weight->shape[1]})};
  }
  if (operation_of(model) == Operation::bias)
    call.vectors = {
        Tensor::zeros(dtype, {call.weight->shape[1], std::ssize(call.query_positions), std::ssize(call.positions)})};
  return call;
}

Tensor gradient(Session& session, const EncodingModel& model, const Call& call) {
  const Spec& spec = model.spec();
  const Tensor& grad = call.vectors.back();
  if (operation_of(model) == Operation::rotate)
    return rotate_backward(session, spec, other_values(grad), call.positions, grad);
  if (operation_of(model) != Operation::attend) {
    TableGradient asked = table_gradient_of(spec, call);
    return backward(session, spec, asked.of, std::move(asked.inputs), grad);
  }
  const AttentionCase request = attention_case(call);
  AttendGradients parts = backward(session, spec, request_of(request), grad);
  Tensor joined = Tensor::zeros(spec.dtype, {parts.q.elements() + parts.k.elements() + parts.v.elements()});
  auto end = joined.data.begin();
  for (const Tensor* part : {&parts.q, &parts.k, &parts.v}) end = std::ranges::copy(part->data, end).out;
  return joined;
}

std::unique_ptr<Judge> gradient_judge_of(const EncodingModel& model) {
  if (operation_of(model) == Operation::rotate) return model.gradient_judge();
  if (operation_of(model) == Operation::attend) return std::make_unique<AttentionGradientJudge>(model.spec());
  return std::make_unique<TableGradientJudge>(model.spec());
}

}  // namespace sextant::vectors
