#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/engine/case.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// One call of the operation that an encoding has, whatever it is, as a few integers: encode for codes, rotate for
/// rotations, bias for biases, attend for attention. Extents that an operation lacks are ignored.
struct Question {
  std::int64_t position;  ///< of the first token; the others follow one by one, wrapping round at the claim's end
  std::int64_t tokens;
  std::int64_t batch;
  std::int64_t heads;
  std::int64_t fill;  ///< which vectors (gen/values.hpp)
};

/// Asks it. @throws what operations.hpp says.
Tensor ask(Session& session, const Spec& spec, const Question& question);

/// Whether two answers are the same bit for bit: the same NaN, the same sign of zero.
bool same_bits(const Tensor& a, const Tensor& b);

/// Where two answers of one shape differ first, "element 17: 0.25 (0x1p-2), then 0.5 (0x1p-1)"; nothing if nowhere.
std::optional<std::string> first_difference(const Tensor& a, const Tensor& b);

/// Where positions of a spec may lie on every axis: the claim, cut to the extents of a grid.
std::int64_t last_position_of(const Spec& spec);

}  // namespace sextant
