#include "properties/catalogue.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "properties/engine/engine.hpp"
#include "properties/model/family.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::catalogue_test {
namespace {

std::set<std::string> violated(const Subject& subject, const Spec& spec) {
  AuditOptions options;
  options.profile = Profile::quick;
  options.threads = 2;
  std::set<std::string> ids;
  for (const PropertyResult& result : audit(catalogue(), subject, spec, options).results) {
    EXPECT_NE(result.verdict, Verdict::undecided) << result.id << ": " << result.reason;
    EXPECT_NE(result.verdict, Verdict::crashed) << result.id << ": " << result.reason;
    if (result.verdict == Verdict::violated) ids.insert(result.id);
  }
  return ids;
}

// Sextant's own encoders, at the strictest class they state, for every dtype and every variant of the spec.
class Builtin : public testing::TestWithParam<const char*> {};

TEST_P(Builtin, HoldsWhereverItApplies) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    Spec spec = parse_spec(GetParam());
    spec.dtype = dtype;
    spec.accuracy = dtype == Dtype::float64 ? AccuracyClass::exact_angle : AccuracyClass::faithful;
    // A rotation is faithful to the pair's norm, not to each component near its zero; attention sums.
    if (!is_of<Sinusoidal>(spec)) spec.accuracy = AccuracyClass::exact_angle;
    EXPECT_EQ(violated(*builtin_subject(), spec), std::set<std::string>{}) << to_json(spec);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Specs, Builtin,
    testing::Values(
        R"({"encoding":"sinusoidal","dim":32})",
        R"({"encoding":"sinusoidal","dim":34,"base":77777.25,"layout":"concatenated",)"
        R"("first":"cos","min_position":-9007199254740992,)"
        R"("max_position":9007199254740992})",
        R"({"encoding":"sinusoidal","dim":10,"denominator":"half_minus_one","position_offset":2,"scale":-0.3})",
        R"({"encoding":"sinusoidal","dim":2,"base":1,"max_position":1})", R"({"encoding":"rope","head_dim":32})",
        R"({"encoding":"rope","head_dim":24,"rotary_dim":10,"pairing":"interleaved",)"
        R"("direction":"clockwise","min_position":-9007199254740992,)"
        R"("max_position":9007199254740992})",
        R"({"encoding":"rope","head_dim":24,"rotary_dim":8,"rotary_layout":"spread","rope_theta":500000})",
        R"({"encoding":"rope","head_dim":16,"pairing":"interleaved","output_pairing":"half"})",
        R"({"encoding":"rope","head_dim":2,"max_position":2})",
        R"({"encoding":"integer","dim":2,"max_position":60000})", R"({"encoding":"integer","normalize":true})",
        R"({"encoding":"binary","dim":17})",
        R"({"encoding":"sinusoidal_2d","dim":32,"height":9,"width":14,"axis_order":"width_first"})",
        R"({"encoding":"sinusoidal_nd","dim":36,"extents":[4,9,14],"coordinates":"normalized"})",
        R"({"encoding":"fourier","axes":3,"bands":5,"identity":"first","position_dtype":"float32"})",
        R"({"encoding":"fourier","bands":5,"ladder":"linear","angle_unit":"half_turn","identity":"last",)"
        R"("channel_order":"function_axis_frequency","coordinates":"ends","extents":[9,14]})",
        R"({"encoding":"fourier","bands":8,"ladder":"weight","coordinates":"centres","extents":[9,14]})",
        R"({"encoding":"learned","dim":6,"max_positions":40})",
        R"({"encoding":"rope_nd","head_dim":32,"sections":[6,5,5],"section_order":"interleaved"})",
        R"({"encoding":"xpos","head_dim":16,"pairing":"interleaved","role":"key","max_position":1024})",
        R"({"encoding":"alibi","num_heads":12,"max_position":60000})",
        R"({"encoding":"alibi","num_heads":8,"form":"key_index","max_position":2048})",
        R"({"encoding":"alibi","num_heads":12,"slope_dtype":"bfloat16","max_position":60000})",
        R"({"encoding":"relative_bias","bidirectional":false})",
        R"({"encoding":"relative_bias","buckets":"log","num_buckets":64})",
        R"({"encoding":"relative_bias","buckets":"clipped"})",
        R"({"encoding":"relative_bias","bidirectional":false,"later_keys":"mirrored"})",
        R"({"encoding":"window_bias","window":[5,7]})",
        R"({"encoding":"window_bias","window":[2,3,4],"class_token":"first"})",
        R"({"encoding":"log_coordinates","window":[8,12],"min_position":-11,"max_position":12})",
        R"({"encoding":"attention","num_heads":4,"head_dim":8,"position":{"encoding":"window_bias","window":[5,7]}})",
        R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":8,"causal":true})",
        R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":8,)"
        R"("position":{"encoding":"rope","head_dim":8}})",
        R"({"encoding":"attention","num_heads":4,"head_dim":8,"max_position":4096,)"
        R"("position":{"encoding":"relative_bias"}})",
        // Beyond what the dtypes can hold, and attention with several axes or two roles.
        R"({"encoding":"integer","min_position":-70000})", R"({"encoding":"xpos","head_dim":8,"role":"key"})",
        R"({"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,)"
        R"("max_position":2048,"position":{"encoding":"xpos","head_dim":8}})",
        R"({"encoding":"attention","num_heads":2,"head_dim":8,"max_position":4096,)"
        R"("position":{"encoding":"rope_nd","head_dim":8,"sections":[1,2,1]}})",
        R"({"encoding":"rope","head_dim":16,"rope_theta":500000,)"
        R"("rope_scaling":{"rope_type":"llama3","factor":8,)"
        R"("original_max_position_embeddings":64,"low_freq_factor":1,)"
        R"("high_freq_factor":4}})",
        R"({"encoding":"rope","head_dim":16,"rope_scaling":{"rope_type":"dynamic",)"
        R"("factor":4,"original_max_position_embeddings":512},"max_position":4096})"));

