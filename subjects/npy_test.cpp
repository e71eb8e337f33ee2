#include "subjects/npy.hpp"

#include <gtest/gtest.h>

#include <array>

#include "subjects/written_arrays_test.hpp"

namespace sextant::npy_test {
namespace {

using written::counting;
using written::npy;

std::string refusal(const std::string& bytes) {
  try {
    read_npy(std::as_bytes(std::span(bytes)), "table.npy");
  } catch (const ArrayFileError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_counts(const std::string& bytes, Dtype dtype) {
  const StoredArray array = read_npy(std::as_bytes(std::span(bytes)), "table.npy");
  ASSERT_TRUE(holds(array, dtype)) << array.type_text;
  const auto rows = rows_of(squeezed(array), 4);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->rows, 3);
  const Tensor table = gather(*rows, dtype, std::array<std::int64_t, 4>{0, 1, 2, 1});
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(table.at(i), static_cast<double>(i)) << i;
  EXPECT_EQ(table.at(12), 4);
}

TEST(Npy, ReadsEveryOrderOfBytesAndAxesOfWhatCountsUp) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    for (const char order : {'<', '>'}) {
      expect_counts(npy(dtype, order, "False", "(3, 4)", counting(dtype, order, {3, 4})), dtype);
      expect_counts(npy(dtype, order, "False", "(1, 3, 1, 4, 1)", counting(dtype, order, {3, 4})), dtype);
      // The first axis fastest: elements in the order of a transposed array.
      std::vector<double> transposed;
      for (int column = 0; column < 4; ++column) {
        for (int row = 0; row < 3; ++row) transposed.push_back(4 * row + column);
      }
      expect_counts(npy(dtype, order, "True", "(3, 4)", written::elements(dtype, order, transposed)), dtype);
    }
  }
}

TEST(Npy, RefusesBytesThatAreNone) {
  const auto with_header = [](const std::string& header, std::size_t bytes) {
    return written::npy_of_header(header, std::string(bytes, '\0'));
  };
  EXPECT_NE(refusal("").find("the file is empty"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02}q").find("a pickle, which is not read"), std::string::npos);
  EXPECT_NE(refusal("position,value\n0,1\n").find("offset 0: not a .npy file"), std::string::npos);
  EXPECT_NE(refusal(std::string("\x93NUMPY\x01\x00\x76\x00{'descr'", 17)).find("ends inside its header"),
            std::string::npos);
  EXPECT_NE(refusal(std::string("\x93NUMPY\x01\x00", 8)).find("ends inside its header"), std::string::npos);
  EXPECT_NE(refusal(std::string("\x93NUMPY\x09\x00\x76\x00", 10)).find("version 9 is not known"), std::string::npos);
  EXPECT_NE(refusal(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12)).find("header length 4294967295"),
            std::string::npos);
  EXPECT_NE(
      refusal(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 47)).find("its header needs"),
      std::string::npos);
  for (const char* shape : {"(999999999999, 999999999999)", "(2, 9223372036854775807, 0)", "(576460752303423489,)"}) {
    EXPECT_NE(refusal(with_header(std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + ", }", 4))
                  .find("too many elements"),
              std::string::npos)
        << shape;
  }
  EXPECT_NE(refusal(with_header("{'fortran_order': False, 'shape': (3, 4), }", 48)).find("no valid 'descr'"),
            std::string::npos);
  EXPECT_NE(refusal(with_header("{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4), }", 48))
                .find("no valid 'fortran_order'"),
            std::string::npos);
  std::string axes;
  for (int i = 0; i < 65; ++i) axes += "1, ";
  for (const std::string& shape :
       {std::string("(3, four)"), std::string("(3, -4)"), std::string("(3, 4x)"),
        std::string("(3, 99999999999999999999)"), std::string("3, 4)"), std::string("(3, 4"), "(" + axes + ")"}) {
    EXPECT_NE(
        refusal(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape, 48)).find("no valid 'shape'"),
        std::string::npos)
        << shape;
  }
}

}  // namespace
}  // namespace sextant::npy_test
