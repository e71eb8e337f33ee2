// Over 400 lines: a made-up subject and its sentence for each defect of steps and padding, each read alone.
// What is said of attention that is right but in some calls alone: in steps, long calls, some rows, or some paddings.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/diagnose/diagnose.hpp"
#include "properties/identify/identify.hpp"
#include "properties/identify/state/kept_state.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_diagnose_steps_test {
namespace {

// What a right implementation is asked in place of each call, and under which claim.
struct Asked {
  Spec spec;
  Tensors inputs;

  bool is_step() const { return inputs.contains("query_positions"); }
  std::int64_t keys() const { return inputs.at("k").shape[2]; }
  std::int64_t queries() const { return inputs.at("q").shape[2]; }
  std::int64_t rows() const { return inputs.at("q").shape[0]; }
  Attention& attention() { return *held<Attention>(spec); }
  std::int64_t end(std::int64_t row) const {
    return inputs.contains("ends") ? inputs.at("ends").integers()[static_cast<std::size_t>(row)] : keys();
  }

  using Number = std::function<std::int64_t(std::int64_t row, std::int64_t at, std::int64_t own)>;
  void change(const char* name, const Number& number) {
    Tensor& given = inputs.at(name);
    std::vector<std::int64_t> all = given.integers();
    const std::int64_t width = given.elements() / rows();
    for (std::int64_t i = 0; i < std::ssize(all); ++i) {
      std::int64_t& one = all[static_cast<std::size_t>(i)];
      one = number(i / width, i % width, one);
    }
    given = Tensor::of_integers(given.shape, all);
  }
  void change(const char* name, const std::function<double(double)>& value) {
    Tensor& given = inputs.at(name);
    for (std::int64_t i = 0; i < given.elements(); ++i) given.set(i, value(given.at(i)));
  }
};

using Change = std::function<void(Asked&)>;

FunctionSubject changed(const Change& change) {
  return FunctionSubject("one defect", [change](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Subject> builtin = builtin_subject();
    return [change, spec, builtin](std::string_view operation, const Tensors& inputs) {
      Asked asked{spec, inputs};
      change(asked);
      return builtin->open(asked.spec)->call(operation, asked.inputs);
    };
  });
}

std::string said(const Change& change, const std::string& claim) {
  const FunctionSubject subject = changed(change);
  const auto diagnosis = diagnose(subject, parse_spec(claim));
  if (!diagnosis) return "nothing";
  // What is so of some calls is no other claim.
  return words_of(*diagnosis) + (diagnosis->spec_json.empty() ? "" : " | " + diagnosis->spec_json);
}

std::string claim_of(const std::string& rest) {
  return R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,"causal":true,"max_position":4000)" +
         rest + "}";
}
const std::string plain = claim_of("");
const std::string rope = claim_of(R"(,"position":{"encoding":"rope","head_dim":16})");
const std::string cached = claim_of(R"(,"position":{"encoding":"rope","head_dim":16},"cached_keys":"rotated")");
const std::string alibi = claim_of(R"(,"position":{"encoding":"alibi","num_heads":4})");
const std::string capped = claim_of(R"(,"logit_softcap":5,"sinks":true)");
const std::string scaled = claim_of(R"(,"query_scale":{"amount":0.1,"period":600,"offset":1})");
std::string window_of(int width) { return claim_of(fmt::format(R"(,"window":{})", width)); }

TEST(DiagnosedSteps, SayNothingOfARightOne) {
  for (const std::string& claim : {plain, rope, cached, alibi, capped, scaled, window_of(8), window_of(16)})
    EXPECT_EQ(said([](Asked&) {}, claim), "nothing") << claim;
}

TEST(DiagnosedSteps, LeaveARuleOut) {
  const Change no_window = [](Asked& asked) {
    if (asked.is_step()) asked.attention().window.reset();
  };
  EXPECT_EQ(said(no_window, window_of(8)), "window none measured, 8 claimed, in steps alone");
  EXPECT_EQ(said(no_window, window_of(16)),
            "window none measured, 16 claimed, in steps over more keys than the window has");
  const Change no_scale = [](Asked& asked) {
    if (asked.is_step()) asked.attention().query_scale.reset();
  };
  EXPECT_EQ(said(no_scale, scaled), "queries are not scaled by their positions, in steps alone");
  const Change no_cap = [](Asked& asked) {
    if (asked.is_step() && asked.queries() == 1) asked.attention().logit_softcap.reset();
  };
  EXPECT_EQ(said(no_cap, capped), "no logit_softcap measured, 5 claimed, in steps of one query alone");
}

TEST(DiagnosedSteps, LeaveARuleOutOfShortCalls) {
  const Change no_mask = [](Asked& asked) {
    if (asked.queries() <= 4) asked.attention().causal = false;
  };
  EXPECT_EQ(said(no_mask, plain),
            "claims causal true, computes false, in calls of up to 4 queries, whole ones and steps");
  const Change no_mask_of_whole = [](Asked& asked) {
    if (asked.queries() <= 4 && !asked.is_step()) asked.attention().causal = false;
  };
  EXPECT_EQ(said(no_mask_of_whole, plain),
            "claims causal true, computes false, in calls of up to 4 tokens and not in longer ones");
  const Change no_cap = [](Asked& asked) {
    if (asked.queries() == 1) asked.attention().logit_softcap.reset();
  };
  EXPECT_EQ(said(no_cap, capped),
            "no logit_softcap measured, 5 claimed, in calls of one query alone, whole ones and steps");
}

