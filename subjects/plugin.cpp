#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "subjects/kind.hpp"
#include "subjects/regular_file.hpp"

namespace sextant {
namespace {

// The program that loads a library and calls it (host/main.cpp): ../libexec/sextant/sextant-plugin-host as seen from
// this one, or $SEXTANT_LIBEXEC/sextant-plugin-host.
std::filesystem::path find_host() {
  constexpr const char* name = "sextant-plugin-host";
  if (const char* folder = std::getenv("SEXTANT_LIBEXEC"); folder != nullptr)
    return std::filesystem::path(folder) / name;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "libexec" / "sextant" / name;
}

Command plugin_command(const std::filesystem::path& library) {
  if (const std::string why = why_no_file(library); !why.empty())
    throw SubjectNameError(fmt::format("plugin:{}: {}", library.string(), why));
  const std::filesystem::path host = find_host();
  if (!std::filesystem::is_regular_file(host))
    throw SubjectNameError(fmt::format("{}: the host of plugins is missing", host.string()));
  return {{host.string(), std::filesystem::absolute(library).string()}};
}

}  // namespace

/// A shared object that exports the table of c/sextant_subject.h, loaded by a process of its own.
SubjectKind plugin_kind() {
  return {"plugin", "plugin:LIBRARY.so",
          [](const std::string& name, const std::string& library, const Spec&, const OpenOptions& options) {
            return worker_subject(name, plugin_command(library), while_doing(options.limits, "loading the library"));
          }};
}

}  // namespace sextant
