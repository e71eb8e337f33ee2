// Over 400 lines: one list of what is tried, each of a few lines.
#include "properties/identify/attention/other_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/other_biases.hpp"
#include "properties/identify/attention/other_padding.hpp"
#include "properties/identify/attention/other_query_scales.hpp"
#include "properties/identify/attention/other_scores.hpp"
#include "properties/identify/attention/other_steps.hpp"
#include "properties/identify/attention/other_turnings.hpp"
#include "properties/identify/tried_claims.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// One vector of [batch, heads, tokens, width].
struct VectorAt {
  std::int64_t row;
  std::int64_t head;
  std::int64_t token;
};

// `heads` heads, whose vectors are those of other places.
Tensor taken_from(const Tensor& x, std::int64_t heads, const std::function<VectorAt(const VectorAt&)>& from) {
  const std::int64_t tokens = x.shape[2];
  const std::int64_t width = x.shape[3];
  Tensor taken = Tensor::zeros(x.dtype, {x.shape[0], heads, tokens, width});
  for (std::int64_t vector = 0; vector < x.shape[0] * heads * tokens; ++vector) {
    const VectorAt at = from({vector / (heads * tokens), vector / tokens % heads, vector % tokens});
    const std::int64_t first = ((at.row * x.shape[1] + at.head) * tokens + at.token) * width;
    for (std::int64_t c = 0; c < width; ++c) taken.set(vector * width + c, x.at(first + c));
  }
  return taken;
}

// The mean of all heads in each of them.
Tensor mean_of_heads(const Tensor& x, std::int64_t heads) {
  const std::int64_t of_head = x.shape[2] * x.shape[3];
  Tensor mean = Tensor::zeros(x.dtype, {x.shape[0], heads, x.shape[2], x.shape[3]});
  for (std::int64_t i = 0; i < mean.elements(); ++i) {
    const std::int64_t row = i / (heads * of_head);
    double sum = 0;
    for (std::int64_t head = 0; head < x.shape[1]; ++head)
      sum += x.at((row * x.shape[1] + head) * of_head + i % of_head);
    mean.set(i, sum / static_cast<double>(x.shape[1]));
  }
  return mean;
}

class OtherAttentions {
 public:
  OtherAttentions(const Spec& claim, const AttentionCase& request)
      : claim_(claim),
        request_(request),
        claimed_(*held<Attention>(claim)),
        queries_(request.queries()),
        tokens_(request.tokens),
        batch_(request.batch),
        is_step_(request.is_step()),
        is_padded_(!request.starts.empty() || !request.ends.empty()) {}

  std::vector<OtherAttention> made() && {
    if (is_padded_) add_other_padding(claimed_, request_, list_);
    if (is_step_) add_masks_of_steps(claimed_, request_, list_);
    add_causal();
    add_window();
    add_rows();
    add_key_heads();
    add_scales();
    add_softmax();
    if (is_step_) add_other_steps(claim_, request_, list_);
    if (sees_positions(claimed_)) add_positions();
    add_other_turnings(claim_, request_, list_);
    add_other_biases(claimed_, list_);
    if (!is_step_) add_rounded_steps(claim_, list_);
    add_other_scores(claimed_, request_, list_);
    add_queries();
    for (OtherAttention& one : list_) one.from = OtherAttention::From::list;
    return std::move(list_);
  }

 private:
  using Change = std::function<void(Spec&, AttentionCase&)>;

  void add(std::string words, Change change, DiagnosedStage stage = DiagnosedStage::other) {
    list_.push_back({.words = std::move(words), .stage = stage, .change = std::move(change)});
  }

