#include "reports/write.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "reports/html.hpp"
#include "reports/json.hpp"
#include "reports/junit.hpp"
#include "reports/markdown.hpp"
#include "reports/sarif.hpp"

namespace sextant {

std::span<const ReportFormat> report_formats() {
  static constexpr std::array formats{
      ReportFormat{"report.json", write_json},   ReportFormat{"report.html", write_html},
      ReportFormat{"report.sarif", write_sarif}, ReportFormat{"junit.xml", write_junit},
      ReportFormat{"report.md", write_markdown},
  };
  return formats;
}

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
    throw WriteError(fmt::format("{}: the directory cannot be created{}{}", directory.string(), error ? ": " : "",
                                 error ? error.message() : ""));
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    throw WriteError(fmt::format("{}: cannot be written to: {}", directory.string(), std::strerror(errno)));
  }
}

void write_reports(const Report& report, const std::filesystem::path& directory) {
  for (const ReportFormat& format : report_formats()) write_text_file(format.write(report), directory / format.file);
}

}  // namespace sextant
