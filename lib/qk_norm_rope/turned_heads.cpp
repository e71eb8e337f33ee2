// The heads of a token normalized and turned in double, compiled once per Highway target.
//
//   1. The squares of a head's channels are added in sixteen sums, of channels that are alike modulo 16, and these by
//      halves: one order on every target. The roots of a token's heads are taken together, so that none is waited for.
//   2. Channels are multiplied by the root and then by their gains, and pairs turned by two products and a sum for each
//      component. Nothing is fused, since not every target could.
//   3. They are rounded in registers, to 16 bits by way of float where that is the same (round_again-inl.h), and a head
//      goes to the writer as one piece.
//
// docs/proofs/accuracy-classes.md, steps 24 and 27, has the bound, whatever the order of the sum.

#include "lib/qk_norm_rope/turned_heads.hpp"

#include <hwy/cache_control.h>

#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/qk_norm_rope/turned_heads.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/certify-inl.h"
#include "lib/kernels/put_vector-inl.h"
#include "lib/kernels/round_again-inl.h"

// How many sums of squares there are: two vectors of the longest.
#ifndef SEXTANT_LIB_QK_NORM_ROPE_SUMS
#define SEXTANT_LIB_QK_NORM_ROPE_SUMS
namespace sextant {
inline constexpr std::size_t sums_of_squares = 16;
}  // namespace sextant
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

using HeadLanes = hn::CappedTag<double, sums_of_squares / 2>;
using HeadVector = hn::Vec<HeadLanes>;

// Calls visit(type) with the type of the dtype's elements.
template <class Visit>
HWY_INLINE void WithType(Dtype dtype, Visit visit) {
  switch (dtype) {
    case Dtype::float64: return visit(Float64());
    case Dtype::float32: return visit(Float32());
    case Dtype::float16: return visit(Float16());
    case Dtype::bfloat16: return visit(BFloat16());
    case Dtype::int64: return;  // refused before
  }
}

template <class Type>
double SumOfSquares(Type type, const typename Type::Element* x, std::size_t count) {
  const HeadLanes d;
  constexpr std::size_t vectors = sums_of_squares / hn::MaxLanes(HeadLanes());
  HeadVector sums[vectors];
  for (HeadVector& sum : sums) sum = hn::Zero(d);
  const auto add = [&](const typename Type::Element* elements) HWY_ATTR {
    for (std::size_t v = 0; v < vectors; ++v) {
      const HeadVector value = WidenedToDouble(type, d, elements + v * hn::Lanes(d));
      // A product of floats is exact in double, so that fused operations round alike.
      sums[v] = sizeof(typename Type::Element) < 8 ? hn::MulAdd(value, value, sums[v])
                                                   : hn::Add(sums[v], hn::Mul(value, value));
    }
  };
  std::size_t i = 0;
  for (; i + sums_of_squares <= count; i += sums_of_squares) add(x + i);
  if (i < count) {
    // Zeros behind the last, which change no sum.
    typename Type::Element rest[sums_of_squares] = {};
    std::memcpy(rest, x + i, (count - i) * sizeof rest[0]);
    add(rest);
  }
  for (std::size_t half = vectors / 2; half > 0; half /= 2) {
    for (std::size_t v = 0; v < half; ++v) sums[v] = hn::Add(sums[v], sums[v + half]);
  }
  constexpr std::size_t lanes = hn::MaxLanes(HeadLanes());
  double s[lanes];
  hn::StoreU(sums[0], d, s);
  if constexpr (lanes == 8) return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  if constexpr (lanes == 4) return (s[0] + s[2]) + (s[1] + s[3]);
  if constexpr (lanes == 2) return s[0] + s[1];
  return s[0];
}

// The channels of the pairs i to i + lanes.
struct VectorPair {
  HeadVector first;
  HeadVector second;
};
template <class Type>
HWY_INLINE VectorPair LoadPairs(Type type, const EvenPairs& pairs, const typename Type::Element* x, std::size_t i) {
  const HeadLanes d;
  const auto* first = x + pairs.first;
  if (pairs.step == 1) return {WidenedToDouble(type, d, first + i), WidenedToDouble(type, d, x + pairs.second + i)};
  const HeadVector earlier = WidenedToDouble(type, d, first + 2 * i);
  const HeadVector later = WidenedToDouble(type, d, first + 2 * i + hn::Lanes(d));
#if HWY_TARGET == HWY_SCALAR
  return {earlier, later};
#else
  return {hn::ConcatEven(d, later, earlier), hn::ConcatOdd(d, later, earlier)};
#endif
}

