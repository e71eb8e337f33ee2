#pragma once

#include <string>
#include <utility>

#include "subjects/subject.hpp"

namespace sextant {

/// Thrown where a subject says itself that it cannot be asked: its file cannot be imported, or defines no operation.
/// In its first session this ends the audit, as an absent file does; in a later one it counts as that session's crash.
class SubjectUnusable : public SubjectFailure {
 public:
  explicit SubjectUnusable(const std::string& message, FailureTrace trace = {})
      : SubjectFailure(FailureKind::crashed, message, std::move(trace)) {}
};

}  // namespace sextant
