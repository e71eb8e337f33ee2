#include "subjects/npy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "subjects/recorded.hpp"

namespace sextant {
namespace {

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("npy_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // A version 1 file with this header and `floats` elements counting up from 0.
  std::filesystem::path file(const std::string& header, int floats) const {
    std::string text = header;
    text.append((64 - (10 + text.size() + 1) % 64) % 64, ' ');
    text += '\n';
    const std::filesystem::path path = directory_ / "table.npy";
    std::ofstream stream(path, std::ios::binary);
    stream << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(text.size() & 0xFF)
           << static_cast<char>(text.size() >> 8) << text;
    for (int i = 0; i < floats; ++i) {
      const auto value = static_cast<float>(i);
      stream.write(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return path;
  }

  std::string refusal(const std::filesystem::path& path, Dtype dtype = Dtype::float32) const {
    try {
      const NpyTable table(path, dtype);
    } catch (const NpyError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path directory_;
};

TEST_F(Npy, GathersRowsInAnyOrder) {
  const NpyTable table(file("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 12), Dtype::float32);
  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(table.columns(), 4);
  const Tensor rows = table.gather(std::array<std::int64_t, 3>{2, 0, 2});
  EXPECT_EQ(rows.at(0), 8);
  EXPECT_EQ(rows.at(4), 0);
  EXPECT_EQ(rows.at(11), 11);
  EXPECT_THROW(table.gather(std::array<std::int64_t, 1>{3}), NpyError);
  EXPECT_THROW(table.gather(std::array<std::int64_t, 1>{-1}), NpyError);
}

TEST_F(Npy, RefusesFilesThatAreNone) {
  EXPECT_NE(refusal(directory_ / "absent.npy").find("no such file"), std::string::npos);
  std::ofstream(directory_ / "text.npy") << "position,value\n0,1\n";
  EXPECT_NE(refusal(directory_ / "text.npy").find("offset 0: not a .npy file"), std::string::npos);
  std::ofstream(directory_ / "cut.npy", std::ios::binary)
      << "\x93NUMPY" << '\x01' << '\0' << '\x76' << '\0' << "{'descr'";
  EXPECT_NE(refusal(directory_ / "cut.npy").find("ends inside its header"), std::string::npos);
  EXPECT_NE(refusal(file("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }", 24))
                .find("elements are '<f8', the spec says float32"),
            std::string::npos);
  EXPECT_NE(refusal(file("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }", 12)).find("Fortran order"),
            std::string::npos);
  EXPECT_NE(
      refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (12,), }", 12)).find("is not [positions, dim]"),
      std::string::npos);
  EXPECT_NE(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 11)).find("its header needs"),
            std::string::npos);
  EXPECT_NE(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 999999999999), }", 1))
                .find("too many elements"),
            std::string::npos);
  EXPECT_NE(refusal(file("{'fortran_order': False, 'shape': (3, 4), }", 12)).find("no valid 'descr'"),
            std::string::npos);
  EXPECT_NE(
      refusal(file("{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4), }", 12)).find("no valid 'fortran_order'"),
      std::string::npos);
  for (const char* shape : {"(3, four)", "(3, -4)", "(3, 4x)", "(3, 99999999999999999999)", "3, 4)", "(3, 4"}) {
    EXPECT_NE(refusal(file(std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape, 12))
                  .find("no valid 'shape'"),
              std::string::npos)
        << shape;
  }
}

TEST_F(Npy, ARecordedTableReachesAsFarAsItsRows) {
  const auto path = file("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 12);
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":4,"min_position":-8})");
  const auto subject = recorded_subject("file:table.npy", path, spec);
  EXPECT_FALSE(subject->is_live());
  EXPECT_EQ(subject->within_reach(spec).min_position, 0);
  EXPECT_EQ(subject->within_reach(spec).max_position, 3);
  EXPECT_THROW(recorded_subject("f", path, parse_spec(R"({"encoding":"sinusoidal","dim":8})")), SubjectNameError);
  EXPECT_THROW(recorded_subject("f", path, parse_spec(R"({"encoding":"rope","head_dim":4})")), SubjectNameError);
  EXPECT_THROW(subject->within_reach(parse_spec(R"({"encoding":"sinusoidal","dim":4,"min_position":3})")),
               SubjectNameError);
}

}  // namespace
}  // namespace sextant
