// The heads of a token normalized and turned in double, compiled once per Highway target.
//
//   1. The squares of a head's channels are added in sixteen sums, of channels that are alike modulo 16, and these by
//      halves: one order on every target.
//   2. Channels are multiplied by the root and then by their gains, and pairs turned by two products and a sum for each
//      component, to memory of the thread's own. Nothing is fused, since not every target could.
//   3. From there they are rounded to elements, which go to the writer as one piece.
//
// docs/proofs/accuracy-classes.md, steps 24 and 27, has the bound, whatever the order of the sum.

#include "lib/qk_norm_rope/turned_heads.hpp"

#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/qk_norm_rope/turned_heads.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/kernels/certify-inl.h"

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
      sums[v] = hn::Add(sums[v], hn::Mul(value, value));
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
HWY_INLINE void StorePairsAt(const EvenPairs& pairs, const VectorPair& pair, std::size_t i, double* y) {
  const HeadLanes d;
  if (pairs.step == 2) return hn::StoreInterleaved2(pair.first, pair.second, d, y + pairs.first + 2 * i);
  hn::StoreU(pair.first, d, y + pairs.first + i);
  hn::StoreU(pair.second, d, y + pairs.second + i);
}

template <class Type>
double ValueAt(const typename Type::Element* x, std::int64_t channel) {
  return load(Type::dtype, reinterpret_cast<const std::byte*>(x + channel));
}

template <class Type>
void TurnPairs(Type type, const HeadNorm& norm, const TokenHeads& token, const typename Type::Element* x, double root,
               double* y) {
  const HeadLanes d;
  const HeadVector of_root = hn::Set(d, root);
  const double* const first_gains = norm.first_gains.data();
  const double* const second_gains = norm.second_gains.data();
  const std::size_t pairs = token.cos.size();
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= pairs; i += hn::Lanes(d)) {
    const VectorPair loaded = LoadPairs(type, norm.from, x, i);
    const HeadVector first = hn::Mul(hn::Mul(loaded.first, of_root), hn::LoadU(d, first_gains + i));
    const HeadVector second = hn::Mul(hn::Mul(loaded.second, of_root), hn::LoadU(d, second_gains + i));
    const HeadVector c = hn::LoadU(d, token.cos.data() + i);
    const HeadVector s = hn::LoadU(d, token.sin.data() + i);
    StorePairsAt(norm.to,
                 {hn::Sub(hn::Mul(first, c), hn::Mul(second, s)), hn::Add(hn::Mul(first, s), hn::Mul(second, c))}, i,
                 y);
  }
  for (; i < pairs; ++i) {
    const auto pair = static_cast<std::int64_t>(i);
    const double first = ValueAt<Type>(x, norm.from.first + pair * norm.from.step) * root * first_gains[i];
    const double second = ValueAt<Type>(x, norm.from.second + pair * norm.from.step) * root * second_gains[i];
    y[norm.to.first + pair * norm.to.step] = first * token.cos[i] - second * token.sin[i];
    y[norm.to.second + pair * norm.to.step] = first * token.sin[i] + second * token.cos[i];
  }
}

template <class Type>
void CarryRun(Type type, const HeadNorm& norm, const UnturnedRun& run, const typename Type::Element* x, double root,
              double* y) {
  const HeadLanes d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const double* const gains = norm.gains.data();
  std::int64_t i = 0;
  for (; i + lanes <= run.count; i += lanes) {
    const HeadVector value = hn::Mul(WidenedToDouble(type, d, x + run.from + i), hn::Set(d, root));
    hn::StoreU(hn::Mul(value, hn::LoadU(d, gains + run.from + i)), d, y + run.to + i);
  }
  for (; i < run.count; ++i) y[run.to + i] = ValueAt<Type>(x, run.from + i) * root * gains[run.from + i];
}

// Whether the head is one for the vectors; if so it is in y.
template <class Type>
bool TurnHead(Type type, const HeadNorm& norm, const TokenHeads& token, const std::byte* bytes, double* y) {
  const auto* x = reinterpret_cast<const typename Type::Element*>(bytes);
  const auto count = static_cast<std::size_t>(norm.head_dim);
  const double sum = SumOfSquares(type, x, count);
  const double root = 1 / std::sqrt(sum / static_cast<double>(count) + norm.epsilon);
  if (!std::isfinite(sum) || !std::isfinite(root)) return false;
  TurnPairs(type, norm, token, x, root, y);
  for (const UnturnedRun& run : norm.unturned) CarryRun(type, norm, run, x, root, y);
  return true;
}

template <class Type>
void RoundHead(Type type, const double* values, std::size_t count, std::byte* to) {
  const HeadLanes d;
  auto* elements = reinterpret_cast<typename Type::Element*>(to);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d))
    StoreElements(type, d, Type::Round(d, hn::LoadU(d, values + i)), elements + i);
}

void TurnHeads(const HeadNorm& norm, const TokenHeads& token, HeadBuffers& buffers, LineWriter& writer,
               const std::function<void(std::int64_t head)>& other) {
  const auto count = static_cast<std::size_t>(norm.head_dim);
  double* const y = buffers.turned();
  for (std::int64_t head = 0; head < token.heads; ++head) {
    const std::byte* const x = token.x + head * token.x_stride;
    bool is_turned = false;
    WithType(token.x_dtype, [&](auto type) HWY_ATTR { is_turned = TurnHead(type, norm, token, x, y); });
    if (!is_turned) {
      other(head);
      continue;
    }
    WithType(token.y_dtype, [&](auto type) HWY_ATTR { RoundHead(type, y, count, buffers.elements()); });
    writer.write(token.y + head * token.y_stride, buffers.elements(), count * size_of(token.y_dtype));
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(TurnHeads);

std::size_t padded(std::int64_t head_dim) {
  return (static_cast<std::size_t>(head_dim) + sums_of_squares - 1) / sums_of_squares * sums_of_squares;
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

HeadBuffers::HeadBuffers(std::int64_t head_dim)
    : turned_(padded(head_dim)), elements_(padded(head_dim) * sizeof(double)) {}

void turn_heads(const HeadNorm& norm, const TokenHeads& token, HeadBuffers& buffers, LineWriter& writer,
                const std::function<void(std::int64_t head)>& other) {
  HWY_DYNAMIC_DISPATCH(TurnHeads)(norm, token, buffers, writer, other);
}

}  // namespace sextant
#endif
