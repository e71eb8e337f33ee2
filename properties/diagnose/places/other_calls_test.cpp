// Rotations that go by a call's first or least position, its rows, lengths or tokens otherwise than claimed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/diagnose/diagnose.hpp"
#include "properties/diagnose/rotations/other_rotations.hpp"
#include "properties/identify/identify.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_other_calls_test {
namespace {

// The positions of a call, [axes, batch, tokens].
struct Places {
  std::vector<std::int64_t>& all;
  std::int64_t axes;
  std::int64_t batches;
  std::int64_t tokens;

  std::int64_t& at(std::int64_t axis, std::int64_t batch, std::int64_t token) const {
    return all[static_cast<std::size_t>((axis * batches + batch) * tokens + token)];
  }
  std::int64_t least(std::int64_t axis, std::int64_t batch) const {
    const auto first = all.begin() + (axis * batches + batch) * tokens;
    return *std::min_element(first, first + tokens);
  }
};

using Change = std::function<void(const Places& places)>;

// Right answers at other positions.
FunctionSubject at_other_positions(const Change& change) {
  return {"other positions", [change](const Spec& spec) -> FunctionSubject::Call {
            Spec wide = spec;
            wide.min_position = -spec.max_position;
            const std::shared_ptr<Session> right = builtin_subject()->open(wide);
            return [right, change, axes = axes_of(spec.encoding)](std::string_view operation, const Tensors& inputs) {
              Tensors changed = inputs;
              Tensor& positions = changed.at("positions");
              std::vector<std::int64_t> all = positions.integers();
              const Tensor& x = inputs.at("x");
              change({all, axes, x.shape[0], x.shape[1]});
              positions = Tensor::of_integers(positions.shape, all);
              return right->call(operation, changed);
            };
          }};
}

// A dynamic rope of 64 channels, pairing half, factor 4 and original length 2048, in double, by the length of each row.
using LengthOf = std::function<double(const Places& places, std::int64_t batch)>;
constexpr auto dynamic = R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"dynamic","factor":4,
    "original_max_position_embeddings":2048}})";

double longest(const Places& places) { return static_cast<double>(std::ranges::max(places.all) + 1); }

double base_at(double length) {
  const double ratio = length > 2048 ? 4 * length / 2048 - 3 : 1;
  return 10000 * std::pow(ratio, 64.0 / 62);
}

FunctionSubject of_length(const LengthOf& length) {
  return {"another length", [length](const Spec&) -> FunctionSubject::Call {
            return [length](std::string_view, const Tensors& inputs) -> Tensors {
              std::vector<std::int64_t> all = inputs.at("positions").integers();
              const Tensor& x = inputs.at("x");
              const Places places{all, 1, x.shape[0], x.shape[1]};
              constexpr std::int64_t half = 32;
              Tensor y = x;
              for (std::int64_t vector = 0; vector * 2 * half < x.elements(); ++vector) {
                const std::int64_t token = vector / x.shape[2];
                const auto position = static_cast<double>(all[static_cast<std::size_t>(token)]);
                const double base = base_at(length(places, token / places.tokens));
                for (std::int64_t pair = 0; pair < half; ++pair) {
                  const double angle = position * std::pow(base, -static_cast<double>(pair) / half);
                  const std::int64_t at = vector * 2 * half + pair;
                  y.set(at, x.at(at) * std::cos(angle) - x.at(at + half) * std::sin(angle));
                  y.set(at + half, x.at(at) * std::sin(angle) + x.at(at + half) * std::cos(angle));
                }
              }
              return {{"y", y}};
            };
          }};
}

std::string said(const FunctionSubject& subject, const std::string& claim) {
  const auto diagnosis = diagnose(subject, parse_spec(claim));
  return diagnosis ? words_of(*diagnosis) : "nothing";
}

Confidence sure_of(const FunctionSubject& subject, const std::string& claim) {
  return identify(subject, parse_spec(claim)).confidence;
}

constexpr auto plain = R"({"encoding":"rope","head_dim":32})";
constexpr auto axial = R"({"encoding":"rope_nd","head_dim":64,"sections":[16,16],"frequencies":"per_axis",
    "max_position":64})";

