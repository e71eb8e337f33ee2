#pragma once

#include <cstdint>
#include <optional>

#include "lib/spec/entry.hpp"
#include "lib/spec/position_encoding.hpp"

namespace sextant {

/// How the keys of tokens before those of the queries come, in a call of fewer queries than keys.
enum class CachedKeys {
  plain,   ///< as all others: `position` is yet to turn them
  rotated  ///< as a cache keeps what was turned: a score takes them as they are
};

/// What the query at p is multiplied by, with n = p + offset:
///   log_of_periods  1 + amount ln(1 + floor(n / period)). Llama 4 has it in its layers without rotation, with offset 1
///                   (its release; Nakanishi 2025, arXiv 2501.19399, tells why), Ministral 3 and Mistral 4 in all
///                   layers, with offset 0 and the length of the pretraining (llama_4_scaling_beta)
///   log_n           max(1, ln n / ln length), 1 where n is 0: the logarithm to base `length` of how many tokens a
///                   causal query sees. Qwen 1 has it in all layers, with offset 1 (use_logn_attn; Chiang and Cholak
///                   2022, arXiv 2202.12172, tell why)
enum class QueryScaleRule { log_of_periods, log_n };

/// Queries scaled by their positions, keys and values not. Scores gain the factor before a softcap, whether or not a
/// position turns the query, which comes first.
struct QueryScale {
  double amount = 0;        ///< of log_of_periods
  std::int64_t period = 0;  ///< likewise
  std::int64_t offset = 0;
  QueryScaleRule rule = QueryScaleRule::log_of_periods;
  std::int64_t length = 0;  ///< of log_n, from 2
};

/// Vaswani et al. 2017, section 3.2.1: out = softmax(cap(q k^T scale) + bias) v for each head, with grouped key and
/// value heads (Ainslie et al. 2023): query head h reads kv_head(h). Under `causal` the token at index t of the
/// sequence sees the tokens at indices 0 .. t; a window hides those that are `window` and more away from it (Mistral
/// 7B, arXiv 2310.06825, section 2: window tokens, itself among them).
///
/// cap(s) = c tanh(s / c), c the logit_softcap (Gemma 2, arXiv 2408.00118, section 2); s without one. With sinks the
/// sum that softmax divides by has e^sink besides, sink a number of the head's own, an input (gpt-oss; Xiao et al.
/// 2023, arXiv 2309.17453, section 3.2).
///
/// `position` acts on what attention is given: rope, rope_nd and xpos rotate q and k (xpos each in its role), alibi and
/// relative_bias give the bias. The other encodings are added to the embeddings before q, k and v are projected from
/// them, so that attention over q, k and v is the same as without.
struct Attention {
  std::int64_t num_heads = 0;
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;
  bool causal = false;
  std::optional<PositionEncoding> position;
  std::optional<std::int64_t> window = std::nullopt;   ///< nothing: all that `causal` shows
  std::optional<double> softmax_scale = std::nullopt;  ///< nothing: 1 / sqrt(head_dim)
  std::optional<double> logit_softcap = std::nullopt;  ///< nothing: scores are as they are
  bool sinks = false;
  CachedKeys cached_keys = CachedKeys::plain;
  std::optional<QueryScale> query_scale = std::nullopt;  ///< nothing: queries are as they are

  static const EncodingEntry<Attention> entry;
};

/// Whether the position acts on what attention is given; false without one, and where rope_type none turns nothing.
bool acts_within(const Attention& encoding);

/// Whether the result looks at positions: those of a position that acts, or that queries are scaled by.
bool sees_positions(const Attention& encoding);

/// Keys by their indices: first <= j < end.
struct KeyRange {
  std::int64_t first;
  std::int64_t end;

  std::int64_t count() const { return end - first; }
  bool contains(std::int64_t key) const { return first <= key && key < end; }
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

/// The keys of a sequence that the query of the token at index `token` of it sees; none is { token, token }.
KeyRange keys_seen(const Attention& encoding, std::int64_t token, const KeyRange& sequence);

/// What products of queries and keys are multiplied by: softmax_scale, or 1 / sqrt(head_dim) with two roundings.
double score_scale(const Attention& encoding);

/// The key and value head of a query head: floor(head / (num_heads / num_kv_heads)).
std::int64_t kv_head(const Attention& encoding, std::int64_t head);

}  // namespace sextant
