#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/edited_test.hpp"
#include "properties/engine/engine.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

// Accuracy compares every value: what is wrong at one place alone is found there.

namespace sextant::sweep_test {
namespace {

PropertyResult accuracy_of(const Edited::Edit& edit, const Spec& spec, Profile profile = Profile::standard) {
  AuditOptions options;
  options.profile = profile;
  return audit({*property_named("accuracy")}, Edited(builtin_subject(), edit), spec, options).results.front();
}

// The rows of a reply are those of the inputs' positions; row `position` has one value moved by 3.
Edited::Edit wrong_at(std::int64_t position, std::int64_t channel) {
  return [position, channel](std::string_view, const Tensors& inputs, Tensors& reply) {
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    Tensor& values = reply.begin()->second;
    const std::int64_t width = values.elements() / std::ssize(positions);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) * width + channel;
      if (positions[i] == position) values.set(at, values.at(at) + 3);
    }
  };
}

TEST(Sweep, FindsTheOnePositionOfAClaimThatIsWrong) {
  struct Claim {
    const char* spec;
    std::int64_t values;
    const char* simplest;
  };
  for (const Claim& claim :
       {Claim{R"({"encoding":"sinusoidal","dim":16})", 16, "accuracy:position=77777,rows=1"},
        Claim{R"({"encoding":"rope","head_dim":16})", 16, "accuracy:position=77777,tokens=1,batch=1,heads=1,fill=0"},
        Claim{R"({"encoding":"xpos","head_dim":16})", 16, "accuracy:position=77777,tokens=1,batch=1,heads=1,fill=0"},
        Claim{R"({"encoding":"integer","dim":4})", 4, "accuracy:position=77777,tokens=1,batch=1,heads=1,fill=0"},
        Claim{R"({"encoding":"binary","dim":17})", 17, "accuracy:position=77777,tokens=1,batch=1,heads=1,fill=0"}}) {
    const PropertyResult result = accuracy_of(wrong_at(77777, 2), parse_spec(claim.spec));
    ASSERT_EQ(result.verdict, Verdict::violated) << claim.spec;
    EXPECT_EQ(result.simplest->token, claim.simplest);
    EXPECT_EQ(result.horizon, 77776) << claim.spec;
    ASSERT_TRUE(result.coverage.has_value());
    EXPECT_EQ(result.coverage->positions, 131072);
    EXPECT_EQ(result.coverage->claimed, 131072);
    EXPECT_EQ(result.coverage->values, 131072 * claim.values);
  }
}

TEST(Sweep, TheWorstIsThatOfAllPositions) {
  const Edited::Edit wrong = [](std::string_view operation, const Tensors& inputs, Tensors& reply) {
    wrong_at(12345, 3)(operation, inputs, reply);
    wrong_at(54321, 3)(operation, inputs, reply);
    wrong_at(54321, 3)(operation, inputs, reply);  // twice as wrong
  };
  const PropertyResult result = accuracy_of(wrong, parse_spec(R"({"encoding":"sinusoidal","dim":16})"));
  EXPECT_EQ(result.simplest->token, "accuracy:position=12345,rows=1");
  EXPECT_EQ(result.worst->token, "accuracy:position=54321,rows=1");
  EXPECT_EQ(result.horizon, 12344);
}

// A distance of 300 is first met by position 300, whichever of the two is the query.
TEST(Sweep, TheHorizonOfABiasIsBelowTheLaterPosition) {
  const Edited::Edit wrong = [](std::string_view operation, const Tensors& inputs, Tensors& reply) {
    if (operation != "bias") return;
    const std::vector<std::int64_t> queries = inputs.at("query_positions").integers();
    const std::vector<std::int64_t> keys = inputs.at("key_positions").integers();
    Tensor& bias = reply.begin()->second;
    const std::int64_t square = std::ssize(queries) * std::ssize(keys);
    for (std::int64_t i = 0; i < bias.elements(); ++i) {
      const std::int64_t query = queries[static_cast<std::size_t>(i % square / std::ssize(keys))];
      if (std::abs(keys[static_cast<std::size_t>(i % std::ssize(keys))] - query) == 300) bias.set(i, bias.at(i) + 3);
    }
  };
  for (const char* spec : {R"({"encoding":"relative_bias","max_position":4096})",
                           R"({"encoding":"alibi","num_heads":4,"mask":"symmetric","max_position":4096})"}) {
    const PropertyResult result = accuracy_of(wrong, parse_spec(spec));
    EXPECT_EQ(result.verdict, Verdict::violated) << spec;
    EXPECT_EQ(result.horizon, 299) << spec;
  }
}

