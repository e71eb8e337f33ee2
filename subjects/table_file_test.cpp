#include "subjects/table_file.hpp"

#include <gtest/gtest.h>

#include <iterator>

#include "subjects/array_file.hpp"
#include "subjects/safetensors.hpp"

namespace sextant::table_file_test {
namespace {

class TableFiles : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("table_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory_), std::filesystem::directory_iterator()));
  }

  std::filesystem::path directory_;
};

TEST_F(TableFiles, NpyIsReadBackInEveryDtype) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    const auto path = directory_ / "t.npy";
    TableFile file(path, dtype, {{"encoding", 3, 2}});
    for (double row = 0; row < 3; ++row) file.append(0, std::vector<double>{row + 0.5, -row});
    file.commit();
    const ArrayFile written(path);
    const StoredArray array = written.array("");
    ASSERT_TRUE(holds(array, dtype));
    const auto rows = rows_of(array, 2);
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->rows, 3);
    const Tensor row = gather(*rows, dtype, std::vector<std::int64_t>{2});
    EXPECT_EQ(row.at(0), 2.5);
    EXPECT_EQ(row.at(1), -2);
  }
}

TEST_F(TableFiles, SafetensorsHoldsSeveralTablesWrittenInTurn) {
  const auto path = directory_ / "t.safetensors";
  constexpr std::int64_t rows = 200000;  // more than one flush of each
  {
    TableFile file(path, Dtype::float32, {{"cos", rows, 2}, {"sin", rows, 2}});
    for (std::int64_t i = 0; i < rows; ++i) {
      file.append(0, std::vector<double>{static_cast<double>(i), 1});
      file.append(1, std::vector<double>{static_cast<double>(-i), 2});
    }
    file.commit();
  }
  std::ifstream stream(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  SafetensorsReader reader(text.size());
  EXPECT_EQ(reader.feed(std::as_bytes(std::span(text))), text.size());
  const Blob blob = reader.blob();
  EXPECT_EQ(blob.tensors.at("cos").at(2 * 199999), 199999);
  EXPECT_EQ(blob.tensors.at("sin").at(2 * 199999), -199999);
  EXPECT_EQ(blob.tensors.at("sin").at(1), 2);
}

TEST_F(TableFiles, NothingIsLeftOfOneThatWasNotCommitted) {
  {
    TableFile file(directory_ / "t.npy", Dtype::float32, {{"encoding", 1, 1}});
    file.append(0, std::vector<double>{1});
  }
  EXPECT_EQ(files(), 0U);
}

TEST_F(TableFiles, RefusesNamesAndPlacesItCannotWrite) {
  EXPECT_THROW(TableFile(directory_ / "t.csv", Dtype::float32, {{"encoding", 1, 1}}), TableFileError);
  EXPECT_THROW(TableFile(directory_ / "t.npy", Dtype::float32, {{"cos", 1, 1}, {"sin", 1, 1}}), TableFileError);
  EXPECT_THROW(TableFile(directory_ / "absent" / "t.npy", Dtype::float32, {{"encoding", 1, 1}}), TableFileError);
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace sextant::table_file_test
