#include "reports/write.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "reports/html.hpp"
#include "reports/json.hpp"
#include "reports/junit.hpp"
#include "reports/markdown.hpp"
#include "reports/sarif.hpp"

namespace sextant {

void write_text_file(const std::string& text, const std::filesystem::path& path) {
  const std::filesystem::path temporary = path.string() + fmt::format(".{}.tmp", getpid());
  std::error_code error;
  errno = 0;
  {
    std::ofstream stream(temporary, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream) error = std::error_code(errno, std::generic_category());
  }
  if (!error) std::filesystem::rename(temporary, path, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw WriteError(fmt::format("{}: cannot be written: {}", path.string(), error.message()));
  }
}

void prepare_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error || !std::filesystem::is_directory(directory)) {
    throw WriteError(fmt::format("{}: cannot be made a directory{}{}", directory.string(), error ? ": " : "",
                                 error ? error.message() : ""));
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    throw WriteError(fmt::format("{}: cannot be written to: {}", directory.string(), std::strerror(errno)));
  }
}

void write_reports(const Report& report, const std::filesystem::path& directory) {
  write_text_file(write_json(report), directory / "report.json");
  write_text_file(write_html(report), directory / "report.html");
  write_text_file(write_sarif(report), directory / "report.sarif");
  write_text_file(write_junit(report), directory / "junit.xml");
  write_text_file(write_markdown(report), directory / "report.md");
}

}  // namespace sextant
