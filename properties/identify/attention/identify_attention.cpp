// Over 400 lines: one search, whose steps (mask, groups, positions, score) each need what those before found.
#include "properties/identify/attention/identify_attention.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/identify/attention/asked_attention.hpp"
#include "properties/identify/attention/attention_answers.hpp"
#include "properties/identify/attention/attention_calls.hpp"
#include "properties/identify/attention/attention_grids.hpp"
#include "properties/identify/attention/attention_masks.hpp"
#include "properties/identify/attention/attention_positions.hpp"
#include "properties/identify/attention/attention_probe.hpp"
#include "properties/identify/attention/finite_masks.hpp"
#include "properties/identify/attention/kinds_of_calls.hpp"
#include "properties/identify/attention/other_query_scales.hpp"
#include "properties/identify/attention/other_steps.hpp"
#include "properties/identify/attention/overflowing_scores.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/rotations/identify_rope.hpp"
#include "properties/identify/rotations/other_axes.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/identify/tried_claims.hpp"
#include "properties/model/model.hpp"
#include "properties/model/question.hpp"
#include "reference/alibi.hpp"
#include "reference/rope.hpp"

namespace sextant::identify {
namespace {

// What scores show of queries' and keys' product: s, or c tanh(s / c).
struct Score {
  double scale = 1;
  std::optional<double> cap;
  double factor = 1;  // of rope's rule, whose square is in the scale
  std::optional<QueryScale> of_query;

  // Of a query that stands there.
  double product(double score, std::int64_t position) const {
    const double by = of_query ? query_scale_at(*of_query, position) : 1;
    return (cap ? *cap * std::atanh(score / *cap) : score) / scale / by;
  }
};

// The rotation in it: component b of what a vector is turned to is its product with a key of b alone at position 0.
class ByScores final : public Session {
 public:
  ByScores(AttentionProbe& probe, std::int64_t width, const Score& score)
      : probe_(probe), width_(width), score_(score) {}

  Description describe() override { return {}; }
  Tensors call(std::string_view, const Tensors& inputs) override {
    const Tensor& x = inputs.at("x");
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    const std::int64_t heads = x.shape[2];
    // Scores of up to about 8, whose weights are all seen; of few bits, that no dtype rounds it.
    const double size = round_to(Dtype::bfloat16, std::sqrt(8 / score_.scale));
    std::vector<AttentionProbe::TwoTokens> sequences;
    for (std::int64_t vector = 0; vector * width_ < x.elements(); ++vector) {
      AttentionProbe::TwoTokens asked{positions[static_cast<std::size_t>(vector / heads)], {}, {}};
      for (std::int64_t c = 0; c < width_; ++c) asked.query.push_back(size * x.at(vector * width_ + c));
      for (std::int64_t channel = 0; channel < width_; ++channel) {
        asked.key.assign(static_cast<std::size_t>(width_), 0);
        asked.key[static_cast<std::size_t>(channel)] = size;
        sequences.push_back(asked);
      }
    }
    const std::vector<double> scores = probe_.scores(sequences);
    Tensor y = x;
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      y.set(i, score_.factor * score_.product(scores[at], sequences[at].position) / (size * size));
    }
    return {{"y", std::move(y)}};
  }

 private:
  AttentionProbe& probe_;
  std::int64_t width_;
  Score score_;
};

class AttentionIdentifier {
 public:
  AttentionIdentifier(CountedSession& session, const Spec& claim, const Attention& encoding)
      : session_(session), claim_(claim), claimed_(encoding), attention_(encoding), probe_(session, claim, claimed_) {}

  Identification run() {
    if (!take_answers() && !take_overflow() && !take_unusual_scores() && !take_odd_mask() &&
        !take_mask_of_long_call() && !take_place(answers_.of_heads)) {
      take_steps();
      const bool is_claim = found_.spec && to_json(*found_.spec) == to_json(claim_);
      if (!found_.spec || is_claim || found_.confidence == Confidence::low) take_place(answers_.of_tokens);
      if (!found_.spec || is_claim || found_.confidence == Confidence::low)
        take_place(answers_.of_calls.words, answers_.of_calls.says_right);
    }
    found_.calls = session_.calls();
    return std::move(found_);
  }