TEST(DiagnosedSteps, LeaveAWindowOutOfLongSteps) {
  const Change change = [](Asked& asked) {
    if (asked.is_step() && asked.keys() > 32) asked.attention().window.reset();
  };
  EXPECT_EQ(said(change, window_of(8)), "window none measured, 8 claimed, in steps over more than 32 keys");
}

TEST(DiagnosedSteps, HaveAnotherWindow) {
  const Change wider = [](Asked& asked) {
    if (asked.is_step()) asked.attention().window = 9;
  };
  EXPECT_EQ(said(wider, window_of(8)), "window 9 measured, 8 claimed, in steps alone");
}

TEST(DiagnosedSteps, TurnKeysByTheirIndices) {
  const Change by_index = [](Asked& asked) {
    if (asked.is_step()) asked.change("positions", [](std::int64_t, std::int64_t key, std::int64_t) { return key; });
  };
  for (const std::string& claim : {rope, cached})
    EXPECT_EQ(said(by_index, claim), "in a step keys are turned by their indices, not by their positions") << claim;
}

TEST(DiagnosedSteps, HaveBucketsOfBothDirections) {
  const Change both = [](Asked& asked) {
    RelativeBias position = *carried<RelativeBias>(asked.attention());
    position.bidirectional = true;
    asked.attention().position = position;
  };
  const std::string told = said(both, claim_of(R"(,"position":{"encoding":"relative_bias","bidirectional":false})"));
  EXPECT_EQ(told.find("buckets are of both directions, where the claim has those of one"), 0U) << told;
}

TEST(DiagnosedSteps, ShareSinks) {
  const Change of_first = [](Asked& asked) {
    Tensor& sinks = asked.inputs.at("sinks");
    const Tensor given = sinks;
    for (std::int64_t head = 0; head < sinks.elements(); ++head) sinks.set(head, given.at(head / 2 * 2));
  };
  EXPECT_EQ(said(of_first, claim_of(R"(,"sinks":true)")), "heads of a group have the sink of its first one");
}

TEST(DiagnosedSteps, LimitProductsThatAreNotYetScaled) {
  // c s tanh(p / c) is a cap of c s on s p.
  const Change raw = [](Asked& asked) { *asked.attention().logit_softcap *= score_scale(asked.attention()); };
  EXPECT_EQ(
      said(raw, capped),
      "the softcap limits products of queries and keys before they are scaled, where the claim scales them first");
}

// What a batch row reads of another one.
Change reading(const char* name, const std::function<std::int64_t(std::int64_t row, std::int64_t rows)>& from) {
  return [name, from](Asked& asked) {
    Tensor& given = asked.inputs.at(name);
    const Tensor whole = given;
    const std::int64_t rows = asked.rows();
    const std::int64_t of_row = rows == 0 ? 1 : given.elements() / rows;
    for (std::int64_t i = 0; i < given.elements(); ++i)
      given.set(i, whole.at(from(i / of_row, rows) * of_row + i % of_row));
  };
}

TEST(DiagnosedSteps, ReadOtherRows) {
  const auto second = [](std::int64_t row, std::int64_t) { return row == 1 ? std::int64_t{0} : row; };
  const auto last = [](std::int64_t row, std::int64_t rows) { return row == rows - 1 ? std::int64_t{0} : row; };
  const auto before = [](std::int64_t row, std::int64_t rows) { return (row + rows - 1) % rows; };
  const auto of_two = [](std::int64_t row, std::int64_t rows) { return rows == 2 ? std::int64_t{0} : row; };
  EXPECT_EQ(said(reading("k", second), plain), "the second batch row reads the keys of the first");
  EXPECT_EQ(said(reading("v", last), plain), "the last batch row reads the values of the first");
  EXPECT_EQ(said(reading("v", before), plain),
            "each batch row reads the values of the row before it, the first those of the last");
  EXPECT_EQ(said(reading("k", of_two), plain), "every batch row reads the keys of the first, in batches of 2 rows");
}

TEST(DiagnosedSteps, TurnKeysByTheFirstRowsPositions) {
  const Change keys = [](Asked& asked) {
    if (asked.is_step() || asked.inputs.contains("starts") || asked.inputs.contains("ends")) return;
    const std::vector<std::int64_t> given = asked.inputs.at("positions").integers();
    asked.inputs.insert_or_assign("query_positions", asked.inputs.at("positions"));
    asked.change("positions",
                 [&](std::int64_t, std::int64_t key, std::int64_t) { return given[static_cast<std::size_t>(key)]; });
  };
  EXPECT_EQ(said(keys, rope),
            "keys of all batch rows are turned by the first one's positions, and queries by their own, in whole calls "
            "without padding alone");
}