  // Keys and values, keys alone and values alone from other places, of as many heads as queries have.
  void add_sources(const std::string& who, const std::string& what,
                   const std::function<Tensor(const Tensor&, std::int64_t heads)>& taken) {
    struct Which {
      std::string_view name;
      bool keys;
      bool values;
    };
    for (const Which& which : {Which{"keys and values", true, true}, {"keys", true, false}, {"values", false, true}}) {
      add(fmt::format("{} reads the {} {}", who, which.name, what),
          [taken, which, own = claimed_](Spec& spec, AttentionCase& request) {
            const auto as_claimed = [&](const Tensor& x) {
              return taken_from(x, own.num_heads, [&](const VectorAt& at) {
                return VectorAt{at.row, kv_head(own, at.head), at.token};
              });
            };
            request.k = which.keys ? taken(request.k, own.num_heads) : as_claimed(request.k);
            request.v = which.values ? taken(request.v, own.num_heads) : as_claimed(request.v);
            held<Attention>(spec)->num_kv_heads = own.num_heads;
          });
    }
  }

  void add_rows() {
    if (batch_ < 2) return;
    const auto from_row = [this](const std::string& who, const std::string& what, auto row) {
      add_sources(who, what, [own = claimed_, row](const Tensor& x, std::int64_t heads) {
        return taken_from(x, heads, [&](const VectorAt& at) {
          return VectorAt{row(at.row, x.shape[0]), kv_head(own, at.head), at.token};
        });
      });
    };
    from_row("every batch row", "of the first", [](std::int64_t, std::int64_t) { return std::int64_t{0}; });
    // Of two rows these are the same.
    from_row("the second batch row", "of the first",
             [](std::int64_t row, std::int64_t) { return row == 1 ? std::int64_t{0} : row; });
    from_row("the last batch row", "of the first",
             [](std::int64_t row, std::int64_t rows) { return row == rows - 1 ? std::int64_t{0} : row; });
    from_row("each batch row", "of the row before it, the first those of the last",
             [](std::int64_t row, std::int64_t rows) { return (row + rows - 1) % rows; });
    if (batch_ > 2)
      from_row("each batch row", "of the row as far from the other end: the first those of the last",
               [](std::int64_t row, std::int64_t rows) { return rows - 1 - row; });
    from_row("each batch row", "of the row after it, the last those of the first",
             [](std::int64_t row, std::int64_t rows) { return (row + 1) % rows; });
    from_row("each batch row", "of its neighbour: of every two rows each has the other's",
             [](std::int64_t row, std::int64_t rows) { return std::min(row ^ 1, rows - 1); });
    from_row("each of the first two batch rows", "of the other one",
             [](std::int64_t row, std::int64_t) { return row < 2 ? 1 - row : row; });
  }

  void add_key_heads() {
    const std::int64_t heads = claimed_.num_kv_heads;
    if (heads < 2) return;
    const std::int64_t group = claimed_.num_heads / heads;
    const std::string claims = group > 1 ? fmt::format("where the claim has one for each group of {}", group)
                                         : std::string("where the claim has one for each");
    add_sources("every query head", fmt::format("of key head 0: multi-query attention, {}", claims),
                [](const Tensor& x, std::int64_t count) {
                  return taken_from(x, count, [](const VectorAt& at) { return VectorAt{at.row, 0, at.token}; });
                });
    add_sources("every query head", fmt::format("of the mean of all key heads, {}", claims), mean_of_heads);
    if (group > 1)
      add_sources("query head h", fmt::format("of key head h mod {}, where the claim has floor(h / {})", heads, group),
                  [heads](const Tensor& x, std::int64_t count) {
                    return taken_from(x, count, [&](const VectorAt& at) {
                      return VectorAt{at.row, at.head % heads, at.token};
                    });
                  });
    add_shifted_groups(group, heads);
    std::vector<std::int64_t> steps{1};
    if (heads > 2) steps.push_back(heads - 1);
    for (const std::int64_t step : steps) {
      add_sources("each query head",
                  heads == 2  ? "of the other key head"
                  : step == 1 ? "of the key head after its own"
                              : "of the key head before its own",
                  [own = claimed_, step](const Tensor& x, std::int64_t count) {
                    return taken_from(x, count, [&](const VectorAt& at) {
                      return VectorAt{at.row, (kv_head(own, at.head) + step) % own.num_kv_heads, at.token};
                    });
                  });
    }
    if (heads > 2)
      add_sources("query heads", "of the key heads in reverse", [own = claimed_](const Tensor& x, std::int64_t count) {
        return taken_from(x, count, [&](const VectorAt& at) {
          return VectorAt{at.row, own.num_kv_heads - 1 - kv_head(own, at.head), at.token};
        });
      });
  }

