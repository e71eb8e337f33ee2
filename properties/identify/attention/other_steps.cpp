#include "properties/identify/attention/other_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/other_padding.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Positions stand in lines, one for each axis and batch row.
std::int64_t query_position(const AttentionCase& request, std::int64_t line, std::int64_t query) {
  return request.query_positions[index(line * request.queries() + query)];
}

std::int64_t counted_on_from_first_key(const AttentionCase& request, std::int64_t line, std::int64_t query) {
  return request.positions[index(line * request.tokens)] + query;
}

// Queries of a step have the positions that `of` tells of the request as it is given.
auto with_query_positions(auto of) {
  return [of](Spec&, AttentionCase& request) {
    std::vector<std::int64_t> moved(request.query_positions.size());
    for (std::int64_t i = 0; i < std::ssize(moved); ++i)
      moved[index(i)] = of(request, i / request.queries(), i % request.queries());
    request.query_positions = std::move(moved);
  };
}

class OtherSteps {
 public:
  OtherSteps(const Attention& claimed, const AttentionCase& request, std::vector<OtherAttention>& list)
      : claimed_(claimed), request_(request), queries_(request.queries()), list_(list) {}

  // A step's queries see as many keys as the last tokens of a sequence do.
  void add_masks() {
    if (claimed_.causal) {
      if (!is_padded())
        list_.push_back(
            with_ends("in a step the causal mask is aligned to the top left: its first query sees the first key alone",
                      [](AttentionCase& request) { std::ranges::fill(request.ends, request.queries()); }));
      list_.push_back(with_mask(
          "in a step the causal mask is aligned to the top left: its first query sees the first key alone",
          [](Spec& spec, AttentionCase&) { held<Attention>(spec)->window.reset(); },
          [](const ScoresOfQuery& of, std::int64_t key) { return key <= std::max(of.place.token, of.keys.first); }));
      list_.push_back(with_ends("in a step a query does not see its own key", [](AttentionCase& request) {
        for (std::int64_t& end : request.ends) --end;
      }));
      if (queries_ > 1)
        add("in a step every query sees all keys: no causal mask is among its tokens",
            [](Spec& spec, AttentionCase&) { held<Attention>(spec)->causal = false; });
    }
    add_short_masks();
    if (!request_.ends.empty() && claimed_.causal)
      list_.push_back(with_mask(
          "in a step queries' indices are counted back from the cache's end, not from their row's, so that they see "
          "each other",
          [](Spec& spec, AttentionCase&) {
            held<Attention>(spec)->causal = false;
            held<Attention>(spec)->window.reset();
          },
          [window = claimed_.window](const ScoresOfQuery& of, std::int64_t key) {
            const std::int64_t last = of.request.tokens - of.request.queries() + of.place.token;
            return key <= last && (!window || last - key < *window);
          }));
    if (!request_.ends.empty())
      add("in a step queries are taken to be the last tokens of the cache, not of their row",
          [](Spec&, AttentionCase& request) { request.ends = {}; });
    if (claimed_.cached_keys == CachedKeys::rotated)
      add("keys that the cache keeps turned are turned again",
          [](Spec& spec, AttentionCase&) { held<Attention>(spec)->cached_keys = CachedKeys::plain; });
    add_own_tokens();
    add_rows_of_cache();
  }

  // A step's queries are the last of the sequence.
  void add_positions(const Spec& claim) {
    if (!sees_positions(claimed_)) return;
    const auto move = [this](std::string words, auto of) {
      add(std::move(words), with_query_positions(of), DiagnosedStage::position);
    };
    move("in a step a query's index among the keys is taken for its position",
         [](const AttentionCase& request, std::int64_t line, std::int64_t query) {
           return request.token_of(line % request.batch, query);
         });
    if (queries_ > 1) {
      move(
          "queries of a step stand further on by the queries that come after them: where the last does, of "
          "consecutive ones",
          [](const AttentionCase& request, std::int64_t line, std::int64_t query) {
            return query_position(request, line, query) + request.queries() - 1 - query;
          });
      move("all queries of a step have the position of the last",
           [](const AttentionCase& request, std::int64_t line, std::int64_t) {
             return query_position(request, line, request.queries() - 1);
           });
    }
    if (!request_.ends.empty())
      move("queries of a step have the positions of the call's last keys, padding on the right among them",
           [](const AttentionCase& request, std::int64_t line, std::int64_t query) {
             return request.positions[index(line * request.tokens + request.tokens - request.queries() + query)];
           });
    add_distances_of_steps();
    add_own_keys(claim);
    move("queries of a step are counted on from the first key's position", counted_on_from_first_key);
    move("queries of a step are counted from the first key",
         [](const AttentionCase& request, std::int64_t line, std::int64_t query) {
           return request.positions[index(line * request.tokens + query)];
         });
    move("a query's place in a step is taken for its position",
         [](const AttentionCase&, std::int64_t, std::int64_t query) { return query; });
    if (request_.batch > 1)
      move("queries of a step have the first batch row's positions",
           [](const AttentionCase& request, std::int64_t, std::int64_t query) {
             return query_position(request, 0, query);
           });
  }

