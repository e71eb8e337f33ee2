#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/call.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// A gradient by a table: use i, of the table's row rows[i], adds the gradient's elements i * of_use + c * of_column to
/// it, one for each column c.
struct TableGradient {
  std::string_view of;  ///< the operation
  Tensors inputs;
  Tensor grad;
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> places;  ///< of each use, the position up to which a sequence must go to have it
  std::int64_t columns;
  std::int64_t of_use;
  std::int64_t of_column;
  std::unordered_set<std::int64_t> open = {};  ///< rows that are not judged
};

/// That of a lookup, and of a bias that is read from a table; `grad` is that of the answer.
TableGradient table_gradient(const Spec& spec, const Learned& encoding, Tensor weight,
                             const std::vector<std::int64_t>& positions, Tensor grad);
TableGradient table_gradient(const Spec& spec, const RelativeBias& encoding, Tensor weight,
                             const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys,
                             Tensor grad);
TableGradient table_gradient(const Spec& spec, const WindowBias& encoding, Tensor weight,
                             const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys,
                             Tensor grad);

/// How many rows the table of a bias has.
std::int64_t table_rows(const RelativeBias& encoding);
std::int64_t table_rows(const WindowBias& encoding);

/// Whether sums are formed in float32 and rounded to 16 bits once.
bool is_rounded_once(const Spec& spec);

/// Whether a gradient by the table is the sum over the uses of each row. m terms are added with m - 1 roundings in any
/// order: gamma_m(u) sum |g| (Higham 2002, section 4.2), and the last rounding.
Judgement judge_table_gradient(const Spec& spec, const TableGradient& asked, const Tensor& got);

}  // namespace sextant
