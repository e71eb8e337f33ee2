#pragma once

#include <cstdint>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/attention_oracle.hpp"

namespace sextant {

/// A gradient by one vector: its true elements, and what an implementation's may be off by.
struct GradientRow {
  reference::RealVector value;
  std::vector<double> bound;
};

/// Gradients of what the heads of one group read and are: of queries [heads of the group][token], of keys and values
/// [token].
struct GroupGradients {
  std::vector<GradientRow> q;
  std::vector<GradientRow> k;
  std::vector<GradientRow> v;
};

/// The true gradients of attention by q, k and v for the heads that read key and value head `kv` of a batch row, and
/// the bounds on an implementation's (docs/proofs/attention-gradient.md). `grad`, of q's shape, is that of the result.
GroupGradients gradients_of_group(const Spec& spec, AttentionOracle& oracle, const AttentionCase& request,
                                  const Tensor& grad, std::int64_t batch, std::int64_t kv);

/// A gradient that came back, and the rows of it that are judged: `first` and as many as there are truths.
struct JudgedGradient {
  const char* name;
  const Tensor& tensor;
  std::int64_t first;
  const std::vector<GradientRow>& truths;
};

/// Takes in whether each of their elements is within its bound.
void judge_gradient(Judgement& judgement, const JudgedGradient& judged);

}  // namespace sextant
