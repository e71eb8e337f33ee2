// Over 400 lines: a flat list of files and of what is read from them, each a few lines that are read alone.
#include "lib/spec/hf_config.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lib/spec/presets.hpp"

namespace sextant::spec_hf_config_test {
namespace {

Rope rope_of(const char* json) { return std::get<Rope>(spec_from_hf_config(json).encoding); }

TEST(HfConfig, ReadsAnOldStyleLlama) {
  const Spec spec = spec_from_hf_config(
      R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,
          "max_position_embeddings":4096,"rope_theta":10000.0,"rope_scaling":null,"torch_dtype":"float16",
           "vocab_size":32000,"architectures":["LlamaForCausalLM"]})");
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
      R"({"model_type":"phi","head_dim":64,"hidden_size":4096,"num_attention_heads":32,
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
          "rope_scaling":{"factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,
                          "original_max_position_embeddings":8192,"rope_type":"llama3"}})");
  const auto& llama3 = std::get<Llama3Scaling>(std::get<Rope>(spec.encoding).rope_scaling);
  EXPECT_EQ(llama3.factor, 8);
  EXPECT_EQ(llama3.original_max_position_embeddings, 8192);
  EXPECT_EQ(llama3.low_freq_factor, 1);
  EXPECT_EQ(llama3.high_freq_factor, 4);
  EXPECT_EQ(spec.max_position, 131072);
}

TEST(HfConfig, ReadsDeepseekV3) {
  const Rope rope = rope_of(
      R"({"model_type":"deepseek_v3","hidden_size":7168,"num_attention_heads":128,"qk_nope_head_dim":128,
          "qk_rope_head_dim":64,"max_position_embeddings":163840,"rope_theta":10000,"torch_dtype":"bfloat16",
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
    // transformers 5.24 knows the rule by its later name alone.
    EXPECT_EQ(claims_of_hf_config(config + type + "\"}}").front().notes.size(), std::string(type) == "su" ? 1U : 0U);
  }
}

// Phi-3.5-MoE-instruct: PhimoeConfig.rope_parameters, of which the file's lists are shortened here.
TEST(HfConfig, ReadsTheTwoMagnitudesOfPhimoe) {
  const auto config = [](const std::string& type, const std::string& magnitudes) {
    return R"({"model_type":")" + type + R"(","hidden_size":64,"num_attention_heads":8,"rope_theta":10000.0,)" +
           R"("max_position_embeddings":131072,"original_max_position_embeddings":4096,"rope_scaling":{)" +
           R"("type":"longrope","short_factor":[1.0,1.04,1.05,1.06],"long_factor":[1.02,1.1,8.0,64.0])" + magnitudes +
           "}}";
  };
  const std::string both = R"(,"short_mscale":1.243163121016122,"long_mscale":1.25)";
  const Rope rope = rope_of(config("phimoe", both).c_str());
  const auto& longrope = std::get<LongropeScaling>(rope.rope_scaling);
  EXPECT_EQ(longrope.short_mscale, 1.243163121016122);
  EXPECT_EQ(longrope.long_mscale, 1.25);
  EXPECT_EQ(longrope.original_max_position_embeddings, 4096);
  EXPECT_EQ(longrope.length_scope, LengthScope::call);
  EXPECT_EQ(claims_of_hf_config(config("phimoe", both)).front().notes.size(), 1);
  const auto refusal = [&](const std::string& json) -> std::string {
    try {
      claims_of_hf_config(json);
    } catch (const SpecError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(config("phimoe", "")).find("short_mscale: required by transformers' phimoe"), std::string::npos);
  EXPECT_NE(refusal(config("phi3", both)).find("short_mscale: not read by transformers' phi3"), std::string::npos);
}

// Layers without positions are a claim: nothing turns.
TEST(HfConfig, ReadsLayersWithoutPositions) {
  const auto claims =
      claims_of_hf_config(R"({"model_type":"smollm3","num_hidden_layers":4,"hidden_size":64,"num_attention_heads":4,)"
                          R"("no_rope_layers":[1,1,1,0]})");
  ASSERT_EQ(claims.size(), 2);
  EXPECT_EQ(claims[1].layers, (std::vector<std::int64_t>{3}));
  ASSERT_TRUE(claims[1].spec);
  const auto& rope = std::get<Rope>(claims[1].spec->encoding);
  EXPECT_EQ(name_of(rope.rope_scaling), "none");
  EXPECT_EQ(rope.head_dim, 16);
  EXPECT_EQ(claims[1].spec->max_position, 32768);
  // Latent attention: what would turn and what would not, side by side; the layers of the file count from 1.
  const auto kimi = claims_of_hf_config(
      R"({"model_type":"kimi_linear","linear_attn_config":{"full_attn_layers":[4,8],"kda_layers":[1,2,3,5,6,7]},)"
      R"("mla_use_nope":true,"model_max_length":1048576,"qk_nope_head_dim":128,"qk_rope_head_dim":64})");
  ASSERT_EQ(kimi.size(), 2);
  EXPECT_EQ(kimi[0].layers, (std::vector<std::int64_t>{3, 7}));
  ASSERT_TRUE(kimi[0].spec);
  EXPECT_EQ(std::get<Rope>(kimi[0].spec->encoding).head_dim, 192);
  EXPECT_FALSE(kimi[1].spec);
  EXPECT_EQ(kimi[1].layers.front(), 0);
}

TEST(HfConfig, ReadsQwen25Yarn) {
  const Rope rope = rope_of(
      R"({"model_type":"qwen2","hidden_size":3584,"num_attention_heads":28,"max_position_embeddings":32768,
          "rope_theta":1000000.0,"sliding_window":131072,
          "rope_scaling":{"factor":4.0,"type":"yarn","attention_factor":null,"finetuned":true}})");
  const auto& yarn = std::get<YarnScaling>(rope.rope_scaling);
  EXPECT_EQ(yarn.factor, 4);
  EXPECT_EQ(yarn.original_max_position_embeddings, 32768);  // max_position_embeddings, where the rule does not say
}

