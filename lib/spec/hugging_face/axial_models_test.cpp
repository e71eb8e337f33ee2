#include "lib/spec/hugging_face/axial_models.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace sextant::hugging_face_axial_models_test {
namespace {

std::string refusal_of(const char* config, const ConfigChoice& choice = {}) {
  try {
    return to_json(spec_from_hf_config(config, choice));
  } catch (const SpecError& error) {
    return error.what();
  }
}

RopeNd tower_of(const char* json) {
  const auto claims = claims_of_hf_config(json);
  EXPECT_TRUE(claims.front().spec) << claims.front().refusal;
  return std::get<RopeNd>(claims.front().spec->encoding);
}

// attribute_map of each class: num_attention_heads is num_heads.
TEST(HfConfigOfTowers, ReadsTheHeadsOfATowerByBothNamesOfItsClass) {
  for (const std::string type :
       {"glm4v_vision", "qwen2_5_vl_vision", "qwen2_vl_vision", "qwen3_5_vision", "qwen3_vl_vision"}) {
    const std::string before =
        R"({"model_type":")" + type + (type == "qwen2_vl_vision" ? R"(","embed_dim":1152)" : R"(","hidden_size":1152)");
    EXPECT_EQ(tower_of((before + R"(,"num_attention_heads":8})").c_str()).rope.head_dim, 144) << type;
    EXPECT_EQ(tower_of((before + R"(,"num_heads":8})").c_str()).rope.head_dim, 144) << type;
    EXPECT_THROW(claims_of_hf_config(before + R"(,"num_heads":16,"num_attention_heads":8})"), SpecError) << type;
  }
}

TEST(HfConfigOfTowers, RefusesWhatATowerDoesNotRead) {
  const auto expect = [](const char* config, const char* reason) {
    EXPECT_NE(refusal_of(config).find(reason), std::string::npos) << refusal_of(config);
  };
  expect(R"({"model_type":"dinov3_vit","embed_dim":1024,"num_heads":16})",
         "embed_dim: not read by transformers' dinov3_vit, which takes 384 (default of dinov3_vit)");
  expect(R"({"model_type":"dinov3_vit","num_heads":16})", "num_heads: not read");
  expect(R"({"model_type":"pixtral","n_head":4})", "n_head: not read");
  expect(R"({"model_type":"qwen2_5_vl_vision","embed_dim":1280})", "embed_dim: not read");
  expect(R"({"model_type":"pixtral","partial_rotary_factor":0.5})", "partial_rotary_factor: not read");
  expect(R"({"model_type":"pixtral","rotary_dim":32})", "rotary_dim: not read");
  expect(R"({"model_type":"pixtral","rope_parameters":{"rope_type":"axial","factor":2}})",
         "rope_parameters.factor: not read");
  expect(R"({"model_type":"qwen2_vl_vision","rope_scaling":{"type":"mrope","mrope_section":[16,24,24]}})",
         "rope_scaling.mrope_section: not read");
  expect(R"({"model_type":"qwen2_vl_vision","rope_scaling":{"type":"mrope"}})", "expected axial, got \"mrope\"");
  expect(R"({"model_type":"qwen2_vl_vision","rope_theta":7,"rope_scaling":{"rope_theta":5}})",
         "rope_theta: 7 contradicts 5");
  expect(R"({"model_type":"gemma4_vision","rope_parameters":{"rope_theta":5},"rope_scaling":{"rope_theta":6}})",
         "rope_theta: 5 contradicts 6");
  expect(R"({"model_type":"dinov3_vit","rope_parameters":{"rope_type":"axial","rope_theta":5}})",
         "its rope_theta 5 is not read by transformers' dinov3_vit, which takes 100");
  expect(R"({"model_type":"dinov3_vit","rope_theta":7.0,"rope_scaling":{"rope_theta":5}})", "which takes 7");
  expect(R"({"model_type":"pixtral","num_attention_heads":7})",
         "hidden_size: 1024 is no multiple of num_attention_heads = 7");
  expect(R"({"model_type":"pixtral","num_attention_heads":null})", "expected an integer, got null");
  expect(R"({"model_type":"qwen3_vl_vision","num_heads":null})", "num_heads: expected an integer, got null");
  expect(R"({"model_type":"gemma4_vision","head_dim":null})", "head_dim: expected an integer, got null");
  expect(R"({"model_type":"gemma4_vision","rope_theta":null})", "rope_theta: expected a number, got null");
  expect(R"({"model_type":"pixtral","rope_parameters":{"rope_theta":null}})", "rope_parameters.rope_theta: expected");
  expect(R"({"model_type":"gemma4_vision","per_layer_config":{"0":{"head_dim":32}}})", "per_layer_config: not read");
  expect(R"({"model_type":"pixtral","patch_size":[16,16]})", "patch_size: expected an integer");
  expect(R"({"model_type":"kimi_k25_vision","patch_size":[16,16]})", "patch_size: expected an integer");
  expect(R"({"model_type":"gemma4_vision","num_attention_heads":null})", "num_attention_heads: expected an integer");
  expect(R"({"model_type":"glm4v_vision","image_size":null})", "image_size: expected an integer, got null");
  expect(R"({"model_type":"qwen2_vl_vision","rope_parameters":{"rope_theta":5},"rope_scaling":{"type":"default"}})",
         "rope_scaling: transformers takes it for rope_parameters, and leaves out");
  expect(R"({"model_type":"llama4_vision_model","image_size":[336,336]})", "image_size: expected an integer");
  expect(R"({"model_type":"dinov3_vit","image_size":[224,224,224]})", "image_size: expected an integer or two");
  expect(R"({"model_type":"dinov3_vit","image_size":[224,0]})", "image_size: expected an integer or two");
  expect(R"({"model_type":"dinov3_vit","image_size":[224,8]})", "image_size: expected 1 to 4096 patches of 16, got 0");
}