 private:
  using Change = std::function<void(Spec&, AttentionCase&)>;

  struct Which {
    std::string_view name;
    bool keys;
    bool values;
  };

  // Steps that see a part of the cache.
  void add_short_masks() {
    const auto unchanged = [](Spec&, AttentionCase&) {};
    list_.push_back(with_mask(
        "in a step queries see its own tokens alone, none of those before", unchanged,
        [](const ScoresOfQuery& of, std::int64_t key) { return key >= of.request.token_of(of.place.batch, 0); }));
    list_.push_back(with_mask("in a step queries do not see its own tokens, but for themselves", unchanged,
                              [](const ScoresOfQuery& of, std::int64_t key) {
                                return key < of.request.token_of(of.place.batch, 0) ||
                                       key == of.request.token_of(of.place.batch, of.place.token);
                              }));
    for (const std::int64_t seen : {4, 8, 16, 32, 64, 100, 128}) {
      if (seen >= request_.tokens || (claimed_.window && seen >= *claimed_.window)) break;
      list_.push_back(with_mask(fmt::format("in a step the last {} keys of a row alone are seen", seen), unchanged,
                                [seen](const ScoresOfQuery& of, std::int64_t key) {
                                  return key >= of.request.sequence(of.place.batch).end - seen;
                                }));
      list_.push_back(with_mask(fmt::format("in a step a query sees its last {} keys alone", seen), unchanged,
                                [seen](const ScoresOfQuery& of, std::int64_t key) {
                                  return key > of.request.token_of(of.place.batch, of.place.token) - seen;
                                }));
    }
  }

  // What becomes of the keys and values of a step's own tokens, or of those before.
  void add_own_tokens() {
    for (const Which& which : {Which{"value", false, true}, {"key", true, false}, {"key and value", true, true}}) {
      const auto taken = [&](std::string words, auto from) {
        add(std::move(words), [which, from](Spec&, AttentionCase& request) {
          if (which.keys) request.k = tokens_taken(request, request.k, from);
          if (which.values) request.v = tokens_taken(request, request.v, from);
        });
      };
      const auto last_of_row = [](const AttentionCase& request, std::int64_t row) {
        return request.token_of(row, request.queries() - 1);
      };
      taken(fmt::format("in a step the {} of its last token {} taken for 0", which.name,
                        which.keys && which.values ? "are" : "is"),
            [=](const AttentionCase& request, std::int64_t row, std::int64_t token) {
              return token == last_of_row(request, row) ? no_token : token;
            });
      taken(fmt::format("in a step its last token has the {} of the one before it", which.name),
            [=](const AttentionCase& request, std::int64_t row, std::int64_t token) {
              const bool is_last = token == last_of_row(request, row) && token > request.sequence(row).first;
              return is_last ? token - 1 : token;
            });
      taken(fmt::format("in a step its last two tokens have each other's {}", which.name),
            [=](const AttentionCase& request, std::int64_t row, std::int64_t token) {
              const std::int64_t last = last_of_row(request, row);
              const bool is_one = token >= last - 1 && token <= last && last > request.sequence(row).first;
              return is_one ? 2 * last - 1 - token : token;
            });
      if (queries_ > 1)
        taken(
            fmt::format("in a step {} of its own tokens are taken for 0", which.keys && which.values ? "keys and values"
                                                                          : which.keys               ? "keys"
                                                                                                     : "values"),
            [=](const AttentionCase& request, std::int64_t row, std::int64_t token) {
              return token >= request.token_of(row, 0) && token <= last_of_row(request, row) ? no_token : token;
            });
    }
    for (const Dtype format : {Dtype::bfloat16, Dtype::float16}) {
      for (const Which& which : {Which{"values", false, true}, {"keys", true, false}, {"keys and values", true, true}})
        add(
            fmt::format("in a step {} of the tokens before its own are rounded to {}", which.name, name_of(format)),
            [which, format](Spec&, AttentionCase& request) {
              if (which.keys) round_earlier(request, request.k, format);
              if (which.values) round_earlier(request, request.v, format);
            },
            DiagnosedStage::rounding);
    }
  }

