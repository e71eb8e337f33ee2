// Over 400 lines, since every encoder is called here, a few lines each, in the memory and environment of a case.
#include "attack/run/execute.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "lib/alibi/alibi.hpp"
#include "lib/attention/attention.hpp"
#include "lib/binary/binary.hpp"
#include "lib/fourier/fourier.hpp"
#include "lib/integer/integer.hpp"
#include "lib/learned/learned.hpp"
#include "lib/log_coordinates/log_coordinates.hpp"
#include "lib/qk_norm_rope/qk_norm_rope.hpp"
#include "lib/relative_bias/relative_bias.hpp"
#include "lib/rope/rope.hpp"
#include "lib/rope_nd/rope_nd.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"
#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"
#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"
#include "lib/spec/of.hpp"
#include "lib/window_bias/window_bias.hpp"
#include "lib/xpos/xpos.hpp"

namespace sextant::attack {
namespace {

std::size_t width_of_elements(Dtype dtype) { return static_cast<std::size_t>(element_format(dtype).width) / 8; }

// Little-endian machines only, as the token's reader is.
Bits element_at(const std::byte* place, std::size_t width) {
  Bits bits = 0;
  std::memcpy(&bits, place, width);
  return bits;
}

void put_elements(const std::vector<Bits>& elements, std::size_t width, std::byte* place) {
  for (const Bits bits : elements) {
    std::memcpy(place, &bits, width);
    place += width;
  }
}

/// Memory for a result, with marked bytes before, after and between what an encoder may write.
class Memory {
 public:
  Memory(std::size_t bytes, std::int64_t offset) : bytes_(bytes) {
    memory_.assign(bytes + 3 * line, mark);
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.data());
    before_ = (line - start % line) % line + line + static_cast<std::size_t>(offset % static_cast<std::int64_t>(line));
  }

  std::byte* data() { return memory_.data() + before_; }
  std::span<std::byte> span() { return {data(), bytes_}; }
  void owns(std::size_t first, std::size_t count) { written_.push_back({before_ + first, count}); }

  /// Whether all bytes but those that were owned are as they were. Sorts what is owned.
  bool intact() {
    std::ranges::sort(written_, {}, &Owned::first);
    std::size_t at = 0;
    const auto untouched = [&](std::size_t end) {
      return std::all_of(memory_.begin() + static_cast<std::ptrdiff_t>(at),
                         memory_.begin() + static_cast<std::ptrdiff_t>(end), [](std::byte b) { return b == mark; });
    };
    for (const auto& [first, count] : written_) {
      if (first > at && !untouched(first)) return false;
      at = std::max(at, first + count);
    }
    return untouched(memory_.size());
  }

 private:
  static constexpr std::size_t line = 64;
  static constexpr std::byte mark{0xA5};
  struct Owned {
    std::size_t first;
    std::size_t count;
  };
  std::size_t bytes_;
  std::size_t before_ = 0;
  std::vector<std::byte> memory_;
  std::vector<Owned> written_;
};

constexpr const char* touched = "bytes outside of the result were written";

Tensor tensor_of(const Case& example, std::vector<std::int64_t> shape, std::size_t first, std::size_t count) {
  Tensor tensor{example.spec.dtype, std::move(shape), {}};
  const std::size_t width = width_of_elements(example.spec.dtype);
  tensor.data.resize(count * width);
  put_elements({example.elements.begin() + static_cast<std::ptrdiff_t>(first),
                example.elements.begin() + static_cast<std::ptrdiff_t>(first + count)},
               width, tensor.data.data());
  return tensor;
}
Tensor tensor_of(const Case& example, std::vector<std::int64_t> shape) {
  return tensor_of(example, std::move(shape), 0, example.elements.size());
}

std::vector<Bits> elements_of(const std::byte* place, std::size_t count, std::size_t width) {
  std::vector<Bits> list;
  list.reserve(count);
  for (std::size_t i = 0; i < count; ++i) list.push_back(element_at(place + i * width, width));
  return list;
}
Answer answer_of(const Tensor& tensor) {
  const std::size_t width = width_of_elements(tensor.dtype);
  return {elements_of(tensor.data.data(), tensor.data.size() / width, width), {}};
}

// write(rows view) into rows with a gap, read back.
template <class Write>
Answer into_rows(const Case& example, std::int64_t rows, std::int64_t width_of_row, Write write) {
  const std::size_t width = width_of_elements(example.spec.dtype);
  const std::int64_t stride = width_of_row + example.gap;
  Memory memory(static_cast<std::size_t>(rows * stride) * width, example.offset);
  write(Rows{example.spec.dtype, memory.data(), rows, width_of_row, stride});
  Answer answer;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = static_cast<std::size_t>(row * stride) * width;
    memory.owns(first, static_cast<std::size_t>(width_of_row) * width);
    const auto own = elements_of(memory.data() + first, static_cast<std::size_t>(width_of_row), width);
    answer.elements.insert(answer.elements.end(), own.begin(), own.end());
  }
  if (!memory.intact()) answer.failure = touched;
  return answer;
}

