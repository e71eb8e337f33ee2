// Over 400 lines: what is asked of each kind of call is drawn, padded and cut to a step in one place.
#include "properties/identify/attention/attention_calls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/other_query_scales.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Times as far apart as usual scores: e^s of some is beyond float32, whose range ends at e^89.
constexpr double large_scores = 256;
// Each query's greatest score leaves little weight for others.
constexpr double sharp_scores = 8;
// Values are beyond float16's range, which ends at 65504.
constexpr double great_values = 0x1p20;

// Numbers that every dtype holds, of no order: multiples of 1/64 in [-1, 1), by a linear congruence (Knuth's MMIX).
class Numbers {
 public:
  explicit Numbers(std::uint64_t drawing) : state_(drawing) {}

  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 57) / 64 - 1;
  }

 private:
  std::uint64_t state_;
};

// Positions of three rows about the length from which on a claim's frequencies change. The first reaches half as far
// again; it, or the last, may reach half as far, so that it is told from a length below.
void reach_lengths(AttentionCase& request, const Spec& claim, AskedAs call) {
  const auto original = static_cast<double>(*original_length(carried<Rope>(*held<Attention>(claim))->rope_scaling));
  constexpr double near = 0.5;
  const double times[] = {call == AskedAs::near_and_far ? near : 1.5, 3, call == AskedAs::far_and_near ? near : 2};
  const std::int64_t last = model_of(claim)->range().last;
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t row = i / request.tokens % 3;
    const std::int64_t length = std::min(static_cast<std::int64_t>(times[row] * original), last);
    // Rows differ by more than a shift, which turns queries and keys alike.
    const std::int64_t back = (3 + row) * (request.tokens - 1 - i % request.tokens) + 1;
    request.positions[static_cast<std::size_t>(i)] = std::max<std::int64_t>(length - back, 0);
  }
}

// With a first row that is padded before and behind; the row that with_padding leaves as it is is the second, of two.
AttentionCase padded_on_both_sides(const AttentionCase& request) {
  constexpr std::int64_t kept = 4;
  for (std::int64_t fill = 3;; fill += 2) {
    AttentionCase padded = with_padding(request, PaddedSide::both, std::min(kept, request.tokens), fill, 0);
    const bool is_on_both = padded.starts.front() > 0 && padded.ends.front() < padded.tokens;
    if (is_on_both || request.tokens < kept + 2) return padded;
  }
}

// Positions of two rows at which queries' scales are told apart; the second row's lie one place further on.
void reach_scales(AttentionCase& request, const QueryScale& scale, std::int64_t end) {
  const std::vector<std::int64_t> list = positions_about_scale(scale, end);
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t token = i % request.tokens + i / request.tokens % request.batch;
    request.positions[static_cast<std::size_t>(i)] =
        list[static_cast<std::size_t>(std::min(token, std::ssize(list) - 1))];
  }
}

void multiply(Tensor& tensor, double by) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, by * tensor.at(i));
}

// Digits down to 2^-20 of a number.
void make_fine(AttentionCase& request) {
  Numbers numbers(11);
  for (Tensor* tensor : {&request.q, &request.k, &request.v}) {
    for (std::int64_t i = 0; i < tensor->elements(); ++i)
      tensor->set(i, tensor->at(i) * (1 + numbers.next() * 0x1p-8) + numbers.next() * 0x1p-14);
  }
}

// Zeros in the place of every other vector of [batch, heads, tokens, width].
void blank_every_other(Tensor& q) {
  for (std::int64_t i = 0; i < q.elements(); ++i) {
    if (i / q.shape[3] % q.shape[2] % 2 == 1) q.set(i, 0);
  }
}

// Scores of up to about 4, of few channels of each vector: their sums are off by less, which in 16 bits hides much.
void keep_few_channels(AttentionCase& request) {
  constexpr std::int64_t kept = 2;
  const std::int64_t width = request.q.shape[3];
  for (Tensor* tensor : {&request.q, &request.k}) {
    for (std::int64_t i = 0; i < tensor->elements(); ++i) {
      if (i % width % (width / 2) >= kept) tensor->set(i, 0);
    }
  }
  multiply(request.q, std::exp2(std::ceil(std::log2(static_cast<double>(width) / (2 * kept)) / 2) + 1));
}

