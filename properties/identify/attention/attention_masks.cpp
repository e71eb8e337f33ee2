#include "properties/identify/attention/attention_masks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

namespace sextant::identify {
namespace {

struct NamedMask {
  std::string words;  // empty for one that a spec says
  std::function<bool(std::int64_t query, std::int64_t key)> sees;
};

// Of one head.
class HeadMask {
 public:
  HeadMask(const SeenMask& mask, std::int64_t head) : mask_(mask), head_(head) {}

  bool sees(std::int64_t query, std::int64_t key) const { return mask_.sees(head_, query, key); }

  // Of a query that sees no key softmax may make anything.
  bool is(const NamedMask& named) const {
    for (std::int64_t query = 0; query < mask_.tokens; ++query) {
      bool any = false;
      bool same = true;
      for (std::int64_t key = 0; key < mask_.tokens; ++key) {
        any = any || named.sees(query, key);
        same = same && named.sees(query, key) == sees(query, key);
      }
      if (any && !same) return false;
    }
    return true;
  }

  // Keys that the first query sees, if those are the first.
  std::int64_t prefix() const {
    std::int64_t count = 0;
    while (count < mask_.tokens && sees(0, count)) ++count;
    return count;
  }

  // Keys that the last query sees, if those are the first.
  std::int64_t last_seen() const {
    std::int64_t count = 0;
    while (count < mask_.tokens && sees(mask_.tokens - 1, count)) ++count;
    return count;
  }

  // From which query on key 0 is not seen.
  std::optional<std::int64_t> first_without_key_0() const {
    // The last query alone makes no edge.
    for (std::int64_t query = 1; query + 1 < mask_.tokens; ++query) {
      if (!sees(query, 0)) return query;
    }
    return std::nullopt;
  }

  std::string words(const Attention& claimed) const {
    for (const NamedMask& named : list(claimed)) {
      if (is(named)) return named.words;
    }
    const std::string block = hidden_block(claimed);
    return block.empty() ? odd_query(claimed) : block;
  }

 private:
  std::vector<NamedMask> list(const Attention& claimed) const {
    const auto causal = [](std::int64_t query, std::int64_t key) { return key <= query; };
    const auto open = [](std::int64_t, std::int64_t) { return true; };
    std::vector<NamedMask> list{{"", causal}, {"", open}};
    const auto edge = first_without_key_0();
    if (edge) {
      const std::int64_t end = *edge;
      list.push_back({"", [=](std::int64_t q, std::int64_t k) { return k <= q && q - k < end; }});
      list.push_back({"", [=](std::int64_t q, std::int64_t k) { return std::abs(q - k) < end; }});
    }
    list.push_back({"the mask is inverted: a token sees itself and later ones, and none before it",
                    [](std::int64_t q, std::int64_t k) { return k >= q; }});
    const std::int64_t width = claimed.window.value_or(mask_.tokens);
    const auto within = [width](auto sees) {
      return [=](std::int64_t q, std::int64_t k) { return std::abs(q - k) < width && sees(q, k); };
    };
    list.push_back({"no query but the first sees itself: the causal mask hides their own keys",
                    within([](std::int64_t q, std::int64_t k) { return k < q || (k == 0 && q == 0); })});
    list.push_back({"a query does not see itself: the causal mask hides its own key",
                    within([](std::int64_t q, std::int64_t k) { return k < q; })});
    list.push_back({"a query does not see itself", within([](std::int64_t q, std::int64_t k) { return k != q; })});
    list.push_back({"a query sees one key more than the causal mask allows: the one after its own",
                    within([](std::int64_t q, std::int64_t k) { return k <= q + 1; })});
    if (edge) {
      const std::int64_t block = *edge;
      list.push_back(
          {block_words(block), [=](std::int64_t q, std::int64_t k) { return k <= q && k / block == q / block; }});
      list.push_back({block_words(block), [=](std::int64_t q, std::int64_t k) { return k / block == q / block; }});
      list.push_back({fmt::format("keys {} and more before a query are not seen, and those after it all are", block),
                      [=](std::int64_t q, std::int64_t k) { return q - k < block; }});
    }
    if (const std::int64_t end = last_seen(); end > 1 && end < mask_.tokens) {
      list.push_back({fmt::format("of {} tokens keys from {} on are not seen", mask_.tokens, end),
                      [=](std::int64_t q, std::int64_t k) { return k <= q && k < end; }});
      list.push_back({fmt::format("of {} tokens keys from {} on are not seen", mask_.tokens, end),
                      [=](std::int64_t, std::int64_t k) { return k < end; }});
    }
    if (const std::int64_t first = prefix(); first > 1) {
      list.push_back(
          {fmt::format("the first {} tokens see each other, as a prefix does, and the causal mask holds after them",
                       first),
           within([=](std::int64_t q, std::int64_t k) { return k <= std::max(q, first - 1); })});
      list.push_back(
          {fmt::format("tokens see all of their own block of {}, later ones too, and those before it", first),
           within([=](std::int64_t q, std::int64_t k) { return k / first <= q / first; })});
    }
    return list;
  }

