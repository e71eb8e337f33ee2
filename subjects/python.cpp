#include "subjects/python.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <regex>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "subjects/kind.hpp"
#include "subjects/regular_file.hpp"

namespace sextant {
namespace {

// The program that `python` comes down to, past the scripts that version managers put in its place, which cost as much
// again at each start; nothing if it cannot import NumPy. It speaks when it is spoken to, as Process wants it.
std::optional<std::string> with_numpy(const std::string& python) {
  std::string executable;
  const auto read = [&](std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) executable += static_cast<char>(byte);
    return executable.ends_with('\n');
  };
  try {
    Process probe(Command{{python, "-c", "import numpy, sys; sys.stdin.readline(); print(sys.executable)"}});
    constexpr std::array question{std::byte{'\n'}};
    probe.exchange(question, read, std::chrono::steady_clock::now() + std::chrono::seconds(30), {});
  } catch (const SubjectFailure&) {
    return std::nullopt;
  } catch (const SubjectNameError&) {
    return std::nullopt;
  }
  executable.pop_back();
  return executable.empty() ? python : executable;
}

bool may_be_run(const std::filesystem::path& path) {
  std::error_code error;
  return !std::filesystem::is_directory(path, error) && access(path.c_str(), X_OK) == 0;
}

// Whether a shell would find a program of this name.
bool is_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return may_be_run(name);
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (may_be_run(std::filesystem::path(folder.empty() ? "." : folder) / name)) return true;
  }
  return false;
}

std::string find_interpreter(const std::optional<std::string>& python) {
  const auto named_by = [](std::string_view option, const std::string& name) {
    if (is_program(name)) return name;
    std::error_code error;
    throw SubjectNameError(
        fmt::format("{} {}: {}", option, name,
                    std::filesystem::is_directory(name, error) ? "a directory, not a program" : "no such program"));
  };
  if (python) return named_by("--python", *python);
  if (const char* named = std::getenv("SEXTANT_PYTHON"); named != nullptr && *named != '\0')
    return named_by("SEXTANT_PYTHON", named);
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    if (const auto program = with_numpy(candidate)) return *program;
  }
  throw SubjectNameError(
      "no Python that can import NumPy: neither python3 nor /usr/bin/python3; name one with --python");
}

std::filesystem::path find_worker() {
  if (const char* share = std::getenv("SEXTANT_SHARE"); share != nullptr) {
    return std::filesystem::path(share) / "python" / "sextant_worker.py";
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "share" / "sextant" / "python" / "sextant_worker.py";
}

std::filesystem::path there(std::filesystem::path part_of_ours) {
  if (!std::filesystem::is_regular_file(part_of_ours))
    throw SubjectNameError(
        fmt::format("{}: this part of the Python worker is missing; it stands in "
                    "share/sextant beside the bin folder of an installation or a build, or where "
                    "SEXTANT_SHARE says",
                    part_of_ours.string()));
  return part_of_ours;
}

// The interpreter and the worker that it runs.
Command worker_command(const std::optional<std::string>& python) {
  return {{find_interpreter(python), there(find_worker()).string()}};
}

// "package.module:function" and what may stand behind a comma; a file may have any name that is not this.
bool names_object(const std::string& text) {
  static const std::regex pattern(R"([A-Za-z_][\w.]*:[A-Za-z_][\w.]*(,.*)?)");
  return std::regex_match(text, pattern);
}

}  // namespace

Command python_command(const std::filesystem::path& file, const std::optional<std::string>& python) {
  if (const std::string why = why_no_file(file); !why.empty())
    throw SubjectNameError(fmt::format("python:{}: {}", file.string(), why));
  Command command = worker_command(python);
  command.argv.push_back(file.string());
  return command;
}

Command adapter_command(const std::string& file, const std::vector<std::string>& arguments,
                        const std::optional<std::string>& python) {
  Command command = worker_command(python);
  command.argv.push_back(there(find_worker().parent_path() / file).string());
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  return command;
}

Command python_object_command(const std::string& name, const Spec& claim, const std::optional<std::string>& python) {
  Command command = worker_command(python);
  const std::string operation(name_of(signature_of(claim.encoding).operation));
  command.argv.insert(command.argv.end(), {"--object", name, "--operation", operation, "--claim", to_json(claim)});
  return command;
}

/// A Python file, or an object that an interpreter can import, served by our worker.
SubjectKind python_kind() {
  return {"python", "python:FILE.py|MODULE:OBJECT[,layout=AXES]",
          [](const std::string& name, const std::string& rest, const Spec& spec, const OpenOptions& options) {
            const bool is_object = names_object(rest) && !std::filesystem::exists(rest);
            Command command =
                is_object ? python_object_command(rest, spec, options.python) : python_command(rest, options.python);
            WorkerLimits limits = while_doing(
                options.limits, fmt::format("importing {}", is_object ? rest.substr(0, rest.find(':')) : rest));
            limits.beginning.earlier_fix = [python = command.argv.front()] {
              return with_numpy(python)
                         ? std::string()
                         : fmt::format("name by --python a Python that imports NumPy: {} does not", python);
            };
            return worker_subject(name, std::move(command), std::move(limits), SessionStart::fork);
          }};
}

}  // namespace sextant
