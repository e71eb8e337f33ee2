// Over 400 lines: one list of what a gradient by a weight may be, of tables and of biases, by one comparison.
#include "properties/diagnose/laws/wrong_table_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/model.hpp"
#include "properties/model/table_gradient.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

using CallPositions = std::vector<std::int64_t>;

// A call by its positions; of a lookup there are keys alone.
struct TableCall {
  CallPositions keys;
  CallPositions queries = {};
  std::int64_t heads = 2;
  std::int64_t fill = 1;

  bool is_of_self() const { return queries == keys; }
};

// A call, what it asks, and what came back.
struct AskedTable {
  TableCall call;
  TableGradient gradient;
  Tensor got;
};

// A use that adds nothing.
constexpr std::int64_t no_row = -1;

using gen::consecutive;

TableGradient table_gradient_of(const Spec& spec, const Learned& learned, const TableCall& call) {
  return table_gradient(spec, learned, gen::values(spec.dtype, {learned.max_positions, learned.dim}, call.fill + 1),
                        call.keys, gen::values(spec.dtype, {std::ssize(call.keys), learned.dim}, call.fill + 2));
}

template <class Bias>
TableGradient table_gradient_of(const Spec& spec, const Bias& encoding, const TableCall& call) {
  return table_gradient(
      spec, encoding, gen::values(spec.dtype, {table_rows(encoding), call.heads}, call.fill + 1), call.queries,
      call.keys, gen::values(spec.dtype, {call.heads, std::ssize(call.queries), std::ssize(call.keys)}, call.fill + 2));
}

class TableAsker {
 public:
  TableAsker(const Subject& subject, const Spec& claim) : claim_(claim), session_(subject.open(claim)) {}

  const Spec& claim() const { return claim_; }
  TableGradient gradient(const TableCall& call) const {
    return of<Learned, RelativeBias, WindowBias>(
        [&](const Spec& spec, const auto& encoding) { return table_gradient_of(spec, encoding, call); })(claim_);
  }
  AskedTable ask(const TableCall& call) { return ask(call, gradient(call)); }
  AskedTable ask(const TableCall& call, TableGradient gradient) {
    Tensor got = backward(*session_, claim_, gradient.of, gradient.inputs, gradient.grad);
    return {call, std::move(gradient), std::move(got)};
  }

 private:
  const Spec& claim_;
  std::unique_ptr<Session> session_;
};

bool is_met_by(const Spec& claim, const TableGradient& gradient, const Tensor& got) {
  return judge_table_gradient(claim, gradient, got).within == reference::Certainty::yes;
}

bool is_zero_table(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    if (tensor.at(i) != 0) return false;
  }
  return true;
}

// CallPositions of a claim that a call may have: `first` and the number of them.
struct ClaimedSpan {
  std::int64_t first;
  std::int64_t count;
};
ClaimedSpan span_of(const Spec& claim) {
  const gen::PositionRange range = model_of(claim)->range();
  std::int64_t end = range.last;
  if (const auto* learned = held<Learned>(claim)) end = std::min(end, learned->max_positions);
  return {range.first, end - range.first};
}

std::vector<TableCall> lookup_calls(const ClaimedSpan& span) {
  std::vector<TableCall> calls{{.keys = consecutive(span.first, std::min<std::int64_t>(span.count, 33)), .fill = 1},
                               {.keys = {span.first}, .fill = 2}};
  // Rows that come again in no order, more or less often; the last one with them; one row alone, often.
  for (const std::int64_t uses : {40, 300, 1500}) {
    TableCall call{.keys = {}, .fill = uses};
    const std::int64_t rows = std::min(span.count, std::max<std::int64_t>(uses / 7, 3));
    for (std::int64_t i = 0; i < uses; ++i) call.keys.push_back(span.first + span.count - 1 - (i * i + i / 7) % rows);
    calls.push_back(std::move(call));
  }
  calls.push_back({.keys = CallPositions(2500, span.first + span.count / 2), .fill = 3});
  return calls;
}

