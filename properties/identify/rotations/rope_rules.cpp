// Over 400 lines: one search, a function for each scaling rule, which share what is kept and how it is checked.

#include "properties/identify/rotations/rope_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include "reference/rope_scaling.hpp"

namespace sextant::identify {
namespace {

constexpr auto& known_bases = bases_in_use;
constexpr std::array known_lengths{512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576};

// Whether the parameters that are seen as quotients or products alone have the values of models in use, which tell them
// from the rest of their family: Llama 3's 1 and 4, the paper's 32 and 1 of YaRN, each with a power of two.
bool is_one_of_many(const RopeScaling& rule, double theta) {
  const auto is_power = [](std::int64_t length) { return std::has_single_bit(static_cast<std::uint64_t>(length)); };
  if (const auto* llama3 = std::get_if<Llama3Scaling>(&rule))
    return !(llama3->low_freq_factor == 1 && llama3->high_freq_factor == 4 &&
             is_power(llama3->original_max_position_embeddings));
  if (const auto* yarn = std::get_if<YarnScaling>(&rule))
    return !(yarn->beta_fast == 32 && yarn->beta_slow == 1 && is_power(yarn->original_max_position_embeddings));
  if (std::get_if<LongropeScaling>(&rule) != nullptr) return std::ranges::find(known_bases, theta) == known_bases.end();
  return false;
}

LongropeScaling with_factors_of(Dtype format, LongropeScaling rule) {
  for (auto* factors : {&rule.short_factor, &rule.long_factor}) {
    for (double& factor : *factors) factor = round_to(format, factor);
  }
  return rule;
}

// The lengths L under which a truncated ramp has the same ends: n ln(L / (2 pi beta)) / (2 ln theta) is between the
// same two pairs for both betas.
Range lengths_of_ramp(const YarnScaling& yarn, double theta, std::int64_t width) {
  const auto l = static_cast<double>(yarn.original_max_position_embeddings);
  const double pairs_a_log = static_cast<double>(width) / (2 * std::log(theta));
  const auto pair_of = [&](double beta) { return pairs_a_log * std::log(l / (2 * std::numbers::pi * beta)); };
  const auto length_of = [&](double pair, double beta) {
    return 2 * std::numbers::pi * beta * std::exp(pair / pairs_a_log);
  };
  Range lengths{1, HUGE_VAL};
  const double low = std::floor(pair_of(yarn.beta_fast));
  lengths = common(lengths,
                   {low < 0 ? 0 : length_of(low, yarn.beta_fast), length_of(std::max(low, 0.0) + 1, yarn.beta_fast)});
  const double high = std::ceil(pair_of(yarn.beta_slow));
  const double last = static_cast<double>(width - 1);
  return common(lengths, {length_of(std::min(high, last) - 1, yarn.beta_slow),
                          high > last ? HUGE_VAL : length_of(high, yarn.beta_slow)});
}

// The measured frequencies of one call against rules.
class Fitter {
 public:
  Fitter(const Rope& layout, const RopeSeen& seen, FrequencyFormat format)
      : layout_(layout),
        lists_(seen.lists),
        limit_(seen.switching_length),
        scope_(seen.scope),
        factor_(seen.lists.back().factor),
        format_(format),
        width_(rotary_width(layout)),
        claimed_(seen.claimed) {}

  std::vector<RuleFit> fits() {
    if (lists_.size() > 1) {
      fit_dynamic();
      fit_longrope();
    } else {
      fit_base();
      fit_bands();
    }
    prefer_claimed();
    if (!are_numbers_of(format_, turns(), 1)) fits_.clear();
    return std::move(fits_);
  }

 private:
  const std::vector<MeasuredTurn>& turns() const { return lists_.front().turns; }
  double exponent(std::size_t pair) const { return 2 * static_cast<double>(pair) / static_cast<double>(width_); }

  // Radians per position, of real ones too.
  Range around(const std::vector<MeasuredTurn>& turns, std::size_t pair) const {
    const double off = left_open(format_, pair, turns[pair]);
    const double step = layout_.positions.step;
    return {std::max(turns[pair].radians - off, 0.0) / step, (turns[pair].radians + off) / step};
  }

  // The bases b with scale * b^-x in each pair's range, over the first `count` pairs.
  Range bases(const std::vector<MeasuredTurn>& turns, std::size_t count, double scale) const {
    Range log_base{0, HUGE_VAL};
    for (std::size_t i = 1; i < count; ++i) {
      const Range w = around(turns, i);
      log_base = common(log_base, {-std::log(w.high / scale) / exponent(i), -std::log(w.low / scale) / exponent(i)});
    }
    return {std::exp(log_base.low), std::exp(log_base.high)};
  }