 private:
  void take_steps() {
    const bool is_asked_plainly = !claimed_.position || carried<Rope>(claimed_) != nullptr ||
                                  carried<Xpos>(claimed_) != nullptr || carried<Alibi>(claimed_) != nullptr;
    if (!is_asked_plainly) {
      take_other_axes(claim_);
      if (!found_.spec && found_.faults.empty())
        found_.table.emplace_back(
            "no way is known to tell attention whose calls have positions of several axes or weights");
    } else if (claimed_.head_dim < 4) {
      found_.table.emplace_back("heads of fewer than 4 channels hold too few keys to tell them apart");
    } else {
      take_mask();
      take_groups();
      take_query_scale();
      if (!takes_usual_weights()) return;
      if (depends_on_length(claim_)) {
        keep_claimed("scores change with the length of a call");
      } else if (std::string words = score_.of_query ? std::string() : positions_of_scores(probe_, claim_, claimed_);
                 !words.empty()) {
        // Everything else is as claimed; keys that are not seen may be far by the positions that are used alone.
        attention_.window = claimed_.window;
        found_.faults.emplace_back(std::move(words), DiagnosedStage::position);
        has_position_ = true;
      } else {
        take_score();
        take_position();
      }
      if (std::string words = turned_values(probe_, claim_, claimed_); !words.empty()) {
        found_.faults.push_back(std::move(words));
        // Weights that are read from values which turn are not what they are.
        attention_.position = claimed_.position;
      }
      judge();
    }
  }

  double unit() const { return std::ldexp(1, -format_of(claim_.dtype).precision); }

  // What explains ordinary answers that are wrong.
  bool take_answers() {
    answers_ = attention_answers(session_, claim_);
    if (!answers_.fault) return false;
    if (!answers_.spec) {
      found_.table.push_back(answers_.fault->words);
      found_.faults.push_back(*answers_.fault);
      return true;
    }
    const FittedAnswers fitted = fitted_answers(session_, *answers_.spec);
    if (!fitted.hold || fitted.spec.accuracy != claim_.accuracy) return false;
    if (!meet_ordinary_calls(session_, fitted.spec)) return false;
    found_.spec = fitted.spec;
    found_.of_bound = fitted.of_bound;
    if (!answers_.fault->words.empty()) found_.convention.push_back(*answers_.fault);
    found_.confidence = answers_.confidence;
    return true;
  }

  // Of answers that are right otherwise but for scores from some size on.
  bool take_overflow() {
    if (answers_.are == AttentionAnswers::Are::wrong) return false;
    auto overflow = overflow_of_scores(session_, claim_);
    if (!overflow) return false;
    found_.spec = claim_;
    found_.confidence = Confidence::low;
    found_.faults.emplace_back(std::move(overflow->words), DiagnosedStage::rounding);
    return true;
  }

  // Of answers that are right otherwise, what grids and scores far from 0 show.
  bool take_unusual_scores() {
    if (answers_.are == AttentionAnswers::Are::wrong) return false;
    if (const auto grids = attention_grids(session_, claim_)) {
      found_.table.push_back(grids->words);
      found_.faults.push_back(*grids);
      return true;
    }
    for (auto* words_of : {&finite_mask_words, &far_bias_words}) {
      std::string words = words_of(session_, claim_);
      if (words.empty()) continue;
      found_.table.push_back(words);
      found_.faults.emplace_back(std::move(words));
      return true;
    }
    return false;
  }

  // Of which tokens or heads answers are wrong, where nothing else is told of them.
  bool take_place(const std::string& words, std::function<bool(const AttentionCase& call)> says_right = {}) {
    const bool is_told =
        std::ranges::any_of(found_.faults, [](const Fault& one) { return one.kind == FaultKind::cause; });
    if (words.empty() || is_told) return false;
    found_.spec.reset();
    found_.confidence = Confidence::none;
    found_.faults.assign(1, Fault(words));
    found_.faults.front().says_right = std::move(says_right);
    found_.table.push_back(words);
    return true;
  }

