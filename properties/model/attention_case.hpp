#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/call.hpp"
#include "properties/model/question.hpp"
#include "subjects/operations.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// What attention is asked about: q [batch, heads, queries, head_dim], k and v [batch, heads, tokens, head_dim]. In a
/// whole call queries and keys are the same tokens. In a step the queries are the last tokens of each row's sequence,
/// and the keys those of all of it.
struct AttentionCase {
  Tensor q;
  Tensor k;
  Tensor v;
  std::vector<std::int64_t> positions;  ///< of the keys, [batch, tokens]; [axes, batch, tokens] with rope_nd
  std::optional<Tensor> weight;         ///< of a relative bias
  std::int64_t batch;
  std::int64_t tokens;                             ///< keys of each batch row
  std::optional<Tensor> sinks = {};                ///< [heads], of attention with sinks
  std::vector<std::int64_t> query_positions = {};  ///< of a step, [batch, queries] or [axes, batch, queries]
  std::vector<std::int64_t> starts = {};           ///< of each batch row: keys before are padding; empty where none are
  std::vector<std::int64_t> ends = {};             ///< likewise: keys from there on

  std::int64_t queries() const { return q.shape[2]; }
  bool is_step() const { return !query_positions.empty(); }

  /// The keys of a batch row that are no padding.
  KeyRange sequence(std::int64_t row) const;
  /// The index among the keys that the token of a query has.
  std::int64_t token_of(std::int64_t row, std::int64_t query) const;
  /// The keys that a query sees; none for one of padding.
  KeyRange seen_by(const Attention& encoding, std::int64_t row, std::int64_t query) const;
  /// Whether the key comes as a cache keeps it, turned.
  bool is_cached(const Attention& encoding, std::int64_t row, std::int64_t key) const;
  /// reference::row_lengths of all positions, keys' and queries'.
  std::vector<std::int64_t> lengths(LengthScope scope) const;
  /// The position of a query on the first axis.
  std::int64_t query_position(std::int64_t row, std::int64_t query) const;
};

/// The most tokens that a whole call of attention has, and a step: twice a window of 8192 and some.
inline constexpr std::int64_t longest_attention = 4096;
inline constexpr std::int64_t longest_cache = 16400;

/// The most scores of a call, num_heads tokens^2: code that keeps them all takes some times as many floats.
inline constexpr double most_scores = 0x1p26;

/// How many tokens one batch row may have for a call to take at most `work` products of queries and keys,
/// num_heads tokens^2 head_dim, and most_scores: at least 1, at most longest_attention.
std::int64_t longest_tokens(const Attention& encoding, double work);

/// Products of calls that accuracy asks once, of the longest of a law, and of those that are drawn again and again.
inline constexpr double work_of_once = 0x1p32;
inline constexpr double work_of_longest = 0x1p29;
inline constexpr double work_of_drawn = 0x1p26;

/// The case of a question: at most longest_cache tokens and most_rows batch rows, positions rising in each row.
AttentionCase attention_case(const Spec& spec, const Question& question);

/// Where a query or a key stands. @param lengths  the request's
VectorPlace place_of(const AttentionCase& request, std::int64_t batch, std::int64_t token, Role role,
                     std::span<const std::int64_t> lengths);

/// As a call, and back.
Call call_of(AttentionCase request, std::int64_t fill);
AttentionCase attention_case(const Call& call);

/// As the protocol's request, which refers to it.
AttendRequest request_of(const AttentionCase& request);

/// Asks it.
Tensor attend(Session& session, const Spec& spec, const AttentionCase& request);

// Parts of whole calls without padding.

/// The first `tokens` tokens of every batch row.
AttentionCase first_tokens(const AttentionCase& request, std::int64_t tokens);
/// One batch row.
AttentionCase batch_row(const AttentionCase& request, std::int64_t batch);
/// `count` of them from `first` on.
AttentionCase batch_rows(const AttentionCase& request, std::int64_t first, std::int64_t count);
/// The tokens order[0], order[1], ... of every batch row, each with its position.
AttentionCase in_order(const AttentionCase& request, const std::vector<std::int64_t>& order);

/// The step whose queries are the last `queries` tokens of every batch row's sequence.
AttentionCase last_of(const AttentionCase& request, std::int64_t queries);

/// Where a batch row has padding.
enum class PaddedSide : std::int64_t { left, right, both };
inline constexpr std::int64_t padded_sides = 3;

/// The same call with padding in most of its rows, as `fill` draws it, at least `kept` tokens of each being left: keys
/// and values there are what `value` says, all of them, and positions are the first of the row that is no padding's.
AttentionCase with_padding(AttentionCase request, PaddedSide side, std::int64_t kept, std::int64_t fill, double value);

}  // namespace sextant
