#include "properties/identify/attention/other_padding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"

namespace sextant::identify {
namespace {

class OtherPadding {
 public:
  OtherPadding(const Attention& claimed, const AttentionCase& request, std::vector<OtherAttention>& list)
      : claimed_(claimed), request_(request), list_(list) {}

  void add() {
    const auto add_all = [this] {
      add_change("keys of padding are seen", [](Spec&, AttentionCase& request) { request.starts = request.ends = {}; });
    };
    // A causal mask hides padding on the right.
    const bool shows_right = !claimed_.causal || request_.is_step();
    if (shows_right) add_all();
    if (!request_.starts.empty())
      add_change("keys of padding on the left are seen", [](Spec&, AttentionCase& request) { request.starts = {}; });
    if (!shows_right) add_all();
    if (!request_.ends.empty() && !request_.is_step())
      add_change("keys of padding on the right are seen", [](Spec&, AttentionCase& request) { request.ends = {}; });
    add_ends("rows of a batch begin one key too early, where they are padded on the left", [](AttentionCase& request) {
      for (std::int64_t& start : request.starts) start = std::max<std::int64_t>(start - 1, 0);
    });
    add_ends("rows of a batch begin one key too late, where they are padded on the left", [](AttentionCase& request) {
      for (std::int64_t& start : request.starts) start += start > 0 ? 1 : 0;
    });
    add_most_padding();
    add_counted_padding();
    if (request_.batch < 2) return;
    add_ends("every batch row has the padding of the first", [](AttentionCase& request) {
      std::ranges::fill(request.starts, request.starts.front());
      if (!request.is_step()) std::ranges::fill(request.ends, request.ends.front());
    });
    if (!request_.ends.empty())
      add_ends("every batch row ends where the first does, before its padding on the right",
               [](AttentionCase& request) { std::ranges::fill(request.ends, request.ends.front()); });
    if (!request_.starts.empty())
      add_ends("every batch row begins where the first does, behind its padding on the left",
               [](AttentionCase& request) { std::ranges::fill(request.starts, request.starts.front()); });
    add_other_rows_ends();
    add_blocks_of_padding();
    add_low_padding();
  }

 private:
  void add_change(std::string words, std::function<void(Spec&, AttentionCase&)> change) {
    list_.push_back({.words = std::move(words), .change = std::move(change)});
  }

  void add_ends(std::string words, std::function<void(AttentionCase& request)> change) {
    list_.push_back(with_ends(std::move(words), std::move(change)));
  }

  // A mask for so many tokens.
  void add_most_padding() {
    for (const std::int64_t most : {1, 2, 4, 8, 16, 32, 64}) {
      if (request_.starts.empty() || std::ranges::max(request_.starts) <= most) return;
      add_ends(
          fmt::format("of padding on the left no more than {} {} hidden", most, most == 1 ? "token is" : "tokens are"),
          [most](AttentionCase& request) {
            for (std::int64_t& start : request.starts) start = std::min(start, most);
          });
    }
  }

  // Keys that are hidden by a score of 0, not of minus infinity, and whose values are taken for 0.
  void add_counted_padding() {
    struct Side {
      std::string_view words;
      bool left;
      bool right;
    };
    // A causal mask hides padding on the right.
    const Side both{"padding", true, true};
    const Side left{"padding on the left", true, false};
    const Side right{"padding on the right", false, true};
    for (const Side& side : claimed_.causal ? std::vector{left} : std::vector{both, left, right}) {
      const bool has_side = (side.left && !request_.starts.empty()) || (side.right && !request_.ends.empty());
      // A step has its queries before padding on the right.
      if (!has_side || (side.right && request_.is_step())) continue;
      OtherAttention counted{
          .words = fmt::format(
              "keys of {} count in softmax's sum as scores of 0, though neither they nor their values are read",
              side.words),
          .weights = ScoresToWeights::of_scores};
      const auto given = std::make_shared<std::vector<KeyRange>>();
      counted.change = [given, side](Spec&, AttentionCase& request) {
        given->clear();
        for (std::int64_t row = 0; row < request.batch; ++row) given->push_back(request.sequence(row));
        for (std::int64_t i = 0; i < request.v.elements(); ++i) {
          const std::int64_t vector = i / request.v.shape[3];
          const KeyRange& own = (*given)[index(vector / request.tokens / request.v.shape[1])];
          if (!own.contains(vector % request.tokens)) request.v.set(i, 0);
        }
        if (side.left) request.starts = {};
        if (side.right) request.ends = {};
      };
      counted.scores = [given](const ScoresOfQuery& of) {
        for (std::int64_t key = of.keys.first; key < of.keys.end; ++key) {
          if (!(*given)[index(of.place.batch)].contains(key)) of.scores[index(key - of.keys.first)] = 0;
        }
      };
      list_.push_back(std::move(counted));
    }
  }

