// What the fields of one file mean to one model_type. Longer than 400 lines: each member reads one field, and what one
// field says of another (a rule's theta and the model's, a share of the head and its sections) is checked in one class.
#include "lib/spec/hugging_face/rotary_models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "lib/spec/hugging_face/draft.hpp"
#include "lib/spec/hugging_face/layer_kinds.hpp"
#include "lib/spec/hugging_face/query_scale.hpp"
#include "lib/spec/hugging_face/rope_rule.hpp"

namespace sextant::hugging_face {
namespace {

using nlohmann::json;

// Whether a rule leaves the frequencies as they are and says nothing that it does not know.
bool is_plain(const RopeRule& rule) { return rule.scaling.is_null() || rule.scaling == json{{"rope_type", "default"}}; }

// A part of a file as one model_type reads it. Each member reads one thing; fields that say what the model_type's code
// does not do are refused.
class RotaryReader {
 public:
  RotaryReader(const RotaryModel& model, const Part& part)
      : model_(model),
        part_(part),
        config_(part.config),
        default_(fmt::format("default of {}", part.model_type)),
        reader_(rotary_model(part.model_type) ? "transformers' " + part.model_type : "--pairing"),
        lengths_(lengths()) {}

  std::vector<ConfigClaim> claims() const;

 private:
  using Theta = std::optional<Read<double>>;

  ModelLengths lengths() const;
  std::optional<Read<std::int64_t>> size(const char* name, const char* other,
                                         std::initializer_list<const char*> foreign) const;
  Read<std::int64_t> head_dim(const LayerKind& kind) const;
  Read<std::int64_t> own_head_dim() const;
  [[noreturn]] void refuse_null_head_dim() const;
  void check_null_head_dim(const RopeRule& rule) const;
  Read<std::int64_t> head_dim_of_each(const LayerKind& kind) const;
  std::map<std::int64_t, ConfigObject> layers_of_their_own() const;
  void check_layers_of_their_own(std::int64_t layers) const;
  std::optional<Read<double>> rotary_factor(const RopeRule& rule) const;
  void refuse_strays(std::initializer_list<const char*> names, double used) const;
  void check_magnitudes(const RopeRule& rule) const;
  RopeRule rule_for_all() const;
  RopeRule rule_for(const std::string& kind) const;
  RopeRule default_rule(const ConfigObject& rule) const;
  RopeRule with_fixed_base(RopeRule rule) const;
  bool turns_at_all() const;
  void refuse_empty_rule() const;
  std::optional<ConfigObject> nested_rules() const;
  Theta theta_for(const std::string& kind) const;

  ConfigClaim turning(const LayerKind& kind, const RopeRule& rule) const;
  ConfigClaim standing(const LayerKind& kind) const;
  Draft draft(const LayerKind& kind) const;
  void set_theta(Draft& draft, const RopeRule& rule, const LayerKind& kind) const;
  void set_rotary_width(Draft& draft, const RopeRule& rule, std::int64_t head_dim) const;
  std::int64_t standing_channels() const;
  void check_latent_share(const std::optional<Read<double>>& factor) const;
  void set_turning(Draft& draft) const;
  void set_dtype(Draft& draft) const;
  ConfigClaim with_sections(Draft draft, const RopeRule& rule, std::int64_t head_dim) const;
  std::vector<std::int64_t> sections(const RopeRule& rule, std::int64_t pairs, std::string& note) const;

