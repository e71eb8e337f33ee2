// Attention block by block: 64 queries of one head against 128 keys at a time.
//
//   1. Scores of a block are one matrix product (products.hpp); a softcap and a bias are applied to the keys that a
//      query sees, the others have weight 0. A query of padding sees none and has zeros.
//   2. softmax_rows.hpp makes weights of them, relative to the greatest score so far, and says by what the sums before
//      are to be multiplied.
//   3. The weighted sum of the values is a second product, into the same block for all keys; it is divided by the
//      weights' sum at the end.
//   4. Keys that no query of a block sees are passed over. A value that is not finite is not multiplied where its key
//      is hidden: 0 times infinity is NaN.
//
// docs/proofs/attention-encoder.md has the bound.

// Threads are ours: Eigen's own would split its products by their number.
#define EIGEN_DONT_PARALLELIZE

#include "lib/attention/blocks.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lib/attention/products.hpp"
#include "lib/attention/softmax_rows.hpp"
#include "lib/kernels/parallel.hpp"

// A block of queries of one head, for each block of keys that one of them sees:
//   1. The keys are transposed, and scores are the product of the scaled queries with them.
//   2. Each query's scores, of the keys that it sees, are capped and biased; they become weights, e^(score - greatest),
//      by vectors (softmax_rows.cpp), and the query's state is brought up to date. Weights of keys that it does not see
//      are 0.
//   3. Where a greatest score has grown, the query's sum of weighted values is multiplied by what its weights now lack.
//   4. The product of the weights with the values is added to the sums.
// At last the sums are divided by those of the weights. The error: docs/proofs/attention-encoder.md.