TEST(HfConfigOfTowers, ReadsTheBaseOfATowersOlderRule) {
  EXPECT_EQ(
      tower_of(R"({"model_type":"qwen2_vl_vision","rope_scaling":{"type":"default","rope_theta":5}})").rope.rope_theta,
      5);
  EXPECT_EQ(
      tower_of(R"({"model_type":"dinov3_vit","rope_theta":7.0,"rope_parameters":{"rope_theta":7}})").rope.rope_theta,
      7);
  EXPECT_EQ(tower_of(R"({"model_type":"pixtral","rope_scaling":{}})").rope.rope_theta, 10000);
}

TEST(HfConfigOfTowers, ReadsOblongImagesAndPatches) {
  const RopeNd oblong = tower_of(R"({"model_type":"dinov3_vit","image_size":[96,160],"patch_size":[16,8]})");
  EXPECT_EQ(oblong.extents, (std::vector<std::int64_t>{6, 20}));
  const auto longest = [](const char* json) { return claims_of_hf_config(json).front().spec->max_position; };
  EXPECT_EQ(longest(R"({"model_type":"dinov3_vit","image_size":[96,160],"patch_size":[16,8]})"), 20);
  EXPECT_EQ(longest(R"({"model_type":"pixtral","image_size":[224,320],"patch_size":16})"), 20);
  // _num_image_tokens of its image processor rounds up: 1000 pixels are 72 patches of 14.
  EXPECT_EQ(longest(R"({"model_type":"pixtral","image_size":1000,"patch_size":14})"), 72);
  EXPECT_EQ(longest(R"({"model_type":"dinov3_vit","image_size":1000,"patch_size":14})"), 71);
}

