#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/roofline_benchmark.hpp"
#include "lib/numeric/heads.hpp"

// What the benchmarks of encoders that turn vectors share: memory for [tokens, heads, head_dim], and the pair of cases,
// into another array beside a streaming copy of that size, and in place beside scaling an array of that size in place.

namespace sextant {

/// Tensors of frameworks begin with a line, as the roofline's memory does: a vector's loads do not lie across two.
struct alignas(64) CacheLine {
  std::array<double, 8> values;
};

/// The shape of one sequence.
struct HeadsShape {
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t head_dim;

  std::int64_t elements() const { return tokens * heads * head_dim; }
  std::string text() const {
    return std::to_string(tokens) + "x" + std::to_string(heads) + "x" + std::to_string(head_dim);
  }
  /// Dense vectors at `data`.
  Heads view(Dtype dtype, std::byte* data) const {
    return {dtype, data, 1, tokens, heads, head_dim, 0, heads * head_dim, head_dim};
  }
};

/// Values of one to two, whatever the dtype: zeros would be another case.
inline void fill_ordinarily(Dtype dtype, std::span<std::byte> memory) {
  for (std::size_t i = 0; i < memory.size() / size_of(dtype); ++i)
    store(dtype, 1 + static_cast<double>(i % 251) / 256, memory.data() + i * size_of(dtype));
}

/// Registers NAME/ROUNDING/SHAPE, from one array into another beyond the caches, and NAME_in_place/ROUNDING/SHAPE.
/// `make_turn` gives what turns the vectors of x into y; it is called once per case, outside the clock.
inline void register_turned(const std::string& name, Dtype dtype, const HeadsShape& shape,
                            const std::function<std::function<void(const ConstHeads& x, const Heads& y)>()>& make_turn,
                            const std::string& rounding = "certified") {
  enum class Into { another, itself };
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  for (const Into into : {Into::another, Into::itself}) {
    const bool in_place = into == Into::itself;
    // What is streamed leaves the caches, where the results are to go.
    if (!in_place && caching_of(static_cast<std::int64_t>(bytes)) == Caching::kept) continue;
    register_paired({name + (in_place ? "_in_place" : "") + "/" + rounding + "/" + shape.text(),
                     in_place ? Roofline::scale_inplace : Roofline::stream_copy, bytes,
                     [=](std::span<std::byte> written, std::span<std::byte> read) -> std::function<void()> {
                       if (!in_place) {
                         fill_ordinarily(dtype, read);
                         const Heads x = shape.view(dtype, read.data());
                         const Heads y = shape.view(dtype, written.data());
                         return [turn = make_turn(), x, y] { turn(read_only(x), y); };
                       }
                       // Of its own: the roofline scales its memory as float32, which makes noise of other dtypes.
                       const auto own = std::make_shared<std::vector<CacheLine>>(bytes / sizeof(CacheLine));
                       auto* const data = reinterpret_cast<std::byte*>(own->data());
                       fill_ordinarily(dtype, {data, bytes});
                       const Heads x = shape.view(dtype, data);
                       return [turn = make_turn(), own, x] { turn(read_only(x), x); };
                     }});
  }
}

}  // namespace sextant
