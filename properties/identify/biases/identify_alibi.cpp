#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "lib/numeric/index.hpp"
#include "properties/identify/biases/bias_places.hpp"
#include "properties/identify/biases/identify_bias.hpp"
#include "properties/identify/biases/other_slopes.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "reference/alibi.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// The query that is asked about, and keys on both sides of it.
constexpr std::int64_t asked_query = 64;
constexpr std::int64_t asked_keys = 129;

class AlibiIdentifier {
 public:
  AlibiIdentifier(CountedSession& session, const Spec& claim, const Alibi& alibi)
      : session_(session), claim_(claim), claimed_(alibi), alibi_(alibi) {}

  Identification run() {
    const std::int64_t count = std::min<std::int64_t>(asked_keys, claim_.max_position);
    query_ = std::min(asked_query, count - 1);
    std::vector<std::int64_t> key_positions(static_cast<std::size_t>(count));
    std::iota(key_positions.begin(), key_positions.end(), 0);
    answer_ = bias(session_, claim_, std::vector{query_}, key_positions);
    keys_ = count;
    if (query_ < 4) {
      found_.table.emplace_back("too few positions are asked for to tell slopes");
    } else if (!find_form() && !take_rounded()) {
      found_.table.emplace_back("no head's biases are a slope times the distance, or the key's position");
      tell_heads();
    } else if (found_.faults.empty()) {
      name_slopes();
    }
    take_wrong_places(session_, claim_, found_);
    found_.calls = session_.calls();
    return std::move(found_);
  }

 private:
  double value(std::int64_t head, std::int64_t key) const { return answer_.at(head * keys_ + key); }
  double roundoff() const { return std::ldexp(1, -format_of(claim_.dtype).precision); }

  // Whether the biases of all keys up to the query are `slope` times what the form says.
  bool has_form(std::int64_t head, AlibiForm form, double slope) const {
    for (std::int64_t key = 0; key <= query_; ++key) {
      const double expected = slope * static_cast<double>(form == AlibiForm::distance ? key - query_ : key);
      if (!(std::fabs(value(head, key) - expected) <= 4 * roundoff() * std::fabs(expected))) return false;
    }
    return true;
  }

  bool find_form() {
    for (const AlibiForm form : {AlibiForm::distance, AlibiForm::key_index}) {
      slopes_.clear();
      bool all = true;
      for (std::int64_t head = 0; head < alibi_.num_heads && all; ++head) {
        const double slope = form == AlibiForm::distance ? -value(head, 0) / static_cast<double>(query_)
                                                         : value(head, query_) / static_cast<double>(query_);
        slopes_.push_back(slope);
        all = has_form(head, form, slope);
      }
      if (!all) continue;
      alibi_.form = form;
      found_.seen.emplace_back(form == AlibiForm::distance ? "biases are -slope (query - key)"
                                                           : "biases are slope times the key's position");
      found_.seen.push_back(fmt::format("slopes {:.6g}", fmt::join(slopes_, ", ")));
      take_mask();
      return true;
    }
    return false;
  }

