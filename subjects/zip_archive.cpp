#include "subjects/zip_archive.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "subjects/preview.hpp"

namespace sextant {
namespace {

// The signature of a record, "PK" and two bytes, as a little-endian number.
constexpr std::uint64_t signature(unsigned char third, unsigned char fourth) {
  return std::uint64_t{'P'} | std::uint64_t{'K'} << 8 | std::uint64_t{third} << 16 | std::uint64_t{fourth} << 24;
}

// Those of records, and their sizes without what varies.
constexpr std::uint64_t end_signature = signature(5, 6);
constexpr std::uint64_t end_size = 22;
constexpr std::uint64_t locator_signature = signature(6, 7);
constexpr std::uint64_t locator_size = 20;
constexpr std::uint64_t wide_end_signature = signature(6, 6);
constexpr std::uint64_t entry_signature = signature(1, 2);
constexpr std::uint64_t entry_size = 46;
constexpr std::uint64_t local_signature = signature(3, 4);
constexpr std::uint64_t local_size = 30;

constexpr std::uint64_t all_ones_32 = 0xFFFFFFFF;
constexpr std::uint32_t stored = 0;
constexpr std::uint32_t deflated = 8;
// Deflate's densest code, 258 bytes for two bits: no stream inflates to more times its size.
constexpr std::uint64_t most_ratio = 1032;

}  // namespace

ZipArchive::ZipArchive(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {
  read_directory();
}

void ZipArchive::refuse(std::uint64_t offset, std::string_view why) const {
  throw ArrayFileError(fmt::format("{}: offset {}: {}", name_, offset, why));
}
void ZipArchive::refuse(const Entry& entry, std::string_view why) const {
  throw ArrayFileError(fmt::format("{}: member \"{}\": {}", name_, preview(entry.name), why));
}

// A little-endian number, of which the bytes must be there.
std::uint64_t ZipArchive::number(std::uint64_t at, int count) const {
  const auto size = static_cast<std::uint64_t>(count);
  if (at > bytes_.size() || bytes_.size() - at < size) refuse(at, "the archive ends inside a record");
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < size; ++i) value |= std::to_integer<std::uint64_t>(bytes_[at + i]) << (8 * i);
  return value;
}

void ZipArchive::read_directory() {
  // Behind the last record there is a comment of up to 65535 bytes.
  constexpr std::uint64_t most_behind = end_size + 0xFFFF;
  std::uint64_t end = bytes_.size();
  const std::uint64_t least = bytes_.size() > most_behind ? bytes_.size() - most_behind : 0;
  for (std::uint64_t at = bytes_.size() < end_size ? 0 : bytes_.size() - end_size + 1; at-- > least;) {
    if (number(at, 4) != end_signature) continue;
    end = at;
    break;
  }
  if (end == bytes_.size()) refuse(0, "a ZIP archive without a directory at its end: cut short");
  std::uint64_t count = number(end + 10, 2);
  std::uint64_t at = number(end + 16, 4);
  if (end >= locator_size && number(end - locator_size, 4) == locator_signature) {
    const std::uint64_t wide = number(end - locator_size + 8, 8);
    if (number(wide, 4) != wide_end_signature) refuse(wide, "expected the record of a directory");
    count = number(wide + 32, 8);
    at = number(wide + 48, 8);
  }
  // Programs differ in which of two they take.
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t place = at;
    entries_.push_back(read_entry(at, at));
    if (!seen.insert(entries_.back().name).second)
      refuse(place, fmt::format("a second member \"{}\"", preview(entries_.back().name)));
  }
}

ZipArchive::Entry ZipArchive::read_entry(std::uint64_t at, std::uint64_t& next) const {
  if (number(at, 4) != entry_signature) refuse(at, "expected a member of the directory");
  const std::uint64_t name_size = number(at + 28, 2);
  const std::uint64_t extra_size = number(at + 30, 2);
  const std::uint64_t start = at + entry_size;
  const std::uint64_t extra = start + name_size;
  next = extra + extra_size + number(at + 32, 2);
  if (next > bytes_.size()) refuse(at, "the archive ends inside its directory");
  Entry entry{.name = std::string(reinterpret_cast<const char*>(bytes_.data()) + start, name_size),
              .flags = static_cast<std::uint32_t>(number(at + 8, 2)),
              .method = static_cast<std::uint32_t>(number(at + 10, 2)),
              .checksum = static_cast<std::uint32_t>(number(at + 16, 4)),
              .compressed = number(at + 20, 4),
              .size = number(at + 24, 4),
              .header = number(at + 42, 4)};
  // The extension has, in this order, those of the numbers that are all ones here.
  for (std::uint64_t field = extra; field + 4 <= extra + extra_size; field += 4 + number(field + 2, 2)) {
    if (number(field, 2) != 1) continue;
    std::uint64_t value = field + 4;
    for (std::uint64_t* wide : {&entry.size, &entry.compressed, &entry.header}) {
      if (*wide != all_ones_32) continue;
      *wide = number(value, 8);
      value += 8;
    }
    break;
  }
  return entry;
}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

std::span<const std::byte> ZipArchive::content(const std::string& member) {
  const auto found = std::ranges::find(entries_, member, &Entry::name);
  if (found == entries_.end()) throw ArrayFileError(fmt::format("{}: has no member \"{}\"", name_, preview(member)));
  const Entry& entry = *found;
  constexpr std::uint32_t encrypted = 1;
  if ((entry.flags & encrypted) != 0) refuse(entry, "is encrypted");
  if (number(entry.header, 4) != local_signature) refuse(entry.header, "expected a member of the archive");
  const std::uint64_t start = entry.header + local_size + number(entry.header + 26, 2) + number(entry.header + 28, 2);
  if (start > bytes_.size() || bytes_.size() - start < entry.compressed)
    refuse(entry, fmt::format("{} bytes from offset {} on, the file has {}", entry.compressed, start, bytes_.size()));
  const std::span<const std::byte> data = bytes_.subspan(start, entry.compressed);
  if (entry.method == stored) return data;
  if (entry.method != deflated) refuse(entry, fmt::format("compression method {} is not known", entry.method));
  return inflated(entry, data);
}

std::span<const std::byte> ZipArchive::checked_content(const std::string& member) {
  const std::span<const std::byte> data = content(member);
  const Entry& entry = *std::ranges::find(entries_, member, &Entry::name);
  if (entry.method == stored) check(entry, data);
  return data;
}

void ZipArchive::check(const Entry& entry, std::span<const std::byte> data) const {
  const uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size());
  if (checksum != entry.checksum) refuse(entry, "its checksum is another");
}

std::span<const std::byte> ZipArchive::inflated(const Entry& entry, std::span<const std::byte> data) {
  if (entry.size > most_inflated || data.size() > std::numeric_limits<uInt>::max())
    refuse(entry, fmt::format("{} bytes once inflated, at most {}: save it uncompressed", entry.size, most_inflated));
  if (entry.size > most_ratio * data.size())
    refuse(entry, fmt::format("{} bytes cannot inflate to {}", data.size(), entry.size));
  std::vector<std::byte> bytes(entry.size);
  z_stream stream{};
  constexpr int without_header = -15;
  if (inflateInit2(&stream, without_header) != Z_OK) refuse(entry, "no memory to inflate it");
  std::byte nothing{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.empty() ? &nothing : bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool is_whole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!is_whole) refuse(entry, fmt::format("does not inflate to {} bytes", entry.size));
  check(entry, bytes);
  return inflated_.emplace_back(std::move(bytes));
}

}  // namespace sextant