// A class whose part is no AutoConfig takes its own class whatever the file says.
TEST(HfConfigOfTowers, TheTowerOfAFileIsOfTheClassThatTransformersTakes) {
  const auto vision = [](const std::string& whole, const std::string& part) {
    const std::string json =
        R"({"model_type":")" + whole + R"(","text_config":{},"vision_config":{"model_type":")" + part + R"("}})";
    return refusal_of(json.c_str(), {.pairing = {}, .layer = "", .sub_config = "vision_config"});
  };
  for (const char* whole :
       {"gemma4", "glm4v", "kimi_k25", "llama4", "qwen2_5_vl", "qwen2_vl", "qwen3_5", "qwen3_vl", "siglip"}) {
    EXPECT_NE(vision(whole, "pixtral").find("vision_config.model_type: expected "), std::string::npos)
        << vision(whole, "pixtral");
    EXPECT_EQ(vision(whole, whole).find("model_type"), std::string::npos) << vision(whole, whole);
  }
  EXPECT_NE(vision("mistral3", "siglip_vision_model").find("learned"), std::string::npos);
  EXPECT_NE(vision("gemma3", "pixtral").find("rope_nd"), std::string::npos);
  EXPECT_NE(vision("mistral3", "mistral3").find("is not known"), std::string::npos);
}

// Omni models' text and tower are parts of their thinker.
TEST(HfConfigOfTowers, ReadsThePartsThatAThinkerHolds) {
  const char* config = R"({"model_type":"qwen3_omni_moe","dtype":"bfloat16","thinker_config":{"text_config":{
      "hidden_size":256,"num_attention_heads":4,"head_dim":128,
      "rope_scaling":{"interleaved":true,"mrope_section":[24,20,20],"rope_type":"default"}},"vision_config":{}}})";
  const auto claims = claims_of_hf_config(config);
  ASSERT_EQ(claims.size(), 3U);
  EXPECT_EQ(std::get<RopeNd>(claims[0].spec->encoding).section_order, SectionOrder::interleaved);
  EXPECT_EQ(claims[0].part, "text_config");
  EXPECT_EQ(claims[1].spec->dtype, Dtype::bfloat16);
  EXPECT_EQ(std::get<RopeNd>(claims[1].spec->encoding).rope.head_dim, 72);
  EXPECT_NE(refusal_of(R"({"model_type":"qwen2_5_omni"})").find("thinker_config: required"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"model_type":"qwen2_5_omni","thinker_config":{}})").find("thinker_config.text_config: req"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"({"model_type":"llama","rope_scaling":{"type":"default","interleaved":true}})")
                .find("reads no sections"),
            std::string::npos);
}

// Places of images, sound and video are no numbers.
TEST(HfConfigOfTowers, NoPairingReadsATower) {
  const auto expect = [](const char* config, const char* part, const char* reason) {
    for (const std::optional<Pairing> pairing : {std::optional<Pairing>{}, std::optional(Pairing::half)}) {
      const std::string refusal = refusal_of(config, {.pairing = pairing, .layer = "", .sub_config = part});
      EXPECT_NE(refusal.find(reason), std::string::npos) << refusal;
      EXPECT_EQ(refusal.find("pass --pairing"), std::string::npos) << refusal;
    }
  };
  for (const std::string field : {"image_size", "patch_size", "crop_size", "num_channels", "in_channels",
                                  "spatial_merge_size", "temporal_patch_size", "tubelet_size", "num_mel_bins"}) {
    const std::string config = R"({"model_type":"warp","head_dim":64,")" + field + R"(":16})";
    expect(config.c_str(), "", (field + " tells of images, video or sound").c_str());
  }
  expect(R"({"model_type":"warp","head_dim":64,"vision_config":{}})", "", "state the claim with --spec");
  expect(R"({"model_type":"warp","vision_config":{"head_dim":64}})", "vision_config", "vision_config tells of images");
  expect(R"({"model_type":"warp","tower":{"head_dim":64,"patch_size":16}})", "tower", "patch_size tells of images");
  expect(R"({"model_type":"mistral3","text_config":{},"vision_config":{"model_type":"warp","head_dim":64}})",
         "vision_config", "vision_config tells of images");
}

}  // namespace
}  // namespace sextant::hugging_face_axial_models_test
