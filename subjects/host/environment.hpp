#pragma once

#include <optional>
#include <string>

namespace sextant::host {

/// Looks at this thread's floating-point environment after a call that began in the default one, at all that controls
/// arithmetic and not at what exceptions were raised: "left flush-to-zero on", "left the rounding mode at downward";
/// nothing where it is as it was. Restores it.
std::optional<std::string> changed_environment();

}  // namespace sextant::host
