#pragma once

#include <memory>
#include <string>
#include <vector>

#include "subjects/kind.hpp"

namespace sextant {

/// The subject of that name: of one of subjects/kind.hpp's kinds, or Sextant's own `mutant:NAME` and `recipe:NAME`
/// (properties/mutants/). @throws SubjectNameError
std::unique_ptr<Subject> subject_from_argument(const std::string& name, const Spec& spec, const OpenOptions& options);

/// "builtin, ... or recipe:NAME": the kinds of subject in a help text.
std::string subject_usage();

/// "builtin", "python:", ...: what names of each kind begin with, those of one name whole.
std::vector<std::string> subject_beginnings();

/// @throws UsageError of an option that says nothing of a subject of its kind: the interpreter of one that has none
/// (--python), the order of a table (--table-order) of one that is no file. Empty ones are not given.
void refuse_unused_options(const std::string& subject, const std::string& python, const std::string& table_order);

}  // namespace sextant
