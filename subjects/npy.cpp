#include "subjects/npy.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "subjects/regular_file.hpp"

namespace sextant {
namespace {

constexpr std::array<unsigned char, 6> magic{0x93, 'N', 'U', 'M', 'P', 'Y'};
// NumPy itself refuses headers above 10,000 characters by default.
constexpr std::size_t max_header = std::size_t{1} << 16;

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// The header is a Python dict literal with exactly three keys. Each is looked up by itself, so their order does not
// matter.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  // What stands between `open` and `close` right after the key's colon.
  std::string_view between(std::string_view key, char open, char close) const {
    const std::string_view value = after(key);
    const auto end = value.find(close, 1);
    if (value.empty() || value.front() != open || end == std::string_view::npos) refuse(key);
    return value.substr(1, end - 1);
  }

  bool boolean(std::string_view key) const {
    const std::string_view value = after(key);
    if (!value.starts_with("True") && !value.starts_with("False")) refuse(key);
    return value.starts_with("True");
  }

  [[noreturn]] void refuse(std::string_view key) const {
    throw NpyError(fmt::format("{}: header has no valid '{}'", file_, key));
  }

 private:
  std::string_view after(std::string_view key) const {
    const std::string quoted = fmt::format("'{}'", key);
    const auto found = text_.find(quoted);
    if (found == std::string_view::npos) refuse(key);
    std::string_view rest = skip_spaces(text_.substr(found + quoted.size()));
    if (!rest.starts_with(':')) refuse(key);
    return skip_spaces(rest.substr(1));
  }

  static std::string_view skip_spaces(std::string_view text) {
    const auto first = text.find_first_not_of(" \n\t");
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
  }

  std::string_view text_;
  const std::string& file_;
};

Header parse_header(std::string_view text, const std::string& file) {
  const HeaderText fields(text, file);
  Header header{std::string(fields.between("descr", '\'', '\'')), fields.boolean("fortran_order"), {}};
  std::istringstream extents{std::string(fields.between("shape", '(', ')'))};
  for (std::string part; std::getline(extents, part, ',');) {
    const auto first = part.find_first_not_of(' ');
    if (first == std::string::npos) continue;  // after the last comma
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(part.data() + first, part.data() + part.size(), extent);
    if (error != std::errc() || std::string_view(end).find_first_not_of(' ') != std::string_view::npos || extent < 0)
      fields.refuse("shape");
    header.shape.push_back(extent);
  }
  return header;
}

void check_descr(const std::string& descr, Dtype dtype, const std::string& file) {
  const bool fits = (dtype == Dtype::float64 && descr == "<f8") || (dtype == Dtype::float32 && descr == "<f4") ||
                    (dtype == Dtype::float16 && descr == "<f2") ||
                    (dtype == Dtype::bfloat16 && (descr == "<u2" || descr == "|V2" || descr == "<V2"));
  if (!fits) throw NpyError(fmt::format("{}: elements are '{}', the spec says {}", file, descr, name_of(dtype)));
}

}  // namespace

NpyTable::NpyTable(const std::filesystem::path& file, Dtype dtype) : file_(file), dtype_(dtype) {
  const std::string name = file.string();
  if (const std::string why = why_no_file(file); !why.empty()) throw NpyError(fmt::format("{}: {}", name, why));
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw NpyError(fmt::format("{}: cannot be opened", name));
  std::array<unsigned char, 12> start{};
  stream.read(reinterpret_cast<char*>(start.data()), 8);
  if (!stream || std::memcmp(start.data(), magic.data(), magic.size()) != 0) {
    throw NpyError(fmt::format("{}: offset 0: not a .npy file", name));
  }
  const int version = start[6];
  if (version < 1 || version > 3)
    throw NpyError(fmt::format("{}: offset 6: .npy version {} is not known", name, version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  stream.read(reinterpret_cast<char*>(start.data() + 8), static_cast<std::streamsize>(length_bytes));
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= std::size_t{start[8 + i]} << (8 * i);
  if (!stream || length > max_header) throw NpyError(fmt::format("{}: offset 8: header length {}", name, length));
  std::string text(length, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(length));
  if (!stream) throw NpyError(fmt::format("{}: the file ends inside its header", name));

  const Header header = parse_header(text, name);
  check_descr(header.descr, dtype, name);
  if (header.shape.size() != 2)
    throw NpyError(fmt::format("{}: shape {} is not [positions, dim]", name, shape_text(header.shape)));
  if (header.fortran_order)
    throw NpyError(fmt::format("{}: is in Fortran order; save it with numpy.ascontiguousarray", name));
  rows_ = header.shape[0];
  columns_ = header.shape[1];
  data_offset_ = static_cast<std::int64_t>(8 + length_bytes + length);
  std::uint64_t expected = 0;
  try {
    expected = static_cast<std::uint64_t>(data_offset_) +
               static_cast<std::uint64_t>(elements_of(header.shape)) * size_of(dtype);
  } catch (const std::invalid_argument& failure) {
    throw NpyError(fmt::format("{}: {}", name, failure.what()));
  }
  const std::uint64_t actual = std::filesystem::file_size(file);
  if (actual < expected) throw NpyError(fmt::format("{}: {} bytes, its header needs {}", name, actual, expected));
}

Tensor NpyTable::gather(std::span<const std::int64_t> indices) const {
  Tensor rows = Tensor::zeros(dtype_, {static_cast<std::int64_t>(indices.size()), columns_});
  const std::size_t row_bytes = static_cast<std::size_t>(columns_) * size_of(dtype_);
  std::ifstream stream(file_, std::ios::binary);
  char* destination = reinterpret_cast<char*>(rows.data.data());
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= rows_) throw NpyError(fmt::format("{}: has no row {}", file_.string(), index));
    stream.seekg(data_offset_ + index * static_cast<std::int64_t>(row_bytes));
    stream.read(destination, static_cast<std::streamsize>(row_bytes));
    if (!stream) throw NpyError(fmt::format("{}: row {} cannot be read", file_.string(), index));
    destination += row_bytes;
  }
  return rows;
}

}  // namespace sextant
