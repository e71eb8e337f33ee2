// Right answers to another question than the one asked: the sentence that says which. Over 400 lines: a row or a few
// lines for each such question, of every encoding.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "properties/diagnose/diagnose.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_diagnose_inputs_test {
namespace {

using Change = std::function<void(Tensors& inputs)>;

std::string said(const Change& change, const std::string& claim) {
  const FunctionSubject subject("another question", [&](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right, change](std::string_view operation, const Tensors& inputs) {
      Tensors changed = inputs;
      change(changed);
      return right->call(operation, changed);
    };
  });
  const auto diagnosis = diagnose(subject, parse_spec(claim));
  return diagnosis ? words_of(*diagnosis) : "nothing";
}

// Whole positions, each changed by itself or by its place in the call.
Change of_positions(const std::function<std::int64_t(std::int64_t position, std::int64_t place)>& changed) {
  return [changed](Tensors& inputs) {
    Tensor& positions = inputs.at("positions");
    std::vector<std::int64_t> all = positions.integers();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = changed(all[i], static_cast<std::int64_t>(i));
    positions = Tensor::of_integers(positions.shape, all);
  };
}

// Fractional ones.
Change of_timesteps(const std::function<double(double)>& changed) {
  return [changed](Tensors& inputs) {
    Tensor& positions = inputs.at("positions");
    for (std::int64_t i = 0; i < positions.elements(); ++i) positions.set(i, changed(positions.at(i)));
  };
}

constexpr auto attention = R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":64,"causal":true,
    "position":{"encoding":"rope","head_dim":64},"max_position":600})";
constexpr auto alibi = R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":64,"causal":true,
    "position":{"encoding":"alibi","num_heads":4},"max_position":600})";
constexpr auto axes = R"({"encoding":"rope_nd","head_dim":128,"sections":[16,24,24],"max_position":600})";
constexpr auto timesteps = R"({"encoding":"sinusoidal","dim":320,"layout":"concatenated","first":"cos",
    "position_dtype":"float32","max_position":600})";

TEST(DiagnosedInput, IsNoneOfARightOne) {
  const Change none = [](Tensors&) {};
  for (const char* claim : {attention, alibi, axes, timesteps}) EXPECT_EQ(said(none, claim), "nothing") << claim;
}

