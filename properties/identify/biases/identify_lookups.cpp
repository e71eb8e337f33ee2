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

// Which row a token of a call has.
struct Way {
  std::string words;
  std::function<std::int64_t(const std::vector<std::int64_t>& call, std::int64_t place)> row;
};

// By the token's position alone.
Way of_each(std::string words, std::function<std::int64_t(std::int64_t position)> row) {
  return {std::move(words), [row = std::move(row)](const std::vector<std::int64_t>& call, std::int64_t place) {
            return row(call[static_cast<std::size_t>(place)]);
          }};
}

Way shifted(std::int64_t shift) {
  return of_each(fmt::format("rows are read {} further {}: position p has row p {} {}", std::abs(shift),
                             shift > 0 ? "on" : "back", shift > 0 ? '+' : '-', std::abs(shift)),
                 [shift](std::int64_t position) { return position + shift; });
}

// The first is the right one.
std::vector<Way> known_ways(std::int64_t rows) {
  return {
      of_each("", [](std::int64_t position) { return position; }),
      shifted(1),
      shifted(-1),
      shifted(2),
      shifted(-2),
      {"a token's place in the call is taken for its position",
       [](const std::vector<std::int64_t>&, std::int64_t place) { return place; }},
      {"positions are taken to be consecutive from the call's first",
       [](const std::vector<std::int64_t>& call, std::int64_t place) { return call.front() + place; }},
      of_each("rows are read from the table's end: position 0 has the last",
              [rows](std::int64_t position) { return rows - 1 - position; }),
  };
}

using Rows = std::vector<std::optional<std::int64_t>>;

// Rows that are counted over a call's tokens, or over those that are at no padding's position, as fairseq's
// make_positions counts them; all numbers are those that the call's rows show. Nothing where no such count fits.
std::optional<Way> counted_way(const std::vector<std::int64_t>& call, const Rows& rows) {
  const auto counted = [](std::optional<std::int64_t> padding, std::int64_t of_padding, std::int64_t before) {
    return [=](const std::vector<std::int64_t>& asked, std::int64_t place) -> std::int64_t {
      if (asked[static_cast<std::size_t>(place)] == padding) return of_padding;
      const auto end = asked.begin() + place + 1;
      return before + std::count_if(asked.begin(), end, [&](std::int64_t one) { return one != padding; });
    };
  };
  const auto fits = [&](const auto& row) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] != row(call, static_cast<std::int64_t>(i))) return false;
    }
    return true;
  };
  if (call.size() < 4 || !rows[0] || !rows[1]) return std::nullopt;
  if (const auto row = counted(std::nullopt, 0, *rows[0] - 1); fits(row))
    return Way{fmt::format("rows are counted over a call's tokens, from row {} on, whatever their positions", *rows[0]),
               row};
  for (std::size_t i = 0; i < call.size(); ++i) {
    if (!rows[i]) continue;
    const std::int64_t before = *rows[i == 0 ? 1 : 0] - 1;
    const auto row = counted(call[i], *rows[i], before);
    if (!fits(row)) continue;
    const std::string from = before == 0 ? "" : fmt::format(" from row {} on,", before + 1);
    return Way{fmt::format("rows are counted{} over a call's positions that are not {}, which has row {}", from,
                           call[i], *rows[i]),
               row};
  }
  return std::nullopt;
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
  Rows rows;
  for (std::int64_t i = 0; i < std::ssize(positions); ++i)
    rows.push_back(row_of([&](std::int64_t column) { return answer.at(i * table.dim + column); }, columns));
  Identification found = as_claimed(claim);
  const std::int64_t rows_of_table = table.max_positions;
  const auto rows_of_call = [&](const std::vector<std::int64_t>& call) {
    const Tensor seen = encode(session, claim, call, weight);
    Rows list;
    for (std::int64_t i = 0; i < std::ssize(call); ++i)
      list.push_back(row_of([&](std::int64_t column) { return seen.at(i * table.dim + column); }, columns));
    return list;
  };
  const auto fits_call = [&](const Way& way, const std::vector<std::int64_t>& call, const Rows& seen) {
    // What is read beyond the table may be anything.
    std::int64_t told = 0;
    for (std::int64_t i = 0; i < std::ssize(call); ++i) {
      const std::int64_t row = way.row(call, i);
      if (row < 0 || row >= rows_of_table) continue;
      if (seen[static_cast<std::size_t>(i)] != row) return false;
      ++told;
    }
    return told > 2;
  };
  // Those that go by the call are asked of another one too.
  const auto fits_elsewhere = [&](const Way& one) {
    std::vector<std::int64_t> others;
    for (const std::int64_t position : {3, 9, 0, 4, 1, 12, 0, 6, 1, 3})
      if (position <= last) others.push_back(position);
    return fits_call(one, others, rows_of_call(others));
  };
  std::vector<Way> ways = known_ways(rows_of_table);
  if (auto counted = counted_way(positions, rows)) ways.push_back(std::move(*counted));
  auto way = std::ranges::find_if(ways, [&](const Way& one) { return fits_call(one, positions, rows); });
  if (way != ways.end() && !way->words.empty() && !fits_elsewhere(*way)) way = ways.end();
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
    // What one call shows of a position is told of it where the position has the same row alone and behind another.
    const std::int64_t other = positions[odd] == 0 ? 3 : 0;
    const auto alone = rows_of_call({positions[odd]}).front();
    const auto behind = rows_of_call({other, positions[odd]}).back();
    const auto text = [](const std::optional<std::int64_t>& row) {
      return row ? fmt::format("row {}", *row) : std::string("no row of the table");
    };
    blame(found, alone == rows[odd] && behind == rows[odd]
                     ? words_of_row(answer, static_cast<std::int64_t>(odd), positions, rows, weight)
                     : fmt::format("the row of a position goes by the call it is in: position {} has {} in a call of "
                                   "its own, {} behind position {}, and {} among others",
                                   positions[odd], text(alone), text(behind), other, text(rows[odd])));
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
    odd_cell = fmt::format("{} {} of {} {} wrong, and the rest is right", wrong.size() == 1 ? "head" : "heads",
                           fmt::join(wrong, ", "), columns, wrong.size() == 1 ? "is" : "are");
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