  // Others may be the same in what is seen, and nothing speaks for them. Whether its parameters are told from others is
  // known where they were found without it.
  void prefer_claimed() {
    const auto before = fits_.size();
    const auto prefer = [&](const RopeScaling& rule, double theta, int digits) {
      if (!keep(rule, theta, digits, false)) return;
      const auto same = std::ranges::find(fits_, kept_json_, &RuleFit::json);
      same->digits = std::min(same->digits, digits);
      if (fits_.size() > before && before == 0) same->remark = "parameters are taken from what it was asked under";
    };
    prefer(claimed_, layout_.rope_theta, 0);
    // A rule is no other one of its kind where there is none.
    const bool is_plain = std::ranges::any_of(fits_, [](const RuleFit& fit) {
      return std::get_if<DefaultScaling>(&fit.rope.rope_scaling) != nullptr ||
             std::get_if<LinearScaling>(&fit.rope.rope_scaling) != nullptr;
    });
    for (const RopeScaling& rule : claimed_but_for_a_switch()) prefer(rule, layout_.rope_theta, 1);
    if (!is_plain) {
      for (const RopeScaling& rule : claimed_but_for_a_number()) prefer(rule, layout_.rope_theta, 1);
      for (const double theta : other_bases()) prefer(claimed_, theta, 1);
    }
    std::ranges::stable_sort(fits_, {}, &RuleFit::digits);
  }

  // What is easily left out or exchanged of the claimed rule, each alone: other numbers would explain it too, two or
  // three of them at once, where the slowest or the fastest pairs are few.
  std::vector<RopeScaling> claimed_but_for_a_switch() const {
    std::vector<RopeScaling> list;
    if (const auto* yarn = std::get_if<YarnScaling>(&claimed_)) {
      const auto add = [&](const auto& change) {
        YarnScaling other = *yarn;
        change(other);
        list.emplace_back(other);
      };
      add([&](YarnScaling& other) {
        other.mscale.reset();
        other.mscale_all_dim.reset();
        other.attention_factor = seen_factor();
      });
      add([](YarnScaling& other) { other.truncate = other.truncate == Truncate::yes ? Truncate::no : Truncate::yes; });
    }
    if (const auto* longrope = std::get_if<LongropeScaling>(&claimed_)) {
      LongropeScaling other = *longrope;
      other.factor.reset();
      other.short_mscale.reset();
      other.long_mscale.reset();
      other.attention_factor = seen_factor();
      list.emplace_back(other);
      // As a model's weights are, of which such lists are taken for some.
      for (const Dtype narrow : {Dtype::bfloat16, Dtype::float16}) {
        list.emplace_back(with_factors_of(narrow, *longrope));
        list.emplace_back(with_factors_of(narrow, other));
      }
    }
    return list;
  }

  double seen_factor() const { return factor_.holds(1) ? 1 : roundest_in(factor_).value; }

  // The claimed rule with one number as it is seen, or as models have it, in place of its own.
  std::vector<RopeScaling> claimed_but_for_a_number() const {
    std::vector<RopeScaling> list;
    if (const auto* yarn = std::get_if<YarnScaling>(&claimed_)) {
      const auto add = [&](double YarnScaling::*field, double value) {
        list.emplace_back(*yarn);
        std::get<YarnScaling>(list.back()).*field = value;
      };
      if (const auto factor = factor_of_slowest()) add(&YarnScaling::factor, *factor);
      for (const double beta : {2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0}) add(&YarnScaling::beta_fast, beta);
      for (const double beta : {0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 8.0}) add(&YarnScaling::beta_slow, beta);
      for (const int length : known_lengths) {
        list.emplace_back(*yarn);
        std::get<YarnScaling>(list.back()).original_max_position_embeddings = length;
      }
    }
    if (const auto* llama3 = std::get_if<Llama3Scaling>(&claimed_)) add_llama3(list, *llama3);
    if (const auto* longrope = std::get_if<LongropeScaling>(&claimed_)) add_longrope(list, *longrope);
    if (const auto* dynamic = std::get_if<DynamicScaling>(&claimed_)) add_dynamic(list, *dynamic);
    return list;
  }

  // w_i over b^-x of a pair, b being the claim's.
  Range ratio_of(const std::vector<MeasuredTurn>& turns, std::size_t pair) const {
    const Range w = around(turns, pair);
    const double unscaled = std::pow(layout_.rope_theta, -exponent(pair));
    return {w.low / unscaled, w.high / unscaled};
  }

  std::optional<double> factor_of_slowest() const {
    const Range slow = ratio_of(turns(), turns().size() - 1);
    if (!(slow.low > 0 && slow.high < 1)) return std::nullopt;
    return roundest_in({1 / slow.high, 1 / slow.low}).value;
  }

