#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "properties/model/budget.hpp"
#include "reference/code_distances.hpp"
#include "reference/recipe.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// Which value of a pair.
enum class Component { sine, cosine };

/// A pair's values at one position: (sin, cos) of a sinusoid, of a unit vector for rope.
struct PairValues {
  double sin;
  double cos;

  double value(Component component) const { return component == Component::sine ? sin : cos; }
};

using Rows = std::vector<std::vector<PairValues>>;  // [positions][pairs]

/// An encoding whose answers are pairs a (sin, cos) of one angle w_i p each: what is asked, and what is true. It keeps
/// what its oracle has computed, so an object belongs to one thread.
class EncodedPairs {
 public:
  virtual ~EncodedPairs() = default;

  virtual std::int64_t count() const = 0;

  /// Which way pairs turn as positions grow: 1, or -1 for clockwise.
  virtual double orientation() const { return 1; }

  // What the subject answers.

  virtual Rows ask(Session& session, const std::vector<std::int64_t>& positions) const = 0;

  /// What vectors x are turned to, of each pair (x.cos, x.sin) to (y.cos, y.sin), at each position; nothing of codes,
  /// which turn none.
  virtual std::optional<Rows> ask_turned(Session&, const std::vector<std::int64_t>&,
                                         const std::vector<PairValues>&) const {
    return std::nullopt;
  }

  /// What a recipe gives for the same question; nothing where none is known.
  virtual std::optional<Rows> emulate(const reference::Recipe& recipe,
                                      const std::vector<std::int64_t>& positions) const = 0;

  /// The list of frequencies of a recipe in calls of `length`; nothing where none is known or the recipe has no list.
  virtual std::optional<std::vector<double>> recipe_radians(const reference::Recipe& recipe,
                                                            std::int64_t length) const = 0;

  // What is true.

  /// a: how long the pairs are, in the longest calls.
  virtual reference::Enclosure radius(reference::Precision precision) = 0;

  /// The angle of a pair at a position, of the longest calls.
  virtual reference::Enclosure angle(std::int64_t position, std::int64_t pair, reference::Precision precision) = 0;

  /// The rotation over `step` positions, of the longest calls.
  virtual reference::Rotation advance(std::int64_t step, std::int64_t pair, reference::Precision precision) = 0;

  /// What frequencies are multiplied by: the position, with an offset, and the sign that turns clockwise.
  virtual std::int64_t place(std::int64_t position) const = 0;

  /// w_i, positive, in radians per position, in a call of `length`.
  virtual std::vector<double> frequencies(std::int64_t length) = 0;

  /// All pairs at one position, by the fast tier.
  struct Truth {
    std::vector<reference::DoubleDoubleWithin> sin;  // times a
    std::vector<reference::DoubleDoubleWithin> cos;
    std::vector<double> angle;

    const reference::DoubleDoubleWithin& value(std::size_t pair, Component component) const {
      return (component == Component::sine ? sin : cos)[pair];
    }
  };

  /// How far apart the codes of the claim are, of pairs of length 1, in the longest calls.
  reference::CodeDistances distances(std::int64_t most_offset, std::size_t aliases);

  /// [positions], in a call of `length`.
  std::vector<Truth> truth(const std::vector<std::int64_t>& positions, std::int64_t length);

  // How far off an answer may be.

  /// That of the spec, but of the class given.
  virtual ErrorBudget budget(AccuracyClass accuracy) const = 0;

  /// What `allowed` leaves one value of a pair of length `size`.
  virtual double bound(const ErrorBudget& allowed, const Truth& at, std::size_t pair, Component component,
                       double size) const = 0;

  /// The ULP that errors are told in: the pair's norm's for a rotation, the value's own for a code.
  virtual double unit(double truth, double size) const = 0;

 private:
  virtual reference::FastRotations fast(std::int64_t length) = 0;
  virtual reference::DoubleDoubleWithin factor(std::int64_t length) = 0;  // a, and a scale's sign
};

}  // namespace sextant
