#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "subjects/safetensors.hpp"

namespace sextant {

/// The next blob from a descriptor, as a worker reads its requests; nothing where the input ends before one begins.
/// @throws SafetensorsError for what is none, or has more data than `max_data_bytes`.
std::optional<Blob> read_blob(int descriptor, std::uint64_t max_data_bytes);

/// Writes one. @returns whether all of it was taken.
bool write_blob(int descriptor, const std::map<std::string, std::string>& metadata, const Tensors& tensors);

}  // namespace sextant