std::vector<TableCall> bias_calls(const ClaimedSpan& span) {
  const auto some = [&](std::int64_t start, std::int64_t count) {
    start = std::min(start, span.count - 1);
    return consecutive(span.first + start, std::min(count, span.count - start));
  };
  std::vector<TableCall> calls;
  std::int64_t fill = 1;
  // Tokens that see themselves, as many as there are; others that see those before, behind and among them.
  for (const std::int64_t side : {1, 2, 3, 4, 5, 8, 17, 33, 64, 130, 300})
    calls.push_back({.keys = some(0, side), .queries = some(0, side), .heads = 1 + fill % 3, .fill = fill++});
  for (const auto& [keys, queries] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 4}, {40, 7}, {300, 1}, {1, 300}, {1500, 3}, {3, 1500}}) {
    calls.push_back({.keys = some(0, keys), .queries = some(0, queries), .heads = 2, .fill = fill++});
    calls.push_back({.keys = some(0, keys), .queries = some(keys / 2, queries), .heads = 3, .fill = fill++});
    calls.push_back({.keys = some(queries / 2, keys), .queries = some(0, queries), .heads = 1, .fill = fill++});
  }
  for (const std::int64_t side : {7, 33})
    calls.push_back({.keys = some(0, side), .queries = some(11, side), .heads = 2, .fill = fill++});
  return calls;
}

// The same call where some uses add nothing.
using AddsNothing = std::function<bool(const AskedTable& asked, std::int64_t use)>;
bool explains_table(const Spec& claim, const AskedTable& asked, const AddsNothing& adds_nothing) {
  TableGradient gradient = asked.gradient;
  for (std::int64_t use = 0; use < std::ssize(gradient.rows); ++use) {
    if (adds_nothing(asked, use)) gradient.rows[static_cast<std::size_t>(use)] = no_row;
  }
  return is_met_by(claim, gradient, asked.got);
}

bool explains_tables(const Spec& claim, const std::vector<AskedTable>& asked, const AddsNothing& adds_nothing) {
  return std::ranges::all_of(asked, [&](const AskedTable& one) { return explains_table(claim, one, adds_nothing); });
}

// Whether a use is not the last one of its row, or not the first.
enum class KeptUse { first, last };
std::vector<bool> replaced_uses(const TableGradient& gradient, KeptUse kept) {
  std::map<std::int64_t, std::size_t> known;
  std::vector<bool> is_replaced(gradient.rows.size(), false);
  for (std::size_t use = 0; use < gradient.rows.size(); ++use) {
    const auto [at, is_new] = known.try_emplace(gradient.rows[use], use);
    if (is_new) continue;
    is_replaced[kept == KeptUse::last ? at->second : use] = true;
    if (kept == KeptUse::last) at->second = use;
  }
  return is_replaced;
}

bool keeps_one_use(const Spec& claim, const std::vector<AskedTable>& asked, KeptUse kept) {
  return std::ranges::all_of(asked, [&](const AskedTable& one) {
    const std::vector<bool> is_replaced = replaced_uses(one.gradient, kept);
    return explains_table(
        claim, one, [&](const AskedTable&, std::int64_t use) { return is_replaced[static_cast<std::size_t>(use)]; });
  });
}

