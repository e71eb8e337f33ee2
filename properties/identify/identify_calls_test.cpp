// What `identify` asks of right subjects: fewer than 200 calls, whatever the encoding, the operation and the dtype. And
// what it says of a rotation that no spec names.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lib/numeric/index.hpp"
#include "properties/diagnose/rotations/identify_readings.hpp"
#include "properties/identify/counted_subject.hpp"
#include "properties/identify/identify.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_calls_test {
namespace {

// Each branch of the search: the encodings, every rule of scaling, attention with each position that it may carry.
constexpr const char* claims[] = {
    R"({"encoding":"rope","head_dim":128})",
    R"({"encoding":"rope","head_dim":64,"rotary_dim":32,"pairing":"interleaved","direction":"clockwise"})",
    R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"linear","factor":4}})",
    R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"ntk","factor":4}})",
    R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"dynamic","factor":4,
        "original_max_position_embeddings":2048}})",
    R"({"encoding":"rope","head_dim":128,"rope_theta":1000000,"rope_scaling":{"rope_type":"yarn","factor":4,
        "original_max_position_embeddings":32768}})",
    R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"longrope","factor":8,
        "original_max_position_embeddings":4096,"short_factor":[1,1,1,1],"long_factor":[1,2,4,8]}})",
    R"({"encoding":"rope","head_dim":128,"rope_theta":500000,"rope_scaling":{"rope_type":"llama3","factor":8,
        "original_max_position_embeddings":8192,"low_freq_factor":1,"high_freq_factor":4}})",
    R"({"encoding":"rope_nd","head_dim":128,"sections":[16,24,24],"max_position":8192})",
    R"({"encoding":"rope_nd","head_dim":64,"sections":[16,16],"frequencies":"per_axis","max_position":8192})",
    R"({"encoding":"rope_nd","head_dim":64,"sections":[16,16],"frequencies":"per_axis","rope_theta":100,
        "coordinates":"normalized","extents":[20,24]})",
    // Fewer positions than are asked about.
    R"({"encoding":"rope_nd","head_dim":64,"sections":[16,16],"frequencies":"per_axis","rope_theta":100,
        "coordinates":"normalized","extents":[14,14]})",
    R"({"encoding":"xpos","head_dim":64,"max_position":2048})",
    R"({"encoding":"xpos","head_dim":64,"max_position":2048,"role":"key","centre":"ceil_half"})",
    R"({"encoding":"qk_norm_rope","head_dim":128})",
    R"({"encoding":"qk_norm_rope","head_dim":64,"weight_offset":1,"epsilon":1e-5})",
    R"({"encoding":"rotary_table","head_dim":128})",
    R"({"encoding":"sinusoidal","dim":512})",
    R"({"encoding":"sinusoidal","dim":128,"layout":"concatenated","first":"cos"})",
    // Steps that turn the fastest pair by more than a turn.
    R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated","first":"cos","angle_scale":1000,
        "position_dtype":"float32","position_step":0.0078125,"max_position":256})",
    R"({"encoding":"sinusoidal_2d","dim":128,"height":32,"width":48})",
    R"({"encoding":"sinusoidal_nd","dim":192,"extents":[16,32,32],"channels":[64,64,64]})",
    R"({"encoding":"fourier","axes":3,"bands":10})",
    R"({"encoding":"integer","max_position":4096})",
    R"({"encoding":"binary","dim":16,"max_position":4096})",
    R"({"encoding":"learned","dim":64,"max_positions":512})",
    R"({"encoding":"alibi","num_heads":8})",
    R"({"encoding":"alibi","num_heads":32,"form":"key_index","slope_dtype":"bfloat16","max_position":2048})",
    R"({"encoding":"relative_bias","max_position":512})",
    R"({"encoding":"relative_bias","buckets":"log","num_buckets":512,"max_distance":512,"max_position":512})",
    R"({"encoding":"window_bias","window":[7,7]})",
    R"({"encoding":"log_coordinates","window":[8,8]})",
    R"({"encoding":"attention","num_heads":8,"head_dim":64})",
    R"({"encoding":"attention","num_heads":8,"num_kv_heads":2,"head_dim":32,"causal":true,"window":16})",
    R"({"encoding":"attention","num_heads":8,"head_dim":32,"causal":true,"logit_softcap":50,"sinks":true})",
    R"({"encoding":"attention","num_heads":8,"num_kv_heads":2,"head_dim":32,"causal":true,
        "position":{"encoding":"rope","head_dim":32}})",
    R"({"encoding":"attention","num_heads":8,"head_dim":32,"causal":true,
        "position":{"encoding":"alibi","num_heads":8,"mask":"causal"}})",
    R"({"encoding":"attention","num_heads":8,"head_dim":32,"position":{"encoding":"relative_bias"}})",
    R"({"encoding":"attention","num_heads":8,"num_kv_heads":2,"head_dim":32,"causal":true,
        "position":{"encoding":"rope","head_dim":32},"query_scale":{"amount":0.1,"period":8192,"offset":1}})",
};

