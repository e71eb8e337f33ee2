// Vectors turned into another dtype than theirs.
//
//   1. Each unit of the work, a token's heads, is turned in the wider of the two dtypes, float32 at least, by the
//      kernels of that dtype. What is not of it, x or y or both, lies in memory of the thread's own, which every unit
//      takes anew: x is widened there, exactly, before the unit, y rounded from there after it.
//   2. The nearest value w of the wider dtype rounds to y's as the real number does unless w is a tie between two
//      values of y's: between w and the number lies no other value of the wider dtype, and every tie is one.
//   3. Ties, one element in 2^13 or fewer, are settled in y's dtype from x (settle.hpp).
//
// docs/proofs/rope.md, step 23.

#include "lib/rope/cast.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "lib/numeric/canonical_nan.hpp"

namespace sextant {
namespace {

// That both are exact in.
Dtype wide_dtype(Dtype x, Dtype y) {
  return x == Dtype::float64 || y == Dtype::float64 ? Dtype::float64 : Dtype::float32;
}

void store_rounded(Dtype dtype, double value, std::byte* to) { store(dtype, canonical(value), to); }

// Whether results are larger than the caches, and every head of them begins with a line.
bool streams(const Heads& y) {
  const auto line = static_cast<std::int64_t>(LineWriter::line_bytes);
  const auto element = static_cast<std::int64_t>(size_of(y.dtype));
  const auto whole = [&](std::int64_t extent, std::int64_t stride) {
    return extent == 1 || stride * element % line == 0;
  };
  return reinterpret_cast<std::uintptr_t>(y.data) % LineWriter::line_bytes == 0 && whole(y.batch, y.batch_stride) &&
         whole(y.tokens, y.token_stride) && whole(y.heads, y.head_stride) &&
         caching_of(y.batch * y.tokens * y.heads * y.head_dim * element) == Caching::streamed;
}

// The channels of a call's pairs.
class PairPlaces {
 public:
  PairPlaces(const Rope& encoding, const RopePass& pass)
      : encoding_(encoding), pass_(pass), pair_of_(static_cast<std::size_t>(encoding.head_dim), std::int64_t{-1}) {
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const Channels channels = after(pair);
      for (const std::int64_t channel : {channels.first, channels.second})
        pair_of_[static_cast<std::size_t>(channel)] = pair;
    }
  }

  Channels before(std::int64_t pair) const { return channels_of_pair(encoding_, pass_.in, pair); }
  Channels after(std::int64_t pair) const { return channels_of_pair(encoding_, pass_.out, pair); }
  /// The pair of a channel of the result, -1 where it has none.
  std::int64_t pair_of(std::int64_t channel) const { return pair_of_[static_cast<std::size_t>(channel)]; }

 private:
  const Rope& encoding_;
  RopePass pass_;
  std::vector<std::int64_t> pair_of_;
};

// A call that turns vectors into another dtype.
struct CastCall {
  const RopePlan& plan;
  RopePass pass;
  Rounding rounding;
  ConstHeads x;
  std::span<const std::int64_t> positions;
  Heads y;
  Dtype wide;
  Caching y_caching;
  PairPlaces places;
};

// What one thread has of it.
class CastShare final : public UnitHooks {
 public:
  explicit CastShare(const CastCall& call)
      : call_(call),
        own_((static_cast<std::size_t>(call.x.heads * call.x.head_dim) * size_of(call.wide) + sizeof(Line) - 1) /
             sizeof(Line)),
        ties_(static_cast<std::size_t>(call.x.heads * call.x.head_dim)),
        wide_{call.wide, own_.front().bytes, call.x.batch, call.x.tokens, call.x.heads, call.x.head_dim, 0,
              0,         call.x.head_dim} {}

  // The whole call, turned here. Units are its own, not those of x and y as they are: what is wide on neither side is
  // turned in place, where a long head whose pairing changes is a unit by itself.
  RopeJob job() const {
    return {PairTurns(call_.plan),
            call_.plan.encoding,
            call_.pass,
            call_.rounding,
            call_.x.dtype == call_.wide ? call_.x : read_only(wide_),
            call_.positions,
            call_.y.dtype == call_.wide ? call_.y : wide_};
  }

  // Units are of that many heads, whatever the number of threads is said to be where this one runs.
  void turn(std::int64_t heads_per_unit, std::int64_t first, std::int64_t last) {
    RopeJob job = this->job();
    job.rows.heads_per_row = heads_per_unit;
    if (call_.y.dtype != call_.wide) job.memory.y_caching = Caching::kept;  // it is read again at once
    job.hooks = this;
    rotate_units(job, first, last);
    if (call_.y_caching == Caching::streamed) hwy::FlushStream();
  }

  // Exact, but for NaN, which becomes the canonical one.
  void before(std::int64_t token, std::int64_t first, std::int64_t last) override {
    const ConstHeads& x = call_.x;
    if (x.dtype == call_.wide) return;
    for (std::int64_t head = first; head < last; ++head) {
      const std::byte* from = head_at(x, token, head);
      std::byte* to = head_at(wide_, token, head);
      for (std::int64_t i = 0; i < x.head_dim; ++i, from += size_of(x.dtype), to += size_of(call_.wide))
        store_rounded(call_.wide, load(x.dtype, from), to);
    }
  }

