#pragma once

#include <filesystem>
#include <string>

namespace sextant {

/// Why a path cannot be read as a file: "no such file", "a directory, not a file" or "no regular file"; empty if it can.
std::string why_no_file(const std::filesystem::path& path);

}  // namespace sextant
