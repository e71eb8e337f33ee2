#pragma once

#include <functional>
#include <string>

#include "reports/report.hpp"

namespace sextant {

/// The audit of every encoding against its example (encoding_examples). `audit_one` is called with each encoding's name
/// and spec in JSON and returns its report, written where it belongs. Prints a line for each, in full where it has
/// failed, and what they come to. Returns the worst exit status: a violation before a failed subject before nothing
/// decided. An encoding that nothing selected applies to counts only if that is so of all.
int audit_encodings(const std::function<Report(const std::string& encoding, const std::string& spec)>& audit_one);

}  // namespace sextant
