#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "subjects/mapped_file.hpp"
#include "subjects/stored_array.hpp"

namespace sextant {

/// A tensor as torch.save describes it: where its elements lie in a storage, which is a member of the archive.
struct PickledTensor {
  ElementType type = ElementType::other;
  std::string type_text;  ///< "FloatStorage"
  std::string storage;    ///< the member's name, "0"
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

/// The tensors in `data.pkl` of a file that torch.save wrote: one, whose name is empty, or those of a dict. Of pickle's
/// operations those are done that such a file of weights alone needs, and of its functions none but those that say what
/// a tensor is: nothing is called.
/// @param name  of the file, for messages
/// @throws ArrayFileError for any other operation or function, and bytes that are no pickle of tensors.
std::map<std::string, PickledTensor> read_torch_pickle(std::span<const std::byte> bytes, const std::string& name);

/// The tensor's array in its storage, to which it refers. @throws ArrayFileError unless every element lies there.
StoredArray array_of(const PickledTensor& tensor, std::span<const std::byte> storage, std::endian order,
                     const std::string& name);

}  // namespace sextant
