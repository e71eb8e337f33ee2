#include "lib/spec/hugging_face/query_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/spec/fields.hpp"
#include "lib/spec/hugging_face/draft.hpp"

namespace sextant::hugging_face {
namespace {

std::string default_of(const Part& part) { return fmt::format("default of {}", part.model_type); }

template <class T>
Read<T> read_or(const std::optional<Read<T>>& read, T fallback, const Part& part) {
  return read.value_or(Read<T>{fallback, default_of(part)});
}

// A claim of attention in place of the rotation's, which is its position.
class Claim {
 public:
  Claim(const ConfigClaim& turned, const Part& part) : claim_(turned), part_(part) {
    claim_.kind = "query_scale";
    claim_.notes.clear();
    std::erase_if(claim_.sources, [](const FieldSource& source) { return source.field == "encoding"; });
    constexpr std::array<std::string_view, 5> of_the_claim{"dtype", "evaluation", "min_position", "max_position",
                                                           "accuracy"};
    for (FieldSource& source : claim_.sources) {
      if (std::ranges::find(of_the_claim, source.field) == of_the_claim.end())
        source.field = "position." + source.field;
    }
    add("encoding", part.model_type);
    add("position.encoding", part.model_type);
    add("causal", part.model_type);
    attention_.causal = true;
    const auto heads = read_or(part.config.integer({"num_attention_heads"}), default_heads(), part);
    attention_.num_heads = heads.value;
    add("num_heads", heads.source);
    // Mistral 4's class alone takes a null.
    const bool shares = part.model_type == "mistral4" && part.config.fields().contains("num_key_value_heads") &&
                        !part.config.has("num_key_value_heads");
    const auto kv_heads =
        shares ? heads : read_or(part.config.integer({"num_key_value_heads"}), default_kv_heads(), part);
    attention_.num_kv_heads = kv_heads.value;
    add("num_kv_heads", kv_heads.source);
  }

  void scale(const QueryScale& scale, const std::string& source) {
    attention_.query_scale = scale;
    add("query_scale", source);
  }

  Attention& attention() { return attention_; }
  void add(std::string field, std::string source) {
    std::erase_if(claim_.sources, [&](const FieldSource& earlier) { return earlier.field == field; });
    claim_.sources.push_back({std::move(field), std::move(source)});
  }
  void note(std::string text) { claim_.notes.push_back(std::move(text)); }

  ConfigClaim refused(std::string why) {
    claim_.spec.reset();
    claim_.refusal = std::move(why);
    return claim_;
  }
  ConfigClaim made() {
    Spec spec = *claim_.spec;
    spec.encoding = attention_;
    // Read anew, so that what a spec cannot have is refused as anybody's.
    claim_.spec = parse_spec(to_json(spec));
    complete_sources(claim_);
    return claim_;
  }

 private:
  std::int64_t default_heads() const { return part_.model_type == "llama4_text" ? 40 : 32; }
  std::int64_t default_kv_heads() const { return part_.model_type == "mistral4" ? 32 : 8; }

  ConfigClaim claim_;
  const Part& part_;
  Attention attention_;
};

// yarn_apply_mscale: what latent attention multiplies scores by besides 1/sqrt(head_dim).
double latent_scale(const RopeRule& rule, std::int64_t width) {
  const double own = 1 / std::sqrt(static_cast<double>(width));
  const double share = rule.scaling.value("mscale_all_dim", 0.0);
  const double factor = rule.scaling.value("factor", 1.0);
  const double magnitude = share == 0 || factor <= 1 ? 1 : 0.1 * share * std::log(factor) + 1;
  return own * magnitude * magnitude;
}

}  // namespace

ConfigClaim scaled_queries(const ConfigClaim& turned, const Part& part, const RopeRule& rule) {
  Claim claim(turned, part);
  Rope rope = std::get<Rope>(turned.spec->encoding);
  Attention& attention = claim.attention();
  attention.head_dim = rope.head_dim;
  if (part.model_type == "mistral4") {
    // The part that turns is the last of the head.
    const auto unturned = read_or(part.config.integer({"qk_nope_head_dim"}), std::int64_t{64}, part);
    const auto values = read_or(part.config.integer({"v_head_dim"}), std::int64_t{128}, part);
    attention.head_dim = unturned.value + rope.head_dim;
    if (values.value != attention.head_dim)
      return claim.refused(fmt::format("values of {} channels beside queries of {} are not said by any spec",
                                       values.value, attention.head_dim));
    rope.rotary_layout = RotaryLayout::suffix;
    rope.head_dim = attention.head_dim;
    claim.add("head_dim", fmt::format("{}, and those that turn", unturned.source));
    claim.add("position.head_dim", "that of attention");
    claim.add("position.rotary_layout", fmt::format("{}: the last of a head turn", part.model_type));
    attention.softmax_scale = latent_scale(rule, attention.head_dim);
    claim.add("softmax_scale", "1/sqrt(head_dim) times the square of yarn's magnitude");
  } else {
    claim.add("head_dim", "that of the rotation");
    if (const auto window = part.config.integer({"sliding_window"})) {
      attention.window = window->value;
      claim.add("window", window->source);
    }
  }
  attention.position = rope;
  const bool has_length = rule.scaling.is_object() && rule.scaling.contains("original_max_position_embeddings");
  if (!has_length) return claim.refused("llama_4_scaling_beta without original_max_position_embeddings fails");
  if (rule.query_scale->value == 0) return claim.refused("llama_4_scaling_beta is 0: queries are not scaled");
  claim.scale({.amount = rule.query_scale->value,
               .period = rule.scaling["original_max_position_embeddings"].get<std::int64_t>(),
               .offset = 0},
              rule.query_scale->source);
  return claim.made();
}

bool has_temperature_tuning(const Part& part) {
  const auto tuning = part.config.boolean({"attn_temperature_tuning"});
  return part.model_type == "llama4_text" && (!tuning || tuning->value);
}

ConfigClaim scaled_queries(const ConfigClaim& standing, const Part& part) {
  Claim claim(standing, part);
  claim.attention().head_dim = std::get<Rope>(standing.spec->encoding).head_dim;
  claim.attention().position = std::get<Rope>(standing.spec->encoding);
  claim.add("head_dim", "as without the scale");
  const auto amount = read_or(part.config.number({"attn_scale"}), 0.1, part);
  const auto period = read_or(part.config.integer({"floor_scale"}), std::int64_t{8192}, part);
  if (amount.value == 0) return claim.refused("attn_scale is 0: queries are not scaled");
  claim.scale({.amount = amount.value, .period = period.value, .offset = 1},
              fmt::format("{}, {}", amount.source, period.source));
  claim.note("transformers counts tokens in the cache, padding among them, where the claim has positions");
  return claim.made();
}

}  // namespace sextant::hugging_face