TEST(DiagnosedSteps, TurnValues) {
  const auto of_heads = [](std::int64_t heads) {
    return [heads](Asked& asked) {
      Tensor& v = asked.inputs.at("v");
      const Tensor given = v;
      const std::vector<std::int64_t> positions = asked.inputs.at("positions").integers();
      constexpr std::int64_t half = 8;
      for (std::int64_t vector = 0; vector * 2 * half < v.elements(); ++vector) {
        const std::int64_t row = vector / asked.keys() / v.shape[1];
        if (vector / asked.keys() % v.shape[1] >= heads) continue;
        const std::int64_t at = row * asked.keys() + vector % asked.keys();
        for (std::int64_t i = 0; i < half; ++i) {
          const double angle = static_cast<double>(positions[static_cast<std::size_t>(at)]) *
                               std::pow(10000.0, -static_cast<double>(i) / half);
          const double a = given.at(vector * 2 * half + i);
          const double b = given.at(vector * 2 * half + half + i);
          v.set(vector * 2 * half + i, a * std::cos(angle) - b * std::sin(angle));
          v.set(vector * 2 * half + half + i, a * std::sin(angle) + b * std::cos(angle));
        }
      }
    };
  };
  EXPECT_EQ(said(of_heads(2), rope), "values are turned by their positions too");
  EXPECT_EQ(said(of_heads(1), rope), "values are turned by their positions too, in the heads of key head 0 alone");
}

TEST(DiagnosedSteps, TakeAnotherLength) {
  const std::string claim =
      claim_of(R"(,"position":{"encoding":"rope","head_dim":16,"rope_scaling":{"rope_type":"dynamic","factor":2,)"
               R"("original_max_position_embeddings":512,"length_scope":"row"}})");
  const Change of_call = [](Asked& asked) {
    if (!asked.is_step()) return;
    Rope position = *carried<Rope>(asked.attention());
    std::get<DynamicScaling>(position.rope_scaling).length_scope = LengthScope::call;
    asked.attention().position = position;
  };
  EXPECT_EQ(said(of_call, claim),
            "each batch row takes the longest one's length, where the claim has its own, in steps alone");
}

TEST(DiagnosedSteps, LeaveAWindowOutOfLongCalls) {
  const Change change = [](Asked& asked) {
    if (asked.keys() > 32) asked.attention().window.reset();
  };
  EXPECT_EQ(said(change, window_of(8)),
            "window none measured, 8 claimed, in calls of 165 tokens and not in those of 12");
  const Identification found = identify(changed(change), parse_spec(window_of(8)));
  EXPECT_FALSE(found.spec);
  EXPECT_EQ(found.confidence, Confidence::none);
}

TEST(DiagnosedSteps, TurnOwnKeysOtherwise) {
  const auto of_own = [](const Asked::Number& number) {
    return [number](Asked& asked) {
      if (!asked.is_step()) return;
      asked.change("positions", [&](std::int64_t row, std::int64_t key, std::int64_t own) {
        const std::int64_t first = asked.end(row) - asked.queries();
        return key < first ? own : number(row, key - first, own);
      });
    };
  };
  const Change unturned = of_own([](std::int64_t, std::int64_t, std::int64_t) { return 0; });
  for (const std::string& claim : {rope, cached})
    EXPECT_EQ(said(unturned, claim), "in a step its own keys are not turned by their positions") << claim;
  const Change first_alone = of_own([](std::int64_t, std::int64_t at, std::int64_t own) { return at == 0 ? own : 0; });
  EXPECT_EQ(said(first_alone, cached), "of a step's own keys the first alone is turned by its position");
}

TEST(DiagnosedSteps, CountFromTheFirstKey) {
  const Change keys = [](Asked& asked) {
    const std::vector<std::int64_t> given = asked.inputs.at("positions").integers();
    if (!asked.is_step()) {
      if (asked.inputs.contains("starts") || asked.inputs.contains("ends")) return;
      asked.inputs.insert_or_assign("query_positions", asked.inputs.at("positions"));
    }
    asked.change("positions", [&](std::int64_t row, std::int64_t, std::int64_t own) {
      return own - given[static_cast<std::size_t>(row * asked.keys())];
    });
  };
  EXPECT_EQ(
      said(keys, rope),
      "keys are turned by positions that count from the first key of their row's call, and queries by their own, in "
      "calls without padding alone");
  const Change queries = [](Asked& asked) {
    if (!asked.is_step()) return;
    const std::vector<std::int64_t> given = asked.inputs.at("positions").integers();
    asked.change("query_positions", [&](std::int64_t row, std::int64_t query, std::int64_t) {
      return given[static_cast<std::size_t>(row * asked.keys())] + query;
    });
  };
  for (const std::string& claim : {rope, cached})
    EXPECT_EQ(said(queries, claim), "queries of a step are counted on from the first key's position") << claim;
}

