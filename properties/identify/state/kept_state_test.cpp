#include "properties/identify/state/kept_state.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/identify.hpp"
#include "properties/identify/state/session_readings.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::kept_state_test {
namespace {

constexpr const char* rope = R"({"encoding":"rope","head_dim":16})";
constexpr const char* dynamic = R"({"encoding":"rope","head_dim":16,"rope_scaling":{"rope_type":"dynamic","factor":4,
    "original_max_position_embeddings":2048}})";
constexpr const char* axial = R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"per_axis",
    "max_position":4096})";

// A right rotation that keeps from call to call what a reading says.
FunctionSubject keeping(const SessionReading& reading) {
  return {"keeping", [reading](const Spec& spec) -> FunctionSubject::Call {
            const auto before = std::make_shared<std::vector<SessionCall>>();
            return [reading, before, spec](std::string_view operation, const Tensors& inputs) {
              const Tensor& positions = inputs.at("positions");
              const std::size_t axes = positions.shape.size();
              SessionCall now{{.positions = positions.integers()}, positions.shape[axes - 2], positions.shape.back()};
              const auto taken = reading.taken(*before, now);
              before->push_back(now);
              Tensors changed = inputs;
              if (taken) changed.at("positions") = Tensor::of_integers(positions.shape, taken->call.positions);
              return builtin_subject()->open(taken ? taken->spec : spec)->call(operation, changed);
            };
          }};
}

TEST(KeptState, IsToldFromAllOtherReadings) {
  for (const char* text : {rope, dynamic, axial}) {
    const Spec claim = parse_spec(text);
    for (const SessionReading& reading : session_readings(claim)) {
      // Rotations have none.
      if (reading.words.find("weight") != std::string::npos) continue;
      const FunctionSubject subject = keeping(reading);
      const auto state = kept_state(subject, claim, claim);
      ASSERT_TRUE(state) << reading.words;
      EXPECT_EQ(state->words, reading.words) << describe(claim);
      EXPECT_TRUE(depends_on_order(subject, claim)) << reading.words;
    }
  }
}

TEST(KeptState, IsNoneOfWhatIsRight) {
  for (const char* text : {rope, dynamic, axial}) {
    const Spec claim = parse_spec(text);
    EXPECT_FALSE(kept_state(*builtin_subject(), claim, claim));
    EXPECT_FALSE(depends_on_order(*builtin_subject(), claim));
  }
  for (const char* name : {"rope-table-by-positions", "rope-cache-of-all-modules", "rope-grid-kept-by-all",
                           "grid-kept-by-all", "fourier-grid-kept-by-all", "rope-refuses-beyond", "step-cache"}) {
    const Spec claim = parse_spec(mutants::named(name).spec);
    EXPECT_FALSE(kept_state(*mutants::open(name), claim, claim)) << name;
    EXPECT_FALSE(depends_on_order(*mutants::open(name), claim)) << name;
  }
}

// Buckets that are kept by the numbers of queries and keys and by their first positions.
TEST(KeptState, IsToldOfABiasByWhatItsKeyLacks) {
  const Spec claim = parse_spec(R"({"encoding":"relative_bias"})");
  const FunctionSubject subject("buckets kept", [](const Spec& spec) -> FunctionSubject::Call {
    const auto kept = std::make_shared<std::map<std::vector<std::int64_t>, Tensors>>();
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [kept, right](std::string_view operation, const Tensors& inputs) {
      const std::vector<std::int64_t> queries = inputs.at("query_positions").integers();
      const std::vector<std::int64_t> keys = inputs.at("key_positions").integers();
      if (queries.empty() || keys.empty()) return right->call(operation, inputs);
      const auto first =
          kept->try_emplace({std::ssize(queries), std::ssize(keys), queries.front(), keys.front()}, inputs).first;
      Tensors asked = inputs;
      for (const char* name : {"query_positions", "key_positions"})
        asked.insert_or_assign(name, first->second.at(name));
      return right->call(operation, asked);
    };
  });
  EXPECT_TRUE(depends_on_order(subject, claim));
  const auto state = kept_state(subject, claim, claim);
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->words.starts_with("what is kept of queries' and keys' positions is looked up by the first"));
}

// A table that only calls of several tokens make longer.
TEST(KeptState, IsWhatIdentifyTellsFirst) {
  for (const SessionReading& reading : session_readings(parse_spec(rope))) {
    if (!reading.words.starts_with("in a call of one token positions beyond those of the first call and")) continue;
    const Identification found = identify(keeping(reading), parse_spec(rope));
    ASSERT_EQ(found.faults.size(), 1U);
    EXPECT_EQ(found.faults.front().words, reading.words);
    EXPECT_EQ(found.confidence, Confidence::low);
  }
}

}  // namespace
}  // namespace sextant::identify::kept_state_test