  void add_llama3(std::vector<RopeScaling>& list, const Llama3Scaling& rule) const {
    const auto add = [&](const auto& change) {
      Llama3Scaling other = rule;
      change(other);
      list.emplace_back(other);
    };
    if (const auto factor = factor_of_slowest()) add([&](Llama3Scaling& other) { other.factor = *factor; });
    for (const int length : known_lengths)
      add([&](Llama3Scaling& other) { other.original_max_position_embeddings = length; });
    std::vector<Range> ratios;
    for (std::size_t i = 0; i < turns().size(); ++i) ratios.push_back(ratio_of(turns(), i));
    const std::vector<Blend> between = blends(rule.factor, ratios);
    if (between.size() < 2) return;
    const Ends ends = ends_of(between.front(), between.back(),
                              [&](std::size_t pair) { return std::pow(layout_.rope_theta, -exponent(pair)); });
    if (!(ends.zero.low > 0)) return;
    const double turn = static_cast<double>(rule.original_max_position_embeddings) / (2 * std::numbers::pi);
    add([&](Llama3Scaling& other) {
      other.low_freq_factor = roundest_in({ends.zero.low * turn, ends.zero.high * turn}).value;
    });
    add([&](Llama3Scaling& other) {
      other.high_freq_factor = roundest_in({ends.one.low * turn, ends.one.high * turn}).value;
    });
    const double to_length = 2 * std::numbers::pi * rule.low_freq_factor;
    if (const auto length = roundest_length_in({to_length / ends.zero.high, to_length / ends.zero.low}))
      add([&](Llama3Scaling& other) { other.original_max_position_embeddings = length->value; });
  }

  // One of the two lists, or the length at which the other one begins.
  void add_longrope(std::vector<RopeScaling>& list, const LongropeScaling& rule) const {
    if (lists_.size() < 2) return;
    const auto factors_in = [&](const FrequencyList& seen) {
      std::vector<double> factors;
      for (std::size_t i = 0; i < seen.turns.size(); ++i) {
        const Range ratio = ratio_of(seen.turns, i);
        factors.push_back(roundest_in({1 / ratio.high, 1 / std::max(ratio.low, 1e-300)}).value);
      }
      return factors;
    };
    LongropeScaling other = rule;
    other.short_factor = factors_in(lists_.front());
    list.emplace_back(other);
    other = rule;
    other.long_factor = factors_in(lists_.back());
    list.emplace_back(other);
    if (!limit_) return;
    other = rule;
    other.original_max_position_embeddings = *limit_;
    list.emplace_back(other);
  }

  void add_dynamic(std::vector<RopeScaling>& list, const DynamicScaling& rule) const {
    if (lists_.size() < 2 || width_ <= 2) return;
    DynamicScaling other = rule;
    if (limit_) {
      other.original_max_position_embeddings = *limit_;
      list.emplace_back(other);
    }
    other = rule;
    const FrequencyList& far = lists_.back();
    const Range stretched = bases(far.turns, far.turns.size(), 1);
    const double power = static_cast<double>(width_ - 2) / static_cast<double>(width_);
    const auto l = static_cast<double>(rule.original_max_position_embeddings);
    const double times = l / (static_cast<double>(far.length) - l);
    if (stretched.is_empty() || !(times > 0)) return;
    const auto factor_of_base = [&](double base) { return (std::pow(base / layout_.rope_theta, power) - 1) * times; };
    const Range factors{factor_of_base(stretched.low), factor_of_base(stretched.high)};
    if (!(factors.low > 0)) return;
    other.factor = roundest_in(factors).value;
    list.emplace_back(other);
  }

  // Bases that the fastest pairs have, which no rule of bands slows, or that the claim's own factors leave.
  std::vector<double> other_bases() const {
    std::vector<double> list;
    const auto add = [&](const Range& range) {
      if (!range.is_empty() && range.low > 1 && range.high < HUGE_VAL) list.push_back(roundest_in(range).value);
    };
    if (const auto* longrope = std::get_if<LongropeScaling>(&claimed_)) {
      Range log_base{0, HUGE_VAL};
      for (std::size_t i = 1; i < std::min(turns().size(), longrope->short_factor.size()); ++i) {
        const Range w = around(turns(), i);
        const double factor = longrope->short_factor[i];
        log_base =
            common(log_base, {-std::log(w.high * factor) / exponent(i), -std::log(w.low * factor) / exponent(i)});
      }
      add({std::exp(log_base.low), std::exp(log_base.high)});
    } else if (!std::holds_alternative<DefaultScaling>(claimed_)) {
      for (std::size_t count = 2; count <= turns().size(); ++count) {
        const Range range = bases(turns(), count, 1);
        if (range.is_empty()) break;
        if (count == 2 || count == 4 || count == 8 || count == 16) add(range);
      }
    }
    return list;
  }