  // Heads that are dealt to groups from another one on.
  void add_shifted_groups(std::int64_t group, std::int64_t heads) {
    if (group < 2) return;
    std::vector<std::int64_t> shifts{1, -1, group - 1, group / 2};
    for (auto shift = shifts.begin(); shift != shifts.end(); ++shift) {
      if (std::find(shifts.begin(), shift, *shift) != shift) continue;
      const std::int64_t by = *shift;
      add_sources(
          "query head h",
          fmt::format("of key head floor((h {} {}) / {}), {}, where the claim has floor(h / {})", by < 0 ? '-' : '+',
                      std::abs(by), group, by < 0 ? "or 0 where that is below" : fmt::format("at most {}", heads - 1),
                      group),
          [=](const Tensor& x, std::int64_t count) {
            return taken_from(x, count, [&](const VectorAt& at) {
              return VectorAt{at.row, std::min(std::max<std::int64_t>(at.head + by, 0) / group, heads - 1), at.token};
            });
          });
      if (by < 1) continue;
      add_sources("query head h",
                  fmt::format("of key head floor((h + {}) / {}) mod {}, where the claim has floor(h / {})", by, group,
                              heads, group),
                  [=](const Tensor& x, std::int64_t count) {
                    return taken_from(x, count, [&](const VectorAt& at) {
                      return VectorAt{at.row, (at.head + by) / group % heads, at.token};
                    });
                  });
    }
  }

  void add_scales() {
    const double own = score_scale(claimed_);
    const auto width = static_cast<double>(claimed_.head_dim);
    const auto heads = static_cast<double>(claimed_.num_heads);
    struct Scale {
      const char* words;
      double value;
    };
    // Twice, where the claim's own scale divides by it once.
    const bool divides = std::fabs(own * std::sqrt(width) - 1) < 1e-9;
    const char* const divided = divides    ? "scores are divided by the root of head_dim twice"
                                : own == 1 ? "scores are divided by the root of head_dim, where the claim divides by "
                                             "nothing"
                                           : "scores are divided by the root of head_dim beside the claim's own scale";
    const Scale scales[] = {
        {"products of queries and keys are not scaled", 1},
        {divided, own / std::sqrt(width)},
        {"scores are divided by the root of num_heads head_dim", 1 / std::sqrt(heads * width)},
        {"scores are divided by head_dim, not by its root", 1 / width},
        {"scores are divided by the root of head_dim", 1 / std::sqrt(width)},
        {"scores are multiplied by the root of head_dim", std::sqrt(width)},
        {"scores are divided by the root of half of head_dim", std::sqrt(2 / width)},
        {"scores are divided by the root of twice head_dim", std::sqrt(0.5 / width)},
        {"scores are halved", own / 2},
        {"scores are doubled", 2 * own},
    };
    for (const Scale& scale : scales) {
      if (std::fabs(scale.value / own - 1) < 1e-9) continue;
      // 1 / 32, not the root of 32 squared.
      const double round = std::stod(fmt::format("{:.15g}", scale.value));
      const double value = std::fabs(round / scale.value - 1) < 0x1p-51 ? round : scale.value;
      OtherAttention other{
          .words = fmt::format("{}: softmax_scale {:.10g} measured, {:.10g} claimed", scale.words, scale.value, own),
          .says = OtherAttention::Says::claim};
      other.change = [value](Spec& spec, AttentionCase&) { held<Attention>(spec)->softmax_scale = value; };
      list_.push_back(std::move(other));
    }
  }