TEST(OtherCallsPositions, AreCountedFromTheLeastOfEachRow) {
  const auto subject = at_other_positions([](const Places& places) {
    for (std::int64_t batch = 0; batch < places.batches; ++batch) {
      const std::int64_t least = places.least(0, batch);
      for (std::int64_t token = 0; token < places.tokens; ++token) places.at(0, batch, token) -= least;
    }
  });
  EXPECT_EQ(said(subject, plain), "positions are counted from each row's least, which is taken for position 0");
}

// Short rows take the longest one's length. Under the other scope it is right: a claim of that scope holds where the
// subject is asked for it, and answers to the first claim do not meet it.
TEST(OtherCallsLengths, AreNoOtherScopeWhereTheScopeIsRead) {
  const FunctionSubject subject("short rows", [](const Spec& spec) -> FunctionSubject::Call {
    Spec of_call = spec;
    std::get<DynamicScaling>(held<Rope>(of_call)->rope_scaling).length_scope = LengthScope::call;
    const std::shared_ptr<Session> as_asked = builtin_subject()->open(spec);
    const std::shared_ptr<Session> longest_row = builtin_subject()->open(of_call);
    return [as_asked, longest_row](std::string_view operation, const Tensors& inputs) {
      Tensors answer = as_asked->call(operation, inputs);
      const Tensor other = longest_row->call(operation, inputs).at("y");
      Tensor& y = answer.at("y");
      std::vector<std::int64_t> all = inputs.at("positions").integers();
      const Places places{all, 1, y.shape[0], y.shape[1]};
      for (std::int64_t batch = 0; batch < places.batches && places.tokens > 0; ++batch) {
        const auto first = all.begin() + batch * places.tokens;
        if (*std::max_element(first, first + places.tokens) >= 2048) continue;
        const std::int64_t of_row = y.elements() / places.batches;
        for (std::int64_t i = batch * of_row; i < (batch + 1) * of_row; ++i) y.set(i, other.at(i));
      }
      return answer;
    };
  });
  const std::string told = said(subject, R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"dynamic",
      "factor":2,"original_max_position_embeddings":2048,"length_scope":"row","length_steps":"doublings"}})");
  EXPECT_EQ(told.find("length_scope"), std::string::npos) << told;
}

TEST(OtherCallsLengths, AreToldByWhatTheyAre) {
  const LengthOf own = [](const Places& places, std::int64_t) { return longest(places); };
  EXPECT_EQ(said(of_length(own), dynamic), "nothing");
  EXPECT_EQ(sure_of(of_length(own), dynamic), Confidence::high);
  const auto from_first = [](const Places& places, std::int64_t) {
    std::int64_t length = 0;
    for (std::int64_t batch = 0; batch < places.batches; ++batch)
      length = std::max(length, places.at(0, batch, 0) + places.tokens);
    return static_cast<double>(length);
  };
  struct Told {
    LengthOf length;
    std::string_view words;
  };
  const std::vector<Told> rows{
      {[](const Places& places, std::int64_t) { return longest(places) > 4096 ? longest(places) : 2048.0; },
       "dynamic scaling begins beyond length 4096: calls up to it are not scaled, where the claim begins beyond 2048"},
      {[](const Places& places, std::int64_t) { return std::min(longest(places), 8192.0); },
       "lengths beyond 8192 are taken for it"},
      {[](const Places& places, std::int64_t) { return std::ceil(longest(places) / 64) * 64; },
       "lengths are rounded up to multiples of 64"},
      {from_first,
       "the length is a row's first position plus its number of tokens, whatever the positions of the others; of "
       "several rows the longest"},
      {[](const Places& places, std::int64_t) {
         return longest(places) - static_cast<double>(*std::ranges::min_element(places.all));
       },
       "the length is counted from the call's least position, not from 0"},
  };
  for (const Told& row : rows) {
    EXPECT_NE(sure_of(of_length(row.length), dynamic), Confidence::high) << row.words;
    EXPECT_EQ(said(of_length(row.length), dynamic), row.words);
  }
}

