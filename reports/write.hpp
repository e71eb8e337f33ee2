#pragma once

#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lib/numeric/user_error.hpp"
#include "reports/report.hpp"

namespace sextant {

/// A report that cannot be written. what() is one line that names the path.
class WriteError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// Makes sure that `directory` exists and can be written to, before an audit is run for it. @throws WriteError.
void prepare_directory(const std::filesystem::path& directory);

/// Writes `text` to `path`. @throws WriteError.
void write_text_file(const std::string& text, const std::filesystem::path& path);

/// A format of reports: the name of its file, and what the file holds.
struct ReportFormat {
  std::string_view file;
  std::string (*write)(const Report& report);
};

/// The one list of formats: a new format is its own file and a line there.
std::span<const ReportFormat> report_formats();

/// Writes the file of every format into `directory`. Each is written under a temporary name and renamed, so that none
/// is ever seen half written. @throws WriteError.
void write_reports(const Report& report, const std::filesystem::path& directory);

}  // namespace sextant