// Whether sums are divided by the number of uses: that rounds once more than the sum of m terms, m - 1 times.
bool are_means(const Spec& claim, const std::vector<AskedTable>& asked) {
  const double u = unit_roundoff(claim.dtype);
  for (const AskedTable& one : asked) {
    struct Sum {
      double value = 0;
      double size = 0;
      double uses = 0;
    };
    const TableGradient& gradient = one.gradient;
    std::map<std::int64_t, Sum> sums;
    for (std::int64_t use = 0; use < std::ssize(gradient.rows); ++use) {
      for (std::int64_t c = 0; c < gradient.columns; ++c) {
        const double term = gradient.grad.at(use * gradient.of_use + c * gradient.of_column);
        Sum& sum = sums[gradient.rows[static_cast<std::size_t>(use)] * gradient.columns + c];
        sum.value += term;
        sum.size += std::fabs(term);
        ++sum.uses;
      }
    }
    for (const auto& [element, sum] : sums) {
      if (gradient.open.contains(element / gradient.columns)) continue;
      const double of_sum = (sum.uses + 1) * u;
      if (of_sum > 0.5) return false;
      if (std::fabs(one.got.at(element) * sum.uses - sum.value) > of_sum / (1 - of_sum) * sum.size) return false;
    }
  }
  return true;
}

// With query and key exchanged.
bool are_mirrored(TableAsker& asker, const std::vector<AskedTable>& asked) {
  return std::ranges::all_of(asked, [&](const AskedTable& one) {
    const auto& [keys, queries, heads, fill] = one.call;
    const TableGradient exchanged = asker.gradient({.keys = queries, .queries = keys, .heads = heads, .fill = fill});
    TableGradient gradient = one.gradient;
    const std::size_t width = keys.size();
    for (std::size_t query = 0; query < queries.size(); ++query) {
      for (std::size_t key = 0; key < width; ++key)
        gradient.rows[query * width + key] = exchanged.rows[key * queries.size() + query];
    }
    return is_met_by(asker.claim(), gradient, one.got);
  });
}

// Uses are counted by one of these; of a lookup by keys and by uses of one row.
enum class CountedBy { keys, queries, uses_of_row };

std::int64_t index_of(const AskedTable& asked, std::int64_t use, CountedBy by) {
  const auto width = std::ssize(asked.call.keys);
  return by == CountedBy::keys ? use % width : use / width;
}

std::vector<std::int64_t> uses_before(const TableGradient& gradient) {
  std::map<std::int64_t, std::int64_t> counts;
  std::vector<std::int64_t> before;
  for (const std::int64_t row : gradient.rows) before.push_back(counts[row]++);
  return before;
}

// A call of so many of what is counted, in which the last of them alone has a gradient: whether it adds something.
bool adds_at(TableAsker& asker, const ClaimedSpan& span, CountedBy by, std::int64_t number) {
  const auto many = [&](std::int64_t count) { return consecutive(span.first, std::min(count, span.count)); };
  const bool is_bias = !is_of<Learned>(asker.claim());
  TableCall call{.keys = by == CountedBy::queries ? CallPositions{span.first} : many(number + 1),
                 .queries = !is_bias                   ? CallPositions{}
                            : by == CountedBy::queries ? many(number + 1)
                                                       : CallPositions{span.first},
                 .heads = 1,
                 .fill = 1};
  if (!is_bias) call.keys = CallPositions(static_cast<std::size_t>(number + 1), span.first + span.count / 2);
  if (!is_bias && by == CountedBy::keys)
    for (std::size_t i = 0; i < call.keys.size(); ++i)
      call.keys[i] = span.first + static_cast<std::int64_t>(i) % span.count;
  TableGradient gradient = asker.gradient(call);
  const std::int64_t uses = std::ssize(gradient.rows);
  for (std::int64_t use = 0; use < uses; ++use) {
    for (std::int64_t c = 0; c < gradient.columns; ++c)
      gradient.grad.set(use * gradient.of_use + c * gradient.of_column, use == uses - 1 ? 1 : 0);
  }
  return !is_zero_table(asker.ask(call, std::move(gradient)).got);
}

