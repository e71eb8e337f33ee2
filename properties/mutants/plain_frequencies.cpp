#include <algorithm>
#include <cmath>
#include <numbers>

#include "properties/mutants/plain_rope.hpp"

namespace sextant::mutants {
namespace {

std::int64_t width_of(const Rope& encoding) {
  return encoding.rotary_layout == RotaryLayout::spread ? encoding.head_dim : encoding.rotary_dim;
}

// base s^(n/(n-2)), bloc97's.
double stretched(double base, double stretch, std::int64_t width) {
  const auto n = static_cast<double>(width);
  return base * std::pow(stretch, n / (n - 2));
}

struct Rule {
  const Rope& encoding;
  std::int64_t length;

  std::vector<double> plain() const { return geometric(encoding.rope_theta, width_of(encoding), pairs(encoding)); }

  std::vector<double> divided(double factor) const {
    std::vector<double> list = plain();
    for (double& w : list) w /= factor;
    return list;
  }

  std::vector<double> with_base(double base) const { return geometric(base, width_of(encoding), pairs(encoding)); }

  std::vector<double> operator()(const DefaultScaling&) const { return plain(); }
  std::vector<double> operator()(const NoTurning&) const { return {}; }
  std::vector<double> operator()(const LinearScaling& rule) const { return divided(rule.factor); }
  std::vector<double> operator()(const ProportionalScaling& rule) const { return divided(rule.factor); }
  std::vector<double> operator()(const NtkScaling& rule) const {
    return with_base(stretched(encoding.rope_theta, rule.factor, width_of(encoding)));
  }

  std::vector<double> operator()(const DynamicScaling& rule) const {
    if (length <= rule.original_max_position_embeddings) return plain();
    double ratio = static_cast<double>(length) / static_cast<double>(rule.original_max_position_embeddings);
    if (rule.length_steps == LengthSteps::doublings) ratio = std::exp2(std::ceil(std::log2(ratio)));
    return with_base(stretched(encoding.rope_theta, rule.factor * ratio - (rule.factor - 1), width_of(encoding)));
  }

  std::vector<double> operator()(const YarnScaling& rule) const {
    const auto n = static_cast<double>(width_of(encoding));
    const auto end = [&](double turns) {
      const auto original = static_cast<double>(rule.original_max_position_embeddings);
      return n * std::log(original / (turns * 2 * std::numbers::pi)) / (2 * std::log(encoding.rope_theta));
    };
    double low = end(rule.beta_fast);
    double high = end(rule.beta_slow);
    if (rule.truncate == Truncate::yes) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, n - 1);
    if (low == high) high += 0.001;
    std::vector<double> list = plain();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
      list[i] = list[i] / rule.factor * ramp + list[i] * (1 - ramp);
    }
    return list;
  }

  std::vector<double> operator()(const LongropeScaling& rule) const {
    const std::vector<double>& factors =
        length <= rule.original_max_position_embeddings ? rule.short_factor : rule.long_factor;
    std::vector<double> list = plain();
    for (std::size_t i = 0; i < list.size(); ++i) list[i] /= factors[i];
    return list;
  }

  std::vector<double> operator()(const Llama3Scaling& rule) const {
    std::vector<double> list = plain();
    for (double& w : list) {
      const double turns = static_cast<double>(rule.original_max_position_embeddings) * w / (2 * std::numbers::pi);
      const bool is_step = rule.high_freq_factor == rule.low_freq_factor;
      const double smooth =
          is_step
              ? static_cast<double>(turns > rule.low_freq_factor)
              : std::clamp((turns - rule.low_freq_factor) / (rule.high_freq_factor - rule.low_freq_factor), 0.0, 1.0);
      w = (1 - smooth) * w / rule.factor + smooth * w;
    }
    return list;
  }
};

}  // namespace

std::vector<double> geometric(double base, std::int64_t width, std::int64_t count) {
  std::vector<double> list;
  for (std::int64_t i = 0; i < count; ++i)
    list.push_back(std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(width)));
  return list;
}

std::vector<double> plain_frequencies(const Rope& encoding, std::int64_t length) {
  return std::visit(Rule{encoding, length}, encoding.rope_scaling);
}

double plain_factor(const Rope& encoding, std::int64_t length) {
  if (const auto* yarn = std::get_if<YarnScaling>(&encoding.rope_scaling)) {
    const auto magnitude = [&](double scale) { return 0.1 * scale * std::log(yarn->factor) + 1; };
    if (yarn->attention_factor) return *yarn->attention_factor;
    if (yarn->mscale && yarn->mscale_all_dim) return magnitude(*yarn->mscale) / magnitude(*yarn->mscale_all_dim);
    return magnitude(1);
  }
  if (const auto* longrope = std::get_if<LongropeScaling>(&encoding.rope_scaling)) {
    if (longrope->short_mscale)
      return length > longrope->original_max_position_embeddings ? *longrope->long_mscale : *longrope->short_mscale;
    if (longrope->attention_factor) return *longrope->attention_factor;
    return std::sqrt(1 + std::log(*longrope->factor) /
                             std::log(static_cast<double>(longrope->original_max_position_embeddings)));
  }
  return 1;
}

}  // namespace sextant::mutants