TEST(DiagnosedSteps, HaveOtherSinksAndOperands) {
  EXPECT_EQ(
      said([](Asked& asked) { asked.change("sinks", [](double sink) { return 5 * std::tanh(sink / 5); }); }, capped),
      "sinks go through the softcap too, as products of queries and keys do");
  EXPECT_EQ(said([](Asked& asked) { asked.change("sinks", [](double sink) { return std::max(sink, 0.0); }); }, capped),
            "sinks below 0 count as 0");
  EXPECT_EQ(said([](Asked& asked) { asked.change("v", [](double v) { return round_to(Dtype::float16, v); }); }, plain),
            "values are rounded to float16 or TF32");
}

TEST(DiagnosedSteps, ScaleQueriesByAnotherAmount) {
  const Change twice = [](Asked& asked) {
    if (asked.attention().query_scale) asked.attention().query_scale->amount *= 2;
  };
  const std::string told = said(twice, claim_of(R"(,"query_scale":{"amount":0.1,"period":600,"offset":1})"));
  EXPECT_EQ(told.find("claims query_scale (amount 0.1, period 600, offset 1), computes query_scale (amount 0.2, period "
                      "600, offset 1)"),
            0U)
      << told;
}

TEST(DiagnosedSteps, ScaleQueriesByTheirRowsGreatestPosition) {
  // Of queries alone: keys are not turned.
  const Change greatest = [](Asked& asked) {
    const char* name = asked.is_step() ? "query_positions" : "positions";
    const std::vector<std::int64_t> all = asked.inputs.at(name).integers();
    const std::int64_t width = asked.inputs.at(name).elements() / asked.rows();
    asked.change(name, [&](std::int64_t row, std::int64_t, std::int64_t) {
      return *std::max_element(all.begin() + row * width, all.begin() + (row + 1) * width);
    });
  };
  EXPECT_EQ(said(greatest, scaled), "all queries of a row have the scale of its greatest position");
}

// A call shows an index for a position where it is longer than a period, however long that is.
TEST(DiagnosedSteps, ScaleQueriesByTheirIndex) {
  for (const int period : {16, 600}) {
    const Spec claim =
        parse_spec(claim_of(fmt::format(R"(,"query_scale":{{"amount":0.1,"period":{},"offset":1}})", period)));
    const Change by_index = [](Asked& asked) {
      const auto index = [&](std::int64_t row, std::int64_t query, std::int64_t) {
        return asked.is_step() ? asked.end(row) - asked.queries() + query : query;
      };
      asked.change(asked.is_step() ? "query_positions" : "positions", index);
    };
    EXPECT_EQ(said(by_index, to_json(claim)),
              "a query's index in its sequence is taken for its position in queries' scales")
        << period;
  }
}

// Logarithms of 2051 and 2054 are within the bounds of scores with a rotation.
TEST(DiagnosedSteps, ScaleQueriesByTheirIndexOrTheNumberOfKeys) {
  const std::string claim = R"({"encoding":"attention","num_heads":4,"head_dim":16,"causal":true,)"
                            R"("position":{"encoding":"rope","head_dim":16},)"
                            R"("query_scale":{"rule":"log_n","length":2048,"offset":1}})";
  const Change by_keys = [](Asked& asked) {
    const double scale = std::max(1.0, std::log(static_cast<double>(asked.keys())) / std::log(2048.0));
    asked.attention().query_scale.reset();
    asked.change("q", [scale](double value) { return scale * value; });
  };
  const std::string words = said(by_keys, claim);
  EXPECT_EQ(words.find("a query's index in its sequence is taken"), std::string::npos) << words;
  EXPECT_NE(words.find("number of"), std::string::npos) << words;
}

// No step of few queries shows a number in a call for an index, nor does a call shorter than the period.
TEST(DiagnosedSteps, ScaleQueriesByNumbersOfTheirCall) {
  using Number = std::function<std::int64_t(const Asked& asked, std::int64_t query)>;
  const auto by = [](const Number& number) {
    return [number](Asked& asked) {
      const Asked given = asked;
      asked.change(asked.is_step() ? "query_positions" : "positions",
                   [&](std::int64_t, std::int64_t query, std::int64_t) { return number(given, query); });
    };
  };
  const std::string log_n = claim_of(R"(,"query_scale":{"rule":"log_n","length":600,"offset":1})");
  for (const std::string& claim : {scaled, log_n}) {
    EXPECT_EQ(said(by([](const Asked&, std::int64_t query) { return query; }), claim),
              "a query's number in its call is taken for its position in queries' scales")
        << claim;
    EXPECT_EQ(said(by([](const Asked& asked, std::int64_t) { return asked.queries(); }), claim),
              "the number of a call's queries is taken for the position of each query in queries' scales")
        << claim;
  }
  EXPECT_EQ(said(by([](const Asked& asked, std::int64_t) { return asked.keys(); }), log_n),
            "the number of a call's keys is taken for the position of each query in queries' scales");
}

