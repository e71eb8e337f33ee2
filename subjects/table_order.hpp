#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subjects/subject.hpp"

namespace sextant {

// A rotary table is kept in one of a few orders. A reply of `table` names its tensors by the order they are in.

/// Where a table's values lie: in one tensor of a row for each position, or in two.
struct TableOrder {
  std::string_view name;                  ///< as `--table-order` takes it
  std::vector<std::string_view> tensors;  ///< of a reply; two are those of cosines and of sines
  std::int64_t copies;                    ///< how often each value is there
  /// The column of a pair's cosine or sine, and of which copy of it.
  std::int64_t (*column)(std::int64_t pairs, std::int64_t pair, std::int64_t component, std::int64_t copy);
};

/// Every order, `separate` first: [n, pairs] each; `cos_sin`: [n, 2 pairs], all cosines and then all sines (vLLM's
/// cos_sin_cache), `sin_cos`; `interleaved`: cos, sin of each pair (complex numbers, torchtune's [n, pairs, 2]);
/// `halves`: [n, 2 pairs] each, a row twice over (transformers, whose emb is cat(freqs, freqs)); `repeated`: the same,
/// each value twice running (GPT-J's repeat_interleave).
std::span<const TableOrder> table_orders();

/// The order of that name, or null.
const TableOrder* table_order_named(std::string_view name);

/// "separate, cos_sin, ...".
std::string table_order_names();

/// How many columns each tensor of that order has.
std::int64_t columns_of(const TableOrder& order, std::int64_t pairs);

/// The order whose tensors a reply has. @throws SubjectFailure of kind `protocol` if it has none's.
const TableOrder& order_of_reply(const Tensors& reply);

/// Their rows, [n, copies * 2 pairs]: of each copy all cosines, then all sines. `parts` are an order's tensors, of one
/// dtype, [n, columns_of] each.
Tensor cosines_then_sines(const TableOrder& order, std::span<const Tensor> parts, std::int64_t pairs);

}  // namespace sextant