  void add_softmax() {
    if (claimed_.sinks) {
      OtherAttention other{.words = "sinks are left out of softmax's sum", .says = OtherAttention::Says::claim};
      other.change = [](Spec& spec, AttentionCase& request) {
        held<Attention>(spec)->sinks = false;
        request.sinks.reset();
      };
      list_.push_back(std::move(other));
      const auto sinks = [this](std::string words,
                                const std::function<double(const Tensor& sinks, std::int64_t head)>& of) {
        add(std::move(words), [of](Spec&, AttentionCase& request) {
          const Tensor given = *request.sinks;
          for (std::int64_t head = 0; head < given.elements(); ++head) request.sinks->set(head, of(given, head));
        });
      };
      sinks("every head has the sink of the first", [](const Tensor& given, std::int64_t) { return given.at(0); });
      if (const std::int64_t group = claimed_.num_heads / claimed_.num_kv_heads; group > 1)
        sinks("heads of a group have the sink of its first one",
              [group](const Tensor& given, std::int64_t head) { return given.at(head / group * group); });
      if (const std::int64_t heads = claimed_.num_kv_heads; heads > 1 && heads < claimed_.num_heads)
        sinks(fmt::format("head h has the sink of head h mod {}", heads),
              [heads](const Tensor& given, std::int64_t head) { return given.at(head % heads); });
      sinks("each head has the sink of the head after it, the last that of the first",
            [](const Tensor& given, std::int64_t head) { return given.at((head + 1) % given.elements()); });
      sinks("a sink counts as a score of 0, whatever it is", [](const Tensor&, std::int64_t) { return 0.0; });
      sinks("sinks are multiplied by softmax_scale, as products of queries and keys are",
            [scale = score_scale(claimed_)](const Tensor& given, std::int64_t head) { return scale * given.at(head); });
      sinks("heads have each other's sinks: head 0 has the last one's",
            [](const Tensor& given, std::int64_t head) { return given.at(given.elements() - 1 - head); });
      if (claimed_.logit_softcap)
        sinks("sinks go through the softcap too, as products of queries and keys do",
              [cap = *claimed_.logit_softcap](const Tensor& given, std::int64_t head) {
                return cap * std::tanh(given.at(head) / cap);
              });
      sinks("sinks below 0 count as 0",
            [](const Tensor& given, std::int64_t head) { return std::max(given.at(head), 0.0); });
      list_.push_back({.words = "a sink counts in softmax's sum only where it is greater than every score of its query",
                       .weights = ScoresToWeights::of_scores,
                       .has_sink = [](double sink, double greatest) { return sink >= greatest; }});
      list_.push_back(with_plain_sinks());
      add_valued_sinks();
      add("sinks have the other sign", [](Spec&, AttentionCase& request) {
        for (std::int64_t i = 0; i < request.sinks->elements(); ++i) request.sinks->set(i, -request.sinks->at(i));
      });
    } else {
      // In operations that round to 16 bits the bounds on these weights admit nearly anything.
      if (AttentionArithmetic(claim_).u < 0x1p-20) {
        list_.push_back({.words = "scores are the weights: there is no softmax", .weights = ScoresToWeights::none});
        list_.push_back(
            {.words = "softmax is taken over queries, not over keys", .weights = ScoresToWeights::over_queries});
      }
      for (const ScoresToWeights weights : {ScoresToWeights::by_count, ScoresToWeights::by_count_of_greatest})
        list_.push_back({.words = "weights are divided by the number of keys, not by their sum", .weights = weights});
    }
    if (claimed_.query_scale) {
      OtherAttention other{.words = "queries are not scaled by their positions", .says = OtherAttention::Says::claim};
      other.change = [](Spec& spec, AttentionCase&) { held<Attention>(spec)->query_scale.reset(); };
      list_.push_back(std::move(other));
      add_other_query_scales(claimed_, list_);
    }
  }

