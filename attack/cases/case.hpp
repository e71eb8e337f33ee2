#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attack/numbers/element.hpp"
#include "lib/spec/spec.hpp"

namespace sextant::attack {

// One call of one encoder, as plain data: what a worker executes, a judge judges and a token replays.

enum class Operation { encode_list, encode_range, rotate, backward, tables, bias, bucket, slope, grad_weight, attend };

/// Where a rotation's result goes: to memory of its own or over x, either with strides, or to a tensor (of rope_nd
/// and xpos: to dense bytes at any address).
enum class Place { apart, in_place, dense };

/// The floating-point environment that the caller has set: a rounding direction, or subnormal numbers taken and given
/// as zeros.
enum class Environment { nearest, upward, downward, toward_zero, flush_to_zero };

/// `count` positions from `first` on in steps of `step`.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t step = 1;
};

struct Case {
  Spec spec;
  Operation operation = Operation::encode_list;
  int threads = 1;
  Environment environment = Environment::nearest;
  Place place = Place::apart;
  /// Bytes that the result lies beyond a multiple of 64; whole elements where a rotation has strides, which demand
  /// alignment.
  std::int64_t offset = 0;
  /// Elements that nobody may touch between rows or vectors, and the order of a rotation's strides (0 .. 5: the
  /// permutations of batch, tokens, heads).
  std::int64_t gap = 0;
  int stride_order = 0;
  std::int64_t batch = 1;
  std::int64_t tokens = 0;
  std::int64_t heads = 1;
  /// Of encode_range.
  Range range;
  /// Positions, queries or coordinates; of the keys; of `bucket` the differences.
  std::vector<std::int64_t> positions;
  std::vector<std::int64_t> keys;
  /// x, a gradient or a weight, row-major and dense; for attention q, then k, then v, then the weight; for
  /// qk_norm_rope, whose operation is attend, q, then k, then the weight of each.
  std::vector<Bits> elements;
};

/// One line that replays the case, without white space or quotation marks but for those of the JSON spec at its end;
/// and its inverse.
std::string token_of(const Case& example);
/// @throws std::invalid_argument naming what cannot be read.
Case case_of(std::string_view token);

/// Of how many heads the keys of qk_norm_rope are, where queries have `heads`: half of them.
std::int64_t key_heads_of(const Case& example);

/// The positions of a call, one by one.
std::vector<std::int64_t> positions_of(const Case& example);

}  // namespace sextant::attack