// By the last channel, which rotations turn least, products rise from key to key up to twice float16's range and more.
void set_wide_products(AttentionCase& request) {
  constexpr double of_query = 4;
  constexpr double of_first_key = 0x1p14;
  const std::int64_t width = request.q.shape[3];
  for (std::int64_t i = width - 1; i < request.q.elements(); i += width) request.q.set(i, of_query);
  for (std::int64_t i = width - 1; i < request.k.elements(); i += width) {
    const auto token = static_cast<double>(i / width % request.tokens);
    request.k.set(i, of_first_key * (1 + token / static_cast<double>(request.tokens)));
  }
}

// All scores of a query are about one number, where nothing turns: from a little below 0 to -120, falling from query to
// query, so that a limit is told from others. Or to ten times as far, where products not yet scaled are in float16's
// range still.
constexpr double least_low_score = 120;
constexpr double least_lower_score = 1200;

void set_low_scores(AttentionCase& request, double scale, double least) {
  const auto width = static_cast<double>(request.q.shape[3]);
  const auto near_1 = [](Tensor& tensor, double times) {
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      tensor.set(i, times * (1 + std::clamp(tensor.at(i), -1.0, 1.0) / 8));
  };
  near_1(request.k, 1);
  near_1(request.q, -1);
  const std::int64_t queries = request.q.shape[2];
  const double step = std::exp2(std::floor(std::log2(least / (width * scale) / static_cast<double>(queries))));
  for (std::int64_t i = 0; i < request.q.elements(); ++i) {
    const std::int64_t query = i / request.q.shape[3] % queries;
    request.q.set(i, step * static_cast<double>(query + 1) * request.q.at(i));
  }
}

// Above and below 0 by turns, no two alike where there are at most 256, some beyond a query's scores and none near 0:
// multiples of 1/64 up to 3, which every dtype holds, in an order that is drawn.
void set_sinks(Tensor& sinks, Numbers& numbers) {
  constexpr double greatest = 3;
  constexpr double unit = 64;
  const std::int64_t count = sinks.elements();
  std::vector<std::pair<double, std::int64_t>> order;
  for (std::int64_t head = 0; head < count; ++head) order.emplace_back(numbers.next(), head);
  std::ranges::sort(order);
  for (std::int64_t i = 0; i < count; ++i) {
    const double size = greatest * static_cast<double>(i + 1) / static_cast<double>(count);
    const std::int64_t head = order[index(i)].second;
    sinks.set(head, (head % 2 == 0 ? 1 : -1) * std::ceil(size * unit) / unit);
  }
}

// Of each row of a padded call the tokens that are no padding: the first row begins and ends neither first nor last,
// nor does the last row, ends lie between multiples of small powers of two, and no row ends where all keys do.
struct Sequence {
  std::int64_t first;
  std::int64_t end;
};
constexpr std::array<Sequence, more_rows> sequences_of_rows{{{2, 9}, {0, 11}, {3, 7}, {0, 3}, {1, 8}}};

AttentionCase padded_to(AttentionCase request, std::span<const Sequence> sequences) {
  for (std::int64_t row = 0; row < request.batch; ++row) {
    const Sequence& sequence = sequences[index(row) % sequences.size()];
    request.starts.push_back(sequence.first);
    request.ends.push_back(sequence.end);
  }
  for (Tensor* tensor : {&request.k, &request.v}) {
    const std::int64_t width = tensor->shape[3];
    for (std::int64_t i = 0; i < tensor->elements(); ++i) {
      const std::int64_t vector = i / width;
      if (!request.sequence(vector / request.tokens / tensor->shape[1]).contains(vector % request.tokens))
        tensor->set(i, 0);
    }
  }
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const KeyRange sequence = request.sequence(i / request.tokens % request.batch);
    if (!sequence.contains(i % request.tokens))
      request.positions[index(i)] = request.positions[index(i / request.tokens * request.tokens + sequence.first)];
  }
  return request;
}

AttentionCase padded_rows_of(AttentionCase request) { return padded_to(std::move(request), sequences_of_rows); }

