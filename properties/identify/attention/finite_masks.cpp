#include "properties/identify/attention/finite_masks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/model/question.hpp"
#include "reference/alibi.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// Which of the two tokens is looked at: the first, from which the second is hidden, or the second, which sees both.
enum class Looking { first, second };

// Sequences of two tokens, in every head: the scores, before anything is added, that the looking query has with each
// key, by one channel; the key that is not its own stands `distance` before it.
struct ScoredPair {
  double own = 0;
  double other = 0;
  std::int64_t distance = 0;
  std::int64_t first = 0;  // the first token's position
};

// Of each sequence and head: log of the other key's weight by that of the query's own; nothing where the other has
// none, infinity where it has all.
class PairedScores {
 public:
  PairedScores(Session& session, const Spec& claim, Looking looking)
      : session_(session), claim_(claim), claimed_(*held<Attention>(claim)), looking_(looking) {}

  std::vector<std::vector<double>> logs(const std::vector<std::vector<ScoredPair>>& sequences) const {
    const std::int64_t count = std::ssize(sequences);
    const std::int64_t width = claimed_.head_dim;
    const std::int64_t heads = claimed_.num_heads;
    Tensor q = Tensor::zeros(claim_.dtype, {count, heads, 2, width});
    Tensor k = Tensor::zeros(claim_.dtype, {count, claimed_.num_kv_heads, 2, width});
    Tensor v = k;
    const std::int64_t own = looking_ == Looking::first ? 0 : 1;
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::vector<ScoredPair>& of_heads = sequences[index(i)];
      // Keys are of a group, so that their sizes are those of the first pair, and queries make up for it.
      const ScoredPair& first = of_heads.front();
      const double most = std::max(std::fabs(first.own), std::fabs(first.other));
      for (std::int64_t head = 0; head < claimed_.num_kv_heads; ++head) {
        const std::int64_t row = (i * claimed_.num_kv_heads + head) * 2;
        k.set((row + own) * width, key_of(first.own, most));
        k.set((row + 1 - own) * width, key_of(first.other, most));
        v.set(row * width, 1);
        v.set((row + 1) * width + 1, 1);
      }
      for (std::int64_t head = 0; head < heads; ++head) {
        const ScoredPair& pair = of_heads[of_heads.size() > 1 ? index(head) : 0];
        const double times = first.other != 0 ? pair.other / first.other : 1;
        q.set(((i * heads + head) * 2 + own) * width, query_of(most) * times);
      }
      positions.insert(positions.end(), {first.first, first.first + first.distance});
    }
    const Tensor out = attend(session_, claim_, AttendRequest{.q = q, .k = k, .v = v, .positions = positions});
    std::vector<std::vector<double>> found;
    for (std::int64_t i = 0; i < count; ++i) {
      found.emplace_back();
      for (std::int64_t head = 0; head < heads; ++head) {
        const std::int64_t row = ((i * heads + head) * 2 + own) * width;
        found.back().push_back(std::log(out.at(row + 1 - own)) - std::log(out.at(row + own)));
      }
    }
    return found;
  }

 private:
  // Of a product as large as `most`: about the root of what it is before it is scaled.
  double query_of(double most) const {
    return std::exp2(std::round(std::log2(std::max(std::fabs(most), 1.0) / score_scale(claimed_)) / 2));
  }
  double key_of(double score, double most) const {
    return round_to(claim_.dtype, score / score_scale(claimed_) / query_of(most));
  }

  Session& session_;
  const Spec& claim_;
  const Attention& claimed_;
  Looking looking_;
};

bool has_plain_scores(const Attention& claimed) {
  return !claimed.sinks && !claimed.logit_softcap && !claimed.query_scale && claimed.head_dim >= 2;
}

// The greatest size of scores that no step overflows in.
double greatest_score(const Spec& claim) {
  return claim.dtype == Dtype::float16 ? 0x1p15 : claim.dtype == Dtype::float64 ? 0x1p200 : 0x1p100;
}

class FiniteMask {
 public:
  FiniteMask(Session& session, const Spec& claim) : claim_(claim), scores_(session, claim, Looking::first) {}

  std::string words() const {
    const auto border = first_seen();
    if (!border) return {};
    const Range range = narrowed(*border);
    const double mask = roundest_in(range).value;
    // Of a masked product as far up, or down, as half of the mask: scores between tell whether it is there.
    const double half = mask / 2;
    const bool is_above = is_seen({-1.5 * half, half});
    const bool is_below = is_seen({-2.5 * half, -half});
    if (!is_above && is_below)
      return fmt::format(
          "masked scores are -{:.7g}, not minus infinity: where a query's own are lower, masked keys have weights",
          mask);
    if (is_above && !is_below)
      return fmt::format(
          "masks add -{:.7g} to scores, not minus infinity: masked keys have weights beside scores as far below theirs",
          mask);
    return {};
  }

