#include "lib/rope/cached_rotation_benchmark.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/cached_rotation_benchmark.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using Shorts = hn::Rebind<std::uint16_t, Floats>;
using FloatVector = hn::Vec<Floats>;
using WordVector = hn::Vec<Words>;

// A product and a fused operation for each element.
struct Pair {
  FloatVector first;
  FloatVector second;
};
HWY_INLINE Pair Turned(FloatVector x0, FloatVector x1, FloatVector cos, FloatVector sin) {
  return {hn::MulSub(x0, cos, hn::Mul(x1, sin)), hn::MulAdd(x1, cos, hn::Mul(x0, sin))};
}

// Those of bfloat16 nearest to finite floats, ties to even, in the upper halves; below them is what is left.
HWY_INLINE WordVector Rounded(FloatVector value) {
  const Words d;
  const auto bits = hn::BitCast(d, value);
  const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1U));
  return hn::Add(hn::Add(bits, hn::Set(d, 0x7FFFU)), is_odd);
}

// The heads of one token, `cos` and `sin` of `pairs` pairs.
void TurnHalfFloat32(std::byte* x, std::int64_t heads, std::size_t pairs, const float* cos, const float* sin) {
  const Floats d;
  auto* head = reinterpret_cast<float*>(x);
  for (std::int64_t i = 0; i < heads; ++i, head += 2 * pairs) {
    for (std::size_t j = 0; j < pairs; j += hn::Lanes(d)) {
      const Pair y =
          Turned(hn::LoadU(d, head + j), hn::LoadU(d, head + pairs + j), hn::LoadU(d, cos + j), hn::LoadU(d, sin + j));
      hn::StoreU(y.first, d, head + j);
      hn::StoreU(y.second, d, head + pairs + j);
    }
  }
}

void TurnHalfBFloat16(std::byte* x, std::int64_t heads, std::size_t pairs, const float* cos, const float* sin) {
  const Floats d;
  const Shorts shorts;
  const auto load = [=](const std::uint16_t* from) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(Words(), hn::LoadU(shorts, from))));
  };
  const auto store = [=](FloatVector value, std::uint16_t* to) HWY_ATTR {
    const auto shifted = hn::ShiftRight<16>(Rounded(value));
    hn::StoreU(hn::DemoteTo(shorts, hn::BitCast(hn::RebindToSigned<Floats>(), shifted)), shorts, to);
  };
  auto* head = reinterpret_cast<std::uint16_t*>(x);
  for (std::int64_t i = 0; i < heads; ++i, head += 2 * pairs) {
    for (std::size_t j = 0; j < pairs; j += hn::Lanes(d)) {
      const Pair y = Turned(load(head + j), load(head + pairs + j), hn::LoadU(d, cos + j), hn::LoadU(d, sin + j));
      store(y.first, head + j);
      store(y.second, head + pairs + j);
    }
  }
}

void TurnInterleavedFloat32(std::byte* x, std::int64_t heads, std::size_t pairs, const float* cos, const float* sin) {
  auto* head = reinterpret_cast<float*>(x);
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t i = 0; i < heads; ++i, head += 2 * pairs) {
    for (std::size_t j = 0; j < pairs; ++j) {
      const float x0 = head[2 * j];
      const float x1 = head[2 * j + 1];
      head[2 * j] = x0 * cos[j] - x1 * sin[j];
      head[2 * j + 1] = x1 * cos[j] + x0 * sin[j];
    }
  }
