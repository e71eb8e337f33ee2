#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/rope.hpp"
#include "lib/spec/xpos.hpp"
#include "properties/model/biases.hpp"
#include "reference/double_double_within.hpp"
#include "reference/enclosure.hpp"

// What an encoding of position does within attention, as attention's oracle sees it: its model gives one of these, or
// neither. An object belongs to one thread.

namespace sextant {

/// Where a vector stands: the coordinates of its position, the length of its call, its side of the score.
struct VectorPlace {
  std::vector<std::int64_t> coordinates;
  std::int64_t length;
  Role role;
};

/// A pair of channels after its rotation.
struct TurnedPair {
  reference::RealPair value;
  reference::Enclosure norm;
  reference::Enclosure bound;  ///< on the Euclidean length of an implementation's error
};

/// Bounds on parts of that error.
struct PairBounds {
  /// On the whole of it, for an implementation by frequencies of its own (ErrorBudget::of_own_frequencies).
  reference::Enclosure own;
  /// On what is no linear map of the pair that is turned: evaluation and rounding. Whatever angle and scale an
  /// implementation has at a position, every pair there is turned by them.
  reference::Enclosure evaluation;
  /// On the error of the norm, which no error of the angle touches.
  reference::Enclosure norm;
};

/// TurnedPair from the fast tier, whatever the pair: (x0, x1) becomes (x0 cosine - x1 sine, x0 sine + x1 cosine).
struct QuickTurn {
  long double cosine;  ///< times the scale; within 2^-60 of it
  long double sine;    ///< likewise
  double scale;        ///< norm after by norm before, within 2^-30
  // The bound on an implementation's error, of a pair of length l before its rotation and norm N after it:
  // ulps ulp(N) + relative N + absolute l.
  double ulps;
  double relative;
  double absolute;
};

/// The size of a scale.
inline long double stretch_of(const reference::DoubleDoubleWithin& scale) {
  return std::fabs(static_cast<long double>(scale.high) + static_cast<long double>(scale.low));
}

/// What a judgement says that has compared nothing, since all scales are beyond the dtype.
inline constexpr const char* no_pair_held = "no pair whose scale the dtype can represent";

/// How vectors are turned by their positions: those of `rotate`, queries and keys.
class TurningOracle {
 public:
  explicit TurningOracle(Rope head) : head_(std::move(head)) {}
  virtual ~TurningOracle() = default;

  /// The channels that turn together, and where they go.
  const Rope& head() const { return head_; }

  /// The side of the score that vectors of `rotate` are on.
  virtual Role role() const { return Role::query; }

  /// Which of a position's coordinates turns a pair.
  virtual std::int64_t coordinate(const VectorPlace& place, std::int64_t) const { return place.coordinates.front(); }

  /// Pair number `pair` of a vector, `x` what is turned.
  virtual TurnedPair turned(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                            reference::Precision precision) = 0;
  virtual PairBounds bounds(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                            reference::Precision precision) = 0;

  /// Whether the dtype can certainly hold a pair of that length. Beyond, infinities and their differences are as right
  /// as anything.
  virtual bool is_representable(const VectorPlace&, std::int64_t, double) { return true; }

  /// c, where turning by one position and then by another is c times turning by their sum.
  virtual reference::Enclosure of_two_turns(reference::Precision precision) { return {1.0, precision}; }

  /// What the length of a pair is multiplied by, within 2^-60 of itself where doubles hold it.
  virtual long double stretch(const VectorPlace& place, std::int64_t pair) = 0;

  /// Doubles not above TurnedPair::bound, PairBounds::evaluation and PairBounds::norm of a pair of that length, and
  /// near them where doubles can tell: else 0.
  virtual double least_bound(const VectorPlace& place, std::int64_t pair, double length) = 0;
  virtual double least_evaluation(const VectorPlace& place, std::int64_t pair, double length) = 0;
  virtual double least_norm_bound(const VectorPlace& place, std::int64_t pair, double length) {
    return least_evaluation(place, pair, length);
  }

  /// Every pair's rotation, and bounds that are at most 2^-38 above those.
  virtual void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) = 0;

 private:
  Rope head_;
};

/// What is added to a score: a value, and how many roundings it takes to form it in floating point, none for one that
/// is looked up.
struct ScoreTerm {
  reference::Enclosure value;
  double roundings;
};

/// The same from the fast tier.
struct QuickScoreTerm {
  long double value;
  double error;  ///< the true value is no further from it
  double roundings;
};

/// What positions add to scores.
class ScoreBiasOracle {
 public:
  virtual ~ScoreBiasOracle() = default;

  /// `weight` as signature_of(encoding).weight has it, null where there is none.
  virtual ScoreTerm at(const BiasPlace& place, const Tensor* weight, reference::Precision precision) = 0;

  /// Unless there is a faster way, from that.
  virtual QuickScoreTerm quickly(const BiasPlace& place, const Tensor* weight);
};

}  // namespace sextant
