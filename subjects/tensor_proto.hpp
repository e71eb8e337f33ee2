#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "subjects/mapped_file.hpp"
#include "subjects/stored_array.hpp"

namespace sextant {

/// A tensor as ONNX serializes it.
struct NamedTensor {
  std::string name;
  StoredArray array;
};

/// The TensorProto (onnx.proto) whose serialization these bytes are: elements in `raw_data`, or in the field of their
/// type. What is packed or raw is referred to; what is not is decoded into `decoded`, which the array then refers to.
/// Types other than ElementType's are read as `other`. Unknown fields are passed over, as protocol buffers ask for.
/// @param file  for messages
/// @throws ArrayFileError if the bytes are none, the elements are not as many as the dims say, or lie in another file.
NamedTensor read_tensor_proto(std::span<const std::byte> bytes, const std::string& file,
                              std::vector<std::byte>& decoded);

}  // namespace sextant