// One length shows ratios that no other has.
TEST(OtherCallsLengths, AreNoListOfFrequencies) {
  const std::string told =
      said(of_length([](const Places& places, std::int64_t) { return std::min(longest(places), 9001.0); }), dynamic);
  EXPECT_EQ(told.find("frequencies are not those asked for"), std::string::npos) << told;
}

TEST(OtherCallsLengths, OfOneTokenAreUnscaled) {
  const auto unscaled = [](const Places& places, std::int64_t) { return places.tokens == 1 ? 1 : longest(places); };
  EXPECT_EQ(said(of_length(unscaled), dynamic),
            "calls of one token are turned without rope_scaling dynamic, and others with it");
  EXPECT_EQ(sure_of(of_length(unscaled), dynamic), Confidence::low);
}

TEST(OtherCallsPositions, AreCountedFromTheRowsFirst) {
  const FunctionSubject subject = at_other_positions([](const Places& places) {
    for (std::int64_t batch = 0; batch < places.batches; ++batch) {
      const std::int64_t first = places.at(0, batch, 0);
      for (std::int64_t token = 0; token < places.tokens; ++token) places.at(0, batch, token) -= first - 1;
    }
  });
  EXPECT_EQ(said(subject, plain), "positions are counted from the row's first, which is taken for 1");
  const Identification found = identify(subject, parse_spec(plain));
  ASSERT_FALSE(found.faults.empty());
  EXPECT_EQ(found.faults.front().words, "positions are counted from the row's first, which is taken for 1");
}

TEST(OtherCallsPositions, AreCutToElevenBits) {
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   for (std::int64_t& position : places.all) {
                     int shift = 0;
                     while (position >> shift >= 2048) ++shift;
                     position = position >> shift << shift;
                   }
                 }),
                 plain),
            "positions are cut to 11 bits, toward zero: right up to 2048");
}

// Of a call of one token it is so as well.
TEST(OtherCallsPositions, OfARangeAreNotThoseOfLongCalls) {
  const std::string told = said(at_other_positions([](const Places& places) {
                                  for (std::int64_t& position : places.all) {
                                    if (position >= 40000 && position < 65536) position -= 65536;
                                  }
                                }),
                                plain);
  EXPECT_EQ(told.find("260"), std::string::npos) << told;
}

TEST(OtherCallsPositions, OfARowThatFallsMakeANameUnsure) {
  const FunctionSubject ascending = at_other_positions([](const Places& places) {
    for (std::int64_t batch = 0; batch < places.batches; ++batch) {
      const auto first = places.all.begin() + batch * places.tokens;
      if (std::is_sorted(first, first + places.tokens, std::greater<>())) std::sort(first, first + places.tokens);
    }
  });
  EXPECT_EQ(sure_of(ascending, plain), Confidence::low);
  EXPECT_EQ(said(ascending, plain), "rows whose positions fall are read in rising order");
}

TEST(OtherCallsPositions, AreThoseOfOtherTokensOfTheRow) {
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   for (std::int64_t batch = 0; batch < places.batches; ++batch) {
                     for (std::int64_t token = 0; token < places.tokens; ++token) {
                       auto& position = places.at(0, batch, token);
                       position = std::min(position, places.at(0, batch, places.tokens - 1));
                     }
                   }
                 }),
                 plain),
            "positions beyond that of the row's last token are taken for it");
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   if (places.tokens == 1) std::ranges::fill(places.all, std::ranges::max(places.all));
                 }),
                 plain),
            "in calls of one token all rows of a batch have the greatest position of them");
}