  void after(std::int64_t token, std::int64_t first, std::int64_t last) override {
    const Heads& y = call_.y;
    if (y.dtype == call_.wide) return;
    // Heads that follow each other in memory are rounded in one go.
    const std::int64_t together = y.head_stride == y.head_dim ? last - first : 1;
    for (std::int64_t head = first; head < last; head += together) {
      std::byte* const to = head_at(y, token, head);
      const std::size_t ties = round_heads(head_at(wide_, token, head), together, to);
      if (call_.rounding == Rounding::fast) continue;
      for (std::size_t k = 0; k < ties; ++k) {
        const std::int64_t beyond = ties_[k] / y.head_dim;
        settle_channel(token, head + beyond, ties_[k] % y.head_dim, head_at(y, token, head + beyond));
      }
    }
  }

 private:
  // Vectors of a quick tier are parts of one.
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  std::size_t round_heads(const std::byte* from, std::int64_t heads, std::byte* to) {
    const auto count = static_cast<std::size_t>(heads * call_.x.head_dim);
    const Dtype dtype = call_.y.dtype;
    if (call_.wide == Dtype::float32)
      return round_floats(reinterpret_cast<const float*>(from), count, {dtype, to, call_.y_caching}, ties_.data());
    return round_elements(call_.wide, from, count, dtype, to, ties_.data());
  }

  void settle_channel(std::int64_t token, std::int64_t head, std::int64_t channel, std::byte* y) const {
    const std::int64_t pair = call_.places.pair_of(channel);
    const std::int64_t position = call_.positions[static_cast<std::size_t>(token)];
    const std::optional<Ratio>& factor = call_.plan.factor.rational;
    const bool stands = pair < 0 || (position == 0 && factor && factor->numerator == factor->denominator);
    if (stands) return;  // the tie is one
    const ConstHeads& x = call_.x;
    const std::byte* const of_head = head_at(x, token, head);
    const auto element = [&](std::int64_t at) {
      return load(x.dtype, of_head + static_cast<std::size_t>(at) * size_of(x.dtype));
    };
    const Channels from = call_.places.before(pair);
    const std::int64_t turned_by = call_.pass.direction == Direction::clockwise ? -position : position;
    const PairTurn turn = precise_turn(call_.plan.frequencies, static_cast<std::size_t>(pair), turned_by);
    const Dtype dtype = call_.y.dtype;
    const SettledPair settled =
        settle({&call_.plan, dtype, pair, turned_by, element(from.first), element(from.second), turn.sin, turn.cos});
    const bool is_first = call_.places.after(pair).first == channel;
    store(dtype, is_first ? settled.first : settled.second, y + static_cast<std::size_t>(channel) * size_of(dtype));
  }

  const CastCall& call_;
  std::vector<Line> own_;
  std::vector<std::uint32_t> ties_;
  Heads wide_;  // in own_: every token's heads in one place
};

// Half way between two neighbouring values of the dtype, or between the largest and what rounds to infinity.
bool is_tie(Dtype dtype, double value) {
  if (value == 0 || !std::isfinite(value)) return false;
  const Format format = format_of(dtype);
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const double places = std::ldexp(std::fabs(value), format.precision - 1 - exponent);
  return places - std::floor(places) == 0.5;
}

}  // namespace

void turn_and_round(const RopePlan& plan, const RopePass& pass, Rounding rounding, const ConstHeads& x,
                    std::span<const std::int64_t> positions, const Heads& y) {
  const CastCall call{plan,
                      pass,
                      rounding,
                      x,
                      positions,
                      y,
                      wide_dtype(x.dtype, y.dtype),
                      streams(y) ? Caching::streamed : Caching::kept,
                      {plan.encoding, pass}};
  const RopeJob whole = CastShare(call).job();
  share(whole.units(), x.batch * x.tokens * x.heads * x.head_dim,
        [&](std::int64_t first, std::int64_t last) { CastShare(call).turn(whole.rows.heads_per_row, first, last); });
}

void carry_and_round(const Rope& encoding, const RopePass& pass, const ConstHeads& x, const Heads& y) {
  Rope carried = encoding;
  carried.pairing = pass.in;
  carried.output_pairing = pass.out;
  const std::vector<Passthrough> channels = passthrough_channels(carried);
  const auto at = [](Dtype dtype, std::int64_t channel) { return static_cast<std::size_t>(channel) * size_of(dtype); };
  share(x.batch * x.tokens, x.batch * x.tokens * x.heads * x.head_dim, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t token = first; token < last; ++token) {
      for (std::int64_t head = 0; head < x.heads; ++head) {
        const std::byte* const from = head_at(x, token, head);
        std::byte* const to = head_at(y, token, head);
        for (const Passthrough& channel : channels)
          store_rounded(y.dtype, load(x.dtype, from + at(x.dtype, channel.input)), to + at(y.dtype, channel.output));
      }
    }
  });
}

std::size_t round_elements(Dtype from_dtype, const std::byte* from, std::size_t count, Dtype dtype, std::byte* to,
                           std::uint32_t* ties) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = load(from_dtype, from + i * size_of(from_dtype));
    store_rounded(dtype, value, to + i * size_of(dtype));
    if (is_tie(dtype, value)) ties[found++] = static_cast<std::uint32_t>(i);
  }
  return found;
}

}  // namespace sextant