TEST(DiagnosedInput, OfAttentionIsATokensPlace) {
  const Change by_place = [](Tensors& inputs) {
    Tensor& positions = inputs.at("positions");
    std::vector<std::int64_t> all(static_cast<std::size_t>(positions.elements()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i) % positions.shape.back();
    positions = Tensor::of_integers(positions.shape, all);
  };
  for (const char* claim : {attention, alibi})
    EXPECT_EQ(said(by_place, claim), "a token's place in the call is taken for its position") << claim;
}

TEST(DiagnosedInput, OfAttentionIsRounded) {
  const Change rounded = of_positions([](std::int64_t position, std::int64_t) {
    return static_cast<std::int64_t>(round_to(Dtype::bfloat16, static_cast<double>(position)));
  });
  EXPECT_EQ(said(rounded, attention), "positions are rounded to bfloat16: right up to 256");
}

TEST(DiagnosedInput, OfAttentionIsClamped) {
  const Change clamped =
      of_positions([](std::int64_t position, std::int64_t) { return std::min<std::int64_t>(position, 300); });
  for (const char* claim : {attention, alibi})
    EXPECT_EQ(said(clamped, claim), "positions above 300 are clamped to it") << claim;
}

TEST(DiagnosedInput, OfALearnedTableIsTwoRowsOn) {
  const Change on =
      of_positions([](std::int64_t position, std::int64_t) { return std::min<std::int64_t>(position + 2, 511); });
  constexpr auto learned = R"({"encoding":"learned","dim":64,"max_positions":512})";
  EXPECT_EQ(said(on, learned), "rows are read 2 further on: position p has row p + 2");
  EXPECT_EQ(said([](Tensors&) {}, learned), "nothing");
}

// A call of one query shows a place in the call and the first position alike.
TEST(DiagnosedInput, OfARelativeBiasIsAPlaceInTheCall) {
  const auto counted_from_0 = [](Tensors& inputs, const char* name) {
    std::vector<std::int64_t> all = inputs.at(name).integers();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    inputs.insert_or_assign(name, Tensor::of_integers(inputs.at(name).shape, all));
  };
  const Change by_place = [&](Tensors& inputs) {
    for (const char* name : {"query_positions", "key_positions"}) counted_from_0(inputs, name);
  };
  const Change one_query = [&](Tensors& inputs) {
    if (inputs.at("query_positions").elements() == 1) counted_from_0(inputs, "query_positions");
  };
  constexpr auto relative = R"({"encoding":"relative_bias","max_position":600})";
  EXPECT_EQ(said(by_place, relative), "queries and keys have their places in the call for their positions");
  EXPECT_EQ(said(one_query, relative), "the query of a call of one query is taken for the first position");
}

TEST(DiagnosedInput, OfAWindowIsTheKeysDistance) {
  // Tokens counted from the other end are as far apart, the other way round.
  const Change mirrored = [](Tensors& inputs) {
    for (const char* name : {"query_positions", "key_positions"}) {
      if (!inputs.contains(name)) continue;
      std::vector<std::int64_t> all = inputs.at(name).integers();
      for (std::int64_t& position : all) position = 39 - position;
      inputs.insert_or_assign(name, Tensor::of_integers(inputs.at(name).shape, all));
    }
  };
  constexpr auto window = R"({"encoding":"window_bias","window":[5,8]})";
  EXPECT_EQ(said(mirrored, window), "query and key change places: the bias is that of query - key, reversed");
  EXPECT_EQ(said([](Tensors&) {}, window), "nothing");
}

TEST(DiagnosedInput, OfAGridIsNumberedByItsHeight) {
  const Change flattened = [](Tensors& inputs) {
    Tensor& positions = inputs.at("positions");
    std::vector<std::int64_t> all = positions.integers();
    const std::size_t count = all.size() / 2;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t cell = all[i] * 14 + all[count + i];
      all[i] = cell / 14;
      all[count + i] = cell % 14;
    }
    positions = Tensor::of_integers(positions.shape, all);
  };
  constexpr auto grid = R"({"encoding":"sinusoidal_2d","dim":96,"height":14,"width":20})";
  EXPECT_EQ(said(flattened, grid), "cells are numbered with rows of 14, where the grid has rows of 20");
  EXPECT_EQ(said([](Tensors&) {}, grid), "nothing");
}

TEST(DiagnosedInput, OfFourierFeaturesIsWithoutPi) {
  const FunctionSubject subject("without pi", [](const Spec& spec) -> FunctionSubject::Call {
    Spec other = spec;
    std::get<Fourier>(other.encoding).angle_unit = AngleUnit::radian;
    const std::shared_ptr<Session> session = builtin_subject()->open(other);
    return [session](std::string_view operation, const Tensors& inputs) { return session->call(operation, inputs); };
  });
  const Spec claim = parse_spec(
      R"({"encoding":"fourier","axes":3,"bands":6,"identity":"first","angle_unit":"half_turn","max_position":64})");
  const auto diagnosis = diagnose(subject, claim);
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(words_of(*diagnosis), "claims angle_unit half_turn, computes radian");
}

constexpr auto weighted = R"({"encoding":"fourier","bands":16,"ladder":"weight","coordinates":"centres",
    "extents":[64,48]})";

Change of_weights(const std::function<double(const Tensor& weight, std::int64_t element)>& taken_from) {
  return [taken_from](Tensors& inputs) {
    const Tensor weight = inputs.at("weight");
    for (std::int64_t i = 0; i < weight.elements(); ++i) inputs.at("weight").set(i, taken_from(weight, i));
  };
}

TEST(DiagnosedInput, OfFourierFeaturesIsAnotherWeight) {
  EXPECT_EQ(said(of_weights([](const Tensor& w, std::int64_t i) { return w.at(i % 16 * 2 + i / 16); }), weighted),
            "the weight is read as [bands, axes], not as [axes, bands]");
  EXPECT_EQ(said(of_weights([](const Tensor& w, std::int64_t i) { return w.at((i + 16) % 32); }), weighted),
            "the weight's rows are read in reverse: the last axis has the first one's");
  EXPECT_EQ(said(of_weights([](const Tensor& w, std::int64_t i) { return w.at(i % 16); }), weighted),
            "the weight's first row stands for all axes");
  EXPECT_EQ(
      said(of_weights([](const Tensor& w, std::int64_t i) { return round_to(Dtype::bfloat16, w.at(i)); }), weighted),
      "the weight is rounded to bfloat16");
  EXPECT_EQ(said([](Tensors&) {}, weighted), "nothing");
}

