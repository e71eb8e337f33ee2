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
#include <span>
#include <vector>

#include "lib/attention/products.hpp"
#include "lib/attention/softmax_rows.hpp"
#include "lib/attention/unfilled.hpp"
#include "lib/kernels/parallel.hpp"

// A block of queries of one head, for each block of keys that one of them sees:
//   1. Scores are the product of the scaled queries with the keys, whose blocks are transposed once for all queries.
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

// None for a query of padding.
KeyRange keys_of_query(const Attention& encoding, const CallShape& shape, std::int64_t batch, std::int64_t query) {
  const std::int64_t token = shape.token(batch, query);
  const KeyRange sequence = shape.sequence(batch);
  return sequence.contains(token) ? keys_seen(encoding, token, sequence) : KeyRange{token, token};
}

// From the first key that is in one of the ranges to the last; none where all are empty.
KeyRange by_any_of(std::span<const KeyRange> ranges) {
  KeyRange by_any{std::numeric_limits<std::int64_t>::max(), 0};
  for (const KeyRange& range : ranges) {
    if (range.count() > 0) by_any = {std::min(by_any.first, range.first), std::max(by_any.end, range.end)};
  }
  return by_any.end == 0 ? KeyRange{0, 0} : by_any;
}

// The transposes of blocks of keys, those that some query sees, made once for all queries.
template <class Scalar>
class KeysAcross {
 public:
  KeysAcross(const Attention& encoding, const AttentionArrays<Scalar>& arrays)
      : blocks_((arrays.shape.keys + keys_per_block - 1) / keys_per_block), size_(encoding.head_dim * keys_per_block) {
    const CallShape& shape = arrays.shape;
    const std::int64_t width = encoding.head_dim;
    const std::int64_t heads = shape.batch * encoding.num_kv_heads;
    across_ = Unfilled<Scalar>(heads * blocks_ * size_);
    std::vector<KeyRange> seen;  // of each batch row
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
      std::vector<KeyRange> of_row;
      for (std::int64_t query = 0; query < shape.queries; ++query)
        of_row.push_back(keys_of_query(encoding, shape, batch, query));
      seen.push_back(by_any_of(of_row));
    }
    parallel_for(heads * blocks_, heads * shape.keys * width, [&](std::int64_t task) {
      const std::int64_t head = task / blocks_;
      const std::int64_t start = task % blocks_ * keys_per_block;
      const std::int64_t keys = std::min(keys_per_block, shape.keys - start);
      if (part_of(seen[static_cast<std::size_t>(head / encoding.num_kv_heads)], start, keys).count() == 0) return;
      transpose<Scalar>(keys, width, {arrays.k + (head * shape.keys + start) * width, width},
                        {across_.data() + task * size_, keys_per_block});
    });
  }

  // Where the first channel of a key is, from which the next keys of its block go on, keys_per_block to a channel.
  const Scalar* from(std::int64_t head, std::int64_t key) const {
    return across_.data() + (head * blocks_ + key / keys_per_block) * size_ + key % keys_per_block;
  }

 private:
  std::int64_t blocks_;
  std::int64_t size_;
  Unfilled<Scalar> across_;
};

template <class Scalar>
void attend_block(const Attention& encoding, const AttentionArrays<Scalar>& arrays, const KeysAcross<Scalar>& across,
                  const QueryBlock& block) {
  const std::int64_t width = encoding.head_dim;
  const CallShape& shape = arrays.shape;
  const std::int64_t kv_head_of_all = block.batch * encoding.num_kv_heads + kv_head(encoding, block.head);
  const std::int64_t kv_start = kv_head_of_all * shape.keys * width;
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
  const Unfilled<Scalar> room_of_scores(block.count * keys_per_block);
  Scalar* const scores = room_of_scores.data();
  std::vector<Scalar> room_of_bias(arrays.bias == nullptr ? 0 : keys_per_block);
  // A sink is a key whose value is zero.
  const SoftmaxState<Scalar> before = arrays.sinks == nullptr
                                          ? SoftmaxState<Scalar>{std::numeric_limits<Scalar>::lowest(), 0}
                                          : SoftmaxState<Scalar>{arrays.sinks[block.head], 1};
  std::vector<SoftmaxState<Scalar>> states(static_cast<std::size_t>(block.count), before);

  std::vector<KeyRange> seen;
  for (std::int64_t row = 0; row < block.count; ++row)
    seen.push_back(keys_of_query(encoding, shape, block.batch, block.first + row));
  const KeyRange by_any = by_any_of(seen);
  for (std::int64_t start = by_any.first, keys = 0; start < by_any.end; start += keys) {
    keys = std::min(keys_per_block - start % keys_per_block, by_any.end - start);
    set_product<Scalar>({block.count, width, keys}, {queries.data(), width},
                        {across.from(kv_head_of_all, start), keys_per_block}, {scores, keys_per_block});
    bool hides_some = false;
    for (std::int64_t row = 0; row < block.count; ++row) {
      const KeyRange of_row = part_of(seen[static_cast<std::size_t>(row)], start, keys);
      hides_some = hides_some || of_row.count() < keys;
      Scalar* first_score = scores + row * keys_per_block;
      std::fill(first_score, first_score + of_row.first, Scalar(0));
      std::fill(first_score + of_row.end, first_score + keys, Scalar(0));
      if (of_row.count() == 0) continue;
      const auto count = static_cast<std::size_t>(of_row.count());
      if (encoding.logit_softcap)
        cap_scores(first_score + of_row.first, count, static_cast<Scalar>(*encoding.logit_softcap));
      const Scalar* bias = nullptr;
      if (arrays.bias != nullptr)
        bias = arrays.bias->row({block.batch, block.head, block.first + row}, start + of_row.first,
                                {room_of_bias.data(), count});
      const Scalar factor = take_scores(first_score + of_row.first, bias, count, states[static_cast<std::size_t>(row)]);
      if (factor != 1) weighted.row(row) *= factor;
    }
    const Scalar* const values = arrays.v + kv_start + start * width;
    if (hides_some && !Map(values, keys, width).allFinite()) {
      // A hidden key's weight is 0, and 0 times NaN or infinity is NaN: it must not be multiplied at all.
      for (std::int64_t row = 0; row < block.count; ++row) {
        const KeyRange of_row = part_of(seen[static_cast<std::size_t>(row)], start, keys);
        add_product<Scalar>({1, of_row.count(), width}, {scores + row * keys_per_block + of_row.first, 0},
                            {values + of_row.first * width, width}, {weighted.data() + row * width, width});
      }
    } else {
      add_product<Scalar>({block.count, keys, width}, {scores, keys_per_block}, {values, width},
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
  const KeysAcross<Scalar> across(encoding, arrays);
  parallel_for(rows * blocks, rows * queries * arrays.shape.keys, [&](std::int64_t task) {
    // The last queries first: under a causal mask they take longest.
    const std::int64_t first = (blocks - 1 - task % blocks) * queries_per_block;
    const std::int64_t head = task / blocks;
    attend_block(encoding, arrays, across,
                 QueryBlock{head / encoding.num_heads, head % encoding.num_heads, first,
                            std::min(queries_per_block, queries - first)});
  });
}

template void attend_in_blocks(const Attention&, const AttentionArrays<float>&);
template void attend_in_blocks(const Attention&, const AttentionArrays<double>&);

}  // namespace sextant
