#include "lib/numeric/content_hash.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sextant::numeric_content_hash_test {
namespace {

// The test vectors of draft-eastlake-fnv, appendix C.
TEST(ContentHash, IsFnv1a) {
  const auto hash_of = [](std::string_view text) {
    ContentHash hash;
    hash.add(text);
    return hash.value();
  };
  EXPECT_EQ(hash_of(""), 0xCBF29CE484222325U);
  EXPECT_EQ(hash_of("a"), 0xAF63DC4C8601EC8CU);
  EXPECT_EQ(hash_of("foobar"), 0x85944171F73967E8U);
}

TEST(ContentHash, TakesWordsAsUnits) {
  const std::array<std::uint64_t, 2> words{1, 1ULL << 40};
  ContentHash one;
  one.add_words(std::as_bytes(std::span(words)));
  ContentHash other;
  for (const std::uint64_t word : words) other.add(word);
  EXPECT_EQ(one.value(), other.value());
}

}  // namespace
}  // namespace sextant::numeric_content_hash_test