  // A column that is not taken away before values are multiplied.
  void add_valued_sinks() {
    const auto valued = [this](std::string_view whose, std::function<std::int64_t(const ScoresOfQuery& of)> key) {
      list_.push_back(
          {.words = fmt::format("a sink's weight multiplies the value of {}, where the claim has none", whose),
           .weights = ScoresToWeights::of_scores,
           .key_of_sink = std::move(key)});
    };
    valued("key 0", [](const ScoresOfQuery&) { return std::int64_t{0}; });
    valued("the last key of the call", [](const ScoresOfQuery& of) { return of.request.tokens - 1; });
    valued("the query's own key",
           [](const ScoresOfQuery& of) { return of.request.token_of(of.place.batch, of.place.token); });
    valued("the first key that the query sees", [](const ScoresOfQuery& of) { return of.keys.first; });
    valued("the last key that the query sees", [](const ScoresOfQuery& of) { return of.keys.end - 1; });
  }

  // The number in its exponential's place.
  static OtherAttention with_plain_sinks() {
    OtherAttention plain{.words = "a sink's number, not its exponential, counts in softmax's sum",
                         .weights = ScoresToWeights::of_scores};
    const auto added = std::make_shared<double>(0);
    plain.has_sink = [added](double sink, double greatest) {
      *added = sink * std::exp(-std::max(sink, greatest));
      return false;
    };
    plain.total = [added](double sum) { return sum + *added; };
    return plain;
  }

  // Each token's position on each axis is another one.
  void add_positions() {
    const auto change = [this](std::string words, auto other) {
      add(
          std::move(words),
          [other](Spec&, AttentionCase& request) {
            const std::vector<std::int64_t> given = request.positions;
            const std::int64_t of_axis = request.batch * request.tokens;
            for (std::int64_t i = 0; i < std::ssize(given); ++i)
              request.positions[static_cast<std::size_t>(i)] = other(given, i / of_axis, i % of_axis, request);
          },
          DiagnosedStage::position);
    };
    const auto at = [](const std::vector<std::int64_t>& given, std::int64_t axis, std::int64_t i,
                       const AttentionCase& request) {
      return given[static_cast<std::size_t>(axis * request.batch * request.tokens + i)];
    };
    if (!is_step_) {
      change(
          "a token's place in the call is taken for its position",
          [](const auto&, std::int64_t, std::int64_t i, const AttentionCase& request) { return i % request.tokens; });
      if (batch_ > 1)
        change("all rows of a batch have the positions of the first",
               [at](const auto& given, std::int64_t axis, std::int64_t i, const AttentionCase& request) {
                 return at(given, axis, i % request.tokens, request);
               });
    }
    const std::int64_t axes = claimed_.position ? axes_of_position() : 1;
    if (axes < 2) {
      if (!is_step_ && !is_padded_) add_counted_sides();
      return;
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(axes));
    std::iota(order.begin(), order.end(), 0);
    do add_axis_order(order);
    while (std::ranges::next_permutation(order).found);
    while (std::ranges::next_permutation(order).found) {
      change(fmt::format("positions of axes change places: {}", order_text(order)),
             [at, order](const auto& given, std::int64_t axis, std::int64_t i, const AttentionCase& request) {
               return at(given, order[static_cast<std::size_t>(axis)], i, request);
             });
    }
    change("all axes have the positions of the first",
           [at](const auto& given, std::int64_t, std::int64_t i, const AttentionCase& request) {
             return at(given, 0, i, request);
           });
    change("all axes have the positions of the last",
           [at, axes](const auto& given, std::int64_t, std::int64_t i, const AttentionCase& request) {
             return at(given, axes - 1, i, request);
           });
  }