  // Checks a rule against every list, by the reference, and keeps it where it fits.
  bool keep(const RopeScaling& rule, double theta, int digits, bool is_pinned, std::string remark = {}) {
    // What is measured turns.
    if (std::get_if<NoTurning>(&rule) != nullptr) return false;
    Rope rope = layout_;
    rope.rope_theta = theta;
    rope.rope_scaling = rule;
    if (std::get_if<ProportionalScaling>(&rule) != nullptr) rope.rotary_layout = RotaryLayout::spread;
    double worst = 0;
    std::string json;
    try {
      Spec spec;
      spec.encoding = rope;
      validate(spec);
      json = to_json(spec);
      reference::RopeFrequencies truth(rope);
      const auto frequencies = static_cast<std::size_t>(pairs(rope));
      for (const FrequencyList& list : lists_) {
        if (list.turns.size() > frequencies) return false;  // rope_type none has none
        if (!list.factor.holds(truth.attention_factor(list.length, reference::first_precision).upper())) return false;
        for (std::size_t i = 0; i < list.turns.size(); ++i) {
          const double w = truth.radians(static_cast<std::int64_t>(i), list.length, reference::first_precision).upper();
          worst = std::max(worst, std::fabs(list.turns[i].radians - w) / left_open(format_, i, list.turns[i]));
          if (!(worst <= 1)) return false;
        }
      }
    } catch (const SpecError&) {
      return false;
    } catch (const std::range_error&) {
      return false;
    }
    const auto is_same = [&](const RuleFit& fit) { return fit.json == json; };
    kept_json_ = json;
    if (std::ranges::none_of(fits_, is_same))
      fits_.push_back({.rope = rope,
                       .format = format_,
                       .digits = digits,
                       .is_pinned = is_pinned,
                       .is_one_of_many = is_one_of_many(rule, theta),
                       .off = worst,
                       .remark = std::move(remark),
                       .json = std::move(json)});
    return true;
  }

  // default, linear, proportional and ntk: one geometric sequence.
  void fit_base() {
    if (turns().size() == 1) {
      const RoundNumber factor = factor_of(around(turns(), 0));
      if (factor.value == 1)
        keep(DefaultScaling{}, layout_.rope_theta, 1, true, "one pair: no base is seen");
      else
        keep(linear(factor.value), layout_.rope_theta, 1 + factor.digits, true, "one pair: no base is seen");
      return;
    }
    const RoundNumber factor = factor_of(around(turns(), 0));
    const Range range = bases(turns(), turns().size(), 1 / factor.value);
    if (range.is_empty() || range.low < 1) return;
    const RoundNumber base = roundest_in(range);
    const bool pinned = is_pinned_base(range, base);
    std::string remark = interval_text("base", base.value, range, pinned);
    if (factor.value != 1) {
      const Range factors = factors_of(around(turns(), 0));
      const bool factor_pinned = is_pinned(factors, factor);
      remark += ", " + interval_text("factor", factor.value, factors, factor_pinned);
      keep(linear(factor.value), base.value, base.digits + factor.digits, pinned && factor_pinned, std::move(remark));
      return;
    }
    if (layout_.rotary_layout == RotaryLayout::prefix && layout_.rotary_dim < layout_.head_dim) {
      const double power = static_cast<double>(layout_.head_dim) / static_cast<double>(layout_.rotary_dim);
      const RoundNumber whole = roundest_in({std::pow(range.low, power), std::pow(range.high, power)});
      if (whole.digits <= 3 && base.digits > 5)
        remark += fmt::format("; {:g} with exponents divided by head_dim", whole.value);
    }
    keep(DefaultScaling{}, base.value, base.digits, pinned, remark);
    fit_ntk(range);
  }

  RopeScaling linear(double factor) const {
    if (layout_.rotary_layout == RotaryLayout::spread && layout_.rotary_dim < layout_.head_dim)
      return ProportionalScaling{factor};
    return LinearScaling{factor};
  }

  static Range factors_of(const Range& frequency) { return {1 / frequency.high, 1 / std::max(frequency.low, 1e-12)}; }
  static RoundNumber factor_of(const Range& frequency) { return roundest_in(factors_of(frequency)); }

  // Another base is what ntk makes of one in use and a round factor.
  void fit_ntk(const Range& range) {
    if (width_ <= 2) return;
    const double power = static_cast<double>(width_ - 2) / static_cast<double>(width_);
    for (const double theta : known_bases) {
      const Range factors{std::pow(range.low / theta, power), std::pow(range.high / theta, power)};
      if (factors.high < 1.01) continue;
      const RoundNumber factor = roundest_in(factors);
      if (factor.digits > 3 || !is_pinned(factors, factor)) continue;
      keep(NtkScaling{factor.value}, theta, 1 + factor.digits, true,
           fmt::format("{} if the base is {:g}", interval_text("factor", factor.value, factors, true), theta));
    }
  }