// write(bytes) into dense memory of `count` elements.
template <class Write>
Answer into_bytes(const Case& example, std::size_t count, Write write) {
  const std::size_t width = width_of_elements(example.spec.dtype);
  Memory memory(count * width, example.offset);
  write(memory.span());
  memory.owns(0, count * width);
  Answer answer{elements_of(memory.data(), count, width), {}};
  if (!memory.intact()) answer.failure = touched;
  return answer;
}

std::vector<std::int64_t> shape_of_heads(const Case& example, std::int64_t head_dim) {
  return {example.batch, example.tokens, example.heads, head_dim};
}

/// One of each kind of encoder, made anew when the encoding changes.
template <class Encoder>
const Encoder& kept(const Spec& spec, auto make) {
  static std::string name;
  static std::unique_ptr<Encoder> encoder;
  const std::string wanted = to_json(spec);
  if (!encoder || name != wanted) {
    encoder.reset();
    encoder = std::make_unique<Encoder>(make());
    name = wanted;
  }
  return *encoder;
}

Answer call(const Sinusoidal& encoding, const Case& example) {
  const auto& encoder = kept<SinusoidalEncoder>(example.spec, [&] { return SinusoidalEncoder(encoding); });
  if (example.operation == Operation::encode_range) {
    return into_rows(example, example.range.count, encoding.dim, [&](const Rows& out) {
      encoder.encode(PositionRange{example.range.first, example.range.count, example.range.step}, out);
    });
  }
  return into_rows(example, std::ssize(example.positions), encoding.dim,
                   [&](const Rows& out) { encoder.encode(example.positions, out); });
}

Answer call(const Sinusoidal2d& encoding, const Case& example) {
  const auto& encoder = kept<Sinusoidal2dEncoder>(example.spec, [&] { return Sinusoidal2dEncoder(encoding); });
  return into_rows(example, std::ssize(example.positions) / 2, encoding.dim,
                   [&](const Rows& out) { encoder.encode(example.positions, out); });
}

Answer call(const SinusoidalNd& encoding, const Case& example) {
  const auto& encoder = kept<SinusoidalNdEncoder>(example.spec, [&] { return SinusoidalNdEncoder(encoding); });
  return into_rows(example, std::ssize(example.positions) / axes(encoding), encoding.dim,
                   [&](const Rows& out) { encoder.encode(example.positions, out); });
}

Answer call(const Fourier& encoding, const Case& example) {
  const auto& encoder = kept<FourierEncoder>(example.spec, [&] { return FourierEncoder(encoding); });
  return into_rows(example, std::ssize(example.positions) / encoding.axes, width(encoding), [&](const Rows& out) {
    if (!is_given(encoding)) return encoder.encode(example.positions, out);
    encoder.encode(example.positions, tensor_of(example, {encoding.axes, encoding.bands}), out);
  });
}

Answer call(const Integer& encoding, const Case& example) {
  const auto& encoder =
      kept<IntegerEncoder>(example.spec, [&] { return IntegerEncoder(encoding, example.spec.max_position); });
  return into_rows(example, std::ssize(example.positions), encoding.dim,
                   [&](const Rows& out) { encoder.encode(example.positions, out); });
}

Answer call(const Binary& encoding, const Case& example) {
  const auto& encoder = kept<BinaryEncoder>(example.spec, [&] { return BinaryEncoder(encoding); });
  return into_rows(example, std::ssize(example.positions), encoding.dim,
                   [&](const Rows& out) { encoder.encode(example.positions, out); });
}

