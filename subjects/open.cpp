#include "subjects/open.hpp"

#include <fmt/format.h>

#include "subjects/builtin.hpp"
#include "subjects/python.hpp"
#include "subjects/recorded.hpp"

namespace sextant {

std::unique_ptr<Subject> open_subject(const std::string& name, const Spec& spec, const OpenOptions& options) {
  if (name == "builtin") return builtin_subject();
  const auto colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : name.substr(colon + 1);
  if (!rest.empty() && kind == "python")
    return worker_subject(name, python_command(rest, options.python), options.limits, SessionStart::fork);
  if (!rest.empty() && kind == "exec") return worker_subject(name, Command{{"/bin/sh", "-c", rest}}, options.limits);
  if (!rest.empty() && kind == "file") return recorded_subject(name, rest, spec);
  throw SubjectNameError(
      fmt::format("subject \"{}\": expected builtin, python:FILE.py, exec:COMMAND or file:TABLE.npy", name));
}

}  // namespace sextant
