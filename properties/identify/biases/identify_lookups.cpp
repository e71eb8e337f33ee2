#include "properties/identify/biases/identify_lookups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/identify/biases/bias_places.hpp"
#include "properties/identify/biases/other_window_rows.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "reference/window_bias.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// What is named of a lookup is the claim itself: that all is as claimed, or how it is not.
Identification as_claimed(const Spec& claim) {
  Identification found;
  found.spec = claim;
  found.confidence = Confidence::high;
  return found;
}

void blame(Identification& found, std::string words) {
  found.faults.emplace_back(std::move(words), DiagnosedStage::position);
  found.confidence = Confidence::low;
}

// Values that are no numbers of rows, at other places of the claim.
Identification judged(CountedSession& session, const Spec& claim, Identification found) {
  const FittedAnswers fitted = fitted_answers(session, claim);
  found.of_bound = fitted.of_bound;
  if (!fitted.hold && found.faults.empty()) {
    found.faults.push_back(misfit(fitted.where));
    found.confidence = Confidence::low;
  }
  found.calls = session.calls();
  return found;
}

// A table whose rows are told apart: digits of the row's number in base 64, from 1 on, which every format has exactly.
Tensor numbered(Dtype dtype, std::int64_t rows, std::int64_t columns) {
  Tensor table = Tensor::zeros(dtype, {rows, columns});
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t rest = row;
    for (std::int64_t column = 0; column < columns; ++column, rest /= 64)
      table.set(row * columns + column, static_cast<double>(1 + rest % 64));
  }
  return table;
}

std::int64_t columns_for(std::int64_t rows) {
  std::int64_t columns = 1;
  for (std::int64_t told = 64; told < rows; told *= 64) ++columns;
  return columns;
}

// The row whose digits these are.
std::optional<std::int64_t> row_of(const std::function<double(std::int64_t column)>& value, std::int64_t columns) {
  std::int64_t row = 0;
  for (std::int64_t column = columns; column-- > 0;) {
    const double digit = value(column) - 1;
    if (!(digit >= 0 && digit < 64) || digit != static_cast<double>(static_cast<std::int64_t>(digit))) return {};
    row = row * 64 + static_cast<std::int64_t>(digit);
  }
  return row;
}

struct Way {
  std::string words;
  std::function<std::int64_t(std::int64_t position, std::int64_t place)> row;
};

Way shifted(std::int64_t shift) {
  return {fmt::format("rows are read {} further {}: position p has row p {} {}", std::abs(shift),
                      shift > 0 ? "on" : "back", shift > 0 ? '+' : '-', std::abs(shift)),
          [shift](std::int64_t position, std::int64_t) { return position + shift; }};
}

// The first is the right one.
std::vector<Way> known_ways(const std::vector<std::int64_t>& positions, std::int64_t rows) {
  const std::int64_t first = positions.front();
  // As fairseq's make_positions counts tokens that are no padding.
  const auto counted = [positions](std::int64_t position, std::int64_t place) {
    const auto end = positions.begin() + place + 1;
    return position == 0 ? std::ptrdiff_t{0}
                         : std::count_if(positions.begin(), end, [](std::int64_t one) { return one != 0; });
  };
  return {
      {"", [](std::int64_t position, std::int64_t) { return position; }},
      shifted(1),
      shifted(-1),
      shifted(2),
      shifted(-2),
      {"a token's place in the call is taken for its position", [](std::int64_t, std::int64_t place) { return place; }},
      {"positions are taken to be consecutive from the call's first",
       [first](std::int64_t, std::int64_t place) { return first + place; }},
      {"rows are counted over a call's positions that are not 0, which has row 0",
       [counted](std::int64_t position, std::int64_t place) { return std::int64_t{counted(position, place)}; }},
      {"rows are read from the table's end: position 0 has the last",
       [rows](std::int64_t position, std::int64_t) { return rows - 1 - position; }},
  };
}

// What the first odd row says, of those that the answers to `positions` begin like.
std::string words_of_row(const Tensor& answer, std::int64_t odd, std::span<const std::int64_t> positions,
                         std::span<const std::optional<std::int64_t>> rows, const Tensor& weight) {
  const std::int64_t dim = weight.shape[1];
  const std::int64_t position = positions[static_cast<std::size_t>(odd)];
  const std::optional<std::int64_t> row = rows[static_cast<std::size_t>(odd)];
  const auto is_row = [&](std::int64_t number, const auto& channel_of, double factor) {
    for (std::int64_t channel = 0; channel < dim; ++channel) {
      const double value = factor * weight.at(number * dim + channel_of(channel));
      if (std::fabs(answer.at(odd * dim + channel) - value) > 1e-6 * std::fabs(value)) return false;
    }
    return true;
  };
  const auto same = [](std::int64_t channel) { return channel; };
  if (row && *row >= 0 && *row < weight.shape[0] && is_row(*row, same, 1)) {
    const auto all = [&](const auto& rule) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] != rule(positions[i])) return false;
      }
      return true;
    };
    if (all([&](std::int64_t p) { return std::min(p, *row); }))
      return fmt::format("positions above {} are clamped to it", *row);
    const std::int64_t period = position - *row;
    if (period > 0 && all([&](std::int64_t p) { return p % period; }))
      return fmt::format("positions wrap at {}", period);
    return fmt::format("position {} has row {} of the table", position, *row);
  }
  if (is_row(
          position, [&](std::int64_t channel) { return dim - 1 - channel; }, 1))
    return "the channels of a row are in reverse order";
  const double factor = answer.at(odd * dim) / weight.at(position * dim);
  if (is_row(position, same, factor)) {
    // Other rows may be the table's own: padding's, say, is all zeros.
    if (std::ranges::none_of(std::views::iota(std::size_t{0}, rows.size()),
                             [&](std::size_t i) { return rows[i] == positions[i]; }))
      return fmt::format("values are {:g} times the table's", factor);
    return factor == 0 ? fmt::format("position {} is encoded as zeros", position)
                       : fmt::format("position {} has {:g} times its row of the table", position, factor);
  }
  return fmt::format("position {} has no row of the table", position);
}

}  // namespace

