#include "lib/kernels/line_writer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/target_test.hpp"

namespace sextant::kernels_line_writer_test {
namespace {

class LineWriterOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(LineWriterOn);

// Streams of pieces of every length and alignment, gaps between some: the bytes of each piece and no other, between
// pages that may not be touched.
TEST_P(LineWriterOn, WritesWhatItIsGivenAndNothingElse) {
  target_in_use();
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    const auto against = round % 2 == 0 ? GuardedBytes::Against::start : GuardedBytes::Against::end;
    const Caching caching = round % 8 == 7 ? Caching::kept : Caching::streamed;
    GuardedBytes memory(1 + random() % 3000, against);
    std::vector<std::byte> expected(memory.size(), std::byte{GuardedBytes::filler});
    LineWriter writer(caching);
    const std::size_t most = round % 3 == 0 ? 20 : 400;
    std::size_t at = random() % 70;
    while (at < memory.size()) {
      const std::size_t bytes = std::min(memory.size() - at, static_cast<std::size_t>(random() % most));
      // Exactly as long as the piece, so that a sanitizer sees what is read beyond it.
      std::vector<std::byte> piece(bytes);
      for (std::byte& byte : piece) byte = static_cast<std::byte>(random());
      if (random() % 3 == 0) {
        const std::uint64_t word = random();
        for (std::size_t i = 0; i < bytes; ++i) piece[i] = static_cast<std::byte>(word >> 8 * (i % 8));
        writer.write_copies(memory.data() + at, word, bytes);
      } else {
        writer.write(memory.data() + at, piece.data(), bytes);
      }
      if (bytes > 0) std::memcpy(expected.data() + at, piece.data(), bytes);
      at += bytes + (random() % 4 == 0 ? random() % 100 : 0);
    }
    writer.finish();
    ASSERT_EQ(std::memcmp(memory.data(), expected.data(), expected.size()), 0) << round;
  }
}

// Rows of one word each, of every alignment and length, after a piece that begins a line and before one that goes on.
TEST_P(LineWriterOn, WritesCopiesOfManyWords) {
  target_in_use();
  std::mt19937_64 random(2);
  for (int round = 0; round < 400; ++round) {
    const std::size_t bytes = round % 2 == 0 ? 64 * (random() % 4) : random() % 200;
    const std::size_t before = round % 4 < 2 ? 0 : random() % 70;
    std::vector<std::uint64_t> words(random() % 9);
    for (std::uint64_t& word : words) word = random();
    GuardedBytes memory(before + bytes * words.size() + 10, GuardedBytes::Against::start);
    std::vector<std::byte> expected(memory.size(), std::byte{7});
    for (std::size_t i = 0; i < bytes * words.size(); ++i)
      expected[before + i] = static_cast<std::byte>(words[i / bytes] >> 8 * (i % bytes % 8));
    LineWriter writer(round % 8 == 7 ? Caching::kept : Caching::streamed);
    writer.write(memory.data(), expected.data(), before);
    writer.write_copies(memory.data() + before, words, bytes);
    writer.write(memory.data() + before + bytes * words.size(), expected.data() + before + bytes * words.size(), 10);
    writer.finish();
    ASSERT_EQ(std::memcmp(memory.data(), expected.data(), expected.size()), 0) << round;
  }
}

}  // namespace
}  // namespace sextant::kernels_line_writer_test
