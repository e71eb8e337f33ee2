#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>

#include "lib/numeric/content_hash.hpp"
#include "lib/numeric/tensor.hpp"

// Digests of what an encoder computes, kept in its folder's digests.txt: the same on every instruction set, thread
// count and machine.

namespace sextant {

/// Name of a table and its digest.
using Digests = std::map<std::string, std::string>;

/// ContentHash, byte by byte.
inline std::string digest_of(std::span<const std::byte> bytes) {
  ContentHash hash;
  hash.add(bytes);
  std::ostringstream text;
  text << std::hex << hash.value();
  return text.str();
}

/// The digest of make(), a Tensor, if it is the same on 1, 2 and 3 threads; a test failure where it is not.
template <class Make>
std::string digest_on_threads(Make make) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::string alone = digest_of(make().data);
#ifndef __SANITIZE_THREAD__  // ThreadSanitizer cannot see OpenMP's barriers
  for (const int threads : {2, 3}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(digest_of(make().data), alone) << threads << " threads";
  }
#endif
  omp_set_num_threads(before);
  return alone;
}

/// Fails unless `digests` are those of lib/ENCODER/digests.txt, no more and no less. A line there is a name, a space
/// and a digest, or begins with #.
inline void expect_published(const std::string& encoder, const Digests& digests) {
  std::ifstream file(SEXTANT_SOURCE_DIR "/lib/" + encoder + "/digests.txt");
  ASSERT_TRUE(file) << "no digests of " << encoder;
  Digests published;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    published[line.substr(0, line.rfind(' '))] = line.substr(line.rfind(' ') + 1);
  }
  for (const auto& [name, digest] : digests) {
    EXPECT_TRUE(published.contains(name) && published[name] == digest) << "computed: " << name << " " << digest;
  }
  EXPECT_EQ(digests.size(), published.size());
}

}  // namespace sextant
