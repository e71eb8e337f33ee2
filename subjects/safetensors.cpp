#include "subjects/safetensors.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "subjects/preview.hpp"

namespace sextant {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, Dtype>, 5> dtype_codes{{{"F64", Dtype::float64},
                                                                         {"F32", Dtype::float32},
                                                                         {"F16", Dtype::float16},
                                                                         {"BF16", Dtype::bfloat16},
                                                                         {"I64", Dtype::int64}}};

std::string_view code_of(Dtype dtype) {
  for (const auto& [code, known] : dtype_codes) {
    if (known == dtype) return code;
  }
  throw SafetensorsError("safetensors: no code for this dtype");
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

json parse_header(std::span<const std::byte> bytes) {
  const char* text = reinterpret_cast<const char*>(bytes.data());
  json header = json::parse(text, text + bytes.size(), nullptr, false);
  if (header.is_discarded() || !header.is_object()) {
    throw SafetensorsError(fmt::format("the header is not a JSON object: \"{}\"", preview(bytes)));
  }
  return header;
}

TensorPlace read_entry(const std::string& name, const json& value) {
  const auto refuse = [&](std::string_view why) {
    throw SafetensorsError(fmt::format("tensor \"{}\": {}", preview(name), why));
  };
  const auto is_size = [](const json& number) { return number.is_number_unsigned(); };
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets")) {
    refuse("needs dtype, shape and data_offsets");
  }
  const json& code = value["dtype"];
  const json& shape = value["shape"];
  const json& offsets = value["data_offsets"];
  std::optional<Dtype> dtype;
  for (const auto& [known_code, known] : dtype_codes) {
    if (code.is_string() && code.get_ref<const std::string&>() == known_code) dtype = known;
  }
  if (!dtype)
    refuse(fmt::format("dtype {} is none of F64, F32, F16, BF16, I64",
                       code.dump(-1, ' ', true, json::error_handler_t::replace)));
  if (!shape.is_array() || shape.size() > 16 || !std::all_of(shape.begin(), shape.end(), is_size)) {
    refuse("shape is not an array of at most 16 sizes");
  }
  if (!offsets.is_array() || offsets.size() != 2 || !is_size(offsets[0]) || !is_size(offsets[1])) {
    refuse("data_offsets is not a pair of offsets");
  }
  TensorPlace entry{{name, *dtype, {}}, offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>()};
  for (const json& extent : shape) {
    if (extent.get<std::uint64_t>() > (std::uint64_t{1} << 59)) refuse("shape has too many elements");
    entry.info.shape.push_back(extent.get<std::int64_t>());
  }
  std::uint64_t bytes = 0;
  try {
    bytes = static_cast<std::uint64_t>(elements_of(entry.info.shape)) * size_of(*dtype);
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
  if (entry.begin > entry.end || entry.end - entry.begin != bytes) {
    refuse(fmt::format("data_offsets [{}, {}] do not hold shape {} of {}", entry.begin, entry.end,
                       shape_text(entry.info.shape), name_of(*dtype)));
  }
  return entry;
}

// As many bytes. New memory of some size is asked for in huge pages, since to come by 64 MiB in pages of 4 KiB takes
// longer than to read them.
void make_room(std::vector<std::byte>& data, std::size_t size) {
  data.reserve(size);
  constexpr std::size_t huge = std::size_t{1} << 21;
  void* begin = data.data();
  std::size_t space = size;
  if (size >= 2 * huge && std::align(huge, huge, begin, space) != nullptr) madvise(begin, space, MADV_HUGEPAGE);
  data.resize(size);
}

}  // namespace

std::uint64_t safetensors_header_length(std::span<const std::byte> bytes) {
  const std::uint64_t length = little_endian(bytes);
  if (length < 2 || length > max_header_bytes) {
    throw SafetensorsError(
        fmt::format("not a safetensors blob: header length {}, bytes \"{}\"", length, preview(bytes)));
  }
  return length;
}

SafetensorsHeader read_safetensors_header(std::span<const std::byte> bytes) {
  const json object = parse_header(bytes);
  SafetensorsHeader header;
  for (const auto& [name, value] : object.items()) {
    if (name != "__metadata__") {
      header.tensors.push_back(read_entry(name, value));
      continue;
    }
    if (!value.is_object()) throw SafetensorsError("__metadata__ is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) throw SafetensorsError(fmt::format("__metadata__: \"{}\" is not a string", preview(key)));
      header.metadata[key] = text.get<std::string>();
    }
  }
  std::ranges::stable_sort(header.tensors, {},
                           [](const TensorPlace& tensor) { return std::pair(tensor.begin, tensor.end); });
  return header;
}