// Of attention too: a key at 300 or later makes the answer wrong.
TEST(Sweep, TheHorizonOfAttentionIsBelowTheLastPosition) {
  const Edited::Edit wrong = [](std::string_view operation, const Tensors& inputs, Tensors& reply) {
    if (operation != "attend" || inputs.contains("query_positions")) return;
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    Tensor& out = reply.begin()->second;
    const std::int64_t tokens = out.shape[2];
    for (std::int64_t i = 0; i < out.elements(); ++i) {
      const std::int64_t row = i / (out.shape[1] * tokens * out.shape[3]);
      const std::int64_t token = i / out.shape[3] % tokens;
      if (positions[static_cast<std::size_t>(row * tokens + token)] >= 300) out.set(i, out.at(i) + 3);
    }
  };
  const Spec spec = parse_spec(R"({"encoding":"attention","num_heads":1,"head_dim":4,"causal":true,)"
                               R"("position":{"encoding":"rope","head_dim":4},"max_position":4096})");
  EXPECT_EQ(accuracy_of(wrong, spec, Profile::quick).horizon, 299);
}

// Queries are no rows of a batch, whose positions lie further on.
TEST(Sweep, NoHorizonIsBeyondTheClaim) {
  const Edited::Edit wrong = [](std::string_view, const Tensors& inputs, Tensors& reply) {
    Tensor& values = reply.begin()->second;
    const bool is_large = inputs.contains("key_positions") && inputs.at("key_positions").elements() > 256;
    if (is_large) values.set(values.elements() - 1, values.at(values.elements() - 1) + 3);
  };
  const Spec spec = parse_spec(R"({"encoding":"relative_bias","max_position":512})");
  for (const PropertyResult& result : audit(catalogue(), Edited(builtin_subject(), wrong), spec, {}).results)
    EXPECT_LT(result.horizon.value_or(0), 511) << result.id;
}

// In pairs that any one of the axes turns, and for each only there.
TEST(Sweep, HasEveryCoordinateOfEveryAxis) {
  const Spec spec = parse_spec(R"({"encoding":"rope_nd","head_dim":12,"sections":[2,2,2],"max_position":20000})");
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    for (const std::int64_t coordinate : {0, 1, 12345, 19999}) {
      const PropertyResult result = accuracy_of(
          [&](std::string_view, const Tensors& inputs, Tensors& reply) {
            const std::vector<std::int64_t> positions = inputs.at("positions").integers();
            const std::int64_t tokens = std::ssize(positions) / 3;
            Tensor& y = reply.at("y");
            const std::int64_t width = y.elements() / tokens;
            for (std::int64_t token = 0; token < tokens; ++token) {
              const std::int64_t at = token * width + 2 * axis;
              if (positions[static_cast<std::size_t>(axis * tokens + token)] == coordinate) y.set(at, y.at(at) + 3);
            }
          },
          spec, Profile::quick);
      ASSERT_EQ(result.verdict, Verdict::violated) << "axis " << axis << ", coordinate " << coordinate;
      EXPECT_LE(result.horizon.value_or(-1), coordinate + 12) << "axis " << axis << ", coordinate " << coordinate;
      EXPECT_NE(result.simplest->token.find("tokens=1,batch=1,heads=1"), std::string::npos) << result.simplest->token;
    }
  }
}

// Beyond what the dtype holds a key's vectors are anything, and the report does not count them.
TEST(Sweep, CountsWhatADtypeCanHold) {
  const Spec spec = parse_spec(R"({"encoding":"xpos","head_dim":16,"role":"key","dtype":"float16"})");
  const Edited::Edit spoilt = [](std::string_view, const Tensors& inputs, Tensors& reply) {
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    Tensor& y = reply.begin()->second;
    const std::int64_t width = y.elements() / std::ssize(positions);
    for (std::int64_t i = 0; i < y.elements(); i += 16) {
      // zeta_0 = 2/7: its inverse to the power of 9000/512 is beyond 2^16, which is what float16 ends at.
      if (positions[static_cast<std::size_t>(i / width)] > 9000) y.set(i, std::numeric_limits<double>::quiet_NaN());
    }
  };
  const PropertyResult result = accuracy_of(spoilt, spec);
  EXPECT_EQ(result.verdict, Verdict::holds);
  ASSERT_TRUE(result.coverage.has_value());
  EXPECT_EQ(result.coverage->positions, 131072);
  EXPECT_LT(result.coverage->values, 131072 * 8);
  EXPECT_GT(result.coverage->values, 131072);
  const PropertyResult near = accuracy_of(wrong_at(100, 0), spec);
  EXPECT_EQ(near.verdict, Verdict::violated);
}

