#pragma once

#include <cstdint>
#include <span>

#include "subjects/subject.hpp"

namespace sextant {

// The protocol's operations with typed arguments. Each checks that the reply has the tensor, shape and dtype that the
// spec demands, so that a property can index it freely. All throw what Session::call throws, and SubjectFailure of kind
// `protocol` for a reply of another form.

/// The rows of the encoding at `positions`: [positions.size(), dim] of the spec's dtype.
Tensor encode(Session& session, const Spec& spec, std::span<const std::int64_t> positions);

/// `x`, [batch, n, heads, head_dim] of the spec's dtype, turned by `positions`, [batch, n] row-major.
Tensor rotate(Session& session, const Spec& spec, const Tensor& x, std::span<const std::int64_t> positions);

}  // namespace sextant
