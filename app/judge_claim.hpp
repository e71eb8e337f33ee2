#pragma once

#include <stop_token>

#include "app/audit_arguments.hpp"
#include "reports/report.hpp"

namespace sextant {

/// The audit of one claim, its files written where --report or --resume says, which is prepared. `arguments` name the
/// claim as the report's command line shall. @throws Interrupted on a stop request; UsageError, SubjectNameError,
/// TokenError, ReadError and WriteError for what cannot be taken.
Report judge_claim(AuditArguments arguments, const Spec& claimed, const std::stop_token& stop);

}  // namespace sextant