Answer call(const Learned& encoding, const Case& example) {
  const auto& encoder = kept<LearnedEncoder>(example.spec, [&] { return LearnedEncoder(encoding); });
  if (example.operation == Operation::grad_weight) {
    return answer_of(
        encoder.grad_weight(example.positions, tensor_of(example, {std::ssize(example.positions), encoding.dim})));
  }
  const Tensor weight = tensor_of(example, {encoding.max_positions, encoding.dim});
  return into_rows(example, std::ssize(example.positions), encoding.dim,
                   [&](const Rows& out) { encoder.encode(example.positions, weight, out); });
}

// Strides of [batch, tokens, heads], the axes nested in one of six orders, each with a gap after what it steps over.
std::array<std::int64_t, 3> strides_of(const Case& example, std::int64_t head_dim) {
  constexpr std::array<std::array<std::size_t, 3>, 6> outermost_first{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  const std::array<std::int64_t, 3> extents{example.batch, example.tokens, example.heads};
  std::array<std::int64_t, 3> strides{};
  std::int64_t reach = head_dim + example.gap;
  const auto& order = outermost_first.at(static_cast<std::size_t>(example.stride_order));
  for (std::size_t i = 3; i-- > 0;) {
    strides[order[i]] = reach;
    reach *= extents[order[i]];
  }
  return strides;
}

template <class Encoder>
Answer rotate_views(const Encoder& encoder, const Case& example, std::int64_t head_dim) {
  const std::size_t width = width_of_elements(example.spec.dtype);
  const auto strides = strides_of(example, head_dim);
  const auto vectors = static_cast<std::size_t>(example.batch * example.tokens * example.heads);
  const std::size_t bytes = vectors * static_cast<std::size_t>(head_dim + example.gap) * width;
  const auto each_head = [&](auto visit) {
    std::size_t index = 0;
    for (std::int64_t b = 0; b < example.batch; ++b) {
      for (std::int64_t t = 0; t < example.tokens; ++t) {
        for (std::int64_t h = 0; h < example.heads; ++h, ++index) {
          visit(index * static_cast<std::size_t>(head_dim),
                static_cast<std::size_t>(b * strides[0] + t * strides[1] + h * strides[2]) * width);
        }
      }
    }
  };
  Memory memory(bytes, example.offset);
  Memory source(bytes, example.offset);
  const bool in_place = example.place == Place::in_place;
  std::byte* x = in_place ? memory.data() : source.data();
  each_head([&](std::size_t element, std::size_t place) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(head_dim); ++i)
      std::memcpy(x + place + i * width, &example.elements[element + i], width);
  });
  const ConstHeads from{example.spec.dtype, x,          example.batch, example.tokens, example.heads,
                        head_dim,           strides[0], strides[1],    strides[2]};
  const Heads to{example.spec.dtype, memory.data(), example.batch, example.tokens, example.heads,
                 head_dim,           strides[0],    strides[1],    strides[2]};
  if (example.operation == Operation::backward) {
    encoder.backward(from, example.positions, to);
  } else {
    encoder.apply(from, example.positions, to);
  }
  Answer answer;
  answer.elements.resize(example.elements.size());
  each_head([&](std::size_t element, std::size_t place) {
    memory.owns(place, static_cast<std::size_t>(head_dim) * width);
    for (std::size_t i = 0; i < static_cast<std::size_t>(head_dim); ++i)
      answer.elements[element + i] = element_at(memory.data() + place + i * width, width);
  });
  if (!memory.intact()) answer.failure = touched;
  return answer;
}

template <class Encoder>
Answer turn(const Encoder& encoder, const Case& example, std::int64_t head_dim) {
  if (example.place != Place::dense) return rotate_views(encoder, example, head_dim);
  const Tensor x = tensor_of(example, shape_of_heads(example, head_dim));
  if (example.operation == Operation::backward) return answer_of(encoder.backward(x, example.positions));
  if constexpr (requires(std::span<std::byte> out) { encoder.rotate(x, example.positions, out); }) {
    return into_bytes(example, example.elements.size(),
                      [&](std::span<std::byte> out) { encoder.rotate(x, example.positions, out); });
  }
  return answer_of(encoder.rotate(x, example.positions));
}