namespace sextant {
namespace {

constexpr std::int64_t queries_per_block = 64;

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The queries first .. first + count - 1 of one head.
struct QueryBlock {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t first;
  std::int64_t count;
};

// Which of `keys` keys from `start` on are in a range.
KeyRange part_of(const KeyRange& seen, std::int64_t start, std::int64_t keys) {
  const std::int64_t first = std::clamp<std::int64_t>(seen.first - start, 0, keys);
  return {first, std::clamp(seen.end - start, first, keys)};
}

template <class Scalar>
void attend_block(const Attention& encoding, const AttentionArrays<Scalar>& arrays, const QueryBlock& block) {
  const std::int64_t width = encoding.head_dim;
  const CallShape& shape = arrays.shape;
  const std::int64_t kv_start =
      (block.batch * encoding.num_kv_heads + kv_head(encoding, block.head)) * shape.keys * width;
  const std::int64_t q_start = ((block.batch * encoding.num_heads + block.head) * shape.queries + block.first) * width;

  using Map = Eigen::Map<const Matrix<Scalar>>;
  const Scalar scale =
      encoding.softmax_scale ? static_cast<Scalar>(*encoding.softmax_scale) : 1 / std::sqrt(static_cast<Scalar>(width));
  Matrix<Scalar> queries = Map(arrays.q + q_start, block.count, width) * scale;
  if (arrays.query_scales != nullptr) {
    const Scalar* of_block = arrays.query_scales + block.batch * shape.queries + block.first;
    for (std::int64_t row = 0; row < block.count; ++row) queries.row(row) *= of_block[row];
  }
  Matrix<Scalar> weighted = Matrix<Scalar>::Zero(block.count, width);
  Matrix<Scalar> scores(block.count, keys_per_block);
  Matrix<Scalar> keys_across(width, keys_per_block);
  std::vector<Scalar> bias(arrays.bias == nullptr ? 0 : keys_per_block);
  // A sink is a key whose value is zero.
  const SoftmaxState<Scalar> before = arrays.sinks == nullptr
                                          ? SoftmaxState<Scalar>{std::numeric_limits<Scalar>::lowest(), 0}
                                          : SoftmaxState<Scalar>{arrays.sinks[block.head], 1};
  std::vector<SoftmaxState<Scalar>> states(static_cast<std::size_t>(block.count), before);

  std::vector<KeyRange> seen;
  KeyRange by_any{shape.keys, 0};
  for (std::int64_t row = 0; row < block.count; ++row) {
    const std::int64_t token = shape.token(block.batch, block.first + row);
    const KeyRange sequence = shape.sequence(block.batch);
    seen.push_back(sequence.contains(token) ? keys_seen(encoding, token, sequence) : KeyRange{token, token});
    if (seen.back().count() == 0) continue;
    by_any = {std::min(by_any.first, seen.back().first), std::max(by_any.end, seen.back().end)};
  }
  for (std::int64_t start = by_any.first; start < by_any.end; start += keys_per_block) {
    const std::int64_t keys = std::min(keys_per_block, by_any.end - start);
    transpose<Scalar>(keys, width, {arrays.k + kv_start + start * width, width}, {keys_across.data(), keys_per_block});
    scores.setZero();
    add_product<Scalar>({block.count, width, keys}, {queries.data(), width}, {keys_across.data(), keys_per_block},
                        {scores.data(), keys_per_block});
    bool hides_some = false;
    for (std::int64_t row = 0; row < block.count; ++row) {
      const KeyRange of_row = part_of(seen[static_cast<std::size_t>(row)], start, keys);
      hides_some = hides_some || of_row.count() < keys;
      Scalar* first_score = scores.data() + row * keys_per_block;
      std::fill(first_score, first_score + of_row.first, Scalar(0));
      std::fill(first_score + of_row.end, first_score + keys, Scalar(0));
      if (of_row.count() == 0) continue;
      const auto count = static_cast<std::size_t>(of_row.count());
      if (encoding.logit_softcap)
        cap_scores(first_score + of_row.first, count, static_cast<Scalar>(*encoding.logit_softcap));
      if (arrays.bias != nullptr)
        arrays.bias->fill({block.batch, block.head, block.first + row}, start + of_row.first, {bias.data(), count});
      const Scalar factor = take_scores(first_score + of_row.first, arrays.bias == nullptr ? nullptr : bias.data(),
                                        count, states[static_cast<std::size_t>(row)]);
      if (factor != 1) weighted.row(row) *= factor;
    }
    const Scalar* const values = arrays.v + kv_start + start * width;
    if (hides_some && !Map(values, keys, width).allFinite()) {
      // A hidden key's weight is 0, and 0 times NaN or infinity is NaN: it must not be multiplied at all.
      for (std::int64_t row = 0; row < block.count; ++row) {
        const KeyRange of_row = part_of(seen[static_cast<std::size_t>(row)], start, keys);
        add_product<Scalar>({1, of_row.count(), width}, {scores.data() + row * keys_per_block + of_row.first, 0},
                            {values + of_row.first * width, width}, {weighted.data() + row * width, width});
      }
    } else {
      add_product<Scalar>({block.count, keys, width}, {scores.data(), keys_per_block}, {values, width},
                          {weighted.data(), width});
    }
  }
  Eigen::Map<Matrix<Scalar>> out(arrays.out + q_start, block.count, width);
  for (std::int64_t row = 0; row < block.count; ++row) {
    if (seen[static_cast<std::size_t>(row)].count() == 0) {
      out.row(row).setZero();
    } else {
      out.row(row) = weighted.row(row) / states[static_cast<std::size_t>(row)].sum;
    }
  }
}

}  // namespace

template <class Scalar>
void attend_in_blocks(const Attention& encoding, const AttentionArrays<Scalar>& arrays) {
  const std::int64_t queries = arrays.shape.queries;
  const std::int64_t blocks = (queries + queries_per_block - 1) / queries_per_block;
  const std::int64_t rows = arrays.shape.batch * encoding.num_heads;
  parallel_for(rows * blocks, rows * queries * arrays.shape.keys, [&](std::int64_t task) {
    // The last queries first: under a causal mask they take longest.
    const std::int64_t first = (blocks - 1 - task % blocks) * queries_per_block;
    const std::int64_t head = task / blocks;
    attend_block(encoding, arrays,
                 QueryBlock{head / encoding.num_heads, head % encoding.num_heads, first,
                            std::min(queries_per_block, queries - first)});
  });
}

template void attend_in_blocks(const Attention&, const AttentionArrays<float>&);
template void attend_in_blocks(const Attention&, const AttentionArrays<double>&);

}  // namespace sextant