  // yarn and llama3: w_i where pairs are fast, w_i/s where they are slow, a blend between.
  void fit_bands() {
    std::vector<std::pair<double, std::string>> tried;
    const auto add = [&](double theta, std::string remark) {
      if (theta > 1 && std::ranges::none_of(tried, [&](const auto& one) { return one.first == theta; }))
        tried.emplace_back(theta, std::move(remark));
    };
    if (!around(turns(), 0).holds(1)) return;
    std::size_t count = 2;
    while (count < turns().size() && !bases(turns(), count + 1, 1).is_empty()) ++count;
    if (turns().size() < 2) return;
    const Range fast = bases(turns(), count, 1);
    if (!fast.is_empty()) {
      const RoundNumber base = roundest_in(fast);
      theta_is_pinned_ = is_pinned_base(fast, base);
      add(base.value, interval_text("base", base.value, fast, theta_is_pinned_));
      theta_digits_ = base.digits;
      for (const double theta : known_bases) {
        if (fast.holds(theta)) add(theta, tried.front().second);
      }
    }
    for (const double theta : {layout_.rope_theta, known_bases[0], known_bases[1], known_bases[2], known_bases[5]}) {
      if (count <= 3) add(theta, "the base is seen in slow pairs alone");
    }
    for (const auto& [theta, remark] : tried) fit_bands(theta, remark);
  }

  void fit_bands(double theta, const std::string& remark) {
    // w_i / theta^-x: 1 to 1/s.
    std::vector<Range> ratios;
    for (std::size_t i = 0; i < turns().size(); ++i) {
      const Range w = around(turns(), i);
      const double unscaled = std::pow(theta, -exponent(i));
      ratios.push_back({w.low / unscaled, w.high / unscaled});
    }
    Range slow = ratios.back();
    std::size_t tail = 0;
    for (; tail < ratios.size(); ++tail) {
      const Range both = common(slow, ratios[ratios.size() - 1 - tail]);
      if (both.is_empty()) break;
      slow = both;
    }
    for (const Slowing& one : slowings(slow, tail, ratios.size())) {
      const bool pinned = theta_is_pinned_ && one.is_pinned;
      const int digits = theta_digits_ + one.factor.digits;
      const std::size_t before = fits_.size();
      for (const int length : known_lengths) {
        for (const double high : {4.0, 8.0})
          keep_llama3({one.factor.value, length, 1, high}, theta, digits + (high == 4 ? 0 : 1), pinned, remark);
        for (const Truncate truncate : {Truncate::yes, Truncate::no}) {
          YarnScaling yarn;
          yarn.factor = one.factor.value;
          yarn.original_max_position_embeddings = length;
          yarn.truncate = truncate;
          keep_yarn(yarn, theta, digits + (truncate == Truncate::no ? 1 : 0), pinned, remark);
        }
      }
      if (fits_.size() > before) return;
      fit_yarn(theta, one.factor.value, ratios, digits, pinned, remark);
      fit_llama3(theta, one.factor.value, ratios, digits, pinned, remark);
      if (fits_.size() > before) return;
    }
  }

  // What slow pairs are slowed by: what a tail of them has in common; what YaRN's magnitude 0.1 ln s + 1 comes from;
  // and where the pairs end before the tail begins, what is in use.
  struct Slowing {
    RoundNumber factor;
    bool is_pinned;
  };
  std::vector<Slowing> slowings(const Range& slow, std::size_t tail, std::size_t count) const {
    constexpr std::size_t enough = 3;
    std::vector<Slowing> list;
    const auto add = [&](const Range& factors, bool is_seen) {
      const RoundNumber factor = roundest_in(factors);
      list.push_back({factor, is_seen && is_pinned(factors, factor)});
    };
    const bool ends = tail >= enough && tail < count;
    if (ends && slow.high < 0.999 && slow.low > 0) add({1 / slow.high, 1 / slow.low}, true);
    if (factor_.low > 1) add({std::exp(10 * (factor_.low - 1)), std::exp(10 * (factor_.high - 1))}, true);
    if (!ends && slow.high < 0.9) {
      for (const double factor : {2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 64.0}) list.push_back({{factor, 2}, false});
      if (slow.low > 0) add({1 / slow.high, 1 / slow.low}, false);
    }
    return list;
  }

  void keep_llama3(const Llama3Scaling& rule, double theta, int digits, bool pinned, const std::string& remark) {
    if (factor_.holds(1)) keep(rule, theta, digits + 2, pinned, remark);
  }

