#include "lib/spec/hugging_face/window_models.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sextant::hugging_face_window_models_test {
namespace {

std::string refusal_of(const char* config) {
  try {
    return to_json(spec_from_hf_config(config));
  } catch (const SpecError& error) {
    return error.what();
  }
}

void expect(const char* config, const char* reason) {
  EXPECT_NE(refusal_of(config).find(reason), std::string::npos) << refusal_of(config);
}

TEST(HfConfigOfWindows, ReadsSwin) {
  const auto spec = spec_from_hf_config(R"({"model_type":"swin","dtype":"bfloat16"})");
  EXPECT_EQ(std::get<WindowBias>(spec.encoding).window, (std::vector<std::int64_t>{7, 7}));
  EXPECT_EQ(spec.max_position, 49);
  EXPECT_EQ(spec.dtype, Dtype::bfloat16);
  const auto both =
      claims_of_hf_config(R"({"model_type":"swin","use_absolute_embeddings":true,"image_size":[224,448]})");
  ASSERT_EQ(both.size(), 2);
  EXPECT_EQ(both[0].kind, "bias");
  EXPECT_EQ(std::get<Learned>(both[1].spec->encoding).max_positions, 56 * 112);
  // The last stage has four tokens on a side; of maskformer-swin it is filled up.
  expect(R"({"model_type":"swin","image_size":128})",
         "the last stage has 4 tokens on a side, fewer than a window of 7");
  EXPECT_TRUE(claims_of_hf_config(R"({"model_type":"maskformer-swin","image_size":128})").front().spec);
  const auto donut = claims_of_hf_config(R"({"model_type":"donut-swin","use_absolute_embeddings":true})");
  EXPECT_NE(donut[1].refusal.find("a row more than there are patches"), std::string::npos);
  expect(R"({"model_type":"swin","window_size":0})", "window_size: expected an integer from 1");
  expect(R"({"model_type":"swin","window_size":null})", "window_size: expected an integer, got null");
  expect(R"({"model_type":"swin","image_size":[1,2,3]})", "image_size: expected an integer or two");
  expect(R"({"model_type":"swin","depths":[]})", "depths: expected");
}

TEST(HfConfigOfWindows, ReadsEachStageOfSwinv2) {
  const auto claims = claims_of_hf_config(
      R"({"model_type":"swinv2","image_size":128,"window_size":8,"pretrained_window_sizes":[8,6,0,0]})");
  ASSERT_EQ(claims.size(), 4);
  EXPECT_EQ(claims[2].kind, "stage3");
  EXPECT_EQ(claims[2].layers, (std::vector<std::int64_t>{4, 5, 6, 7, 8, 9}));
  const auto encoding = [&](std::size_t stage) { return std::get<LogCoordinates>(claims[stage].spec->encoding); };
  EXPECT_EQ(encoding(0).window, (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(encoding(1).pretrained_window, (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(encoding(3).window, (std::vector<std::int64_t>{4, 4}));
  EXPECT_TRUE(encoding(3).pretrained_window.empty());
  EXPECT_EQ(claims[3].spec->min_position, -3);
  EXPECT_EQ(claims[3].spec->max_position, 4);
  EXPECT_FALSE(claims_of_hf_config(R"({"model_type":"swinv2","image_size":32})").back().spec);
  expect(R"({"model_type":"swinv2","pretrained_window_sizes":[8,8]})",
         "pretrained_window_sizes: expected one for each");
}

TEST(HfConfigOfWindows, ReadsBeit) {
  const auto spec = spec_from_hf_config(R"({"model_type":"beit","use_relative_position_bias":true})");
  EXPECT_EQ(std::get<WindowBias>(spec.encoding).class_token, ClassToken::first);
  EXPECT_EQ(spec.max_position, 197);
  const auto table = spec_from_hf_config(R"({"model_type":"data2vec-vision","use_absolute_position_embeddings":true})");
  EXPECT_EQ(std::get<Learned>(table.encoding).max_positions, 197);
  expect(R"({"model_type":"beit"})", "it has no positions");
  expect(R"({"model_type":"beit","use_relative_position_bias":true,"image_size":[224,128]})", "of an oblong image");
  expect(R"({"model_type":"beit","use_relative_position_bias":true,"use_shared_relative_position_bias":true})",
         "their sum is no claim");
}

TEST(HfConfigOfWindows, TellsWhyDetrIsNotSaid) {
  expect(R"({"model_type":"detr"})", R"("extents":[25,34])");
  expect(R"({"model_type":"deformable_detr"})", "counted from a half");
  expect(R"({"model_type":"table-transformer","position_embedding_type":"learned"})", "a learned table for each axis");
  expect(R"({"model_type":"conditional_detr","position_embedding_type":"v3"})", "expected sine or learned");
}

TEST(HfConfigOfWindows, ReadsSinusoidsOfDistancesAndOfSound) {
  const auto both = spec_from_hf_config(R"({"model_type":"xlnet"})");
  EXPECT_EQ(both.min_position, -131071);
  EXPECT_EQ(both.max_position, 131072);
  EXPECT_EQ(std::get<Sinusoidal>(both.encoding).layout, Layout::concatenated);
  const auto one = spec_from_hf_config(R"({"model_type":"xlnet","attn_type":"uni","clamp_len":60})");
  EXPECT_EQ(one.min_position, 0);
  EXPECT_EQ(one.max_position, 61);
  expect(R"({"model_type":"xlnet","attn_type":"both"})", "attn_type: expected bi or uni");
  const auto sound = spec_from_hf_config(R"({"model_type":"qwen2_5_omni_audio_encoder"})");
  EXPECT_EQ(std::get<Sinusoidal>(sound.encoding).downscale_freq_shift, 1);
  EXPECT_EQ(sound.max_position, 1500);
  const auto table = spec_from_hf_config(R"({"model_type":"qwen2_audio_encoder"})");
  EXPECT_EQ(std::get<Learned>(table.encoding).dim, 1280);
}

}  // namespace
}  // namespace sextant::hugging_face_window_models_test