  // Masks that no spec says, of as many tokens as there are channels to tell them by.
  bool take_odd_mask() {
    const std::int64_t room = model_of(claim_)->range().last;
    const std::int64_t tokens = std::min<std::int64_t>({claimed_.head_dim, 32, room});
    if (tokens < 4) return false;
    std::vector<std::int64_t> positions(static_cast<std::size_t>(tokens));
    std::iota(positions.begin(), positions.end(), 0);
    constexpr std::int64_t rows = 4;
    const std::vector<double> weights = probe_.weights_of_zeros(positions, rows);
    // Without softmax weights of zeros are 0.
    if (std::ranges::all_of(weights, [](double one) { return one == 0; })) return false;
    const auto sees = [&](std::int64_t row, std::int64_t head, std::int64_t query, std::int64_t key) {
      const std::int64_t at = ((row * claimed_.num_heads + head) * tokens + query) * tokens + key;
      const double one = weights[static_cast<std::size_t>(at)];
      return one != 0 && !std::isnan(one);
    };
    std::vector<std::string> of_rows;
    for (std::int64_t row = 0; row < rows; ++row)
      of_rows.push_back(mask_words({claimed_.num_heads, tokens, std::bind_front(sees, row)}, claimed_));
    return take_mask_words(with_sums(words_of_rows(of_rows), tokens), {rows, tokens, sees});
  }

  // Which keys are seen in a whole call of so many batch rows and tokens.
  struct MaskOfCall {
    std::int64_t rows;
    std::int64_t tokens;
    std::function<bool(std::int64_t row, std::int64_t head, std::int64_t query, std::int64_t key)> sees;
  };

  bool has_claimed_keys(const MaskOfCall& mask, std::int64_t query) const {
    const KeyRange own = keys_seen(claimed_, query, {0, mask.tokens});
    for (std::int64_t row = 0; row < mask.rows; ++row) {
      for (std::int64_t head = 0; head < claimed_.num_heads; ++head) {
        for (std::int64_t key = 0; key < mask.tokens; ++key) {
          if (mask.sees(row, head, query, key) != own.contains(key)) return false;
        }
      }
    }
    return true;
  }

  // Whether steps, whose queries are a call's last ones, have its mask too: ", in whole calls alone". Those whose
  // queries see what is claimed show nothing, nor do those that are right with the mask too.
  std::string condition_of(const MaskOfCall& mask) {
    std::vector<ShownKind> shown{{{0, HasPadding::no}, Shows::it}};
    for (const std::int64_t queries : asked_queries) {
      if (queries == 0 || queries > mask.tokens) continue;
      bool are_claimed = true;
      for (std::int64_t query = mask.tokens - queries; query < mask.tokens; ++query)
        are_claimed = are_claimed && has_claimed_keys(mask, query);
      if (are_claimed) continue;
      try {
        const AskedCase asked(session_, claim_, last_of(ordinary_case(claim_, mask.tokens, mask.rows), queries),
                              claimed_.num_heads);
        // Bounds of 16 bits may admit both.
        const OtherAttention masked = with_mask(
            "",
            [](Spec& spec, AttentionCase&) {
              held<Attention>(spec)->causal = false;
              held<Attention>(spec)->window.reset();
            },
            [&](const ScoresOfQuery& of, std::int64_t key) {
              return mask.sees(of.place.batch, of.place.head, of.request.token_of(of.place.batch, of.place.token), key);
            });
        const bool is_claimed = asked.wrong().empty();
        const bool may_be_masked = is_claimed && asked.off_of(masked, asked.places()).has_value();
        shown.push_back({{queries, HasPadding::no},
                         !is_claimed     ? Shows::it
                         : may_be_masked ? Shows::either
                                         : Shows::claim});
      } catch (const SubjectFailure&) {
        // It has no steps.
      }
    }
    return ToldKinds(shown).condition();
  }

  // The words of a mask, of so many tokens, and whether keys that are not seen count nevertheless.
  std::string with_sums(std::string words, std::int64_t tokens) {
    // Sums of 16 bits are off by as much as a key.
    const bool has_exact_sums = !claimed_.sinks && !is_16_bit(claim_.dtype);
    if (words.empty() || !has_exact_sums || probe_.sum_to_one(tokens)) return words;
    const auto has = [&](std::string_view part) { return words.find(part) != std::string::npos; };
    const bool is_of_one = has(" see key ") || has(" sees key ") || has("not see itself");
    words += is_of_one ? ", though it counts in softmax's sum: its value is taken for 0"
                       : ", though they count in softmax's sum: their values are taken for 0";
    return words;
  }