// Whose positions a row has is asked of rows of which no two say the same.
TEST(OtherCallsPositions, OfOtherRowsAreToldByThem) {
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   if (places.tokens == 1 && places.batches > 1) std::ranges::fill(places.all, places.at(0, 1, 0));
                 }),
                 plain),
            "in calls of one token all rows of a batch have the second one's position");
  const FunctionSubject transposed = at_other_positions([](const Places& places) {
    if (places.batches != places.tokens) return;
    for (std::int64_t batch = 0; batch < places.batches; ++batch) {
      for (std::int64_t token = 0; token < batch; ++token)
        std::swap(places.at(0, batch, token), places.at(0, token, batch));
    }
  });
  EXPECT_EQ(said(transposed, plain), "in batches of as many rows as tokens positions are read as [tokens, batch]");
  EXPECT_NE(sure_of(transposed, plain), Confidence::high);
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   if (places.batches < 3) return;
                   for (std::int64_t token = 0; token < places.tokens; ++token)
                     std::swap(places.at(0, 1, token), places.at(0, 2, token));
                 }),
                 plain),
            "the second and the third of the rows of a batch exchange their positions");
}

TEST(OtherCallsPositions, OfOtherTokensAreToldByThem) {
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   for (std::int64_t batch = 0; batch < places.batches; ++batch) {
                     for (std::int64_t token = 0; token < places.tokens; ++token)
                       places.at(0, batch, token) =
                           places.at(0, batch, places.tokens - 1) - (places.tokens - 1 - token);
                   }
                 }),
                 plain),
            "positions are counted back one by one from the row's last token, which has its own");
}

// What is so of some batches or lengths is told with them.
TEST(OtherCallsPositions, AreToldWithTheCallsThatHaveThem) {
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   const std::int64_t half = places.batches / 2;
                   for (std::int64_t batch = half; places.batches % 2 == 0 && batch < places.batches; ++batch) {
                     for (std::int64_t token = 0; token < places.tokens; ++token)
                       places.at(0, batch, token) = places.at(0, batch - half, token);
                   }
                 }),
                 plain),
            "in batches of an even number of rows the second half of the rows has the first half's positions");
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   if (places.batches > 1) return;
                   const std::int64_t first = places.at(0, 0, 0);
                   for (std::int64_t& position : places.all) position -= first;
                 }),
                 plain),
            "in batches of one row positions are counted from its first, which is taken for 0");
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   if (places.tokens == 1) std::ranges::fill(places.all, places.at(0, places.batches - 1, 0));
                 }),
                 plain),
            "in calls of one token all rows of a batch have the last one's position");
  const FunctionSubject short_calls = at_other_positions([](const Places& places) {
    if (places.tokens < 2 || places.tokens > 8) return;
    for (std::int64_t& position : places.all) ++position;
  });
  EXPECT_EQ(said(short_calls, plain), "nothing");
  EXPECT_NE(sure_of(short_calls, plain), Confidence::high);
}

// What is said of calls of 96 tokens is not where a case of one fails.
TEST(OtherCallsPositions, OfACallAreNotToldAgainstASimplerCase) {
  const FunctionSubject long_calls = at_other_positions([](const Places& places) {
    if (places.tokens == 96 && places.batches == 2) places.at(0, 1, 40) += 1;
  });
  const auto with = [&](const std::string& failing) {
    const auto diagnosis = diagnose(long_calls, parse_spec(plain), {.failing = {failing}});
    return diagnosis ? words_of(*diagnosis) : "nothing";
  };
  EXPECT_TRUE(with("accuracy:position=0,tokens=96,batch=2,heads=1,fill=1").starts_with("in a call of 96 tokens"));
  EXPECT_EQ(with("accuracy:position=5,tokens=1,batch=1,heads=1,fill=1"), "nothing");
}

TEST(OtherCallsPositions, OfCropsAreCountedFromTheirCorner) {
  EXPECT_EQ(said(at_other_positions([](const Places& places) {
                   for (std::int64_t axis = 0; axis < places.axes; ++axis) {
                     for (std::int64_t batch = 0; batch < places.batches; ++batch) {
                       const std::int64_t least = places.least(axis, batch);
                       for (std::int64_t token = 0; token < places.tokens; ++token)
                         places.at(axis, batch, token) -= least;
                     }
                   }
                 }),
                 axial),
            "positions of each axis are counted from a row's least: every crop is turned as one that begins at 0");
}