// At a distance rather than a position: that of queries at the claim's ends.
TEST(Sweep, FindsTheOneDistanceThatIsWrong) {
  for (const char* text : {R"({"encoding":"alibi","num_heads":8,"mask":"symmetric","max_position":50000})",
                           R"({"encoding":"relative_bias","max_position":50000})"}) {
    for (const std::int64_t distance : {-31234, 31234}) {
      const PropertyResult result = accuracy_of(
          [distance](std::string_view, const Tensors& inputs, Tensors& reply) {
            const std::vector<std::int64_t> queries = inputs.at("query_positions").integers();
            const std::vector<std::int64_t> keys = inputs.at("key_positions").integers();
            Tensor& bias = reply.at("bias");
            const std::int64_t width = std::ssize(queries) * std::ssize(keys);
            for (std::int64_t i = 0; i < width; ++i) {
              const std::int64_t query = queries[static_cast<std::size_t>(i / std::ssize(keys))];
              if (keys[static_cast<std::size_t>(i % std::ssize(keys))] - query == distance) bias.set(i, 1e9);
            }
          },
          parse_spec(text));
      EXPECT_EQ(result.verdict, Verdict::violated) << text << ", distance " << distance;
    }
  }
}

// Of a claim that is too long for the profile: both ends, and the neighbourhood of each power of two.
TEST(Sweep, TakesPositionsFromAllOfALongClaim) {
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":64,"min_position":-5000000,"max_position":3000000})");
  for (const std::int64_t position :
       {-5000000L, -4194305L, -4194304L, -65536L, -1L, 0L, 1L, 8192L, 1048575L, 2999999L}) {
    const PropertyResult result = accuracy_of(wrong_at(position, 2), spec, Profile::quick);
    EXPECT_EQ(result.verdict, Verdict::violated) << position;
    EXPECT_LT(result.coverage->positions, result.coverage->claimed);
    EXPECT_LE(result.coverage->values, std::int64_t{1} << 23);
    EXPECT_GT(result.coverage->values, std::int64_t{1} << 21);
  }
}

TEST(Sweep, HasEveryRowAndColumnOfAGrid) {
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal_2d","dim":8,"height":30,"width":70})");
  for (std::int64_t column = 0; column < 70; ++column) {
    const PropertyResult result = accuracy_of(
        [column](std::string_view, const Tensors& inputs, Tensors& reply) {
          const std::vector<std::int64_t> places = inputs.at("positions").integers();
          Tensor& values = reply.begin()->second;
          const std::size_t tokens = places.size() / 2;
          for (std::size_t i = 0; i < tokens; ++i) {
            if (places[tokens + i] == column) values.set(static_cast<std::int64_t>(i) * 8 + 7, 3);
          }
        },
        spec, Profile::quick);
    EXPECT_EQ(result.verdict, Verdict::violated) << column;
  }
}

// Each coordinate of a film's frames, rows and columns, of which the last channel of one is wrong.
TEST(Sweep, HasEveryCoordinateOfAFilm) {
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal_nd","dim":6,"extents":[9,30,14]})");
  for (const auto& [axis, coordinate] : {std::pair{0, 8}, {1, 0}, {1, 17}, {1, 29}, {2, 13}}) {
    const PropertyResult result = accuracy_of(
        [axis = static_cast<std::size_t>(axis), coordinate = coordinate](std::string_view, const Tensors& inputs,
                                                                         Tensors& reply) {
          const std::vector<std::int64_t> places = inputs.at("positions").integers();
          Tensor& values = reply.begin()->second;
          const std::size_t tokens = places.size() / 3;
          for (std::size_t i = 0; i < tokens; ++i) {
            if (places[axis * tokens + i] == coordinate) values.set(static_cast<std::int64_t>(i * 6 + 2 * axis + 1), 3);
          }
        },
        spec, Profile::quick);
    EXPECT_EQ(result.verdict, Verdict::violated) << axis << " " << coordinate;
  }
}