// The first row has more padding on the left than any of a short call, and on the right; the second has none.
AttentionCase padded_lengthy_of(AttentionCase request) {
  const std::int64_t tokens = request.tokens;
  const std::array<Sequence, usual_rows> sequences{{{2 * tokens / 5, tokens - tokens / 10}, {0, tokens}}};
  return padded_to(std::move(request), sequences);
}

constexpr std::int64_t most_far_queries = 3;

// A sequence whose last tokens have indices beyond the first that is scaled.
std::optional<AttentionCase> far_sequence(const Spec& claim, const QueryScale& scale) {
  const std::int64_t unit = unit_of(scale);
  const std::int64_t tokens = unit + most_far_queries + 2;
  const std::int64_t last = model_of(claim)->range().last;
  const bool has_room = 3 * tokens < last;
  // Or a whole period further on.
  if (tokens > longest_cache || (!has_room && tokens + unit >= last)) return std::nullopt;
  AttentionCase request = ordinary_case(claim, tokens, 1);
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i)
    request.positions[static_cast<std::size_t>(i)] = has_room ? 3 * i : i + unit;
  // Few keys count then.
  multiply(request.q, sharp_scores);
  return request;
}

}  // namespace

AttentionCase ordinary_case(const Spec& claim, std::int64_t tokens, std::int64_t batch, std::uint64_t drawing) {
  const auto& encoding = *held<Attention>(claim);
  const gen::PositionRange range = model_of(claim)->range();
  AttentionCase request =
      attention_case(claim, {.position = range.first, .tokens = tokens, .batch = batch, .heads = 1, .fill = 3});
  Numbers numbers(drawing);
  // Products of D numbers of variance 1/3 have variance D/9.
  const double apart = score_scale(encoding) * std::sqrt(static_cast<double>(encoding.head_dim)) / 3;
  // A softcap is seen in scores about as large.
  const double wanted = std::clamp(encoding.logit_softcap.value_or(1), 1.0, 4.0);
  const double size = std::exp2(std::floor(std::log2(wanted / apart) / 2));
  for (Tensor* tensor : {&request.q, &request.k, &request.v}) {
    const double times = tensor == &request.v ? 1 : size;
    for (std::int64_t i = 0; i < tensor->elements(); ++i) tensor->set(i, times * numbers.next());
  }
  if (request.sinks) set_sinks(*request.sinks, numbers);
  const std::int64_t width = range.last - range.first;
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t token = i % tokens;
    const std::int64_t line = i / tokens;  // axis and row
    // Rows differ by more than a shift, which turns queries and keys alike and leaves distances as they are.
    const std::int64_t step = 1 + line / batch + line % batch;
    const std::int64_t at = 5 + 37 * line + step * (token + token / 2 + token / 4);
    request.positions[static_cast<std::size_t>(i)] = range.first + at % width;
  }
  for (auto row = request.positions.begin(); row != request.positions.end(); row += tokens)
    std::sort(row, row + tokens);
  return request;
}

std::int64_t heads_of(AskedAs call) {
  const bool is_long = call == AskedAs::lengthy || call == AskedAs::long_step || call == AskedAs::long_short_step ||
                       call == AskedAs::lengthy_step || call == AskedAs::lengthy_short_step ||
                       call == AskedAs::padded_lengthy || call == AskedAs::padded_lengthy_step;
  return is_long ? most_heads_of_long : std::numeric_limits<std::int64_t>::max();
}

void fill_padding(AttentionCase& request) {
  Numbers numbers(13);
  for (Tensor* tensor : {&request.k, &request.v}) {
    for (std::int64_t i = 0; i < tensor->elements(); ++i) {
      const std::int64_t vector = i / tensor->shape[3];
      if (!request.sequence(vector / request.tokens / tensor->shape[1]).contains(vector % request.tokens))
        tensor->set(i, numbers.next());
    }
  }
}

std::optional<AttentionCase> far_step(const Spec& claim, const QueryScale& scale, std::int64_t queries) {
  const auto request = far_sequence(claim, scale);
  return request ? std::optional(last_of(*request, std::min(queries, most_far_queries))) : std::nullopt;
}

std::optional<AttentionCase> far_call(const Spec& claim, const QueryScale& scale) {
  if (unit_of(scale) + most_far_queries + 2 > longest_tokens(*held<Attention>(claim), work_of_once))
    return std::nullopt;
  return far_sequence(claim, scale);
}

