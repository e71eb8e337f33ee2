#pragma once

#include <string>
#include <vector>

#include "properties/vectors/vector.hpp"

namespace sextant {

/// A file of conformance vectors, whole.
struct VectorFile {
  std::string name;  ///< with the folders below the one that is written
  std::string content;
};

/// Those of each format that `sextant vectors` writes, in the order of their names. The same bytes on every machine.
/// @throws std::logic_error where the oracle refuses an encoder's answer.
std::vector<VectorFile> json_vectors();
std::vector<VectorFile> onnx_vectors();
std::vector<VectorFile> flashinfer_vectors();

/// The version of the bits: a value, tolerance or position that changes makes another one.
inline constexpr const char* bits_version = "bits-v1";

/// "3f800000": the bits of value number `element`, the highest first.
std::string bits_text(const Tensor& tensor, std::int64_t element);
std::string bits_text(Dtype dtype, double value);

}  // namespace sextant