// The answers of another claim of the same extents.
std::string said_of(const std::string& computed, const std::string& claim) {
  const FunctionSubject subject("another claim", [&](const Spec&) -> FunctionSubject::Call {
    const std::shared_ptr<Session> session = builtin_subject()->open(parse_spec(computed));
    return [session](std::string_view operation, const Tensors& inputs) { return session->call(operation, inputs); };
  });
  const auto diagnosis = diagnose(subject, parse_spec(claim));
  return diagnosis ? words_of(*diagnosis) : "nothing";
}

TEST(DiagnosedInput, OfFourierFeaturesIsACellsCorner) {
  constexpr auto corners = R"({"encoding":"fourier","bands":16,"ladder":"weight","coordinates":"ends",
      "extents":[65,49]})";
  EXPECT_EQ(said_of(corners, weighted), "coordinates are those of cells' corners, 2p/e - 1, not of their centres");
}

TEST(DiagnosedInput, OfFourierFeaturesIsPiOfSixDigits) {
  // Exponents from log2(3.14159) on.
  constexpr auto rounded = R"({"encoding":"fourier","axes":3,"bands":8,"lowest":1.6514949108794348,
      "highest":8.6514949108794348,"max_position":64})";
  constexpr auto claim = R"({"encoding":"fourier","axes":3,"bands":8,"angle_unit":"half_turn","max_position":64})";
  EXPECT_EQ(said_of(rounded, claim), "pi is taken for 3.14159");
}

TEST(DiagnosedInput, OfDigitsIsTheReflectedCode) {
  const Change reflected = of_positions([](std::int64_t position, std::int64_t) { return position ^ (position >> 1); });
  constexpr auto digits = R"({"encoding":"binary","dim":12})";
  EXPECT_EQ(said(reflected, digits), "digits are those of the reflected code, p xor p / 2, not of p");
  EXPECT_EQ(said([](Tensors&) {}, digits), "nothing");
}

TEST(DiagnosedInput, OfNumbersIsDividedByTheirCount) {
  EXPECT_EQ(said_of(R"({"encoding":"integer","normalize":true,"max_position":4097})",
                    R"({"encoding":"integer","normalize":true,"max_position":4096})"),
            "positions are divided by 4096, not by the claim's last one, 4095");
}

TEST(DiagnosedInput, OfACodeIsTheCallsLastPosition) {
  const Change last = [](Tensors& inputs) {
    std::vector<std::int64_t> all = inputs.at("positions").integers();
    std::ranges::fill(all, all.back());
    inputs.insert_or_assign("positions", Tensor::of_integers(inputs.at("positions").shape, all));
  };
  EXPECT_EQ(said(last, R"({"encoding":"sinusoidal","dim":64})"), "every token of a call has the position of the last");
}

TEST(DiagnosedInput, OfACacheIsThatOfEarlierCalls) {
  // The weight of a session's first call.
  const FunctionSubject subject("kept", [](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> session = builtin_subject()->open(spec);
    const auto first = std::make_shared<std::optional<Tensor>>();
    return [session, first](std::string_view operation, const Tensors& inputs) {
      Tensors changed = inputs;
      if (!*first) *first = inputs.at("weight");
      changed.insert_or_assign("weight", **first);
      return session->call(operation, changed);
    };
  });
  const auto diagnosis = diagnose(subject, parse_spec(weighted));
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(words_of(*diagnosis), "the weight of a session's first call is kept for all");
}

// Positions are [axes, batch, tokens].
Change of_axes(const std::function<void(std::vector<std::int64_t>& place)>& changed) {
  return [changed](Tensors& inputs) {
    Tensor& positions = inputs.at("positions");
    std::vector<std::int64_t> all = positions.integers();
    const std::size_t count = all.size() / 3;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::int64_t> place{all[i], all[count + i], all[2 * count + i]};
      changed(place);
      for (std::size_t axis = 0; axis < 3; ++axis) all[axis * count + i] = place[axis];
    }
    positions = Tensor::of_integers(positions.shape, all);
  };
}

