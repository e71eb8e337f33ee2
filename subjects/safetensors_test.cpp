#include "subjects/safetensors.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

namespace sextant::safetensors_test {
namespace {

constexpr std::uint64_t roomy = 1 << 20;

std::vector<std::byte> raw(const std::string& header, std::size_t data_bytes = 0) {
  std::vector<std::byte> bytes;
  for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(header.size() >> (8 * i)));
  for (const char letter : header) bytes.push_back(static_cast<std::byte>(letter));
  bytes.resize(bytes.size() + data_bytes);
  return bytes;
}

std::string refusal(std::span<const std::byte> bytes, std::uint64_t limit = roomy) {
  try {
    SafetensorsReader reader(limit);
    reader.feed(bytes);
    reader.blob();
  } catch (const SafetensorsError& error) {
    return error.what();
  }
  return "accepted";
}

Blob sample() {
  Tensor x = Tensor::zeros(Dtype::bfloat16, {2, 3});
  x.set(4, -1.5);
  const std::array<std::int64_t, 2> positions{-7, std::int64_t{1} << 53};
  return {
      {{"op", "rotate"}, {"id", "12"}},
      {{"x", x}, {"positions", Tensor::of_integers({2}, positions)}, {"empty", Tensor::zeros(Dtype::float64, {0, 5})}}};
}

TEST(Safetensors, SurvivesARoundTripInPiecesOfAnySize) {
  const std::vector<std::byte> bytes = write_safetensors(sample());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{64}, bytes.size()}) {
    SafetensorsReader reader(roomy);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      EXPECT_FALSE(reader.complete());
      reader.feed(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    }
    const Blob blob = reader.blob();
    EXPECT_EQ(blob.metadata, sample().metadata);
    EXPECT_EQ(blob.tensors.at("x").at(4), -1.5);
    EXPECT_EQ(blob.tensors.at("positions").integers()[1], std::int64_t{1} << 53);
    EXPECT_EQ(blob.tensors.at("empty").shape, (std::vector<std::int64_t>{0, 5}));
  }
}

TEST(Safetensors, LeavesWhatFollowsTheBlob) {
  std::vector<std::byte> bytes = write_safetensors(sample());
  const std::size_t size = bytes.size();
  bytes.resize(size + 5);
  SafetensorsReader reader(roomy);
  EXPECT_EQ(reader.feed(bytes), size);
  EXPECT_TRUE(reader.complete());
}

TEST(Safetensors, RefusesHostileBytes) {
  const auto entry = [](const std::string& fields) { return raw("{\"y\":{" + fields + "}}", 64); };
  EXPECT_NE(refusal(raw("hello world")).find("not a JSON object: \"hello world\""), std::string::npos);
  std::vector<std::byte> text;
  for (const char letter : std::string("step 1: loss 0.25\n")) text.push_back(static_cast<std::byte>(letter));
  EXPECT_NE(refusal(text).find("bytes \"step 1: loss 0.25\\x0a\""), std::string::npos) << refusal(text);
  EXPECT_NE(refusal(raw("[]")).find("not a JSON object"), std::string::npos);
  EXPECT_NE(refusal(raw("{}").data() ? std::vector<std::byte>(3) : text).find("short"), std::string::npos);
  EXPECT_NE(refusal(entry(R"("dtype":"F32","shape":[4])")).find("needs dtype, shape"), std::string::npos);
  EXPECT_NE(refusal(entry(R"("dtype":"F8","shape":[4],"data_offsets":[0,16])")).find("dtype \"F8\""),
            std::string::npos);
  EXPECT_NE(refusal(entry(R"("dtype":"F32","shape":[-4],"data_offsets":[0,16])")).find("not an array"),
            std::string::npos);
  EXPECT_NE(refusal(entry(R"("dtype":"F32","shape":[4],"data_offsets":[0,12])")).find("do not hold"),
            std::string::npos);
  EXPECT_NE(refusal(entry(R"("dtype":"F32","shape":[4],"data_offsets":[16,0])")).find("do not hold"),
            std::string::npos);
  EXPECT_NE(
      refusal(entry(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])")).find("too many elements"),
      std::string::npos);
  EXPECT_NE(
      refusal(entry(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,0])")).find("too many elements"),
      std::string::npos);
  EXPECT_NE(refusal(entry(R"("dtype":"F32","shape":[400],"data_offsets":[0,1600])"), 100).find("oversized: 1600"),
            std::string::npos);
  EXPECT_NE(refusal(raw(R"({"__metadata__":{"id":7}})")).find("\"id\" is not a string"), std::string::npos);
  EXPECT_NE(refusal(raw(std::string(200000, '['))).find("not a JSON object"), std::string::npos);
  std::vector<std::byte> endless(8, std::byte{0xFF});
  EXPECT_NE(refusal(endless).find("header length"), std::string::npos);
}

// Whatever bytes come, the reader answers or refuses with its own error.
TEST(Safetensors, SurvivesMutatedBlobs) {
  const std::vector<std::byte> good = write_safetensors(sample());
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes = good;
    for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    bytes.resize(random() % 3 == 0 ? random() % bytes.size() : bytes.size());
    refusal(bytes);
  }
}

}  // namespace
}  // namespace sextant::safetensors_test