// Row `row` of a reply to a call of one head, counted over the batch: its last value is moved.
void spoil(Tensor& values, std::int64_t row, std::int64_t width) {
  const std::int64_t last = (row + 1) * width - 1;
  values.set(last, values.at(last) + 3);
}

// What is wrong only in calls of some shape or order, and the case that has to be the simplest.
TEST(Shapes, OfCallsAreAsked) {
  struct Defect {
    const char* name;
    std::function<void(const std::vector<std::int64_t>& positions, const Tensor& x, Tensor& y)> change;
    const char* simplest;
  };
  const std::vector<Defect> defects{
      {"head 100",
       [](const auto&, const Tensor& x, Tensor& y) {
         if (x.shape[2] > 100) spoil(y, 100, 16);
       },
       "accuracy:position=0,tokens=1,batch=1,heads=101,fill=0"},
      {"batch row 40",
       [](const auto&, const Tensor& x, Tensor& y) {
         if (x.shape[0] > 40) spoil(y, 40 * x.shape[1] * x.shape[2], 16);
       },
       "accuracy:position=0,tokens=1,batch=41,heads=1,fill=0"},
      {"token 1000",
       [](const auto&, const Tensor& x, Tensor& y) {
         if (x.shape[1] > 1000) spoil(y, 1000 * x.shape[2], 16);
       },
       "accuracy:position=0,tokens=1001,batch=1,heads=1,fill=0"},
      {"257 tokens",
       [](const auto&, const Tensor& x, Tensor& y) {
         if (x.shape[1] == 257) spoil(y, 256 * x.shape[2], 16);
       },
       "accuracy:position=0,tokens=257,batch=1,heads=1,fill=0"},
      {"all equal",
       [](const std::vector<std::int64_t>& positions, const Tensor& x, Tensor& y) {
         if (positions.size() > 8 && std::ranges::count(positions, positions[0]) == std::ssize(positions))
           spoil(y, x.shape[2], 16);
       },
       "accuracy:position=0,tokens=5,batch=2,heads=1,fill=0,order=5"},
      {"descending",
       [](const std::vector<std::int64_t>& positions, const Tensor& x, Tensor& y) {
         if (positions.size() > 4 && positions[4] < positions[3]) spoil(y, 4 * x.shape[2], 16);
       },
       "accuracy:position=0,tokens=3,batch=2,heads=1,fill=0,order=1"},
  };
  const Spec spec = parse_spec(R"({"encoding":"rope","head_dim":16})");
  for (const Defect& defect : defects) {
    const PropertyResult result = accuracy_of(
        [&](std::string_view, const Tensors& inputs, Tensors& reply) {
          defect.change(inputs.at("positions").integers(), inputs.at("x"), reply.begin()->second);
        },
        spec);
    ASSERT_EQ(result.verdict, Verdict::violated) << defect.name;
    EXPECT_EQ(result.simplest->token, defect.simplest) << defect.name;
  }
}

// Wrong in one place of a claim or call of the size of those in use: it is the counterexample.
TEST(Shapes, OnePlaceOfManyIsTheSimplestCase) {
  struct Defect {
    const char* name;
    std::function<bool(std::int64_t position, std::int64_t token, std::int64_t head, const Tensor& x)> is_here;
    const char* simplest;
  };
  const std::vector<Defect> defects{
      {"one position of 131072", [](std::int64_t position, auto, auto, const Tensor&) { return position == 99999; },
       "accuracy:position=99999,tokens=1,batch=1,heads=1,fill=0"},
      {"one head of 128", [](auto, auto, std::int64_t head, const Tensor&) { return head == 127; },
       "accuracy:position=0,tokens=1,batch=1,heads=128,fill=0"},
      {"the last tile of a call of 1000 tokens",
       [](auto, std::int64_t token, auto, const Tensor& x) { return x.shape[1] >= 1000 && token / 64 == 15; },
       "accuracy:position=0,tokens=1000,batch=1,heads=1,fill=0"},
  };
  const Spec spec = parse_spec(R"({"encoding":"rope","head_dim":16})");
  for (const Defect& defect : defects) {
    const PropertyResult result = accuracy_of(
        [&](std::string_view, const Tensors& inputs, Tensors& reply) {
          const std::vector<std::int64_t> positions = inputs.at("positions").integers();
          const Tensor& x = inputs.at("x");
          const std::int64_t heads = x.shape[2];
          for (std::int64_t vector = 0; vector < std::ssize(positions) * heads; ++vector) {
            const std::int64_t row = vector / heads;
            if (defect.is_here(positions[static_cast<std::size_t>(row)], row % x.shape[1], vector % heads, x))
              spoil(reply.begin()->second, vector, 16);
          }
        },
        spec);
    ASSERT_EQ(result.verdict, Verdict::violated) << defect.name;
    EXPECT_EQ(result.simplest->token, defect.simplest) << defect.name;
  }
}

