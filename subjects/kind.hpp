#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "subjects/subject.hpp"
#include "subjects/table_order.hpp"
#include "subjects/worker.hpp"

namespace sextant {

/// What else a subject's name needs to be opened.
struct OpenOptions {
  WorkerLimits limits;
  std::optional<std::string> python;
  int judges = 1;                           ///< how many threads ask at once
  const TableOrder* table_order = nullptr;  ///< of a recorded rotary table; null: as the file says or shows
};

/// A kind of subject: how it is named on the command line, and how it is opened.
struct SubjectKind {
  std::string_view
      prefix;  ///< "python": what stands before the colon of a name, or the whole name of a kind without one
  std::string_view usage;  ///< "python:FILE.py": for help texts and messages
  /// Opens the subject `name`, "python:a.py"; `rest`, "a.py", is what stands behind the colon: empty for a kind whose
  /// usage has no colon, else not. @throws SubjectNameError, naming what was expected.
  std::unique_ptr<Subject> (*open)(const std::string& name, const std::string& rest, const Spec& spec,
                                   const OpenOptions& options);
};

/// The one list of kinds that users audit, in the order of help texts: a new kind is its own file and a line there.
std::span<const SubjectKind> subject_kinds();

/// "builtin, python:FILE.py or file:TABLE.npy": the usage of each.
std::string usage_of(std::span<const SubjectKind> kinds);

/// The subject called `name`, of one of `kinds`; @throws SubjectNameError if it is of none, naming those of
/// subject_kinds(), or whatever the kind's `open` throws.
std::unique_ptr<Subject> open_subject(std::span<const SubjectKind> kinds, const std::string& name, const Spec& spec,
                                      const OpenOptions& options);

}  // namespace sextant
