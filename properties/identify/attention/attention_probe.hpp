#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Attention by its weights: where each key has a value of its own, what comes out are they.
class AttentionProbe {
 public:
  AttentionProbe(Session& session, const Spec& claim, const Attention& encoding)
      : session_(session), claim_(claim), encoding_(encoding) {}

  /// The weights [heads, tokens, tokens] of a sequence of tokens at these positions, head_dim at most, whose queries
  /// and keys are 0: what is added to scores alone tells them apart.
  /// With several batch rows, [rows, heads, tokens, tokens], all have the same positions.
  std::vector<double> weights_of_zeros(const std::vector<std::int64_t>& positions, std::int64_t rows = 1);

  /// How far from a query the first key is that it does not see, in a sequence of so many tokens.
  std::optional<std::int64_t> first_hidden(std::int64_t tokens);

  /// Whether the query of a token sees the key of another one, in a sequence of so many.
  bool sees(std::int64_t query, std::int64_t key, std::int64_t tokens);

  /// Which keys each query sees, [heads, tokens, tokens] of 1 and 0, in a sequence of any number of tokens that all
  /// stand at one position; empty where queries but the first have NaN.
  std::vector<bool> seen_keys(std::int64_t tokens);

  /// Whether the weights of all queries but the first that see a key sum to 1 in such a sequence, each key's value
  /// being 1: those of keys that are not seen do not count in the sum.
  bool sum_to_one(std::int64_t tokens);

  /// Of each query head the key head whose keys it scores, or whose values it reads; -1 where it is none alone.
  std::vector<std::int64_t> key_heads();
  std::vector<std::int64_t> value_heads();

  /// Sequences of two tokens, the first at position 0 or `key_position`: the score that the second's query has with the
  /// first's key, against that with its own key, of 0 where none is given. [head_dim] each.
  struct TwoTokens {
    std::int64_t position = 0;
    std::vector<double> query;
    std::vector<double> key;
    std::int64_t key_position = 0;
    std::vector<double> own_key = {};
  };
  std::vector<double> scores(const std::vector<TwoTokens>& sequences);

  /// What the first head of one token makes of a value [head_dim], which is all that it sees.
  std::vector<double> value_at(std::int64_t position, const std::vector<double>& value);

 private:
  Tensor attended(const Tensor& q, const Tensor& k, const Tensor& v, const std::vector<std::int64_t>& positions);

  Session& session_;
  const Spec& claim_;
  const Attention& encoding_;
};

}  // namespace sextant::identify
