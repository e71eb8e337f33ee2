#include "subjects/regular_file.hpp"

#include <system_error>

namespace sextant {

std::string why_no_file(const std::filesystem::path& path) {
  std::error_code error;
  switch (std::filesystem::status(path, error).type()) {
    case std::filesystem::file_type::regular: return "";
    case std::filesystem::file_type::directory: return "a directory, not a file";
    case std::filesystem::file_type::none:
    case std::filesystem::file_type::not_found: return "no such file";
    default: return "no regular file";
  }
}

}  // namespace sextant
