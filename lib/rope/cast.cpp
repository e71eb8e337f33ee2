// Vectors turned into another dtype than theirs.
//
//   1. The work is cut into blocks of tokens and heads that a second-level cache holds beside what else is there.
//   2. A block is turned in the wider of the two dtypes, float32 at least, by the kernels of that dtype: into memory of
//      our own, or where y is the wider one in y itself.
//   3. The nearest value w of the wider dtype rounds to y's as the real number does unless w is a tie between two values
//      of y's: between w and the number lies no other value of the wider dtype, and every tie is one.
//   4. Pairs with a tie, one element in 2^13 or fewer, are settled in y's dtype from x (settle.hpp).
//
// docs/proofs/rope.md, step 23.

#include "lib/rope/cast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sextant {
namespace {

constexpr std::int64_t block_bytes = std::int64_t{1} << 17;

// That both are exact in.
Dtype wide_dtype(Dtype x, Dtype y) {
  return x == Dtype::float64 || y == Dtype::float64 ? Dtype::float64 : Dtype::float32;
}

struct Range {
  std::int64_t first;
  std::int64_t count;
};

// Some tokens of one sequence, and some heads.
struct Block {
  std::int64_t batch;
  Range tokens;
  Range heads;
};

class Blocks {
 public:
  Blocks(const ConstHeads& x, Dtype wide)
      : x_(x),
        heads_(heads_together(x, wide)),
        tokens_(std::clamp<std::int64_t>(elements(wide) / (heads_ * x.head_dim), 1, x.tokens)) {}

  std::int64_t count() const { return x_.batch * per_sequence(); }
  std::int64_t most_elements() const { return tokens_ * heads_ * x_.head_dim; }

  Block at(std::int64_t index) const {
    const std::int64_t in_sequence = index % per_sequence();
    const auto part = [](std::int64_t number, std::int64_t size, std::int64_t all) {
      return Range{number * size, std::min(size, all - number * size)};
    };
    return {index / per_sequence(), part(in_sequence / head_parts(), tokens_, x_.tokens),
            part(in_sequence % head_parts(), heads_, x_.heads)};
  }

 private:
  static std::int64_t elements(Dtype wide) { return block_bytes / static_cast<std::int64_t>(size_of(wide)); }
  // A decoding step has few tokens: its heads are shared out too.
  static std::int64_t heads_together(const ConstHeads& x, Dtype wide) {
    const std::int64_t threads = threads_worth(x.batch * x.tokens * x.heads, x.batch * x.tokens * x.heads * x.head_dim);
    const std::int64_t most = x.batch * x.tokens >= 4 * threads ? x.heads : (x.heads + threads - 1) / threads;
    return std::clamp<std::int64_t>(elements(wide) / x.head_dim, 1, most);
  }
  std::int64_t head_parts() const { return (x_.heads + heads_ - 1) / heads_; }
  std::int64_t per_sequence() const { return (x_.tokens + tokens_ - 1) / tokens_ * head_parts(); }

  ConstHeads x_;
  std::int64_t heads_;
  std::int64_t tokens_;
};

template <class Bytes>
Bytes* head_at(const HeadsOf<Bytes>& view, std::int64_t token, std::int64_t head) {
  return view.data + static_cast<std::size_t>(token * view.token_stride + head * view.head_stride) * size_of(view.dtype);
}

template <class Bytes>
HeadsOf<Bytes> part_of(const HeadsOf<Bytes>& view, const Block& block) {
  HeadsOf<Bytes> part = view;
  part.data += static_cast<std::size_t>(block.batch * view.batch_stride) * size_of(view.dtype);
  part.data = head_at(part, block.tokens.first, block.heads.first);
  part.batch = 1;
  part.tokens = block.tokens.count;
  part.heads = block.heads.count;
  return part;
}

template <class Visit>
void each_head_of(const ConstHeads& x, const Heads& y, Visit visit) {
  for (std::int64_t token = 0; token < x.tokens; ++token) {
    for (std::int64_t head = 0; head < x.heads; ++head)
      visit(token, head, head_at(x, token, head), head_at(y, token, head));
  }
}

void store_rounded(Dtype dtype, double value, std::byte* to) {
  store(dtype, std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value, to);
}

// Exact, but for NaN, which becomes the canonical one.
void widen(const ConstHeads& x, const Heads& y) {
  each_head_of(x, y, [&](std::int64_t, std::int64_t, const std::byte* from, std::byte* to) {
    for (std::int64_t i = 0; i < x.head_dim; ++i, from += size_of(x.dtype), to += size_of(y.dtype))
      store_rounded(y.dtype, load(x.dtype, from), to);
  });
}

std::size_t round_head(const Heads& wide, const std::byte* from, Dtype dtype, std::byte* to, std::uint32_t* ties) {
  const auto count = static_cast<std::size_t>(wide.head_dim);
  if (wide.dtype == Dtype::float32) return round_floats(reinterpret_cast<const float*>(from), count, dtype, to, ties);
  return round_elements(wide.dtype, from, count, dtype, to, ties);
}

// A call that turns vectors into another dtype.
class CastCall {
 public:
  CastCall(const RopePlan& plan, const RopePass& pass, Rounding rounding, const ConstHeads& x,
           std::span<const std::int64_t> positions, const Heads& y)
      : plan_(plan),
        pass_(pass),
        rounding_(rounding),
        x_(x),
        positions_(positions),
        y_(y),
        wide_(wide_dtype(x.dtype, y.dtype)),
        blocks_(x, wide_),
        pair_of_(static_cast<std::size_t>(x.head_dim), std::int64_t{-1}) {
    for (std::int64_t pair = 0; pair < pairs(plan.encoding); ++pair) {
      const Channels channels = channels_of_pair(plan.encoding, pass.out, pair);
      for (const std::int64_t channel : {channels.first, channels.second})
        pair_of_[static_cast<std::size_t>(channel)] = pair;
    }
  }