TEST(HfConfig, ReadsTheOtherTypes) {
  const auto scaling = [](const std::string& rule) {
    return rope_of(
               (R"({"model_type":"llama","head_dim":64,"max_position_embeddings":2048,"rope_parameters":)" + rule + "}")
                   .c_str())
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
  EXPECT_EQ(std::get<YarnScaling>(scaling(R"({"rope_type":"yarn","factor":2,"truncate":null})")).truncate,
            Truncate::no);
  EXPECT_EQ(name_of(scaling(R"({"rope_theta":10000})")), "default");
  const Rope gemma = rope_of(R"({"model_type":"llama","head_dim":512,"rope_parameters":{"rope_type":"proportional",)"
                             R"("partial_rotary_factor":0.25,"rope_theta":1000000.0}})");
  EXPECT_EQ(gemma.rotary_dim, 128);
  EXPECT_EQ(gemma.rotary_layout, RotaryLayout::spread);
  EXPECT_EQ(std::get<ProportionalScaling>(gemma.rope_scaling).factor, 1);
}

TEST(HfConfig, RefusesContradictoryRules) {
  for (const char* config :
       {R"({"model_type":"llama","head_dim":64,"rope_scaling":{"rope_type":"linear","type":"dynamic","factor":2}})",
        R"({"model_type":"llama","head_dim":64,"rope_scaling":{"rope_type":"linear","factor":2},)"
        R"("rope_parameters":{"rope_type":"linear","factor":4}})",
        R"({"model_type":"llama","head_dim":64,"max_position_embeddings":4096,)"
        R"("rope_scaling":{"rope_type":"dynamic","factor":2,)"
        R"("original_max_position_embeddings":2048}})",
        R"({"model_type":"llama","head_dim":64,"original_max_position_embeddings":4096,)"
        R"("rope_scaling":{"rope_type":"yarn","factor":2,)"
        R"("original_max_position_embeddings":2048}})",
        R"({"model_type":"llama","head_dim":64,"rope_parameters":{"full_attention":{"rope_type":"default"},)"
        R"("sliding_attention":{"rope_type":"default"}}})",
        R"({"model_type":"llama","head_dim":64,"rope_parameters":{"rope_theta":7},"rope_scaling":{"type":"default"}})",
        R"({"model_type":"llama","head_dim":64,"rope_scaling":{"rope_type":"linear"}})"}) {
    EXPECT_THROW(spec_from_hf_config(config), SpecError) << config;
  }
}

std::string refusal_of(const char* config, const ConfigChoice& choice = {}) {
  try {
    return to_json(spec_from_hf_config(config, choice));
  } catch (const SpecError& error) {
    return error.what();
  }
}

TEST(HfConfig, RefusesWhatItDoesNotKnow) {
  const auto expect = [](const char* config, const char* reason) {
    EXPECT_NE(refusal_of(config).find(reason), std::string::npos) << refusal_of(config);
  };
  expect(R"({"model_type":"llama","head_dim":64,"rope_scaling":{"rope_type":"warp"}})", "rope_type");
  expect(R"({"model_type":"llama","head_dim":64,"rope_scaling":{"type":"default","factor":2}})", "rope_scaling.factor");
  expect(R"({"model_type":"llama","hidden_size":100,"num_attention_heads":3})", "hidden_size: 100 is no multiple");
  expect(R"({"vocab_size":1})", "model_type: required, or --pairing half or --pairing interleaved");
  expect(R"({"model_type":"warp","head_dim":64,"rope_theta":7})", "\"warp\" is not known: pass --pairing half");
  expect(R"({"model_type":"warp","head_dim":64})",
         "\"warp\" is not known, and no field of its file tells of a rotation: state the claim with --spec");
  expect(R"({"model_type":"warp","text_config":{"head_dim":64}})", "\"warp\" is not known");
  expect(R"({"model_type":"warp","text_config":{"model_type":"llama","head_dim":64,"rope_theta":7}})",
         "\"warp\" is not known, but its text_config is: pass --sub-config text_config");
  expect(R"({"model_type":"warp","head_dim":64,"rope_theta":7,"kv_channels":64})",
         "\"warp\" is not known, and --pairing does not read its file: ");
  expect(R"({"model_type":"bert","position_embedding_type":"relative_key"})", "relative_key");
  expect(R"({"model_type":"llama","head_dim":64,"partial_rotary_factor":0.5})", "turns whole heads");
  expect(R"({"model_type":"llama","rope_theta":1,"rope_parameters":{"rope_theta":2}})", "rope_theta: 1 contradicts 2");
  expect(R"({"model_type":"gemma3"})", "text_config: required");
  expect(R"({"model_type":"llama","head_dim":"64"})", "head_dim: expected an integer, got \"64\"");
  expect(R"({"model_type":7})", "model_type: expected a string, got 7");
  expect(R"({"model_type":"gemma3_text","rope_scaling":{"type":"linear","factor":8}})",
         "reads rope_type here, and not type");
  expect(R"({"model_type":"gemma3","text_config":{"model_type":"gemma2"}})",
         "text_config.model_type: expected gemma3_text");
  expect(R"({"model_type":"lfm2","num_hidden_layers":1,"layer_types":["sliding_attention"]})",
         "full_attention or conv");
  expect(R"({"model_type":"gptj","rope_theta":1e6})", "rope_theta: 1000000 contradicts");
  expect(R"({"model_type":"gptj","rope_scaling":{"type":"linear","factor":2}})", "rope_scaling: not read");
  expect(R"({"model_type":"deepseek_v3","rope_interleave":null})", "rope_interleave: expected true or false, got null");
  expect(R"({"model_type":"qwen2_vl","original_max_position_embeddings":1024,"vision_config":{},"rope_scaling":)"
         R"({"type":"yarn","factor":4,"mrope_section":[16,24,24]}})",
         "original_max_position_embeddings: not handed on to qwen2_vl_text");
  expect(R"({"model_type":"qwen2_vl","head_dim":128,"vision_config":{}})", "head_dim: not handed on to qwen2_vl_text");
  expect(R"({"model_type":"llama","rope_scaling":{"type":"yarn","original_max_position_embeddings":4096}})",
         "yarn without a factor");
  expect(R"({"model_type":"glm4_moe_lite","head_dim":192})",
         "head_dim: 192 contradicts the 64 channels of qk_rope_head_dim");
  expect(R"({"model_type":"mistral4","head_dim":64})", "contradicts the 128 channels of qk_nope_head_dim and");
  expect(R"({"model_type":"glm","partial_rotary_factor":null})", "partial_rotary_factor: expected a number, got null");
  expect(R"({"model_type":"llama","n_embd":64})",
         "n_embd: not read by transformers' llama, which looks for hidden_size");
  expect(R"({"model_type":"llama","hidden_size":64,"n_head":2})", "n_head: not read");
  expect(R"({"model_type":"qwen2","n_positions":64})", "n_positions: not read");
  expect(R"({"model_type":"lla\u0000ma"})", R"("lla\u0000ma" is not known)");
  expect(R"({"model_type":"llama","per_layer_config":{"0":{"head_dim":32}}})", "per_layer_config: not read");
  expect(R"({"model_type":"gemma4_text","num_hidden_layers":6,"per_layer_config":{"6":{"head_dim":512}}})",
         "per_layer_config: expected layers from 0 to 5, got 6");
  expect(R"({"model_type":"gemma4_text","num_hidden_layers":6,"per_layer_config":{"5":{"rope_theta":5}}})",
         "per_layer_config.5.rope_theta: not read");
  expect(R"({"model_type":"gemma4_text","num_hidden_layers":6,"per_layer_config":{"4":{"head_dim":512}}})",
         "per_layer_config: head_dim 256 and 512 of layers with sliding_attention alike");
  expect(
      R"({"model_type":"olmo3","rope_parameters":{"full_attention":{"rope_type":"yarn","factor":4,"truncate":false}}})",
      "rope_parameters.full_attention.truncate: not read");
  expect(R"({"model_type":"smollm3","num_hidden_layers":4,"no_rope_layers":[1]})", "each of the 4 layers, got 1");
  expect(R"({"model_type":"qwen3_next","layer_types":["linear_attention"],"num_hidden_layers":1})", "full attention");
  expect(R"({"model_type":"llama","head_dim":64,"num_attention_heads":null})", "num_attention_heads: expected");
  expect(R"({"model_type":"llama","rope_parameters":{"rope_theta":null}})", "rope_parameters.rope_theta: expected");
  expect(R"({"model_type":"gptj","n_head":null})", "n_head: expected an integer, got null");
  expect(R"({"model_type":"qwen2","max_position_embeddings":null})", "max_position_embeddings: expected an integer");
  expect(R"({"model_type":"gemma","head_dim":null})", "head_dim: expected an integer, got null");
  expect(R"({"model_type":"llama","rope_theta":null})", "rope_theta: expected a number, got null");
  expect(R"({"model_type":"qwen3_vl_text","rope_parameters":{"rope_type":"default","mrope_section":[24,20]}})",
         "mrope_section: transformers' qwen3_vl_text takes sections of time, height and width, got [24, 20]");
}

// Of classes that do not put anything in its place, where attention or the rule multiplies by it.
TEST(HfConfig, RefusesRulesThatTransformersDoesNotKnow) {
  const auto expect = [](const std::string& rule, const char* reason) {
    const std::string file = R"({"model_type":"llama","rope_scaling":)" + rule + "}";
    try {
      spec_from_hf_config(file);
      ADD_FAILURE() << "expected a refusal of " << rule;
    } catch (const SpecError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  expect(R"({"rope_type":"none"})", "rope_type: \"none\" is not known to transformers");
  expect(R"({"type":"ntk","factor":2})", "type: \"ntk\" is not known to transformers");
  expect(R"({"type":"default","rope_type":"mrope"})", "rope_type: \"mrope\" is not known to transformers' llama");
}

// Code besides transformers may turn otherwise by them: a word of it, so that nobody takes the claim for theirs.
TEST(HfConfig, NotesWhatItsTypeDoesNotReadOfPositions) {
  const auto notes = [](const std::string& fields) {
    return claims_of_hf_config("{\"model_type\":\"llama\",\n" + fields + "}").front().notes;
  };
  EXPECT_EQ(
      notes(R"("rope_condense_ratio": 8)"),
      (std::vector<std::string>{"line 2: rope_condense_ratio is not read by transformers' llama, and not claimed"}));
  EXPECT_EQ(notes(R"("use_rope": false)").size(), 1U);
  EXPECT_EQ(notes(R"("num_hidden_layers": 1, "layer_types": ["linear_attention"])").size(), 1U);
  EXPECT_EQ(notes(R"("use_rope": true, "use_xpos": false, "position_embedding_type": "absolute", "alibi": null,
                     "num_hidden_layers": 2, "layer_types": ["full_attention", "sliding_attention"],
                     "rope_theta": 10000)"),
            std::vector<std::string>());
}

// Python's JSON has them: mamba's time_step_limit, say.
TEST(HfConfig, PassesOverInfinitiesOfFieldsThatItDoesNotRead) {
  EXPECT_EQ(rope_of(R"({"model_type":"llama","head_dim":64,"time_step_limit":[0.0, Infinity, -Infinity, NaN],
                        "a \"NaN": "Infinity"})")
                .head_dim,
            64);
  EXPECT_THROW(rope_of(R"({"model_type":"llama","head_dim":64,"rope_theta":Infinity})"), SpecError);
}

// transformers 5.24 builds no model of these.
TEST(HfConfig, RefusesFilesThatTransformersFailsWith) {
  const auto expect = [](const char* file, const char* reason) {
    try {
      claims_of_hf_config(file);
      ADD_FAILURE() << "expected a refusal of " << file;
    } catch (const SpecError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  expect(R"({"model_type":"falcon","head_dim":128})", "head_dim: not read by transformers' falcon");
  expect(R"({"model_type":"mixtral","rope_scaling":{"type":"dynamic","factor":2}})", "head_dim: required: without it");
  expect(R"({"model_type":"phi3","rope_scaling":{"type":"linear","factor":2}})", "expected longrope, the only rule");
  expect(R"({"model_type":"llama","rope_scaling":{"rope_type":"su","factor":2}})", "\"su\" is not known");
  expect(R"({"model_type":"exaone4","sliding_window":null})", "layer_types: required where sliding_window is null");
  expect(R"({"model_type":"exaone4","sliding_window_pattern":"LLLG"})", "list the kinds as layer_types");
  expect(R"({"model_type":"gemma4_text","global_head_dim":null})", "global_head_dim: expected an integer, got null");
  expect(R"({"model_type":"mistral4","rope_parameters":{"rope_type":"default","rope_theta":1e4,)"
         R"("partial_rotary_factor":0.25}})",
         "expected qk_rope_head_dim's share of the head, 0.5, got 0.25");
  expect(R"({"model_type":"xlnet","d_model":63})", "d_model: expected an even number");
  expect(R"({"_class_name":"UNet2DConditionModel"})", "_class_name: a file of diffusers");
}

TEST(HfConfig, NotesCodeBesideTheFile) {
  const auto claims = claims_of_hf_config(
      R"({"model_type":"deepseek_v2","auto_map":{"AutoModel":"modeling_deepseek.DeepseekV2Model"}})");
  ASSERT_EQ(claims.front().notes.size(), 1U);
  EXPECT_NE(claims.front().notes.front().find("auto_map names code beside the file"), std::string::npos);
}

TEST(HfConfig, RefusesAHeadDimOfNullThatFails) {
  const std::string yarn = R"(,"rope_scaling":{"rope_type":"yarn","factor":4}})";
  for (const char* model_type : {"qwen2", "olmo3", "glm", "deepseek_v3", "kimi_k2"}) {
    for (const std::string& rule : {std::string("}"), yarn}) {
      const std::string config = fmt::format("{{\"model_type\":\"{}\",\n\"head_dim\":null{}", model_type, rule);
      const std::string message = refusal_of(config.c_str());
      EXPECT_EQ(message.find("line 2: head_dim: expected an integer, got null, with which transformers' "), 0)
          << message;
      EXPECT_NE(message.find("leave the field out for "), std::string::npos) << message;
    }
  }
  const std::string config = R"({"model_type":"starcoder2","head_dim":null)" + yarn;
  EXPECT_NE(refusal_of(config.c_str()).find("line 1: head_dim: expected an integer, got null"), std::string::npos);
}

// configuration_TYPE.py fills its own rule in where rope_parameters is None, which an empty object is not; an empty
// rope_scaling is none.
TEST(HfConfig, TellsAnEmptyRuleFromNone) {
  for (const char* model_type : {"gpt_oss", "gemma4_text", "apertus", "ministral3", "mistral4"}) {
    const std::string message =
        refusal_of(fmt::format(R"({{"model_type":"{}","rope_parameters":{{}}}})", model_type).c_str());
    EXPECT_EQ(message.find("line 1: rope_parameters: {} keeps transformers' "), 0) << message;
    const std::string none = fmt::format(R"({{"model_type":"{}"}})", model_type);
    const std::string empty = fmt::format(R"({{"model_type":"{}","rope_scaling":{{}}}})", model_type);
    const auto claims = claims_of_hf_config(none);
    const auto same = claims_of_hf_config(empty);
    ASSERT_EQ(claims.size(), same.size());
    for (std::size_t i = 0; i < claims.size(); ++i) EXPECT_EQ(to_json(*claims[i].spec), to_json(*same[i].spec));
  }
  EXPECT_EQ(to_json(spec_from_hf_config(R"({"model_type":"llama","rope_parameters":{}})")),
            to_json(spec_from_hf_config(R"({"model_type":"llama"})")));
}

// What is out of its domain is told of by where the file says it, or by whose default it is.
TEST(HfConfig, NamesTheLineOfWhatASpecCannotHave) {
  const auto expect = [](const char* config, const char* message) { EXPECT_EQ(refusal_of(config), message); };
  expect("{\"model_type\":\"llama\",\n\"head_dim\":64,\n\"rope_theta\":0.5}",
         "line 3: rope_theta: expected a finite number of at least 1, got 0.5");
  expect("{\"model_type\":\"llama\",\n\"head_dim\":63}",
         "line 2: head_dim: expected an even number from 2 to 1048576, got 63");
  expect(
      "{\"model_type\":\"llama\",\n\"hidden_size\":126,\n\"num_attention_heads\":2}",
      "line 2: hidden_size / line 3: num_attention_heads: head_dim: expected an even number from 2 to 1048576, got 63");
  expect("{\"model_type\":\"llama\",\n\"head_dim\":64,\n\"rope_scaling\":{\n\"type\":\"linear\",\n\"factor\":0}}",
         "line 5: rope_scaling.factor: expected a finite number of at least 1 (below 1 it would shorten the context), "
         "got 0");
  expect("{\"model_type\":\"gpt_neox\",\n\"rotary_emb_base\":0}",
         "line 2: rotary_emb_base: expected a finite number of at least 1, got 0");
  // By the file's own names, with what it has and what a file may have.
  expect("{\"model_type\":\"llama\",\n\"max_position_embeddings\":0}",
         "line 2: max_position_embeddings: expected an integer above min_position = 0 and at most 2^53, got 0");
  expect("{\"model_type\":\"llama\",\n\"rope_scaling\":{\"type\":\"x\",\"factor\":2}}",
         "line 2: rope_scaling.type: expected one of default, linear, dynamic, yarn, longrope, llama3, proportional, "
         "got \"x\"");
  expect("{\"model_type\":\"llama\",\n\"rope_scaling\":{\"type\":\"linear\"}}",
         "line 2: rope_scaling.factor: required");
  expect("{\"model_type\":\"llama\",\n\"rope_theta\":1,\n\"rope_theta\":2}",
         "line 3: rope_theta: is given twice, first in line 2");
}

// A null that transformers itself takes: of a class whose head_dim may be absent, and of a base that the rule has.
TEST(HfConfig, ReadsTheNullsThatTransformersTakes) {
  for (const char* model_type : {"llama", "mistral", "ernie4_5", "seed_oss", "starcoder2"}) {
    const std::string config =
        fmt::format(R"({{"model_type":"{}","hidden_size":4096,"num_attention_heads":64,"head_dim":null}})", model_type);
    EXPECT_EQ(rope_of(config.c_str()).head_dim, 64) << model_type;
  }
  EXPECT_EQ(rope_of(R"({"model_type":"deepseek_v2","qk_rope_head_dim":32,"head_dim":null})").head_dim, 32);
  EXPECT_EQ(rope_of(R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":64,"head_dim":null,)"
                    R"("rope_scaling":{"rope_type":"yarn","factor":4}})")
                .head_dim,
            64);
  EXPECT_EQ(
      rope_of(R"({"model_type":"llama","rope_theta":null,"rope_parameters":{"rope_type":"default","rope_theta":5}})")
          .rope_theta,
      5);
}

// As transformers 5 saves it: the layers of full attention by their index.
TEST(HfConfig, ReadsTheWidthOfEachLayerOfGemma4) {
  const char* config = R"({"model_type":"gemma4_text","num_hidden_layers":6,"head_dim":128,
                           "per_layer_config":{"5":{"head_dim":384,"num_key_value_heads":2}}})";
  const auto claims = claims_of_hf_config(config, {});
  ASSERT_EQ(claims.size(), 2U);
  for (const ConfigClaim& claim : claims) {
    EXPECT_EQ(std::get<Rope>(claim.spec->encoding).head_dim, claim.kind == "full_attention" ? 384 : 128) << claim.kind;
  }
}

TEST(HfConfig, PartsAreLoadedInTheDtypeOfTheWhole) {
  const char* config = R"({"model_type":"gemma3","dtype":"bfloat16","text_config":{"dtype":"float16"},
                           "vision_config":{"dtype":"float32"}})";
  for (const ConfigClaim& claim : claims_of_hf_config(config, {})) {
    ASSERT_TRUE(claim.spec) << claim.refusal;
    EXPECT_EQ(claim.spec->dtype, Dtype::bfloat16) << name_of(claim);
  }
  const char* silent = R"({"model_type":"gemma3","text_config":{"dtype":"float16"},"vision_config":{}})";
  EXPECT_EQ(claims_of_hf_config(silent, {}).front().spec->dtype, Dtype::float16);
}