TEST(DiagnosedSteps, LeaveARuleOutInStepsOfOneQuery) {
  const auto in_short_steps = [](auto change) {
    return [change](Asked& asked) {
      if (asked.is_step() && asked.queries() == 1) change(asked);
    };
  };
  EXPECT_EQ(said(in_short_steps([](Asked& asked) { asked.attention().query_scale.reset(); }), scaled),
            "queries are not scaled by their positions, in steps of one query alone");
  EXPECT_EQ(said(in_short_steps([](Asked& asked) { asked.attention().window.reset(); }), window_of(16)),
            "window none measured, 16 claimed, in steps of one query over more keys than the window has");
  const std::string dynamic =
      claim_of(R"(,"position":{"encoding":"rope","head_dim":16,"rope_scaling":{"rope_type":"dynamic","factor":2,)"
               R"("original_max_position_embeddings":500}})");
  EXPECT_EQ(said(in_short_steps([](Asked& asked) {
                   if (std::ranges::max(asked.inputs.at("positions").integers()) > 500)
                     asked.change("v", [](double v) { return std::sin(3 * v); });
                 }),
                 dynamic),
            "values are wrong in steps of one query about the length from which frequencies change, and right in those "
            "of several and in whole calls there");
  EXPECT_EQ(said(in_short_steps([](Asked& asked) {
                   if (asked.keys() > 64) asked.change("v", [](double v) { return std::sin(3 * v); });
                 }),
                 plain),
            "values are wrong in steps of one query over 165 keys, and right in those of several and in those over 12 "
            "and in whole calls");
}

// Steps of one query see their last keys alone, as many as `seen` of all says.
TEST(DiagnosedSteps, SeeOtherKeysOfShortCaches) {
  const auto seeing = [](std::int64_t (*seen)(std::int64_t keys)) {
    return [seen](Asked& asked) {
      if (!asked.is_step() || asked.queries() != 1 || asked.inputs.contains("ends")) return;
      const std::int64_t count = seen(asked.keys());
      std::vector<std::int64_t> starts(static_cast<std::size_t>(asked.rows()), asked.keys() - count);
      asked.inputs["starts"] = Tensor::of_integers({asked.rows()}, starts);
    };
  };
  const std::string own = "in a step queries see its own tokens alone, none of those before, in steps of one query";
  EXPECT_EQ(said(seeing([](std::int64_t) { return std::int64_t{1}; }), plain).find(own), 0U);
  const std::string few = said(seeing([](std::int64_t keys) { return keys <= 16 ? std::int64_t{1} : keys; }), plain);
  EXPECT_TRUE(few.starts_with(own) && few.ends_with(", over 12 keys and not over 165")) << few;
  const std::string another =
      said(seeing([](std::int64_t keys) { return keys <= 16 ? std::int64_t{1} : keys - 9; }), plain);
  EXPECT_TRUE(another.starts_with("values are wrong in steps of one query")) << another;
}

// Rows 2i and 2i + 1 exchange what is cached.
TEST(DiagnosedSteps, ReadOtherRowsCaches) {
  const auto exchanged = [](std::vector<const char*> names, std::int64_t (*source)(std::int64_t row)) {
    return [names, source](Asked& asked) {
      if (!asked.is_step() || asked.rows() % 2 != 0) return;
      for (const char* name : names) {
        const Tensor given = asked.inputs.at(name);
        Tensor& made = asked.inputs.at(name);
        const std::int64_t of_row = given.elements() / asked.rows();
        for (std::int64_t i = 0; i < given.elements(); ++i) {
          const std::int64_t row = i / of_row;
          const bool is_cached = i / given.shape[3] % given.shape[2] < asked.end(row) - asked.queries();
          if (is_cached) made.set(i, given.at(source(row) * of_row + i % of_row));
        }
      }
    };
  };
  const auto neighbour = [](std::int64_t row) { return row ^ 1; };
  EXPECT_EQ(said(exchanged({"v"}, neighbour), plain),
            "in a step each batch row reads the cached values of its neighbour: of every two rows each has the "
            "other's, in batches of an even number of rows");
  EXPECT_EQ(said(exchanged({"k", "v"}, [](std::int64_t) { return std::int64_t{0}; }), plain),
            "in a step each batch row reads the cached keys and values of the first, in batches of an even number of "
            "rows");
  const Change unlike_of_even = [](Asked& asked) {
    if (asked.is_step() && asked.rows() % 2 == 0) asked.change("v", [](double value) { return std::sin(3 * value); });
  };
  EXPECT_EQ(said(unlike_of_even, plain),
            "values are wrong in steps, and right in whole calls; of batches of an even number of rows alone");
}

TEST(DiagnosedSteps, CountPaddingOnTheRight) {
  const Change last_keys = [](Asked& asked) {
    if (!asked.is_step()) return;
    const std::vector<std::int64_t> positions = asked.inputs.at("positions").integers();
    asked.change("query_positions", [&](std::int64_t row, std::int64_t query, std::int64_t) {
      return positions[static_cast<std::size_t>((row + 1) * asked.keys() - asked.queries() + query)];
    });
  };
  EXPECT_EQ(said(last_keys, rope),
            "queries of a step have the positions of the call's last keys, padding on the right among them");
  const Change unlike_on_the_right = [](Asked& asked) {
    if (!asked.is_step()) return;
    for (std::int64_t row = 0; row < asked.rows(); ++row) {
      if (asked.end(row) == asked.keys()) continue;
      asked.change("v", [](double value) { return std::sin(3 * value); });
      return;
    }
  };
  EXPECT_EQ(said(unlike_on_the_right, plain),
            "values are wrong in steps over rows with padding on the right, and right in all others");
}

