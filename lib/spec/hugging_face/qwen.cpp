#include "lib/spec/hugging_face/qwen.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/spec/fields.hpp"
#include "lib/spec/hugging_face/draft.hpp"

namespace sextant::hugging_face {
namespace {

// The list of logarithms goes over i from 1 to 32767, of which the query at p has i = p + 1.
constexpr std::int64_t scaled_queries = 32767;

template <class T>
Read<T> read_or(const std::optional<Read<T>>& read, T fallback, const Draft& draft) {
  return read.value_or(Read<T>{std::move(fallback), draft.default_source()});
}

class QwenReader {
 public:
  explicit QwenReader(const Part& part)
      : part_(part),
        rotation_(part.name, "", part.model_type),
        hidden_size_(read_or(part.config.integer({"hidden_size", "n_embd"}), std::int64_t{4096}, rotation_)),
        heads_(read_or(part.config.integer({"num_attention_heads", "n_head"}), std::int64_t{32}, rotation_)),
        width_(read_or(part.config.integer({"kv_channels"}), std::int64_t{128}, rotation_)),
        longest_(
            read_or(part.config.integer({"max_position_embeddings", "n_positions"}), std::int64_t{8192}, rotation_)) {
    // The head is hidden_size / heads wide to what splits it, kv_channels to what turns it.
    if (heads_.value < 1 || hidden_size_.value % heads_.value != 0 || hidden_size_.value / heads_.value != width_.value)
      part.config.refuse("kv_channels", fmt::format("expected hidden_size / num_attention_heads, {} / {}, got {}",
                                                    hidden_size_.value, heads_.value, width_.value));
    const auto layers = part.config.integer({"num_hidden_layers", "n_layer"});
    for (std::int64_t layer = 0; layers && layer < std::min<std::int64_t>(layers->value, 4096); ++layer)
      layers_.push_back(layer);
    has_steps_ = read_or(part.config.boolean({"use_dynamic_ntk"}), true, rotation_).value;
    has_logarithms_ = read_or(part.config.boolean({"use_logn_attn"}), true, rotation_).value;
    // Names the code that is claimed.
    (void)part.config.has("auto_map");
  }

  std::vector<ConfigClaim> claims() {
    std::vector<ConfigClaim> claims{turning()};
    if (!has_logarithms_) return claims;
    claims.front().kind = "rotation";
    claims.push_back(scaling(*claims.front().spec));
    return claims;
  }

 private:
  // Required, since releases have different defaults of it.
  Read<std::int64_t> trained() const {
    const auto length = part_.config.integer({"seq_length"});
    if (!length) part_.config.refuse("seq_length", "required where use_dynamic_ntk or use_logn_attn is true");
    return *length;
  }

  // apply_rotary_pos_emb multiplies in float32 and rounds once.
  ConfigClaim turning() {
    Draft& draft = rotation_;
    draft.cover(layers_);
    draft.set("encoding", "rope", draft.type_source());
    draft.set("head_dim", width_);
    draft.set("rope_theta", read_or(part_.config.number({"rotary_emb_base"}), 10000.0, draft));
    draft.set("partial_rotary_factor", read_or(part_.config.number({"rotary_pct"}), 1.0, draft));
    draft.set("pairing", "half", draft.type_source());
    if (has_steps_) {
      const auto length = trained();
      draft.set("rope_scaling",
                nlohmann::json{{"rope_type", "dynamic"},
                               {"factor", 2},
                               {"original_max_position_embeddings", length.value},
                               {"length_steps", "doublings"}},
                fmt::format("{}: use_dynamic_ntk", draft.type_source()));
      draft.set_source("rope_scaling.original_max_position_embeddings", length.source);
      draft.note("a step keeps the base of the call that filled its cache, where the claim has that of its own length");
    }
    draft.set("max_position", has_logarithms_ ? shortened() : longest_);
    if (part_.dtype) draft.set("dtype", *part_.dtype);
    return draft.claim();
  }

  Read<std::int64_t> shortened() const {
    if (longest_.value <= scaled_queries) return longest_;
    return {scaled_queries, fmt::format("{}: its list of logarithms ends there", part_.model_type)};
  }

  ConfigClaim scaling(const Spec& turned) const {
    Draft draft(part_.name, "query_scale", part_.model_type);
    draft.cover(layers_);
    const auto length = trained();
    draft.set("encoding", "attention", draft.type_source());
    draft.set("num_heads", heads_);
    draft.set("head_dim", width_);
    draft.set("causal", true, draft.type_source());
    auto position = nlohmann::json::parse(to_json(turned));
    for (const char* name : {"dtype", "min_position", "max_position", "accuracy", "evaluation"}) position.erase(name);
    draft.set("position", position, "that of the rotation");
    draft.set("query_scale", nlohmann::json{{"rule", "log_n"}, {"length", length.value}, {"offset", 1}},
              fmt::format("{}: use_logn_attn", draft.type_source()));
    draft.set_source("query_scale.length", length.source);
    draft.set("max_position", shortened());
    if (part_.dtype) draft.set("dtype", *part_.dtype);
    if (is_16_bit(turned.dtype)) draft.set("evaluation", "dtype", draft.type_source());
    draft.note("the code counts tokens in the cache, padding among them, where the claim has positions");
    return draft.claim();
  }

  const Part& part_;
  Draft rotation_;
  Read<std::int64_t> hidden_size_;
  Read<std::int64_t> heads_;
  Read<std::int64_t> width_;
  Read<std::int64_t> longest_;
  std::vector<std::int64_t> layers_;
  bool has_steps_;
  bool has_logarithms_;
};

}  // namespace

std::vector<ConfigClaim> qwen(const Part& part) { return QwenReader(part).claims(); }

}  // namespace sextant::hugging_face
