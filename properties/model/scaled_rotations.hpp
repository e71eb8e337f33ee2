#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "properties/model/rotations.hpp"
#include "properties/model/variants.hpp"

namespace sextant {

/// What models of rotary encodings under a scaling rule share: where the rule takes other frequencies, and what it says
/// of the trained length.
class ScaledRotationModel : public RotationModel {
 public:
  /// @param head  the channels, and the rule
  ScaledRotationModel(const Spec& spec, const Rope& head, Ladders ladders)
      : RotationModel(spec, head.head_dim), head_(head), ladders_(std::move(ladders)) {}

  std::optional<std::string> depends_on_length() const final;
  std::optional<std::int64_t> switching_length() const final;
  std::string met_beyond() const final;
  std::vector<Question> first_questions() const override;

 protected:
  std::optional<std::int64_t> trained_by_fields() const final {
    const auto length = original_length(head_.rope_scaling);
    return length ? head_.positions.count_of(static_cast<double>(*length)) : length;
  }

 private:
  double most_stretch() const override;
  bool turns_nothing() const override { return ladders_.places.empty(); }

  Rope head_;
  Ladders ladders_;
};

/// The change of one field of a scaling rule.
template <class Rule>
struct RuleChange {
  std::string field;
  void (*change)(Rule& rule);
};

template <class Rule>
RuleChange<Rule> twice_the_length() {
  return {"original_max_position_embeddings", [](Rule& rule) { rule.original_max_position_embeddings *= 2; }};
}

// Larger by half, where it is there.
inline void larger_by_half(std::optional<double>& value) {
  if (value) value = *value * 1.5;
}
inline void larger_by_half(std::vector<double>& values) {
  for (double& value : values) value *= 1.5;
}

/// The changes of a rule's fields, where the spec has that rule.
template <class Rule, class Encoding>
void add_rule_variants(Variants<Encoding>& list, Rope& (*rope)(Encoding&),
                       const std::vector<RuleChange<Rule>>& changes) {
  for (const auto& [field, change] : changes) {
    list.with(field, [rope, change = change](Encoding& e) {
      if (auto* rule = std::get_if<Rule>(&rope(e).rope_scaling)) change(*rule);
    });
  }
}

/// The sibling of heads twice as wide, whose whole head turns where it did.
template <class Encoding>
void add_wider_heads(Variants<Encoding>& list, Rope& (*rope)(Encoding&)) {
  list.with("head_dim", [rope](Encoding& e) {
    Rope& head = rope(e);
    if (head.rotary_dim == head.head_dim) {
      head.rotary_dim *= 2;
      if (auto* longrope = std::get_if<LongropeScaling>(&head.rope_scaling)) {
        for (std::vector<double>* factors : {&longrope->short_factor, &longrope->long_factor}) {
          const std::vector<double> again = *factors;
          factors->insert(factors->end(), again.begin(), again.end());
        }
      }
    }
    head.head_dim *= 2;
  });
}

/// The changes of a rotary encoding's own fields, `rope` being where `Encoding` has it.
template <class Encoding>
void add_rope_variants(Variants<Encoding>& list, Rope& (*rope)(Encoding&)) {
  const auto with = [&](std::string field, void (*change)(Rope&)) {
    list.with(std::move(field), [=](Encoding& e) { change(rope(e)); });
  };
  with("rope_theta", [](Rope& e) { e.rope_theta = e.rope_theta * 3 + 7; });
  with("pairing", [](Rope& e) { e.pairing = e.output_pairing = other(e.pairing); });
  // Counts of other steps are other positions. Their dtype changes how they are given, and no value.
  with("position_step", [](Rope& e) { e.positions.step /= 2; });
  with("output_pairing", [](Rope& e) { e.output_pairing = other(e.output_pairing); });
  with("direction", [](Rope& e) { e.direction = other(e.direction); });
  with("rotary_dim", [](Rope& e) {
    e.rotary_dim = e.rotary_dim == e.head_dim ? e.head_dim / 2 / 2 * 2 : e.head_dim;
    auto* longrope = std::get_if<LongropeScaling>(&e.rope_scaling);
    if (longrope == nullptr) return;
    // One for each pair.
    for (std::vector<double>* factors : {&longrope->short_factor, &longrope->long_factor})
      factors->resize(static_cast<std::size_t>(e.rotary_dim / 2), factors->back());
  });
  with("rotary_layout", [](Rope& e) {
    // Where the whole head turns all layouts are the same.
    if (e.rotary_dim == e.head_dim || e.rotary_layout == RotaryLayout::spread) return;
    e.rotary_layout = e.rotary_layout == RotaryLayout::prefix ? RotaryLayout::suffix : RotaryLayout::prefix;
  });
  with("rope_scaling", [](Rope& e) {
    e.rope_scaling = std::holds_alternative<LinearScaling>(e.rope_scaling) ? RopeScaling(DefaultScaling{})
                                                                           : RopeScaling(LinearScaling{2.5});
  });
  with("factor", [](Rope& e) {
    std::visit(
        [](auto& rule) {
          if constexpr (requires { rule.factor *= 2; }) {
            rule.factor *= 2;
          }
        },
        e.rope_scaling);
  });
  add_rule_variants<DynamicScaling>(
      list, rope, {twice_the_length<DynamicScaling>(), {"length_steps", [](DynamicScaling& rule) {
                                                          const bool was_every =
                                                              rule.length_steps == LengthSteps::every;
                                                          rule.length_steps =
                                                              was_every ? LengthSteps::doublings : LengthSteps::every;
                                                        }}});
  add_rule_variants<YarnScaling>(
      list, rope,
      {twice_the_length<YarnScaling>(),
       {"beta_fast", [](YarnScaling& rule) { rule.beta_fast *= 2; }},
       {"beta_slow", [](YarnScaling& rule) { rule.beta_slow *= 3 * rule.beta_slow < rule.beta_fast ? 3 : 0.5; }},
       {"truncate",
        [](YarnScaling& rule) { rule.truncate = rule.truncate == Truncate::yes ? Truncate::no : Truncate::yes; }},
       {"mscale", [](YarnScaling& rule) { larger_by_half(rule.mscale); }},
       {"mscale_all_dim", [](YarnScaling& rule) { larger_by_half(rule.mscale_all_dim); }},
       {"attention_factor", [](YarnScaling& rule) {
          rule.mscale = rule.mscale_all_dim = std::nullopt;
          rule.attention_factor = rule.attention_factor.value_or(1) * 1.25;
        }}});
  add_rule_variants<Llama3Scaling>(
      list, rope,
      {twice_the_length<Llama3Scaling>(),
       {"low_freq_factor",
        [](Llama3Scaling& rule) { rule.low_freq_factor = (rule.low_freq_factor + rule.high_freq_factor) / 2; }},
       {"high_freq_factor", [](Llama3Scaling& rule) { rule.high_freq_factor *= 2; }}});
  add_rule_variants<LongropeScaling>(
      list, rope,
      {twice_the_length<LongropeScaling>(),
       {"short_factor", [](LongropeScaling& rule) { larger_by_half(rule.short_factor); }},
       {"long_factor", [](LongropeScaling& rule) { larger_by_half(rule.long_factor); }},
       {"attention_factor", [](LongropeScaling& rule) {
          if (!rule.short_mscale) rule.attention_factor = rule.attention_factor.value_or(1) * 1.25;
        }}});
  const auto with_magnitude = [&](std::string field, std::optional<double> LongropeScaling::*magnitude) {
    list.with(std::move(field), [=](Encoding& e) {
      auto* longrope = std::get_if<LongropeScaling>(&rope(e).rope_scaling);
      if (longrope == nullptr || !longrope->short_mscale) return;
      longrope->*magnitude = *(longrope->*magnitude) * 1.5;
    });
  };
  with_magnitude("short_mscale", &LongropeScaling::short_mscale);
  with_magnitude("long_mscale", &LongropeScaling::long_mscale);
  with("length_scope", [](Rope& e) {
    std::visit(
        [](auto& rule) {
          if constexpr (requires { rule.length_scope; }) rule.length_scope = other(rule.length_scope);
        },
        e.rope_scaling);
  });
}

}  // namespace sextant