// The least number from which on nothing is added, as far as calls go; nothing where the last adds something, or the
// first does not.
std::optional<std::int64_t> border_of(TableAsker& asker, const ClaimedSpan& span, CountedBy by) {
  std::int64_t most = 2500;
  if (!is_of<Learned>(asker.claim())) most = std::min(most, span.count);
  std::int64_t right = 0;
  std::int64_t wrong = most - 1;
  if (wrong <= right || adds_at(asker, span, by, wrong) || !adds_at(asker, span, by, right)) return std::nullopt;
  while (wrong - right > 1) {
    const std::int64_t middle = right + (wrong - right) / 2;
    (adds_at(asker, span, by, middle) ? right : wrong) = middle;
  }
  return wrong;
}

std::string words_of_border(TableAsker& asker, const ClaimedSpan& span, const std::vector<AskedTable>& asked) {
  const bool is_lookup = is_of<Learned>(asker.claim());
  const std::vector<CountedBy> ways = is_lookup ? std::vector{CountedBy::uses_of_row, CountedBy::keys}
                                                : std::vector{CountedBy::keys, CountedBy::queries};
  for (const CountedBy by : ways) {
    const auto border = border_of(asker, span, by);
    if (!border) continue;
    std::vector<AskedTable> confirming = asked;
    const CallPositions few = consecutive(span.first + span.count / 2, std::min<std::int64_t>(2, span.count / 2));
    const CallPositions many = is_lookup ? CallPositions(static_cast<std::size_t>(*border + 37), few.front())
                                         : consecutive(span.first, std::min(*border + 37, span.count));
    confirming.push_back(asker.ask({.keys = by == CountedBy::queries ? few : many,
                                    .queries = by == CountedBy::queries ? many : few,
                                    .heads = 2,
                                    .fill = 77}));
    const bool is_explained = std::ranges::all_of(confirming, [&](const AskedTable& one) {
      const std::vector<std::int64_t> before = uses_before(one.gradient);
      return explains_table(asker.claim(), one, [&](const AskedTable&, std::int64_t use) {
        return (by == CountedBy::uses_of_row ? before[static_cast<std::size_t>(use)] : index_of(one, use, by)) >=
               *border;
      });
    });
    if (!is_explained) continue;
    if (by == CountedBy::uses_of_row)
      return fmt::format("uses of one row beyond {} add nothing to its gradient", *border);
    const std::string_view counted = is_lookup ? "tokens" : by == CountedBy::keys ? "keys" : "queries";
    return fmt::format("{} from index {} of a call on add nothing to the weight's gradient", counted, *border);
  }
  return {};
}

// Of tokens that see themselves the gradient is zero, whatever their number, or from one to another.
std::string words_of_self(TableAsker& asker, const ClaimedSpan& span, const std::vector<AskedTable>& asked) {
  const auto is_right = [&](const AskedTable& one) { return is_met_by(asker.claim(), one.gradient, one.got); };
  std::vector<std::int64_t> right;
  std::vector<std::int64_t> zero;
  for (const AskedTable& one : asked) {
    const bool holds = is_right(one);
    if (!one.call.is_of_self()) {
      if (!holds) return {};
      continue;
    }
    if (!holds && !is_zero_table(one.got)) return {};
    (holds ? right : zero).push_back(std::ssize(one.call.keys));
  }
  if (zero.empty()) return {};
  const auto of_side = [&](std::int64_t side) {
    return asker.ask(
        {.keys = consecutive(span.first, side), .queries = consecutive(span.first, side), .heads = 2, .fill = side});
  };
  // A call that begins elsewhere, so that it is not the first positions that are left out.
  if (span.count > 80) {
    const std::int64_t side = std::ranges::max(zero);
    const CallPositions later = consecutive(span.first + std::min(span.count - side, std::int64_t{41}), side);
    if (!is_zero_table(asker.ask({.keys = later, .queries = later, .heads = 1, .fill = 9}).got)) return {};
  }
  constexpr std::string_view words = "where queries and keys are the same tokens the weight's gradient is zero";
  const auto [least, most] = std::ranges::minmax(zero);
  for (const std::int64_t side : right) {
    if (least < side && side < most) return {};
  }
  std::string tokens;
  if (!right.empty() && std::ranges::min(right) < least) {
    std::int64_t below = 0;
    for (const std::int64_t side : right) below = side < least ? std::max(below, side) : below;
    std::int64_t from = least;
    while (from - below > 1) {
      const std::int64_t middle = below + (from - below) / 2;
      (is_zero_table(of_side(middle).got) ? from : below) = middle;
    }
    tokens = fmt::format(", from {} tokens on", from);
  }
  constexpr std::int64_t largest = 1300;
  std::int64_t above = std::min(largest, span.count);
  for (const std::int64_t side : right) above = side > most ? std::min(above, side) : above;
  if (above > most && !is_zero_table(of_side(above).got)) {
    std::int64_t last = most;
    while (above - last > 1) {
      const std::int64_t middle = last + (above - last) / 2;
      (is_zero_table(of_side(middle).got) ? last : above) = middle;
    }
    tokens += fmt::format("{}up to {} tokens", tokens.empty() ? ", " : " and ", last);
  }
  return std::string(words) + tokens;
}