  // Of each batch row a mask that no spec has, empty where it has one of a spec.
  static std::string words_of_rows(const std::vector<std::string>& of_rows) {
    const auto odd = std::ranges::find_if(of_rows, [](const std::string& one) { return !one.empty(); });
    if (odd == of_rows.end()) return {};
    std::vector<std::size_t> same;
    for (std::size_t row = 0; row < of_rows.size(); ++row) {
      if (of_rows[row] == *odd) same.push_back(row);
    }
    if (same.size() == of_rows.size()) return *odd;
    if (same.size() + 1 == of_rows.size() && same.front() == 1)
      return fmt::format("{}, in every batch row but the first", *odd);
    return fmt::format("{}, in batch {} {} alone", *odd, same.size() == 1 ? "row" : "rows", fmt::join(same, ", "));
  }

  bool take_mask_words(std::string words, const MaskOfCall& mask) {
    if (words.empty()) return false;
    words += condition_of(mask);
    found_.table.push_back(words);
    found_.faults.emplace_back(std::move(words));
    return true;
  }

  // Masks of more tokens than channels, of answers that are wrong, or whose 16 bits hide a few keys of many.
  bool take_mask_of_long_call() {
    // More than two tiles of 64, and no whole number of any; its calls are few of the 200 that there may be.
    constexpr std::int64_t tokens = 165;
    constexpr std::int64_t least_width = 8;
    const bool may_be_wrong = answers_.are == AttentionAnswers::Are::wrong || is_16_bit(claim_.dtype);
    if (!may_be_wrong || claimed_.head_dim < least_width ||
        tokens > model_of(claim_)->most_tokens_from(model_of(claim_)->range().first))
      return false;
    const std::vector<bool> seen = probe_.seen_keys(tokens);
    if (std::ranges::find(seen, true) == seen.end()) return false;
    const auto sees = [&](std::int64_t head, std::int64_t query, std::int64_t key) {
      return seen[static_cast<std::size_t>((head * tokens + query) * tokens + key)];
    };
    return take_mask_words(with_sums(mask_words({claimed_.num_heads, tokens, sees}, claimed_), tokens),
                           {1, tokens, [&](std::int64_t, std::int64_t head, std::int64_t query, std::int64_t key) {
                              return sees(head, query, key);
                            }});
  }

  void take_mask() {
    tokens_ = std::min<std::int64_t>({claimed_.head_dim, 32, claim_.max_position});
    std::vector<std::int64_t> positions(static_cast<std::size_t>(tokens_));
    std::iota(positions.begin(), positions.end(), 0);
    weights_ = probe_.weights_of_zeros(positions);
    attention_.causal = weight(0, 0, 1) == 0;
    attention_.window = probe_.first_hidden(1024);
    // One that is longer, if the claim has it.
    if (!attention_.window && claimed_.window && *claimed_.window >= 1024 && *claimed_.window < 8192)
      attention_.window = probe_.first_hidden(*claimed_.window + 2);
    if (!attention_.window && claimed_.window && *claimed_.window >= 8192) attention_.window = claimed_.window;
    // At a window's width a query sees all but the first key; at a block's its own alone.
    if (attention_.window && attention_.window != claimed_.window && *attention_.window > 1 &&
        probe_.sees(*attention_.window, *attention_.window, *attention_.window + 1) &&
        !probe_.sees(*attention_.window, *attention_.window - 1, *attention_.window + 1)) {
      const std::int64_t block = *attention_.window;
      const auto sees = [&](std::int64_t, std::int64_t, std::int64_t query, std::int64_t key) {
        return key / block == query / block && (key <= query || !attention_.causal);
      };
      found_.faults.emplace_back(block_words(block) + condition_of({1, block + block / 2 + 1, sees}));
      attention_.window = claimed_.window;
    }
    found_.seen.emplace_back(attention_.causal ? "a token sees no later one" : "a token sees later ones");
    if (attention_.window) found_.seen.push_back(fmt::format("keys {} and more away are not seen", *attention_.window));
  }