TEST(HfConfig, ReadsTheLargestExponentOfMpt) {
  const std::string before = R"({"model_type":"mpt","n_heads":32,"max_seq_len":65536,)"
                             R"("attn_config":{"alibi":true,"alibi_bias_max":)";
  const auto notes_of = [&](const char* exponent) {
    return claims_of_hf_config(before + exponent + "}}").front().notes;
  };
  EXPECT_EQ(to_json(spec_from_hf_config(before + "16}}")),
            to_json(parse_spec(preset_named("mpt-7b-storywriter")->json)));
  EXPECT_EQ(notes_of("16").size(), notes_of("8").size() + 1);
  EXPECT_NE(refusal_of((before + "25}}").c_str()).find("bias_max"), std::string::npos);
}

// Its class has a rule of its own, which a file with rope_theta alone keeps.
TEST(HfConfig, ReadsApertusOwnBaseAndRule) {
  const Rope rope = rope_of(R"({"model_type":"apertus"})");
  EXPECT_EQ(rope.rope_theta, 12e6);
  EXPECT_EQ(std::get<Llama3Scaling>(rope.rope_scaling).factor, 8);
}

TEST(HfConfig, AnUnknownTypeIsReadByThePairingThatTheCallerStates) {
  const char* config = R"({"model_type":"warp","head_dim":64,"rope_theta":7,"max_position_embeddings":512})";
  const Spec spec = spec_from_hf_config(config, {.pairing = Pairing::interleaved, .layer = "", .sub_config = ""});
  const auto& rope = std::get<Rope>(spec.encoding);
  EXPECT_EQ(rope.pairing, Pairing::interleaved);
  EXPECT_EQ(rope.rope_theta, 7);
  EXPECT_EQ(spec.max_position, 512);
  const ConfigChoice part{.pairing = Pairing::half, .layer = "", .sub_config = "text_config"};
  const Spec inner = spec_from_hf_config(
      R"({"model_type":"warp","torch_dtype":"bfloat16","text_config":{"head_dim":32,"rope_theta":7}})", part);
  EXPECT_EQ(std::get<Rope>(inner.encoding).head_dim, 32);
  EXPECT_EQ(inner.dtype, Dtype::bfloat16);
  for (const char* other : {R"({"model_type":"warp"})", R"({"model_type":"gemma3","text_config":{}})"}) {
    EXPECT_NE(refusal_of(other, {.pairing = {}, .layer = "", .sub_config = "vision_config"})
                  .find("vision_config: --sub-config names it, and the file has no such part"),
              std::string::npos);
  }
  const auto refusal = [](const std::string& fields) {
    return refusal_of((R"({"model_type":"warp",)" + fields + "}").c_str(),
                      {.pairing = Pairing::half, .layer = "", .sub_config = ""});
  };
  EXPECT_NE(refusal(R"("rope_theta":7)").find("head_dim: required"), std::string::npos);
  EXPECT_NE(refusal(R"("head_dim":64)").find("model_type: no field of the file tells of a rotation"),
            std::string::npos);
}

