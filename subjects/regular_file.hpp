#pragma once

#include <filesystem>
#include <string>

namespace sextant {

/// Why a path is no file to read: "no such file", "a directory, not a file" or "no regular file"; empty for one.
std::string why_no_file(const std::filesystem::path& path);

}  // namespace sextant
