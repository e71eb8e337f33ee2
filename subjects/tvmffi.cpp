#include <fmt/format.h>

#include <filesystem>

#include "subjects/kind.hpp"
#include "subjects/python.hpp"
#include "subjects/regular_file.hpp"

namespace sextant {

/// A function of a library that has the ABI of TVM FFI, called by the package tvm_ffi in a Python worker. A session is
/// an interpreter, so that what the library keeps is new in each.
SubjectKind tvmffi_kind() {
  return {"tvmffi", "tvmffi:LIBRARY.so:NAME",
          [](const std::string& name, const std::string& rest, const Spec& spec, const OpenOptions& options) {
            const std::string called = rest.substr(0, rest.find(','));
            const auto colon = called.rfind(':');
            if (colon == std::string::npos || colon + 1 == called.size())
              throw SubjectNameError(fmt::format("{}: names no function: expected tvmffi:LIBRARY.so:NAME", name));
            const std::filesystem::path library = called.substr(0, colon);
            if (const std::string why = why_no_file(library); !why.empty())
              throw SubjectNameError(fmt::format("tvmffi:{}: {}", library.string(), why));
            const std::string operation(name_of(signature_of(spec.encoding).operation));
            const std::vector<std::string> arguments{library.string(), rest.substr(colon + 1), operation};
            return worker_subject(name, adapter_command("sextant_tvmffi.py", arguments, options.python),
                                  while_doing(options.limits, "loading the library"));
          }};
}

}  // namespace sextant