// What a file of an unknown type says of positions besides is not left out.
TEST(HfConfig, APairingReadsNoFieldOfAnotherRule) {
  const ConfigChoice choice{.pairing = Pairing::half, .layer = "", .sub_config = ""};
  const auto file = [](const std::string& field) {
    return R"({"model_type":"warp","head_dim":64,"rope_theta":7,)" + field + "}";
  };
  for (const char* field : {R"("qk_rope_head_dim":64)",
                            R"("kv_channels":128)",
                            R"("attention_head_dim":160)",
                            R"("alibi":true)",
                            R"("rope_local_base_freq":10000)",
                            R"("layer_types":["full_attention","linear_attention"])",
                            R"("no_rope_layers":[1,0])",
                            R"("hybrid_override_pattern":"M-M*")",
                            R"("attn_layer_period":8)",
                            R"("position_embedding_type":"nope")",
                            R"("use_rope":false)",
                            R"("rope_ratio":500)",
                            R"("rotary_percent":0.5)",
                            R"("global_rope_theta":160000)",
                            R"("use_dynamic_ntk":true)",
                            R"("d_kv":64)",
                            R"("d_head":64)",
                            R"("pe_type":"alibi")",
                            R"("seq_len_interpolation_factor":4)",
                            R"("global_rope":false)"}) {
    const std::string name = std::string(field).substr(1, std::string(field).find('"', 1) - 1);
    EXPECT_NE(refusal_of(file(field).c_str(), choice).find(name + ": not read with --pairing"), std::string::npos)
        << field;
  }
  for (const char* field : {R"("alibi":false)", R"("use_rope":true)", R"("global_rope":true)", R"("pe_type":"rope")",
                            R"("position_embedding_type":"rope")",
                            R"("layer_types":["full_attention","full_attention"])", R"("kv_channels":null)"})
    EXPECT_EQ(std::get<Rope>(spec_from_hf_config(file(field), choice).encoding).rope_theta, 7) << field;
}