  // With the magnitude that the rule has unless told, or else with one that is seen.
  void keep_yarn(YarnScaling yarn, double theta, int digits, bool pinned, const std::string& remark) {
    if (keep(yarn, theta, digits + 2, pinned, remark)) return;
    const RoundNumber factor = factor_.holds(1) ? RoundNumber{1, 1} : roundest_in(factor_);
    yarn.attention_factor = factor.value;
    keep(yarn, theta, digits + 2 + factor.digits, pinned, remark);
  }

  struct Blend {
    std::size_t pair;
    Range share;  // of w_i: 1 where fast
  };
  std::vector<Blend> blends(double factor, const std::vector<Range>& ratios) const {
    std::vector<Blend> between;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      const Range& ratio = ratios[i];
      if (ratio.high < 1 && ratio.low > 1 / factor) {
        const auto share = [&](double r) { return (r - 1 / factor) / (1 - 1 / factor); };
        between.push_back({i, {share(ratio.low), share(ratio.high)}});
      }
    }
    return between;
  }

  // The straight line through the first and the last blend: where it is 1, and where 0.
  struct Ends {
    Range one;
    Range zero;
  };
  template <class Abscissa>
  static Ends ends_of(const Blend& first, const Blend& last, Abscissa at) {
    Ends ends{{HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, -HUGE_VAL}};
    for (const double a : {first.share.low, first.share.high}) {
      for (const double b : {last.share.low, last.share.high}) {
        const double slope = (b - a) / (at(last.pair) - at(first.pair));
        const double one = at(first.pair) + (1 - a) / slope;
        const double zero = at(first.pair) - a / slope;
        ends.one = {std::min(ends.one.low, one), std::max(ends.one.high, one)};
        ends.zero = {std::min(ends.zero.low, zero), std::max(ends.zero.high, zero)};
      }
    }
    return ends;
  }

  // A ramp that is straight over the pairs' indices. Its ends are the pairs that turn beta times within the original
  // length L: low = n ln(L / (2 pi beta_fast)) / (2 ln theta), so that L / beta is what is seen.
  void fit_yarn(double theta, double factor, const std::vector<Range>& ratios, int digits, bool pinned,
                const std::string& remark) {
    const std::vector<Blend> between = blends(factor, ratios);
    if (between.size() < 2) return;
    const Ends ends =
        ends_of(between.front(), between.back(), [](std::size_t pair) { return static_cast<double>(pair); });
    const auto turns_length = [&](double index) {
      return 2 * std::numbers::pi * std::pow(theta, 2 * index / static_cast<double>(width_));
    };
    const double low = std::round(ends.one.middle());
    const double high = std::round(ends.zero.middle());
    const auto try_ramp = [&](Truncate truncate, const Range& fast, const Range& slow) {
      for (const double beta_slow : {1.0, 2.0, 4.0}) {
        const auto length = roundest_length_in({slow.low * beta_slow, slow.high * beta_slow});
        if (!length) continue;
        const auto l = static_cast<double>(length->value);
        const Range betas{l / fast.high, l / std::max(fast.low, 1e-3)};
        const RoundNumber beta_fast = betas.holds(32) ? RoundNumber{32, 0} : roundest_in(betas);
        YarnScaling yarn;
        yarn.factor = factor;
        yarn.original_max_position_embeddings = length->value;
        yarn.beta_fast = beta_fast.value;
        yarn.beta_slow = beta_slow;
        yarn.truncate = truncate;
        keep_yarn(yarn, theta, digits + length->digits + beta_fast.digits + (beta_slow == 1 ? 0 : 1), pinned, remark);
      }
    };
    if (ends.one.holds(low) && ends.zero.holds(high))
      try_ramp(Truncate::yes, {low == 0 ? 0 : turns_length(low), turns_length(low + 1)},
               {turns_length(high - 1), turns_length(high)});
    try_ramp(Truncate::no, {turns_length(ends.one.low), turns_length(ends.one.high)},
             {turns_length(ends.zero.low), turns_length(ends.zero.high)});
  }

  // A blend that is straight over the turns L w / 2 pi: 1 at high_freq_factor, 0 at low_freq_factor, of which L times
  // each is what is seen.
  void fit_llama3(double theta, double factor, const std::vector<Range>& ratios, int digits, bool pinned,
                  const std::string& remark) {
    const std::vector<Blend> between = blends(factor, ratios);
    if (between.size() < 2) return;
    const Ends ends =
        ends_of(between.front(), between.back(), [&](std::size_t pair) { return std::pow(theta, -exponent(pair)); });
    if (ends.zero.low <= 0) return;
    const Range lengths{2 * std::numbers::pi / ends.zero.high, 2 * std::numbers::pi / ends.zero.low};
    const auto length = roundest_length_in(lengths);
    if (!length) return;
    const double turn = static_cast<double>(length->value) / (2 * std::numbers::pi);
    const RoundNumber high = roundest_in({ends.one.low * turn, ends.one.high * turn});
    keep_llama3({factor, length->value, 1, high.value}, theta, digits + length->digits + high.digits, pinned, remark);
  }