  // Keys that the claim shows and this mask does not, where they are those of a block, or each query's own.
  std::string hidden_block(const Attention& claimed) const {
    KeyRange queries{mask_.tokens, 0};
    KeyRange keys{mask_.tokens, 0};
    std::int64_t count = 0;
    bool are_own = true;
    for (std::int64_t query = 0; query < mask_.tokens; ++query) {
      const KeyRange own = keys_seen(claimed, query, {0, mask_.tokens});
      for (std::int64_t key = 0; key < mask_.tokens; ++key) {
        if (sees(query, key) == own.contains(key)) continue;
        if (sees(query, key)) return {};
        ++count;
        are_own = are_own && key == query;
        queries = {std::min(queries.first, query), std::max(queries.end, query + 1)};
        keys = {std::min(keys.first, key), std::max(keys.end, key + 1)};
      }
    }
    const auto span = [&](std::string_view one, std::string_view many, const KeyRange& range) {
      if (range.count() == 1) return fmt::format("{} {}", one, range.first);
      return range.end == mask_.tokens ? fmt::format("{} from {} on", many, range.first)
                                       : fmt::format("{} {} to {}", many, range.first, range.end - 1);
    };
    if (are_own && count == queries.count() && count > 1)
      return fmt::format("of {} tokens {} do not see their own keys", mask_.tokens, span("query", "queries", queries));
    std::int64_t of_block = 0;
    for (std::int64_t query = queries.first; query < queries.end; ++query) {
      const KeyRange own = keys_seen(claimed, query, {0, mask_.tokens});
      of_block += std::max<std::int64_t>(std::min(own.end, keys.end) - std::max(own.first, keys.first), 0);
    }
    // One query's keys are told one by one.
    if (count == 0 || of_block != count || queries.count() == 1) return {};
    const std::string hidden = span("key", "keys", keys);
    if (queries.count() == mask_.tokens) return fmt::format("of {} tokens no query sees {}", mask_.tokens, hidden);
    return fmt::format("of {} tokens {} do not see {}", mask_.tokens, span("query", "queries", queries), hidden);
  }

  // The first query that sees other keys than the claim has.
  std::string odd_query(const Attention& claimed) const {
    for (std::int64_t query = 0; query < mask_.tokens; ++query) {
      const KeyRange own = keys_seen(claimed, query, {0, mask_.tokens});
      std::vector<std::int64_t> list;
      std::vector<std::int64_t> hidden;
      bool same = true;
      bool sees_more = false;
      for (std::int64_t key = 0; key < mask_.tokens; ++key) {
        if (sees(query, key)) list.push_back(key);
        if (own.contains(key) && !sees(query, key)) hidden.push_back(key);
        sees_more = sees_more || (sees(query, key) && !own.contains(key));
        same = same && sees(query, key) == own.contains(key);
      }
      if (same) continue;
      if (!sees_more && hidden.size() <= 2 && !list.empty())
        return fmt::format("of {} tokens query {} does not see {} {}", mask_.tokens, query,
                           hidden.size() == 1 ? "key" : "keys", fmt::join(hidden, " and "));
      const bool is_run = !hidden.empty() && hidden.back() - hidden.front() + 1 == std::ssize(hidden);
      if (!sees_more && is_run && !list.empty()) {
        const bool is_last_alone = query + 1 == mask_.tokens;
        return fmt::format("of {} tokens {} does not see keys {} to {}", mask_.tokens,
                           is_last_alone ? std::string("the last query alone") : fmt::format("query {}", query),
                           hidden.front(), hidden.back());
      }
      if (list.empty())
        return fmt::format("of {} tokens query {} sees no key, where the claim has {} to {}", mask_.tokens, query,
                           own.first, own.end - 1);
      constexpr std::size_t most_told = 8;
      const bool is_cut = list.size() > most_told;
      list.resize(std::min(list.size(), most_told));
      return fmt::format("the mask is another one: of {} tokens query {} sees keys {}{}, where the claim has {} to {}",
                         mask_.tokens, query, fmt::join(list, ", "), is_cut ? ", ..." : "", own.first, own.end - 1);
    }
    return {};
  }

  const SeenMask& mask_;
  std::int64_t head_;
};

}  // namespace

std::string block_words(std::int64_t block) {
  return fmt::format("tokens see those of their own block of {} alone", block);
}

std::string mask_words(const SeenMask& mask, const Attention& claimed) {
  std::vector<std::string> words;
  for (std::int64_t head = 0; head < mask.heads; ++head) words.push_back(HeadMask(mask, head).words(claimed));
  if (std::ranges::all_of(words, [&](const std::string& one) { return one == words.front(); })) return words.front();
  const auto odd = std::ranges::find_if(words, [](const std::string& one) { return !one.empty(); });
  std::vector<std::int64_t> heads;
  for (std::int64_t head = 0; head < mask.heads; ++head) {
    if (words[static_cast<std::size_t>(head)] == *odd) heads.push_back(head);
  }
  return fmt::format("{}, in {} {} alone", *odd, heads.size() == 1 ? "head" : "heads", fmt::join(heads, ", "));
}

}  // namespace sextant::identify
