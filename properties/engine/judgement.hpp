#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "lib/numeric/dtype.hpp"
#include "properties/verdict/verdict.hpp"
#include "reference/enclosure.hpp"

namespace sextant {

/// What a property finds in one case: whether the claim holds in all of it, and where it came nearest to failing.
struct Judgement {
  reference::Certainty within = reference::Certainty::yes;
  Deviation deviation;
  std::string finding;
  /// One line that the case tells of the subject whatever the verdict; may be empty. A result has that of its first
  /// case that tells something.
  std::string remark;
  /// Of a property that theory says the encoding lacks: whether even a right implementation may be within the bound
  /// here, so that nothing follows from its being so.
  bool may_hide = false;
  /// Where bounds may be so wide that any answer would meet them: how many comparisons could fail, and how many not.
  std::int64_t informative = 0;
  std::int64_t uninformative = 0;

  /// The position that comparisons are about until it is said anew: a case of it alone shows what they show. Nothing
  /// where they are about no single one.
  std::optional<std::int64_t> place;
  /// The coordinate that comparisons depend on until it is said anew, of a position of several axes, or where two calls
  /// are compared, which no case of one position does: a horizon lies below a wrong one, wherever the other axes are.
  /// Nothing where that is the place itself.
  std::optional<std::int64_t> coordinate;
  std::optional<std::int64_t> least_violated;    ///< the least place of a violation
  std::optional<std::int64_t> least_coordinate;  ///< the least coordinate of a violation, or place where it has none
  std::optional<std::int64_t> worst_place;       ///< the place of `deviation`
  std::int64_t left_out = 0;                     ///< values that were not judged, since their dtype cannot hold them

  /// Whether a violation is known at `position` or before, and at the coordinate or before: one more there is told of
  /// only if it is worse.
  bool is_later(std::int64_t position) const {
    return least_violated && *least_violated <= position && *least_coordinate <= coordinate.value_or(position);
  }

  /// Takes in a comparison that has no tolerance: `difference` says what is not as it must be, nothing that all is.
  /// `agreement()` says so in words.
  template <class Describe>
  void add_exact(const std::optional<std::string>& difference, Describe agreement) {
    const Deviation found = difference ? Deviation{std::numeric_limits<double>::infinity(), 0, 0} : Deviation{};
    add(difference ? reference::Certainty::no : reference::Certainty::yes, found,
        [&] { return difference ? *difference : std::string(agreement()); });
  }

  /// Takes in one more comparison of the case. `describe()` is called only if it is the worst so far.
  template <class Describe>
  void add(reference::Certainty element, const Deviation& element_deviation, Describe describe) {
    if (takes_as_worst(element, element_deviation)) finding = describe();
  }

 private:
  bool takes_as_worst(reference::Certainty element, const Deviation& element_deviation);
};

/// The deviation of an error from its bound, both as enclosures; `unit` is one ULP of the true value.
Deviation deviation_of(const reference::Enclosure& error, const reference::Enclosure& bound, double unit);

/// What is left of a deviation when the value is NaN or infinite.
Deviation not_finite();

/// "got inf, which is not finite": of a value whose truth is a number. The sign of a NaN tells nothing and is left out.
std::string not_finite_text(double value);

/// "0.84147096 (0x1.aed548p-1)": a value of the dtype with as many digits as tell it from its neighbours.
std::string value_text(Dtype dtype, double value);

/// "got V, true value T, error E = U ULP (C conditioned), R times the bound"; C where it is another number.
std::string comparison_text(Dtype dtype, double value, double truth, const Deviation& deviation);

}  // namespace sextant
