#include "subjects/array_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "subjects/npy.hpp"
#include "subjects/preview.hpp"
#include "subjects/safetensors.hpp"
#include "subjects/tensor_proto.hpp"
#include "subjects/torch_pickle.hpp"
#include "subjects/zip_archive.hpp"

namespace sextant {
namespace {

ElementType element_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return ElementType::float64;
    case Dtype::float32: return ElementType::float32;
    case Dtype::float16: return ElementType::float16;
    case Dtype::bfloat16: return ElementType::bfloat16;
    case Dtype::int64: return ElementType::int64;
  }
  return ElementType::other;
}

// input_0.pb, input_1.pb, ... as far as they go.
std::vector<std::filesystem::path> numbered(const std::filesystem::path& folder, std::string_view what) {
  std::vector<std::filesystem::path> files;
  for (;;) {
    std::filesystem::path next = folder / fmt::format("{}_{}.pb", what, files.size());
    if (!std::filesystem::exists(next)) return files;
    files.push_back(std::move(next));
  }
}

// The folder itself, or the test data set in a folder that has just one, beside its model.
std::filesystem::path data_set_in(const std::filesystem::path& folder) {
  if (!numbered(folder, "output").empty()) return folder;
  std::vector<std::filesystem::path> sets;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with("test_data_set_")) sets.push_back(entry.path());
  }
  if (error) throw ArrayFileError(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  std::ranges::sort(sets);
  if (sets.size() > 1) {
    throw ArrayFileError(fmt::format("{}: a directory of {} test data sets: name one, {} say", folder.string(),
                                     sets.size(), sets.front().string()));
  }
  if (sets.empty() || numbered(sets.front(), "output").empty()) {
    throw ArrayFileError(fmt::format("{}: a directory, not a file, and no test data set of ONNX: no output_0.pb",
                                     (sets.empty() ? folder : sets.front()).string()));
  }
  return sets.front();
}

}  // namespace

ArrayFile::ArrayFile(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    open_data_set(data_set_in(file));
  else
    open(file);
}

void ArrayFile::open(const std::filesystem::path& file) {
  if (file.extension() == ".pb") {
    add(tensor_in(file), file);
    return;
  }
  const std::span<const std::byte> bytes = files_.emplace_back(file).bytes();
  const std::string name = file.string();
  const auto starts_with = [&](std::string_view magic) {
    return bytes.size() >= magic.size() &&
           std::ranges::equal(bytes.first(magic.size()), std::as_bytes(std::span(magic)));
  };
  // A .zip without a member has its end's signature.
  if (starts_with("PK\x03\x04") || starts_with("PK\x05\x06")) {
    open_zip(bytes, name);
  } else if (file.extension() == ".safetensors") {
    open_safetensors(bytes, name);
  } else {
    const StoredArray array = read_npy(bytes, name);
    arrays_.emplace("", [array] { return array; });
  }
}

void ArrayFile::open_data_set(const std::filesystem::path& folder) {
  is_data_set_ = true;
  for (const std::filesystem::path& output : numbered(folder, "output")) add(tensor_in(output), output);
  const std::vector<std::filesystem::path> inputs = numbered(folder, "input");
  for (const std::filesystem::path& input : inputs) {
    NamedTensor tensor = tensor_in(input);
    if (inputs.size() == 1 && tensor.array.type == ElementType::int64) tensor.name = "positions";
    add(std::move(tensor), input);
  }
}

NamedTensor ArrayFile::tensor_in(const std::filesystem::path& file) {
  const std::span<const std::byte> bytes = files_.emplace_back(file).bytes();
  return read_tensor_proto(bytes, file.string(), decoded_.emplace_back());
}

void ArrayFile::add(NamedTensor tensor, const std::filesystem::path& file) {
  if (tensor.name.empty()) tensor.name = file.stem().string();
  if (!arrays_.emplace(tensor.name, [array = tensor.array] { return array; }).second) {
    throw ArrayFileError(
        fmt::format("{}: another tensor of the data set is \"{}\", too", file.string(), preview(tensor.name)));
  }
}

std::vector<std::string> ArrayFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays_) names.push_back(name);
  return names;
}

void ArrayFile::open_zip(std::span<const std::byte> bytes, const std::string& name) {
  const auto archive = std::make_shared<ZipArchive>(bytes, name);
  for (const std::string& member : archive->names()) {
    constexpr std::string_view pickle = "/data.pkl";
    if (member.ends_with(pickle)) return open_torch(archive, member.substr(0, member.size() - pickle.size()), name);
  }
  constexpr std::string_view ending = ".npy";
  for (const std::string& member : archive->names()) {
    if (!member.ends_with(ending)) continue;
    arrays_.emplace(member.substr(0, member.size() - ending.size()), [archive, member, name] {
      return read_npy(archive->checked_content(member), fmt::format("{}: {}", name, preview(member)));
    });
  }
  if (arrays_.empty()) throw ArrayFileError(fmt::format("{}: a ZIP archive that holds no .npy file", name));
}

void ArrayFile::open_torch(const std::shared_ptr<ZipArchive>& archive, const std::string& folder,
                           const std::string& name) {
  std::endian order = std::endian::little;
  const std::vector<std::string> members = archive->names();
  if (const std::string said = folder + "/byteorder"; std::ranges::count(members, said) > 0) {
    if (std::ranges::equal(archive->content(said), std::as_bytes(std::span(std::string_view("big")))))
      order = std::endian::big;
  }
  for (const auto& [key, tensor] : read_torch_pickle(archive->content(folder + "/data.pkl"), name)) {
    arrays_.emplace(key, [archive, tensor = tensor, order, name, member = folder + "/data/" + tensor.storage] {
      return array_of(tensor, archive->content(member), order, name);
    });
  }
}

void ArrayFile::open_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  constexpr std::size_t length_bytes = 8;
  if (bytes.size() < length_bytes) throw ArrayFileError(fmt::format("{}: {} bytes: cut short", name, bytes.size()));
  try {
    const std::uint64_t length = safetensors_header_length(bytes.first(std::min<std::size_t>(bytes.size(), 64)));
    if (length > bytes.size() - length_bytes)
      throw SafetensorsError(fmt::format("the file ends inside its header of {} bytes", length));
    const SafetensorsHeader header = read_safetensors_header(bytes.subspan(length_bytes, length));
    const std::span<const std::byte> data = bytes.subspan(length_bytes + length);
    std::uint64_t end = 0;
    for (const TensorPlace& tensor : header.tensors) {
      if (tensor.end > data.size()) {
        throw SafetensorsError(fmt::format("tensor \"{}\": data_offsets end at {}, the file has {} bytes of data",
                                           preview(tensor.info.name), tensor.end, data.size()));
      }
      if (tensor.begin < end)
        throw SafetensorsError(fmt::format("tensor \"{}\": data_offsets overlap another's", preview(tensor.info.name)));
      end = tensor.end;
      StoredArray array{.type = element_type(tensor.info.dtype),
                        .type_text = std::string(name_of(tensor.info.dtype)),
                        .shape = tensor.info.shape,
                        .strides = dense_strides(tensor.info.shape, Fastest::last_axis),
                        .data = data.subspan(tensor.begin, tensor.end - tensor.begin)};
      arrays_.emplace(tensor.info.name, [array] { return array; });
    }
    metadata_ = header.metadata;
  } catch (const SafetensorsError& error) {
    throw ArrayFileError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace sextant