  const RotaryModel& model_;
  const Part& part_;
  const ConfigObject& config_;
  std::string default_;
  std::string reader_;  // what reads the file this way
  ModelLengths lengths_;
};

// A size by the names that the class knows. One that is stated by other classes' names alone is not what anybody means.
std::optional<Read<std::int64_t>> RotaryReader::size(const char* name, const char* other,
                                                     std::initializer_list<const char*> foreign) const {
  auto stated = config_.integer({name, other});
  for (const std::string own : {name, other}) {
    if (!own.empty() && config_.fields().contains(own) && !config_.has(own))
      config_.refuse(own, "expected an integer, got null");
  }
  for (const char* unread : foreign) {
    if (!stated && config_.has(unread))
      config_.refuse_meaning(unread, fmt::format("not read by {}, which looks for {}", reader_, name));
  }
  return stated;
}

ModelLengths RotaryReader::lengths() const {
  const auto longest = size("max_position_embeddings", model_.traits.names.max_position, {"n_positions"});
  ModelLengths lengths{longest ? *longest : Read<std::int64_t>{model_.sizes.max_position, default_},
                       config_.integer({"original_max_position_embeddings"})};
  if (!lengths.original && model_.traits.original_length != 0)
    lengths.original = {model_.traits.original_length, default_};
  return lengths;
}

Read<std::int64_t> RotaryReader::head_dim(const LayerKind& kind) const {
  if (model_.traits.latent_head_dim != 0) {
    // The part that turns comes by itself to the rotation.
    const auto rotated = config_.integer({"qk_rope_head_dim"});
    const Read<std::int64_t> used = rotated ? *rotated : Read<std::int64_t>{model_.traits.latent_head_dim, default_};
    // The classes set head_dim themselves, and then what else the file has, a null among it; DeepSeek-V2's class has
    // the field.
    const bool is_null = config_.fields().contains("head_dim") && !config_.has("head_dim");
    if (is_null && model_.traits.null_head_dim == NullHeadDim::refused) refuse_null_head_dim();
    const auto whole = config_.integer({"head_dim"});
    // Mistral 4's is of the whole head, of which the rotation takes its share.
    const std::int64_t expected = used.value + (model_.traits.rule.empty() ? 0 : standing_channels());
    if (whole && whole->value != expected)
      config_.refuse_meaning("head_dim", fmt::format("{} contradicts the {} channels of {}", whole->value, expected,
                                                     model_.traits.rule.empty() ? "qk_rope_head_dim"
                                                                                : "qk_nope_head_dim and "
                                                                                  "qk_rope_head_dim"));
    return used;
  }
  if (config_.has("per_layer_config")) return head_dim_of_each(kind);
  if (model_.traits.full_head_dim != 0 && kind.name == "full_attention") {
    const auto wider = config_.integer({"global_head_dim"});
    if (!wider && config_.fields().contains("global_head_dim"))
      config_.refuse("global_head_dim", "expected an integer, got null");
    return wider ? *wider : Read<std::int64_t>{model_.traits.full_head_dim, default_};
  }
  return own_head_dim();
}

// Gemma 4's files of transformers 5 state the width of layers that differ from head_dim, by their index.
Read<std::int64_t> RotaryReader::head_dim_of_each(const LayerKind& kind) const {
  const auto own = layers_of_their_own();
  std::optional<Read<std::int64_t>> common;
  for (const std::int64_t layer : kind.layers) {
    const auto fields = own.find(layer);
    const auto stated = fields == own.end() ? std::nullopt : fields->second.integer({"head_dim"});
    const Read<std::int64_t> width = stated ? *stated : own_head_dim();
    if (common && common->value != width.value)
      config_.refuse("per_layer_config",
                     fmt::format("head_dim {} and {} of layers with {} alike: state them with --spec", common->value,
                                 width.value, kind.name));
    if (!common) common = width;
  }
  const auto wider = config_.integer({"global_head_dim"});
  if (wider && kind.name == "full_attention" && wider->value != common->value)
    config_.refuse_meaning("global_head_dim",
                           fmt::format("{} contradicts per_layer_config's {}", wider->value, common->value));
  return *common;
}

// By index, which the file writes as "5" or "05".
std::map<std::int64_t, ConfigObject> RotaryReader::layers_of_their_own() const {
  std::map<std::int64_t, ConfigObject> layers;
  const auto own = config_.object("per_layer_config");
  if (!own) return layers;
  for (const auto& [name, fields] : own->fields().items()) {
    const auto index = layer_index(name);
    if (!index || layers.contains(*index))
      config_.refuse("per_layer_config", fmt::format("expected each layer once by its index, got \"{}\"", name));
    if (auto layer = own->object(name.c_str())) layers.emplace(*index, *std::move(layer));
  }
  return layers;
}

void RotaryReader::check_layers_of_their_own(std::int64_t layers) const {
  if (!config_.has("per_layer_config")) return;
  if (model_.traits.full_head_dim == 0) config_.refuse("per_layer_config", "not read: state each layer with --spec");
  for (const auto& [index, layer] : layers_of_their_own()) {
    if (index >= layers)
      config_.refuse("per_layer_config", fmt::format("expected layers from 0 to {}, got {}", layers - 1, index));
    for (const auto& [name, value] : layer.fields().items()) {
      if (name != "head_dim" && name != "num_key_value_heads") layer.refuse(name, "not read: state it with --spec");
    }
  }
}

void RotaryReader::refuse_null_head_dim() const {
  config_.refuse("head_dim", fmt::format("expected an integer, got null, with which {} fails: leave the field out for "
                                         "{}, or state the claim with --spec",
                                         reader_,
                                         model_.sizes.head_dim != 0           ? fmt::format("{}", model_.sizes.head_dim)
                                         : model_.traits.latent_head_dim != 0 ? "qk_rope_head_dim"
                                                                              : "hidden_size / num_attention_heads"));
}

// The rules that ask for head_dim, and not for what stands in for one of null.
void RotaryReader::check_null_head_dim(const RopeRule& rule) const {
  if (config_.has("head_dim")) return;
  const bool is_null = config_.fields().contains("head_dim");
  const bool is_none = is_null ? model_.traits.null_head_dim != NullHeadDim::quotient
                               : model_.traits.absent_head_dim == AbsentHeadDim::none;
  const std::string type = rule.scaling.is_object() ? rule.scaling.value("rope_type", "") : "";
  if (!is_none || (type != "dynamic" && type != "longrope" && type != "yarn")) return;
  if (is_null) refuse_null_head_dim();
  config_.refuse("head_dim", fmt::format("required: without it {} fails under {}", reader_, type));
}

Read<std::int64_t> RotaryReader::own_head_dim() const {
  for (const char* name : {"hidden_size", "num_attention_heads"}) {
    if (config_.fields().contains(name) && !config_.has(name)) config_.refuse(name, "expected an integer, got null");
  }
  if (part_.model_type == "falcon" && config_.has("head_dim"))
    config_.refuse_meaning("head_dim", fmt::format("not read by {}", reader_));
  if (const auto stated = config_.integer({"head_dim"})) return *stated;
  const bool is_null = config_.fields().contains("head_dim");
  if (model_.sizes.head_dim != 0 && !is_null) return {model_.sizes.head_dim, default_};
  if (!is_null && model_.traits.absent_head_dim == AbsentHeadDim::refused)
    config_.refuse("head_dim", fmt::format("required: without it {} fails", reader_));
  if (is_null && model_.traits.null_head_dim == NullHeadDim::refused) refuse_null_head_dim();
  const OtherNames& names = model_.traits.names;
  const auto stated_hidden = size("hidden_size", names.hidden_size, {"n_embd", "n_embed", "d_model"});
  const auto stated_heads = size("num_attention_heads", names.heads, {"n_head", "n_heads", "num_heads"});
  const Read<std::int64_t> hidden = stated_hidden.value_or(Read<std::int64_t>{model_.sizes.hidden_size, default_});
  const Read<std::int64_t> heads = stated_heads.value_or(Read<std::int64_t>{model_.sizes.heads, default_});
  if (hidden.value == 0 || heads.value == 0)
    config_.refuse("head_dim", "required, or hidden_size and num_attention_heads");
  if (heads.value < 0 || hidden.value < 0 || hidden.value % heads.value != 0)
    config_.refuse("hidden_size",
                   fmt::format("{} is no multiple of num_attention_heads = {}", hidden.value, heads.value));
  return {hidden.value / heads.value, fmt::format("{} / {}", hidden.source, heads.source)};
}

// What the file says; the class's default is the caller's to add.
std::optional<Read<double>> RotaryReader::rotary_factor(const RopeRule& rule) const {
  const char* const name = model_.traits.factor_name;
  const auto outer = config_.number({name});
  // A null keeps the default from being filled in, and the whole head turns or the code fails, by the type.
  if (model_.traits.rotary_factor != 0 && config_.fields().contains(name) && !outer)
    config_.refuse(name, "expected a number, got null");
  const auto& inner = rule.partial_rotary_factor;
  if (outer && inner && outer->value != inner->value)
    config_.refuse_meaning(name, fmt::format("{} contradicts {} ({})", outer->value, inner->value, inner->source));
  return inner ? inner : outer;
}

// Fields that other classes read, and this one does not.
void RotaryReader::refuse_strays(std::initializer_list<const char*> names, double used) const {
  for (const char* name : names) {
    const auto stray = config_.number({name});
    if (stray && stray->value != used) {
      config_.refuse(name, fmt::format("{} contradicts {}, which takes {}; state what you mean with --spec",
                                       stray->value, reader_, used));
    }
  }
}

// The class's own rule, as JSON, has no lines.
RopeRule RotaryReader::default_rule(const ConfigObject& object) const {
  RopeRule rule = read_rule(object, lengths_);
  rule.source = default_;
  const auto relabel = [&](auto& read) {
    if (read) read->source = default_;
  };
  relabel(rule.rope_theta);
  relabel(rule.partial_rotary_factor);
  relabel(rule.query_scale);
  for (FieldSource& source : rule.sources) source.source = default_;
  return rule;
}

// Phi-3.5-MoE's class multiplies by short_mscale or long_mscale under any rule, and fails without them.
void RotaryReader::check_magnitudes(const RopeRule& rule) const {
  const bool has_each = model_.traits.magnitudes == Magnitudes::of_each_cache;
  const bool is_default = is_plain(rule);
  for (const char* name : {"short_mscale", "long_mscale"}) {
    const bool is_stated = rule.scaling.is_object() && rule.scaling.contains(name);
    if (is_stated && !has_each) config_.refuse_meaning(name, fmt::format("not read by {}", reader_));
    if (!is_stated && has_each && !is_default) config_.refuse(name, fmt::format("required by {}", reader_));
  }
  if (has_each && !is_default && rule.scaling["rope_type"] != "longrope")
    config_.refuse_meaning("rope_scaling",
                           fmt::format("expected longrope: {} multiplies any other by its magnitudes", reader_));
}

// HunYuan's files call a base times alpha^(n/(n-2)) dynamic, which is of one length; an alpha of 0 is none.
RopeRule RotaryReader::with_fixed_base(RopeRule rule) const {
  const bool has_alpha = model_.traits.dynamic_alpha == DynamicAlpha::of_the_base && rule.scaling.is_object() &&
                         rule.scaling["rope_type"] == "dynamic" && rule.scaling.contains("alpha");
  if (!has_alpha) return rule;
  const json alpha = rule.scaling["alpha"];
  if (alpha == 0) {
    rule.scaling.erase("alpha");
    return rule;
  }
  rule.scaling = {{"rope_type", "ntk"}, {"factor", alpha}};
  std::erase_if(rule.sources,
                [](const FieldSource& source) { return source.field != "rope_type" && source.field != "alpha"; });
  for (FieldSource& source : rule.sources) {
    if (source.field == "alpha") source.field = "factor";
  }
  return rule;
}

bool RotaryReader::turns_at_all() const {
  if (model_.traits.turns == Switch::none) return true;
  const auto type = config_.text({"position_embedding_type"});
  return type && type->value == "rope";
}

RopeRule RotaryReader::rule_for_all() const {
  RopeRule rule = with_fixed_base(rule_of(config_, lengths_));
  check_magnitudes(rule);
  // GPT-J's and CodeGen's tables are of 10000 alone.
  if (model_.traits.rotary_dim > 0) {
    refuse_strays({"rope_theta"}, model_.rope_theta);
    for (const char* name : {"rope_parameters", "rope_scaling"}) {
      if (config_.has(name))
        config_.refuse_meaning(name, fmt::format("not read by transformers' {}", part_.model_type));
    }
  }
  const auto is_stated = [&](const char* name) { return config_.has(name) && !config_.fields().at(name).empty(); };
  const bool has_none = !is_stated("rope_parameters") && !is_stated("rope_scaling");
  if (has_none) refuse_empty_rule();
  if (has_none && !model_.traits.rule.empty()) return default_rule(ConfigObject::parse(model_.traits.rule));
  if (model_.traits.original_length != 0 && !is_plain(rule) && rule.scaling["rope_type"] != "longrope") {
    const std::string type = rule.scaling["rope_type"];
    config_.refuse_meaning(
        "rope_scaling", type == "yarn" ? fmt::format("transformers takes yarn for longrope in a {}", part_.model_type)
                                       : fmt::format("expected longrope, the only rule of {}, got {}", reader_, type));
  }
  return rule;
}

// transformers takes an empty rope_scaling for none, and an empty rope_parameters for a rule without fields, in place
// of the class's own: configuration_gpt_oss.py and its like ask whether it is None.
void RotaryReader::refuse_empty_rule() const {
  if (config_.has("rope_parameters") && !model_.traits.rule.empty())
    config_.refuse("rope_parameters", fmt::format("{{}} keeps transformers' {} from its own rule, {}: leave it out to "
                                                  "claim that rule, or state another with --spec",
                                                  part_.model_type, model_.traits.rule));
}

// rope_parameters with a rule for each kind of layer.
std::optional<ConfigObject> RotaryReader::nested_rules() const {
  auto rules = config_.object("rope_parameters");
  if (!rules || rules->fields().empty()) return std::nullopt;
  for (const auto& [name, rule] : rules->fields().items()) {
    if (!rule.is_object() && !rule.is_null())
      config_.refuse("rope_parameters",
                     fmt::format("expected a rule for each kind of layer, got \"{}\": {}", name, rule.dump()));
  }
  return rules;
}

RopeRule RotaryReader::rule_for(const std::string& kind) const {
  // transformers reads the length that was trained from the top of a file for one rule alone (standardize_rope_params).
  const ModelLengths lengths{lengths_.longest, std::nullopt};
  if (const auto rules = nested_rules()) {
    if (config_.has("rope_scaling")) config_.refuse_meaning("rope_scaling", "contradicts rope_parameters");
    const auto own = rules->object(kind.c_str());
    if (!own) return {};
    RopeRule rule = read_rule(*own, lengths);
    rule.source = rules->source(kind);
    // transformers looks for it beside the kinds of layers, where it never is.
    if (rule.scaling.value("truncate", json(true)) != json(true))
      own->refuse("truncate",
                  "not read by transformers within the rule of a kind of layer: state the claim with --spec");
    return rule;
  }
  if (!model_.traits.rule.empty()) {
    refuse_empty_rule();
    const auto older = config_.object("rope_scaling");
    if (older && !older->fields().empty())
      config_.refuse("rope_scaling", "expected rope_parameters with a rule for each kind of layer");
    return default_rule(*ConfigObject::parse(model_.traits.rule).object(kind.c_str()));
  }
  // The class looks for a rule of each kind of layer to add rope_scaling to.
  if (config_.has("rope_parameters") && config_.has("rope_scaling"))
    config_.refuse_meaning("rope_parameters", "{} has no rule that rope_scaling could be added to");
  const bool is_meant = kind == "full_attention" || model_.traits.older_rule == OlderRule::all;
  if (const auto older = config_.object("rope_scaling")) {
    if (older->has("type") && !older->has("rope_type"))
      older->refuse("type", fmt::format("transformers' {} reads rope_type here, and not type", part_.model_type));
    if (older->fields().value("truncate", json(true)) != json(true))
      older->refuse("truncate",
                    fmt::format("not read by transformers' {}: state the claim with --spec", part_.model_type));
  }
  return is_meant ? rule_of(config_, lengths) : RopeRule{};
}

RotaryReader::Theta RotaryReader::theta_for(const std::string& kind) const {
  const bool is_sliding = model_.traits.layering == Layering::rule_each && kind != "full_attention";
  const char* const name = is_sliding && *model_.traits.sliding_theta_name != '\0' ? model_.traits.sliding_theta_name
                                                                                   : model_.traits.theta_name;
  const auto theta = config_.number({name});
  // Before transformers 5 a null meant the base of the other layers, in ModernBERT say.
  if (is_sliding && !theta && config_.fields().contains(name)) config_.refuse(name, "expected a number, got null");
  return theta;
}

void RotaryReader::set_theta(Draft& draft, const RopeRule& rule, const LayerKind& kind) const {
  const Theta theta = theta_for(kind.name);
  if (rule.rope_theta && theta && rule.rope_theta->value != theta->value)
    config_.refuse_meaning("rope_theta", fmt::format("{} contradicts {} ({})", theta->value, rule.rope_theta->value,
                                                     rule.rope_theta->source));
  // transformers takes a null for the base, and fails.
  const char* const name = model_.traits.theta_name;
  if (!theta && !rule.rope_theta && config_.fields().contains(name) && !config_.has(name))
    config_.refuse(name, "expected a number, got null");
  const bool has_each = model_.traits.layering == Layering::rule_each;
  const bool is_sliding = has_each && kind.name == "sliding_attention";
  if (has_each && !model_.traits.rule.empty() && !rule.rope_theta)
    config_.refuse("rope_parameters", fmt::format("{}: rope_theta is required", kind.name));
  // OLMo 3's class reads the one older field twice, and what the first reading leaves is the default.
  const double fallback = is_sliding ? model_.traits.sliding_theta : model_.rope_theta;
  if (is_sliding && *model_.traits.sliding_theta_name == '\0' && theta && theta->value != fallback && !rule.rope_theta)
    config_.refuse(
        "rope_theta",
        fmt::format("{}: transformers' {} takes {} in layers of sliding attention; state it in rope_parameters",
                    theta->value, part_.model_type, fallback));
  const Read<double> used = rule.rope_theta ? *rule.rope_theta : theta.value_or(Read<double>{fallback, default_});
  draft.set("rope_theta", used);
  if (!has_each) refuse_strays({"rope_theta", "rotary_emb_base"}, used.value);
}

void RotaryReader::set_rotary_width(Draft& draft, const RopeRule& rule, std::int64_t head_dim) const {
  const auto factor = rotary_factor(rule);
  const auto stated = config_.integer({"rotary_dim"});
  const bool is_proportional = rule.scaling.is_object() && rule.scaling["rope_type"] == "proportional";
  if (is_proportional) {
    if (stated) config_.refuse_meaning("rotary_dim", "contradicts rope_type proportional");
    const double own = model_.traits.rotary_factor;
    if (!factor && own == 0) return;
    const Read<double> share = factor.value_or(Read<double>{own, default_});
    // int(factor * head_dim // 2) pairs.
    const double pairs = share.value * static_cast<double>(head_dim) / 2;
    if (!(pairs >= 1 && 2 * pairs <= static_cast<double>(head_dim)))
      config_.refuse("partial_rotary_factor",
                     fmt::format("expected a number that leaves 1 to {} pairs, got {}", head_dim / 2, share.value));
    draft.set("rotary_dim", 2 * static_cast<std::int64_t>(pairs), share.source);
    return;
  }
  if (model_.traits.rotary_dim != 0) {
    if (factor)
      config_.refuse_meaning("partial_rotary_factor",
                             fmt::format("not read of a {}, which has rotary_dim", part_.model_type));
    const bool is_null = config_.fields().contains("rotary_dim") && !stated;
    if (stated) {
      draft.set("rotary_dim", *stated);
    } else if (model_.traits.rotary_dim > 0) {
      if (is_null) config_.refuse("rotary_dim", "expected an integer, got null");
      draft.set("rotary_dim", model_.traits.rotary_dim, default_);
    }
    return;
  }
  if (model_.traits.rotary_factor != 0) {
    const Read<double> width = factor.value_or(Read<double>{model_.traits.rotary_factor, default_});
    draft.set("partial_rotary_factor", width);
    refuse_strays({"partial_rotary_factor", "rotary_pct", "rope_pct"}, width.value);
    if (stated) draft.set("rotary_dim", *stated);  // a contradiction is parse_spec's to refuse
    return;
  }
  const bool is_latent = model_.traits.latent_head_dim != 0;
  if (is_latent && !model_.traits.rule.empty()) {
    check_latent_share(factor);
  } else {
    if (factor && factor->value != 1) {
      config_.refuse("partial_rotary_factor",
                     fmt::format("{} contradicts {}, which turns whole heads; state what you mean with --spec",
                                 factor->value, reader_));
    }
    refuse_strays({"partial_rotary_factor", "rotary_pct", "rope_pct"}, 1);
  }
  if (stated && stated->value != head_dim) {
    config_.refuse(
        "rotary_dim",
        fmt::format("{} contradicts {}, which turns the {} channels of a head; state what you mean with --spec",
                    stated->value, reader_, head_dim));
  }
}

// Mistral 4's channels of a head that do not turn.
std::int64_t RotaryReader::standing_channels() const {
  const auto stated = config_.integer({"qk_nope_head_dim"});
  return stated ? stated->value : 64;
}

// Mistral 4's factor is the share of the part that turns, which is by itself here.
void RotaryReader::check_latent_share(const std::optional<Read<double>>& factor) const {
  if (config_.has("rope_scaling") && !config_.fields().at("rope_scaling").empty())
    config_.refuse_meaning("rope_scaling", fmt::format("{} reads rope_parameters", reader_));
  const auto turning = config_.integer({"qk_rope_head_dim"});
  const auto width = static_cast<double>(turning ? turning->value : model_.traits.latent_head_dim);
  const double share = width / (width + static_cast<double>(standing_channels()));
  if (factor && factor->value != share)
    config_.refuse_meaning(
        "partial_rotary_factor",
        fmt::format("expected qk_rope_head_dim's share of the head, {}, got {}", share, factor->value));
}

void RotaryReader::set_turning(Draft& draft) const {
  switch (model_.traits.turning) {
    case Turning::half: draft.set("pairing", "half", draft.type_source()); return;
    case Turning::interleaved:
    case Turning::complex: draft.set("pairing", "interleaved", draft.type_source()); return;
    case Turning::latent_always: {
      const auto interleave = config_.boolean({"rope_interleave"});
      if (interleave && !interleave->value)
        config_.refuse_meaning("rope_interleave", fmt::format("not read by the code of a {}", part_.model_type));
      draft.set("pairing", "interleaved", draft.type_source());
      draft.set("output_pairing", "half", draft.type_source());
      return;
    }
    case Turning::latent: {
      const auto interleave = config_.boolean({"rope_interleave"});
      if (!interleave && config_.fields().contains("rope_interleave"))
        config_.refuse("rope_interleave", "expected true or false, got null");
      const std::string source = interleave ? interleave->source : default_;
      draft.set("pairing", !interleave || interleave->value ? "interleaved" : "half", source);
      draft.set("output_pairing", "half", draft.type_source());
      return;
    }
  }
}

void RotaryReader::set_dtype(Draft& draft) const {
  if (!part_.dtype) return;
  draft.set("dtype", *part_.dtype);
  const bool is_16_bits = part_.dtype->value == "float16" || part_.dtype->value == "bfloat16";
  // transformers casts cosines and sines to the dtype of x, and forms x * cos + rotate_half(x) * sin in it; its complex
  // products are of float32.
  if (is_16_bits && model_.traits.turning != Turning::complex)
    draft.set("evaluation", "dtype", "transformers' product in the dtype");
}

Draft RotaryReader::draft(const LayerKind& kind) const {
  Draft draft(part_.name, kind.name, part_.model_type);
  draft.cover(kind.layers);
  return draft;
}

// Pair i belongs to height where i mod 3 is 1, to width where it is 2, up to three times the section, and to time
// elsewhere (Qwen3-VL's apply_interleaved_mrope): what reaches beyond the last pair is lost without a word.
std::vector<std::int64_t> RotaryReader::sections(const RopeRule& rule, std::int64_t pairs, std::string& note) const {
  const std::vector<std::int64_t> stated =
      rule.mrope_section ? rule.mrope_section->value
                         : std::vector<std::int64_t>(model_.traits.sections.begin(), model_.traits.sections.end());
  if (stated.size() != 3)
    config_.refuse("mrope_section", fmt::format("{} takes sections of time, height and width, got [{}]", reader_,
                                                fmt::join(stated, ", ")));
  if (model_.traits.section_order == SectionOrder::blocked) return stated;
  std::vector<std::int64_t> effective = stated;
  for (const std::int64_t axis : {1, 2}) {
    const std::int64_t places = (pairs - axis + 2) / 3;
    effective[static_cast<std::size_t>(axis)] = std::min(stated[static_cast<std::size_t>(axis)], places);
  }
  effective[0] = pairs - effective[1] - effective[2];
  if (effective != stated)
    note = fmt::format("mrope_section [{}] leaves [{}] of {} interleaved pairs", fmt::join(stated, ", "),
                       fmt::join(effective, ", "), pairs);
  return effective;
}

ConfigClaim RotaryReader::with_sections(Draft draft, const RopeRule& rule, std::int64_t head_dim) const {
  const bool is_interleaved = model_.traits.section_order == SectionOrder::interleaved;
  if (rule.mrope_interleaved && rule.mrope_interleaved->value != is_interleaved)
    config_.refuse_meaning("mrope_interleaved", fmt::format("contradicts {}, whose sections are {}", reader_,
                                                            is_interleaved ? "interleaved" : "blocks"));
  const auto factor = rotary_factor(rule);
  const double share = model_.traits.rotary_factor == 0 ? 1 : factor ? factor->value : model_.traits.rotary_factor;
  const auto pairs = static_cast<std::int64_t>(static_cast<double>(head_dim) * share) / 2;
  std::string note;
  const std::string source = rule.mrope_section ? rule.mrope_section->source : default_;
  draft.set("sections", sections(rule, pairs, note), source);
  draft.set("section_order", is_interleaved ? "interleaved" : "blocked", draft.type_source());
  if (!note.empty()) draft.note(std::move(note));
  return draft.claim();
}

ConfigClaim RotaryReader::turning(const LayerKind& kind, const RopeRule& rule) const {
  Draft claim = draft(kind);
  const bool has_sections = model_.traits.sections[0] != 0;
  if ((rule.mrope_section || rule.mrope_interleaved) && !has_sections)
    config_.refuse_meaning("mrope_section", fmt::format("{} reads no sections", reader_));
  // Each is a name of a few types alone.
  const std::string type = rule.type ? rule.type->value : "";
  if ((type == "mrope" && !has_sections) || (type == "su" && model_.traits.original_length == 0))
    config_.refuse_meaning(rule.type->source.ends_with("rope_type") ? "rope_type" : "type",
                           fmt::format("\"{}\" is not known to {}", type, reader_));
  claim.set("encoding", has_sections ? "rope_nd" : "rope", claim.type_source());
  check_null_head_dim(rule);
  const Read<std::int64_t> width = head_dim(kind);
  claim.set("head_dim", width);
  set_theta(claim, rule, kind);
  set_turning(claim);
  claim.set("max_position", served_positions(rule, lengths_));
  set_dtype(claim);
  if (model_.traits.magnitudes == Magnitudes::of_each_cache && !is_plain(rule))
    claim.note("transformers 5 takes short_factor at all lengths; its releases before take long_factor as claimed");
  if (*model_.traits.note != '\0') claim.note(model_.traits.note);
  if (type == "su")
    claim.note(fmt::format(
        "{}: transformers 5.24 refuses the name su; transformers 4.40 and the code beside the file take it for "
        "longrope, as claimed",
        rule.type->source));
  set_rotary_width(claim, rule, width.value);
  if (!is_plain(rule)) {
    claim.set("rope_scaling", rule.scaling, rule.source);
    for (const FieldSource& source : rule.sources) claim.set_source("rope_scaling." + source.field, source.source);
  }
  return has_sections ? with_sections(std::move(claim), rule, width.value) : claim.claim();
}

ConfigClaim RotaryReader::standing(const LayerKind& kind) const {
  Draft claim = draft(kind);
  claim.set("encoding", "rope", claim.type_source());
  claim.set("head_dim", head_dim(kind));
  claim.set("max_position", lengths_.longest);
  set_dtype(claim);
  claim.set("rope_scaling", json{{"rope_type", "none"}}, "these layers have no positions");
  return claim.claim();
}

std::vector<ConfigClaim> RotaryReader::claims() const {
  std::vector<ConfigClaim> claims;
  const std::vector<LayerKind> kinds = layer_kinds(model_, config_);
  std::int64_t layers = 0;
  for (const LayerKind& kind : kinds) layers += std::ssize(kind.layers);
  check_layers_of_their_own(layers);
  for (const LayerKind& kind : kinds) {
    const bool is_full = kind.name == "full_attention";
    switch (model_.traits.layering) {
      case Layering::alike: {
        const RopeRule rule = rule_for_all();
        claims.push_back(turning(kind, rule));
        if (!rule.query_scale) break;
        if (part_.model_type != "ministral3" && part_.model_type != "mistral4")
          config_.refuse_meaning("llama_4_scaling_beta", fmt::format("not read by {}", reader_));
        claims.push_back(scaled_queries(claims.back(), part_, rule));
        claims[claims.size() - 2].kind = "rotation";
        break;
      }
      case Layering::rule_each:
        if (!is_full && kind.name != "sliding_attention")
          config_.refuse("layer_types",
                         fmt::format("expected full_attention or sliding_attention, got \"{}\"", kind.name));
        claims.push_back(turning(kind, rule_for(kind.name)));
        break;
      case Layering::no_rope_layers:
        claims.push_back(kind.name == "rope" ? turning(kind, rule_for_all()) : standing(kind));
        if (kind.name != "rope" && has_temperature_tuning(part_))
          claims.push_back(scaled_queries(claims.back(), part_));
        break;
      case Layering::sliding_only:
      case Layering::sliding_if_any: {
        const bool has_no_window = config_.fields().contains("sliding_window") && !config_.has("sliding_window");
        const bool all_turn = has_no_window && model_.traits.layering == Layering::sliding_if_any;
        if (all_turn && !config_.has("layer_types"))
          config_.refuse("layer_types",
                         fmt::format("required where sliding_window is null: {} divides by no window", reader_));
        if (has_no_window && !all_turn && !is_full)
          config_.refuse("sliding_window", "expected an integer where layers have sliding attention, got null");
        claims.push_back(all_turn || !is_full ? turning(kind, rule_for_all()) : standing(kind));
        break;
      }
      case Layering::in_full_attention:
        if (!is_full && kind.name != model_.traits.pattern.other)
          config_.refuse("layer_types", fmt::format("expected full_attention or {}, got \"{}\"",
                                                    model_.traits.pattern.other, kind.name));
        if (is_full) claims.push_back(turns_at_all() ? turning(kind, rule_for_all()) : standing(kind));
        break;
    }
  }
  if (claims.empty()) config_.refuse("layer_types", "no layer has full attention, and the others have no positions");
  return claims;
}

}  // namespace

std::vector<ConfigClaim> claims_of(const RotaryModel& model, const Part& part) {
  return RotaryReader(model, part).claims();
}

}  // namespace sextant::hugging_face