// The encoders, but that one of several axes ends at 511: coordinates beyond are taken for it.
FunctionSubject ending_at_511(std::int64_t axis) {
  return {"ends at 511", [axis](const Spec& claim) -> FunctionSubject::Call {
            return [axis, session = std::shared_ptr<Session>(builtin_subject()->open(claim)),
                    axes = axes_of(claim.encoding)](std::string_view operation, const Tensors& inputs) {
              Tensors clamped = inputs;
              std::vector<std::int64_t> positions = inputs.at("positions").integers();
              const std::int64_t tokens = std::ssize(positions) / axes;
              for (std::int64_t i = axis * tokens; i < (axis + 1) * tokens; ++i)
                positions[static_cast<std::size_t>(i)] =
                    std::min<std::int64_t>(positions[static_cast<std::size_t>(i)], 511);
              clamped.at("positions") = Tensor::of_integers(inputs.at("positions").shape, positions);
              return session->call(operation, clamped);
            };
          }};
}

// What clamps one axis is right at every place whose coordinates are all at most the last that it knows, whichever axis
// it is: places that show it have others beside it that lie further out.
TEST(Sweep, TellsTheCoordinateUpToWhichEveryAxisIsRight) {
  for (const char* text :
       {R"({"encoding":"rope_nd","head_dim":12,"sections":[1,2,3],"frequencies":"per_axis","max_position":600})",
        R"({"encoding":"sinusoidal_2d","dim":8,"height":600,"width":600})",
        R"({"encoding":"sinusoidal_nd","dim":12,"extents":[560,600,580]})",
        R"({"encoding":"fourier","axes":2,"bands":3,"max_position":600})"}) {
    const Spec spec = parse_spec(text);
    for (std::int64_t axis = 0; axis < axes_of(spec.encoding); ++axis) {
      AuditOptions options;
      options.profile = Profile::quick;
      const PropertyResult result =
          audit({*property_named("accuracy")}, ending_at_511(axis), spec, options).results.front();
      ASSERT_EQ(result.verdict, Verdict::violated) << text << " " << axis;
      EXPECT_EQ(result.horizon, 511) << text << " " << axis << " " << result.simplest->finding;
    }
  }
}

// Likewise where a law looks at the pairs of an axis: their lengths beyond 511 here.
TEST(Sweep, TellsTheCoordinateUpToWhichALawHolds) {
  const Spec spec = parse_spec(R"({"encoding":"rope_nd","head_dim":12,"sections":[2,2,2],"max_position":600})");
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const Edited::Edit longer = [axis](std::string_view, const Tensors& inputs, Tensors& reply) {
      const std::vector<std::int64_t> positions = inputs.at("positions").integers();
      const std::int64_t tokens = std::ssize(positions) / 3;
      Tensor& y = reply.at("y");
      for (std::int64_t i = 0; i < y.elements(); ++i) {
        const std::int64_t token = i / (y.elements() / tokens);
        // Pairs 2a and 2a + 1 are axis a's, in half pairing at channels i and i + 6.
        if (i % 6 / 2 == axis && positions[static_cast<std::size_t>(axis * tokens + token)] > 511)
          y.set(i, 2 * y.at(i));
      }
    };
    AuditOptions options;
    options.profile = Profile::quick;
    const PropertyResult result =
        audit({*property_named("isometry")}, Edited(builtin_subject(), longer), spec, options).results.front();
    ASSERT_EQ(result.verdict, Verdict::violated) << axis;
    EXPECT_GE(result.horizon.value_or(-1), 511) << axis;
    EXPECT_LE(result.horizon.value_or(-1), 511 + 3) << axis << " " << result.simplest->finding;
  }
}

}  // namespace
}  // namespace sextant::sweep_test
