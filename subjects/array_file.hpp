#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "subjects/mapped_file.hpp"
#include "subjects/stored_array.hpp"
#include "subjects/tensor_proto.hpp"
#include "subjects/zip_archive.hpp"

namespace sextant {

/// The arrays of a file that some program wrote: .npy, .npz, .safetensors, .pb (a TensorProto of ONNX), or what
/// torch.save makes of a tensor or a dict of tensors, told apart by their first bytes and names. Nothing is read before
/// it is asked for, but for numbers that a TensorProto has not in raw_data; what is not compressed stays where the file
/// is mapped.
///
/// Of a directory those of a test data set, as ONNX's backend tests have it: input_0.pb, ..., output_0.pb, ..., in it,
/// or in the only test_data_set_N that it has. A tensor without a name is called by its file. Where all that a call was
/// given is one tensor of integers, that is `positions`.
class ArrayFile {
 public:
  /// @throws ArrayFileError if the file cannot be read or is none of these.
  explicit ArrayFile(const std::filesystem::path& file);

  /// The names of its arrays; that of a .npy file's, or of a tensor that is saved alone, is empty.
  std::vector<std::string> names() const;

  bool contains(const std::string& name) const { return arrays_.contains(name); }

  /// One of them. Its bytes are good as long as the file. @throws ArrayFileError if it cannot be read.
  StoredArray array(const std::string& name) const { return arrays_.at(name)(); }

  /// What a .safetensors file says beside them.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// Whether it is a test data set, whose tensors are the inputs and results of one call.
  bool is_data_set() const { return is_data_set_; }

  /// @throws ArrayFileError if a file is shorter than it was.
  void check_whole() const {
    for (const MappedFile& file : files_) file.check_whole();
  }

 private:
  void open(const std::filesystem::path& file);
  void open_zip(std::span<const std::byte> bytes, const std::string& name);
  void open_torch(const std::shared_ptr<ZipArchive>& archive, const std::string& folder, const std::string& name);
  void open_safetensors(std::span<const std::byte> bytes, const std::string& name);
  void open_data_set(const std::filesystem::path& folder);
  NamedTensor tensor_in(const std::filesystem::path& file);
  void add(NamedTensor tensor, const std::filesystem::path& file);

  std::list<MappedFile> files_;
  std::list<std::vector<std::byte>> decoded_;
  bool is_data_set_ = false;
  std::map<std::string, std::function<StoredArray()>> arrays_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace sextant