TEST(HfConfig, APairingIsForUnknownTypesAlone) {
  const ConfigChoice choice{.pairing = Pairing::interleaved, .layer = "", .sub_config = ""};
  EXPECT_NE(refusal_of(R"({"model_type":"llama"})", choice).find("llama is known, and read without --pairing"),
            std::string::npos);
}

TEST(HfConfig, AnEmptyRuleIsTheDefaultOfItsClass) {
  for (const char* type : {"gpt_oss", "apertus", "ministral3", "mistral4"}) {
    const auto spec = [&](const std::string& rule) {
      const auto claims = claims_of_hf_config(R"({"model_type":")" + std::string(type) + "\"" + rule + "}", {});
      return to_json(*claims.front().spec);
    };
    EXPECT_EQ(spec(R"(,"rope_scaling":{})"), spec("")) << type;
    EXPECT_EQ(spec(R"(,"rope_parameters":null)"), spec("")) << type;
  }
}

// transformers fills in the class's share under every rule.
TEST(HfConfig, AProportionalRuleTurnsTheClassesShare) {
  const char* rule = R"({"model_type":"glm4","rope_parameters":{"rope_type":"proportional","rope_theta":10000}})";
  const Rope rope = std::get<Rope>(spec_from_hf_config(rule, {}).encoding);
  EXPECT_EQ(rope.rotary_dim, rope.head_dim / 2);
}