  // All rows end, or begin, where one of them does.
  void add_other_rows_ends() {
    const auto all = [this](std::string words, auto which, std::vector<std::int64_t> AttentionCase::*edges) {
      add_ends(std::move(words), [which, edges](AttentionCase& request) {
        std::vector<std::int64_t>& list = request.*edges;
        const std::int64_t one = which(list);
        std::ranges::fill(list, one);
      });
    };
    const auto least = [](const std::vector<std::int64_t>& list) { return std::ranges::min(list); };
    const auto most = [](const std::vector<std::int64_t>& list) { return std::ranges::max(list); };
    const auto last = [](const std::vector<std::int64_t>& list) { return list.back(); };
    add_rows_edges();
    if (!request_.ends.empty()) {
      all("every batch row ends where the shortest does, before its padding on the right", least, &AttentionCase::ends);
      all("every batch row ends where the longest does, before its padding on the right", most, &AttentionCase::ends);
      all("every batch row ends where the last does, before its padding on the right", last, &AttentionCase::ends);
    }
    if (request_.starts.empty()) return;
    all("every batch row begins where the one that begins last does, behind its padding on the left", most,
        &AttentionCase::starts);
    all("every batch row begins where the one that begins first does, behind its padding on the left", least,
        &AttentionCase::starts);
    all("every batch row begins where the last does, behind its padding on the left", last, &AttentionCase::starts);
  }

  // Each row has another one's.
  void add_rows_edges() {
    struct Order {
      std::string_view words;
      void (*apply)(std::vector<std::int64_t>& list);
    };
    constexpr Order orders[] = {
        {"in reverse order of rows", [](std::vector<std::int64_t>& list) { std::ranges::reverse(list); }},
        {"sorted, the least first", [](std::vector<std::int64_t>& list) { std::ranges::sort(list); }},
        {"sorted, the greatest first",
         [](std::vector<std::int64_t>& list) { std::ranges::sort(list, std::ranges::greater()); }}};
    for (const Order& order : orders) {
      const auto apply = order.apply;
      if (!request_.ends.empty())
        add_ends(fmt::format("batch rows have each other's ends before padding on the right: {}", order.words),
                 [apply](AttentionCase& request) { apply(request.ends); });
      if (!request_.starts.empty())
        add_ends(fmt::format("batch rows have each other's starts behind padding on the left: {}", order.words),
                 [apply](AttentionCase& request) { apply(request.starts); });
    }
  }

  // Rows that are read in whole blocks.
  void add_blocks_of_padding() {
    for (const std::int64_t block : {2, 4, 8, 16, 32, 64}) {
      // A block of all keys is no block.
      if (block >= request_.tokens) break;
      if (!request_.ends.empty())
        add_ends(fmt::format("padding on the right is seen up to the next multiple of {} keys", block),
                 [block](AttentionCase& request) {
                   for (std::int64_t& end : request.ends)
                     end = std::min((end + block - 1) / block * block, request.tokens);
                 });
      if (!request_.starts.empty())
        add_ends(fmt::format("padding on the left is seen from the multiple of {} keys before its end", block),
                 [block](AttentionCase& request) {
                   for (std::int64_t& start : request.starts) start = start / block * block;
                 });
    }
  }

  // Padding that a finite number hides, as seen where all its keys and values are zeros.
  void add_low_padding() {
    if (claimed_.position || claimed_.causal) return;
    for (const double lower : {1.0, 5.0, 10.0, 20.0}) {
      OtherAttention low{.words = fmt::format("scores of padding are {:g} lower, not minus infinity", lower),
                         .weights = ScoresToWeights::of_scores};
      const auto given = std::make_shared<std::vector<KeyRange>>();
      low.change = [given](Spec&, AttentionCase& request) {
        given->clear();
        for (std::int64_t row = 0; row < request.batch; ++row) given->push_back(request.sequence(row));
        request.starts = request.ends = {};
      };
      low.scores = [lower, given](const ScoresOfQuery& of) {
        for (std::int64_t key = of.keys.first; key < of.keys.end; ++key) {
          const bool is_padding = !(*given)[static_cast<std::size_t>(of.place.batch)].contains(key);
          if (is_padding) of.scores[static_cast<std::size_t>(key - of.keys.first)] -= lower;
        }
      };
      list_.push_back(std::move(low));
    }
  }

  const Attention& claimed_;
  const AttentionCase& request_;
  std::vector<OtherAttention>& list_;
};

}  // namespace

OtherAttention with_ends(std::string words, std::function<void(AttentionCase& request)> change) {
  OtherAttention other{.words = std::move(words)};
  other.change = [change = std::move(change)](Spec&, AttentionCase& request) {
    if (request.starts.empty()) request.starts.assign(static_cast<std::size_t>(request.batch), 0);
    if (request.ends.empty()) request.ends.assign(static_cast<std::size_t>(request.batch), request.tokens);
    change(request);
  };
  return other;
}

void add_other_padding(const Attention& claimed, const AttentionCase& request, std::vector<OtherAttention>& list) {
  OtherPadding(claimed, request, list).add();
}

}  // namespace sextant::identify