template <class To>
HWY_INLINE void PutOne(To to, HeadVector value, typename To::Element* y) {
  const HeadLanes d;
  StoreElements(to, d, To::Round(d, value), y);
}

#if HWY_TARGET != HWY_SCALAR
using HeadFloats = hn::Repartition<float, HeadLanes>;

HWY_INLINE hn::Vec<HeadFloats> NearestFloats(HeadVector later, HeadVector earlier) {
  const HeadLanes d;
  return hn::Combine(HeadFloats(), NearestFloat(d, later), NearestFloat(d, earlier));
}

// Four vectors of channels that follow each other, each rounded once.
struct Four {
  HeadVector a;
  HeadVector b;
  HeadVector c;
  HeadVector e;
};
template <class To>
HWY_INLINE void PutFour(To to, const Four& values, typename To::Element* y) {
  const std::size_t lanes = hn::Lanes(HeadLanes());
  if constexpr (sizeof(typename To::Element) == 2) {
    const HeadFloats df;
    const hn::RebindToUnsigned<HeadFloats> du;
    const hn::Repartition<typename To::Element, HeadLanes> dy;
    const auto earlier = NearestFloats(values.b, values.a);
    const auto later = NearestFloats(values.e, values.c);
    if (HWY_LIKELY(!AnyRoundsByItself(to, df, earlier, later)))
      return hn::StoreU(RoundFloatsAgain(to, hn::BitCast(du, earlier), hn::BitCast(du, later)), dy, y);
  }
  PutOne(to, values.a, y);
  PutOne(to, values.b, y + lanes);
  PutOne(to, values.c, y + 2 * lanes);
  PutOne(to, values.e, y + 3 * lanes);
}

// Those of two vectors of pairs, side by side.
template <class To>
HWY_INLINE void PutTwoOfPairs(To to, const VectorPair& earlier, const VectorPair& later, typename To::Element* y) {
  const HeadLanes d;
  const hn::RebindToUnsigned<HeadLanes> du;
  const auto lower = [&](const VectorPair& pair) HWY_ATTR {
    return hn::BitCast(d, EarlierPairs(du, hn::BitCast(du, pair.first), hn::BitCast(du, pair.second)));
  };
  const auto upper = [&](const VectorPair& pair) HWY_ATTR {
    return hn::BitCast(d, LaterPairs(du, hn::BitCast(du, pair.first), hn::BitCast(du, pair.second)));
  };
  PutFour(to, {lower(earlier), upper(earlier), lower(later), upper(later)}, y);
}
#endif

template <class Type>
double ValueAt(const typename Type::Element* x, std::int64_t channel) {
  return load(Type::dtype, reinterpret_cast<const std::byte*>(x + channel));
}
template <class Type>
void PutAt(double value, typename Type::Element* y, std::int64_t channel) {
  store(Type::dtype, value, reinterpret_cast<std::byte*>(y + channel));
}

