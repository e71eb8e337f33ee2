// Threads are ours: Eigen's own would split the products by their number.
#define EIGEN_DONT_PARALLELIZE

#include "lib/attention/blocks.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lib/attention/softmax_rows.hpp"
#include "lib/kernels/parallel.hpp"

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

template <class Scalar>
void attend_block(const Attention& encoding, const AttentionArrays<Scalar>& arrays, const QueryBlock& block) {
  const std::int64_t width = encoding.head_dim;
  const std::int64_t head_size = arrays.n * width;
  const std::int64_t kv_start = (block.batch * encoding.num_kv_heads + kv_head(encoding, block.head)) * head_size;
  const std::int64_t q_start = (block.batch * encoding.num_heads + block.head) * head_size + block.first * width;

  using Map = Eigen::Map<const Matrix<Scalar>>;
  const Matrix<Scalar> queries =
      Map(arrays.q + q_start, block.count, width) * (1 / std::sqrt(static_cast<Scalar>(width)));
  Matrix<Scalar> weighted = Matrix<Scalar>::Zero(block.count, width);
  Matrix<Scalar> scores(block.count, keys_per_block);
  std::vector<Scalar> bias(arrays.bias == nullptr ? 0 : keys_per_block);
  std::vector<SoftmaxState<Scalar>> states(static_cast<std::size_t>(block.count),
                                           {std::numeric_limits<Scalar>::lowest(), 0});

  const std::int64_t seen_by_last = encoding.causal ? block.first + block.count : arrays.n;
  for (std::int64_t start = 0; start < seen_by_last; start += keys_per_block) {
    const std::int64_t keys = std::min(keys_per_block, seen_by_last - start);
    auto part = scores.leftCols(keys);
    part.noalias() = queries * Map(arrays.k + kv_start + start * width, keys, width).transpose();
    for (std::int64_t row = 0; row < block.count; ++row) {
      const std::int64_t seen =
          encoding.causal ? std::clamp<std::int64_t>(block.first + row + 1 - start, 0, keys) : keys;
      Scalar* first_score = scores.data() + row * keys_per_block;
      std::fill(first_score + seen, first_score + keys, Scalar(0));
      if (seen == 0) continue;
      if (arrays.bias != nullptr) {
        arrays.bias->fill({block.batch, block.head, block.first + row}, start,
                          {bias.data(), static_cast<std::size_t>(seen)});
      }
      const Scalar factor = take_scores(first_score, arrays.bias == nullptr ? nullptr : bias.data(),
                                        static_cast<std::size_t>(seen), states[static_cast<std::size_t>(row)]);
      if (factor != 1) weighted.row(row) *= factor;
    }
    const Map values(arrays.v + kv_start + start * width, keys, width);
    if (encoding.causal && start + keys > block.first + 1 && !values.allFinite()) {
      // A hidden key's weight is 0, and 0 times NaN or infinity is NaN: it must not be multiplied at all.
      for (std::int64_t row = 0; row < block.count; ++row) {
        const std::int64_t seen = std::clamp<std::int64_t>(block.first + row + 1 - start, 0, keys);
        weighted.row(row).noalias() += part.row(row).head(seen) * values.topRows(seen);
      }
    } else {
      weighted.noalias() += part * values;
    }
  }
  Eigen::Map<Matrix<Scalar>> out(arrays.out + q_start, block.count, width);
  for (std::int64_t row = 0; row < block.count; ++row)
    out.row(row) = weighted.row(row) / states[static_cast<std::size_t>(row)].sum;
}

}  // namespace

template <class Scalar>
void attend_in_blocks(const Attention& encoding, const AttentionArrays<Scalar>& arrays) {
  const std::int64_t blocks = (arrays.n + queries_per_block - 1) / queries_per_block;
  parallel_for(arrays.batch * encoding.num_heads * blocks, [&](std::int64_t task) {
    // The last queries first: under a causal mask they take longest.
    const std::int64_t first = (blocks - 1 - task % blocks) * queries_per_block;
    const std::int64_t head = task / blocks;
    attend_block(encoding, arrays,
                 QueryBlock{head / encoding.num_heads, head % encoding.num_heads, first,
                            std::min(queries_per_block, arrays.n - first)});
  });
}

template void attend_in_blocks(const Attention&, const AttentionArrays<float>&);
template void attend_in_blocks(const Attention&, const AttentionArrays<double>&);

}  // namespace sextant