  // Rows whose cache is another one's, their own tokens being their own.
  void add_rows_of_cache() {
    if (request_.batch < 2) return;
    struct Order {
      std::string_view words;
      std::int64_t (*source)(std::int64_t row, std::int64_t rows);
    };
    constexpr Order orders[] = {{"of its neighbour: of every two rows each has the other's",
                                 [](std::int64_t row, std::int64_t rows) { return std::min(row ^ 1, rows - 1); }},
                                {"of the first", [](std::int64_t, std::int64_t) { return std::int64_t{0}; }},
                                {"of the row before it, the first those of the last",
                                 [](std::int64_t row, std::int64_t rows) { return (row + rows - 1) % rows; }},
                                {"of the row after it, the last those of the first",
                                 [](std::int64_t row, std::int64_t rows) { return (row + 1) % rows; }}};
    for (const Order& order : orders) {
      for (const Which& which : {Which{"keys and values", true, true}, {"values", false, true}, {"keys", true, false}})
        add(fmt::format("in a step each batch row reads the cached {} {}", which.name, order.words),
            [which, source = order.source](Spec&, AttentionCase& request) {
              if (which.keys) request.k = cache_taken(request, request.k, source);
              if (which.values) request.v = cache_taken(request, request.v, source);
            });
    }
  }