 private:
  bool is_seen(const ScoredPair& pair) const {
    const double log = scores_.logs({{pair}}).front().front();
    return log > 0;
  }

  // Sizes of the own score, a power of 2 and the one before, between which the masked key begins to have the greater
  // weight; nothing where it never has, or where it has already of usual scores, which is no mask at all.
  std::optional<Range> first_seen() const {
    std::vector<std::vector<ScoredPair>> asked;
    std::vector<double> sizes;
    for (double size = 64; size <= greatest_score(claim_); size *= 2) {
      sizes.push_back(size);
      asked.push_back({{-size, 0}});
    }
    const auto logs = scores_.logs(asked);
    for (std::size_t i = 0; i < logs.size(); ++i) {
      if (!(logs[i].front() > 0)) continue;
      if (i == 0) return std::nullopt;
      return Range{sizes[i - 1], sizes[i]};
    }
    return std::nullopt;
  }

  Range narrowed(Range range) const {
    constexpr int parts = 64;
    constexpr int most_rounds = 12;
    for (int round = 0; round < most_rounds && range.high - range.low > least_width(range.high); ++round) {
      std::vector<std::vector<ScoredPair>> asked;
      std::vector<double> sizes;
      for (int i = 0; i <= parts; ++i) {
        const double size = range.low + (range.high - range.low) * i / parts;
        sizes.push_back(size);
        asked.push_back({{-size, 0}});
      }
      const auto logs = scores_.logs(asked);
      std::size_t seen = 0;
      while (seen < logs.size() && !(logs[seen].front() > 0)) ++seen;
      if (seen == logs.size()) return range;
      const Range next{seen == 0 ? range.low : sizes[seen - 1], sizes[seen]};
      if (!(next.high - next.low < range.high - range.low)) break;
      range = next;
    }
    const double room = least_width(range.high);
    return {range.low - room, range.high + room};
  }

  // Some units in the last place of the scores that an operation keeps.
  double least_width(double size) const { return std::max(4 * ulp(claim_.dtype, size), 0x1p-4); }

  const Spec& claim_;
  PairedScores scores_;
};

class FarBiases {
 public:
  FarBiases(Session& session, const Spec& claim)
      : claim_(claim), heads_(held<Attention>(claim)->num_heads), scores_(session, claim, Looking::second) {
    reference::AlibiReference truth(*carried<Alibi>(*held<Attention>(claim)));
    for (std::int64_t head = 0; head < heads_; ++head)
      slopes_.push_back(truth.slope(head, reference::first_precision).upper());
  }

  std::string words() const {
    std::vector<std::int64_t> distances;
    for (std::int64_t distance = 1; distance < last(); distance *= 2) distances.push_back(distance);
    distances.push_back(last());
    const auto wrong = wrong_at(distances);
    std::vector<std::int64_t> heads;
    std::optional<std::int64_t> border;
    for (std::int64_t head = 0; head < heads_; ++head) {
      std::size_t first = 0;
      while (first < distances.size() && !wrong[first][index(head)]) ++first;
      if (first == distances.size()) continue;
      for (std::size_t i = first; i < distances.size(); ++i) {
        if (!wrong[i][index(head)]) return {};
      }
      if (first == 0) return {};
      const std::int64_t right = last_right(head, distances[first - 1], distances[first]);
      if (border && *border != right) return {};
      border = right;
      heads.push_back(head);
    }
    if (!border || is_by_position(*border)) return {};
    return fmt::format("{}biases of keys more than {} before the query {}",
                       std::ssize(heads) == heads_
                           ? std::string()
                           : fmt::format("in {} {} ", heads.size() == 1 ? "head" : "heads", fmt::join(heads, ", ")),
                       *border, values(heads, *border));
  }

 private:
  std::int64_t last() const { return claim_.max_position - 1; }

  // Each head's score where the product is `times` what makes up for the bias.
  std::vector<std::vector<double>> asked(const std::vector<std::int64_t>& distances, double times,
                                         std::int64_t first = 0) const {
    std::vector<std::vector<ScoredPair>> list;
    for (const std::int64_t distance : distances) {
      list.emplace_back();
      for (const double slope : slopes_)
        list.back().push_back({0, times * slope * static_cast<double>(distance), distance, first});
    }
    return scores_.logs(list);
  }

