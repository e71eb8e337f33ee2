#include "subjects/kind.hpp"

namespace sextant {

/// Any program that speaks the worker protocol, started by the shell.
SubjectKind exec_kind() {
  return {"exec", "exec:COMMAND",
          [](const std::string& name, const std::string& command, const Spec&, const OpenOptions& options) {
            return worker_subject(name, Command{{"/bin/sh", "-c", command}},
                                  while_doing(options.limits, "starting the command"));
          }};
}

}  // namespace sextant
