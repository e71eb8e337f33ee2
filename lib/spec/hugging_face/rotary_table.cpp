#include "lib/spec/hugging_face/rotary_models.hpp"

namespace sextant::hugging_face {
namespace {

constexpr LayerPattern gemma_pattern{.field = "sliding_window_pattern", .every = 6};
constexpr LayerPattern linear_pattern{.field = "full_attention_interval", .every = 4, .other = "linear_attention"};

// Each row is of transformers 5.23: defaults of models/TYPE/configuration_TYPE.py, turning of the modeling file beside
// it (rotate_half, apply_rotary_pos_emb and their callers). ci/field measures them against that code.
constexpr RotaryModel table[] = {
    {"apertus",
     {4096, 32, 0, 32, 65536},
     12e6,
     {.rule = R"({"rope_type":"llama3","rope_theta":12000000.0,"factor":8,"original_max_position_embeddings":8192,)"
              R"("low_freq_factor":1,"high_freq_factor":4})"}},
    {"arcee", {2560, 32, 0, 32, 4096}, 10000, {}},
    {"codegen",
     {4096, 16, 0, 28, 2048},
     10000,
     {.names = names_of_gpt2, .rotary_factor = 1, .turning = Turning::interleaved, .rotary_dim = 64}},
    {"cohere", {8192, 64, 0, 40, 8192}, 500000, {.turning = Turning::interleaved}},
    {"cohere2",
     {8192, 64, 0, 40, 8192},
     10000,
     {.turning = Turning::interleaved,
      .layering = Layering::sliding_only,
      .pattern = {.field = "sliding_window_pattern", .every = 4}}},
    {"deepseek_v2", {4096, 32, 0, 32, 2048}, 10000, {.turning = Turning::complex, .latent_head_dim = 64}},
    {"deepseek_v3", {7168, 128, 0, 61, 4096}, 10000, {.turning = Turning::latent, .latent_head_dim = 64}},
    {"ernie4_5", {1024, 16, 128, 18, 131072}, 500000, {.turning = Turning::interleaved}},
    {"exaone4",
     {4096, 32, 0, 32, 2048},
     10000,
     {.layering = Layering::sliding_if_any, .pattern = {.field = "sliding_window_pattern", .every = 4}}},
    {"falcon", {4544, 71, 0, 32, 2048}, 10000, {.names = {.hidden_size = "n_embed"}}},
    {"gemma", {3072, 16, 256, 28, 8192}, 10000, {}},
    {"gemma2", {2304, 8, 256, 26, 8192}, 10000, {}},
    {"gemma3_text",
     {2304, 8, 256, 26, 131072},
     1e6,
     {.layering = Layering::rule_each,
      .pattern = gemma_pattern,
      .sliding_theta = 10000,
      .sliding_theta_name = "rope_local_base_freq"}},
    {"gemma4_text",
     {2304, 8, 256, 30, 131072},
     10000,
     {.layering = Layering::rule_each,
      .pattern = {.every = 6},
      .sliding_theta = 10000,
      .full_head_dim = 512,
      .rule = R"({"full_attention":{"rope_type":"proportional","partial_rotary_factor":0.25,"rope_theta":1000000.0},)"
              R"("sliding_attention":{"rope_type":"default","rope_theta":10000.0}})"}},
    {"glm", {4096, 32, 128, 40, 131072}, 10000, {.rotary_factor = 0.5, .turning = Turning::interleaved}},
    {"glm4", {4096, 32, 128, 40, 131072}, 10000, {.rotary_factor = 0.5, .turning = Turning::interleaved}},
    {"glm4_moe", {4096, 96, 0, 46, 131072}, 10000, {.rotary_factor = 0.5}},
    {"glm4_moe_lite", {2048, 20, 0, 47, 202752}, 10000, {.turning = Turning::latent, .latent_head_dim = 64}},
    {"glm4v_text",
     {4096, 32, 0, 40, 32768},
     10000,
     {.rotary_factor = 1, .turning = Turning::interleaved, .sections = {8, 12, 12}}},
    {"gpt_neox",
     {6144, 64, 0, 44, 2048},
     10000,
     {.theta_name = "rotary_emb_base", .rotary_factor = 0.25, .factor_name = "rotary_pct"}},
    {"gpt_oss",
     {2880, 64, 64, 36, 131072},
     150000,
     {.rule = R"({"rope_type":"yarn","factor":32,"beta_fast":32,"beta_slow":1,"truncate":false,)"
              R"("original_max_position_embeddings":4096})"}},
    {"gptj",
     {4096, 16, 0, 28, 2048},
     10000,
     {.names = names_of_gpt2, .rotary_factor = 1, .turning = Turning::interleaved, .rotary_dim = 64}},
    {"granite", {4096, 32, 0, 32, 2048}, 10000, {}},
    {"helium", {2560, 20, 128, 24, 4096}, 100000, {.turning = Turning::interleaved}},
    {"kimi_k2", {7168, 128, 0, 61, 4096}, 10000, {.turning = Turning::latent, .latent_head_dim = 64}},
    {"lfm2",
     {2560, 32, 0, 32, 128000},
     1e6,
     {.layering = Layering::in_full_attention, .pattern = {.field = "full_attn_idxs", .every = 1, .other = "conv"}}},
    {"llama", {4096, 32, 0, 32, 2048}, 10000, {}},
    {"llama4_text",
     {5120, 40, 128, 48, 131072},
     500000,
     {.turning = Turning::complex, .layering = Layering::no_rope_layers}},
    {"minimax",
     {4096, 32, 0, 32, 131072},
     1e6,
     {.layering = Layering::in_full_attention,
      .pattern = {.every = 2, .full = LayerPattern::Full::first_of_each, .other = "linear_attention"}}},
    {"minimax_m2", {3072, 48, 128, 62, 196608}, 5e6, {.rotary_factor = 1, .rotary_dim = -1}},
    {"ministral", {4096, 32, 0, 32, 131072}, 10000, {}},
    {"ministral3",
     {4096, 32, 128, 34, 262144},
     10000,
     {.rule = R"({"rope_type":"yarn","rope_theta":1000000.0,"factor":16,"original_max_position_embeddings":16384,)"
              R"("beta_fast":32,"beta_slow":1,"mscale":1,"mscale_all_dim":1,"llama_4_scaling_beta":0.1})"}},
    {"mistral", {4096, 32, 0, 32, 131072}, 10000, {}},
    {"mistral4",
     {4096, 32, 0, 36, 1048576},
     10000,
     {.turning = Turning::latent,
      .latent_head_dim = 64,
      .rule = R"({"rope_type":"yarn","rope_theta":10000.0,"factor":128,"original_max_position_embeddings":8192,)"
              R"("beta_fast":32,"beta_slow":1,"mscale":1,"mscale_all_dim":1,"llama_4_scaling_beta":0.1})"}},
    {"mixtral", {4096, 32, 0, 32, 131072}, 1e6, {}},
    {"modernbert",
     {768, 12, 0, 22, 8192},
     160000,
     {.theta_name = "global_rope_theta",
      .layering = Layering::rule_each,
      .pattern = {.field = "global_attn_every_n_layers", .every = 3, .full = LayerPattern::Full::first_of_each},
      .sliding_theta = 10000,
      .sliding_theta_name = "local_rope_theta",
      .older_rule = OlderRule::all}},
    {"nemotron", {6144, 48, 0, 32, 4096}, 10000, {.rotary_factor = 0.5}},
    {"olmo", {4096, 32, 0, 32, 2048}, 10000, {}},
    {"olmo2", {4096, 32, 0, 32, 2048}, 10000, {}},
    {"olmo3",
     {4096, 32, 0, 32, 2048},
     500000,
     {.layering = Layering::rule_each, .pattern = {.every = 4}, .sliding_theta = 500000}},
    {"olmoe", {2048, 16, 0, 16, 4096}, 10000, {}},
    {"persimmon", {4096, 64, 0, 36, 16384}, 10000, {.rotary_factor = 0.5}},
    {"phi", {2048, 32, 0, 24, 2048}, 10000, {.rotary_factor = 0.5}},
    {"phi3", {3072, 32, 0, 32, 4096}, 10000, {.rotary_factor = 1, .original_length = 4096}},
    {"phimoe", {4096, 32, 0, 32, 131072}, 1e6, {.magnitudes = Magnitudes::of_each_cache}},
    {"qwen2", {4096, 32, 0, 32, 32768}, 10000, {}},
    {"qwen2_5_vl_text", {8192, 64, 0, 80, 32768}, 1e6, {.sections = {16, 24, 24}}},
    {"qwen2_moe", {2048, 16, 0, 24, 32768}, 10000, {}},
    {"qwen2_vl_text", {8192, 64, 0, 80, 32768}, 1e6, {.sections = {16, 24, 24}}},
    {"qwen3", {4096, 32, 128, 32, 32768}, 10000, {}},
    {"qwen3_5_text",
     {4096, 16, 256, 32, 32768},
     10000,
     {.rotary_factor = 0.25,
      .layering = Layering::in_full_attention,
      .pattern = linear_pattern,
      .sections = {11, 11, 10},
      .section_order = SectionOrder::interleaved}},
    {"qwen3_moe", {2048, 32, 0, 24, 32768}, 10000, {}},
    {"qwen3_next",
     {2048, 16, 256, 48, 32768},
     10000,
     {.rotary_factor = 0.25, .layering = Layering::in_full_attention, .pattern = linear_pattern}},
    {"qwen3_vl_text",
     {4096, 32, 128, 32, 128000},
     500000,
     {.sections = {24, 20, 20}, .section_order = SectionOrder::interleaved}},
    {"seed_oss", {4096, 80, 128, 64, 524288}, 10000, {}},
    {"smollm3", {2048, 16, 0, 36, 32768}, 2e6, {.layering = Layering::no_rope_layers}},
    {"stablelm", {2560, 32, 0, 32, 4096}, 10000, {.rotary_factor = 0.25}},
    {"starcoder2", {3072, 24, 0, 30, 4096}, 10000, {}},
};

}  // namespace

std::span<const RotaryModel> rotary_models() { return table; }

const RotaryModel* rotary_model(std::string_view model_type) {
  for (const RotaryModel& model : table) {
    if (model.model_type == model_type) return &model;
  }
  return nullptr;
}

RotaryModel unknown_model(std::string_view model_type, Turning turning) {
  return {model_type, {0, 0, 0, 1, 131072}, 10000, {.names = names_of_gpt2, .turning = turning}};
}

}  // namespace sextant::hugging_face