TEST(DiagnosedInput, OfOneAxisIsOneOff) {
  EXPECT_EQ(said(of_axes([](std::vector<std::int64_t>& place) { ++place[2]; }), axes),
            "one position off along axis 2: position p is turned as p + 1");
}

TEST(DiagnosedInput, OfAllPairsIsOneAxis) {
  EXPECT_EQ(said(of_axes([](std::vector<std::int64_t>& place) { place[1] = place[2] = place[0]; }), axes),
            "pairs 16 to 39 are turned by axis 0 instead of axis 1, pairs 40 to 63 are turned by axis 0 instead of "
            "axis 2");
}

TEST(DiagnosedInput, OfAxesIsAnotherAxis) {
  const auto reversed = [](std::vector<std::int64_t>& place) { std::swap(place[0], place[2]); };
  const auto first_two = [](std::vector<std::int64_t>& place) { std::swap(place[0], place[1]); };
  constexpr auto attended = R"({"encoding":"attention","num_heads":2,"head_dim":128,"causal":true,
      "position":{"encoding":"rope_nd","head_dim":128,"sections":[16,24,24]},"max_position":600})";
  for (const char* claim : {axes, attended}) {
    EXPECT_EQ(said(of_axes(reversed), claim),
              "positions of axes change places: axis 0 has those of 2, axis 2 has those of 0")
        << claim;
    EXPECT_EQ(said(of_axes(first_two), claim),
              "positions of axes change places: axis 0 has those of 1, axis 1 has those of 0")
        << claim;
  }
}

TEST(DiagnosedInput, OfTimestepsIsRounded) {
  EXPECT_EQ(said(of_timesteps([](double p) { return std::floor(p); }), timesteps),
            "positions are rounded down to whole numbers");
  EXPECT_EQ(said(of_timesteps([](double p) { return std::nearbyint(p); }), timesteps),
            "positions are rounded to whole numbers");
  EXPECT_EQ(said(of_timesteps([](double p) { return round_to(Dtype::float16, p); }), timesteps)
                .find("positions are rounded to float16"),
            0U);
}

// Positions of fine steps that are rounded turn most pairs by nothing at the steps that are measured.
TEST(DiagnosedInput, OfRealPositionsThatAreRoundedIsNoDirection) {
  const std::string words = said(of_timesteps([](double p) { return std::round(p * 256) / 256; }),
                                 R"({"encoding":"rope","head_dim":64,"direction":"clockwise","pairing":"interleaved",
                                     "position_dtype":"float64","position_step":0.0009765625,"min_position":-1024,
                                     "max_position":1024})");
  EXPECT_EQ(words.find("direction"), std::string::npos) << words;
  EXPECT_EQ(words.find("the other way"), std::string::npos) << words;
}

TEST(DiagnosedInput, OfTimestepsIsAThousandfold) {
  EXPECT_EQ(said(of_timesteps([](double p) { return 1000 * p; }), timesteps), "angle_scale 1000 measured, 1 claimed");
}

TEST(DiagnosedInput, OfABiasIsOneOff) {
  const Change moved = [](Tensors& inputs) {
    if (!inputs.contains("query_positions")) return;
    std::vector<std::int64_t> all = inputs.at("query_positions").integers();
    for (std::int64_t& position : all) --position;
    inputs.insert_or_assign("query_positions", Tensor::of_integers(inputs.at("query_positions").shape, all));
  };
  EXPECT_EQ(said(moved, R"({"encoding":"relative_bias","max_position":600})"),
            "distances are one off: key - query = d has the bucket of d + 1");
}

TEST(DiagnosedInput, OfABiasIsTheHeadsInReverse) {
  const Change reversed = [](Tensors& inputs) {
    if (!inputs.contains("weight")) return;
    Tensor& weight = inputs.at("weight");
    const Tensor given = weight;
    const std::int64_t heads = weight.shape[1];
    for (std::int64_t i = 0; i < weight.elements(); ++i)
      weight.set(i, given.at(i / heads * heads + heads - 1 - i % heads));
  };
  EXPECT_EQ(said(reversed, R"({"encoding":"relative_bias","max_position":600})"),
            "heads are read in reverse: head 0 has the last one's weights");
}