struct Asked {
  Identification found;
  std::int64_t calls = 0;
};

Asked asked(const Spec& claim) {
  const auto builtin = builtin_subject();
  const CountedSubject subject(*builtin);
  Asked one{with_reading(subject, claim, identify(subject, claim)), 0};
  one.calls = subject.calls();
  return one;
}

TEST(IdentifyCalls, AreFewOfRightSubjectsInEveryDtype) {
  for (const char* text : claims) {
    for (const char* dtype : {"float32", "bfloat16", "float16"}) {
      auto json = nlohmann::json::parse(text);
      json["dtype"] = dtype;
      const Spec claim = parse_spec(json.dump());
      const auto [found, calls] = asked(claim);
      EXPECT_LT(calls, 200) << describe(claim);
      // What is told of calls is what was asked.
      EXPECT_EQ(calls, found.calls) << describe(claim);
      EXPECT_TRUE(found.faults.empty()) << describe(claim) << ": " << found.faults.front().words;
      EXPECT_TRUE(found.spec) << describe(claim);
      EXPECT_EQ(!found.spec, found.confidence == Confidence::none) << describe(claim);
      EXPECT_NE(found.confidence, Confidence::low) << describe(claim);
    }
  }
}

// Every family is among them: a new one without a claim here would be asked without limit.
TEST(IdentifyCalls, AreCountedOfEveryEncoding) {
  for (const EncodingExample& example : encoding_examples()) {
    const bool is_counted = std::ranges::any_of(
        claims, [&](const char* text) { return encoding_name(parse_spec(text)) == example.encoding; });
    EXPECT_TRUE(is_counted) << example.encoding;
  }
}

// Positions [batch, tokens] are changed before a right rotation by them.
using Change = std::function<void(std::vector<std::int64_t>& positions, std::int64_t batches, std::int64_t tokens)>;

Identification identified(const std::string& claim, const Change& change) {
  const FunctionSubject subject("changed", [&](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right, change](std::string_view operation, const Tensors& inputs) {
      Tensors changed = inputs;
      Tensor& positions = changed.at("positions");
      std::vector<std::int64_t> list = positions.integers();
      change(list, positions.shape[0], positions.shape[1]);
      positions = Tensor::of_integers(positions.shape, list);
      return right->call(operation, changed);
    };
  });
  const Spec spec = parse_spec(claim);
  return with_reading(subject, spec, identify(subject, spec));
}

constexpr const char* rope = R"({"encoding":"rope","head_dim":64})";

TEST(IdentifyCalls, TellWhatADiagnosisTellsOfARotation) {
  const Identification found =
      identified(rope, [](std::vector<std::int64_t>& positions, std::int64_t, std::int64_t tokens) {
        for (auto row = positions.begin(); row != positions.end(); row += tokens) {
          if (std::is_sorted(row, row + tokens, std::greater<>())) std::reverse(row, row + tokens);
        }
      });
  ASSERT_EQ(found.faults.size(), 1U);
  EXPECT_EQ(found.faults.front().words, "rows whose positions fall are read in rising order");
  EXPECT_EQ(to_json(found.spec.value()), to_json(parse_spec(rope)));
  EXPECT_EQ(found.confidence, Confidence::low);
  EXPECT_LT(found.calls, 200);
}

// The words of all faults, of a claim of low confidence.
std::string but(const Change& change) {
  const Identification found = identified(rope, change);
  EXPECT_EQ(found.confidence, Confidence::low);
  EXPECT_LT(found.calls, 200);
  std::string words;
  for (const Fault& fault : found.faults) words += (words.empty() ? "" : "; ") + fault.words;
  return words;
}

TEST(IdentifyCalls, AreNotNamedWhereAllAreAlike) {
  EXPECT_EQ(but([](std::vector<std::int64_t>& positions, std::int64_t, std::int64_t) {
              for (std::int64_t& position : positions) ++position;
            }),
            "one position off: position 0 is turned as 1");
  EXPECT_EQ(but([](std::vector<std::int64_t>& positions, std::int64_t, std::int64_t tokens) {
              for (std::size_t i = index(tokens); i < positions.size(); ++i)
                positions[i] = positions[i % index(tokens)];
            }),
            "all rows of a batch have the first row's positions");
}

TEST(IdentifyCalls, AreNoneThatGiveConfidenceWithoutASpec) {
  for (const char* name : {"decode-mask-at-top", "padding-of-first-row", "sinks-of-first-head"}) {
    const Identification found = identify(*mutants::open(name), parse_spec(mutants::named(name).spec));
    EXPECT_FALSE(found.spec) << name;
    EXPECT_EQ(found.confidence, Confidence::none) << name;
  }
}

}  // namespace
}  // namespace sextant::identify::identify_calls_test