std::string safetensors_header(std::span<const TensorInfo> tensors,
                               const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const TensorInfo& tensor : tensors) {
    const std::uint64_t end = offset + static_cast<std::uint64_t>(elements_of(tensor.shape)) * size_of(tensor.dtype);
    header[tensor.name] = {{"dtype", code_of(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string length;
  for (unsigned i = 0; i < 8; ++i) length += static_cast<char>(text.size() >> (8 * i));
  return length + text;
}

std::string safetensors_header(const Tensors& tensors, const std::map<std::string, std::string>& metadata) {
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : tensors) infos.push_back({name, tensor.dtype, tensor.shape});
  return safetensors_header(infos, metadata);
}

std::vector<std::byte> write_safetensors(const Blob& blob) {
  const std::string header = safetensors_header(blob.tensors, blob.metadata);
  std::vector<std::byte> bytes;
  const auto append = [&](const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  append(header.data(), header.size());
  for (const auto& [name, tensor] : blob.tensors) append(tensor.data.data(), tensor.data.size());
  return bytes;
}

std::span<std::byte> SafetensorsReader::room() {
  if (complete()) return {};
  if (!read_header_) return std::span(head_).subspan(taken_);
  const Part& part = parts_[part_];
  return part.bytes.subspan(taken_ - head_.size() - part.begin);
}

void SafetensorsReader::filled(std::size_t bytes, std::span<const std::byte> next) {
  taken_ += bytes;
  if (!read_header_) {
    if (taken_ == 8 && total_ == 8) read_length(next);
    if (taken_ > 8 && taken_ == total_) read_header();
    return;
  }
  while (part_ < parts_.size() && taken_ - head_.size() >= parts_[part_].begin + parts_[part_].bytes.size()) ++part_;
}

std::size_t SafetensorsReader::feed(std::span<const std::byte> bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && !complete()) {
    const std::span<std::byte> own = room();
    const std::size_t count = std::min(own.size(), bytes.size() - used);
    std::memcpy(own.data(), bytes.data() + used, count);
    used += count;
    filled(count, bytes.subspan(used));
  }
  return used;
}

void SafetensorsReader::read_length(std::span<const std::byte> next) {
  std::vector<std::byte> quoted = head_;
  quoted.insert(quoted.end(), next.begin(), next.end());
  total_ = 8 + safetensors_header_length(quoted);
  head_.resize(total_);
}

void SafetensorsReader::read_header() {
  SafetensorsHeader header = read_safetensors_header(std::span(head_).subspan(8));
  blob_.metadata = std::move(header.metadata);
  std::uint64_t size = 0;
  std::uint64_t end = 0;
  bool follow = true;
  for (const TensorPlace& tensor : header.tensors) {
    size = std::max(size, tensor.end);
    follow = follow && tensor.begin == end;
    end = tensor.end;
  }
  if (size > max_data_bytes_)
    throw SafetensorsError(fmt::format("oversized: {} bytes of data, at most {} expected", size, max_data_bytes_));
  if (!follow) {
    make_room(data_, size);
    parts_.push_back({data_, 0});
  }
  for (TensorPlace& place : header.tensors) {
    Tensor& tensor = blob_.tensors[place.info.name] = {place.info.dtype, std::move(place.info.shape), {}};
    if (follow) make_room(tensor.data, place.end - place.begin);
    if (follow && place.end > place.begin) parts_.push_back({tensor.data, place.begin});
    offsets_[place.info.name] = {place.begin, place.end};
  }
  total_ += size;
  read_header_ = true;
}

Blob SafetensorsReader::blob() {
  if (!complete()) throw SafetensorsError(fmt::format("short: {} of {} bytes", taken_, total_));
  if (!data_.empty()) {
    for (auto& [name, tensor] : blob_.tensors) {
      const auto [begin, end] = offsets_.at(name);
      const auto data = std::span(data_).subspan(begin, end - begin);
      tensor.data.assign(data.begin(), data.end());
    }
  }
  return std::move(blob_);
}

}  // namespace sextant
