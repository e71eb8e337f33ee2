#include "lib/spec/hf_config.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

Rope rope_of(const char* json) { return std::get<Rope>(spec_from_hf_config(json).encoding); }

TEST(HfConfig, ReadsAnOldStyleLlama) {
  const Spec spec = spec_from_hf_config(
      R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":4096,"rope_theta":10000.0,
          "rope_scaling":null,"torch_dtype":"float16","vocab_size":32000,"architectures":["LlamaForCausalLM"]})");
  const auto& rope = std::get<Rope>(spec.encoding);
  EXPECT_EQ(rope.head_dim, 128);
  EXPECT_EQ(rope.rotary_dim, 128);
  EXPECT_EQ(rope.pairing, Pairing::half);
  EXPECT_EQ(spec.max_position, 4096);
  EXPECT_EQ(spec.dtype, Dtype::float16);
  EXPECT_EQ(spec.evaluation, Evaluation::dtype);
}

TEST(HfConfig, ReadsRopeParametersOfTransformersFive) {
  const Rope rope = rope_of(
      R"({"head_dim":64,"hidden_size":4096,"num_attention_heads":32,
          "rope_parameters":{"rope_type":"default","rope_theta":500000.0,"partial_rotary_factor":0.5}})");
  EXPECT_EQ(rope.head_dim, 64);
  EXPECT_EQ(rope.rotary_dim, 32);
  EXPECT_EQ(rope.rope_theta, 500000);
}

TEST(HfConfig, ReadsGptNeoxAndGptJ) {
  EXPECT_EQ(
      rope_of(R"({"model_type":"gpt_neox","hidden_size":6144,"num_attention_heads":64,"rotary_pct":0.25})").rotary_dim,
      24);
  const Rope gptj = rope_of(R"({"model_type":"gptj","n_embd":4096,"n_head":16,"rotary_dim":64,"n_positions":2048})");
  EXPECT_EQ(gptj.head_dim, 256);
  EXPECT_EQ(gptj.rotary_dim, 64);
  EXPECT_EQ(gptj.pairing, Pairing::interleaved);
}

TEST(HfConfig, ReadsLlama31) {
  const Spec spec = spec_from_hf_config(
      R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_attention_heads":32,
          "num_key_value_heads":8,"max_position_embeddings":131072,"rope_theta":500000.0,"torch_dtype":"bfloat16",
          "rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":8192,
                          "rope_type":"llama3"}})");
  const auto& llama3 = std::get<Llama3Scaling>(std::get<Rope>(spec.encoding).rope_scaling);
  EXPECT_EQ(llama3.factor, 8);
  EXPECT_EQ(llama3.original_max_position_embeddings, 8192);
  EXPECT_EQ(llama3.low_freq_factor, 1);
  EXPECT_EQ(llama3.high_freq_factor, 4);
  EXPECT_EQ(spec.max_position, 131072);
}

TEST(HfConfig, ReadsDeepseekV3) {
  const Rope rope = rope_of(
      R"({"model_type":"deepseek_v3","hidden_size":7168,"num_attention_heads":128,"qk_nope_head_dim":128,"qk_rope_head_dim":64,
          "max_position_embeddings":163840,"rope_theta":10000,"torch_dtype":"bfloat16",
          "rope_scaling":{"beta_fast":32,"beta_slow":1,"factor":40,"mscale":1.0,"mscale_all_dim":1.0,
                          "original_max_position_embeddings":4096,"type":"yarn"}})");
  EXPECT_EQ(rope.head_dim, 64);
  EXPECT_EQ(rope.pairing, Pairing::interleaved);
  EXPECT_EQ(rope.output_pairing, Pairing::half);
  const auto& yarn = std::get<YarnScaling>(rope.rope_scaling);
  EXPECT_EQ(yarn.factor, 40);
  EXPECT_EQ(yarn.mscale, 1);
  EXPECT_EQ(yarn.mscale_all_dim, 1);
  EXPECT_EQ(yarn.attention_factor, std::nullopt);
  EXPECT_EQ(yarn.truncate, Truncate::yes);
}

