#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "subjects/subject.hpp"

namespace sextant {

// The protocol's operations with typed arguments. Each checks that the reply has the tensor, shape and dtype that the
// spec demands, so that a property can index it freely. All throw what Session::call throws, SubjectFailure of kind
// `protocol` for a reply of another form, and std::invalid_argument for arguments that do not fit the spec, which are
// not sent.

// Positions are counts of the encoding's steps (PositionGrid): where its spec has real positions, the subject is given
// count * step in their dtype, exactly.

/// The counts of the positions that a subject was given. @throws SubjectFailure of kind `error` for one that is no
/// multiple of the step, or a tensor of another dtype.
std::vector<std::int64_t> counts_of(const Tensor& positions, const PositionGrid& grid);

/// The rows of the encoding at `positions`, [n] or, with several axes, [axes, n] row-major: [n, dim] of the spec's
/// dtype. For integer, binary, sinusoidal, sinusoidal_2d and sinusoidal_nd.
Tensor encode(Session& session, const Spec& spec, std::span<const std::int64_t> positions);

/// The same for learned, with its table `weight`, [max_positions, dim] of the spec's dtype.
Tensor encode(Session& session, const Spec& spec, std::span<const std::int64_t> positions, const Tensor& weight);

/// The rows of a rotary table at `positions`, [n]: [n, 2 pairs] of the spec's dtype, the cosines of all pairs and then
/// their sines, in whichever order the subject has them (table_order.hpp); [n, 4 pairs] where it has each value twice:
/// the first of each in the first half, the others in the second.
Tensor table(Session& session, const Spec& spec, std::span<const std::int64_t> positions);

/// `x`, [batch, n, heads, head_dim] of the spec's dtype, turned by `positions`, [batch, n] row-major, [axes, batch, n]
/// for rope_nd. For rope, rope_nd and xpos.
Tensor rotate(Session& session, const Spec& spec, const Tensor& x, std::span<const std::int64_t> positions);

/// What qk_norm_rope is asked about, tensors of the spec's dtype.
struct QkNormRopeRequest {
  const Tensor& q;                          ///< [batch, n, heads, head_dim]
  const Tensor& k;                          ///< [batch, n, kv_heads, head_dim]
  const Tensor& q_weight;                   ///< [head_dim], of the queries' norm
  const Tensor& k_weight;                   ///< likewise of the keys'
  std::span<const std::int64_t> positions;  ///< [batch, n] row-major
};

/// Queries and keys normalized and turned, of q's and k's shapes.
struct QueriesAndKeys {
  Tensor q;
  Tensor k;
};
QueriesAndKeys qk_norm_rope(Session& session, const Spec& spec, const QkNormRopeRequest& request);

/// What alibi adds to the scores: [num_heads, queries, keys] of the spec's dtype.
Tensor bias(Session& session, const Spec& spec, std::span<const std::int64_t> query_positions,
            std::span<const std::int64_t> key_positions);

/// What relative_bias adds, with its `weight`, [num_buckets, heads] of the spec's dtype: [heads, queries, keys].
Tensor bias(Session& session, const Spec& spec, std::span<const std::int64_t> query_positions,
            std::span<const std::int64_t> key_positions, const Tensor& weight);

/// relative_bias's bucket of each key - query.
std::vector<std::int64_t> bucket(Session& session, const Spec& spec, std::span<const std::int64_t> relative);

/// What attention is asked about, tensors of the spec's dtype.
struct AttendRequest {
  const Tensor& q;  ///< [batch, num_heads, n, head_dim]
  const Tensor& k;  ///< [batch, num_kv_heads, m, head_dim]
  const Tensor& v;  ///< as k
  /// Of the keys: [batch, m] row-major, [axes, batch, m] with a position encoding of several axes.
  std::span<const std::int64_t> positions;
  const Tensor* weight = nullptr;  ///< for the position encodings that have one
  const Tensor* sinks = nullptr;   ///< [num_heads], where the spec has sinks
  /// Of a step, whose queries are the last n tokens of each sequence; empty in a whole call, where n is m.
  std::span<const std::int64_t> query_positions = {};
  std::span<const std::int64_t> starts = {};  ///< [batch]: keys before are padding; empty where none are
  std::span<const std::int64_t> ends = {};    ///< [batch]: keys from there on are padding; likewise
};

/// Attention's result, of q's shape.
Tensor attend(Session& session, const Spec& spec, const AttendRequest& request);

/// The gradient of operation `of` ("encode", "rotate", "bias"): `inputs` are that operation's by their protocol names,
/// `grad` has the shape of its result. It is the gradient by weight where the inputs have one, else by x.
Tensor backward(Session& session, const Spec& spec, std::string_view of, Tensors inputs, const Tensor& grad);

/// That of rotate by x, which is of x's shape: arguments as rotate has them, and `grad` of its result's shape.
Tensor rotate_backward(Session& session, const Spec& spec, const Tensor& x, std::span<const std::int64_t> positions,
                       const Tensor& grad);

/// The gradients of attend by q, k and v, of their shapes; `grad` has that of its result.
struct AttendGradients {
  Tensor q;
  Tensor k;
  Tensor v;
};
AttendGradients backward(Session& session, const Spec& spec, const AttendRequest& request, const Tensor& grad);

/// Asks the subject to forget what it has cached. A subject without caches need not have the operation.
void reset(Session& session);

}  // namespace sextant
