#pragma once

#include <string>

#include "subjects/subject.hpp"

namespace sextant {

/// A subject that cannot be asked anything, by its own word: a file that cannot be imported, or defines no operation.
/// An audit ends there, as with a file that is absent; one that had begun, and meets it in a later session, takes it
/// for the crash of that session.
class SubjectUnusable : public SubjectFailure {
 public:
  explicit SubjectUnusable(const std::string& message) : SubjectFailure(FailureKind::crashed, message) {}
};

}  // namespace sextant
