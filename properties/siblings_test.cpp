#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/model/model.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/mutant.hpp"

namespace sextant::siblings_test {
namespace {

const Spec rope = parse_spec(R"({"encoding":"rope","head_dim":8,"max_position":512})");

PropertyResult siblings_of(const Subject& subject, const Spec& spec = rope) {
  return audit({*property_named("siblings")}, subject, spec, {}).results.front();
}

// The fields of a spec, those within an object by their path.
std::set<std::string> fields_of(const nlohmann::json& object, const std::string& path = "") {
  std::set<std::string> fields;
  for (const auto& [name, value] : object.items()) {
    if (value.is_object())
      fields.merge(fields_of(value, path + name + "."));
    else
      fields.insert(path + name);
  }
  return fields;
}

// A cache whose key lacks one of them keeps what another layer of the same program was given.
TEST(Siblings, DifferInEveryFieldThatChangesAnAnswer) {
  // These say how answers are judged, or what the others mean: siblings of another dtype and another last position are
  // those of every spec.
  const std::set<std::string> of_the_judge{"encoding",     "dtype",    "min_position",
                                           "max_position", "accuracy", "rope_scaling.rope_type"};
  std::vector<std::string> specs;
  const std::string scaled = R"({"encoding":"rope","head_dim":16,"rotary_dim":8,"rope_scaling":)";
  for (const char* rule :
       {R"({"rope_type":"linear","factor":4})", R"({"rope_type":"ntk","factor":4})",
        R"({"rope_type":"dynamic","factor":4,"original_max_position_embeddings":2048})",
        R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":2048})",
        R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":2048,"attention_factor":1.25})",
        R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":2048,"mscale":1.5,"mscale_all_dim":1})",
        R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,"low_freq_factor":1,)"
        R"("high_freq_factor":4})",
        R"({"rope_type":"longrope","factor":4,"original_max_position_embeddings":4096,)"
        R"("short_factor":[1,1,1,1],"long_factor":[1,2,3,4]})",
        R"({"rope_type":"longrope","original_max_position_embeddings":4096,"short_mscale":1.1,"long_mscale":1.2,)"
        R"("short_factor":[1,1,1,1],"long_factor":[1,2,3,4]})"}) {
    specs.push_back(scaled + rule + "}");
  }
  specs.emplace_back(R"({"encoding":"xpos","head_dim":16,"rotary_dim":8})");
  specs.emplace_back(R"({"encoding":"qk_norm_rope","head_dim":16,"rotary_dim":8})");
  for (const std::string& text : specs) {
    const Spec spec = parse_spec(text);
    const auto fields = nlohmann::json::parse(to_json(spec));
    std::set<std::string> missing = fields_of(fields);
    for (const std::string& field : of_the_judge) missing.erase(field);
    for (const Variant& sibling : model_of(spec)->siblings()) {
      const auto other = nlohmann::json::parse(to_json(sibling.spec));
      std::erase_if(missing, [&](const std::string& field) {
        std::string pointer = "/" + field;
        std::ranges::replace(pointer, '.', '/');
        const nlohmann::json::json_pointer place(pointer);
        return !other.contains(place) || other.at(place) != fields.at(place);
      });
    }
    EXPECT_TRUE(missing.empty()) << text << " has no sibling of another " << *missing.begin();
  }
}

TEST(Siblings, AreAskedInOneProcessWithTheSpec) {
  std::set<std::string> seen;  // of the process that saw most
  const FunctionSubject subject("counting", FunctionSubject::Begin([&seen] {
                                  const auto asked = std::make_shared<std::set<std::string>>();
                                  return [&seen, asked](const Spec& spec) -> FunctionSubject::Call {
                                    return [&seen, asked, spec, right = mutants::plain_call(spec)](
                                               std::string_view operation, const Tensors& inputs) {
                                      asked->insert(to_json(spec));
                                      if (asked->size() > seen.size()) seen = *asked;
                                      return right(operation, inputs);
                                    };
                                  };
                                }));
  EXPECT_EQ(siblings_of(subject).verdict, Verdict::holds);
  EXPECT_GE(seen.size(), 10U);
  for (const char* part :
       {R"("head_dim":16)", R"("dtype":"bfloat16")", R"("dtype":"float64")", R"("max_position":1024)",
        R"("pairing":"interleaved")", R"("rope_type":"linear")", R"("rope_theta":10000.4375)"}) {
    EXPECT_TRUE(
        std::ranges::any_of(seen, [&](const std::string& spec) { return spec.find(part) != std::string::npos; }))
        << part << " in " << *seen.begin();
  }
}

TEST(Siblings, MayBeAnsweredInTheWrongDtype) {
  const FunctionSubject subject("float32 alone", [](const Spec& spec) -> FunctionSubject::Call {
    return [spec, right = mutants::plain_call(spec)](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (spec.dtype == Dtype::float32) return right(operation, inputs);
      return named("y", Tensor::zeros(Dtype::float32, inputs.at("x").shape));
    };
  });
  EXPECT_EQ(siblings_of(subject).verdict, Verdict::holds);
}

TEST(Siblings, MayAllBeRefused) {
  const FunctionSubject subject("one spec alone", [](const Spec& spec) -> FunctionSubject::Call {
    return [spec, right = mutants::plain_call(spec)](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (to_json(spec) != to_json(rope)) throw SubjectFailure(FailureKind::unsupported, "another spec");
      return right(operation, inputs);
    };
  });
  EXPECT_EQ(siblings_of(subject).verdict, Verdict::holds);
}

TEST(Siblings, ThatCrashAreLeftOut) {
  const FunctionSubject subject("fragile", [](const Spec& spec) -> FunctionSubject::Call {
    return [spec, right = mutants::plain_call(spec)](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (spec.dtype == Dtype::float64) throw SubjectFailure(FailureKind::crashed, "was killed by signal 11");
      return right(operation, inputs);
    };
  });
  const PropertyResult result = siblings_of(subject);
  EXPECT_EQ(result.verdict, Verdict::holds);
  EXPECT_EQ(result.reason, "not asked with another dtype (float64): it crashed");
}

TEST(Siblings, ThreadsAreAskedAtOnceWhereTheyArePromised) {
  for (const char* name : {"rope-threads-share-base", "rope-threads-share-positions"}) {
    const mutants::Mutant& mutant = mutants::named(name);
    const PropertyResult promised = siblings_of(*mutants::open(name), parse_spec(mutant.spec));
    EXPECT_EQ(promised.verdict, Verdict::violated) << name;
    ASSERT_TRUE(promised.simplest);
    EXPECT_NE(promised.simplest->finding.find("while other threads ask"), std::string::npos)
        << promised.simplest->finding;
    const FunctionSubject says_nothing(name, mutant.begin);
    EXPECT_EQ(siblings_of(says_nothing, parse_spec(mutant.spec)).verdict, Verdict::holds) << name;
  }
}

}  // namespace
}  // namespace sextant::siblings_test