  // What a call's length makes of the base: (B / b)^((n-2)/n).
  struct Stretch {
    double length;
    Range of;
  };

  // L, of two stretches 1 + s (l - L) / L.
  static std::optional<double> original_told(const Stretch& near, const Stretch& far) {
    const double step = far.length - near.length;
    const Range slope{(far.of.low - near.of.high) / step, (far.of.high - near.of.low) / step};
    if (!(step > 0) || slope.low <= 0) return std::nullopt;
    const auto length = roundest_length_in(
        {near.length - (near.of.high - 1) / slope.low, near.length - (near.of.low - 1) / slope.high});
    return length ? std::optional(static_cast<double>(length->value)) : std::nullopt;
  }

  // A base that grows with the length: (B(l) / b)^((n-2)/n) = 1 + s (l - L) / L beyond L.
  void fit_dynamic() {
    if (width_ <= 2 || turns().size() < 2) return;
    const Range range = bases(turns(), turns().size(), 1);
    if (range.is_empty()) return;
    const RoundNumber base = roundest_in(range);
    const double power = static_cast<double>(width_ - 2) / static_cast<double>(width_);
    std::vector<Stretch> stretches;
    for (const FrequencyList& list : lists_.subspan(1)) {
      const Range stretched = bases(list.turns, list.turns.size(), 1);
      if (stretched.is_empty()) return;
      const Range stretch{std::pow(stretched.low / base.value, power), std::pow(stretched.high / base.value, power)};
      if (stretch.low > 1.001) stretches.push_back({static_cast<double>(list.length), stretch});
    }
    if (stretches.empty()) return;
    // Each length tells s alone, once L is known: what the change shows, what two lengths tell, or what is in use.
    std::vector<double> originals{static_cast<double>(limit_.value_or(0))};
    originals.insert(originals.end(), known_lengths.begin(), known_lengths.end());
    if (const auto told = original_told(stretches.front(), stretches.back())) originals.push_back(*told);
    for (const double l : originals) {
      if (l < 1 || l >= stretches.front().length) continue;
      Range factors{1, HUGE_VAL};
      for (const Stretch& one : stretches)
        factors = common(factors, {(one.of.low - 1) * l / (one.length - l), (one.of.high - 1) * l / (one.length - l)});
      if (factors.is_empty()) continue;
      const RoundNumber factor = roundest_in(factors);
      const RoundLength length = *roundest_length_in({l, l});
      const bool base_pinned = is_pinned_base(range, base);
      const bool factor_pinned = is_pinned(factors, factor);
      keep(DynamicScaling{factor.value, length.value, scope_}, base.value, base.digits + factor.digits + length.digits,
           base_pinned && factor_pinned && stretches.size() > 1,
           interval_text("base", base.value, range, base_pinned) + ", " +
               interval_text("factor", factor.value, factors, factor_pinned));
    }
  }

