#include <fmt/format.h>

#include <filesystem>

#include "subjects/kind.hpp"
#include "subjects/python.hpp"
#include "subjects/regular_file.hpp"

namespace sextant {

/// A model in ONNX, run by onnxruntime in a Python worker. A session is an interpreter: onnxruntime starts threads when
/// it is imported, which a fork would not take along.
SubjectKind onnx_kind() {
  return {"onnx", "onnx:MODEL.onnx",
          [](const std::string& name, const std::string& model, const Spec& spec, const OpenOptions& options) {
            const std::filesystem::path file = model.substr(0, model.find('#'));
            if (const std::string why = why_no_file(file); !why.empty())
              throw SubjectNameError(fmt::format("onnx:{}: {}", file.string(), why));
            const std::filesystem::path command = std::filesystem::read_symlink("/proc/self/exe");
            const std::vector<std::string> arguments{model, to_json(spec), command.string()};
            return worker_subject(name, adapter_command("sextant_onnx.py", arguments, options.python),
                                  while_doing(options.limits, "loading the model"));
          }};
}

}  // namespace sextant
