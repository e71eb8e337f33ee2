#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "subjects/mapped_file.hpp"
#include "subjects/stored_array.hpp"

namespace sextant {

/// The array in NumPy's .npy format, versions 1 to 3 (NEP 1), whose bytes these are; it refers to them. Both byte
/// orders, C and Fortran order. Types other than ElementType's are read as `other`.
/// @param name  of the file, for messages
/// @throws ArrayFileError if the bytes are none, or are fewer than the header says.
StoredArray read_npy(std::span<const std::byte> bytes, const std::string& name);

}  // namespace sextant