  // Two lists, one up to a length and one beyond it. The base is that under which the factors are round.
  void fit_longrope() {
    const FrequencyList& near = lists_.front();
    const FrequencyList& far = lists_.back();
    if (!limit_) return;
    const std::int64_t limit = *limit_;
    std::vector<double> bases_tried{layout_.rope_theta};
    bases_tried.insert(bases_tried.end(), known_bases.begin(), known_bases.end());
    for (double unit = 1e3; unit <= 1e7; unit *= 10) {
      for (int digit = 1; digit <= 9; ++digit) bases_tried.push_back(digit * unit);
    }
    struct Tried {
      LongropeScaling rule;
      double theta;
      int digits;
      bool is_pinned;
    };
    std::vector<Tried> rules;
    for (const double theta : bases_tried) {
      LongropeScaling rule;
      rule.original_max_position_embeddings = limit;
      rule.length_scope = scope_;
      int digits = 2;
      bool pinned = true;
      for (const auto& [list, factors] : {std::pair{&near, &rule.short_factor}, std::pair{&far, &rule.long_factor}}) {
        for (std::size_t i = 0; i < list->turns.size(); ++i) {
          const Range w = around(list->turns, i);
          const double unscaled = std::pow(theta, -exponent(i));
          const Range range{unscaled / w.high, unscaled / std::max(w.low, 1e-300)};
          const RoundNumber factor = roundest_in(range);
          pinned = pinned && is_pinned(range, factor);
          digits += factor.digits;
          factors->push_back(factor.value);
        }
      }
      // sqrt(1 + ln s / ln L) comes from s = L^(a^2 - 1).
      const auto factor_of_size = [&](double a) { return std::pow(static_cast<double>(limit), a * a - 1); };
      const Range factors{factor_of_size(factor_.low), factor_of_size(factor_.high)};
      if (factors.low > 1 && is_pinned(factors, roundest_in(factors))) rule.factor = roundest_in(factors).value;
      for (const double s : {2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
        if (!rule.factor && factors.holds(s)) rule.factor = s;
      }
      if (common(near.factor, far.factor).is_empty()) {
        rule.factor.reset();
        rule.short_mscale = roundest_in(near.factor).value;
        rule.long_mscale = roundest_in(far.factor).value;
      } else if (!rule.factor) {
        rule.attention_factor = factor_.holds(1) ? 1 : roundest_in(factor_).value;
      }
      rules.push_back({rule, theta, digits, pinned});
    }
    std::ranges::stable_sort(rules, {}, &Tried::digits);
    for (const Tried& one : std::span(rules).first(2))
      keep(one.rule, one.theta, one.digits, one.is_pinned, "of base and factors the products alone are seen");
  }

  Rope layout_;
  std::span<const FrequencyList> lists_;
  std::optional<std::int64_t> limit_;
  LengthScope scope_;
  Range factor_;
  FrequencyFormat format_;
  std::int64_t width_;
  bool theta_is_pinned_ = false;
  int theta_digits_ = 1;
  std::vector<RuleFit> fits_;
  std::string kept_json_;  // of the rope that was kept last
  RopeScaling claimed_;
};

}  // namespace

std::string family_text(const Rope& rope) {
  const auto width = static_cast<double>(rotary_width(rope));
  if (const auto* llama3 = std::get_if<Llama3Scaling>(&rope.rope_scaling)) {
    const auto l = static_cast<double>(llama3->original_max_position_embeddings);
    return fmt::format(
        "rope_scaling llama3 with any original_max_position_embeddings L, low_freq_factor L / {:.10g} and "
        "high_freq_factor L / {:.10g}",
        l / llama3->low_freq_factor, l / llama3->high_freq_factor);
  }
  if (const auto* yarn = std::get_if<YarnScaling>(&rope.rope_scaling)) {
    const auto l = static_cast<double>(yarn->original_max_position_embeddings);
    const std::string family = fmt::format(
        "rope_scaling yarn with any original_max_position_embeddings L, beta_fast L / {:.10g} and beta_slow L / "
        "{:.10g}",
        l / yarn->beta_fast, l / yarn->beta_slow);
    if (yarn->truncate == Truncate::no) return family;
    const Range lengths = lengths_of_ramp(*yarn, rope.rope_theta, rotary_width(rope));
    return family +
           fmt::format("; under these two betas with any L from {:.0f} to {:.0f}, as the ramp's ends are whole",
                       std::ceil(lengths.low), std::floor(lengths.high));
  }
  if (std::get_if<LongropeScaling>(&rope.rope_scaling) != nullptr)
    return fmt::format("rope_scaling longrope with any rope_theta b, the factors of pair i times ({:.10g} / b)^(2i/{})",
                       rope.rope_theta, width);
  if (const auto* ntk = std::get_if<NtkScaling>(&rope.rope_scaling))
    return fmt::format("rope_theta {:.10g} without rope_scaling",
                       rope.rope_theta * std::pow(ntk->factor, width / (width - 2)));
  return {};
}

std::vector<RuleFit> fitting_rules(const Rope& layout, const RopeSeen& seen) {
  std::vector<RuleFit> all;
  for (const FrequencyFormat format : frequency_formats) {
    const bool is_exact = format == FrequencyFormat::float64;
    if (is_exact && !shows_float64(seen.lists.front().turns)) continue;
    // Wider formats explain whatever a narrower one does, at a price that round parameters do not pay.
    if (!all.empty() && all.front().digits <= digits_of(format)) break;
    for (RuleFit& fit : Fitter(layout, seen, format).fits()) {
      // So loose a format explains nearly any list by an odd base.
      if (format == FrequencyFormat::running_product && !fit.is_pinned) continue;
      fit.digits += digits_of(format);
      all.push_back(std::move(fit));
    }
    prefer_float64(all);
    if (is_exact && !all.empty()) break;
    std::ranges::stable_sort(all, {}, &RuleFit::digits);
  }
  for (RuleFit& fit : all) fit.is_pinned = fit.is_pinned && !fit.is_one_of_many;
  return all;
}

}  // namespace sextant::identify