namespace {

// The whole call that one of such a kind is made of, before it is padded, or its last queries alone are asked.
std::optional<AttentionCase> whole_of(const Spec& claim, AskedAs call, std::uint64_t drawing) {
  const auto& encoding = *held<Attention>(claim);
  const auto model = model_of(claim);
  const std::int64_t room = model->most_tokens_from(model->range().first);
  const bool is_long = call == AskedAs::lengthy;
  const bool is_far = call == AskedAs::far || call == AskedAs::near_and_far || call == AskedAs::far_and_near ||
                      call == AskedAs::far_step || call == AskedAs::far_short_step;
  const bool is_scaled = call == AskedAs::scaled || call == AskedAs::scaled_step || call == AskedAs::scaled_short_step;
  const bool is_padded_lengthy = call == AskedAs::padded_lengthy || call == AskedAs::padded_lengthy_step;
  const bool is_lengthy =
      is_long || is_padded_lengthy || call == AskedAs::lengthy_step || call == AskedAs::lengthy_short_step;
  const bool is_beyond_window = call == AskedAs::long_step || call == AskedAs::long_short_step;
  std::int64_t tokens = std::min(is_lengthy ? long_call : short_call, room);
  if (is_lengthy && tokens <= short_call) return std::nullopt;
  const auto* rope = carried<Rope>(encoding);
  if (is_far && !(rope != nullptr && depends_on_length(claim) && original_length(rope->rope_scaling)))
    return std::nullopt;
  const auto& scale = encoding.query_scale;
  if (is_scaled && !scale) return std::nullopt;
  if (call == AskedAs::great && claim.dtype == Dtype::float16) return std::nullopt;
  if (call == AskedAs::channels && (!is_16_bit(claim.dtype) || encoding.head_dim < 8)) return std::nullopt;
  if (is_beyond_window) {
    constexpr std::int64_t beyond = 5;
    constexpr std::int64_t longest_window = 4096;
    if (!encoding.window || *encoding.window > longest_window) return std::nullopt;
    tokens = *encoding.window + beyond;
    if (tokens <= short_call || tokens > room) return std::nullopt;
  }
  if (call == AskedAs::pair || call == AskedAs::single) {
    if (room <= 2) return std::nullopt;
    tokens = call == AskedAs::pair ? 2 : 1;
  }
  const bool has_rows =
      call == AskedAs::rows || call == AskedAs::padded_rows || call == AskedAs::padded_rows_step ||
      ((call == AskedAs::padded_short_step || call == AskedAs::padded_pair_step) && tokens >= short_call);
  if ((call == AskedAs::padded_rows || call == AskedAs::padded_rows_step) && tokens < short_call) return std::nullopt;
  if (call == AskedAs::fine && is_16_bit(claim.dtype)) return std::nullopt;
  // float16 holds no such products.
  const bool is_wide = AttentionArithmetic(claim).operations != Dtype::float16;
  if (call == AskedAs::wide && !is_wide) return std::nullopt;
  const bool is_one_row = (is_lengthy && !is_padded_lengthy) || is_beyond_window;
  AttentionCase request = ordinary_case(claim, tokens,
                                        is_one_row ? 1
                                        : is_far   ? 3
                                        : has_rows ? more_rows
                                                   : usual_rows,
                                        drawing);
  if (is_far) reach_lengths(request, claim, call);
  if (is_scaled) reach_scales(request, *scale, model->range().last);
  switch (call) {
    case AskedAs::channels: keep_few_channels(request); break;
    case AskedAs::low: set_low_scores(request, score_scale(encoding), least_low_score); break;
    case AskedAs::lower: set_low_scores(request, score_scale(encoding), least_lower_score); break;
    case AskedAs::large: multiply(request.q, large_scores); break;
    case AskedAs::sharp: multiply(request.q, sharp_scores); break;
    case AskedAs::great: multiply(request.v, great_values); break;
    case AskedAs::blank: blank_every_other(request.q); break;
    case AskedAs::fine: make_fine(request); break;
    case AskedAs::wide: set_wide_products(request); break;
    default: break;
  }
  return request;
}

AttentionCase padded_of(const AttentionCase& whole, AskedAs call) {
  if (call == AskedAs::padded_lengthy || call == AskedAs::padded_lengthy_step) return padded_lengthy_of(whole);
  return whole.batch == more_rows && whole.tokens == short_call ? padded_rows_of(whole) : padded_on_both_sides(whole);
}

// Its last queries alone, or all of a whole call; nothing where a row has too few tokens for it.
std::optional<AttentionCase> with_queries(const AttentionCase& whole, std::int64_t queries) {
  if (queries == 0) return whole;
  for (std::int64_t row = 0; row < whole.batch; ++row) {
    if (whole.sequence(row).count() < queries) return std::nullopt;
  }
  return last_of(whole, queries);
}

}  // namespace