Identification identify_learned(CountedSession& session, const Spec& claim, const Learned& table) {
  const std::int64_t columns = columns_for(table.max_positions);
  if (columns > table.dim) {
    Identification untold = judged(session, claim, as_claimed(claim));
    untold.seen.emplace_back("rows of so few channels are not told apart");
    return untold;
  }
  const Tensor weight = numbered(claim.dtype, table.max_positions, table.dim);
  const std::int64_t last = std::min(claim.max_position, table.max_positions) - 1;
  std::vector<std::int64_t> positions;
  for (const std::int64_t position : {5, 0, 3, 1, 7, 2, 40, 13})
    if (position <= last) positions.push_back(position);
  for (std::int64_t position = 64; position < last; position *= 2) positions.push_back(position);
  positions.push_back(last);
  const Tensor answer = encode(session, claim, positions, weight);
  std::vector<std::optional<std::int64_t>> rows;
  for (std::int64_t i = 0; i < std::ssize(positions); ++i)
    rows.push_back(row_of([&](std::int64_t column) { return answer.at(i * table.dim + column); }, columns));
  Identification found = as_claimed(claim);
  const std::int64_t rows_of_table = table.max_positions;
  const auto fits = [&](const Way& way) {
    // What is read beyond the table may be anything.
    std::int64_t told = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t row = way.row(positions[i], static_cast<std::int64_t>(i));
      if (row < 0 || row >= rows_of_table) continue;
      if (rows[i] != row) return false;
      ++told;
    }
    return told > 2;
  };
  // Those that go by the call are asked of another one too.
  const auto fits_elsewhere = [&](std::size_t number) {
    std::vector<std::int64_t> others;
    for (const std::int64_t position : {3, 9, 0, 4, 12, 6})
      if (position <= last) others.push_back(position);
    const Way way = known_ways(others, rows_of_table)[number];
    const Tensor seen = encode(session, claim, others, weight);
    for (std::int64_t i = 0; i < std::ssize(others); ++i) {
      const std::int64_t row = way.row(others[static_cast<std::size_t>(i)], i);
      if (row < 0 || row >= rows_of_table) continue;
      if (row_of([&](std::int64_t column) { return seen.at(i * table.dim + column); }, columns) != row) return false;
    }
    return true;
  };
  const std::vector<Way> ways = known_ways(positions, rows_of_table);
  auto way = std::ranges::find_if(ways, fits);
  if (way != ways.end() && !way->words.empty() && !fits_elsewhere(static_cast<std::size_t>(way - ways.begin())))
    way = ways.end();
  if (way != ways.end() && !way->words.empty()) {
    blame(found, way->words);
  } else if (way == ways.end()) {
    std::size_t odd = 0;
    while (rows[odd] == positions[odd]) ++odd;
    const auto claimed = [&](std::int64_t column) { return weight.at(positions[odd] * table.dim + column); };
    double squares = 0;
    for (std::int64_t column = 0; column < table.dim; ++column) squares += claimed(column) * claimed(column);
    bool is_normalized = true;
    for (std::int64_t column = 0; column < table.dim; ++column) {
      const double of_length = claimed(column) / std::sqrt(squares);
      const double seen = answer.at(static_cast<std::int64_t>(odd) * table.dim + column);
      is_normalized = is_normalized && std::fabs(seen - of_length) <= std::ldexp(8, -format_of(claim.dtype).precision);
    }
    if (is_normalized) {
      found.faults.emplace_back("rows are divided by their lengths", DiagnosedStage::other);
      found.confidence = Confidence::low;
      return judged(session, claim, std::move(found));
    }
    const Tensor alone = encode(session, claim, std::vector{positions[odd]}, weight);
    const bool is_right_alone =
        row_of([&](std::int64_t column) { return alone.at(column); }, columns) == positions[odd];
    blame(found, is_right_alone
                     ? fmt::format("position {} has another row among others than in a call of its own", positions[odd])
                     : words_of_row(answer, static_cast<std::int64_t>(odd), positions, rows, weight));
  }
  return judged(session, claim, std::move(found));
}

