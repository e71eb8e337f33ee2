#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "lib/numeric/tensor.hpp"

// Files of arrays as other programs write them, for tests.

namespace sextant::written {

/// The bytes of values of a dtype, '<' or '>'.
inline std::string elements(Dtype dtype, char order, const std::vector<double>& values) {
  Tensor tensor = Tensor::zeros(dtype, {std::ssize(values)});
  for (std::int64_t i = 0; i < std::ssize(values); ++i) tensor.set(i, values[static_cast<std::size_t>(i)]);
  std::string bytes(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  const std::size_t width = size_of(dtype);
  for (std::size_t i = 0; order == '>' && i < bytes.size(); i += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
  return bytes;
}

/// 0, 1, 2, ... of that shape.
inline std::string counting(Dtype dtype, char order, const std::vector<std::int64_t>& shape) {
  std::vector<double> values(static_cast<std::size_t>(elements_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return elements(dtype, order, values);
}

/// A .npy file, version 1, of this header and data.
inline std::string npy_of_header(std::string header, const std::string& data) {
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += {'\x01', '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  return bytes + header + data;
}

/// NumPy's name of a dtype: f4; of bfloat16 that of its bits.
inline std::string_view numpy_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return "f8";
    case Dtype::float32: return "f4";
    case Dtype::float16: return "f2";
    case Dtype::bfloat16: return "u2";
    case Dtype::int64: return "i8";
  }
  return "";
}

inline std::string npy_of_type(const std::string& descr, const std::string& shape, const std::string& data,
                               const std::string& fortran_order = "False") {
  return npy_of_header("{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape + ", }",
                       data);
}

inline std::string npy(Dtype dtype, char order, const std::string& fortran_order, const std::string& shape,
                       const std::string& data) {
  return npy_of_type(order + std::string(numpy_name(dtype)), shape, data, fortran_order);
}

/// A member of an archive: its name and content, and whether it is deflated.
struct Member {
  std::string name;
  std::string content;
  bool is_deflated = false;
};

inline std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

inline std::string deflated(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// How an archive's numbers are written: in their places, or all ones there and in the 64-bit extension.
enum class Width { plain, wide };

/// A ZIP archive of members.
inline std::string zip(const std::vector<Member>& members, Width width = Width::plain) {
  std::string bytes;
  std::string directory;
  for (const Member& member : members) {
    const std::string data = member.is_deflated ? deflated(member.content) : member.content;
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(member.content.data()), static_cast<uInt>(member.content.size()));
    const std::uint64_t at = bytes.size();
    const std::string about = number(0, 2) + number(member.is_deflated ? 8 : 0, 2) + number(0, 4) + number(checksum, 4);
    const std::string sizes = number(data.size(), 4) + number(member.content.size(), 4) + number(member.name.size(), 2);
    bytes += "PK\x03\x04" + number(20, 2) + about + sizes + number(0, 2) + member.name + data;
    std::string extra;
    std::string own_sizes = sizes;
    std::string place = number(at, 4);
    if (width == Width::wide) {
      extra = number(1, 2) + number(24, 2) + number(member.content.size(), 8) + number(data.size(), 8) + number(at, 8);
      own_sizes = number(0xFFFFFFFF, 4) + number(0xFFFFFFFF, 4) + number(member.name.size(), 2);
      place = number(0xFFFFFFFF, 4);
    }
    directory += "PK\x01\x02" + number(20, 2) + number(20, 2) + about + own_sizes + number(extra.size(), 2) +
                 number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) + place + member.name + extra;
  }
  const std::uint64_t at = bytes.size();
  bytes += directory;
  if (width == Width::wide) {
    const std::uint64_t wide = bytes.size();
    bytes += "PK\x06\x06" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) + number(members.size(), 8) +
             number(members.size(), 8) + number(directory.size(), 8) + number(at, 8);
    bytes += "PK\x06\x07" + number(0, 4) + number(wide, 8) + number(1, 4);
  }
  const std::uint64_t count = width == Width::wide ? 0xFFFF : members.size();
  bytes += "PK\x05\x06" + number(0, 4) + number(count, 2) + number(count, 2) + number(directory.size(), 4) +
           number(width == Width::wide ? 0xFFFFFFFF : at, 4) + number(0, 2);
  return bytes;
}

/// A number as protocol buffers encode it.
inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

/// A field of a message of protocol buffers: a number, or bytes and their length.
inline std::string field(std::uint64_t number, std::uint64_t value) { return varint(number << 3) + varint(value); }
inline std::string field(std::uint64_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

/// TensorProto.DataType of a dtype (onnx.proto).
inline std::uint64_t onnx_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return 11;
    case Dtype::float32: return 1;
    case Dtype::float16: return 10;
    case Dtype::bfloat16: return 16;
    case Dtype::int64: return 7;
  }
  return 0;
}

/// A TensorProto of ONNX whose elements are raw.
inline std::string tensor_proto(const std::string& name, Dtype dtype, const std::vector<std::int64_t>& dims,
                                const std::string& data) {
  std::string bytes;
  for (const std::int64_t extent : dims) bytes += field(1, static_cast<std::uint64_t>(extent));
  return bytes + field(2, onnx_type(dtype)) + field(8, name) + field(9, data);
}

}  // namespace sextant::written
