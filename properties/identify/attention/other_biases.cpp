#include "properties/identify/attention/other_biases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/model/attention_budget.hpp"

namespace sextant::identify {
namespace {

class OtherBiases {
 public:
  OtherBiases(const Attention& claimed, std::vector<OtherAttention>& list) : claimed_(claimed), list_(list) {}

  // What is added to scores is the claim's of another head, or a multiple of it.
  void add_biases() {
    const auto of_head = [this](std::string words, auto head) {
      list_.push_back({.words = std::move(words),
                       .bias = [head](ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight) {
                         const std::int64_t other = head(place.head);
                         if (other < 0) return QuickScoreTerm{0, 0, 0};
                         return own.quickly({place.query, place.key, other}, weight);
                       }});
    };
    const auto times = [this](std::string words, double factor) {
      list_.push_back({.words = std::move(words),
                       .bias = [factor](ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight) {
                         QuickScoreTerm term = own.quickly(place, weight);
                         term.value *= factor;
                         term.error *= std::fabs(factor);
                         return term;
                       }});
    };
    const std::int64_t heads = claimed_.num_heads;
    times("the bias is left out", 0);
    times("biases have the other sign", -1);
    times("biases are halved", 0.5);
    times("biases are doubled", 2);
    times("biases are scaled with the products, by softmax_scale", score_scale(claimed_));
    times("biases are divided by softmax_scale", 1 / score_scale(claimed_));
    if (heads < 2) return;
    of_head("every head has the bias of head 0", [](std::int64_t) { return std::int64_t{0}; });
    of_head("each head has the bias of the head after it", [heads](std::int64_t head) { return (head + 1) % heads; });
    if (heads > 2) {
      of_head("each head has the bias of the head before it",
              [heads](std::int64_t head) { return (head + heads - 1) % heads; });
      of_head("each head has the bias of the head after it, the last has its own",
              [heads](std::int64_t head) { return std::min(head + 1, heads - 1); });
    }
    of_head("heads have the biases in reverse: head 0 has the last one's",
            [heads](std::int64_t head) { return heads - 1 - head; });
    if (const std::int64_t group = heads / claimed_.num_kv_heads; group > 1 && group < heads) {
      // With slopes 2^-(8 (h + 1) / n) those of n / group heads.
      of_head(
          fmt::format("heads of each group of {0} have the bias of its last one, as where the {1} key heads' slopes "
                      "are repeated for {0} query heads each",
                      group, claimed_.num_kv_heads),
          [group](std::int64_t head) { return head / group * group + group - 1; });
      of_head(fmt::format("heads of each group of {} have the bias of its first one", group),
              [group](std::int64_t head) { return head / group * group; });
      of_head(fmt::format("query head h has the bias of head h / {}, its key head's number", group),
              [group](std::int64_t head) { return head / group; });
    }
    of_head("odd heads have no bias", [](std::int64_t head) { return head % 2 == 0 ? head : -1; });
    of_head("even heads have no bias", [](std::int64_t head) { return head % 2 == 1 ? head : -1; });
    of_head("head 0 alone has a bias", [](std::int64_t head) { return head == 0 ? head : -1; });
    of_head("the second half of the heads has no bias",
            [heads](std::int64_t head) { return 2 * head < heads ? head : -1; });
  }

  void add_steps_beside() {
    for (const std::int64_t step : {1, -1})
      list_.push_back(
          {.words = fmt::format("distances are one off: key - query = d has the bias of d {} 1", step > 0 ? '+' : '-'),
           .stage = DiagnosedStage::position,
           .bias = [step](ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight) {
             return own.quickly({place.query, place.key + step, place.head}, weight);
           }});
  }