constexpr const char* gemma3 =
    R"({"model_type":"gemma3","text_config":{"model_type":"gemma3_text","num_hidden_layers":7,
    "rope_scaling":{"rope_type":"linear","factor":8.0}},
  "vision_config":{"model_type":"siglip_vision_model","image_size":896,"patch_size":14,"hidden_size":1152}})";

TEST(HfConfig, ClaimsOfSeveralPartsAndKindsOfLayers) {
  const auto claims = claims_of_hf_config(gemma3);
  ASSERT_EQ(claims.size(), 3);
  EXPECT_EQ(name_of(claims[0]), "text_config sliding_attention");
  EXPECT_EQ(layers_text(claims[0]), "layers 0-4, 6");
  EXPECT_EQ(std::get<Rope>(claims[0].spec->encoding).rope_theta, 10000);
  EXPECT_EQ(layers_text(claims[1]), "layer 5");
  EXPECT_EQ(std::get<Rope>(claims[1].spec->encoding).rope_theta, 1000000);
  EXPECT_EQ(name_of(std::get<Rope>(claims[1].spec->encoding).rope_scaling), "linear");
  EXPECT_EQ(std::get<Learned>(claims[2].spec->encoding).max_positions, 4096);
  const auto chosen = [](const char* layer, const char* part) {
    return refusal_of(gemma3, {.pairing = {}, .layer = layer, .sub_config = part});
  };
  EXPECT_NE(chosen("", "").find(
                "3 claims, text_config sliding_attention (layers 0-4, 6), text_config full_attention (layer 5), "
                "vision_config: name one with --layer or --sub-config"),
            std::string::npos)
      << chosen("", "");
  EXPECT_NE(chosen("5", "").find("\"rope_theta\":1000000.0"), std::string::npos) << chosen("5", "");
  EXPECT_NE(chosen("sliding_attention", "text_config").find("\"rope_theta\":10000.0"), std::string::npos);
  EXPECT_NE(chosen("", "vision_config").find("learned"), std::string::npos);
  EXPECT_NE(chosen("7", "").find("nothing is claimed of layer 7"), std::string::npos) << chosen("7", "");
}

