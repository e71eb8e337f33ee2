#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "subjects/mapped_file.hpp"
#include "subjects/stored_array.hpp"
#include "subjects/zip_archive.hpp"

namespace sextant {

/// The arrays of a file that some program wrote: .npy, .npz, .safetensors, or what torch.save makes of a tensor or a
/// dict of tensors, told apart by their first bytes. Nothing is read before it is asked for; what is not compressed
/// stays where the file is mapped.
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

  /// @throws ArrayFileError if the file is shorter than it was.
  void check_whole() const { file_.check_whole(); }

 private:
  void open_zip(const std::string& name);
  void open_torch(const std::shared_ptr<ZipArchive>& archive, const std::string& folder, const std::string& name);
  void open_safetensors(const std::string& name);

  MappedFile file_;
  std::map<std::string, std::function<StoredArray()>> arrays_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace sextant