  // As a step of all tokens, whose queries and keys have positions apart.
  void add_counted_sides() {
    const auto position = position_model(claim_, claimed_);
    if (!position || !position->turning()) return;
    const auto counted = [this](std::string words, auto of) {
      add(
          std::move(words),
          [of](Spec&, AttentionCase& request) {
            request.query_positions = request.positions;
            const std::vector<std::int64_t> given = request.positions;
            std::vector<std::int64_t>& changed = of(request);
            for (std::int64_t i = 0; i < std::ssize(given); ++i)
              changed[static_cast<std::size_t>(i)] -=
                  given[static_cast<std::size_t>(i / request.tokens * request.tokens)];
          },
          DiagnosedStage::position);
    };
    if (batch_ > 1) {
      const auto of_first_row = [this](std::string words, auto of) {
        add(
            std::move(words),
            [of](Spec&, AttentionCase& request) {
              request.query_positions = request.positions;
              std::vector<std::int64_t>& changed = of(request);
              for (std::int64_t i = 0; i < std::ssize(changed); ++i)
                changed[index(i)] = changed[index(i % request.tokens)];
            },
            DiagnosedStage::position);
      };
      of_first_row("keys of all batch rows are turned by the first one's positions, and queries by their own",
                   [](AttentionCase& request) -> std::vector<std::int64_t>& { return request.positions; });
      of_first_row("queries of all batch rows are turned by the first one's positions, and keys by their own",
                   [](AttentionCase& request) -> std::vector<std::int64_t>& { return request.query_positions; });
    }
    counted("keys are turned by positions that count from the first key of their row's call, and queries by their own",
            [](AttentionCase& request) -> std::vector<std::int64_t>& { return request.positions; });
    counted("queries are turned by positions that count from the first of their row's call, and keys by their own",
            [](AttentionCase& request) -> std::vector<std::int64_t>& { return request.query_positions; });
  }

  // The claim with its axes in another order, where that is one: its fields say how it differs.
  void add_axis_order(const std::vector<std::int64_t>& order) {
    RopeNd axial = *carried<RopeNd>(claimed_);
    if (order == order_of_axes(axial)) return;
    axial.axis_order = order;
    if (std::ranges::is_sorted(order)) axial.axis_order.clear();
    OtherAttention other{.words = "", .stage = DiagnosedStage::position, .says = OtherAttention::Says::claim};
    other.change = [axial](Spec& spec, AttentionCase&) { held<Attention>(spec)->position = axial; };
    try {
      Spec spec = claim_;
      held<Attention>(spec)->position = axial;
      validate(spec);
    } catch (const SpecError&) {
      return;
    }
    list_.push_back(std::move(other));
  }

  std::int64_t axes_of_position() const {
    const auto* axial = carried<RopeNd>(claimed_);
    return axial == nullptr ? 1 : axes(*axial);
  }

  void add_causal() {
    OtherAttention other{.words = "", .says = OtherAttention::Says::claim};
    other.change = [causal = !claimed_.causal](Spec& spec, AttentionCase&) { held<Attention>(spec)->causal = causal; };
    list_.push_back(std::move(other));
  }

