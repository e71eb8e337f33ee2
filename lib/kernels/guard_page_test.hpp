#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace sextant {

/// Memory between two pages that may not be touched: reading or writing a byte before or after it ends the test with a
/// signal. The usable bytes end at the second page (`at_end`) or begin at the first (`at_start`), whatever their
/// number, so that each end can be tried.
class GuardedBytes {
 public:
  enum class Against { start, end };

  GuardedBytes(std::size_t size, Against against) : size_(size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (size + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    void* memory = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("GuardedBytes: mmap failed");
    base_ = static_cast<std::byte*>(memory);
    if (inner > 0 && mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0) {
      munmap(base_, mapped_);
      throw std::runtime_error("GuardedBytes: mprotect failed");
    }
    data_ = against == Against::start ? base_ + page : base_ + page + inner - size;
    if (size > 0) std::memset(data_, filler, size);
  }
  ~GuardedBytes() { munmap(base_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  GuardedBytes(GuardedBytes&&) = delete;
  GuardedBytes& operator=(GuardedBytes&&) = delete;

  std::byte* data() { return data_; }
  std::size_t size() const { return size_; }

  /// What every byte holds until it is written.
  static constexpr int filler = 0xA5;

 private:
  std::size_t size_;
  std::size_t mapped_ = 0;
  std::byte* base_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace sextant