TEST(DiagnosedSteps, TakeTheFirstRowsPadding) {
  const Change ends = [](Asked& asked) {
    if (!asked.inputs.contains("ends")) return;
    const std::int64_t first = asked.end(0);
    asked.change("ends", [first](std::int64_t, std::int64_t, std::int64_t) { return first; });
  };
  EXPECT_EQ(said(ends, plain), "every batch row ends where the first does, before its padding on the right");
  const Change shortest = [](Asked& asked) {
    if (!asked.inputs.contains("ends")) return;
    const std::int64_t least = std::ranges::min(asked.inputs.at("ends").integers());
    asked.change("ends", [least](std::int64_t, std::int64_t, std::int64_t) { return least; });
  };
  EXPECT_EQ(said(shortest, plain), "every batch row ends where the shortest does, before its padding on the right");
  const Change blocks = [](Asked& asked) {
    if (!asked.inputs.contains("ends") || asked.is_step()) return;
    const std::int64_t keys = asked.keys();
    asked.change("ends",
                 [keys](std::int64_t, std::int64_t, std::int64_t own) { return std::min((own + 7) / 8 * 8, keys); });
  };
  EXPECT_EQ(said(blocks, R"({"encoding":"attention","num_heads":4,"head_dim":16,"max_position":4000})"),
            "padding on the right is seen up to the next multiple of 8 keys, in whole calls alone");
  const Change starts = [](Asked& asked) {
    if (asked.inputs.contains("starts"))
      asked.change("starts", [](std::int64_t, std::int64_t, std::int64_t own) { return own >= 2 ? 0 : own; });
  };
  EXPECT_EQ(said(starts, plain),
            "keys of padding on the left are seen, where a row has 4 tokens of padding on the left, and not where it "
            "has 1");
}

// A mask of a fixed width: short calls have less padding.
TEST(DiagnosedSteps, HideSoMuchPaddingAlone) {
  const auto no_more_than = [](std::int64_t most) {
    return [most](Asked& asked) {
      if (!asked.inputs.contains("starts")) return;
      asked.change("starts", [most](std::int64_t, std::int64_t, std::int64_t own) { return std::min(own, most); });
    };
  };
  EXPECT_EQ(said(no_more_than(4), plain), "of padding on the left no more than 4 tokens are hidden");
  EXPECT_EQ(
      said(no_more_than(11), plain),
      "values are wrong in rows with 12 and more tokens of padding on the left, and right in those with up to 11");
  for (const std::int64_t most : {4, 11})
    EXPECT_NE(identify(changed(no_more_than(most)), parse_spec(plain)).confidence, Confidence::high) << most;
}

TEST(DiagnosedSteps, SeePaddingBesideThatOfTheOtherSide) {
  const Change both = [](Asked& asked) {
    if (!asked.inputs.contains("starts")) return;
    asked.change("starts", [&](std::int64_t row, std::int64_t, std::int64_t own) {
      return asked.end(row) < asked.keys() ? 0 : own;
    });
  };
  EXPECT_EQ(said(both, plain), "keys of padding on the left are seen, where a row has padding on both sides");
}

// Usual steps have two rows.
TEST(DiagnosedSteps, AreWrongOfSomeNumbersOfRows) {
  const auto of_rows = [](bool (*are)(std::int64_t rows)) {
    return [are](Asked& asked) {
      if (asked.is_step() && are(asked.rows())) asked.change("v", [](double value) { return std::sin(3 * value); });
    };
  };
  EXPECT_EQ(said(of_rows([](std::int64_t rows) { return rows >= 3; }), plain),
            "values are wrong in steps, and right in whole calls; of batches of 3 and more rows");
  EXPECT_EQ(said(of_rows([](std::int64_t rows) { return rows > 1 && rows % 2 == 1; }), plain),
            "values are wrong in steps, and right in whole calls; of batches of 3, 5 rows, and not of 1, 2, 4, 6");
}

TEST(DiagnosedSteps, AreAsWholeCallsAreWhereTheyHaveManyQueries) {
  const Change no_cap = [](Asked& asked) {
    if (asked.queries() >= 33) asked.attention().logit_softcap.reset();
  };
  EXPECT_EQ(said(no_cap, capped),
            "no logit_softcap measured, 5 claimed, in calls of 165 tokens and not in those of 12, in whole calls and "
            "steps of 164 queries, and not in those of up to 5");
}

// A row's own one, or another's.
std::vector<std::int64_t> sorted(std::vector<std::int64_t> list) {
  std::ranges::sort(list);
  return list;
}

TEST(DiagnosedSteps, TakePaddingOtherwise) {
  const Change no_starts = [](Asked& asked) {
    if (asked.is_step()) asked.inputs.erase("starts");
  };
  EXPECT_EQ(said(no_starts, plain), "keys of padding on the left are seen, in steps alone");
  const Change no_ends = [](Asked& asked) {
    if (asked.is_step()) asked.inputs.erase("ends");
  };
  EXPECT_EQ(said(no_ends, plain), "in a step queries are taken to be the last tokens of the cache, not of their row");
  const Change in_order = [](Asked& asked) {
    if (!asked.inputs.contains("ends")) return;
    Tensor& ends = asked.inputs.at("ends");
    ends = Tensor::of_integers(ends.shape, sorted(ends.integers()));
  };
  EXPECT_EQ(said(in_order, plain),
            "batch rows have each other's ends before padding on the right: sorted, the least first");
}