Answer call(const Rope& encoding, const Case& example) {
  const auto& encoder = kept<RopeEncoder>(example.spec, [&] { return RopeEncoder(encoding); });
  if (example.operation != Operation::tables) return turn(encoder, example, encoding.head_dim);
  Answer of_sines;
  Answer of_cosines =
      into_rows(example, std::ssize(example.positions), encoding.rotary_dim / 2, [&](const Rows& cosines) {
        of_sines = into_rows(example, std::ssize(example.positions), encoding.rotary_dim / 2,
                             [&](const Rows& sines) { encoder.tables(example.positions, cosines, sines); });
      });
  of_cosines.elements.insert(of_cosines.elements.end(), of_sines.elements.begin(), of_sines.elements.end());
  of_cosines.failure += of_sines.failure;
  return of_cosines;
}

// Its operation is tables.
Answer call(const RotaryTable& encoding, const Case& example) { return call(encoding.rope, example); }

// Queries' elements, and then keys'.
Answer call(const QkNormRope& encoding, const Case& example) {
  const auto& encoder = kept<QkNormRopeEncoder>(example.spec, [&] { return QkNormRopeEncoder(encoding); });
  const std::int64_t width = encoding.rope.head_dim;
  std::int64_t next = 0;
  const auto part = [&](std::vector<std::int64_t> shape) {
    const std::int64_t start = std::exchange(next, next + sextant::elements_of(shape));
    Tensor tensor = Tensor::zeros(example.spec.dtype, std::move(shape));
    const std::size_t bytes = width_of_elements(example.spec.dtype);
    for (std::int64_t i = start; i < next; ++i) {
      std::memcpy(tensor.data.data() + static_cast<std::size_t>(i - start) * bytes,
                  &example.elements[static_cast<std::size_t>(i)], bytes);
    }
    return tensor;
  };
  const Tensor q = part({example.batch, example.tokens, example.heads, width});
  const Tensor k = part({example.batch, example.tokens, key_heads_of(example), width});
  const Tensor q_weight = part({width});
  const Tensor k_weight = part({width});
  const auto turned =
      encoder.apply({.q = q, .k = k, .q_weight = q_weight, .k_weight = k_weight, .positions = example.positions});
  Answer answer = answer_of(turned.q);
  const Answer keys = answer_of(turned.k);
  answer.elements.insert(answer.elements.end(), keys.elements.begin(), keys.elements.end());
  return answer;
}

Answer call(const RopeNd& encoding, const Case& example) {
  return turn(kept<RopeNdEncoder>(example.spec, [&] { return RopeNdEncoder(encoding); }), example,
              encoding.rope.head_dim);
}

Answer call(const Xpos& encoding, const Case& example) {
  return turn(kept<XposEncoder>(example.spec, [&] { return XposEncoder(encoding); }), example, encoding.rope.head_dim);
}

Answer call(const Alibi& encoding, const Case& example) {
  const auto& encoder = kept<AlibiEncoder>(example.spec, [&] { return AlibiEncoder(encoding); });
  const Dtype dtype = example.spec.dtype;
  if (example.operation == Operation::slope) {
    Answer answer;
    for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
      answer.elements.push_back(bits_of(element_format(dtype), encoder.slope(head, dtype)));
    }
    return answer;
  }
  const auto count =
      static_cast<std::size_t>(encoding.num_heads * std::ssize(example.positions) * std::ssize(example.keys));
  return into_bytes(example, count,
                    [&](std::span<std::byte> out) { encoder.bias(example.positions, example.keys, dtype, out); });
}

Answer call(const RelativeBias& encoding, const Case& example) {
  const auto& encoder = kept<RelativeBiasEncoder>(example.spec, [&] { return RelativeBiasEncoder(encoding); });
  const std::int64_t queries = std::ssize(example.positions);
  const std::int64_t keys = std::ssize(example.keys);
  if (example.operation == Operation::bucket) {
    Answer answer;
    for (const std::int64_t relative : example.positions)
      answer.elements.push_back(static_cast<Bits>(encoder.bucket(relative)));
    return answer;
  }
  if (example.operation == Operation::grad_weight) {
    return answer_of(
        encoder.grad_weight(example.positions, example.keys, tensor_of(example, {example.heads, queries, keys})));
  }
  const Tensor weight = tensor_of(example, {encoding.num_buckets, example.heads});
  return into_bytes(example, static_cast<std::size_t>(example.heads * queries * keys),
                    [&](std::span<std::byte> out) { encoder.bias(example.positions, example.keys, weight, out); });
}