KindOfCall kind_of(AskedAs call) {
  using enum HasPadding;
  switch (call) {
    case AskedAs::padded:
    case AskedAs::padded_rows:
    case AskedAs::padded_lengthy: return {0, yes};
    case AskedAs::step:
    case AskedAs::long_step:
    case AskedAs::lengthy_step:
    case AskedAs::far_step: return {3, no};
    case AskedAs::padded_step:
    case AskedAs::padded_rows_step:
    case AskedAs::padded_lengthy_step: return {3, yes};
    case AskedAs::short_step:
    case AskedAs::long_short_step:
    case AskedAs::lengthy_short_step:
    case AskedAs::far_short_step:
    case AskedAs::scaled_short_step: return {1, no};
    case AskedAs::pair_step: return {2, no};
    case AskedAs::padded_short_step: return {1, yes};
    case AskedAs::padded_pair_step: return {2, yes};
    case AskedAs::scaled_step: return {6, no};
    default: return {};
  }
}

std::optional<AttentionCase> case_of(const Spec& claim, AskedAs call, std::uint64_t drawing) {
  return case_of_kind(claim, call, kind_of(call), drawing);
}

std::optional<AttentionCase> case_of_kind(const Spec& claim, AskedAs call, const KindOfCall& kind,
                                          std::uint64_t drawing) {
  std::optional<AttentionCase> request = whole_of(claim, call, drawing);
  if (!request) return std::nullopt;
  if (kind.padding == HasPadding::yes) request = padded_of(*request, call);
  return with_queries(*request, kind.queries);
}

std::optional<AttentionCase> padded_call_of(const Spec& claim, std::int64_t rows, std::uint64_t drawing) {
  const auto model = model_of(claim);
  if (short_call > model->most_tokens_from(model->range().first)) return std::nullopt;
  return padded_rows_of(ordinary_case(claim, short_call, rows, drawing));
}

std::optional<AttentionCase> padded_by(const Spec& claim, PaddedSide side, std::int64_t count) {
  const auto model = model_of(claim);
  const std::int64_t tokens = std::min(short_call, model->most_tokens_from(model->range().first));
  if (tokens < count + 2) return std::nullopt;
  const AttentionCase request = ordinary_case(claim, tokens, 2, 8);
  constexpr std::int64_t most_tries = 400;
  for (std::int64_t fill = 3; fill < most_tries; fill += 2) {
    AttentionCase padded = with_padding(request, side, tokens - count, fill, 0);
    const std::int64_t seen = side == PaddedSide::left ? padded.starts.front() : tokens - padded.ends.front();
    if (seen == count) return padded;
  }
  return std::nullopt;
}

std::optional<AttentionCase> lengthy_padded_by(const Spec& claim, PaddedSide side, std::int64_t count,
                                               std::int64_t queries) {
  const auto whole = whole_of(claim, AskedAs::padded_lengthy, 8);
  if (!whole || whole->tokens - count < std::max<std::int64_t>(queries, 1)) return std::nullopt;
  const bool is_left = side == PaddedSide::left;
  const std::array<Sequence, usual_rows> sequences{
      {{is_left ? count : 0, whole->tokens - (is_left ? 0 : count)}, {0, whole->tokens}}};
  return with_queries(padded_to(*whole, sequences), queries);
}

std::optional<AttentionCase> padded_by(const Spec& claim, PaddedSide side, const KindOfCall& kind) {
  constexpr std::int64_t padding = 3;
  const auto request = padded_by(claim, side, padding);
  return request ? with_queries(*request, kind.queries) : std::nullopt;
}

}  // namespace sextant::identify
