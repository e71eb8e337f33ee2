#include "properties/model/attention_scores.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "reference/attention.hpp"

namespace sextant {
namespace {

// Queries and keys of zeros, as padding has them: they are tokens like others.
constexpr std::int64_t blank_query_in = 7;
constexpr std::int64_t blank_key_in = 5;
void blank(Tensor& vectors, std::int64_t one_in) {
  const std::int64_t channels = vectors.shape[3];
  for (std::int64_t i = 0; i < vectors.elements(); ++i) {
    if (i / channels % one_in == one_in - 1) vectors.set(i, 0);
  }
}

// Queries of one channel each, so that the products a score is made of are no larger than scores of order 1 must be.
// @param root  what products are divided by, sqrt(head_dim) unless the claim says otherwise
void score_by_one_channel(AttentionCase& request, double root, std::int64_t fill) {
  const std::int64_t channels = request.q.shape[3];
  // Of small scores what queries and keys are rounded by says little, so that rounded weights show.
  constexpr std::int64_t small_in = 16;
  const double scale = root * (fill % small_in == 4 ? 0x1p-8 : 1);
  for (std::int64_t row = 0; row < request.q.elements() / channels; ++row) {
    const std::uint64_t word = gen::word(fill + 2, row);
    const auto kept = static_cast<std::int64_t>((word >> 1) % static_cast<std::uint64_t>(channels));
    const double size = scale * (1 - static_cast<double>(word >> 56) / 512);
    for (std::int64_t c = 0; c < channels; ++c)
      request.q.set(row * channels + c, c != kept ? 0 : word % 2 == 0 ? size : -size);
  }
  for (std::int64_t i = 0; i < request.k.elements(); ++i) {
    const std::uint64_t word = gen::word(fill + 3, i);
    const double size = 1 + static_cast<double>(word >> 12) * 0x1p-52;
    request.k.set(i, word % 2 == 0 ? size : -size);
  }
}

// One of the first keys or the last ones, or any.
std::int64_t end_of_call(std::uint64_t word, std::int64_t tokens) {
  const auto any = static_cast<std::int64_t>(word >> 8) % tokens;
  constexpr std::int64_t most_from_end = 4;
  switch (word % 8) {
    case 0:
    case 1: return 0;
    case 2:
    case 3:
    case 4: return tokens - 1;
    case 5: return tokens - 1 - any % std::min(most_from_end, tokens);
    default: return any;
  }
}

// The same, and only some keys of each head count: one in each third of the call, one at an end, and those on either
// side of the end of the last token's window. In a long call too what moves their scores, or leaves one out, moves the
// mean.
void few_keys_count(AttentionCase& request, const Attention& encoding, double root, std::int64_t fill) {
  score_by_one_channel(request, root, fill);
  const std::int64_t channels = request.q.shape[3];
  constexpr std::int64_t thirds = 3;
  const double hidden = -16 * root;
  for (std::int64_t i = channels - 1; i < request.q.elements(); i += channels) request.q.set(i, 1);
  for (std::int64_t head = 0; head < request.batch * request.k.shape[1]; ++head) {
    std::set<std::int64_t> counted{end_of_call(gen::word(fill + 5, head), request.tokens)};
    for (std::int64_t third = 0; third < thirds; ++third) {
      const auto word = static_cast<std::int64_t>(gen::word(fill + 4, thirds * head + third) >> 1);
      counted.insert((third * request.tokens + word % request.tokens) / thirds);
    }
    if (encoding.window) {
      counted.insert(request.tokens - *encoding.window - 1);
      counted.insert(request.tokens - *encoding.window);
    }
    for (std::int64_t token = 0; token < request.tokens; ++token) {
      if (!counted.contains(token)) request.k.set((head * request.tokens + token) * channels + channels - 1, hidden);
    }
  }
}

// One key has the score s and all others -s, such that it has half of the weight: what is wrong with the scale of
// scores, with that key, or with small weights moves the mean most. Sizes are near the next power of two, where what is
// rounded is relatively least.
void one_key_has_half(AttentionCase& request, double root, std::int64_t fill) {
  const std::int64_t channels = request.q.shape[3];
  const std::int64_t kv_heads = request.k.shape[1];
  const std::int64_t heads_of_group = request.q.shape[1] / kv_heads;
  constexpr double key_size = 1.75;
  const double score = std::max(std::log(static_cast<double>(request.tokens - 1)) / 2, 0.25);
  const double query = root * score / key_size;
  for (std::int64_t i = 0; i < request.q.elements(); ++i) request.q.set(i, 0);
  for (std::int64_t i = 0; i < request.k.elements(); ++i) request.k.set(i, 0);
  for (std::int64_t head = 0; head < request.batch * kv_heads; ++head) {
    const std::uint64_t word = gen::word(fill + 2, head);
    const auto channel = static_cast<std::int64_t>(word >> 1) % channels;
    const std::int64_t above = end_of_call(gen::word(fill + 5, head), request.tokens);
    for (std::int64_t token = 0; token < request.tokens; ++token) {
      const std::int64_t row = head * request.tokens + token;
      const double size = key_size + static_cast<double>(gen::word(fill + 3, row) >> 12) * 0x1p-54;
      request.k.set(row * channels + channel, token == above ? size : -size);
    }
    for (std::int64_t row = head * heads_of_group * request.tokens; row < (head + 1) * heads_of_group * request.tokens;
         ++row)
      request.q.set(row * channels + channel, query);
  }
}

// What is added to every score by the last channel, which rotations turn least, of each key what `of_key` says of its
// token before it is scaled; the other channels leave scores about 1 apart.
template <class OfKey>
void add_to_scores(AttentionCase& request, double of_query, OfKey of_key) {
  const std::int64_t channels = request.q.shape[3];
  for (std::int64_t i = 0; i < request.q.elements(); ++i)
    request.q.set(i, i % channels == channels - 1 ? of_query : std::ldexp(request.q.at(i), -4));
  for (std::int64_t row = 0; row < request.k.elements() / channels; ++row)
    request.k.set(row * channels + channels - 1, of_key(row % request.tokens) / of_query);
}

// What queries are multiplied by at most, and at least 1: scales rise with the position, and rows may be moved up to
// the last one.
double greatest_query_scale(const Spec& spec) {
  const auto& scale = std::get<Attention>(spec.encoding).query_scale;
  const std::int64_t last = last_position_of(spec) - 1;
  return scale ? std::max(1.0, reference::query_scale(*scale, last, reference::first_precision).upper()) : 1;
}

// A mask that is a finite number hides no key beside scores below it. Minus infinity hides it still, and so does the
// least number of any format.
void score_below_masks(AttentionCase& request, const Spec& spec, double root) {
  constexpr double lowest = 24576;
  // Half of what float16 holds, of queries that are scaled first.
  const double most = 0x1p15 / greatest_query_scale(spec);
  const double greatest = request.k.dtype == Dtype::float16 ? std::min(lowest * root, most) : lowest * root;
  add_to_scores(request, 1, [&](std::int64_t) { return -greatest; });
}

// Twice as far up as float16 reaches, the last key as far as its own numbers let it.
void score_beyond_float16(AttentionCase& request) {
  const auto tokens = static_cast<double>(request.tokens);
  add_to_scores(request, 4, [&](std::int64_t token) { return 0x1p17 * (1 + static_cast<double>(token) / tokens) / 2; });
}

// Scores on the slope of a softcap c: one key has 2 c, and the others what gives them its weight together, as far as
// 2 c and -2 c are apart enough for that. There the cap moves scores by more than they are off by. By the last channel,
// which rotations turn least.
void score_beyond_cap(AttentionCase& request, double cap, double root, std::int64_t fill) {
  const std::int64_t channels = request.q.shape[3];
  const double greatest = request.k.dtype == Dtype::float16 ? 0x1p15 : 0x1p60;  // of a product before it is scaled
  const double highest = std::min(2 * cap, greatest / root);
  const double others =
      cap * std::tanh(highest / cap) - std::log(std::max<double>(1, static_cast<double>(request.tokens - 1)));
  const double lower = others <= cap * std::tanh(-highest / cap) ? -highest : cap * std::atanh(others / cap);
  for (Tensor* tensor : {&request.q, &request.k}) {
    for (std::int64_t i = 0; i < tensor->elements(); ++i) tensor->set(i, 0);
  }
  for (std::int64_t row = 0; row < request.q.elements() / channels; ++row)
    request.q.set(row * channels + channels - 1, 1);
  for (std::int64_t head = 0; head < request.batch * request.k.shape[1]; ++head) {
    const std::int64_t above = end_of_call(gen::word(fill + 5, head), request.tokens);
    for (std::int64_t token = 0; token < request.tokens; ++token) {
      const std::int64_t row = head * request.tokens + token;
      const double part = 1 - static_cast<double>(gen::word(fill + 3, row) >> 12) * 0x1p-58;
      request.k.set(row * channels + channels - 1, root * part * (token == above ? highest : lower));
    }
  }
}

}  // namespace

Tensor drawn_sinks(const Spec& spec, const AttentionCase& request, std::int64_t fill) {
  Tensor sinks = Tensor::zeros(spec.dtype, {request.q.shape[1]});
  const double of_all = std::log(static_cast<double>(request.tokens) + 1);
  for (std::int64_t head = 0; head < sinks.elements(); ++head) {
    const std::uint64_t word = gen::word(fill + 6, head);
    sinks.set(head, (word % 2 == 0 ? of_all : 1) - static_cast<double>(word >> 12) * 0x1p-52);
  }
  return sinks;
}

// Scores of the kinds that question.hpp tells. A query's last channel and a key's make what is added to all of its
// scores, or to one or two.
void shape_scores(AttentionCase& request, const Spec& spec, std::int64_t fill) {
  const auto& encoding = std::get<Attention>(spec.encoding);
  const AttentionArithmetic arithmetic(spec);
  // Of drawn scores little is known where operations round to 16 bits: most have scores of one channel there.
  constexpr std::int64_t drawn_in = 8;
  const bool is_drawn = fill < one_channel_scores && (!is_16_bit(arithmetic.operations) || fill % drawn_in == 0);
  if (is_drawn) return;
  const double root = 1 / arithmetic.scale;
  if (fill >= below_masks && fill < latest_key_wins) {
    const bool is_wide = request.q.dtype == Dtype::float16 && !is_16_bit(arithmetic.operations);
    return fill >= beyond_float16 && is_wide ? score_beyond_float16(request) : score_below_masks(request, spec, root);
  }
  if (fill < latest_key_wins) {
    constexpr std::int64_t fewest_tokens = 6;
    const std::int64_t kind = fill % one_channel_kinds;
    if (kind == few_keys && request.tokens >= fewest_tokens) return few_keys_count(request, encoding, root, fill);
    if (kind == half_for_one && request.tokens > 1) return one_key_has_half(request, root, fill);
    if (kind == beyond_cap && encoding.logit_softcap)
      return score_beyond_cap(request, *encoding.logit_softcap, root, fill);
    return score_by_one_channel(request, root, fill);
  }
  const bool is_float16 = request.q.dtype == Dtype::float16;
  if (fill < one_key_wins || is_float16) {
    for (std::int64_t i = 0; i < request.q.elements(); ++i) request.q.set(i, std::ldexp(request.q.at(i), -4));
  }
  if (fill >= every_key_counts && fill < one_key_wins) {
    blank(request.q, blank_query_in);
    blank(request.k, blank_key_in);
    return;
  }
  const bool rises = fill < far_from_zero;
  const std::int64_t channels = request.q.shape[3];
  const std::int64_t last = channels - 1;
  for (std::int64_t element = last; element < request.q.elements(); element += channels)
    request.q.set(element, rises ? 1 : std::exp2(-static_cast<double>(gen::word(fill + 1, element) % 64) / 8));
  // Float16 can hold products of queries and keys before they are scaled: of one pair they are 2^15.5 at most, as
  // queries are no larger than 1 there, and of the others together below 2^12.
  const double greatest = is_float16 ? std::min(2048 * root, 0x1p15) : 8192 * root;
  for (std::int64_t head = 0; head < request.batch * request.k.shape[1]; ++head) {
    const std::uint64_t word = gen::word(fill, head);
    const auto set_key = [&](std::int64_t token, double channel) {
      request.k.set((head * request.tokens + token) * channels + last, channel);
    };
    if (fill < every_key_counts) {
      for (std::int64_t token = 0; token < request.tokens; ++token) {
        const double part = static_cast<double>(token + 1) / static_cast<double>(request.tokens);
        set_key(token, rises ? greatest * part : word % 2 == 0 ? greatest : -greatest);
      }
    } else {
      // From either end of the call, so that others are far away.
      const auto from_end = static_cast<std::int64_t>(word >> 16) % (request.tokens / 4 + 1);
      set_key(word % 2 == 0 ? from_end : request.tokens - 1 - from_end, greatest);
      constexpr std::uint64_t tie_in = 4;
      if ((word >> 8) % tie_in == 0) set_key(word % 2 == 0 ? request.tokens - 1 - from_end : from_end, greatest);
    }
  }
}

}  // namespace sextant