  // Numbers of a 16-bit format that the claim has not, each what its own bias is rounded to.
  bool take_rounded() {
    reference::AlibiReference truth(claimed_);
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
      if (format_of(dtype).precision >= format_of(claim_.dtype).precision) continue;
      bool is_it = true;
      for (std::int64_t head = 0; head < claimed_.num_heads && is_it; ++head) {
        const double slope = truth.slope(head, reference::first_precision).upper();
        for (std::int64_t key = 0; key <= query_ && is_it; ++key) {
          const double exact = slope * static_cast<double>(claimed_.form == AlibiForm::distance ? key - query_ : key);
          // A product of float32 may lie on the other side of a border.
          is_it = value(head, key) == round_to(dtype, exact * (1 - 0x1p-22)) ||
                  value(head, key) == round_to(dtype, exact * (1 + 0x1p-22));
        }
      }
      if (!is_it) continue;
      found_.faults.emplace_back(fmt::format("biases are rounded to {}", sextant::name_of(dtype)),
                                 DiagnosedStage::rounding);
      return true;
    }
    return false;
  }

  // What keys after the query have that are neither hidden nor given -slope (query - key), as those before it are.
  std::string later_keys_words() const {
    const auto all_are = [&](double times) {
      for (std::int64_t head = 0; head < alibi_.num_heads; ++head) {
        for (std::int64_t key = query_ + 1; key < keys_; ++key) {
          const double expected = times * slopes_[index(head)] * static_cast<double>(key - query_);
          if (!(std::fabs(value(head, key) - expected) <= 8 * roundoff() * std::fabs(expected))) return false;
        }
      }
      return true;
    };
    // Far below every bias.
    constexpr double hidden = -1e4;
    bool are_hidden = true;
    for (std::int64_t head = 0; head < alibi_.num_heads; ++head) {
      for (std::int64_t key = query_ + 1; key < keys_; ++key) are_hidden = are_hidden && value(head, key) <= hidden;
    }
    if (are_hidden || all_are(1)) return {};
    if (all_are(0)) return "keys after the query have no bias";
    if (std::string words = later_keys_of_heads(); !words.empty()) return words;
    const double times = -value(0, keys_ - 1) / (slopes_.front() * static_cast<double>(keys_ - 1 - query_));
    if (!all_are(-times)) return "keys after the query have other biases than those before it at the same distance";
    return fmt::format("keys after the query have {:.6g} times the bias of those before it", times);
  }

  bool are_later_keys_right_of_more_queries() {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(query_, 12); ++i) positions.push_back(i);
    const std::int64_t count = std::ssize(positions);
    const Tensor answer = bias(session_, claim_, positions, positions);
    for (std::int64_t i = 0; i < answer.elements(); ++i) {
      const std::int64_t later = i % count - i / count % count;
      const double expected = -slopes_[index(i / count / count)] * static_cast<double>(later);
      if (later > 0 && !(std::fabs(answer.at(i) - expected) <= 8 * roundoff() * std::fabs(expected))) return false;
    }
    return true;
  }

  // Where some heads are right and all others have one multiple of it.
  std::string later_keys_of_heads() const {
    std::vector<std::int64_t> heads;
    std::optional<double> times;
    for (std::int64_t head = 0; head < alibi_.num_heads; ++head) {
      const auto right = [&](std::int64_t key) { return -slopes_[index(head)] * static_cast<double>(key - query_); };
      const double own = value(head, keys_ - 1) / right(keys_ - 1);
      const auto is_near = [&](double a, double b) { return std::fabs(a - b) <= 8 * roundoff() * std::fabs(b); };
      for (std::int64_t key = query_ + 1; key < keys_; ++key) {
        if (!is_near(value(head, key), own * right(key))) return {};
      }
      if (is_near(own, 1)) continue;
      if (times && !is_near(own, *times)) return {};
      times = own;
      heads.push_back(head);
    }
    if (!times || std::ssize(heads) == alibi_.num_heads) return {};
    const std::string whose =
        fmt::format(", in {} {} alone", heads.size() == 1 ? "head" : "heads", fmt::join(heads, ", "));
    return *times == 0
               ? "keys after the query have no bias" + whose
               : fmt::format("keys after the query have {:.6g} times the bias of those before it{}", *times, whose);
  }

  // Keys after the query mirror those before it, or no causal attention sees what they have.
  void take_mask() {
    std::int64_t alike = 0;
    std::int64_t later = 0;
    for (std::int64_t head = 0; head < alibi_.num_heads; ++head) {
      for (std::int64_t key = query_ + 1; key < keys_; ++key, ++later)
        alike += 2 * query_ - key >= 0 && value(head, key) == value(head, 2 * query_ - key) ? 1 : 0;
    }
    // A few keys that differ are no mask.
    const bool mirrored = alibi_.form == AlibiForm::distance && 2 * alike > later;
    alibi_.mask = mirrored ? Mask::symmetric : Mask::causal;
    if (!mirrored && claimed_.mask == Mask::symmetric && alibi_.form == AlibiForm::distance) {
      // A causal claim judges no later key, and would hide what these have.
      if (std::string words = later_keys_words(); !words.empty()) {
        alibi_.mask = Mask::symmetric;
        // What is right in a call of several queries is told with its calls.
        if (!are_later_keys_right_of_more_queries()) found_.faults.emplace_back(std::move(words));
      }
    }
    found_.seen.emplace_back(mirrored ? "keys after the query have the bias of those before it"
                                      : "keys after the query do not have the bias of those before it");
  }

  bool has_slopes(const Alibi& tried) const {
    reference::AlibiReference truth(tried);
    for (std::int64_t head = 0; head < tried.num_heads; ++head) {
      const double slope = truth.slope(head, reference::first_precision).upper();
      const double seen = slopes_[static_cast<std::size_t>(head)];
      if (!(std::fabs(seen - slope) <= 4 * roundoff() * slope)) return false;
    }
    return true;
  }

  std::vector<Alibi> recipes() const {
    std::vector<Alibi> list{alibi_};
    std::vector<std::int64_t> maxima{8, 16, 4};
    for (std::int64_t most = 1; most <= 24; ++most) maxima.push_back(most);
    for (const std::optional<Dtype> dtype : {std::optional<Dtype>(), std::optional(Dtype::bfloat16),
                                             std::optional(Dtype::float16), std::optional(Dtype::float32)}) {
      for (const std::int64_t most : maxima) {
        for (const AlibiSlopes slopes : {AlibiSlopes::released, AlibiSlopes::geometric}) {
          Alibi& tried = list.emplace_back(alibi_);
          tried.slopes = slopes;
          tried.bias_max = most;
          tried.slope_dtype = dtype;
        }
      }
    }
    return list;
  }

  void name_slopes() {
    for (const Alibi& tried : recipes()) {
      Spec spec = claim_;
      spec.encoding = tried;
      try {
        validate(spec);
      } catch (const SpecError&) {
        continue;
      }
      if (!has_slopes(tried)) continue;
      FittedAnswers fitted = fitted_answers(session_, spec);
      if (found_.spec && !fitted.hold) continue;
      found_.spec = fitted.spec;
      found_.of_bound = fitted.of_bound;
      found_.confidence = fitted.hold ? Confidence::high : Confidence::low;
      where_ = fitted.where;
      if (fitted.hold) break;
    }
    if (!found_.spec) compare_slopes();
    if (!found_.spec) tell_heads();
    if (found_.spec) take_distances();
    if (!found_.faults.empty()) found_.confidence = Confidence::low;
  }

  // What distances count as where slopes are told and values are off: in one call of several queries, and up to the
  // greatest distance that a call of one query has room for.
  void take_distances() {
    const auto slope = std::ranges::max(slopes_);
    const auto head = std::ranges::find(slopes_, slope) - slopes_.begin();
    const auto is_near = [&](double a, double b) { return std::fabs(a - b) <= 8 * roundoff() * std::fabs(b); };
    // Small positions: one more is then further off than any dtype rounds.
    const std::int64_t at = std::min<std::int64_t>(4, query_ - 1);
    const Tensor two = bias(session_, claim_, std::vector{at, at + 1}, std::vector{at - 1, at});
    const double first = two.at(4 * head) / slope;
    const double second = two.at(4 * head + 2) / slope;
    const auto key = static_cast<double>(at - 1);
    if (alibi_.form == AlibiForm::key_index && is_near(first, key) && is_near(second, key - 1)) {
      found_.spec.reset();
      found_.faults.emplace_back("distances are counted from a call's first query, whatever its position",
                                 DiagnosedStage::position);
      return;
    }
    if (alibi_.form == AlibiForm::key_index && are_of_indices(head)) {
      found_.spec.reset();
      found_.faults.emplace_back("distances are those of indices in the call, not of positions",
                                 DiagnosedStage::position);
      return;
    }
    constexpr std::int64_t most = 8192;
    const std::int64_t far = std::min(most, claim_.max_position - 1);
    std::vector<std::int64_t> all(static_cast<std::size_t>(far + 1));
    std::iota(all.begin(), all.end(), 0);
    const Tensor answer = bias(session_, claim_, std::vector{far}, all);
    std::vector<double> counted;
    for (std::int64_t distance = 0; distance <= far; ++distance)
      counted.push_back(-answer.at(head * (far + 1) + far - distance) / slope);
    const bool is_told = alibi_.form == AlibiForm::distance && take_counted(counted);
    // Few distances were held against the slopes.
    if (!is_told && found_.confidence == Confidence::low) found_.faults.push_back(misfit(where_));
  }

  // Whether a head's biases are -slope (i - j) of query number i and key number j, up to the query; of positions with
  // gaps, in two calls.
  bool are_of_indices(std::int64_t head) {
    if (claim_.max_position < 16) return false;
    struct Call {
      std::vector<std::int64_t> queries;
      std::vector<std::int64_t> keys;
    };
    for (const Call& call : {Call{{7, 9, 12, 15}, {2, 5, 11, 12}}, Call{{3, 11, 12}, {1, 2, 10}}}) {
      const std::int64_t keys = std::ssize(call.keys);
      const std::int64_t queries = std::ssize(call.queries);
      const Tensor answer = bias(session_, claim_, call.queries, call.keys);
      for (std::int64_t query = 0; query < queries; ++query) {
        for (std::int64_t key = 0; key <= std::min(query, keys - 1); ++key) {
          const double expected = -slopes_[index(head)] * static_cast<double>(query - key);
          const double got = answer.at((head * queries + query) * keys + key);
          if (!(std::fabs(got - expected) <= 8 * roundoff() * std::fabs(expected))) return false;
        }
      }
    }
    return true;
  }

  // The distances that are taken for the true ones 0, 1, 2, ...
  bool take_counted(const std::vector<double>& counted) {
    const auto is_near = [&](double a, double b) { return std::fabs(a - b) <= 8 * roundoff() * std::fabs(b); };
    const auto all_are = [&](auto taken_for) {
      for (std::size_t distance = 0; distance < counted.size(); ++distance) {
        if (!is_near(counted[distance], taken_for(static_cast<double>(distance)))) return false;
      }
      return true;
    };
    std::size_t right = 0;
    while (right < counted.size() && is_near(counted[right], static_cast<double>(right))) ++right;
    if (right == counted.size() || right < 2) return false;
    const auto end = static_cast<double>(right);
    if (all_are([&](double distance) { return std::min(distance, end - 1); })) {
      found_.faults.emplace_back(fmt::format("distances above {} count as that", right - 1), DiagnosedStage::position);
      return true;
    }
    if (all_are([&](double distance) { return std::fmod(distance, end); })) {
      found_.faults.emplace_back(fmt::format("distances wrap at {}", right), DiagnosedStage::position);
      return true;
    }
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
      // Values that are themselves of the format tell nothing of the distances.
      if (dtype == claim_.dtype || !all_are([&](double distance) { return round_to(dtype, distance); })) continue;
      found_.faults.emplace_back(
          fmt::format("distances are rounded to {}: right up to {}", sextant::name_of(dtype), right - 1),
          DiagnosedStage::position);
      return true;
    }
    return false;
  }

  // How slopes of no known recipe differ from the claimed ones.
  void compare_slopes() {
    reference::AlibiReference truth(claimed_);
    std::vector<double> claimed;
    for (std::int64_t head = 0; head < claimed_.num_heads; ++head)
      claimed.push_back(truth.slope(head, reference::first_precision).upper());
    const std::vector<double> claimed_slopes = claimed;
    const auto is_near = [&](double a, double b) { return std::fabs(a - b) <= 4 * roundoff() * std::fabs(b); };
    if (std::ranges::all_of(slopes_, [](double slope) { return slope == 0; })) {
      found_.faults.emplace_back("no key has a bias in a call of one query");
      return;
    }
    const double ratio = slopes_.front() / claimed.front();
    std::vector<double> scaled = claimed;
    for (double& slope : scaled) slope *= ratio;
    if (std::ranges::equal(slopes_, scaled, is_near)) {
      found_.faults.push_back(is_near(ratio, -1) ? std::string("the sign of the bias is reversed: it rewards distance")
                                                 : fmt::format("every slope is {:.6g} times the one asked for", ratio));
      return;
    }
    std::vector<double> sorted = slopes_;
    std::ranges::sort(sorted);
    std::ranges::sort(claimed);
    if (std::ranges::equal(sorted, claimed, is_near)) {
      std::vector<double> order = slopes_;
      const bool do_rise = order == sorted;
      std::ranges::reverse(order);
      const char* which = do_rise           ? "in rising order, the least first"
                          : order == sorted ? "in falling order, the greatest first"
                                            : "in another order of heads";
      found_.faults.emplace_back(fmt::format("the slopes are those asked for {}", which));
      return;
    }
    const auto other = other_slopes(claimed_, claimed_slopes, [&](const std::vector<double>& tried) {
      return std::ranges::equal(slopes_, tried, is_near);
    });
    found_.faults.push_back(other.empty() ? slopes_text(claimed_slopes) : other);
  }

  // How many slopes are not the claimed ones, and the first of them.
  std::string slopes_text(const std::vector<double>& claimed) const {
    std::size_t first = slopes_.size();
    std::size_t count = 0;
    for (std::size_t head = slopes_.size(); head-- > 0;) {
      if (std::fabs(slopes_[head] - claimed[head]) <= 4 * roundoff() * claimed[head]) continue;
      first = head;
      ++count;
    }
    if (std::string powers = powers_text(claimed); count > 1 && !powers.empty()) return powers;
    return fmt::format("{} of {} slopes are not those asked for: head {}'s is {:.6g}, not {:.6g}", count,
                       slopes_.size(), first, slopes_[first], claimed[first]);
  }

  // Wrong slopes as the powers of two that slopes are: "heads 8 to 9 have slopes 2^-4.5, 2^-5, where ...".
  std::string powers_text(const std::vector<double>& claimed) const {
    constexpr std::size_t most = 8;
    std::vector<std::size_t> heads;
    std::vector<std::string> seen;
    std::vector<std::string> own;
    const auto power = [](double slope) -> std::optional<std::string> {
      constexpr double parts = 64;
      const double exponent = std::log2(slope);
      const double rounded = std::round(exponent * parts) / parts;
      if (!(std::fabs(exponent - rounded) < 0x1p-18)) return std::nullopt;
      return fmt::format("2^{:g}", rounded);
    };
    for (std::size_t head = 0; head < slopes_.size(); ++head) {
      if (std::fabs(slopes_[head] - claimed[head]) <= 4 * roundoff() * claimed[head]) continue;
      const auto there = power(slopes_[head]);
      const auto claimed_there = power(claimed[head]);
      if (!there || !claimed_there) return {};
      heads.push_back(head);
      seen.push_back(*there);
      own.push_back(*claimed_there);
    }
    if (heads.size() > most) return {};
    return fmt::format("heads {} have the slopes {}, where the claim has {}", fmt::join(heads, ", "),
                       fmt::join(seen, ", "), fmt::join(own, ", "));
  }

  void tell_heads() {
    for (std::int64_t head = 0; head < alibi_.num_heads; ++head) {
      found_.table.push_back(
          fmt::format("head {:>3}: keys 0, 1, 2 and the query {} have {:.6g}, {:.6g}, {:.6g}, {:.6g}", head, query_,
                      value(head, 0), value(head, 1), value(head, 2), value(head, query_)));
    }
  }

  CountedSession& session_;
  Spec claim_;
  Alibi claimed_;
  Alibi alibi_;  // what has been told so far
  std::int64_t query_ = 0;
  std::int64_t keys_ = 0;
  Tensor answer_;
  std::vector<double> slopes_;
  std::string where_;  // values are off from the slopes that were told
  Identification found_;
};

}  // namespace

Identification identify_alibi(CountedSession& session, const Spec& claim, const Alibi& alibi) {
  return AlibiIdentifier(session, claim, alibi).run();
}

}  // namespace sextant::identify
