#include "subjects/recorded_rotary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace sextant {
namespace {

// An extent of a pattern that any number of rows fits.
constexpr std::int64_t any = -1;

struct Matched {
  std::int64_t rows;
  std::vector<std::int64_t> strides;  // of the pattern's axes
};

// A shape without extents of 1 as one of a pattern, [2, any, pairs] say: its extents of 1 are not there, and that of a
// single row is not either.
std::optional<Matched> match(const StoredArray& array, std::span<const std::int64_t> pattern) {
  for (const bool one_row : {false, true}) {
    Matched matched{1, {}};
    std::size_t axis = 0;
    bool fits = true;
    for (const std::int64_t extent : pattern) {
      const bool is_absent = extent == 1 || (extent == any && one_row);
      if (is_absent) {
        matched.strides.push_back(0);
        continue;
      }
      fits = axis < array.shape.size() && (extent == any || array.shape[axis] == extent);
      if (!fits) break;
      if (extent == any) matched.rows = array.shape[axis];
      matched.strides.push_back(array.strides[axis++]);
    }
    if (fits && axis == array.shape.size()) return matched;
  }
  return std::nullopt;
}

// Rows of columns that lie in one axis, or in two of which the last is `inner` long; `offset` elements further on.
StoredRows rows_in(const StoredArray& array, const Matched& matched, std::size_t row_axis, std::int64_t columns,
                   std::int64_t inner = 1, std::int64_t offset = 0) {
  StoredRows rows{array, matched.rows, matched.strides[row_axis], {}};
  for (std::int64_t i = 0; i < columns; ++i) {
    const std::int64_t outer = i / inner * matched.strides[row_axis + 1];
    rows.columns.push_back(offset + outer + (inner > 1 ? i % inner * matched.strides[row_axis + 2] : 0));
  }
  return rows;
}

// The values of the rows with those numbers, cosines first.
Tensor values_of(const RecordedRotary& candidate, Dtype dtype, std::int64_t pairs, std::span<const std::int64_t> rows) {
  std::vector<Tensor> parts;
  for (const StoredRows& tensor : candidate.tensors) parts.push_back(gather(tensor, dtype, rows));
  return cosines_then_sines(*candidate.order, parts, pairs);
}

// Whether the row of position 0 is there and has cosines and sines of 0.
bool begins_so(const RecordedRotary& candidate, Dtype dtype, std::int64_t pairs, std::int64_t zero_row) {
  if (zero_row < 0 || zero_row >= candidate.tensors[0].rows) return false;
  const Tensor row = values_of(candidate, dtype, pairs, std::array{zero_row});
  for (std::int64_t i = 0; i < row.elements(); ++i) {
    const bool is_sine = i / pairs % 2 == 1;
    if ((row.at(i) == 0) != is_sine) return false;
  }
  return true;
}

// Whether the first rows have twice what the order has twice.
bool repeats_so(const RecordedRotary& candidate, Dtype dtype, std::int64_t pairs) {
  constexpr std::int64_t looked_at = 8;
  const std::int64_t width = 2 * pairs;
  for (std::int64_t i = 0; i < std::min(candidate.tensors[0].rows, looked_at); ++i) {
    const Tensor row = values_of(candidate, dtype, pairs, std::array{i});
    for (std::int64_t column = 0; column < width; ++column) {
      if (row.at(column) != row.at(width + column)) return false;
    }
  }
  return true;
}

// Whether two orders find the same values in the same places: of a single pair several do.
bool are_alike(const RecordedRotary& one, const RecordedRotary& other, std::int64_t pairs) {
  if (one.order->copies != other.order->copies || one.tensors.size() != other.tensors.size()) return false;
  for (std::int64_t component : {0, 1}) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      for (std::int64_t copy = 0; copy < one.order->copies; ++copy) {
        if (one.order->column(pairs, pair, component, copy) != other.order->column(pairs, pair, component, copy))
          return false;
      }
    }
  }
  return true;
}

class Candidates {
 public:
  Candidates(const RotaryArrays& arrays, std::int64_t pairs) : pairs_(pairs) {
    if (arrays.joined) {
      add_joined(*arrays.joined);
    } else {
      add_two(*arrays.cosines, *arrays.sines);
    }
  }

  const std::vector<RecordedRotary>& list() const { return list_; }

 private:
  void add(std::string_view order, std::vector<StoredRows> tensors) {
    list_.push_back({table_order_named(order), std::move(tensors)});
  }

