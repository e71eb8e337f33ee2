#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/asked_attention.hpp"
#include "properties/identify/attention/attention_calls.hpp"
#include "properties/identify/attention/kinds_of_calls.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// In which calls a difference shows that explains one of a kind: others differ from it in what its sentence leaves
/// open, numbers of tokens, queries, keys and batch rows. Calls that a subject refuses tell nothing.
class Conditions {
 public:
  /// @param claim, other  outlive it
  Conditions(Session& session, const Spec& claim, const OtherAttention& other)
      : session_(session), claim_(claim), other_(other) {}

  /// Whether what it says of padding is not so where that holds other keys and values, what it says of steps not over
  /// many keys, or what it says of batch rows not of more rows, whose positions, ends and vectors all differ.
  bool is_refuted(AskedAs call) const;

  /// Whether it is so of other vectors too, and, of some batch rows, of other numbers of them.
  bool is_confirmed(AskedAs call) const;

  /// Whether it is not so of a long call, which is not as claimed either, nor, another claim, of large scores. Of words
  /// of one length alone: false.
  bool is_refuted_by_other_calls() const;

  /// The end of the sentence on a call, empty where other calls show the same. @param usual  the usual call, of another
  /// one; null where there is none
  std::string of(AskedAs call, const AttentionCase& request, const AskedCase* usual) const;

 private:
  static constexpr std::int64_t all_heads = std::numeric_limits<std::int64_t>::max();

  bool names(std::string_view kind) const { return other_.words.find(kind) != std::string::npos; }
  bool is_usual(const AskedCase* usual) const;
  std::optional<OtherAttention> made_for(const AttentionCase& request) const;
  Shows shown(std::optional<AttentionCase> request, std::int64_t heads = all_heads) const;
  bool is_usable_in_steps(AskedAs call) const;
  bool is_as_claimed(AttentionCase request, std::int64_t heads) const;
  Shows shown_by(std::int64_t tokens, std::int64_t rows) const;
  Shows shown_by_step(std::int64_t keys, std::int64_t queries, std::int64_t heads) const;
  std::string of_whole(const AttentionCase& request) const;
  std::string of_more_tokens() const;
  std::string of_more_rows() const;
  std::string of_more_rows_of_steps(const AttentionCase& request) const;
  std::string of_batches() const;
  std::string of_batches_of_steps(std::int64_t queries) const;
  bool is_of_one_side_alone(const AttentionCase& request) const;
  bool is_of_both_sides(const AttentionCase& request) const;
  std::string side_of_padding(const KindOfCall& own) const;
  std::string of_few_tokens(std::int64_t tokens) const;
  std::string of_padding(const AttentionCase& request) const;
  std::string of_padded_rows() const;
  std::string of_kinds(AskedAs call) const;
  std::string of_long_steps(std::int64_t queries, const std::string& kinds) const;

  Session& session_;
  const Spec& claim_;
  const OtherAttention& other_;
};

}  // namespace sextant::identify