#else
  // Each cosine twice, each sine with both signs, once for all heads: a product, a fused operation and a swap are left.
  constexpr std::size_t most_pairs = 128;
  HWY_ALIGN float both_cos[2 * most_pairs];
  HWY_ALIGN float both_sin[2 * most_pairs];
  const Floats d;
  for (std::size_t j = 0; j < pairs; j += hn::Lanes(d)) {
    const auto c = hn::LoadU(d, cos + j);
    const auto s = hn::LoadU(d, sin + j);
    hn::StoreInterleaved2(c, c, d, both_cos + 2 * j);
    hn::StoreInterleaved2(hn::Neg(s), s, d, both_sin + 2 * j);
  }
  for (std::int64_t i = 0; i < heads; ++i, head += 2 * pairs) {
    for (std::size_t j = 0; j < 2 * pairs; j += hn::Lanes(d)) {
      const auto value = hn::LoadU(d, head + j);
      const auto crosswise = hn::Mul(hn::Shuffle2301(value), hn::Load(d, both_sin + j));
      hn::StoreU(hn::MulAdd(value, hn::Load(d, both_cos + j), crosswise), d, head + j);
    }
  }
#endif
}

void TurnInterleavedBFloat16(std::byte* x, std::int64_t heads, std::size_t pairs, const float* cos, const float* sin) {
  const Floats d;
  const Words words;
  const auto upper = hn::Set(words, 0xFFFF0000U);
  auto* head = reinterpret_cast<std::uint32_t*>(x);  // a pair in each, its first element below
  for (std::int64_t i = 0; i < heads; ++i, head += pairs) {
    for (std::size_t j = 0; j < pairs; j += hn::Lanes(d)) {
      const auto both = hn::LoadU(words, head + j);
      const Pair y = Turned(hn::BitCast(d, hn::ShiftLeft<16>(both)), hn::BitCast(d, hn::And(both, upper)),
                            hn::LoadU(d, cos + j), hn::LoadU(d, sin + j));
      hn::StoreU(hn::Or(hn::ShiftRight<16>(Rounded(y.first)), hn::And(Rounded(y.second), upper)), words, head + j);
    }
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(TurnHalfFloat32);
HWY_EXPORT(TurnHalfBFloat16);
HWY_EXPORT(TurnInterleavedFloat32);
HWY_EXPORT(TurnInterleavedBFloat16);

struct Tables {
  Tables(std::int64_t tokens, std::int64_t pairs) {
    for (std::int64_t token = 0; token < tokens; ++token) {
      for (std::int64_t i = 0; i < pairs; ++i) {
        const double angle =
            static_cast<double>(token) * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(pairs));
        cos.push_back(static_cast<float>(std::cos(angle)));
        sin.push_back(static_cast<float>(std::sin(angle)));
      }
    }
  }

  std::vector<float> cos;
  std::vector<float> sin;
};

void turn(Dtype dtype, Pairing pairing, std::byte* x, std::int64_t heads, std::size_t pairs, const float* cos,
          const float* sin) {
  if (pairing == Pairing::half) {
    dtype == Dtype::float32 ? HWY_DYNAMIC_DISPATCH(TurnHalfFloat32)(x, heads, pairs, cos, sin)
                            : HWY_DYNAMIC_DISPATCH(TurnHalfBFloat16)(x, heads, pairs, cos, sin);
  } else {
    dtype == Dtype::float32 ? HWY_DYNAMIC_DISPATCH(TurnInterleavedFloat32)(x, heads, pairs, cos, sin)
                            : HWY_DYNAMIC_DISPATCH(TurnInterleavedBFloat16)(x, heads, pairs, cos, sin);
  }
}

}  // namespace

std::function<void()> cached_rotation(Dtype dtype, Pairing pairing, const HeadsShape& shape, std::byte* x) {
  const std::int64_t pairs = shape.head_dim / 2;
  const auto tables = std::make_shared<const Tables>(shape.tokens, pairs);
  const std::size_t token_bytes = static_cast<std::size_t>(shape.heads * shape.head_dim) * size_of(dtype);
  return [=] {
#pragma omp parallel for schedule(static)
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      turn(dtype, pairing, x + static_cast<std::size_t>(token) * token_bytes, shape.heads,
           static_cast<std::size_t>(pairs), tables->cos.data() + token * pairs, tables->sin.data() + token * pairs);
    }
  };
}

}  // namespace sextant
#endif