  // What is lost where a product and a bias of that size are rounded and added.
  double lost(double size) const { return 16 * std::ldexp(1, -format_of(claim_.dtype).precision) * (1 + size); }

  std::vector<std::vector<bool>> wrong_at(const std::vector<std::int64_t>& distances, std::int64_t first = 0) const {
    const auto scores = asked(distances, 1, first);
    std::vector<std::vector<bool>> wrong;
    for (std::size_t i = 0; i < distances.size(); ++i) {
      wrong.emplace_back();
      for (std::size_t head = 0; head < slopes_.size(); ++head)
        wrong.back().push_back(
            !(std::fabs(scores[i][head]) <= lost(slopes_[head] * static_cast<double>(distances[i]))));
    }
    return wrong;
  }

  // Of keys at position 0 distances are queries' positions: near keys of a query beyond the border are to be right.
  bool is_by_position(std::int64_t border) const {
    const std::vector<std::int64_t> near{1, std::max<std::int64_t>(std::min(border, last() - border - 1), 1)};
    const std::int64_t first = std::min(border + 1, last() - near.back());
    for (const std::vector<bool>& of_heads : wrong_at(near, first)) {
      if (std::ranges::find(of_heads, true) != of_heads.end()) return true;
    }
    return false;
  }

  std::int64_t last_right(std::int64_t head, std::int64_t right, std::int64_t wrong) const {
    while (wrong - right > 1) {
      constexpr std::int64_t parts = 32;
      std::vector<std::int64_t> distances;
      for (std::int64_t i = 1; i < parts; ++i) {
        const std::int64_t distance = right + (wrong - right) * i / parts;
        if (distance > right && (distances.empty() || distance > distances.back())) distances.push_back(distance);
      }
      const auto found = wrong_at(distances);
      for (std::size_t i = 0; i < distances.size(); ++i) {
        if (found[i][index(head)]) {
          wrong = distances[i];
          break;
        }
        right = distances[i];
      }
    }
    return right;
  }

  std::string values(const std::vector<std::int64_t>& heads, std::int64_t border) const {
    const std::vector<std::int64_t> distances{border + (last() - border) / 3, last()};
    struct Of {
      std::string words;
      double (*times)(double distance, double border);
    };
    const Of list[] = {
        {"are doubled", [](double, double) { return 2.0; }},
        {"are halved", [](double, double) { return 0.5; }},
        {"are left out", [](double, double) { return 0.0; }},
        {fmt::format("are those of {}", border), [](double distance, double of) { return of / distance; }},
        {"count from there", [](double distance, double of) { return (distance - of) / distance; }},
    };
    for (const Of& one : list) {
      bool all = true;
      for (const std::int64_t distance : distances) {
        const double times = one.times(static_cast<double>(distance), static_cast<double>(border));
        // Products of 0 and the least bias would show nothing else.
        const auto scores = asked({distance}, times == 0 ? 0x1p-20 : times);
        for (const std::int64_t head : heads) {
          const double size = slopes_[index(head)] * static_cast<double>(distance);
          all = all && std::fabs(scores.front()[index(head)]) <= lost(size) + (times == 0 ? 0x1p-20 * size : 0);
        }
      }
      if (all) return one.words;
    }
    return "are wrong";
  }

  const Spec& claim_;
  std::int64_t heads_;
  PairedScores scores_;
  std::vector<double> slopes_;
};

}  // namespace

std::string finite_mask_words(Session& session, const Spec& claim) {
  const auto& claimed = *held<Attention>(claim);
  // At position 0 and beside it nothing is turned or scaled, and ALiBi adds nothing.
  const bool is_still = !claimed.position || carried<Rope>(claimed) != nullptr || carried<Alibi>(claimed) != nullptr;
  if (!claimed.causal || !is_still || !has_plain_scores(claimed) || claim.min_position > 0) return {};
  return FiniteMask(session, claim).words();
}

std::string far_bias_words(Session& session, const Spec& claim) {
  const auto& claimed = *held<Attention>(claim);
  const auto* alibi = carried<Alibi>(claimed);
  if (alibi == nullptr || alibi->form != AlibiForm::distance || !has_plain_scores(claimed) || claimed.window ||
      is_16_bit(claim.dtype) || claim.min_position > 0 || claim.max_position < 4)
    return {};
  return FarBiases(session, claim).words();
}

}  // namespace sextant::identify
