#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "subjects/subject.hpp"

namespace sextant {

/// A table that some program wrote to a .npy file: row p is the encoding of position p. It answers `encode` only.
/// @throws SubjectNameError if the file cannot be read as [positions, dim] of the spec's dtype, or the spec's encoding
/// is no table.
std::unique_ptr<Subject> recorded_subject(std::string name, const std::filesystem::path& file, const Spec& spec);

}  // namespace sextant