// Usual calls have two rows.
TEST(DiagnosedSteps, ReadRowsOfLargerBatchesOtherwise) {
  const Change reversed = [](Asked& asked) {
    if (asked.rows() < 3) return;
    Tensor& v = asked.inputs.at("v");
    const Tensor own = v;
    const std::int64_t of_row = v.elements() / asked.rows();
    for (std::int64_t i = 0; i < v.elements(); ++i)
      v.set(i, own.at((asked.rows() - 1 - i / of_row) * of_row + i % of_row));
  };
  EXPECT_EQ(
      said(reversed, plain),
      "each batch row reads the values of the row as far from the other end: the first those of the last, in batches "
      "of 3 and more rows");
}

TEST(DiagnosedSteps, HaveBiasesOfTheFirstRowsPositions) {
  const Change first = [](Asked& asked) {
    const std::vector<std::int64_t> given = asked.inputs.at("positions").integers();
    asked.change("positions", [&](std::int64_t, std::int64_t token, std::int64_t) {
      return given[static_cast<std::size_t>(token)];
    });
  };
  EXPECT_EQ(said(first, claim_of(R"(,"position":{"encoding":"relative_bias"})")),
            "all rows of a batch have the positions of the first");
}

bool is_padded_step_of_one(const Asked& asked) {
  const bool is_padded = asked.inputs.contains("starts") || asked.inputs.contains("ends");
  return asked.is_step() && asked.queries() == 1 && is_padded;
}

double unlike(double value) { return std::sin(3 * value); }

TEST(DiagnosedSteps, SeePaddingInStepsOfOneQuery) {
  const Change none = [](Asked& asked) {
    if (!is_padded_step_of_one(asked)) return;
    asked.inputs.erase("starts");
    asked.inputs.erase("ends");
  };
  EXPECT_EQ(said(none, plain), "keys of padding are seen, in steps of one query alone");
  const Change first = [](Asked& asked) {
    if (is_padded_step_of_one(asked) && asked.inputs.contains("ends"))
      asked.change("ends", [end = asked.end(0)](std::int64_t, std::int64_t, std::int64_t) { return end; });
  };
  EXPECT_EQ(said(first, plain),
            "every batch row ends where the first does, before its padding on the right, in steps of one query alone");
  const Change other = [](Asked& asked) {
    if (is_padded_step_of_one(asked)) asked.change("v", unlike);
  };
  EXPECT_EQ(said(other, plain),
            "values are wrong in steps of one query over rows with padding, and right in all others");
  const auto in_up_to_two = [](auto change) {
    return [change](Asked& asked) {
      if (asked.is_step() && asked.queries() <= 2 && (asked.inputs.contains("starts") || asked.inputs.contains("ends")))
        change(asked);
    };
  };
  const Change none_of_two = in_up_to_two([](Asked& asked) {
    asked.inputs.erase("starts");
    asked.inputs.erase("ends");
  });
  EXPECT_EQ(said(none_of_two, plain), "keys of padding are seen, in steps of one query or two alone");
  const Change other_of_two = in_up_to_two([](Asked& asked) { asked.change("v", unlike); });
  EXPECT_EQ(said(other_of_two, plain),
            "values are wrong in steps of one query or two over rows with padding, and right in all others");
  for (const Change& change : {none, first, other, none_of_two, other_of_two})
    EXPECT_NE(identify(changed(change), parse_spec(plain)).confidence, Confidence::high);
}

TEST(DiagnosedSteps, AreOtherOnesOfAFewQueries) {
  const auto up_to = [](std::int64_t most) {
    return [most](Asked& asked) {
      if (asked.is_step() && asked.queries() <= most) asked.change("v", unlike);
    };
  };
  EXPECT_EQ(said(up_to(1), plain),
            "values are wrong in steps of one query, and right in those of several queries and in whole calls");
  EXPECT_EQ(
      said(up_to(2), plain),
      "values are wrong in steps of one query or two, and right in those of 3 and more queries and in whole calls");
}

TEST(DiagnosedSteps, AreOfTwoQueries) {
  const Change free = [](Asked& asked) {
    if (asked.is_step() && asked.queries() == 2) asked.attention().causal = false;
  };
  EXPECT_EQ(said(free, plain),
            "in a step every query sees all keys: no causal mask is among its tokens, in steps of two queries alone");
  const Change other = [](Asked& asked) {
    if (asked.is_step() && asked.queries() == 2) asked.change("v", unlike);
  };
  EXPECT_EQ(said(other, plain),
            "values are wrong in steps of two queries, and right in those of 1, 3, 5 queries and in whole calls");
}

