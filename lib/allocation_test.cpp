// Counts what the process allocates by operator new: calls of the encoders are to allocate nothing. Not under
// AddressSanitizer, whose own operators these would replace.
#if !defined(__SANITIZE_ADDRESS__)

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <numeric>
#include <vector>

#include "lib/rope/rope.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"

namespace {
std::atomic<long> allocations{0};

// Null where there is no memory.
void* counted(std::size_t size, std::size_t alignment) noexcept {
  ++allocations;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* counted_or_thrown(std::size_t size, std::size_t alignment) {
  void* const memory = counted(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) { return counted_or_thrown(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted_or_thrown(size, static_cast<std::size_t>(alignment));
}
// std::stable_sort takes its buffer from here; AddressSanitizer has one of its own, which our operator delete does not
// match.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace sextant::allocation_test {
namespace {

// What `call` allocates once it has run before, so that the threads are there.
template <class Call>
long allocations_of(Call call) {
  call();
  const long before = allocations;
  call();
  return allocations - before;
}

TEST(Allocation, IsCounted) {
  EXPECT_EQ(allocations_of([] { const std::vector<int> some(3); }), 1);
}

TEST(Allocation, NoTableAllocates) {
  std::vector<std::byte> memory(std::size_t{4096} * 128 * 8);
  std::vector<std::int64_t> list(4096);
  std::iota(list.begin(), list.end(), -7);
  for (const Layout layout : {Layout::interleaved, Layout::concatenated}) {
    for (const std::int64_t dim : {128, 100}) {
      Sinusoidal encoding;
      encoding.dim = dim;
      encoding.layout = layout;
      const SinusoidalEncoder encoder(encoding);
      for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
        const Rows out{dtype, memory.data(), 4096, dim, dim};
        for (const Rounding rounding : {Rounding::certified, Rounding::fast}) {
          EXPECT_EQ(allocations_of([&] {
                      encoder.encode(PositionRange{0, 4096, 1}, out, rounding);
                    }),
                    0)
              << name_of(dtype) << dim;
          EXPECT_EQ(allocations_of([&] { encoder.encode(list, out, rounding); }), 0) << name_of(dtype) << dim;
        }
      }
    }
  }
}

TEST(Allocation, NoRotationAllocates) {
  std::vector<std::int64_t> positions(64);
  std::iota(positions.begin(), positions.end(), 1000);
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    Rope encoding;
    encoding.head_dim = encoding.rotary_dim = 128;
    encoding.pairing = pairing;
    encoding.output_pairing = Pairing::half;
    const RopeEncoder encoder(encoding);
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
      Tensor x = Tensor::zeros(dtype, {1, 64, 8, 128});
      for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, 1 + static_cast<double>(i % 251) / 256);
      const Heads heads{dtype, x.data.data(), 1, 64, 8, 128, 64 * 8 * 128, 8 * 128, 128};
      for (const Rounding rounding : {Rounding::certified, Rounding::fast}) {
        EXPECT_EQ(allocations_of([&] { encoder.apply(heads, positions, rounding); }), 0) << name_of(dtype);
      }
    }
  }
}

}  // namespace
}  // namespace sextant::allocation_test

#endif
