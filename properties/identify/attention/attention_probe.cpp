#include "properties/identify/attention/attention_probe.hpp"

#include <algorithm>
#include <cmath>

#include "subjects/operations.hpp"

namespace sextant::identify {

Tensor AttentionProbe::attended(const Tensor& q, const Tensor& k, const Tensor& v,
                                const std::vector<std::int64_t>& positions) {
  const Tensor sinks = Tensor::zeros(claim_.dtype, {encoding_.num_heads});
  // A looked up bias is 0; of several axes each has the same positions.
  const auto rows = signature_of(encoding_).weight;
  const Tensor weight = Tensor::zeros(claim_.dtype, {rows ? rows->rows : 0, encoding_.num_heads});
  std::vector<std::int64_t> of_axes;
  for (std::int64_t axis = 0; axis < axes_of(claim_.encoding); ++axis)
    of_axes.insert(of_axes.end(), positions.begin(), positions.end());
  AttendRequest request{.q = q, .k = k, .v = v, .positions = of_axes};
  if (encoding_.sinks) request.sinks = &sinks;
  if (rows) request.weight = &weight;
  return attend(session_, claim_, request);
}

std::vector<double> AttentionProbe::weights_of_zeros(const std::vector<std::int64_t>& positions, std::int64_t rows) {
  const std::int64_t tokens = std::ssize(positions);
  const std::int64_t width = encoding_.head_dim;
  const Tensor q = Tensor::zeros(claim_.dtype, {rows, encoding_.num_heads, tokens, width});
  const Tensor k = Tensor::zeros(claim_.dtype, {rows, encoding_.num_kv_heads, tokens, width});
  Tensor v = k;
  for (std::int64_t head = 0; head < rows * encoding_.num_kv_heads; ++head) {
    for (std::int64_t token = 0; token < tokens; ++token) v.set((head * tokens + token) * width + token, 1);
  }
  std::vector<std::int64_t> of_rows;
  for (std::int64_t row = 0; row < rows; ++row) of_rows.insert(of_rows.end(), positions.begin(), positions.end());
  const Tensor out = attended(q, k, v, of_rows);
  std::vector<double> weights;
  for (std::int64_t row = 0; row < rows * encoding_.num_heads * tokens; ++row) {
    for (std::int64_t key = 0; key < tokens; ++key) weights.push_back(out.at(row * width + key));
  }
  return weights;
}

std::optional<std::int64_t> AttentionProbe::first_hidden(std::int64_t tokens) {
  const std::int64_t width = encoding_.head_dim;
  const Tensor q = Tensor::zeros(claim_.dtype, {1, encoding_.num_heads, tokens, width});
  const Tensor k = Tensor::zeros(claim_.dtype, {1, encoding_.num_kv_heads, tokens, width});
  Tensor v = k;
  for (std::int64_t head = 0; head < encoding_.num_kv_heads; ++head) v.set(head * tokens * width, 1);
  // All at position 0, so that no bias makes a weight too small to be seen.
  const Tensor out = attended(q, k, v, std::vector<std::int64_t>(static_cast<std::size_t>(tokens), 0));
  for (std::int64_t token = 1; token < tokens; ++token) {
    if (out.at(token * width) == 0) return token;
  }
  return std::nullopt;
}

bool AttentionProbe::sees(std::int64_t query, std::int64_t key, std::int64_t tokens) {
  const std::int64_t width = encoding_.head_dim;
  const Tensor q = Tensor::zeros(claim_.dtype, {1, encoding_.num_heads, tokens, width});
  const Tensor k = Tensor::zeros(claim_.dtype, {1, encoding_.num_kv_heads, tokens, width});
  Tensor v = k;
  for (std::int64_t head = 0; head < encoding_.num_kv_heads; ++head) v.set((head * tokens + key) * width, 1);
  return attended(q, k, v, std::vector<std::int64_t>(static_cast<std::size_t>(tokens), 0)).at(query * width) != 0;
}

std::vector<bool> AttentionProbe::seen_keys(std::int64_t tokens) {
  const std::int64_t width = encoding_.head_dim;
  const Tensor q = Tensor::zeros(claim_.dtype, {1, encoding_.num_heads, tokens, width});
  const Tensor k = Tensor::zeros(claim_.dtype, {1, encoding_.num_kv_heads, tokens, width});
  const std::vector<std::int64_t> positions(static_cast<std::size_t>(tokens), 0);
  std::vector<bool> seen(static_cast<std::size_t>(encoding_.num_heads * tokens * tokens));
  // As many keys a call as there are channels to tell them by.
  for (std::int64_t first = 0; first < tokens; first += width) {
    const std::int64_t count = std::min(width, tokens - first);
    Tensor v = k;
    for (std::int64_t head = 0; head < encoding_.num_kv_heads; ++head) {
      for (std::int64_t c = 0; c < count; ++c) v.set((head * tokens + first + c) * width + c, 1);
    }
    const Tensor out = attended(q, k, v, positions);
    for (std::int64_t row = 0; row < encoding_.num_heads * tokens; ++row) {
      for (std::int64_t c = 0; c < count; ++c) {
        const double weight = out.at(row * width + c);
        // A first query that sees nothing may have NaN, which is 0 / 0; that of another is no mask.
        if (std::isnan(weight) && row % tokens > 0) return {};
        seen[static_cast<std::size_t>(row * tokens + first + c)] = weight != 0 && !std::isnan(weight);
      }
    }
  }
  return seen;
}

bool AttentionProbe::sum_to_one(std::int64_t tokens) {
  const std::int64_t width = encoding_.head_dim;
  const Tensor q = Tensor::zeros(claim_.dtype, {1, encoding_.num_heads, tokens, width});
  const Tensor k = Tensor::zeros(claim_.dtype, {1, encoding_.num_kv_heads, tokens, width});
  Tensor v = k;
  for (std::int64_t i = 0; i < v.elements(); ++i) v.set(i, 1);
  const Tensor out = attended(q, k, v, std::vector<std::int64_t>(static_cast<std::size_t>(tokens), 0));
  // A key that is left out takes at least 1 / tokens away; sums of as many weights are off by less.
  const double off = 0.5 / static_cast<double>(tokens);
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    // A query that sees no key has no sum.
    if (i / width % tokens > 0 && out.at(i) != 0 && std::fabs(out.at(i) - 1) > off) return false;
  }
  return true;
}

