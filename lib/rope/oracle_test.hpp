#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"

namespace sextant {

inline Rope rope_of(const std::string& fields) {
  return std::get<Rope>(parse_spec(R"({"encoding":"rope",)" + fields + "}").encoding);
}

/// The correctly rounded rotation of pairs, by the oracle's exact tier.
class PairOracle {
 public:
  explicit PairOracle(const Rope& encoding) : reference_(encoding) {}

  struct Values {
    double first;
    double second;
  };

  /// a (x0 cos - x1 sin) and a (x0 sin + x1 cos) in a call of `length`, rounded to `dtype`. `position` is negated for
  /// the adjoint.
  Values rotated(Dtype dtype, std::int64_t position, std::int64_t pair, std::int64_t length, double x0, double x1) {
    return {component(
                dtype, position, pair, length, [&](const reference::RealPair& y) { return y.first; }, x0, x1),
            component(
                dtype, position, pair, length, [&](const reference::RealPair& y) { return y.second; }, x0, x1)};
  }

 private:
  template <class Select>
  double component(Dtype dtype, std::int64_t position, std::int64_t pair, std::int64_t length, Select select, double x0,
                   double x1) {
    for (reference::Precision precision = reference::first_precision; precision.bits <= reference::last_precision.bits;
         precision.bits *= 2) {
      const auto exactly = [&](double value) { return reference::Enclosure(value, precision); };
      const reference::RealPair turned = reference::RopeReference::rotate(
          reference_.rotation(position, pair, length, precision), {exactly(x0), exactly(x1)});
      const reference::Enclosure truth = reference_.attention_factor(length, precision) * select(turned);
      const auto value = reference::correctly_rounded(dtype, truth);
      // Zeros of both signs count as one real there: here the sign is asked for too.
      if (!value) continue;
      if (*value != 0) return *value;
      if (truth.lower() == 0 && truth.upper() == 0) return 0;
      if (certainly_above(truth, exactly(0))) return 0;
      if (certainly_above(exactly(0), truth)) return -0.0;
    }
    throw std::runtime_error("the oracle does not decide");
  }

  reference::RopeReference reference_;
};

}  // namespace sextant
