#include "lib/spec/rotary_table.hpp"

#include <gtest/gtest.h>

#include "lib/spec/spec.hpp"

namespace sextant::spec_rotary_table_test {
namespace {

TEST(RotaryTable, HasTheFieldsOfARopeThatAreOfItsFrequencies) {
  const Spec spec = parse_spec(R"({"encoding":"rotary_table","head_dim":8,"partial_rotary_factor":0.5,)"
                               R"("rope_scaling":{"rope_type":"linear","factor":2}})");
  const std::string json = to_json(spec);
  EXPECT_EQ(json.find("pairing"), std::string::npos) << json;
  EXPECT_EQ(json.find("direction"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("rotary_dim":4)"), std::string::npos) << json;
  EXPECT_EQ(to_json(parse_spec(json)), json);
  EXPECT_EQ(operation_of(spec.encoding), Operation::table);
  EXPECT_EQ(width_of(spec.encoding), 4);
}

TEST(RotaryTable, RefusesWhatATableHasNot) {
  for (const char* field : {R"("pairing":"half")", R"("output_pairing":"half")", R"("direction":"clockwise")",
                            R"("position_dtype":"float32")", R"("rope_scaling":{"rope_type":"none"})"}) {
    EXPECT_THROW(parse_spec(std::string(R"({"encoding":"rotary_table","head_dim":8,)") + field + "}"), SpecError)
        << field;
  }
  EXPECT_THROW(parse_spec(R"({"encoding":"attention","num_heads":1,"head_dim":8,)"
                          R"("position":{"encoding":"rotary_table","head_dim":8}})"),
               SpecError);
}

TEST(RecordedClaim, IsThatOfACodeOrOfARopesTable) {
  const Spec code = parse_spec(R"({"encoding":"sinusoidal","dim":8})");
  EXPECT_EQ(to_json(recorded_claim(code).value()), to_json(code));
  const Spec rope =
      parse_spec(R"({"encoding":"rope","head_dim":8,"pairing":"interleaved","direction":"clockwise","max_position":9,)"
                 R"("accuracy":"faithful"})");
  const Spec table = parse_spec(R"({"encoding":"rotary_table","head_dim":8,"max_position":9,"accuracy":"faithful"})");
  EXPECT_EQ(to_json(recorded_claim(rope).value()), to_json(table));
  EXPECT_EQ(to_json(recorded_claim(table).value()), to_json(table));
  EXPECT_FALSE(recorded_claim(parse_spec(R"({"encoding":"alibi","num_heads":2})")));
  EXPECT_FALSE(recorded_claim(parse_spec(R"({"encoding":"sinusoidal","dim":8,"position_dtype":"float32"})")));
  EXPECT_THROW(recorded_claim(parse_spec(R"({"encoding":"rope","head_dim":8,"position_dtype":"float32"})")), SpecError);
}

}  // namespace
}  // namespace sextant::spec_rotary_table_test
