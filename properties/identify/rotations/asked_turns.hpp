#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/model.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What a rotation turns single vectors of pairs to, of rope, of rope_nd at equal coordinates on every axis, and of
/// qk_norm_rope, whose weights are the vectors where every channel of a head is 1: its norm is then 1 but for epsilon.
class AskedTurns {
 public:
  AskedTurns(Session& session, const Spec& spec);

  /// Whether the spec is one of them: no normalized coordinates, no weight_offset.
  bool is_known() const { return is_known_; }
  std::int64_t count() const { return static_cast<std::int64_t>(radians_.size()); }
  gen::PositionRange range() const { return model_->range(); }

  /// The vectors (cos, sin) of pairs turned, at each position; each pair to (cos, sin) likewise.
  /// @throws SubjectFailure, Interrupted.
  Rows turned(const std::vector<std::int64_t>& positions, const std::vector<PairValues>& vectors);

  /// Whether every head had the same answer in all calls so far, and calls of one token those of several: one in five
  /// calls is asked of its first token alone too.
  bool are_alike() const { return are_alike_; }

  /// The angle of a pair at a position, with its sign, and what cosine and sine are multiplied by.
  double angle(std::int64_t position, std::int64_t pair) const {
    return sense_ * radians_[static_cast<std::size_t>(pair)] * static_cast<double>(position);
  }
  double factor() const { return factor_; }

  /// Of qk_norm_rope, whether normalized heads are rounded to the dtype before the weight multiplies them, as position
  /// 0 shows, which turns nothing; nothing of others, or where answers do not say.
  std::optional<bool> are_heads_rounded();

 private:
  Rows asked(const std::vector<std::int64_t>& positions, const std::vector<PairValues>& vectors);

  Session& session_;
  Spec spec_;
  Rope rope_;
  std::unique_ptr<EncodingModel> model_;
  std::vector<double> radians_;
  double factor_ = 1;
  double sense_ = 1;
  bool is_known_ = true;
  bool are_alike_ = true;
  int calls_ = 0;
};

}  // namespace sextant::identify
