#include "subjects/array_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "subjects/npy.hpp"
#include "subjects/preview.hpp"
#include "subjects/safetensors.hpp"
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

}  // namespace

ArrayFile::ArrayFile(const std::filesystem::path& file) : file_(file) {
  const std::span<const std::byte> bytes = file_.bytes();
  const std::string name = file.string();
  const auto starts_with = [&](std::string_view magic) {
    return bytes.size() >= magic.size() &&
           std::ranges::equal(bytes.first(magic.size()), std::as_bytes(std::span(magic)));
  };
  // A .zip without a member has its end's signature.
  if (starts_with("PK\x03\x04") || starts_with("PK\x05\x06")) {
    open_zip(name);
  } else if (file.extension() == ".safetensors") {
    open_safetensors(name);
  } else {
    const StoredArray array = read_npy(bytes, name);
    arrays_.emplace("", [array] { return array; });
  }
}

std::vector<std::string> ArrayFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays_) names.push_back(name);
  return names;
}

void ArrayFile::open_zip(const std::string& name) {
  const auto archive = std::make_shared<ZipArchive>(file_.bytes(), name);
  for (const std::string& member : archive->names()) {
    constexpr std::string_view pickle = "/data.pkl";
    if (member.ends_with(pickle)) return open_torch(archive, member.substr(0, member.size() - pickle.size()), name);
  }
  constexpr std::string_view ending = ".npy";
  for (const std::string& member : archive->names()) {
    if (!member.ends_with(ending)) continue;
    arrays_.emplace(member.substr(0, member.size() - ending.size()), [archive, member, name] {
      return read_npy(archive->content(member), fmt::format("{}: {}", name, preview(member)));
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
    arrays_.emplace(key, [archive, tensor, order, name, member = folder + "/data/" + tensor.storage] {
      return array_of(tensor, archive->content(member), order, name);
    });
  }
}

void ArrayFile::open_safetensors(const std::string& name) {
  const std::span<const std::byte> bytes = file_.bytes();
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