std::vector<std::int64_t> AttentionProbe::value_heads() {
  const std::int64_t width = encoding_.head_dim;
  std::vector<std::int64_t> heads(static_cast<std::size_t>(encoding_.num_heads), -1);
  const Tensor q = Tensor::zeros(claim_.dtype, {1, encoding_.num_heads, 1, width});
  const Tensor k = Tensor::zeros(claim_.dtype, {1, encoding_.num_kv_heads, 1, width});
  for (std::int64_t asked = 0; asked < encoding_.num_kv_heads; ++asked) {
    Tensor v = k;
    v.set(asked * width, 1);
    const Tensor out = attended(q, k, v, {0});
    for (std::int64_t head = 0; head < encoding_.num_heads; ++head) {
      if (out.at(head * width) != 0) heads[static_cast<std::size_t>(head)] = asked;
    }
  }
  return heads;
}

std::vector<std::int64_t> AttentionProbe::key_heads() {
  const std::int64_t width = encoding_.head_dim;
  std::vector<std::int64_t> heads(static_cast<std::size_t>(encoding_.num_heads), -1);
  Tensor q = Tensor::zeros(claim_.dtype, {1, encoding_.num_heads, 2, width});
  Tensor v = Tensor::zeros(claim_.dtype, {1, encoding_.num_kv_heads, 2, width});
  for (std::int64_t head = 0; head < encoding_.num_heads; ++head) q.set((head * 2 + 1) * width, 1);
  // The first token's weight, above a half of what both have where its key is seen.
  for (std::int64_t head = 0; head < encoding_.num_kv_heads; ++head) {
    v.set(head * 2 * width, 1);
    v.set((head * 2 + 1) * width + 1, 1);
  }
  // Which heads prefer the first token.
  const auto preferring = [&](const Tensor& k) {
    const Tensor out = attended(q, k, v, {0, 0});
    std::vector<bool> list;
    for (std::int64_t head = 0; head < encoding_.num_heads; ++head) {
      const std::int64_t row = (head * 2 + 1) * width;
      list.push_back(out.at(row) > out.at(row + 1));
    }
    return list;
  };
  Tensor k = Tensor::zeros(claim_.dtype, {1, encoding_.num_kv_heads, 2, width});
  // With keys alike, those to which the mask leaves it alone, say: they show nothing.
  const std::vector<bool> always = preferring(k);
  for (std::int64_t asked = 0; asked < encoding_.num_kv_heads; ++asked) {
    k.set(asked * 2 * width, 4);
    const std::vector<bool> seen = preferring(k);
    k.set(asked * 2 * width, 0);
    for (std::size_t head = 0; head < heads.size(); ++head) {
      if (seen[head] && !always[head]) heads[head] = asked;
    }
  }
  return heads;
}

