#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/attention_quick.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What a query of a head is to come to, and by how much each channel may be off.
struct RightRow {
  AttentionPlaceOfHead place;
  std::vector<double> values;
  std::vector<double> bounds;

  bool is_met_by(const std::vector<double>& got) const;
  bool is_met_by(const std::vector<double>& got, std::size_t channel) const;
  /// The sum over all channels.
  double off(const std::vector<double>& got) const;
};

/// The rows of one answer of attention, each held against right values of a claim or of one that differs in one thing.
class AskedCase {
 public:
  /// @throws what attend does. @param claim  outlives it
  AskedCase(Session& session, const Spec& claim, AttentionCase request, std::int64_t most_heads);

  const AttentionCase& request() const { return request_; }
  const std::vector<AttentionPlaceOfHead>& places() const { return places_; }

  /// Of queries that see a key.
  std::vector<AttentionPlaceOfHead> wrong() const;

  /// How far the places' answers are off together, where each is within its bounds.
  std::optional<double> off_of(const OtherAttention& other, const std::vector<AttentionPlaceOfHead>& places) const;
  double off_of_claim(const std::vector<AttentionPlaceOfHead>& places) const;

  /// What was answered there, [head_dim].
  std::vector<double> answer(const AttentionPlaceOfHead& place) const;
  /// What the claim has, of every place, or of some.
  std::vector<RightRow> right_rows() const { return right_rows(places_); }
  std::vector<RightRow> right_rows(const std::vector<AttentionPlaceOfHead>& places) const;

  bool has_infinities() const;
  /// Whether values are of a narrower format, and as near to the right ones as its rounding leaves them.
  bool is_rounded_to(Dtype format) const;
  /// The greatest size of a value, where several have it.
  std::optional<double> often_greatest() const;

 private:
  /// The same of one that applies everywhere.
  std::optional<double> off_of_all(const OtherAttention& other, const std::vector<AttentionPlaceOfHead>& places) const;
  /// Whether a query that sees no key by another attention has what the claim has there, which it could not know.
  bool has_claimed_where_none_is_seen(const OtherAttention& other,
                                      const std::vector<AttentionPlaceOfHead>& places) const;

  using Take = std::function<bool(const RightRow& right, const std::vector<double>& got)>;
  /// Which rows are taken: all, or those that the least bound there is does not show to be right, at half the cost.
  enum class Rows { all, doubtful };
  void each(const OtherAttention& other, const std::vector<AttentionPlaceOfHead>& places, const Take& take,
            std::optional<Dtype> rounded = std::nullopt, Rows rows = Rows::all) const;

  const Spec& claim_;
  AttentionCase request_;
  Tensor answer_;
  std::vector<AttentionPlaceOfHead> places_;
};

/// That which every place meets. Bounds of 16 bits admit much that is no answer: it is also several times nearer than
/// the claim's, and of those that are, the nearest, or an earlier one that is about as near. Null where none is.
const OtherAttention* explaining(const AskedCase& asked, const std::vector<OtherAttention>& others,
                                 const std::vector<AttentionPlaceOfHead>& places);

}  // namespace sextant::identify