  // Masks and sums of weights that no spec has. Of a query whose keys are all alike one by one.
  bool takes_usual_weights() {
    if (tokens_ < 3) return true;
    bool is_inverted = true;
    bool is_one_more = !claimed_.sinks;
    std::int64_t rows_alike = 0;
    for (std::int64_t query = 0; query < tokens_; ++query) {
      double sum = 0;
      double least = HUGE_VAL;
      double most = 0;
      std::int64_t seen = 0;
      for (std::int64_t key = 0; key < tokens_; ++key) {
        const double one = weight(0, query, key);
        is_inverted = is_inverted && (one != 0) == (key >= query);
        if (one == 0) continue;
        ++seen;
        sum += one;
        least = std::min(least, one);
        most = std::max(most, one);
      }
      // Scores of 0, of which each adds 1 to the sum that weights are divided by.
      if (seen == 0 || most - least > 64 * unit() * most) continue;
      ++rows_alike;
      const auto count = static_cast<double>(seen);
      // A sum of 1 is further off than that, in any dtype.
      const double off = std::min(64 * unit(), 0.25 / (count + 1));
      is_one_more = is_one_more && std::fabs(sum - count / (count + 1)) <= off;
    }
    is_one_more = is_one_more && rows_alike > 0;
    if (!is_inverted && !is_one_more) return true;
    found_.faults.emplace_back(is_inverted
                                   ? "the mask is inverted: a token sees itself and later ones, and none before it"
                                   : "weights do not add up to 1: softmax's sum has 1 added to it");
    found_.table.push_back(found_.faults.back().words);
    return false;
  }

  double weight(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return weights_[static_cast<std::size_t>((head * tokens_ + query) * tokens_ + key)];
  }

  // Both tokens at position 0, where nothing turns: the scores of products 1, and of 64 times as much, which a cap
  // holds down.
  void take_score() {
    const auto asked = [&](double product) {
      AttentionProbe::TwoTokens one{0, {}, {}};
      one.query.assign(static_cast<std::size_t>(claimed_.head_dim), 0);
      one.key = one.query;
      one.query[0] = one.key[0] = std::sqrt(product);
      return one;
    };
    const double root = 1 / std::sqrt(static_cast<double>(claimed_.head_dim));
    const double claimed = score_scale(claimed_);
    const auto* rope = carried<Rope>(claimed_);
    const double factor =
        rope != nullptr ? reference::RopeReference(*rope).attention_factor(reference::first_precision).upper() : 1;
    const double usual = claimed * factor * factor;
    // Scores of about 1/4 and 16, by the scale that is seen and not the claimed one: of larger ones the other key's
    // weight is 0.
    double small = 0.25 / usual;
    for (int tries = 0; tries < 8; ++tries) {
      const double score = probe_.scores({asked(small)}).front();
      if (score > 0.125 && score < 0.5) break;
      small = std::isfinite(score) && score > 0x1p-10 ? small * 0.25 / score
              : score > 0x1p-10                       ? small / 256
                                                      : small * 16;
    }
    const double large = 64 * small;
    const std::vector<double> scores = probe_.scores({asked(small), asked(large)});
    const double off = 16 * unit() / 0.25;
    score_.scale = scores[0] / small;
    if (std::fabs(scores[1] / large - score_.scale) > std::min(4 * off, 0.25) * score_.scale) {
      // c tanh(s / c): s is known well enough from the small one, and c by bisection.
      double low = std::fabs(scores[1]);
      double high = 1e6;
      for (int i = 0; i < 200; ++i) {
        const double middle = std::sqrt(low * high);
        const double scale = middle * std::atanh(scores[0] / middle) / small;
        (middle * std::tanh(scale * large / middle) < scores[1] ? low : high) = middle;
      }
      const Range caps{low * (1 - 4 * off), low * (1 + 4 * off)};
      score_.cap = claimed_.logit_softcap && caps.holds(*claimed_.logit_softcap) ? *claimed_.logit_softcap
                                                                                 : roundest_in(caps).value;
      score_.scale = *score_.cap * std::atanh(scores[0] / *score_.cap) / small;
      found_.seen.push_back(fmt::format("scores are held below {:.4g} by a softcap", *score_.cap));
    }
    // A score of 16 shows no cap of some times that, where values are of 16 bits.
    if (const auto cap = score_.cap ? std::nullopt : claimed_.logit_softcap; cap && *cap > 0) {
      const double capped = *cap * std::tanh(score_.scale * large / *cap);
      may_be_capped_ = std::fabs(scores[1] - capped) <= std::min(4 * off, 0.25) * capped;
    }
    attention_.logit_softcap = may_be_capped_ ? claimed_.logit_softcap : score_.cap;
    // The factor of queries and keys as claimed, left out, or applied twice; of another scale it is taken as claimed.
    const auto take = [&](double scale, double power) {
      const double seen = scale * std::pow(factor, 2 * power);
      if (std::fabs(score_.scale - seen) > off * seen) return false;
      score_.scale = seen;
      score_.factor = std::pow(factor, power);
      return true;
    };
    if (!take(claimed, 1) && !take(claimed, 0) && !take(claimed, 2)) {
      if (take(root, 1)) {
        attention_.softmax_scale.reset();
      } else {
        const double square = factor * factor;
        attention_.softmax_scale =
            roundest_in({score_.scale / square * (1 - off), score_.scale / square * (1 + off)}).value;
        take(*attention_.softmax_scale, 1);
      }
    }
    found_.seen.push_back(fmt::format("scores are products times {:.6g}", score_.scale));
  }

