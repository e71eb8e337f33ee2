#include "subjects/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
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

struct Entry {
  Dtype dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin;
  std::uint64_t end;
};

Entry read_entry(const std::string& name, const json& value) {
  const auto refuse = [&](std::string_view why) {
    throw SafetensorsError(fmt::format("tensor \"{}\": {}", name, why));
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
  Entry entry{*dtype, {}, offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>()};
  for (const json& extent : shape) {
    if (extent.get<std::uint64_t>() > (std::uint64_t{1} << 59)) refuse("shape has too many elements");
    entry.shape.push_back(extent.get<std::int64_t>());
  }
  std::uint64_t bytes = 0;
  try {
    bytes = static_cast<std::uint64_t>(elements_of(entry.shape)) * size_of(*dtype);
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
  if (entry.begin > entry.end || entry.end - entry.begin != bytes) {
    refuse(fmt::format("data_offsets [{}, {}] do not hold shape {} of {}", entry.begin, entry.end,
                       shape_text(entry.shape), name_of(*dtype)));
  }
  return entry;
}

}  // namespace

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

std::vector<std::byte> write_safetensors(const Blob& blob) {
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : blob.tensors) infos.push_back({name, tensor.dtype, tensor.shape});
  const std::string header = safetensors_header(infos, blob.metadata);
  std::vector<std::byte> bytes;
  const auto append = [&](const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  append(header.data(), header.size());
  for (const auto& [name, tensor] : blob.tensors) append(tensor.data.data(), tensor.data.size());
  return bytes;
}

std::size_t SafetensorsReader::feed(std::span<const std::byte> bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && !complete()) {
    const std::size_t wanted = std::min<std::uint64_t>(total_ - bytes_.size(), bytes.size() - used);
    bytes_.insert(bytes_.end(), bytes.begin() + static_cast<std::ptrdiff_t>(used),
                  bytes.begin() + static_cast<std::ptrdiff_t>(used + wanted));
    used += wanted;
    if (bytes_.size() < total_) break;
    if (header_bytes_ == 0) {
      header_bytes_ = little_endian(bytes_);
      if (header_bytes_ < 2 || header_bytes_ > max_header_bytes) {
        throw SafetensorsError(
            fmt::format("not a safetensors blob: header length {}, bytes \"{}\"", header_bytes_, preview(bytes)));
      }
      total_ = 8 + header_bytes_;
    } else if (!header_known_) {
      const json header = parse_header(std::span(bytes_).subspan(8, header_bytes_));
      std::uint64_t data_bytes = 0;
      for (const auto& [name, value] : header.items()) {
        if (name != "__metadata__") data_bytes = std::max(data_bytes, read_entry(name, value).end);
      }
      if (data_bytes > max_data_bytes_) {
        throw SafetensorsError(
            fmt::format("oversized: {} bytes of data, at most {} expected", data_bytes, max_data_bytes_));
      }
      total_ += data_bytes;
      header_known_ = true;
    }
  }
  return used;
}

Blob SafetensorsReader::blob() const {
  if (!complete()) throw SafetensorsError(fmt::format("short: {} of {} bytes", bytes_.size(), total_));
  const json header = parse_header(std::span(bytes_).subspan(8, header_bytes_));
  Blob blob;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) throw SafetensorsError("__metadata__ is not an object");
      for (const auto& [key, text] : value.items()) {
        if (!text.is_string()) throw SafetensorsError(fmt::format("__metadata__: \"{}\" is not a string", key));
        blob.metadata[key] = text.get<std::string>();
      }
      continue;
    }
    Entry entry = read_entry(name, value);
    const auto data = std::span(bytes_).subspan(8 + header_bytes_ + entry.begin, entry.end - entry.begin);
    blob.tensors[name] = {entry.dtype, std::move(entry.shape), {data.begin(), data.end()}};
  }
  return blob;
}

}  // namespace sextant