// In each call a pair is turned by one axis.
TEST(OtherCallsPositions, OfPortraitsChangePlacesInOneRow) {
  const FunctionSubject subject = at_other_positions([](const Places& places) {
    const auto greatest = [&](std::int64_t axis) {
      std::int64_t most = 0;
      for (std::int64_t token = 0; token < places.tokens; ++token) most = std::max(most, places.at(axis, 0, token));
      return most;
    };
    if (greatest(0) <= greatest(1)) return;
    for (std::int64_t token = 0; token < places.tokens; ++token)
      std::swap(places.at(0, 0, token), places.at(1, 0, token));
  });
  EXPECT_EQ(said(subject, axial),
            "in batch row 0 alone the last two axes change places where the greatest position of the first of them is "
            "the greater");
  for (const Fault& fault : identify(subject, parse_spec(axial)).faults)
    EXPECT_EQ(fault.words.find("by axis 0 and by axis 1"), std::string::npos) << fault.words;
}

// Right answers to other heads, as qk_norm_rope turns them.
FunctionSubject of_other_heads(const std::function<void(Tensor& heads, const Tensor& weight, const Spec& spec)>& change,
                               bool (*is_changed)(std::string_view input)) {
  return {"other heads", [change, is_changed](const Spec& spec) -> FunctionSubject::Call {
            const std::shared_ptr<Session> right = builtin_subject()->open(spec);
            return [right, change, is_changed, spec](std::string_view operation, const Tensors& inputs) {
              Tensors changed = inputs;
              for (const char* input : {"q", "k"}) {
                if (is_changed(input)) change(changed.at(input), inputs.at(std::string(input) + "_weight"), spec);
              }
              return right->call(operation, changed);
            };
          }};
}

constexpr auto partial_norm = R"({"encoding":"qk_norm_rope","head_dim":64,"rotary_dim":32,"max_position":4096})";

TEST(OtherCallsHeads, LoseTheMeanOfChannelsThatTurn) {
  const auto centred = [](Tensor& heads, const Tensor&, const Spec&) {
    constexpr std::int64_t turned = 32;
    for (std::int64_t head = 0; head < heads.elements(); head += 2 * turned) {
      double mean = 0;
      for (std::int64_t i = 0; i < turned; ++i) mean += heads.at(head + i) / turned;
      for (std::int64_t i = 0; i < turned; ++i) heads.set(head + i, heads.at(head + i) - mean);
    }
  };
  EXPECT_EQ(said(of_other_heads(centred, [](std::string_view) { return true; }), partial_norm),
            "the mean of the channels that turn is subtracted from them, before heads are normalized");
}

constexpr auto xpos = R"({"encoding":"xpos","head_dim":64,"centre":"ceil_half","max_position":4096})";

TEST(OtherCallsCentres, AreToldByTheirFormula) {
  struct Told {
    std::int64_t (*centre)(const Places& places);
    std::string_view words;
  };
  const Told rows[] = {
      {[](const Places& places) { return std::ranges::max(places.all) / 2; },
       "the centre is half of the call's length less one, rounded down: (l - 1) // 2"},
      {[](const Places& places) { return (std::ranges::max(places.all) + 1) / 4; },
       "the centre is a quarter of the call's length"},
      {[](const Places& places) { return places.at(0, 0, 0) + places.tokens / 2; },
       "the centre is the call's first position plus half of its number of tokens"},
  };
  for (const Told& row : rows) {
    const FunctionSubject subject("another centre", [row](const Spec& spec) -> FunctionSubject::Call {
      return [row, spec](std::string_view operation, const Tensors& inputs) {
        std::vector<std::int64_t> all = inputs.at("positions").integers();
        const Tensor& x = inputs.at("x");
        Spec other = spec;
        held<Xpos>(other)->centre = row.centre({all, 1, x.shape[0], x.shape[1]});
        return builtin_subject()->open(other)->call(operation, inputs);
      };
    });
    EXPECT_EQ(said(subject, xpos), row.words);
  }
}

}  // namespace
}  // namespace sextant::identify::identify_other_calls_test
