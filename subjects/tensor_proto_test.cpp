#include "subjects/tensor_proto.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "subjects/written_arrays_test.hpp"

namespace sextant::tensor_proto_test {
namespace {

using written::counting;
using written::field;
using written::tensor_proto;
using written::varint;

constexpr std::uint64_t float_type = 1;
constexpr std::uint64_t int64_type = 7;

std::string refusal(const std::string& bytes) {
  std::vector<std::byte> decoded;
  try {
    read_tensor_proto(std::as_bytes(std::span(bytes)), "output_0.pb", decoded);
  } catch (const ArrayFileError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_refusal(const std::string& bytes, const std::string& why) {
  const std::string said = refusal(bytes);
  EXPECT_NE(said.find(why), std::string::npos) << said;
}

void expect_counts(const std::string& bytes, Dtype dtype) {
  std::vector<std::byte> decoded;
  const NamedTensor tensor = read_tensor_proto(std::as_bytes(std::span(bytes)), "output_0.pb", decoded);
  EXPECT_EQ(tensor.name, "table");
  ASSERT_TRUE(holds(tensor.array, dtype)) << tensor.array.type_text;
  const auto rows = rows_of(squeezed(tensor.array), 4);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->rows, 3);
  const Tensor table = gather(*rows, dtype, std::array<std::int64_t, 3>{0, 1, 2});
  for (std::int64_t i = 0; i < 12; ++i) {
    const double value =
        dtype == Dtype::int64 ? static_cast<double>(table.integers()[static_cast<std::size_t>(i)]) : table.at(i);
    EXPECT_EQ(value, static_cast<double>(i)) << i;
  }
}

// 0, 1, ..., 11.
std::string counted(Dtype dtype) {
  if (dtype != Dtype::int64) return counting(dtype, '<', {3, 4});
  std::string bytes;
  for (std::uint64_t i = 0; i < 12; ++i) bytes += written::number(i, 8);
  return bytes;
}

// The elements of an array as the field of their type has them.
std::string typed(Dtype dtype, bool is_packed) {
  const std::string bytes = counted(dtype);
  const std::size_t width = size_of(dtype);
  std::string packed;
  std::string apart;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::string element = bytes.substr(at, width);
    if (dtype == Dtype::float32) apart += varint(4U << 3 | 5U) + element;
    if (dtype == Dtype::float64) apart += varint(10U << 3 | 1U) + element;
    if (dtype != Dtype::float32 && dtype != Dtype::float64) {
      std::uint64_t value = 0;
      for (std::size_t i = 0; i < width; ++i) value |= std::uint64_t{static_cast<unsigned char>(element[i])} << (8 * i);
      element = varint(value);
      apart += varint((dtype == Dtype::int64 ? 7U : 5U) << 3) + element;
    }
    packed += element;
  }
  const int number = dtype == Dtype::float32 ? 4 : dtype == Dtype::float64 ? 10 : dtype == Dtype::int64 ? 7 : 5;
  return is_packed ? field(number, packed) : apart;
}

TEST(TensorProto, ReadsEveryTypeRawPackedAndApart) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int64}) {
    SCOPED_TRACE(std::string(name_of(dtype)));
    expect_counts(tensor_proto("table", dtype, {3, 4}, counted(dtype)), dtype);
    expect_counts(tensor_proto("table", dtype, {1, 3, 1, 4}, counted(dtype)), dtype);
    for (const bool is_packed : {false, true}) {
      const std::string head = field(8, std::string("table")) + field(2, written::onnx_type(dtype));
      expect_counts(head + field(1, 3) + field(1, 4) + typed(dtype, is_packed), dtype);
      // Fields in any order, dims packed, and some that are not known.
      expect_counts(typed(dtype, is_packed) + field(12, std::string("about it")) + field(99, 7) + head +
                        field(1, varint(3) + varint(4)),
                    dtype);
    }
  }
}

