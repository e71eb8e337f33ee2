#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "reports/report.hpp"
#include "reports/terminal.hpp"

namespace sextant {

/// One of several claims that are audited one after the other.
struct NamedSpec {
  std::string name;
  std::string spec;  ///< JSON
};

/// The audit of every claim. `audit_one` is called with each and returns its report, written where it belongs. Prints a
/// line for each, in full and in colour where it has failed, and what they come to: "3 of 4 encodings hold", `what`
/// being "encodings". Returns the worst exit status: a violation before a failed subject before nothing decided. A
/// claim that nothing selected applies to counts only if that is so of all.
int audit_each(std::span<const NamedSpec> claims, std::string_view what, Colour colour,
               const std::function<Report(const NamedSpec& claim)>& audit_one);

}  // namespace sextant
