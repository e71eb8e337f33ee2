#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// From which score on values are NaN or infinite: "scores above 88.72 overflow: the greatest is not subtracted before
/// the exponential". Told by queries and keys whose products are all one number, on either side of the border, and
/// borne out by calls of several tokens. Empty where scores of up to some thousands leave values finite, or are limited
/// by a softcap. @throws what attend does.
std::string overflow_words(Session& session, const Spec& claim);

}  // namespace sextant::identify