TEST(DiagnosedSteps, AreRightWhereWholeCallsAreNot) {
  const Change no_starts = [](Asked& asked) {
    if (!asked.is_step()) asked.inputs.erase("starts");
  };
  EXPECT_EQ(said(no_starts, plain), "keys of padding on the left are seen, in whole calls alone");
  const Change no_cap = [](Asked& asked) {
    if (!asked.is_step()) asked.attention().logit_softcap.reset();
  };
  EXPECT_EQ(said(no_cap, capped), "no logit_softcap measured, 5 claimed, in whole calls alone");
}

TEST(DiagnosedSteps, TakeTheirLastTokensValueForZero) {
  const Change last = [](Asked& asked) {
    if (!asked.is_step() || asked.queries() != 1) return;
    Tensor& v = asked.inputs.at("v");
    const std::int64_t width = v.shape[3];
    for (std::int64_t i = 0; i < v.elements(); ++i) {
      const std::int64_t vector = i / width;
      if (vector % asked.keys() == asked.end(vector / asked.keys() / v.shape[1]) - 1) v.set(i, 0);
    }
  };
  EXPECT_EQ(said(last, plain), "in a step the value of its last token is taken for 0, in steps of one query alone");
}

TEST(DiagnosedSteps, HaveOtherRowsEnds) {
  const auto taken = [](const char* name, auto source) {
    return [=](Asked& asked) {
      if (!asked.inputs.contains(name) || asked.is_step()) return;
      const std::vector<std::int64_t> own = asked.inputs.at(name).integers();
      const std::int64_t rows = asked.rows();
      asked.change(name, [&](std::int64_t row, std::int64_t, std::int64_t) {
        return own[static_cast<std::size_t>(source(row, rows))];
      });
    };
  };
  const auto before = [](std::int64_t row, std::int64_t rows) { return (row + rows - 1) % rows; };
  const std::string open = R"({"encoding":"attention","num_heads":4,"head_dim":16,"max_position":4000})";
  EXPECT_EQ(said(taken("ends", before), open),
            "batch rows have each other's ends before padding on the right: each that of the row before it, the first "
            "that of the last, in whole calls alone");
  const auto exchanged = [](std::int64_t row, std::int64_t rows) { return rows > 1 && row < 2 ? 1 - row : row; };
  EXPECT_EQ(said(taken("starts", exchanged), open),
            "batch rows have each other's starts behind padding on the left: the first two exchange theirs, in whole "
            "calls alone");
}

// What is told of a step of three keys, which no place of the usual steps has.
TEST(DiagnosedSteps, AskAPlaceOfFailingCalls) {
  const FunctionSubject subject = changed([](Asked& asked) {
    if (asked.is_step() && (asked.keys() > 12 || asked.keys() == 3)) asked.change("v", unlike);
  });
  const Spec claim = parse_spec(plain);
  EXPECT_EQ(words_of(*diagnose(subject, claim)),
            "values are wrong in steps over 165 keys, and right in those over 12 and in whole calls");
  Clues clues;
  PropertyResult& decode = clues.violated.emplace_back();
  decode.id = "decode";
  decode.simplest = Example{"decode:position=0,tokens=3,queries=1,batch=1,fill=0", "", {}, Shown::alone};
  EXPECT_EQ(words_of(*diagnose(subject, claim, clues)), "values are wrong in some steps, and right in whole calls");
  decode.simplest->token = "decode:position=0,tokens=30,queries=1,batch=1,fill=0";
  EXPECT_EQ(words_of(*diagnose(subject, claim, clues)),
            "values are wrong in steps over 165 keys, and right in those over 12 and in whole calls");
  decode.simplest->shown = Shown::after_other_calls;
  EXPECT_EQ(words_of(*diagnose(subject, claim, clues)), depends_on_calls);
}

TEST(DiagnosedSteps, TakeAKeysValueForZero) {
  const Change first = [](Asked& asked) {
    Tensor& v = asked.inputs.at("v");
    const std::int64_t width = v.shape[3];
    for (std::int64_t i = 0; i < v.elements() && asked.keys() > 8; ++i) {
      if (i / width % asked.keys() == 0) v.set(i, 0);
    }
  };
  EXPECT_EQ(said(first, plain),
            "of 16 tokens no query sees key 0, though it counts in softmax's sum: its value is taken for 0");
}

TEST(DiagnosedSteps, KeepKeysOfTheFirstOfAShape) {
  const FunctionSubject subject("keys of the first step of a shape", [](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Subject> builtin = builtin_subject();
    const auto kept = std::make_shared<std::map<std::vector<std::int64_t>, Tensor>>();
    return [spec, builtin, kept](std::string_view operation, const Tensors& inputs) {
      Asked asked{spec, inputs};
      if (asked.is_step() && asked.queries() == 1) {
        Tensor& k = asked.inputs.at("k");
        k = kept->emplace(k.shape, k).first->second;
      }
      return builtin->open(asked.spec)->call(operation, asked.inputs);
    };
  });
  const auto diagnosis = diagnose(subject, parse_spec(plain));
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(words_of(*diagnosis), depends_on_calls);
}

}  // namespace
}  // namespace sextant::identify::identify_diagnose_steps_test
