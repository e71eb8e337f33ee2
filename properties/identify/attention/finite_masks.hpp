#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Whether masked scores are a finite number, or have one added: "masked scores are -10000, not minus infinity". Told
/// by a first token whose own score is far below 0, and whose mask hides the second. Empty where masked keys have no
/// weight beside such scores, where nothing is masked, or of claims whose scores are limited or have sinks. @throws
/// what attend does.
std::string finite_mask_words(Session& session, const Spec& claim);

/// From which distance on ALiBi's biases of which heads are not the claimed ones: "in head 0 biases of keys more than
/// 512 before the query are doubled". Each is held against a product that makes up for it. Empty of other claims.
/// @throws likewise.
std::string far_bias_words(Session& session, const Spec& claim);

}  // namespace sextant::identify
