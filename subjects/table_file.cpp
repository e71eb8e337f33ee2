#include "subjects/table_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "subjects/safetensors.hpp"

namespace sextant {
namespace {

constexpr std::size_t flush_at = std::size_t{1} << 20;

std::string npy_header(Dtype dtype, const TableFile::Table& table) {
  constexpr std::array<const char*, 4> descr{"<f8", "<f4", "<f2", "<u2"};  // in the order of Dtype
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 descr[static_cast<std::size_t>(dtype)], table.rows, table.columns);
  // NEP 1: padded so that the data begins at a multiple of 64, ended by a line feed.
  text.append(64 - (10 + text.size() + 1) % 64, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += {'\x01', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace

TableFile::TableFile(std::filesystem::path path, Dtype dtype, std::vector<Table> tables)
    : path_(std::move(path)), temporary_(path_.string() + fmt::format(".{}.tmp", getpid())), dtype_(dtype) {
  const std::string ending = path_.extension().string();
  std::string header;
  std::vector<std::int64_t> offsets;
  if (ending == ".npy") {
    if (tables.size() != 1) {
      throw TableFileError(fmt::format("{}: a .npy file holds one table and this is {}; use .safetensors",
                                       path_.string(), tables.size()));
    }
    header = npy_header(dtype, tables.front());
    offsets = {0};
  } else if (ending == ".safetensors") {
    std::vector<TensorInfo> infos;
    infos.reserve(tables.size());
    for (const Table& table : tables) infos.push_back({table.name, dtype, {table.rows, table.columns}});
    header = safetensors_header(infos, {});
    std::int64_t offset = 0;
    for (const Table& table : tables) {
      offsets.push_back(offset);
      offset += table.rows * table.columns * static_cast<std::int64_t>(size_of(dtype));
    }
  } else {
    throw TableFileError(fmt::format("{}: expected a name that ends in .npy or .safetensors", path_.string()));
  }
  for (const std::int64_t offset : offsets) regions_.push_back({static_cast<std::int64_t>(header.size()) + offset, {}});
  stream_.open(temporary_, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc);
  stream_ << header;
  if (!stream_) throw TableFileError(fmt::format("{}: cannot be written", path_.string()));
}

TableFile::~TableFile() {
  if (committed_) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void TableFile::append(std::size_t index, std::span<const double> row) {
  Region& region = regions_.at(index);
  const std::size_t width = size_of(dtype_);
  const std::size_t before = region.waiting.size();
  region.waiting.resize(before + row.size() * width);
  auto* destination = reinterpret_cast<std::byte*>(region.waiting.data() + before);
  for (const double value : row) {
    store(dtype_, value, destination);
    destination += width;
  }
  if (region.waiting.size() >= flush_at) flush(region);
}

void TableFile::flush(Region& region) {
  stream_.seekp(region.offset);
  stream_.write(region.waiting.data(), static_cast<std::streamsize>(region.waiting.size()));
  if (!stream_) throw TableFileError(fmt::format("{}: cannot be written", path_.string()));
  region.offset += static_cast<std::int64_t>(region.waiting.size());
  region.waiting.clear();
}

void TableFile::commit() {
  for (Region& region : regions_) flush(region);
  stream_.close();
  std::error_code error;
  if (stream_) std::filesystem::rename(temporary_, path_, error);
  if (!stream_ || error) throw TableFileError(fmt::format("{}: cannot be written", path_.string()));
  committed_ = true;
}

}  // namespace sextant