TEST(Catalogue, EveryPropertySaysWhatItIs) {
  std::set<std::string> ids;
  for (const Property& property : catalogue()) {
    EXPECT_TRUE(ids.insert(property.id).second) << property.id;
    EXPECT_EQ(property_named(property.id), &property);
    const Explanation& text = property.explanation;
    for (const std::string* part :
         {&text.title, &text.statement, &text.source, &text.applies_to, &text.tolerance, &text.catches}) {
      EXPECT_FALSE(part->empty()) << property.id;
    }
  }
  EXPECT_EQ(property_named("no such"), nullptr);
}

// A property that is made but not listed would never judge anything.
TEST(Catalogue, ListsEveryPropertyThatIsMade) {
  const std::set<std::string> listed{
#define PROPERTY(name) #name "_property",
#include "properties/catalogue.def"
#undef PROPERTY
  };
  std::set<std::string> made;
  const std::regex definition(R"(^Property (\w+_property)\(\) \{)", std::regex::multiline);
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(SEXTANT_SOURCE_DIR) / "properties")) {
    if (entry.path().extension() != ".cpp" || entry.path().stem().string().ends_with("_test")) continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator found(text.begin(), text.end(), definition), end; found != end; ++found)
      made.insert((*found)[1]);
  }
  EXPECT_EQ(made, listed);
  EXPECT_EQ(catalogue().size(), listed.size());
}

// Whatever a generator draws must be in the domain that replay accepts, also where the claim is a single position or
// huge.
TEST(Catalogue, CasesAreAdmitted) {
  for (const char* text :
       {R"({"encoding":"integer","max_position":5})",
        R"({"encoding":"binary","dim":3})",
        R"({"encoding":"learned","dim":2,"max_positions":3})",
        R"({"encoding":"sinusoidal_2d","dim":8,"height":3,"width":5})",
        R"({"encoding":"sinusoidal_nd","dim":8,"extents":[3,5,2],"channels":[2,2,4],"scales":[1,1,1.5]})",
        R"({"encoding":"fourier","bands":2,"coordinates":"ends","extents":[3,5,2]})",
        R"({"encoding":"fourier","bands":1,"ladder":"weight","axes":2,"min_position":-5,"max_position":5})",
        R"({"encoding":"fourier","bands":3,"identity":"last","coordinates":"centres","extents":[1]})",
        R"({"encoding":"rope_nd","head_dim":8,"sections":[1,3],"min_position":-5,"max_position":5})",
        R"({"encoding":"xpos","head_dim":4,"max_position":9})",
        R"({"encoding":"alibi","num_heads":3,"max_position":7})",
        R"({"encoding":"relative_bias","max_position":6})",
        R"({"encoding":"window_bias","window":[2,3]})",
        R"({"encoding":"window_bias","window":[1]})",
        R"({"encoding":"log_coordinates","window":[8,12,3],"min_position":-2,"max_position":3})",
        R"({"encoding":"attention","num_heads":2,"head_dim":4,"max_position":200})",
        R"({"encoding":"attention","num_heads":2,"head_dim":4,"causal":true,"max_position":200})",
        R"({"encoding":"attention","num_heads":2,"head_dim":4,"max_position":200,)"
        R"("position":{"encoding":"rope_nd","head_dim":4,"sections":[1,1]}})",
        R"({"encoding":"rope","head_dim":4,"max_position":3})",
        R"({"encoding":"relative_bias"})",
        R"({"encoding":"relative_bias","max_distance":100000})",
        R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"yarn",)"
        R"("factor":2,"original_max_position_embeddings":8},"max_position":9})",
        R"({"encoding":"rope","head_dim":8,"dtype":"float64",)"
        R"("rope_scaling":{"rope_type":"linear","factor":2},"min_position":-9,)"
        R"("max_position":90})",
        R"({"encoding":"sinusoidal","dim":4})",
        R"({"encoding":"sinusoidal","dim":4,"max_position":1})",
        R"({"encoding":"sinusoidal","dim":4,"min_position":-9007199254740992,"max_position":9007199254740992})",
        R"({"encoding":"rope","head_dim":4,"min_position":-3,"max_position":-1})",
        R"({"encoding":"rope","head_dim":4,"min_position":7,"max_position":8})",
        R"({"encoding":"rope","head_dim":4,"rope_scaling":{"rope_type":"dynamic",)"
        R"("factor":2,"original_max_position_embeddings":8},"max_position":8})",
        R"({"encoding":"rope","head_dim":4,"min_position":-9007199254740992,"max_position":9007199254740992})"}) {
    const Spec spec = parse_spec(text);
    for (const Property& property : catalogue()) {
      if (property.not_applicable(spec)) continue;
      rc::Random random(3);
      const rc::Gen<Case> generator = property.cases(spec);
      std::vector<Case> cases = property.first_cases(spec);
      for (int i = 0; i < 300; ++i) cases.push_back(generator(random.split()).value());
      for (const Case& values : cases) {
        const std::string token = write_token(property.id, property.fields(spec), values);
        ASSERT_TRUE(property.admits(spec, values)) << token << " of " << text;
        ASSERT_EQ(read_token(token, property.fields(spec)), values);
      }
    }
  }
}

// A subject is opened by its name.
TEST(Mutants, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const mutants::Mutant& mutant : mutants::registry())
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
}

}  // namespace
}  // namespace sextant::catalogue_test
