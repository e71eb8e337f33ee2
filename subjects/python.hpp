#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "subjects/process.hpp"

namespace sextant {

/// The command that serves the Python subject file `file` (docs/protocol.md).
///
/// The interpreter is `python` where given, else $SEXTANT_PYTHON, else the first of python3 and /usr/bin/python3 that
/// can import NumPy; the worker is ../share/sextant/python/sextant_worker.py as seen from this program, or
/// $SEXTANT_SHARE/python/sextant_worker.py.
/// @throws SubjectNameError if the file, the interpreter or the worker is not there.
Command python_command(const std::filesystem::path& file, const std::optional<std::string>& python);

/// The same of a file that lies beside the worker, given these arguments as its sys.argv[1:].
Command adapter_command(const std::string& file, const std::vector<std::string>& arguments,
                        const std::optional<std::string>& python);

/// The command that serves an object which the interpreter can import: `name` is MODULE:OBJECT, and the ways of calling
/// it behind commas (docs/python.md). A function answers the operation of the claim's encoding.
/// @throws SubjectNameError if the interpreter or the worker is not there.
Command python_object_command(const std::string& name, const Spec& claim, const std::optional<std::string>& python);

}  // namespace sextant