  // Which key head each query head reads: a spec says that they read them in groups.
  void take_groups() {
    if (claimed_.num_kv_heads < 2) return;
    const std::int64_t group = claimed_.num_heads / claimed_.num_kv_heads;
    const auto tell = [&](std::string_view what, const std::vector<std::int64_t>& heads) {
      for (std::int64_t head = 0; head < std::ssize(heads); ++head) {
        const std::int64_t read = heads[static_cast<std::size_t>(head)];
        if (read == head / group || read < 0) continue;
        found_.faults.push_back(fmt::format("query head {} reads the {} of key head {}, where the claim has {}", head,
                                            what, read, head / group));
        return;
      }
    };
    const std::vector<std::int64_t> keys = probe_.key_heads();
    const std::vector<std::int64_t> values = probe_.value_heads();
    if (keys == values) {
      tell("keys and values", keys);
    } else {
      tell("keys", keys);
      tell("values", values);
    }
  }

  void take_query_scale() {
    if (claimed_.query_scale) return;
    score_.of_query = seen_query_scale(probe_, claim_, claimed_);
    if (!score_.of_query) return;
    attention_.query_scale = score_.of_query;
    found_.seen.emplace_back("scores of queries and keys that stand together grow with their position");
  }

  // Of queries and keys of 0 the last query's weights: all alike, or falling by a slope with the distance.
  void take_position() {
    std::vector<double> slopes;
    const std::int64_t last = tokens_ - 1;
    const std::int64_t reach = attention_.window ? std::min(last, *attention_.window - 1) : last;
    bool is_sloped = reach > 0;
    bool is_flat = true;
    for (std::int64_t head = 0; head < claimed_.num_heads; ++head) {
      const double slope = std::log(weight(head, last, last) / weight(head, last, last - 1));
      slopes.push_back(slope);
      for (std::int64_t distance = 1; distance <= reach; ++distance) {
        const double fallen = std::log(weight(head, last, last) / weight(head, last, last - distance));
        const double off = 64 * unit() * (1 + std::fabs(fallen)) * static_cast<double>(distance);
        // A weight below the least number says nothing.
        if (std::isfinite(fallen))
          is_sloped = is_sloped && std::fabs(fallen - slope * static_cast<double>(distance)) <= off;
        is_flat = is_flat && std::fabs(fallen) <= off;
      }
    }
    if (is_flat) {
      take_rotation();
    } else if (is_sloped) {
      take_slopes(slopes);
    } else {
      keep_claimed("scores have a bias that is no slope of the distance");
    }
  }

