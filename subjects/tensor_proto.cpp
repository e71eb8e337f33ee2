#include "subjects/tensor_proto.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "subjects/preview.hpp"

namespace sextant {
namespace {

using Bytes = std::span<const std::byte>;

// How the encoding of protocol buffers tells the length of a value (protobuf.dev, "Encoding"). Groups are not among
// them: no field of TensorProto is one.
enum class WireType { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

struct Field {
  std::uint64_t number = 0;
  WireType type = WireType::varint;
  std::size_t offset = 0;   // of the field in the message
  std::uint64_t value = 0;  // of a varint
  Bytes bytes;              // the value as it is encoded; of length_delimited without the length
};

// The fields of a message, one after the other.
class Message {
 public:
  Message(Bytes bytes, const std::string& file) : bytes_(bytes), file_(file), origin_(bytes.data()) {}

  // Part of it, read by itself: packed numbers.
  Message within(Bytes part) const {
    Message message(part, file_);
    message.origin_ = origin_;
    return message;
  }

  bool at_end() const { return at_ == bytes_.size(); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    constexpr int most_bytes = 10;
    for (int i = 0; i < most_bytes; ++i) {
      const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
      if (i == most_bytes - 1 && byte > 1) break;
      value |= (byte & 0x7F) << (7 * i);
      if (byte < 0x80) return value;
    }
    refuse(offset(), "a number of more than 64 bits");
  }

  Field next() {
    Field field;
    field.offset = offset();
    const std::uint64_t tag = varint();
    field.number = tag >> 3;
    field.type = static_cast<WireType>(tag & 7);
    if (field.number == 0) refuse(field.offset, "field number 0");
    const std::size_t start = at_;
    switch (field.type) {
      case WireType::varint:
        field.value = varint();
        field.bytes = bytes_.subspan(start, at_ - start);
        return field;
      case WireType::fixed64: field.bytes = take(8); return field;
      case WireType::fixed32: field.bytes = take(4); return field;
      case WireType::length_delimited: field.bytes = take(varint()); return field;
    }
    refuse(field.offset, fmt::format("wire type {}", tag & 7));
  }

  [[noreturn]] void refuse(std::size_t offset, std::string_view why) const {
    throw ArrayFileError(fmt::format("{}: offset {}: {}: not a TensorProto of ONNX", file_, offset, why));
  }

 private:
  std::size_t offset() const { return static_cast<std::size_t>(bytes_.data() + at_ - origin_); }

  Bytes take(std::uint64_t count) {
    if (count > bytes_.size() - at_)
      refuse(offset(), fmt::format("{} bytes expected, the file has {} more", count, bytes_.size() - at_));
    const Bytes taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  Bytes bytes_;
  const std::string& file_;
  const std::byte* origin_;  // of the file: offsets in messages are counted from here
  std::size_t at_ = 0;
};

// onnx.proto, TensorProto.
namespace number {
constexpr std::uint64_t dims = 1;
constexpr std::uint64_t data_type = 2;
constexpr std::uint64_t segment = 3;
constexpr std::uint64_t float_data = 4;
constexpr std::uint64_t int32_data = 5;
constexpr std::uint64_t int64_data = 7;
constexpr std::uint64_t name = 8;
constexpr std::uint64_t raw_data = 9;
constexpr std::uint64_t double_data = 10;
constexpr std::uint64_t external_data = 13;
constexpr std::uint64_t data_location = 14;
}  // namespace number

// A TensorProto.DataType, and the field that has its elements where raw_data does not.
struct DataType {
  std::uint64_t value;
  std::string_view name;
  ElementType type;
  std::uint64_t field;
  std::string_view field_name;
};

constexpr std::array<DataType, 7> read_types{{
    {1, "FLOAT", ElementType::float32, number::float_data, "float_data"},
    {7, "INT64", ElementType::int64, number::int64_data, "int64_data"},
    {10, "FLOAT16", ElementType::float16, number::int32_data, "int32_data"},
    {11, "DOUBLE", ElementType::float64, number::double_data, "double_data"},
    {14, "COMPLEX64", ElementType::complex64, number::float_data, "float_data"},
    {15, "COMPLEX128", ElementType::complex128, number::double_data, "double_data"},
    {16, "BFLOAT16", ElementType::bfloat16, number::int32_data, "int32_data"},
}};

// The message's fields as they lie there.
class TensorFields {
 public:
  TensorFields(Bytes bytes, const std::string& file) : message_(bytes, file), file_(file) {
    while (!message_.at_end()) take(message_.next());
  }

