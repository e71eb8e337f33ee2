#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "lib/kernels/guard_page_test.hpp"
#include "lib/numeric/heads.hpp"

// For the tests of encoders that turn vectors: the same bits whatever the memory.

namespace sextant {

/// Vectors with room after each head and each token and between sequences, filled with one byte.
class StridedHeads {
 public:
  static constexpr std::byte gap{0x5A};

  explicit StridedHeads(const Tensor& x) {
    const std::int64_t head_stride = x.shape[3] + 3;
    const std::int64_t token_stride = head_stride * x.shape[2] + 5;
    const std::int64_t batch_stride = token_stride * x.shape[1] + 7;
    bytes_.assign(static_cast<std::size_t>(batch_stride * x.shape[0]) * size_of(x.dtype), gap);
    view_ = {x.dtype,    bytes_.data(), x.shape[0],   x.shape[1], x.shape[2],
             x.shape[3], batch_stride,  token_stride, head_stride};
    const std::byte* from = x.data.data();
    each_head([&](std::byte* head, std::size_t size) {
      std::memcpy(head, from, size);
      from += size;
    });
  }

  const Heads& view() const { return view_; }

  /// The vectors as a dense tensor; expects the bytes between them untouched.
  Tensor dense() {
    Tensor x = Tensor::zeros(view_.dtype, {view_.batch, view_.tokens, view_.heads, view_.head_dim});
    std::byte* to = x.data.data();
    std::vector<std::byte> rest = bytes_;
    each_head([&](std::byte* head, std::size_t size) {
      std::memcpy(to, head, size);
      to += size;
      std::fill_n(rest.begin() + (head - bytes_.data()), size, gap);
    });
    EXPECT_EQ(rest, std::vector<std::byte>(rest.size(), gap)) << "bytes between the vectors";
    return x;
  }

 private:
  template <class Visit>
  void each_head(Visit visit) {
    const std::size_t element = size_of(view_.dtype);
    for (std::int64_t batch = 0; batch < view_.batch; ++batch) {
      for (std::int64_t token = 0; token < view_.tokens; ++token) {
        for (std::int64_t head = 0; head < view_.heads; ++head) {
          const std::int64_t first = batch * view_.batch_stride + token * view_.token_stride + head * view_.head_stride;
          visit(bytes_.data() + static_cast<std::size_t>(first) * element,
                static_cast<std::size_t>(view_.head_dim) * element);
        }
      }
    }
  }

  std::vector<std::byte> bytes_;
  Heads view_;
};

/// Random bits, with zeros of either sign, NaN of any payload and infinities among them.
inline Tensor tensor_of_bits(Dtype dtype, std::vector<std::int64_t> shape, unsigned seed) {
  Tensor x = Tensor::zeros(dtype, std::move(shape));
  std::mt19937_64 random(seed);
  for (std::byte& byte : x.data) byte = static_cast<std::byte>(random());
  for (std::int64_t i = 0; i < x.elements(); i += 1 + static_cast<std::int64_t>(random() % 4))
    x.set(i, static_cast<double>(random() % 1000) / 64 - 8);
  for (std::int64_t i = 0; i < x.elements(); i += 1 + static_cast<std::int64_t>(random() % 40)) x.set(i, -0.0);
  return x;
}

/// Whether the encoder gives strided memory, memory that it overwrites, and memory between pages that may not be
/// touched the bits that it gives a dense tensor, in both directions.
template <class Encoder>
void expect_same_in_any_memory(const Encoder& encoder, const Tensor& x, const std::vector<std::int64_t>& positions) {
  const Tensor turned = encoder.rotate(x, positions);
  const Tensor turned_back = encoder.backward(x, positions);
  const StridedHeads from(x);
  StridedHeads apart(Tensor::zeros(x.dtype, x.shape));
  encoder.apply(read_only(from.view()), positions, apart.view());
  EXPECT_EQ(apart.dense().data, turned.data) << name_of(x.dtype) << ": strided";
  encoder.backward(read_only(from.view()), positions, apart.view());
  EXPECT_EQ(apart.dense().data, turned_back.data) << name_of(x.dtype) << ": strided, backward";
  StridedHeads strided(x);
  encoder.apply(strided.view(), positions);
  EXPECT_EQ(strided.dense().data, turned.data) << name_of(x.dtype) << ": strided, in place";
  Tensor dense = x;
  encoder.apply(heads_of(dense), positions);
  EXPECT_EQ(dense.data, turned.data) << name_of(x.dtype) << ": in place";
  dense = x;
  encoder.backward(heads_of(x), positions, heads_of(dense));
  EXPECT_EQ(dense.data, turned_back.data) << name_of(x.dtype) << ": apart, backward";
  dense = x;
  encoder.backward(read_only(heads_of(dense)), positions, heads_of(dense));
  EXPECT_EQ(dense.data, turned_back.data) << name_of(x.dtype) << ": in place, backward";
  for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
    GuardedBytes source(x.data.size(), against);
    GuardedBytes target(x.data.size(), against);
    std::memcpy(source.data(), x.data.data(), source.size());
    const Heads guarded = heads_of(x, {source.data(), source.size()});
    const Heads result = heads_of(x, {target.data(), target.size()});
    const auto is = [](GuardedBytes& memory, const Tensor& wanted) {
      return std::memcmp(memory.data(), wanted.data.data(), memory.size()) == 0;
    };
    encoder.apply(read_only(guarded), positions, result);
    EXPECT_TRUE(is(target, turned)) << name_of(x.dtype) << ": between guards";
    encoder.backward(read_only(guarded), positions, result);
    EXPECT_TRUE(is(target, turned_back)) << name_of(x.dtype) << ": between guards, backward";
    EXPECT_TRUE(is(source, x)) << name_of(x.dtype) << ": what is read";
    encoder.apply(guarded, positions);
    EXPECT_TRUE(is(source, turned)) << name_of(x.dtype) << ": between guards, in place";
  }
}

}  // namespace sextant