  void add_two(const StoredArray& cosines, const StoredArray& sines) {
    const auto both = [&](std::int64_t columns) -> std::optional<std::vector<StoredRows>> {
      const std::array pattern{any, columns};
      const auto of_cosines = match(cosines, pattern);
      const auto of_sines = match(sines, pattern);
      if (!of_cosines || !of_sines || of_cosines->rows != of_sines->rows) return std::nullopt;
      return std::vector{rows_in(cosines, *of_cosines, 0, columns), rows_in(sines, *of_sines, 0, columns)};
    };
    if (const auto tensors = both(pairs_)) add("separate", *tensors);
    if (const auto tensors = both(2 * pairs_)) {
      add("halves", *tensors);
      add("repeated", *tensors);
    }
  }

  void add_joined(const StoredArray& array) {
    if (const auto matched = match(array, std::array{any, 2 * pairs_})) {
      for (const char* order : {"cos_sin", "sin_cos", "interleaved"})
        add(order, {rows_in(array, *matched, 0, 2 * pairs_)});
    }
    if (const auto matched = match(array, std::array{any, pairs_, std::int64_t{2}}))
      add("interleaved", {rows_in(array, *matched, 0, 2 * pairs_, 2)});
    const auto stacked = [&](std::int64_t columns) -> std::optional<std::vector<StoredRows>> {
      const auto matched = match(array, std::array{std::int64_t{2}, any, columns});
      if (!matched) return std::nullopt;
      return std::vector{rows_in(array, *matched, 1, columns),
                         rows_in(array, *matched, 1, columns, 1, matched->strides[0])};
    };
    if (const auto tensors = stacked(pairs_)) add("separate", *tensors);
    if (const auto tensors = stacked(2 * pairs_)) {
      add("halves", *tensors);
      add("repeated", *tensors);
    }
  }

  std::int64_t pairs_;
  std::vector<RecordedRotary> list_;
};

std::string shapes_of(const RotaryArrays& arrays) {
  if (arrays.joined) return shape_text(arrays.joined->shape);
  return fmt::format("{} and {}", shape_text(arrays.cosines->shape), shape_text(arrays.sines->shape));
}

// "cos_sin or interleaved".
std::string orders_of(const std::vector<RecordedRotary>& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == list.size() ? " or " : ", ", list[i].order->name);
  return text;
}

// Of a joined array no name says which part is which.
bool is_named(const RotaryArrays& arrays) { return !arrays.joined; }

}  // namespace

RecordedRotary find_rotary(const std::string& file, const RotaryArrays& arrays, Dtype dtype, std::int64_t pairs,
                           std::int64_t zero_row, const TableOrder* order) {
  RotaryArrays plain;
  const auto prepared = [](const std::optional<StoredArray>& array) {
    return array ? std::optional(squeezed(as_real(*array))) : std::nullopt;
  };
  plain.cosines = prepared(arrays.cosines);
  plain.sines = prepared(arrays.sines);
  plain.joined = prepared(arrays.joined);
  const std::vector<RecordedRotary> possible = Candidates(plain, pairs).list();
  if (possible.empty()) {
    throw ArrayFileError(
        fmt::format("{}: shape {} is no table of {} pairs: expected [n, {}], [n, {}], [n, {}, 2] or "
                    "[2, n, ...]",
                    file, shapes_of(arrays), pairs, pairs, 2 * pairs, pairs));
  }
  if (order != nullptr) {
    const auto found = std::ranges::find(possible, order, &RecordedRotary::order);
    if (found != possible.end()) return *found;
    throw ArrayFileError(
        fmt::format("{}: shape {} is not {}: it may be {}", file, shapes_of(arrays), order->name, orders_of(possible)));
  }
  std::vector<RecordedRotary> left;
  for (const RecordedRotary& candidate : possible) {
    if (!is_named(arrays) && !begins_so(candidate, dtype, pairs, zero_row)) continue;
    if (candidate.order->copies > 1 && !repeats_so(candidate, dtype, pairs)) continue;
    if (left.empty() || !are_alike(left.front(), candidate, pairs)) left.push_back(candidate);
  }
  if (left.size() == 1) {
    left.front().is_inferred = !(is_named(arrays) && possible.size() == 1);
    return left.front();
  }
  if (left.empty()) {
    throw ArrayFileError(
        fmt::format("{}: shape {} may be {}, and in none of these is a row that of position 0, cosines 1 and sines 0: "
                    "begin the file with that position, put an array \"positions\" beside it, or say --table-order "
                    "ORDER to have it judged as it is",
                    file, shapes_of(arrays), orders_of(possible)));
  }
  throw ArrayFileError(
      fmt::format("{}: shape {} may be {}, which its values and the row of position 0 do not tell: say "
                  "--table-order ORDER",
                  file, shapes_of(arrays), orders_of(left)));
}

}  // namespace sextant