TEST(HfConfig, ReadsWhatTransformersFiveSavesOfAQwen2Vl) {
  const auto claims =
      claims_of_hf_config(R"({"model_type":"qwen2_vl","text_config":{"hidden_size":1024,"num_attention_heads":8,
      "rope_parameters":{"rope_type":"default","type":"mrope","mrope_section":[16,24,24],"rope_theta":1000000.0}}})");
  EXPECT_EQ(std::get<RopeNd>(claims.front().spec->encoding).sections, (std::vector<std::int64_t>{16, 24, 24}));
}

TEST(HfConfig, EachFieldTellsItsLine) {
  const auto claims = claims_of_hf_config(
      "{\n  \"model_type\": \"llama\",\n  \"hidden_size\": 4096,\n\n  \"rope_parameters\": {\n"
      "    \"rope_theta\": 500000.0}, \"dtype\": \"bfloat16\"\n}");
  const auto source = [&](std::string_view field) {
    const auto found = std::ranges::find(claims.front().sources, field, &FieldSource::field);
    return found == claims.front().sources.end() ? std::string("none") : found->source;
  };
  EXPECT_EQ(source("rope_theta"), "line 6: rope_parameters.rope_theta");
  EXPECT_EQ(source("head_dim"), "line 3: hidden_size / default of llama");
  EXPECT_EQ(source("dtype"), "line 6: dtype");
  EXPECT_EQ(source("pairing"), "llama");
  EXPECT_EQ(source("max_position"), "default of llama");
}