// Rows that have no gradient wherever they are used, the same in every call, and all others are right.
std::string words_of_rows(const TableAsker& asker, const std::vector<AskedTable>& asked) {
  std::map<std::int64_t, std::int64_t> missing;
  std::int64_t all = 0;
  for (const AskedTable& one : asked) {
    all = one.got.shape[0];
    const std::int64_t columns = one.gradient.columns;
    for (const std::int64_t row : one.gradient.rows) {
      bool is_nothing = true;
      for (std::int64_t c = 0; c < columns; ++c) is_nothing = is_nothing && one.got.at(row * columns + c) == 0;
      if (is_nothing) ++missing[row];
    }
  }
  if (missing.size() != 1) return {};
  const std::int64_t row = missing.begin()->first;
  const bool is_explained = explains_tables(asker.claim(), asked, [&](const AskedTable& one, std::int64_t use) {
    return one.gradient.rows[static_cast<std::size_t>(use)] == row;
  });
  if (!is_explained) return {};
  const bool is_last = row == all - 1;
  return is_last ? "the table's last row has no gradient, and the rest is right"
                 : fmt::format("the table's row {} has no gradient, and the rest is right", row);
}

}  // namespace

std::string words_of_table_gradient(const Subject& subject, const Spec& claim) {
  TableAsker asker(subject, claim);
  const ClaimedSpan span = span_of(claim);
  const bool is_lookup = is_of<Learned>(claim);
  std::vector<AskedTable> asked;
  for (const TableCall& call : is_lookup ? lookup_calls(span) : bias_calls(span)) asked.push_back(asker.ask(call));
  const auto is_right = [&](const AskedTable& one) { return is_met_by(claim, one.gradient, one.got); };
  if (std::ranges::all_of(asked, [](const AskedTable& one) { return is_zero_table(one.got); }))
    return "the weight's gradient is zero";
  const std::string_view row = is_of<RelativeBias>(claim) ? "bucket" : "row";
  if (!std::ranges::all_of(asked, is_right)) {
    for (const KeptUse kept : {KeptUse::last, KeptUse::first}) {
      if (keeps_one_use(claim, asked, kept))
        return fmt::format("a {}'s gradient is that of its {} use, not the sum over all", row,
                           kept == KeptUse::last ? "last" : "first");
    }
    if (are_means(claim, asked)) return fmt::format("a {}'s gradient is the mean over its uses, not their sum", row);
    if (!is_lookup && are_mirrored(asker, asked))
      return is_of<RelativeBias>(claim) ? "the backward pass takes query minus key, not key minus query"
                                        : "the backward pass takes queries for keys";
    if (std::string words = words_of_rows(asker, asked); !words.empty()) return words;
    if (!is_lookup) {
      if (std::string words = words_of_self(asker, span, asked); !words.empty()) return words;
    }
  }
  return words_of_border(asker, span, asked);
}

}  // namespace sextant::identify
