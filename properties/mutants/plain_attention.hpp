#pragma once

#include <cstdint>

#include "lib/numeric/dtype.hpp"
#include "subjects/function.hpp"

namespace sextant::mutants {

/// Attention as kernels and frameworks compute it, rounded where they round. Queries and keys that rope turns are
/// rounded to the spec's dtype once. It has no position but rope, or none.
struct PlainAttention {
  enum class Scaled { score, query };
  enum class Divided { sum, weight };

  Dtype operations = Dtype::float32;  ///< scores, their scale, differences, exponentials, quotients
  Dtype weights = Dtype::float32;     ///< as they are multiplied by values
  Dtype sums = Dtype::float32;
  Dtype table = Dtype::float32;               ///< of rope's cosines and sines
  Scaled scaled = Scaled::score;              ///< what 1/sqrt(d) multiplies
  Divided divided = Divided::sum;             ///< whether each weight is divided by the sum of them, or the result
  std::int64_t tile = std::int64_t{1} << 40;  ///< keys that are read at once, the running maximum carried on
  std::int64_t parts = 1;              ///< that the keys are split into, each with a maximum and a sum of its own
  Dtype query_scale = Dtype::float32;  ///< that a query's own scale is rounded to, before it multiplies
  bool powers_of_two = false;          ///< whether the exponential is 2^(s log2 e)

  FunctionSubject::Call call(const Spec& spec) const;
};

}  // namespace sextant::mutants