constexpr auto normalized = R"({"encoding":"qk_norm_rope","head_dim":64,"max_position":600})";

TEST(DiagnosedInput, OfKeysIsTheQueriesWeight) {
  EXPECT_EQ(said([](Tensors& inputs) { inputs.insert_or_assign("k_weight", inputs.at("q_weight")); }, normalized),
            "keys have the queries' weight");
  EXPECT_EQ(said([](Tensors& inputs) { inputs.insert_or_assign("q_weight", inputs.at("k_weight")); }, normalized),
            "queries have the keys' weight");
}

TEST(DiagnosedInput, OfANormIsTheSumOfSquares) {
  const Change by_sum = [](Tensors& inputs) {
    for (const char* name : {"q_weight", "k_weight"}) {
      Tensor& weight = inputs.at(name);
      for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, weight.at(i) / 8);
    }
  };
  EXPECT_EQ(said(by_sum, normalized), "heads are divided by the root of the sum of their squares, not of the mean");
}

TEST(DiagnosedInput, OfATokenIsNoNumber) {
  const Change of_one_token = [](Tensors& inputs) {
    Tensor& x = inputs.at("x");
    const std::int64_t width = x.shape[2] * x.shape[3];
    if (x.shape[1] > 5) x.set(5 * width, std::nan(""));
  };
  EXPECT_EQ(said(of_one_token, R"({"encoding":"rope","head_dim":64,"max_position":600})"),
            "values are NaN: 2 of the 1024 of a call of 8 tokens from position 0 on");
}

TEST(DiagnosedInput, OfANormIsLessTheMean) {
  const Change centred = [](Tensors& inputs) {
    for (const char* name : {"q", "k"}) {
      Tensor& x = inputs.at(name);
      const std::int64_t width = x.shape.back();
      for (std::int64_t first = 0; first < x.elements(); first += width) {
        double sum = 0;
        for (std::int64_t i = 0; i < width; ++i) sum += x.at(first + i);
        for (std::int64_t i = 0; i < width; ++i) x.set(first + i, x.at(first + i) - sum / static_cast<double>(width));
      }
    }
  };
  EXPECT_EQ(said(centred, normalized),
            "heads whose channels are all alike become 0, as where their mean is subtracted first");
}

// Squares of keys, or of queries, that float16 does not hold.
TEST(DiagnosedInput, OfANormOverflowsOnOneSide) {
  for (const auto& [name, words] : {std::pair("k", "keys, and no queries,"), {"q", "queries, and no keys,"}}) {
    const Change lost = [which = std::string(name)](Tensors& inputs) {
      Tensor& x = inputs.at(which);
      const std::int64_t width = x.shape.back();
      for (std::int64_t first = 0; first < x.elements(); first += width) {
        bool is_lost = false;
        for (std::int64_t i = first; i < first + width; ++i) is_lost = is_lost || std::fabs(x.at(i)) >= 256;
        for (std::int64_t i = first; is_lost && i < first + width; ++i) x.set(i, 0);
      }
    };
    EXPECT_EQ(said(lost, normalized), std::string(words) +
                                          " whose channels are all 256 or more become 0: squares of channels, or "
                                          "their mean, overflow, as in float16");
  }
}

TEST(DiagnosedInput, OfXposLengthsIsTheCallsStart) {
  // What lengths have of the row's first position is taken from the vectors beforehand.
  const Change from_start = [](Tensors& inputs) {
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    Tensor& x = inputs.at("x");
    constexpr std::int64_t half = 32;
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      const std::int64_t row = i / (2 * half * x.shape[1] * x.shape[2]);
      const double zeta = (static_cast<double>(i % half) / half + 0.4) / 1.4;
      const auto start = static_cast<double>(positions[static_cast<std::size_t>(row * x.shape[1])]);
      x.set(i, x.at(i) * std::pow(zeta, -start / 512));
    }
  };
  EXPECT_EQ(said(from_start, R"({"encoding":"xpos","head_dim":64,"max_position":600})"),
            "lengths are counted from the call's start: its first position is taken for 0");
}

}  // namespace
}  // namespace sextant::identify::identify_diagnose_inputs_test
