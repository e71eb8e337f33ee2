#include "subjects/torch_pickle.hpp"

#include <gtest/gtest.h>
// rapidcheck/gtest.h needs gtest before it.
#include <rapidcheck/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "subjects/array_file.hpp"
#include "subjects/written_arrays_test.hpp"

namespace sextant::torch_pickle_test {
namespace {

using namespace std::string_literals;

// What torch 2.9 saves of {"encoding": arange(14.)[2:].reshape(3, 4)}: its strides and all as texts.
std::string pickle(const std::string& offset = "K\x02"s, const std::string& shape = "K\x03K\x04\x86"s,
                   const std::string& strides = "K\x04K\x01\x86"s) {
  return "\x80\x02}q\x00X\x08\x00\x00\x00"s + "encodingq\x01"s +
         "ctorch._utils\n_rebuild_tensor_v2\nq\x02((X\x07\x00\x00\x00storageq\x03"s +
         "ctorch\nFloatStorage\nq\x04X\x01\x00\x00\x00"s + "0q\x05X\x03\x00\x00\x00"s + "cpuq\x06K\x0Etq\x07Q"s +
         offset + shape + "q\x08"s + strides + "q\x09\x89"s + "ccollections\nOrderedDict\nq\x0A)Rq\x0Btq\x0CRq\x0Ds."s;
}

std::string file_of(const std::string& data_pkl, char order = '<', const std::string& said = "little") {
  return written::zip({{"small/data.pkl", data_pkl},
                       {"small/byteorder", said},
                       {"small/data/0", written::counting(Dtype::float32, order, {14})}});
}

class TorchFile : public testing::Test {
 protected:
  void SetUp() override {
    file_ = std::filesystem::path(testing::TempDir()) /
            ("torch_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".pt");
  }
  void TearDown() override { std::filesystem::remove(file_); }

  Tensor rows(const std::string& bytes) const {
    std::ofstream(file_, std::ios::binary) << bytes;
    const ArrayFile file(file_);
    const auto rows = rows_of(squeezed(file.array("encoding")), 4);
    return rows ? gather(*rows, Dtype::float32, std::array{rows->rows - 1}) : Tensor();
  }

  std::string refusal(const std::string& bytes) const {
    try {
      rows(bytes);
    } catch (const ArrayFileError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path file_;
};

TEST_F(TorchFile, IsReadWhereItsStorageLies) {
  for (const auto& [order, said] : {std::pair{'<', "little"}, {'>', "big"}})
    EXPECT_EQ(rows(file_of(pickle(), order, said)).at(3), 13);
  EXPECT_EQ(rows(file_of(pickle("K\x01"s, "K\x03K\x04\x86"s, "K\x01K\x03\x86"s))).at(3), 12);  // transposed
}

TEST_F(TorchFile, CallsNothing) {
  const std::string evil = "\x80\x02}q\x00X\x08\x00\x00\x00"s + "encodingq\x01"s +
                           "cposix\nsystem\nq\x02X\x04\x00\x00\x00"s + "trueq\x03\x85Rs."s;
  EXPECT_NE(refusal(file_of(evil)).find("calls posix.system, which no file of weights alone needs"), std::string::npos);
  for (const std::string& operation : {"\x93"s, "i"s, "o"s, "\x81"s, "\x92"s, "I1\n"s, "P0\n"s, "\x97"s})
    EXPECT_NE(refusal(file_of("\x80\x02"s + operation + "."s)).find("is none that a file"), std::string::npos);
}

TEST_F(TorchFile, RefusesTensorsBeyondTheirStorage) {
  const std::string largest = "\x8A\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"s;
  EXPECT_NE(refusal(file_of(pickle("K\x03"s))).find("beyond its storage"), std::string::npos);
  EXPECT_NE(refusal(file_of(pickle(largest))).find("beyond its storage"), std::string::npos);
  EXPECT_NE(refusal(file_of(pickle("K\x02"s, "K\x03K\x04\x86"s, largest + "K\x01\x86"s))).find("beyond its storage"),
            std::string::npos);
  EXPECT_NE(refusal(file_of(pickle("K\x02"s, largest + largest + "\x86"s))).find("too many elements"),
            std::string::npos);
  EXPECT_NE(refusal(file_of(pickle("J\xFF\xFF\xFF\xFF"s))).find("expected a tensor's"), std::string::npos);
  EXPECT_NE(refusal(file_of(pickle("K\x02"s, "K\x0C\x85"s))).find("as many strides as extents"), std::string::npos);
  EXPECT_NE(refusal(file_of("\x80\x02}."s)).find("holds no tensor"), std::string::npos);
  EXPECT_NE(refusal(file_of("\x80\x02}"s)).find("ends too early"), std::string::npos);
  EXPECT_NE(refusal(file_of("\x80\x02."s)).find("takes more than it has"), std::string::npos);
  EXPECT_NE(refusal(file_of("\x80\x02h\x07."s)).find("recalls what it has not kept"), std::string::npos);
  // Some hundred bytes of memory for each.
  EXPECT_NE(refusal(file_of("\x80\x02"s + std::string((1 << 20) + 1, '}'))).find("more than 1048576 values"),
            std::string::npos);
  // A list within itself.
  EXPECT_NE(refusal(file_of("\x80\x02]q\x00h\x00"s + "a."s)).find("holds no tensor"), std::string::npos);
}

RC_GTEST_FIXTURE_PROP(TorchFile, IsReadOrRefusedWhateverItsPickleSays, ()) {
  std::string bytes = pickle();
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i)
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  try {
    rows(file_of(bytes));
  } catch (const ArrayFileError& error) {
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  } catch (const std::out_of_range&) {
    // The array is there by another name.
  }
}

}  // namespace
}  // namespace sextant::torch_pickle_test