  // Slopes times another function of the distance, the claim's bias at distance 1 being minus the slope.
  void add_distances() {
    const auto* alibi = carried<Alibi>(claimed_);
    if (alibi->form != AlibiForm::distance) return;
    struct Distance {
      const char* words;
      double (*of)(double);
    };
    const Distance distances[] = {
        {"distances are squared", [](double d) { return d * d; }},
        {"slopes multiply the logarithm of 1 + the distance", [](double d) { return std::log1p(d); }},
        {"slopes multiply the root of the distance", [](double d) { return std::sqrt(d); }},
        {"distances are one off: a key next to the query counts as the query's own",
         [](double d) { return std::max(d - 1, 0.0); }},
        {"distances are one off: a key next to the query counts as 2 away", [](double d) { return d > 0 ? d + 1 : 0; }},
    };
    for (const Distance& distance : distances)
      list_.push_back({.words = distance.words,
                       .stage = DiagnosedStage::position,
                       .bias = [of = distance.of](ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight) {
                         QuickScoreTerm term = own.quickly({1, 0, place.head}, weight);
                         const double counted = of(static_cast<double>(std::abs(place.query - place.key)));
                         term.value *= counted;
                         // A logarithm or a root is off by less than 2^-50 of itself.
                         term.error = term.error * counted + std::fabs(static_cast<double>(term.value)) * 0x1p-50;
                         term.roundings += 1;
                         return term;
                       }});
    if (claimed_.causal) return;
    for (std::int64_t off = -16; off <= 16; ++off) {
      if (off == 0 || std::abs(off) == 1) continue;
      list_.push_back({.words = fmt::format("distances are {} off: query - key = d counts as d {} {}", std::abs(off),
                                            off > 0 ? '+' : '-', std::abs(off)),
                       .stage = DiagnosedStage::position,
                       .bias = [off](ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight) {
                         return own.quickly({place.query + off, place.key, place.head}, weight);
                       }});
    }
    const auto one_side = [this](const char* words, bool keeps_earlier) {
      list_.push_back(
          {.words = words, .bias = [keeps_earlier](ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight) {
             const bool is_earlier = place.key <= place.query;
             return is_earlier == keeps_earlier ? own.quickly(place, weight) : QuickScoreTerm{0, 0, 0};
           }});
    };
    one_side("keys after the query have no bias", true);
    one_side("keys before the query have no bias", false);
    list_.push_back({.words = "distances are signed: keys after the query have a bias of the other sign",
                     .bias = [](ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight) {
                       QuickScoreTerm term = own.quickly(place, weight);
                       if (place.key > place.query) term.value = -term.value;
                       return term;
                     }});
  }

  // [buckets, heads].
  void add_weights() {
    const auto transposed = [](Spec&, AttentionCase& request) {
      const Tensor given = *request.weight;
      const std::int64_t buckets = given.shape[0];
      const std::int64_t heads = given.shape[1];
      for (std::int64_t i = 0; i < given.elements(); ++i)
        request.weight->set(i, given.at(i % heads * buckets + i / heads));
    };
    list_.push_back({.words = "the weight is read as if it had a row for each head: transposed", .change = transposed});
    OtherAttention sided{.words = carried<RelativeBias>(claimed_)->bidirectional
                                      ? "buckets are of one direction, where the claim has those of both"
                                      : "buckets are of both directions, where the claim has those of one",
                         .says = OtherAttention::Says::claim};
    sided.change = [](Spec& spec, AttentionCase&) {
      auto& attention = *held<Attention>(spec);
      RelativeBias changed = *carried<RelativeBias>(attention);
      changed.bidirectional = !changed.bidirectional;
      attention.position = changed;
    };
    if (carried<RelativeBias>(claimed_)->buckets == BucketRule::t5) list_.push_back(std::move(sided));
    list_.push_back({.words = "query and key change places: the bias is that of query - key",
                     .stage = DiagnosedStage::position,
                     .bias = [](ScoreBiasOracle& own, const BiasPlace& place, const Tensor* weight) {
                       return own.quickly({place.key, place.query, place.head}, weight);
                     }});
  }

 private:
  const Attention& claimed_;
  std::vector<OtherAttention>& list_;
};

}  // namespace

void add_other_biases(const Attention& claimed, std::vector<OtherAttention>& list) {
  OtherBiases others(claimed, list);
  const bool is_alibi = carried<Alibi>(claimed) != nullptr;
  const bool is_looked_up = carried<RelativeBias>(claimed) != nullptr;
  if (is_alibi) others.add_distances();
  if (is_alibi || is_looked_up || carried<WindowBias>(claimed) != nullptr) others.add_biases();
  if ((is_alibi || is_looked_up) && claimed.num_heads > 1) others.add_steps_beside();
  if (is_looked_up) others.add_weights();
}

}  // namespace sextant::identify