std::vector<double> AttentionProbe::scores(const std::vector<TwoTokens>& sequences) {
  const std::int64_t width = encoding_.head_dim;
  const std::int64_t count = std::ssize(sequences);
  Tensor q = Tensor::zeros(claim_.dtype, {count, encoding_.num_heads, 2, width});
  Tensor k = Tensor::zeros(claim_.dtype, {count, encoding_.num_kv_heads, 2, width});
  Tensor v = k;
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < count; ++i) {
    const TwoTokens& sequence = sequences[static_cast<std::size_t>(i)];
    for (std::int64_t head = 0; head < encoding_.num_heads; ++head) {
      const std::int64_t second = ((i * encoding_.num_heads + head) * 2 + 1) * width;
      for (std::int64_t c = 0; c < width; ++c) q.set(second + c, sequence.query[static_cast<std::size_t>(c)]);
    }
    for (std::int64_t head = 0; head < encoding_.num_kv_heads; ++head) {
      const std::int64_t first = (i * encoding_.num_kv_heads + head) * 2 * width;
      for (std::int64_t c = 0; c < width; ++c) k.set(first + c, sequence.key[static_cast<std::size_t>(c)]);
      for (std::int64_t c = 0; c < std::ssize(sequence.own_key); ++c)
        k.set(first + width + c, sequence.own_key[static_cast<std::size_t>(c)]);
      v.set(first, 1);
      v.set(first + width + 1, 1);
    }
    positions.insert(positions.end(), {sequence.key_position, sequence.position});
  }
  const Tensor out = attended(q, k, v, positions);
  std::vector<double> scores;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = (i * encoding_.num_heads * 2 + 1) * width;
    scores.push_back(std::log(out.at(row) / out.at(row + 1)));
  }
  return scores;
}

std::vector<double> AttentionProbe::value_at(std::int64_t position, const std::vector<double>& value) {
  const std::int64_t width = encoding_.head_dim;
  const Tensor q = Tensor::zeros(claim_.dtype, {1, encoding_.num_heads, 1, width});
  const Tensor k = Tensor::zeros(claim_.dtype, {1, encoding_.num_kv_heads, 1, width});
  Tensor v = k;
  for (std::int64_t i = 0; i < v.elements(); ++i) v.set(i, value[static_cast<std::size_t>(i % width)]);
  const Tensor out = attended(q, k, v, {position});
  std::vector<double> seen;
  for (std::int64_t c = 0; c < width; ++c) seen.push_back(out.at(c));
  return seen;
}

}  // namespace sextant::identify