Answer call(const WindowBias& encoding, const Case& example) {
  const auto& encoder = kept<WindowBiasEncoder>(example.spec, [&] { return WindowBiasEncoder(encoding); });
  const std::int64_t queries = std::ssize(example.positions);
  const std::int64_t keys = std::ssize(example.keys);
  if (example.operation == Operation::grad_weight) {
    return answer_of(
        encoder.grad_weight(example.positions, example.keys, tensor_of(example, {example.heads, queries, keys})));
  }
  const Tensor weight = tensor_of(example, {weight_rows(encoding), example.heads});
  return into_bytes(example, static_cast<std::size_t>(example.heads * queries * keys),
                    [&](std::span<std::byte> out) { encoder.bias(example.positions, example.keys, weight, out); });
}

Answer call(const LogCoordinates& encoding, const Case& example) {
  const auto& encoder = kept<LogCoordinatesEncoder>(example.spec, [&] { return LogCoordinatesEncoder(encoding); });
  const std::int64_t width = axes(encoding);
  return into_rows(example, std::ssize(example.positions) / width, width,
                   [&](const Rows& out) { encoder.encode(example.positions, out); });
}

Answer call(const Attention& encoding, const Case& example) {
  const auto& encoder = kept<DotProductAttention>(example.spec, [&] { return DotProductAttention(encoding); });
  const auto vectors = static_cast<std::size_t>(example.batch * example.tokens * encoding.head_dim);
  const std::size_t of_queries = vectors * static_cast<std::size_t>(encoding.num_heads);
  const std::size_t of_keys = vectors * static_cast<std::size_t>(encoding.num_kv_heads);
  const auto part = [&](std::int64_t heads, std::size_t first, std::size_t count) {
    return tensor_of(example, {example.batch, heads, example.tokens, encoding.head_dim}, first, count);
  };
  const Tensor q = part(encoding.num_heads, 0, of_queries);
  const Tensor k = part(encoding.num_kv_heads, of_queries, of_keys);
  const Tensor v = part(encoding.num_kv_heads, of_queries + of_keys, of_keys);
  return into_bytes(example, of_queries, [&](std::span<std::byte> out) {
    encoder.attend({q, k, v, example.positions, nullptr}, out);
  });
}

/// An encoding for which no attack is written: no case has it.
template <class Encoding>
Answer call(const Encoding&, const Case&) {
  throw std::logic_error("no attack is written for this encoding");
}

/// The caller's environment while a call lasts.
class InEnvironment {
 public:
  explicit InEnvironment(Environment environment) {
    std::fegetenv(&before_);
    switch (environment) {
      case Environment::nearest: break;
      case Environment::upward: std::fesetround(FE_UPWARD); break;
      case Environment::downward: std::fesetround(FE_DOWNWARD); break;
      case Environment::toward_zero: std::fesetround(FE_TOWARDZERO); break;
      case Environment::flush_to_zero:
#if defined(__SSE__)
        _mm_setcsr(_mm_getcsr() | 0x8040U);  // FTZ and DAZ
#elif defined(__aarch64__)
        std::uint64_t control = 0;
        __asm__ volatile("mrs %0, fpcr" : "=r"(control));
        __asm__ volatile("msr fpcr, %0" : : "r"(control | (std::uint64_t{1} << 24)));
#endif
        break;
    }
  }
  ~InEnvironment() { std::fesetenv(&before_); }
  InEnvironment(const InEnvironment&) = delete;
  InEnvironment& operator=(const InEnvironment&) = delete;

 private:
  std::fenv_t before_{};
};

}  // namespace

Answer execute(const Case& example) {
  omp_set_num_threads(example.threads);
  try {
    const InEnvironment environment(example.environment);
    return of_each(example.spec, [&](const auto& encoding) { return call(encoding, example); });
  } catch (const std::exception& error) {
    return {{}, error.what()};
  }
}

}  // namespace sextant::attack
