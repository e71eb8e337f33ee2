#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/spec/position_grid.hpp"

namespace sextant {

/// What a subject does with an encoding.
enum class Operation {
  encode,       ///< positions to rows of a code
  table,        ///< positions to rows of cosines and sines
  rotate,       ///< vectors and their positions to vectors turned
  bias,         ///< positions of queries and keys to what is added to their scores
  attend,       ///< queries, keys and values to attention's result
  qk_norm_rope  ///< queries and keys, the weights of their norms and positions to both, normalized and turned
};

/// "encode", "rotate", ...: as the protocol calls it.
constexpr std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::encode: return "encode";
    case Operation::table: return "table";
    case Operation::rotate: return "rotate";
    case Operation::bias: return "bias";
    case Operation::attend: return "attend";
    case Operation::qk_norm_rope: return "qk_norm_rope";
  }
  return "";
}

/// The shape of the trained table that an operation takes. Without `columns` it has as many as its owner has heads.
struct WeightShape {
  std::int64_t rows = 0;
  std::optional<std::int64_t> columns = std::nullopt;
};

/// Whether a file can hold an encoding as one table of which row p is the code of position p.
enum class Recording { none, rows };

/// The operation that answers for an encoding, and the extents of what it takes and gives; absent are those that this
/// operation has not, and those that the encoding leaves open.
struct Signature {
  Operation operation = Operation::encode;
  std::int64_t axes = 1;                                ///< coordinates of a position
  std::optional<std::int64_t> dim = std::nullopt;       ///< values of one position's code
  std::optional<std::int64_t> head_dim = std::nullopt;  ///< channels of one vector
  std::optional<std::int64_t> heads = std::nullopt;     ///< of the bias, or of the queries
  std::optional<std::int64_t> kv_heads = std::nullopt;  ///< of keys and values
  std::optional<std::int64_t> buckets = std::nullopt;   ///< of distances, which the operation `bucket` tells
  std::optional<WeightShape> weight = std::nullopt;
  bool axes_lead = false;  ///< whether positions are [axes, ...] even where there is one; else where there are several
  bool sinks = false;      ///< whether attention is given a sink of each head
  Recording recording = Recording::none;
  PositionGrid positions = {};  ///< in what steps positions are counted, and the dtype that a subject is given them in
};

}  // namespace sextant
