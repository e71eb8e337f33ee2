#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lib/numeric/user_error.hpp"
#include "reports/report.hpp"

namespace sextant {

/// A report that cannot be read. what() is one line that names the field or file and what was expected.
class ReadError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// The inverse of write_json. @throws ReadError for text that is no report of version 1.
Report read_json(std::string_view text);

/// One property's entry of a report, the inverse of write_json_line. @throws ReadError.
PropertyResult read_result(std::string_view text);

/// The text of a file of at most 256 MiB. @throws ReadError, naming the file.
std::string read_text_file(const std::filesystem::path& path);

/// The same as read_json of a file of at most 256 MiB. @throws ReadError, naming the file.
Report read_json_file(const std::filesystem::path& path);

}  // namespace sextant