  static Tensor cache_taken(const AttentionCase& request, const Tensor& x,
                            std::int64_t (*source)(std::int64_t row, std::int64_t rows)) {
    Tensor made = x;
    const std::int64_t of_row = x.shape[1] * x.shape[2] * x.shape[3];
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      const std::int64_t row = i / of_row;
      if (i / x.shape[3] % x.shape[2] >= request.token_of(row, 0)) continue;
      made.set(i, x.at(source(row, request.batch) * of_row + i % of_row));
    }
    return made;
  }

  static constexpr std::int64_t no_token = -1;

  template <class From>
  static Tensor tokens_taken(const AttentionCase& request, const Tensor& x, From from) {
    Tensor made = x;
    const std::int64_t width = x.shape[3];
    for (std::int64_t vector = 0; vector < x.elements() / width; ++vector) {
      const std::int64_t token = vector % request.tokens;
      const std::int64_t source = from(request, vector / request.tokens / x.shape[1], token);
      for (std::int64_t c = 0; c < width; ++c)
        made.set(vector * width + c, source == no_token ? 0 : x.at((vector - token + source) * width + c));
    }
    return made;
  }

  static void round_earlier(const AttentionCase& request, Tensor& x, Dtype format) {
    const std::int64_t width = x.shape[3];
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      const std::int64_t vector = i / width;
      if (vector % request.tokens < request.token_of(vector / request.tokens / x.shape[1], 0))
        x.set(i, round_to(format, x.at(i)));
    }
  }

  void add(std::string words, Change change, DiagnosedStage stage = DiagnosedStage::other) {
    list_.push_back({.words = std::move(words), .stage = stage, .change = std::move(change)});
  }

  bool is_padded() const { return !request_.starts.empty() || !request_.ends.empty(); }

  // A step's own keys, which it turns itself, and those that a cache keeps.
  void add_own_keys(const Spec& claim) {
    const auto position = position_model(claim, claimed_);
    if (!position || !position->turning()) return;
    const auto moved = [this](std::string words, auto at) {
      add(
          std::move(words),
          [at](Spec&, AttentionCase& request) {
            for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
              const std::int64_t row = i / request.tokens % request.batch;
              std::int64_t& one = request.positions[static_cast<std::size_t>(i)];
              one = at(request, row, i % request.tokens, one);
            }
          },
          DiagnosedStage::position);
    };
    const auto first_own = [](const AttentionCase& request, std::int64_t row) { return request.token_of(row, 0); };
    moved("in a step its own keys are not turned by their positions",
          [first_own](const AttentionCase& request, std::int64_t row, std::int64_t key, std::int64_t own) {
            return key >= first_own(request, row) ? 0 : own;
          });
    moved("in a step its own keys are turned by positions that count from the first of them",
          [first_own](const AttentionCase& request, std::int64_t row, std::int64_t key, std::int64_t own) {
            const std::int64_t first = first_own(request, row);
            return key < first ? own : own - request.query_position(row, 0);
          });
    if (queries_ > 1) {
      moved("of a step's own keys the last alone is turned by its position",
            [first_own, count = queries_](const AttentionCase& request, std::int64_t row, std::int64_t key,
                                          std::int64_t own) {
              const std::int64_t first = first_own(request, row);
              return key >= first && key < first + count - 1 ? 0 : own;
            });
      moved("of a step's own keys the first alone is turned by its position",
            [first_own](const AttentionCase& request, std::int64_t row, std::int64_t key, std::int64_t own) {
              return key > first_own(request, row) ? 0 : own;
            });
    }
    moved("in a step keys are turned by their indices, not by their positions",
          [](const AttentionCase&, std::int64_t, std::int64_t key, std::int64_t) { return key; });
    if (claimed_.cached_keys == CachedKeys::plain)
      moved("in a step cached keys are not turned by their positions, and its own are",
            [first_own](const AttentionCase& request, std::int64_t row, std::int64_t key, std::int64_t own) {
              return key < first_own(request, row) ? 0 : own;
            });
    if (!request_.ends.empty() && claimed_.cached_keys == CachedKeys::rotated)
      moved(
          "a step's own keys are taken to be the cache's last, not their row's: those before are not turned, as if "
          "they came from the cache",
          [first_own, count = queries_](const AttentionCase& request, std::int64_t row, std::int64_t key,
                                        std::int64_t own) {
            return key >= first_own(request, row) && key < request.tokens - count ? 0 : own;
          });
  }

  // Of queries that come before some keys then.
  void add_distances_of_steps() {
    if (carried<Alibi>(claimed_) == nullptr) return;
    add("distances of a step count from the first key, either way", with_query_positions(counted_on_from_first_key),
        DiagnosedStage::position);
    const auto either_way = [](ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight) {
      return own.quickly({std::max(place.query, place.key), std::min(place.query, place.key), place.head}, weight);
    };
    list_.back().bias = either_way;
    const auto by_index = [&](std::string words, auto of_query) {
      add(
          std::move(words),
          [move_queries = with_query_positions(of_query)](Spec& spec, AttentionCase& request) {
            for (std::int64_t i = 0; i < std::ssize(request.positions); ++i)
              request.positions[index(i)] = i % request.tokens;
            move_queries(spec, request);
          },
          DiagnosedStage::position);
      list_.back().bias = either_way;
    };
    by_index("in a step distances are those of indices, either way, its first query's being 0 as the first key's is",
             [](const AttentionCase&, std::int64_t, std::int64_t query) { return query; });
    by_index("in a step distances are those of indices among the keys, not of positions",
             [](const AttentionCase& request, std::int64_t line, std::int64_t query) {
               return request.token_of(line % request.batch, query);
             });
  }

  const Attention& claimed_;
  const AttentionCase& request_;
  std::int64_t queries_;
  std::vector<OtherAttention>& list_;
};

}  // namespace

OtherAttention with_mask(std::string words, std::function<void(Spec& spec, AttentionCase& request)> shows,
                         std::function<bool(const ScoresOfQuery& of, std::int64_t key)> sees) {
  OtherAttention masked{.words = std::move(words), .weights = ScoresToWeights::of_scores};
  masked.change = std::move(shows);
  masked.scores = [sees = std::move(sees)](const ScoresOfQuery& of) {
    const double none = std::ranges::max(of.scores) - 1000;
    for (std::int64_t key = of.keys.first; key < of.keys.end; ++key) {
      if (!sees(of, key)) of.scores[static_cast<std::size_t>(key - of.keys.first)] = none;
    }
  };
  return masked;
}

void add_masks_of_steps(const Attention& claimed, const AttentionCase& request, std::vector<OtherAttention>& list) {
  OtherSteps(claimed, request, list).add_masks();
}

void add_other_steps(const Spec& claim, const AttentionCase& request, std::vector<OtherAttention>& list) {
  OtherSteps(*held<Attention>(claim), request, list).add_positions(claim);
}

}  // namespace sextant::identify