  NamedTensor tensor(std::vector<std::byte>& decoded) const {
    NamedTensor tensor{name_, {}};
    StoredArray& array = tensor.array;
    array.shape = dims_;
    array.strides = dense_strides(dims_, Fastest::last_axis);
    const std::uint64_t elements = count();
    if (data_type_ == 0) refuse("has no data_type: not a TensorProto of ONNX");
    const DataType* type = read_type();
    array.type_text = type != nullptr ? std::string(type->name) : fmt::format("of data_type {}", data_type_);
    if (is_external_) refuse("its elements are external data, in a file of their own: save the tensor with raw_data");
    if (type == nullptr) return tensor;
    array.type = type->type;
    const std::uint64_t expected = elements * size_of(array.type);
    const bool is_raw = raw_.has_value();
    for (const DataType& other : read_types) {
      const bool is_own = !is_raw && other.field == type->field;
      if (!is_own && elements_.contains(other.field))
        refuse(fmt::format("elements in {} beside {}", other.field_name, is_raw ? "raw_data" : type->field_name));
    }
    array.data = is_raw ? *raw_ : typed(*type, expected, decoded);
    if (array.data.size() != expected) {
      refuse(fmt::format("{} has {} bytes of elements, dims {} of {} need {}", is_raw ? "raw_data" : type->field_name,
                         array.data.size(), shape_text(dims_), array.type_text, expected));
    }
    return tensor;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw ArrayFileError(name_.empty() ? fmt::format("{}: {}", file_, why)
                                       : fmt::format("{}: \"{}\": {}", file_, preview(name_), why));
  }

  void take(const Field& field) {
    const auto expect = [&](WireType type, std::string_view what) {
      if (field.type != type) message_.refuse(field.offset, fmt::format("{} in another encoding", what));
    };
    switch (field.number) {
      case number::dims: take_dims(field); break;
      case number::data_type:
        expect(WireType::varint, "data_type");
        data_type_ = field.value;
        break;
      case number::segment: message_.refuse(field.offset, "a segment of a larger tensor");
      case number::float_data: take_elements(field, WireType::fixed32); break;
      case number::int32_data:
      case number::int64_data: take_elements(field, WireType::varint); break;
      case number::double_data: take_elements(field, WireType::fixed64); break;
      case number::name:
        expect(WireType::length_delimited, "name");
        name_.assign(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
        break;
      case number::raw_data:
        expect(WireType::length_delimited, "raw_data");
        raw_ = field.bytes;
        break;
      case number::external_data: is_external_ = true; break;
      case number::data_location:
        expect(WireType::varint, "data_location");
        is_external_ = is_external_ || field.value != 0;
        break;
      default: break;
    }
  }

  // One number by itself, or many that are packed.
  void expect_numbers(const Field& field, WireType type) const {
    if (field.type != type && field.type != WireType::length_delimited)
      message_.refuse(field.offset, fmt::format("field {} in another encoding", field.number));
  }

  void take_dims(const Field& field) {
    expect_numbers(field, WireType::varint);
    Message extents = message_.within(field.bytes);
    while (!extents.at_end()) {
      // NumPy has 64 axes at most.
      if (dims_.size() == 64) message_.refuse(field.offset, "more than 64 dims");
      dims_.push_back(static_cast<std::int64_t>(extents.varint()));
    }
  }

  void take_elements(const Field& field, WireType type) {
    expect_numbers(field, type);
    elements_[field.number].push_back(field.bytes);
  }

  const DataType* read_type() const {
    for (const DataType& type : read_types) {
      if (type.value == data_type_) return &type;
    }
    return nullptr;
  }

  std::uint64_t count() const {
    try {
      return static_cast<std::uint64_t>(elements_of(dims_));
    } catch (const std::invalid_argument& failure) {
      refuse(failure.what());
    }
  }

  // The elements' bytes, little-endian; of numbers that are decoded no more than one beyond those expected.
  Bytes typed(const DataType& type, std::uint64_t expected, std::vector<std::byte>& decoded) const {
    const auto parts = elements_.find(type.field);
    if (parts == elements_.end()) return {};
    const bool is_fixed = type.field == number::float_data || type.field == number::double_data;
    if (is_fixed && parts->second.size() == 1) return parts->second.front();
    const std::size_t width = size_of(type.type);
    for (const Bytes part : parts->second) {
      if (is_fixed) {
        decoded.insert(decoded.end(), part.begin(), part.end());
        continue;
      }
      Message numbers = message_.within(part);
      while (!numbers.at_end() && decoded.size() <= expected) {
        const std::uint64_t value = numbers.varint();
        if (width == 2 && value > 0xFFFF)
          refuse(fmt::format("int32_data holds {}, expected the 16 bits of a {}", value, type.name));
        for (std::size_t i = 0; i < width; ++i) decoded.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
      }
    }
    return decoded;
  }

  Message message_;
  const std::string& file_;
  std::string name_;
  std::uint64_t data_type_ = 0;
  std::vector<std::int64_t> dims_;
  std::optional<Bytes> raw_;
  std::map<std::uint64_t, std::vector<Bytes>> elements_;  // by the number of their field
  bool is_external_ = false;
};

}  // namespace

NamedTensor read_tensor_proto(std::span<const std::byte> bytes, const std::string& file,
                              std::vector<std::byte>& decoded) {
  if (bytes.empty()) throw ArrayFileError(fmt::format("{}: empty: not a TensorProto of ONNX", file));
  return TensorFields(bytes, file).tensor(decoded);
}

}  // namespace sextant