  std::int64_t blocks() const { return blocks_.count(); }

  void turn(std::int64_t first, std::int64_t last) const {
    // Aligned to a line: vectors of a quick tier are parts of one.
    struct alignas(64) Line {
      std::byte bytes[64];
    };
    const bool in_y = y_.dtype == wide_;
    const std::size_t bytes = static_cast<std::size_t>(blocks_.most_elements()) * size_of(wide_);
    std::vector<Line> own(in_y ? 0 : (bytes + sizeof(Line) - 1) / sizeof(Line));
    std::vector<std::uint32_t> ties(in_y ? 0 : static_cast<std::size_t>(x_.head_dim));
    for (std::int64_t index = first; index < last; ++index) {
      const Block block = blocks_.at(index);
      const ConstHeads x = part_of(x_, block);
      const Heads y = part_of(y_, block);
      const auto positions = positions_.subspan(static_cast<std::size_t>(block.batch * x_.tokens + block.tokens.first),
                                                static_cast<std::size_t>(block.tokens.count));
      Heads wide = y;
      if (!in_y) {
        wide = {wide_, own.front().bytes, 1, x.tokens, x.heads, x.head_dim, 0, x.heads * x.head_dim, x.head_dim};
      }
      if (x.dtype != wide_) widen(x, wide);
      const RopeJob job(PairTurns(plan_), plan_.encoding, pass_, rounding_, x.dtype == wide_ ? x : read_only(wide),
                        positions, wide);
      rotate_units(job, 0, job.units());
      if (!in_y) round(x, wide, positions, y, ties.data());
    }
  }

 private:
  void round(const ConstHeads& x, const Heads& wide, std::span<const std::int64_t> positions, const Heads& y,
             std::uint32_t* ties) const {
    each_head_of(read_only(wide), y, [&](std::int64_t token, std::int64_t head, const std::byte* from, std::byte* to) {
      const std::size_t count = round_head(wide, from, y.dtype, to, ties);
      if (rounding_ == Rounding::fast) return;
      for (std::size_t k = 0; k < count; ++k)
        settle_channel(head_at(x, token, head), positions[static_cast<std::size_t>(token)], ties[k], to);
    });
  }

  void settle_channel(const std::byte* x, std::int64_t position, std::uint32_t channel, std::byte* y) const {
    const std::int64_t pair = pair_of_[channel];
    if (pair < 0) return;  // it stands, and the tie is one
    const Channels from = channels_of_pair(plan_.encoding, pass_.in, pair);
    const auto element = [&](std::int64_t at) { return load(x_.dtype, x + static_cast<std::size_t>(at) * size_of(x_.dtype)); };
    const std::int64_t turned_by = pass_.direction == Direction::clockwise ? -position : position;
    const PairTurn turn = precise_turn(plan_.frequencies, static_cast<std::size_t>(pair), turned_by);
    const SettledPair settled =
        settle({&plan_, y_.dtype, pair, turned_by, element(from.first), element(from.second), turn.sin, turn.cos});
    const bool is_first = channels_of_pair(plan_.encoding, pass_.out, pair).first == static_cast<std::int64_t>(channel);
    store(y_.dtype, is_first ? settled.first : settled.second, y + channel * size_of(y_.dtype));
  }

  const RopePlan& plan_;
  RopePass pass_;
  Rounding rounding_;
  ConstHeads x_;
  std::span<const std::int64_t> positions_;
  Heads y_;
  Dtype wide_;
  Blocks blocks_;
  std::vector<std::int64_t> pair_of_;  // of each channel of the result, -1 where it has none
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
  const CastCall call(plan, pass, rounding, x, positions, y);
  share(call.blocks(), x.batch * x.tokens * x.heads * x.head_dim,
        [&](std::int64_t first, std::int64_t last) { call.turn(first, last); });
}

void carry_and_round(const Rope& encoding, const RopePass& pass, const ConstHeads& x, const Heads& y) {
  Rope carried = encoding;
  carried.pairing = pass.in;
  carried.output_pairing = pass.out;
  const std::vector<Passthrough> channels = passthrough_channels(carried);
  const auto at = [](Dtype dtype, std::int64_t channel) { return static_cast<std::size_t>(channel) * size_of(dtype); };
  share(x.batch * x.tokens, x.batch * x.tokens * x.heads * x.head_dim, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t token = first; token < last; ++token) {
      const Block block{token / x.tokens, {token % x.tokens, 1}, {0, x.heads}};
      each_head_of(part_of(x, block), part_of(y, block), [&](std::int64_t, std::int64_t, const std::byte* from, std::byte* to) {
        for (const Passthrough& channel : channels)
          store_rounded(y.dtype, load(x.dtype, from + at(x.dtype, channel.input)), to + at(y.dtype, channel.output));
      });
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
