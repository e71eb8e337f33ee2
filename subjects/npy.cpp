#include "subjects/npy.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

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
    throw ArrayFileError(fmt::format("{}: header has no valid '{}'", file_, key));
  }

 private:
  std::string_view after(std::string_view key) const {
    const std::string quoted = fmt::format("'{}'", key);
    const auto found = text_.find(quoted);
    if (found == std::string_view::npos) refuse(key);
    if (text_.find(quoted, found + 1) != std::string_view::npos)
      throw ArrayFileError(fmt::format("{}: header has '{}' twice", file_, key));
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
  // NumPy has 64 axes at most.
  if (header.shape.size() > 64) fields.refuse("shape");
  return header;
}

ElementType element_type(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, ElementType>, 8> kinds{{{"f8", ElementType::float64},
                                                                           {"f4", ElementType::float32},
                                                                           {"f2", ElementType::float16},
                                                                           {"u2", ElementType::bits16},
                                                                           {"V2", ElementType::bits16},
                                                                           {"i8", ElementType::int64},
                                                                           {"c8", ElementType::complex64},
                                                                           {"c16", ElementType::complex128}}};
  for (const auto& [known, type] : kinds) {
    if (known == kind) return type;
  }
  return ElementType::other;
}

}  // namespace

StoredArray read_npy(std::span<const std::byte> bytes, const std::string& name) {
  const auto byte_at = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  if (bytes.empty()) throw ArrayFileError(fmt::format("{}: the file is empty", name));
  // torch.save of before PyTorch 1.6, and other pickles: the operation PROTO and its version.
  if (bytes.size() > 1 && byte_at(0) == 0x80 && byte_at(1) >= 2 && byte_at(1) <= 5)
    throw ArrayFileError(
        fmt::format("{}: a pickle, which is not read: save it by torch.save of PyTorch 1.6 or later, "
                    "or as .npy, .npz or .safetensors",
                    name));
  if (bytes.size() < 8 || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    throw ArrayFileError(fmt::format("{}: offset 0: not a .npy file", name));
  const std::size_t version = byte_at(6);
  if (version < 1 || version > 3)
    throw ArrayFileError(fmt::format("{}: offset 6: .npy version {} is not known", name, version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes && start <= bytes.size(); ++i) length |= byte_at(8 + i) << (8 * i);
  if (length > max_header) throw ArrayFileError(fmt::format("{}: offset 8: header length {}", name, length));
  if (start + length > bytes.size()) throw ArrayFileError(fmt::format("{}: the file ends inside its header", name));
  const Header header = parse_header({reinterpret_cast<const char*>(bytes.data() + start), length}, name);

  StoredArray array;
  array.type_text = fmt::format("'{}'", header.descr);
  if (header.descr.size() > 1) array.type = element_type(std::string_view(header.descr).substr(1));
  array.order = header.descr.starts_with('>') ? std::endian::big : std::endian::little;
  array.shape = header.shape;
  array.data = bytes.subspan(start + length);
  std::uint64_t expected = 0;
  try {
    expected = static_cast<std::uint64_t>(elements_of(header.shape)) * size_of(array.type);
  } catch (const std::invalid_argument& failure) {
    throw ArrayFileError(fmt::format("{}: {}", name, failure.what()));
  }
  array.strides = dense_strides(header.shape, header.fortran_order ? Fastest::first_axis : Fastest::last_axis);
  if (array.data.size() < expected) {
    throw ArrayFileError(
        fmt::format("{}: {} bytes, its header needs {}", name, bytes.size(), start + length + expected));
  }
  return array;
}

}  // namespace sextant