template <class From, class To>
void TurnPairs(From from, To to, const HeadNorm& norm, const TokenHeads& token, const typename From::Element* x,
               double root, typename To::Element* y) {
  const HeadLanes d;
  const HeadVector of_root = hn::Set(d, root);
  const double* const first_gains = norm.first_gains.data();
  const double* const second_gains = norm.second_gains.data();
  const double* const cos = token.cos.data();
  const double* const sin = token.sin.data();
  const std::size_t pairs = token.cos.size();
  const std::size_t lanes = hn::Lanes(d);
  const auto turned = [&](std::size_t at) HWY_ATTR {
    const VectorPair loaded = LoadPairs(from, norm.from, x, at);
    const HeadVector first = hn::Mul(hn::Mul(loaded.first, of_root), hn::LoadU(d, first_gains + at));
    const HeadVector second = hn::Mul(hn::Mul(loaded.second, of_root), hn::LoadU(d, second_gains + at));
    const HeadVector c = ReadOnce(hn::LoadU(d, cos + at));
    const HeadVector s = ReadOnce(hn::LoadU(d, sin + at));
    return VectorPair{hn::Sub(hn::Mul(first, c), hn::Mul(second, s)), hn::Add(hn::Mul(first, s), hn::Mul(second, c))};
  };
  typename To::Element* const y_first = y + norm.to.first;
  typename To::Element* const y_second = y + norm.to.second;
  const bool apart = norm.to.step == 1;
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 4 * lanes <= pairs; i += 4 * lanes) {
    const VectorPair a = turned(i);
    const VectorPair b = turned(i + lanes);
    const VectorPair c = turned(i + 2 * lanes);
    const VectorPair e = turned(i + 3 * lanes);
    if (apart) {
      PutFour(to, {a.first, b.first, c.first, e.first}, y_first + i);
      PutFour(to, {a.second, b.second, c.second, e.second}, y_second + i);
    } else {
      PutTwoOfPairs(to, a, b, y_first + 2 * i);
      PutTwoOfPairs(to, c, e, y_first + 2 * (i + 2 * lanes));
    }
  }
#endif
  for (; i + lanes <= pairs; i += lanes) {
    const VectorPair pair = turned(i);
    if (apart) {
      PutOne(to, pair.first, y_first + i);
      PutOne(to, pair.second, y_second + i);
    } else {
      StorePairs(to, d, To::Round(d, pair.first), To::Round(d, pair.second), y_first + 2 * i);
    }
  }
  for (; i < pairs; ++i) {
    const auto pair = static_cast<std::int64_t>(i);
    const double first = ValueAt<From>(x, norm.from.first + pair * norm.from.step) * root * first_gains[i];
    const double second = ValueAt<From>(x, norm.from.second + pair * norm.from.step) * root * second_gains[i];
    PutAt<To>(first * cos[i] - second * sin[i], y_first, pair * norm.to.step);
    PutAt<To>(first * sin[i] + second * cos[i], y_second, pair * norm.to.step);
  }
}

template <class From, class To>
void CarryRun(From from, To to, const HeadNorm& norm, const UnturnedRun& run, const typename From::Element* x,
              double root, typename To::Element* y) {
  const HeadLanes d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const double* const gains = norm.gains.data() + run.from;
  x += run.from;
  y += run.to;
  const auto normalized = [&](std::int64_t at) HWY_ATTR {
    return hn::Mul(hn::Mul(WidenedToDouble(from, d, x + at), hn::Set(d, root)), hn::LoadU(d, gains + at));
  };
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 4 * lanes <= run.count; i += 4 * lanes)
    PutFour(to, {normalized(i), normalized(i + lanes), normalized(i + 2 * lanes), normalized(i + 3 * lanes)}, y + i);
#endif
  for (; i + lanes <= run.count; i += lanes) PutOne(to, normalized(i), y + i);
  for (; i < run.count; ++i) PutAt<To>(ValueAt<From>(x, i) * root * gains[i], y, i);
}

// 1 / sqrt(sum / channels + epsilon) in place of each sum.
void InvertRoots(const HeadNorm& norm, std::span<double> sums) {
  const HeadLanes d;
  const HeadVector one = hn::Set(d, 1.0);
  const HeadVector channels = hn::Set(d, static_cast<double>(norm.head_dim));
  const HeadVector epsilon = hn::Set(d, norm.epsilon);
  for (std::size_t i = 0; i < sums.size(); i += hn::Lanes(d)) {
    const HeadVector mean = hn::Add(hn::Div(hn::LoadU(d, sums.data() + i), channels), epsilon);
    hn::StoreU(hn::Div(one, hn::Sqrt(mean)), d, sums.data() + i);
  }
}

// Asks for the same bytes of the token behind, where tokens lie densely: heads are read twice, and memory would rest
// while they are turned.
HWY_INLINE void PrefetchBehind(const std::byte* x, std::int64_t token_bytes, std::size_t head_bytes) {
  const auto from = reinterpret_cast<std::uintptr_t>(x) + static_cast<std::uintptr_t>(token_bytes);
  for (std::size_t i = 0; i < head_bytes; i += LineWriter::line_bytes)
    hwy::Prefetch(reinterpret_cast<const unsigned char*>(from + i));  // NOLINT(performance-no-int-to-ptr)
}