  // A window that no query of a call reaches the end of is none.
  void add_window() {
    if (!claimed_.window || *claimed_.window >= tokens_) return;
    OtherAttention none{.words = "", .says = OtherAttention::Says::claim};
    none.change = [](Spec& spec, AttentionCase&) { held<Attention>(spec)->window.reset(); };
    list_.push_back(std::move(none));
    const auto unbounded = [](Spec& spec, AttentionCase&) { held<Attention>(spec)->window.reset(); };
    const std::int64_t window = *claimed_.window;
    if (axes_of(claim_.encoding) == 1)
      list_.push_back(
          with_mask("the window counts positions, where the claim counts tokens", unbounded,
                    [window](const ScoresOfQuery& of, std::int64_t key) {
                      const std::int64_t there = of.request.positions[index(of.place.batch * of.request.tokens + key)];
                      return std::abs(of.request.query_position(of.place.batch, of.place.token) - there) < window;
                    }));
    for (const std::int64_t first : {1, 2, 4, 8, 16, 32, 64}) {
      if (first + window >= tokens_) break;
      list_.push_back(with_mask(fmt::format("the first {} {} seen by every query, beside the window", first,
                                            first == 1 ? "key is" : "keys are"),
                                unbounded, [window, first](const ScoresOfQuery& of, std::int64_t key) {
                                  return key < of.request.sequence(of.place.batch).first + first ||
                                         of.request.token_of(of.place.batch, of.place.token) - key < window;
                                }));
    }
    if (!is_step_) return;
    for (const std::int64_t another : {window + 1, window - 1, 2 * window, window / 2}) {
      if (another < 1 || another == window) continue;
      OtherAttention other{.words = "", .says = OtherAttention::Says::claim};
      other.change = [another](Spec& spec, AttentionCase&) { held<Attention>(spec)->window = another; };
      list_.push_back(std::move(other));
    }
    list_.push_back(with_mask(
        "in a step the window counts its queries from the top left: the first one as the sequence's first token",
        unbounded,
        [window](const ScoresOfQuery& of, std::int64_t key) { return std::abs(of.place.token - key) < window; }));
    if (queries_ < 2) return;
    list_.push_back(with_mask("in a step all queries have the last one's window", unbounded,
                              [window](const ScoresOfQuery& of, std::int64_t key) {
                                return of.request.token_of(of.place.batch, of.request.queries() - 1) - key < window;
                              }));
    list_.push_back(with_mask("in a step all queries have the first one's window", unbounded,
                              [window](const ScoresOfQuery& of, std::int64_t key) {
                                return of.request.token_of(of.place.batch, 0) - key < window;
                              }));
  }

  void add_queries() {
    const auto from = [this](std::string words, auto token) {
      add(std::move(words), [token](Spec&, AttentionCase& request) {
        const std::int64_t count = request.queries();
        request.q = taken_from(request.q, request.q.shape[1], [&](const VectorAt& at) {
          return VectorAt{at.row, at.head, token(at.token, count)};
        });
      });
    };
    if (queries_ < 3) return;
    from("queries are in reverse order: the first token has the last one's",
         [](std::int64_t token, std::int64_t count) { return count - 1 - token; });
    from("each token has the query of the one before it",
         [](std::int64_t token, std::int64_t count) { return (token + count - 1) % count; });
    from("each token has the query of the one after it",
         [](std::int64_t token, std::int64_t count) { return (token + 1) % count; });
    from("every two neighbouring tokens have each other's queries",
         [](std::int64_t token, std::int64_t count) { return std::min(token ^ 1, count - 1); });
    add("each head has the query of the head after it", [](Spec&, AttentionCase& request) {
      const std::int64_t heads = request.q.shape[1];
      request.q = taken_from(request.q, heads, [&](const VectorAt& at) {
        return VectorAt{at.row, (at.head + 1) % heads, at.token};
      });
    });
    add("queries and keys change places", [own = claimed_](Spec& spec, AttentionCase& request) {
      if (request.is_step()) return;
      const auto as_claimed = [&](const Tensor& x) {
        return taken_from(x, own.num_heads, [&](const VectorAt& at) {
          return VectorAt{at.row, kv_head(own, at.head), at.token};
        });
      };
      const Tensor keys = as_claimed(request.k);
      request.v = as_claimed(request.v);
      request.k = request.q;
      request.q = keys;
      held<Attention>(spec)->num_kv_heads = own.num_heads;
    });
  }

  Spec claim_;
  const AttentionCase& request_;
  Attention claimed_;
  std::int64_t queries_;
  std::int64_t tokens_;
  std::int64_t batch_;
  bool is_step_;
  bool is_padded_;
  std::vector<OtherAttention> list_;
};

}  // namespace

std::vector<OtherAttention> other_attention(const Spec& claim, const AttentionCase& request) {
  return OtherAttentions(claim, request).made();
}

}  // namespace sextant::identify
