#pragma once

#include <filesystem>
#include <stdexcept>

#include "reports/report.hpp"

namespace sextant {

/// A report that cannot be written. what() is one line that names the path.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Makes sure that `directory` exists and can be written to, before an audit is run for it. @throws WriteError.
void prepare_directory(const std::filesystem::path& directory);

/// Writes `text` to `path`. @throws WriteError.
void write_text_file(const std::string& text, const std::filesystem::path& path);

/// Writes report.json, report.html, report.sarif, junit.xml and report.md into `directory`. Each file is written under
/// a temporary name and renamed, so that none is ever seen half written. @throws WriteError.
void write_reports(const Report& report, const std::filesystem::path& directory);

}  // namespace sextant