template <class From, class To>
void TurnToken(From from, To to, const HeadNorm& norm, const TokenHeads& token, HeadBuffers& buffers,
               LineWriter& writer, const std::function<void(std::int64_t head)>& other) {
  const auto channels = static_cast<std::size_t>(norm.head_dim);
  const std::size_t y_bytes = channels * sizeof(typename To::Element);
  const auto elements_of = [&](std::int64_t head) {
    return reinterpret_cast<const typename From::Element*>(token.x + head * token.x_stride);
  };
  const std::span<double> roots = buffers.roots();
  for (std::int64_t head = 0; head < token.heads; ++head)
    roots[static_cast<std::size_t>(head)] = SumOfSquares(from, elements_of(head), channels);
  InvertRoots(norm, roots);
  for (std::int64_t head = 0; head < token.heads; ++head) {
    // The root of an infinite sum is 0, of another one not.
    const double root = roots[static_cast<std::size_t>(head)];
    if (!std::isfinite(root) || root == 0) {
      other(head);
      continue;
    }
    PrefetchBehind(token.x + head * token.x_stride, token.heads * token.x_stride,
                   channels * sizeof(typename From::Element));
    auto* const y = reinterpret_cast<typename To::Element*>(buffers.elements());
    TurnPairs(from, to, norm, token, elements_of(head), root, y);
    for (const UnturnedRun& run : norm.unturned) CarryRun(from, to, norm, run, elements_of(head), root, y);
    writer.write(token.y + head * token.y_stride, buffers.elements(), y_bytes);
  }
}

void TurnHeads(const HeadNorm& norm, const TokenHeads& token, HeadBuffers& buffers, LineWriter& writer,
               const std::function<void(std::int64_t head)>& other) {
  WithType(token.x_dtype, [&](auto from) HWY_ATTR {
    WithType(token.y_dtype, [&](auto to) HWY_ATTR { TurnToken(from, to, norm, token, buffers, writer, other); });
  });
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(TurnHeads);

std::size_t padded(std::int64_t count) {
  return (static_cast<std::size_t>(count) + sums_of_squares - 1) / sums_of_squares * sums_of_squares;
}

EvenPairs even_pairs(const Rope& encoding, Pairing pairing) {
  if (pairs(encoding) == 0) return {};
  const Channels first = channels_of_pair(encoding, pairing, 0);
  return {first.first, first.second, pairing == Pairing::interleaved ? 2 : 1};
}

}  // namespace

HeadNorm::HeadNorm(const Rope& encoding, double epsilon_under_root, std::span<const double> gains_of_channels)
    : head_dim(encoding.head_dim),
      epsilon(epsilon_under_root),
      gains(gains_of_channels.begin(), gains_of_channels.end()),
      from(even_pairs(encoding, encoding.pairing)),
      to(even_pairs(encoding, encoding.output_pairing)) {
  for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
    const Channels channels = channels_of_pair(encoding, encoding.pairing, pair);
    first_gains.push_back(gains[static_cast<std::size_t>(channels.first)]);
    second_gains.push_back(gains[static_cast<std::size_t>(channels.second)]);
  }
  for (const Passthrough& channel : passthrough_channels(encoding)) {
    const bool follows = !unturned.empty() && unturned.back().to + unturned.back().count == channel.output &&
                         unturned.back().from + unturned.back().count == channel.input;
    if (follows) {
      ++unturned.back().count;
    } else {
      unturned.push_back({channel.output, channel.input, 1});
    }
  }
}

HeadBuffers::HeadBuffers(std::int64_t head_dim, std::int64_t heads)
    : elements_(padded(head_dim) * sizeof(double)), roots_(padded(heads)) {}

void turn_heads(const HeadNorm& norm, const TokenHeads& token, HeadBuffers& buffers, LineWriter& writer,
                const std::function<void(std::int64_t head)>& other) {
  HWY_DYNAMIC_DISPATCH(TurnHeads)(norm, token, buffers, writer, other);
}

}  // namespace sextant
#endif