TEST(TensorProto, HasPairsOfComplexNumbers) {
  constexpr std::uint64_t complex64 = 14;
  const std::string bytes = field(1, 3) + field(1, 2) + field(2, complex64) + field(8, std::string("freqs_cis")) +
                            field(4, counting(Dtype::float32, '<', {12}));
  std::vector<std::byte> decoded;
  const NamedTensor tensor = read_tensor_proto(std::as_bytes(std::span(bytes)), "output_0.pb", decoded);
  EXPECT_TRUE(decoded.empty());
  const StoredArray pairs = as_real(tensor.array);
  EXPECT_EQ(pairs.shape, (std::vector<std::int64_t>{3, 2, 2}));
  EXPECT_EQ(pairs.type, ElementType::float32);
}

TEST(TensorProto, RefusesBytesThatAreNone) {
  const std::string whole = tensor_proto("table", Dtype::float32, {3, 4}, counting(Dtype::float32, '<', {3, 4}));
  EXPECT_EQ(refusal(whole), "accepted");
  expect_refusal("", "output_0.pb: empty: not a TensorProto");
  expect_refusal(field(1, 3), "has no data_type");
  expect_refusal(whole.substr(0, whole.size() - 1), "48 bytes expected, the file has 47 more");
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "accepted") << size;
  expect_refusal("\x93NUMPY", "not a TensorProto");
  expect_refusal(std::string(11, '\xFF'), "a number of more than 64 bits");
  expect_refusal(std::string(1, '\0'), "field number 0");
  expect_refusal(whole + "\x0B", fmt::format("offset {}: wire type 3", whole.size()));
  expect_refusal(field(2, std::string("x")), "data_type in another encoding");
  expect_refusal(whole + field(3, std::string()), "a segment of a larger tensor");
  std::string dims;
  for (int i = 0; i < 65; ++i) dims += field(1, 1);
  expect_refusal(dims, "more than 64 dims");
}

TEST(TensorProto, RefusesElementsThatAreNotAsTheDimsSay) {
  const std::string data = counting(Dtype::float32, '<', {3, 4});
  const auto with = [](const std::string& elements, std::uint64_t type = float_type) {
    return field(1, 3) + field(1, 4) + field(2, type) + field(8, std::string("t")) + elements;
  };
  EXPECT_EQ(refusal(with(field(9, data))), "accepted");
  expect_refusal(with(""), "\"t\": float_data has 0 bytes of elements, dims [3, 4] of FLOAT need 48");
  expect_refusal(with(field(9, data + "1")), "raw_data has 49 bytes of elements");
  expect_refusal(with(field(4, data.substr(4))), "float_data has 44 bytes");
  expect_refusal(with(field(9, data) + field(4, data)), "elements in float_data beside raw_data");
  expect_refusal(with(field(4, data) + field(7, 1)), "elements in int64_data beside float_data");
  expect_refusal(with(field(5, 0x10000), 10), "int32_data holds 65536, expected the 16 bits of a FLOAT16");
  // More than are expected are not decoded.
  expect_refusal(with(field(7, std::string(1000, '\1')), int64_type), "int64_data has 104 bytes");
  // Each of two ways to say that they lie elsewhere.
  const std::string location = field(1, std::string("location")) + field(2, std::string("weights.bin"));
  expect_refusal(with(field(13, location) + field(14, 1)), "\"t\": its elements are external data");
  expect_refusal(with(field(14, 1)), "external data");
  expect_refusal(field(1, std::uint64_t(-1)) + field(2, float_type), "negative extent");
  expect_refusal(field(1, std::uint64_t{1} << 60) + field(2, float_type), "too many elements");
  expect_refusal(field(1, 0) + field(1, std::uint64_t{1} << 62) + field(2, float_type), "too many elements");
}

TEST(TensorProto, KeepsATypeThatIsNotReadByItsNumber) {
  const std::string bytes = field(1, 2) + field(2, 9) + field(8, std::string("mask")) + field(9, std::string(2, '\1'));
  std::vector<std::byte> decoded;
  const NamedTensor tensor = read_tensor_proto(std::as_bytes(std::span(bytes)), "input_1.pb", decoded);
  EXPECT_EQ(tensor.array.type, ElementType::other);
  EXPECT_EQ(tensor.array.type_text, "of data_type 9");
}

}  // namespace
}  // namespace sextant::tensor_proto_test
