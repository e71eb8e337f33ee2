#include "app/environment.hpp"

#include <fmt/format.h>
#include <mpfr.h>
#include <sys/utsname.h>

#include <fstream>

namespace sextant {
namespace {

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> environment() {
  utsname system{};
  uname(&system);
  return {{"system", fmt::format("{} {}", system.sysname, system.machine)},
          {"processor", processor()},
#ifdef __clang__
          {"compiler", fmt::format("clang {}", __clang_version__)},
#else
          {"compiler", fmt::format("gcc {}", __VERSION__)},
#endif
          {"mpfr", mpfr_get_version()}};
}

}  // namespace sextant