Identification identify_window_bias(CountedSession& session, const Spec& claim, const WindowBias& bias) {
  Identification found = as_claimed(claim);
  const std::int64_t rows = weight_rows(bias);
  // Two heads at least, of which one may be wrong.
  const std::int64_t columns = std::max<std::int64_t>(columns_for(rows), 2);
  constexpr std::int64_t most = 256;
  const std::int64_t tokens = std::min({position_count(bias), claim.max_position, most});
  std::vector<std::int64_t> positions;
  for (std::int64_t token = claim.min_position; token < tokens; ++token) positions.push_back(token);
  const std::int64_t count = std::ssize(positions);
  const Tensor weight = numbered(claim.dtype, rows, columns);
  const Tensor answer = sextant::bias(session, claim, positions, positions, weight);
  enum class Heads { in_order, reversed };
  Heads heads = Heads::in_order;
  const auto seen = [&](std::int64_t query, std::int64_t key) {
    const auto row = row_of(
        [&](std::int64_t head) {
          const std::int64_t column = heads == Heads::in_order ? head : columns - 1 - head;
          return answer.at((column * count + query) * count + key);
        },
        columns);
    // Heads of several rows make a number that is none.
    return row && *row < rows ? row : std::nullopt;
  };
  const auto is = [&](const std::function<std::optional<std::int64_t>(std::int64_t, std::int64_t)>& row) {
    for (std::int64_t q = 0; q < count; ++q) {
      for (std::int64_t k = 0; k < count; ++k) {
        if (seen(q, k) != row(positions[static_cast<std::size_t>(q)], positions[static_cast<std::size_t>(k)]))
          return false;
      }
    }
    return true;
  };
  const auto claimed = [&](std::int64_t q, std::int64_t k) { return std::optional(reference::window_row(bias, q, k)); };
  const auto has_heads_reversed = [&] {
    heads = Heads::reversed;
    const bool has = is(claimed);
    heads = Heads::in_order;
    return has;
  };
  const auto wrong_heads = [&](const Tensor& given, const Tensor& got) {
    std::vector<std::int64_t> heads_of;
    for (std::int64_t head = 0; head < columns; ++head) {
      for (std::int64_t cell = 0; cell < count * count; ++cell) {
        const std::int64_t row = *claimed(positions[static_cast<std::size_t>(cell / count)],
                                          positions[static_cast<std::size_t>(cell % count)]);
        if (got.at(head * count * count + cell) == given.at(row * columns + head)) continue;
        heads_of.push_back(head);
        break;
      }
    }
    return heads_of;
  };
  // Rows share digits, and a head shows those of one column: each is asked with the next one's too.
  Tensor turned = weight;
  for (std::int64_t i = 0; i < weight.elements(); ++i)
    turned.set(i, weight.at(i / columns * columns + (i + 1) % columns));
  std::vector<std::int64_t> wrong;
  std::ranges::set_union(wrong_heads(weight, answer),
                         wrong_heads(turned, sextant::bias(session, claim, positions, positions, turned)),
                         std::back_inserter(wrong));
  const auto words_of_other_rows = [&]() -> std::string {
    if (is(claimed)) return "";  // of the digits that were asked first
    for (const OtherWindowRows& other : other_window_rows(bias)) {
      const auto wrapped = [&](std::int64_t q, std::int64_t k) {
        return std::optional((other.row(q, k) % rows + rows) % rows);
      };
      if (is(wrapped)) return other.words;
    }
    return "";
  };
  std::string odd_cell;
  if (wrong.empty()) {
    // All as claimed.
  } else if (has_heads_reversed()) {
    blame(found, "heads read the weight's columns in reverse: head 0 has the last one's");
  } else if (const std::string words = words_of_other_rows(); !words.empty()) {
    blame(found, words);
  } else if (std::ssize(wrong) < columns) {
    blame(found, fmt::format("{} {} of {} {} wrong, and the rest is right", wrong.size() == 1 ? "head" : "heads",
                             fmt::join(wrong, ", "), columns, wrong.size() == 1 ? "is" : "are"));
  } else {
    for (std::int64_t q = 0; q < count && odd_cell.empty(); ++q) {
      for (std::int64_t k = 0; k < count && odd_cell.empty(); ++k) {
        const auto row = seen(q, k);
        const std::int64_t right =
            *claimed(positions[static_cast<std::size_t>(q)], positions[static_cast<std::size_t>(k)]);
        if (row == right) continue;
        odd_cell = row ? fmt::format("query {} and key {} have row {} of the weight, where the claim has row {}",
                                     positions[static_cast<std::size_t>(q)], positions[static_cast<std::size_t>(k)],
                                     *row, right)
                       : fmt::format("query {} and key {} have no row of the weight",
                                     positions[static_cast<std::size_t>(q)], positions[static_cast<std::size_t>(k)]);
      }
    }
  }
  take_wrong_places(session, claim, found, {odd_cell});
  return judged(session, claim, std::move(found));
}

}  // namespace sextant::identify
