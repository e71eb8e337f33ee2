#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// What attention is given: dense tensors of one floating dtype.
struct AttentionInputs {
  const Tensor& q;  ///< [batch, num_heads, n, head_dim]
  const Tensor& k;  ///< [batch, num_kv_heads, m, head_dim]
  const Tensor& v;  ///< as k
  /// Of the keys, [batch, m] row-major, [axes, batch, m] for rope_nd; may be empty where no encoding acts on q, k or
  /// the scores.
  std::span<const std::int64_t> positions;
  const Tensor* weight = nullptr;  ///< relative_bias's [num_buckets, num_heads], of any floating dtype; else null
  const Tensor* sinks = nullptr;   ///< [num_heads], of any floating dtype, where the encoding has sinks; else null

  /// Of a step, which has the last n tokens of each sequence as queries: their positions, [batch, n] or [axes, batch,
  /// n]. Empty in a whole call, whose n is m and whose queries stand where the keys do.
  std::span<const std::int64_t> query_positions = {};
  /// [batch]: the keys of a row's sequence are those from starts on, and before ends; the others are padding, which no
  /// query sees. Empty where none are. The queries of a step are the last n tokens before ends.
  std::span<const std::int64_t> starts = {};
  std::span<const std::int64_t> ends = {};
};

/// What the error of attention is measured by, as real numbers.
struct AttentionMagnitudes {
  double score;  ///< at least sum_i |q_i k_i| scale for each query and key that it sees, the query's own scale included
  double bias;   ///< at least |bias|, and |sink| of each head
  double value;  ///< at least |v|
};

/// A bound of |computed - true| for each element of attention over n keys in arithmetic of `dtype`, float32 for the
/// 16-bit ones, where no score overflows; attention.cpp derives it. In short: value (e^(2A) - 1), A near u (n +
/// (head_dim + 10) score + 6 bias + 12 min(score, logit_softcap)), the last where there is a softcap, 8 u score
/// (by log_n 11) more where queries are scaled by their positions, u = 2^-24 or 2^-53; then one rounding to the dtype.
double attention_error(const Attention& encoding, std::int64_t n, Dtype dtype, const AttentionMagnitudes& magnitudes);

/// Gradients by q, k and v, of their shapes and dtype.
struct AttentionGradients {
  Tensor q;
  Tensor k;
  Tensor v;
};

class Turning;

/// Scaled dot-product attention, Vaswani et al. 2017, section 3.2.1, as lib/spec/attention.hpp states it: multi-head,
/// grouped-query, causal or not, with any position encoding. Const: one object may serve any number of threads.
class DotProductAttention {
 public:
  /// @throws SpecError if `encoding` is outside its domain.
  explicit DotProductAttention(const Attention& encoding);
  ~DotProductAttention();
  DotProductAttention(DotProductAttention&&) noexcept;
  DotProductAttention& operator=(DotProductAttention&&) noexcept;

  /// The result into `out`, of q's shape and dtype, dense, at any alignment; put there last, so that it may be memory
  /// of the inputs. Within attention_error of the true value; float16 and bfloat16 are computed in float32, with one
  /// rounding at the end. The same bits on any number of threads of one machine; another instruction set may give
  /// others. NaN and infinity in a query stay in its token; in a key or a value they reach every token that sees it. A
  /// query of padding has zeros. Memory beyond `out`: linear in the inputs. Rules that depend on the length of a call
  /// take the greatest position of its keys and queries + 1.
  /// @throws std::invalid_argument if shapes, dtypes, positions or weight do not fit each other or the spec;
  /// std::out_of_range for a position beyond +-2^53 where the encoding takes positions.
  void attend(const AttentionInputs& inputs, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor attend(const AttentionInputs& inputs) const;

  /// The gradients of sum_i grad_i attend(inputs)_i by q, k and v, through the position encoding where it turns them;
  /// each is computed in double and rounded to the dtype once. `grad` has the shape and dtype of q. A relative bias's
  /// weight and sinks are held fixed. The same bits on any number of threads. @throws as attend does, and
  /// std::invalid_argument for a step or padding.
  AttentionGradients backward(const AttentionInputs& inputs, const Tensor& grad) const;

 private:
  Attention encoding_;
  std::unique_ptr<const Turning> turning_;  // null where the position rotates neither q nor k
};

}  // namespace sextant
