#pragma once

#include <optional>
#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// From which score on values are NaN or infinite, and whether the exponential of scores whose greatest is not
/// subtracted is beyond a format's greatest number there.
struct Overflow {
  std::string words;  ///< "scores above 88.72 overflow: the greatest is not subtracted before the exponential"
  enum class Of { exponential, unknown } of = Of::unknown;
};

/// Told by queries and keys whose products are all one number, on either side of the border, and borne out by calls of
/// several tokens. Nothing where scores of up to some thousands leave values finite, or are limited by a softcap.
/// @throws what attend does.
std::optional<Overflow> overflow_of_scores(Session& session, const Spec& claim);

}  // namespace sextant::identify
