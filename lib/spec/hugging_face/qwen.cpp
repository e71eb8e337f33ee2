#include "lib/spec/hugging_face/qwen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lib/spec/fields.hpp"
#include "lib/spec/hugging_face/draft.hpp"

namespace sextant::hugging_face {
namespace {

// The list of logarithms goes over i from 1 to 32767, of which the query at p has i = p + 1.
constexpr std::int64_t queries_in_the_list = 32767;

// The code computes with these as they stand.
constexpr std::initializer_list<const char*> numbers_of_the_code = {
    "hidden_size", "num_attention_heads", "kv_channels",       "max_position_embeddings",
    "rotary_pct",  "rotary_emb_base",     "num_hidden_layers", "seq_length"};

class QwenReader {
 public:
  explicit QwenReader(const Part& part)
      : part_(part),
        rotation_(part.name, "", part.model_type),
        hidden_size_(read_or(part.config.integer({"hidden_size"}), std::int64_t{4096}, rotation_)),
        heads_(read_or(part.config.integer({"num_attention_heads"}), std::int64_t{32}, rotation_)),
        width_(read_or(part.config.integer({"kv_channels"}), std::int64_t{128}, rotation_)),
        longest_(read_or(part.config.integer({"max_position_embeddings"}), std::int64_t{8192}, rotation_)) {
    refuse_first_release();
    part.config.refuse_nulls(numbers_of_the_code, "a number", "with which modeling_qwen.py fails");
    // The head is hidden_size / heads wide to what splits it, kv_channels to what turns it.
    if (heads_.value < 1 || hidden_size_.value % heads_.value != 0 || hidden_size_.value / heads_.value != width_.value)
      part.config.refuse("kv_channels", fmt::format("expected hidden_size / num_attention_heads, {} / {}, got {}",
                                                    hidden_size_.value, heads_.value, width_.value));
    const auto layers = part.config.integer({"num_hidden_layers"});
    for (std::int64_t layer = 0; layers && layer < std::min<std::int64_t>(layers->value, 4096); ++layer)
      layers_.push_back(layer);
    trained_ = trained();
    has_steps_ = is_on("use_dynamic_ntk");
    has_logarithms_ = is_on("use_logn_attn");
    read_dtype();
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
  // The first release names sizes as GPT-2 does, has bfloat16 by default, and one base for a whole batch.
  void refuse_first_release() const {
    for (const char* name : {"n_embd", "n_head", "n_layer", "n_positions"}) {
      if (part_.config.has(name))
        part_.config.refuse_meaning(name, "a name of the first release, whose code is not what is read here");
    }
  }

  // The class has no default, and the code forms its list of logarithms to this base whether it is used or not.
  Read<std::int64_t> trained() const {
    const auto length = part_.config.integer({"seq_length"});
    if (!length) part_.config.refuse("seq_length", "required: modeling_qwen.py fails without it");
    if (length->value < 2)
      part_.config.refuse("seq_length", fmt::format("expected an integer from 2, got {}: modeling_qwen.py takes "
                                                    "logarithms to this base",
                                                    length->value));
    return *length;
  }

  // Python takes a null for false.
  bool is_on(const char* name) const {
    if (!part_.config.fields().contains(name))
      part_.config.refuse(name, "required: releases of modeling_qwen.py have different defaults of it");
    const auto stated = part_.config.boolean({name});
    return stated && stated->value;
  }

  // QWenLMHeadModel casts itself as one of three flags says, which it adds up, and by the machine where none is set.
  void read_dtype() {
    constexpr std::array<std::pair<const char*, const char*>, 3> flags{
        {{"bf16", "bfloat16"}, {"fp16", "float16"}, {"fp32", "float32"}}};
    const char* set = nullptr;
    dtype_ = part_.dtype;
    for (const auto& [flag, dtype] : flags) {
      part_.config.refuse_nulls({flag}, "true or false", "with which modeling_qwen.py fails");
      const auto stated = part_.config.boolean({flag});
      if (!stated || !stated->value) continue;
      if (set != nullptr)
        part_.config.refuse(flag, fmt::format("true beside {}, with which modeling_qwen.py fails", set));
      set = flag;
      if (part_.dtype && part_.dtype->value != dtype)
        part_.config.refuse_meaning(flag,
                                    fmt::format("true contradicts {} ({})", part_.dtype->value, part_.dtype->source));
      dtype_ = {dtype, part_.config.source(flag)};
    }
    if (set == nullptr) {
      notes_.push_back(fmt::format(
          "none of bf16, fp16 and fp32 is true: modeling_qwen.py then casts to bfloat16 or float16 where the GPU has "
          "them; claimed is {}, and another dtype can be stated with --spec",
          dtype_ ? dtype_->value : "float32"));
    }
  }

  void set_common(Draft& draft) const {
    if (dtype_) draft.set("dtype", *dtype_);
    for (const std::string& note : notes_) draft.note(note);
    const auto is_quantized = part_.config.boolean({"use_cache_quantization"});
    if (is_quantized && is_quantized->value)
      draft.note("use_cache_quantization rounds keys and values to 8 bits behind the rotation, which is not claimed");
  }

  // apply_rotary_pos_emb multiplies in float32 and rounds once.
  ConfigClaim turning() {
    Draft& draft = rotation_;
    draft.cover(layers_);
    draft.set("encoding", "rope", draft.type_source());
    draft.set("head_dim", width_);
    draft.set("rope_theta", read_or(part_.config.number({"rotary_emb_base"}), 10000.0, draft));
    const auto share = read_or(part_.config.number({"rotary_pct"}), 1.0, draft);
    draft.set("partial_rotary_factor", share);
    // base * alpha ** (dim / (dim - 2)), of any alpha.
    if (static_cast<std::int64_t>(static_cast<double>(width_.value) * share.value) == 2)
      part_.config.refuse("rotary_pct", "two channels that turn: modeling_qwen.py divides by their number less 2");
    draft.set("pairing", "half", draft.type_source());
    if (has_steps_) {
      // QWenModel.forward: ntk_alpha_list has an entry for each row, of the tokens that its mask shows.
      draft.set("rope_scaling",
                nlohmann::json{{"rope_type", "dynamic"},
                               {"factor", 2},
                               {"original_max_position_embeddings", trained_.value},
                               {"length_scope", "row"},
                               {"length_steps", "doublings"}},
                fmt::format("{}: use_dynamic_ntk", draft.type_source()));
      draft.set_source("rope_scaling.original_max_position_embeddings", trained_.source);
      draft.note("a step keeps the base of the call that filled its cache, where the claim has that of its own length");
      draft.note(
          "the length of a row is the number of its tokens, padding not counted, where positions count padding "
          "on the left; in training no base steps");
    }
    draft.set("max_position", has_logarithms_ ? shortened() : longest_);
    set_common(draft);
    return draft.claim();
  }

  Read<std::int64_t> shortened() const {
    if (longest_.value <= queries_in_the_list) return longest_;
    return {queries_in_the_list, fmt::format("{}: its list of logarithms ends there", part_.model_type)};
  }

  ConfigClaim scaling(const Spec& turned) const {
    Draft draft(part_.name, "query_scale", part_.model_type);
    draft.cover(layers_);
    draft.set("encoding", "attention", draft.type_source());
    draft.set("num_heads", heads_);
    draft.set("head_dim", width_);
    draft.set("causal", true, draft.type_source());
    auto position = nlohmann::json::parse(to_json(turned));
    for (const char* name : {"dtype", "min_position", "max_position", "accuracy", "evaluation"}) position.erase(name);
    draft.set("position", position, "that of the rotation");
    draft.set("query_scale", nlohmann::json{{"rule", "log_n"}, {"length", trained_.value}, {"offset", 1}},
              fmt::format("{}: use_logn_attn", draft.type_source()));
    draft.set_source("query_scale.length", trained_.source);
    draft.set("max_position", shortened());
    set_common(draft);
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
  Read<std::int64_t> trained_;
  std::optional<Read<std::string>> dtype_;
  std::vector<std::string> notes_;
  bool has_steps_;
  bool has_logarithms_;
};

}  // namespace

std::vector<ConfigClaim> qwen(const Part& part) { return QwenReader(part).claims(); }

}  // namespace sextant::hugging_face
