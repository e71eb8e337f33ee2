#include "lib/spec/changed_fields.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/spec/presets.hpp"

namespace sextant::spec_changed_fields_test {
namespace {

using Changes = std::vector<std::string>;

std::string shortest(const std::string& json) { return shortest_json(parse_spec(json)); }

Changes changes(const std::string& from, const std::string& to) {
  return changed_fields(parse_spec(from), parse_spec(to));
}

TEST(ShortestJson, LeavesOutWhatHasItsDefault) {
  EXPECT_EQ(shortest(R"({"encoding":"rope","head_dim":64,"pairing":"interleaved","dtype":"float32"})"),
            R"({"encoding":"rope","head_dim":64,"pairing":"interleaved"})");
  // The default of output_pairing is the pairing.
  EXPECT_EQ(shortest(R"({"encoding":"rope","head_dim":64,"pairing":"interleaved","output_pairing":"half"})"),
            R"({"encoding":"rope","head_dim":64,"pairing":"interleaved","output_pairing":"half"})");
  EXPECT_EQ(shortest(R"({"encoding":"attention","num_heads":2,"head_dim":64,)"
                     R"("position":{"encoding":"rope","head_dim":64,"rope_theta":500000}})"),
            R"({"encoding":"attention","num_heads":2,"head_dim":64,)"
            R"("position":{"encoding":"rope","head_dim":64,"rope_theta":500000.0}})");
}

TEST(ShortestJson, IsTheSameClaim) {
  for (const EncodingExample& example : encoding_examples())
    EXPECT_EQ(to_json(parse_spec(shortest(std::string(example.spec)))), to_json(parse_spec(example.spec)));
  for (const Preset& preset : presets())
    EXPECT_EQ(to_json(parse_spec(shortest(std::string(preset.json)))), to_json(parse_spec(preset.json))) << preset.name;
}

TEST(ChangedFields, AreNamedWithBothValues) {
  const std::string plain = R"({"encoding":"rope","head_dim":64})";
  EXPECT_EQ(changes(plain, plain), Changes{});
  EXPECT_EQ(changes(plain, R"({"encoding":"rope","head_dim":64,"rope_theta":500000})"),
            Changes{"rope_theta 500000 instead of 10000"});
  EXPECT_EQ(changes(plain, R"({"encoding":"rope","head_dim":64,"pairing":"interleaved"})"),
            Changes{"pairing interleaved instead of half"});
  EXPECT_EQ(changes(plain, R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"linear","factor":4}})"),
            Changes{R"(rope_scaling {"rope_type":"linear","factor":4.0} instead of null)"});
  EXPECT_EQ(changes(R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"linear","factor":4}})",
                    R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"linear","factor":8}})"),
            Changes{"rope_scaling.factor 8 instead of 4"});
  EXPECT_EQ(changes(plain, R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"none"}})"),
            Changes{R"(rope_scaling {"rope_type":"none"} instead of null)"});
  EXPECT_EQ(changes(R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16","evaluation":"dtype"})",
                    R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16"})"),
            Changes{"evaluation null instead of dtype"});
}

}  // namespace
}  // namespace sextant::spec_changed_fields_test