  void take_slopes(const std::vector<double>& slopes) {
    found_.seen.push_back(fmt::format("scores fall with the distance, by {:.5g}", fmt::join(slopes, ", ")));
    std::vector<Alibi> tried;
    Alibi plain;
    if (const auto* alibi = carried<Alibi>(claimed_)) tried.push_back(plain = *alibi);
    plain.num_heads = claimed_.num_heads;
    plain.mask = attention_.causal ? plain.mask : Mask::symmetric;
    for (const AlibiSlopes recipe : {AlibiSlopes::released, AlibiSlopes::geometric}) {
      for (const std::int64_t most : {8, 16, 4}) {
        tried.push_back(plain);
        tried.back().slopes = recipe;
        tried.back().bias_max = most;
      }
    }
    for (const Alibi& one : tried) {
      reference::AlibiReference truth(one);
      bool is_it = true;
      for (std::size_t head = 0; head < slopes.size(); ++head) {
        const double slope = truth.slope(static_cast<std::int64_t>(head), reference::first_precision).upper();
        is_it = is_it && std::fabs(slopes[head] - slope) <= 128 * unit() * (1 + slope);
      }
      if (!is_it) continue;
      attention_.position = one;
      has_position_ = true;
      return;
    }
    found_.table.push_back(fmt::format("slopes of no known recipe: {:.6g}", fmt::join(slopes, ", ")));
    const auto* alibi = carried<Alibi>(claimed_);
    if (alibi == nullptr) return;
    reference::AlibiReference truth(*alibi);
    const auto are_claimed = [&](double sign, bool from_last) {
      for (std::int64_t head = 0; head < std::ssize(slopes); ++head) {
        const std::int64_t other = from_last ? std::ssize(slopes) - 1 - head : head;
        const double slope = truth.slope(other, reference::first_precision).upper();
        if (std::fabs(slopes[static_cast<std::size_t>(head)] - sign * slope) > 128 * unit() * (1 + slope)) return false;
      }
      return true;
    };
    if (are_claimed(1, true)) {
      found_.faults.emplace_back("slopes are dealt to heads in reverse: head 0 has the last one's");
      return;
    }
    if (are_claimed(-1, false)) {
      found_.faults.emplace_back("biases have the other sign: scores rise with the distance");
      return;
    }
    const double claimed = truth.slope(0, reference::first_precision).upper();
    found_.faults.push_back(
        fmt::format("slopes are of no known recipe: head 0's is {:.6g}, {:.6g} claimed", slopes.front(), claimed));
  }

  // Whether scores of two ordinary vectors differ with the position of one of them, the other's being 0.
  bool positions_enter(Role moved) {
    std::vector<AttentionProbe::TwoTokens> asked;
    for (const std::int64_t position : {0, 1, 7, 101, 1001}) {
      if (position >= claim_.max_position) continue;
      AttentionProbe::TwoTokens one{position, {}, {}};
      if (moved == Role::key) std::swap(one.position, one.key_position);
      for (std::int64_t c = 0; c < claimed_.head_dim; ++c) {
        one.query.push_back(std::cos(static_cast<double>(c)));
        one.key.push_back(std::cos(static_cast<double>(c) + 1));
      }
      asked.push_back(std::move(one));
    }
    std::vector<double> scores = probe_.scores(asked);
    for (std::size_t i = 0; i < scores.size() && score_.of_query; ++i)
      scores[i] /= query_scale_at(*score_.of_query, asked[i].position);
    return std::ranges::any_of(scores, [&](double score) {
      return !(std::fabs(score - scores.front()) <= 64 * unit() * (1 + std::fabs(scores.front())));
    });
  }

  void take_rotation() {
    // Scores grow or fall with positions that do not turn vectors alone.
    if (carried<Xpos>(claimed_) != nullptr || claimed_.query_scale) {
      keep_claimed("scores have no bias");
      return;
    }
    const bool queries_turn = positions_enter(Role::query);
    const bool keys_turn = positions_enter(Role::key);
    // Keys of two tokens are a call's first, from which positions may count, and scores of 16 bits show little:
    // attention_answers.cpp has told of one side that is not turned.
    if (queries_turn != keys_turn) {
      keep_claimed(keys_turn ? "scores differ little with the positions of queries"
                             : "scores differ little with the positions of keys that are a call's first");
      return;
    }
    if (!queries_turn) {
      // A rule that turns no pair is no position either.
      const auto* rope = carried<Rope>(claimed_);
      if (rope == nullptr || pairs(*rope) > 0) attention_.position.reset();
      has_position_ = true;
      found_.seen.emplace_back("positions do not enter");
      return;
    }
    Rope rope;
    rope.head_dim = rope.rotary_dim = claimed_.head_dim;
    if (const auto* claimed = carried<Rope>(claimed_)) rope = *claimed;
    Spec rope_claim = claim_;
    rope_claim.encoding = rope;
    CountedSession inner(std::make_unique<ByScores>(probe_, claimed_.head_dim, score_));
    Identification rotation = identify_rope(inner, rope_claim, rope, ValueErrors::absolute);
    for (const std::string& words : rotation.seen) found_.seen.push_back("rotation: " + words);
    if (!rotation.spec) {
      for (const Fault& fault : rotation.faults) found_.faults.emplace_back("rotation: " + fault.words, fault.stage);
      found_.table = std::move(rotation.table);
      if (found_.table.empty()) found_.table.emplace_back("queries and keys are turned by no known rule");
      return;
    }
    const Rope& named = *held<Rope>(*rotation.spec);
    rotation_ = rotation.confidence;
    // Scores of several digits less than values: what makes them is judged by attention's own answers.
    has_position_ = true;
    const bool is_still = pairs(named) == 0;
    if (is_still) {
      attention_.position.reset();
      found_.seen.emplace_back("positions do not enter");
    } else {
      attention_.position = named;
    }
  }

