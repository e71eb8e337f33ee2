#include "lib/spec/hugging_face/disentangled_models.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sextant::hugging_face_disentangled_models_test {
namespace {

// microsoft/deberta-v3-base, config.json, but for what tells nothing of positions.
constexpr const char* deberta_v3_base =
    R"({"model_type":"deberta-v2","hidden_size":768,"max_position_embeddings":512,"relative_attention":true,)"
    R"("position_buckets":256,"norm_rel_ebd":"layer_norm","share_att_key":true,"pos_att_type":"p2c|c2p",)"
    R"("max_relative_positions":-1,"position_biased_input":false,"num_attention_heads":12})";

const RelativeBias& relative(const std::vector<ConfigClaim>& claims) {
  EXPECT_TRUE(claims.back().spec) << claims.back().refusal;
  return std::get<RelativeBias>(claims.back().spec->encoding);
}

TEST(HfConfigOfDisentangledAttention, ReadsTheBucketsOfDebertaV3) {
  const auto claims = claims_of_hf_config(deberta_v3_base);
  ASSERT_EQ(claims.size(), 1);
  const RelativeBias& bias = relative(claims);
  EXPECT_EQ(bias.buckets, BucketRule::log);
  EXPECT_EQ(bias.num_buckets, 512);
  EXPECT_EQ(bias.max_distance, 512);
  // No table ends the claim, so that it reaches beyond the last border.
  EXPECT_EQ(claims.front().spec->max_position, 131072);
}

TEST(HfConfigOfDisentangledAttention, WithoutBucketsEachRelativePositionHasARow) {
  const auto claims = claims_of_hf_config(
      R"({"model_type":"deberta","relative_attention":true,"max_relative_positions":-1,"position_buckets":256,)"
      R"("pos_att_type":["c2p","p2c"],"position_biased_input":false})");
  ASSERT_EQ(claims.size(), 1);
  EXPECT_EQ(relative(claims).buckets, BucketRule::clipped);
  EXPECT_EQ(relative(claims).num_buckets, 1024);
  const auto v2 = claims_of_hf_config(
      R"({"model_type":"deberta-v2","relative_attention":true,"max_relative_positions":128,"pos_att_type":["c2p"],)"
      R"("position_biased_input":false})");
  EXPECT_EQ(relative(v2).buckets, BucketRule::clipped);
  EXPECT_EQ(relative(v2).num_buckets, 256);
}

TEST(HfConfigOfDisentangledAttention, TheTableThatIsAddedIsAnotherClaim) {
  const auto claims = claims_of_hf_config(R"({"model_type":"deberta-v2","max_position_embeddings":77})");
  ASSERT_EQ(claims.size(), 1);
  EXPECT_EQ(std::get<Learned>(claims.front().spec->encoding).max_positions, 77);
  EXPECT_EQ(std::get<Learned>(claims.front().spec->encoding).dim, 1536);
  const auto both = claims_of_hf_config(
      R"({"model_type":"deberta","relative_attention":true,"pos_att_type":["c2p"],"embedding_size":96})");
  ASSERT_EQ(both.size(), 2);
  EXPECT_EQ(both.front().kind, "table");
  EXPECT_EQ(both.back().kind, "relative");
  EXPECT_EQ(both.back().spec->max_position, 512);
  // A width of its own is projected to that of the layers.
  const auto projected = claims_of_hf_config(R"({"model_type":"deberta-v2","hidden_size":768,"embedding_size":128})");
  EXPECT_EQ(std::get<Learned>(projected.front().spec->encoding).dim, 128);
}

// As DebertaConfig splits and lowers a string, and takes a list as it is.
TEST(HfConfigOfDisentangledAttention, MatchesKindsOfScoresAsTheClassDoes) {
  const auto is_claimed = [](const std::string& model_type, const std::string& kinds) {
    const auto claims =
        claims_of_hf_config(R"({"relative_attention":true,"position_biased_input":false,"model_type":")" + model_type +
                            R"(","pos_att_type":)" + kinds + "}");
    return claims.front().spec.has_value();
  };
  for (const std::string model_type : {"deberta", "deberta-v2"}) {
    for (const char* kinds : {R"("c2p|p2c")", R"(" C2P | P2C")", R"("p2c")", R"(["c2p"])", R"("p2p| p2c")"})
      EXPECT_TRUE(is_claimed(model_type, kinds)) << model_type << kinds;
    for (const char* kinds : {R"("c2p,p2c")", R"(["c2p|p2c"])", R"(["C2P"])", R"([" c2p"])", R"("")", "[]", "null"})
      EXPECT_FALSE(is_claimed(model_type, kinds)) << model_type << kinds;
  }
  EXPECT_TRUE(is_claimed("sew-d", R"(["c2p"])"));
  EXPECT_THROW(is_claimed("sew-d", R"("c2p|p2c")"), SpecError);
  EXPECT_THROW(is_claimed("sew-d", "null"), SpecError);
}

TEST(HfConfigOfDisentangledAttention, RefusesNullsThatTransformersDoes) {
  for (const char* type : {"deberta", "deberta-v2", "sew-d"}) {
    for (const char* field : {"max_relative_positions", "max_position_embeddings", "relative_attention"}) {
      const bool is_switch = std::string_view(field) == "relative_attention";
      const std::string config = std::string(is_switch ? "{" : R"({"relative_attention":true,)") +
                                 R"("pos_att_type":["c2p"],"model_type":")" + type + "\",\"" + field + "\":null}";
      EXPECT_THROW(claims_of_hf_config(config), SpecError) << config;
    }
  }
  for (const char* config : {R"({"model_type":"deberta","position_biased_input":null})",
                             R"({"model_type":"sew-d","position_buckets":null})"})
    EXPECT_THROW(claims_of_hf_config(config), SpecError) << config;
}

TEST(HfConfigOfDisentangledAttention, ReadsSewD) {
  const auto claims = claims_of_hf_config(R"({"model_type":"sew-d"})");
  ASSERT_EQ(claims.size(), 1);
  EXPECT_EQ(relative(claims).buckets, BucketRule::log);
  EXPECT_EQ(relative(claims).num_buckets, 512);
}

TEST(HfConfigOfDisentangledAttention, RefusesWhatNoScoreReadsAndWhatNoSpecSays) {
  const auto unread =
      claims_of_hf_config(R"({"model_type":"deberta-v2","relative_attention":true,"position_biased_input":false})");
  EXPECT_NE(unread.front().refusal.find("neither c2p nor p2c"), std::string::npos) << unread.front().refusal;
  const auto none = claims_of_hf_config(R"({"model_type":"deberta","position_biased_input":false})");
  EXPECT_NE(none.front().refusal.find("no positions"), std::string::npos);
  try {
    claims_of_hf_config(R"({"model_type":"sew-d","position_buckets":255})");
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_NE(std::string(error.what()).find("num_buckets: expected a multiple of 4"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace sextant::hugging_face_disentangled_models_test
