#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lib/spec/rope.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/model.hpp"
#include "properties/model/row_agreement.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/value_judge.hpp"
#include "reference/fast_rotations.hpp"
#include "reference/rope.hpp"

namespace sextant {

/// Whether vector number `vector` of a tensor is that before it, bit for bit: where a token's vectors are alike in two
/// heads, so must be the answers, and whatever is true of one is true of both.
inline bool is_repeated(const Tensor& tensor, std::int64_t vector, std::int64_t head_dim) {
  const std::size_t bytes = static_cast<std::size_t>(head_dim) * size_of(tensor.dtype);
  const std::byte* here = tensor.data.data() + static_cast<std::size_t>(vector) * bytes;
  return std::memcmp(here, here - bytes, bytes) == 0;
}

/// All pairs of one vector where they stand, as the fast tier knows them.
struct PairsAt {
  const reference::RotationRow* rotations = nullptr;        ///< by |w_i p|, counterclockwise for p > 0
  std::span<const reference::DoubleDoubleWithin> scales{};  ///< what the turned pairs are multiplied by
  std::vector<double> angles;                               ///< w_i p, within 2^-48 of themselves
  /// What a pair may be off by since its scale is, beside what ErrorBudget::component_bound says: r_i times its norm,
  /// r_i within 2^-48 of itself, and t times the length of what is turned. Empty and 0 where scales are exact.
  std::vector<double> scale_errors{};
  double least_scale_error = 0;
  /// Pairs whose scale or norm is not below are not judged.
  double limit = std::numeric_limits<double>::infinity();
};

/// Judges rotations: pairs of channels that turn, `head` saying which, and may be scaled, and channels that keep what
/// they have.
class RotationJudge : public Judge {
 public:
  Judgement values(const Call& call, const Tensor& answer) final;
  Judgement agreement(const Parts& calls, const Tensor& whole, const Tensor& part) final;

  /// From now on values() judges the transposed rotations, R(p)* g of a call's vectors g: by the opposite angle, from
  /// the output's channels to the input's, scaled alike. Their errors have the same bounds, since it is as many
  /// products and sums of the same sines and cosines.
  void transpose();

 protected:
  RotationJudge(const Rope& head, const ErrorBudget& budget);

  const Rope& head() const { return head_; }
  std::int64_t pairs_count() const { return pairs_; }
  const ErrorBudget& budget() const { return budget_; }

  /// What a pair of one vector must be.
  struct Expected {
    reference::RealPair value;
    reference::Enclosure bound;  ///< on each component
    bool representable = true;   ///< whether the dtype can hold it: else it is not judged
  };

 private:
  /// Calls visit(token, pairs) for each token of the call in order, all that expected() may be asked of then.
  virtual void each_token(const Call& call, const std::function<void(std::size_t, const PairsAt&)>& visit) = 0;

  /// Which of a position's coordinates turns a pair.
  virtual std::int64_t coordinate(std::span<const std::int64_t> place, std::int64_t) const { return place.front(); }

  /// The exact tier, `x` what is rotated. @param place  one of the call of the last each_token.
  virtual Expected expected(std::span<const std::int64_t> place, std::int64_t pair, const reference::RealPair& x,
                            reference::Precision precision) = 0;

  /// The bound on a pair's error and the pair's norm, `x` what is rotated.
  virtual Allowance allowance(std::span<const std::int64_t> place, std::int64_t pair, const reference::RealPair& x,
                              reference::Precision precision) = 0;

  /// At most that bound, for a pair of that length before it is turned: 0 where only the exact tier knows it. The
  /// length is within 2^-50 of itself.
  virtual double least_bound(std::span<const std::int64_t> place, std::int64_t pair, double length) = 0;

  /// Whether the dtype can hold the pair. What it cannot hold may differ from call to call.
  virtual bool is_representable(std::span<const std::int64_t>, std::int64_t, const reference::RealPair&) {
    return true;
  }

  // A vector of a call and its answer.
  struct Vector {
    const Tensor& x;
    const Tensor& y;
    std::int64_t start;                   // in both
    std::span<const std::int64_t> place;  // the coordinates of its position
  };

  // The channels of a pair, before and after.
  struct TurnedChannels {
    std::size_t from_first;
    std::size_t from_second;
    std::size_t to_first;
    std::size_t to_second;
  };

  template <class Real>
  void judge_vector(Judgement& judgement, const Vector& vector, const PairsAt& pairs);
  template <class Real>
  bool passes(const Screen& screen, const PairsAt& pairs, std::size_t pair) const;
  void judge_pair_of(Judgement& judgement, const Vector& vector, const PairsAt& pairs, std::int64_t pair);
  /// Whether `got` is what a channel that no pair turns should be.
  bool passed(double given, double got) const;
  void judge_untouched(Judgement& judgement, const Vector& vector, const Passthrough& channel) const;
  std::string text_of(const Vector& vector) const;

  double turn() const { return (head_.direction == Direction::clockwise) != is_transposed_ ? -1 : 1; }
  reference::RealPair pair_of(const Tensor& x, std::int64_t start, std::int64_t pair,
                              reference::Precision precision) const;

  Rope head_;
  std::int64_t pairs_;
  std::vector<Passthrough> passthrough_;
  std::vector<TurnedChannels> turned_;
  ErrorBudget budget_;
  ValueJudge judge_;
  bool is_transposed_ = false;
  std::vector<double> x_;  // one vector's
  std::vector<double> y_;
};

}  // namespace sextant
