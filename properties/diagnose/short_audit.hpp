#pragma once

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

struct ShortAudit {
  bool holds = false;
  double of_bound = 0;  ///< the worst value against its bound
};

/// A few cases of `accuracy` of the subject under a claim, and the calls of asked_once_more.hpp.
ShortAudit audited(const Subject& subject, const Spec& claim);

/// The same, where the subject is opened under `asked` and judged by `claim`: what one that obeys its spec, and does
/// something else besides, came to when it was asked.
ShortAudit audited_as_asked(const Subject& subject, const Spec& asked, const Spec& claim);

}  // namespace sextant::identify