TEST(HfConfig, ALayerWithoutPositionsIsToldFromOneThatIsNotThere) {
  const auto told = [](const char* layer) -> std::string {
    try {
      return to_json(spec_from_hf_config(R"({"model_type":"qwen3_next"})", {std::nullopt, layer, ""}));
    } catch (const SpecError& error) {
      return error.what();
    }
  };
  EXPECT_NE(told("0").find("nothing is claimed of layer 0"), std::string::npos) << told("0");
  EXPECT_NE(told("0").find("its other layers (linear attention, convolutions) have no positions"), std::string::npos);
  EXPECT_EQ(told("sliding_attention").find("its other layers"), std::string::npos);
}

// transformers reads it from the top of a file for one rule alone: of rules for kinds of layers it takes
// max_position_embeddings (standardize_rope_params).
TEST(HfConfig, RulesOfKindsOfLayersAreTrainedAtTheWholeLength) {
  const auto claims = claims_of_hf_config(
      R"({"model_type":"gemma3_text","num_hidden_layers":6,"original_max_position_embeddings":1000,)"
      R"("max_position_embeddings":32768,"rope_scaling":{"rope_type":"yarn","factor":8.0}})");
  const auto full = std::ranges::find(claims, "full_attention", &ConfigClaim::kind);
  ASSERT_NE(full, claims.end());
  const auto& rope = std::get<Rope>(full->spec->encoding);
  EXPECT_EQ(std::get<YarnScaling>(rope.rope_scaling).original_max_position_embeddings, 32768);
}

TEST(HfConfig, EachLayerHasItsKind) {
  EXPECT_EQ(refusal_of(R"({"model_type":"phi3","num_hidden_layers":2,"layer_types":["full_attention"]})"),
            "line 1: layer_types: expected an entry for each of the 2 layers, got 1");
}

TEST(HfConfig, ACountOfLayersTellsNothingOfPairs) {
  const auto read = [](const char* field) -> std::string {
    const std::string file = R"({"model_type":"new","hidden_size":64,"num_attention_heads":2,"rope_theta":10000,)" +
                             std::string(field) + "}";
    try {
      return to_json(spec_from_hf_config(file, {Pairing::half, "", ""}));
    } catch (const SpecError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(read(R"("num_layers":4)").find("config"), std::string::npos) << read(R"("num_layers":4)");
  EXPECT_NE(read(R"("num_layers":[4])").find("num_layers: not read with --pairing"), std::string::npos);
  EXPECT_NE(read(R"("rope_num_layers":4)").find("not read with --pairing"), std::string::npos);
}

TEST(HfConfig, ServesAsManyPositionsAsTheRuleStretches) {
  const auto served = [](const std::string& rule) {
    return spec_from_hf_config(R"({"model_type":"llama","max_position_embeddings":4096,"rope_scaling":)" + rule + "}")
        .max_position;
  };
  EXPECT_EQ(served(R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":4096})"), 16384);
  EXPECT_EQ(served(R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":512})"), 4096);
  EXPECT_EQ(served(R"({"rope_type":"dynamic","factor":2})"), 8192);
  EXPECT_EQ(served(R"({"rope_type":"linear","factor":2})"), 4096);
}

}  // namespace
}  // namespace sextant::spec_hf_config_test
