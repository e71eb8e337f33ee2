#pragma once

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "reports/report.hpp"

namespace sextant {

/// A report that cannot be read. what() is one line that names the field or file and what was expected.
class ReadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The inverse of write_json. @throws ReadError for text that is no report of version 1.
Report read_json(std::string_view text);

/// The same of a file of at most 256 MiB. @throws ReadError, naming the file.
Report read_json_file(const std::filesystem::path& path);

}  // namespace sextant
