#pragma once

#include <memory>
#include <optional>
#include <string>

#include "subjects/subject.hpp"
#include "subjects/worker.hpp"

namespace sextant {

/// What else a subject's name needs to be opened.
struct OpenOptions {
  WorkerLimits limits;
  std::optional<std::string> python;
};

/// The subject of a command-line name: `builtin`, `python:file.py`, `exec:command line`, `file:table.npy`.
/// @throws SubjectNameError, naming what was expected.
std::unique_ptr<Subject> open_subject(const std::string& name, const Spec& spec, const OpenOptions& options);

}  // namespace sextant
