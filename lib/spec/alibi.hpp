#pragma once

#include <cstdint>
#include <optional>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/entry.hpp"

namespace sextant {

/// Whether keys after the query are masked, so that their bias does not matter.
enum class Mask { causal, symmetric };
/// The bias itself, or one that differs from it by a constant in each query's row, which softmax does not see: BLOOM's,
/// which grows with the key's position and needs the causal mask.
enum class AlibiForm { distance, key_index };
/// The slopes of a number of heads that is no power of two: the released code's, or one geometric sequence as of any
/// other number.
enum class AlibiSlopes { released, geometric };

/// Press et al. 2021 (arXiv 2108.12409), section 3: the score of query position q and key position k gains
///   -m_h (q - k)  (distance, causal: k <= q only),  -m_h |q - k|  (distance, symmetric),  m_h k  (key_index).
/// For n heads the slopes are m_h = 2^(-B (h+1) / n), h = 0 .. n-1, B = bias_max: 8 in the paper, 16 in some models of
/// long contexts (MPT's alibi_bias_max). Where n is no power of two, released slopes are, as in the released code
/// (attention_with_linear_biases), those of the nearest smaller power n', then every other one of 2n' heads, from its
/// first. bias_max is from 1 to 24, so that the least slope is a value of every dtype.
/// With a slope_dtype the slopes are those numbers rounded once to the nearest of that dtype, ties to even, and what is
/// said of them holds of the rounded ones: transformers' falcon has bfloat16 slopes (build_alibi_tensor).
struct Alibi {
  std::int64_t num_heads = 0;
  Mask mask = Mask::causal;
  AlibiForm form = AlibiForm::distance;
  AlibiSlopes slopes = AlibiSlopes::released;
  std::int64_t bias_max = 8;
  std::optional<Dtype> slope_dtype = std::nullopt;  ///< nothing: real numbers

  static const EncodingEntry<Alibi> entry;
};

}  // namespace sextant