  // Of what no way is known to tell, the claim is all that can be tried.
  void keep_claimed(const std::string& why) {
    found_.seen.push_back(why);
    has_position_ = true;
    is_guess_ = true;
  }

  void judge() {
    if (!has_position_) return;
    Spec spec = claim_;
    spec.encoding = attention_;
    try {
      validate(spec);
    } catch (const SpecError& error) {
      found_.table.push_back(fmt::format("what was seen is no claim: {}", error.what()));
      return;
    }
    FittedAnswers fitted = fitted_answers(session_, spec);
    if (!fitted.hold && may_be_capped_) {
      attention_.logit_softcap.reset();
      spec.encoding = attention_;
      fitted = fitted_answers(session_, spec);
    }
    // What is not told is as claimed or it is not known; a laxer class that a few answers meet says neither.
    const bool is_refuted = is_guess_ && !(fitted.hold && fitted.spec.accuracy == claim_.accuracy);
    if (is_refuted && take_other_axes(spec)) return;
    if (is_refuted) {
      found_.table.emplace_back("the claim's own position does not explain the answers, and no other is tried");
      return;
    }
    found_.spec = fitted.spec;
    found_.of_bound = fitted.of_bound;
    if (!fitted.hold && found_.faults.empty()) found_.faults.push_back(misfit(fitted.where));
    // Of a few short calls.
    if (fitted.hold && found_.faults.empty() && to_json(fitted.spec) != to_json(claim_) &&
        !meet_ordinary_calls(session_, fitted.spec))
      found_.faults.push_back(misfit("some calls are answered otherwise"));
    // Rounded positions are not told from rounded angles.
    const bool is_coarse =
        fitted.spec.accuracy == AccuracyClass::float16_angle || fitted.spec.accuracy == AccuracyClass::bfloat16_angle;
    if (is_coarse) rotation_ = Confidence::medium;
    // A wider bound that admits the answers says of no step that it is rounded.
    if (fitted.hold && fitted.spec.evaluation != claim_.evaluation) {
      found_.seen.emplace_back(
          "answers are less exact than the claim's evaluation allows; which steps are rounded is "
          "not told");
      rotation_ = Confidence::medium;
    }
    found_.confidence = !found_.faults.empty()                          ? Confidence::low
                        : !is_guess_ && rotation_ != Confidence::medium ? Confidence::high
                                                                        : Confidence::medium;
  }

  // Of a position of several axes those that it is mistaken for; of a looked up bias none at all.
  bool take_other_axes(const Spec& spec) {
    std::vector<TriedClaim> list;
    if (const auto* axial = carried<RopeNd>(claimed_)) {
      for (TriedClaim& tried : other_axes(spec, *axial)) {
        Attention attention = attention_;
        attention.position = *held<RopeNd>(tried.spec);
        tried.spec.encoding = attention;
        list.push_back(std::move(tried));
      }
    }
    const AskedAnswers asked(session_, spec);
    const auto met = first_met(asked, spec, std::move(list));
    if (!met) {
      if (std::string words = other_places(asked, spec); !words.empty())
        found_.faults.emplace_back(std::move(words), DiagnosedStage::position);
      return false;
    }
    found_.spec = met->claim.spec;
    if (!met->claim.words.empty()) found_.convention.emplace_back(met->claim.words, met->claim.stage);
    found_.of_bound = met->of_bound;
    found_.confidence = Confidence::medium;
    return true;
  }

  CountedSession& session_;
  Spec claim_;
  Attention claimed_;
  Attention attention_;  // what has been told so far
  AttentionProbe probe_;
  std::int64_t tokens_ = 0;
  std::vector<double> weights_;
  Score score_;
  bool may_be_capped_ = false;
  Confidence rotation_ = Confidence::high;
  AttentionAnswers answers_;
  bool has_position_ = false;
  bool is_guess_ = false;
  Identification found_;
};

}  // namespace

Identification identify_attention(CountedSession& session, const Spec& claim, const Attention& encoding) {
  return AttentionIdentifier(session, claim, encoding).run();
}

}  // namespace sextant::identify