TEST(HfConfig, ReadsPhi3WithItsLengthAtTopLevelAndItsFactorFromTheRatio) {
  std::string factors = "[1.0";
  for (int pair = 1; pair < 48; ++pair) factors += ",1." + std::to_string(100 + pair);
  const std::string config =
      R"({"model_type":"phi3","hidden_size":3072,"num_attention_heads":32,"max_position_embeddings":131072,
      "original_max_position_embeddings":4096,"rope_theta":10000.0,"rope_scaling":{"long_factor":)" +
      factors + R"(],"short_factor":)" + factors + R"(],"type":")";
  for (const char* type : {"longrope", "su"}) {
    const Rope rope = rope_of((config + type + "\"}}").c_str());
    EXPECT_EQ(rope.head_dim, 96);
    const auto& longrope = std::get<LongropeScaling>(rope.rope_scaling);
    EXPECT_EQ(longrope.original_max_position_embeddings, 4096);
    EXPECT_EQ(longrope.factor, 32);
    ASSERT_EQ(longrope.short_factor.size(), 48);
    EXPECT_EQ(longrope.long_factor[47], 1.147);
  }
}

TEST(HfConfig, ReadsQwen25Yarn) {
  const Rope rope = rope_of(
      R"({"model_type":"qwen2","hidden_size":3584,"num_attention_heads":28,"max_position_embeddings":32768,"rope_theta":1000000.0,
          "sliding_window":131072,"rope_scaling":{"factor":4.0,"type":"yarn","attention_factor":null,"finetuned":true}})");
  const auto& yarn = std::get<YarnScaling>(rope.rope_scaling);
  EXPECT_EQ(yarn.factor, 4);
  EXPECT_EQ(yarn.original_max_position_embeddings, 32768);  // max_position_embeddings, where the rule does not say
}

TEST(HfConfig, ReadsTheOtherTypes) {
  const auto scaling = [](const std::string& rule) {
    return rope_of((R"({"head_dim":64,"max_position_embeddings":2048,"rope_parameters":)" + rule + "}").c_str())
        .rope_scaling;
  };
  EXPECT_EQ(std::get<LinearScaling>(scaling(R"({"type":"linear","factor":8})")).factor, 8);
  EXPECT_EQ(std::get<DynamicScaling>(scaling(R"({"rope_type":"dynamic","type":"dynamic","factor":2})"))
                .original_max_position_embeddings,
            2048);
  EXPECT_EQ(
      std::get<YarnScaling>(scaling(R"({"rope_type":"yarn","factor":null,"original_max_position_embeddings":512})"))
          .factor,
      4);
  EXPECT_EQ(name_of(scaling(R"({"rope_theta":10000})")), "default");
  const Rope gemma = rope_of(R"({"head_dim":512,"rope_parameters":{"rope_type":"proportional",)"
                             R"("partial_rotary_factor":0.25,"rope_theta":1000000.0}})");
  EXPECT_EQ(gemma.rotary_dim, 128);
  EXPECT_EQ(gemma.rotary_layout, RotaryLayout::spread);
  EXPECT_EQ(std::get<ProportionalScaling>(gemma.rope_scaling).factor, 1);
}

TEST(HfConfig, RefusesContradictoryRules) {
  for (const char* config : {R"({"head_dim":64,"rope_scaling":{"rope_type":"linear","type":"dynamic","factor":2}})",
                             R"({"head_dim":64,"rope_scaling":{"rope_type":"linear","factor":2},)"
                             R"("rope_parameters":{"rope_type":"linear","factor":4}})",
                             R"({"head_dim":64,"max_position_embeddings":4096,)"
                             R"("rope_scaling":{"rope_type":"dynamic","factor":2,)"
                             R"("original_max_position_embeddings":2048}})",
                             R"({"head_dim":64,"original_max_position_embeddings":4096,)"
                             R"("rope_scaling":{"rope_type":"yarn","factor":2,)"
                             R"("original_max_position_embeddings":2048}})",
                             R"({"head_dim":64,"rope_parameters":{"full_attention":{"rope_type":"default"},)"
                             R"("sliding_attention":{"rope_type":"default"}}})",
                             R"({"head_dim":64,"rope_scaling":{"rope_type":"yarn","factor":2}})",
                             R"({"head_dim":64,"rope_scaling":{"rope_type":"linear"}})"}) {
    EXPECT_THROW(spec_from_hf_config(config), SpecError) << config;
  }
}

TEST(HfConfig, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(spec_from_hf_config(R"({"head_dim":64,"rope_scaling":{"rope_type":"warp"}})"), SpecError);
  EXPECT_THROW(spec_from_hf_config(R"({"head_dim":64,"rope_scaling":{"type":"default","factor":2}})"), SpecError);
  EXPECT_THROW(spec_from_hf_config(R"({"hidden_size":100,"num_attention_heads":3})"), SpecError);
  EXPECT_THROW(spec_from_hf_config(R"({"vocab_size":1})"), SpecError);
  EXPECT_THROW(spec_from_hf_config(R"({"text_config":{"head_dim":64}})"), SpecError);
}

}  // namespace
}  // namespace sextant
