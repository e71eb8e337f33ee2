#include "subjects/python.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "subjects/subject.hpp"

namespace sextant {
namespace {

// Runs `python -c "import numpy"` as a worker that says nothing and ends: success is an exit status of 0.
bool imports_numpy(const std::string& python) {
  try {
    Process probe(Command{{python, "-c", "import numpy"}});
    probe.exchange({}, [](auto) { return false; }, std::chrono::steady_clock::now() + std::chrono::seconds(30), {});
  } catch (const SubjectFailure& failure) {
    return std::string_view(failure.what()) == "ended with exit status 0";
  } catch (const SubjectNameError&) {
    return false;
  }
  return false;
}

std::string find_interpreter(const std::optional<std::string>& python) {
  if (python) return *python;
  if (const char* named = std::getenv("SEXTANT_PYTHON"); named != nullptr && *named != '\0') return named;
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    if (imports_numpy(candidate)) return candidate;
  }
  throw SubjectNameError("no Python that can import NumPy: neither python3 nor /usr/bin/python3; name one with --python");
}

std::filesystem::path find_worker() {
  if (const char* share = std::getenv("SEXTANT_SHARE"); share != nullptr) {
    return std::filesystem::path(share) / "python" / "sextant_worker.py";
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "share" / "sextant" / "python" / "sextant_worker.py";
}

}  // namespace

Command python_command(const std::filesystem::path& file, const std::optional<std::string>& python) {
  if (!std::filesystem::is_regular_file(file)) throw SubjectNameError(fmt::format("python:{}: no such file", file.string()));
  const std::filesystem::path worker = find_worker();
  if (!std::filesystem::is_regular_file(worker)) throw SubjectNameError(fmt::format("{}: the Python worker is missing", worker.string()));
  return {{find_interpreter(python), worker.string(), file.string()}};
}

}  // namespace sextant
