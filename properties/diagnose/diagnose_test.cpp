// Over 400 lines: a sentence for each mutant, in one list.
#include "properties/diagnose/diagnose.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"
#include "subjects/operations.hpp"
#include "subjects/recorded.hpp"

namespace sextant::identify::identify_diagnose_test {
namespace {

// A mutant whose defect is a convention, and words that its diagnosis must have.
struct Named {
  std::string mutant;
  std::string words;
};

const std::vector<Named>& named() {
  static const std::vector<Named> list{
      {"rope-bfloat16-positions", "positions are rounded to bfloat16: right up to 256"},
      {"rope-float16-positions", "positions are rounded to float16: right up to 2048"},
      {"rope-bfloat16-frequencies", "frequencies are rounded to bfloat16"},
      {"rope-float16-angle", "angles are rounded to float16"},
      {"rope-bfloat16-angle", "angles are rounded to bfloat16"},
      {"rope-pairing-ignored", "claims pairing interleaved, computes half"},
      {"rope-output-pairing-ignored", "claims output_pairing half, computes interleaved"},
      {"rope-transposed", "direction reversed: claims counterclockwise, computes clockwise"},
      {"rope-direction-ignored", "direction reversed: claims clockwise, computes counterclockwise"},
      {"rope-identity", "nothing is rotated"},
      {"rope-theta-ignored", "base 10000 measured, 500000 claimed"},
      {"rope-partner-by-head-dim", "partners stand head_dim / 2 apart, where the claim has rotary_dim / 2"},
      {"rope-partner-by-rotary-dim", "claims rotary_layout spread, computes prefix"},
      {"rope-suffix-as-prefix", "claims rotary_layout suffix, computes prefix"},
      {"rope-head-dim-in-exponent", "exponents are divided by head_dim, where the claim has rotary_dim"},
      {"rope-tail-zeroed", "come back as zeros"},
      {"rope-last-pair-left", "the last pair is not turned: rotary_dim 62 measured, 64 claimed"},
      {"rope-llama3-dropped", "computes no rope_scaling"},
      {"rope-yarn-truncated", "truncate"},
      {"rope-factor-dropped", "the attention factor is left out"},
      {"rope-factor-squared", "the attention factor is applied twice"},
      {"rope-attention-factor-ignored", "attention factor 1.2079"},
      {"rope-mscale-ratio-ignored", "attention factor 1.3688"},
      {"rope-linear-multiplies", "every frequency is 4 times the one asked for"},
      {"rope-concatenated-table", "a table of two equal halves is applied to adjacent pairs"},
      {"rope-repeated-table", "a table of adjacent repeats is applied to halves"},
      {"rope-llama3-blend-reversed", "the blend of llama3's middle band is reversed"},
      {"rope-llama3-no-blend", "llama3's middle band is left unscaled"},
      {"sinusoidal-sign", "every sine has the other sign"},
      {"sinusoidal-one-frequency-wrong", "1 of 32 frequencies are not those asked for"},
      {"rope-poor-reduction", "angles are reduced by a float32 2 pi, 6.28318548, not by 2 pi"},
      {"learned-shifted", "rows are read 2 further on: position p has row p + 2"},
      {"rope-swapped-outputs", "the two members of a pair change places"},
      {"rope-wrong-stack", "what is multiplied by the sine is the member itself, not its partner"},
      {"rope-dynamic-length-of-tokens", "the number of tokens in a call is taken for its length"},
      {"rope-dynamic-length-of-each-row", "length_scope row"},
      {"rope-real-step-ignored", "every frequency is 128 times the one asked for"},
      {"rope-linear-twice", "factor 4"},
      {"rope-ntk-exponent", "ntk's base is multiplied by the factor itself, where the claim has its power n / (n - 2)"},
      {"rope-frequency-8-ulps", "1 of 32 frequencies are not those asked for: pair 1's"},
      {"rope-local-index", "a token's place in the call is taken for its position"},
      {"rope-first-row-for-all", "all rows of a batch have the first row's positions"},
      {"rope-consecutive-positions", "positions are taken to be consecutive"},
      {"rope-rows-run-on", "rows of a batch continue counting where the last one ended"},
      {"rope-axes-swapped", "positions are read as [tokens, batch]"},
      {"rope-clamped", "positions above 4095 are clamped to it"},
      {"rope-passed-through", "positions above 4095 are not rotated"},
      {"rope-wrapped", "positions wrap at 65536"},
      {"rope-first-head-only", "only the first head is rotated"},
      {"sinusoidal-poor-reduction", "angles are reduced by a float32 2 pi, 6.28318548, not by 2 pi"},
      {"sinusoidal-bfloat16-positions", "positions are rounded to bfloat16: right up to 256"},
      {"sinusoidal-float16-positions", "positions are rounded to float16"},
      {"sinusoidal-bfloat16-frequencies", "frequencies are rounded to bfloat16"},
      {"sinusoidal-bfloat16-angle", "angles are rounded to bfloat16"},
      {"sinusoidal-base-ignored", "base 10000 measured, 500 claimed"},
      {"sinusoidal-denominator-ignored", "downscale_freq_shift 0 measured, 1 claimed"},
      {"sinusoidal-scale-ignored", "scale 1 measured, 0.5 claimed"},
      {"sinusoidal-layout-ignored", "claims layout concatenated, computes interleaved"},
      {"sinusoidal-first-ignored", "claims first cos, computes sin"},
      {"sinusoidal-offset-two", "position_offset 2 measured, 0 claimed"},
      {"sinusoidal-offset-ignored", "position_offset 0 measured, 2 claimed"},
      {"sinusoidal-clamped", "positions above 4095 are clamped to it"},
      {"sinusoidal-wrapped", "positions wrap at 65536"},
      {"sinusoidal-local-index", "a token's place in the call is taken for its position"},
      {"sinusoidal-consecutive-positions", "positions are taken to be consecutive"},
      {"attention-xpos-one-role", "keys are scaled as queries are"},
      {"attention-xpos-keys-uncentred", "keys' scales count from position 0, and queries' from the claimed centre"},
      {"attention-keys-from-64", "of 165 tokens keys from 64 on are not seen"},
      {"attend-own-key-hidden", "of 165 tokens queries from 32 on do not see their own keys"},
      {"softcap-after-bias", "the bias is added before the softcap, where the claim adds it after"},
      {"softcap-clamps", "scores beyond the softcap are cut off, where the claim has its tanh"},
      {"softcap-clamps-bfloat16", "scores beyond the softcap are cut off, where the claim has its tanh"},
      {"softcap-left-out", "no logit_softcap measured, 2 claimed"},
      {"attend-scores-to-64", "scores above 64 are 64"},
      {"attend-rope-halved-bfloat16", "positions are halved, and rounded down"},
      {"attend-rope-left-out-256-float16", "claims position rope, computes none"},
      {"attend-scale-halved-bfloat16", "scores are halved: softmax_scale 0.0625 measured, 0.125 claimed"},
      {"attention-dynamic-length-of-each-row",
       "each batch row takes its own length, where the claim has the longest one's"},
      {"attention-dynamic-length-of-first-row", "all batch rows take the first one's length"},
      {"attention-longrope-rows-length-of-tokens", "the number of tokens is taken for the length"},
      {"alibi-distance-256", "biases of distance key - query = -256 are 0, and the rest is right"},
      {"alibi-key-5000", "biases of keys at position 5000 are those of"},
      {"t5-distance-one", "biases of query number 1, of distance key - query = -1 are those of"},
      {"alibi-naive-slopes", "claims slopes released, computes geometric"},
      {"alibi-released-undeclared", "claims slopes geometric, computes released"},
      {"alibi-sign", "the sign of the bias is reversed"},
      {"alibi-exponent-from-zero", "every slope is 2 times the one asked for"},
      {"alibi-sorted-slopes", "the slopes are those asked for in falling order"},
      {"alibi-key-index", "claims form distance, computes key_index"},
      {"alibi-slope-dtype-undeclared", "slope_dtype"},
      {"alibi-bias-max-undeclared", "bias_max 8 measured, 16 claimed"},
      {"t5-sign", "buckets are those of query - key instead of key - query"},
      {"t5-one-direction", "keys after the query share the buckets of those before"},
      {"t5-later-keys-mirrored", "claims later_keys at_zero, computes mirrored"},
      {"t5-later-keys-at-zero", "claims later_keys mirrored, computes at_zero"},
      {"sinusoidal-constant", "every position of a call has the same code"},
      {"rope-bfloat16-cut", "truncated"},
      {"rope-longrope-by-rows", "the number of tokens in a call is taken for its length"},
      {"alibi-clamped", "distances above 1023 count as that"},
      {"alibi-wrapped", "distances wrap at 256"},
      {"alibi-distances-rounded-too", "distances are rounded to bfloat16: right up to 256"},
      {"alibi-top-left", "distances are counted from a call's first query, whatever its position"},
      {"t5-no-clamp", "distances beyond max_distance are not clamped to the last bucket"},
      {"t5-halved-twice", "the number of buckets is halved once more"},
      {"t5-strict-border", "a distance at the border of two logarithmic buckets is in the nearer one"},
      {"t5-single-query-skipped", "a call of one query has no bias"},
      {"bucket-log-floor", "logarithmic steps are rounded down, not up"},
      {"bucket-log-nearest", "logarithmic steps are rounded to the nearest, not up"},
      {"bucket-log-steps-of-all", "logarithms make one step more than the claim's"},
      {"bucket-log-a-quarter-exact", "a quarter of a direction's rows have one distance each"},
      {"bucket-log-alike-on-both-sides", "keys behind the query end at row 1"},
      {"bucket-clipped-alike-on-both-sides", "keys behind the query end at row 1"},
      {"bucket-clipped-by-length", "distances are clipped at half of those that have a row"},
      {"bucket-clipped-wrapped", "distances beyond the last are counted from the table's other end"},
      {"log-coordinates-natural", "logarithms are natural, and divided by log2 8"},
      {"log-coordinates-no-one", "without 1 added"},
      {"log-coordinates-not-divided", "the logarithm is not divided by log2 8"},
      {"log-coordinates-scaled-after", "8 multiplies the logarithm"},
      {"log-coordinates-linear", "no logarithm is taken"},
      {"log-coordinates-unsigned", "the sign of offsets is lost"},
      {"log-coordinates-by-extent", "offsets are divided by the extent, not by one less"},
      {"log-coordinates-divisors-swapped", "axes are divided by the extents in reverse order"},
      {"log-coordinates-axes-swapped", "channels are those of the axes in reverse order"},
      {"log-coordinates-pretrained-dropped", "claims pretrained_window"},
      {"axial-normalized-corners", "claims coordinates normalized, computes normalized_starts"},
      {"axial-normalized-ends", "the first and the last patch lie at the ends, -1 and 1"},
      {"axial-normalized-half-turn", "parts of half a turn"},
      {"axial-normalized-from-zero", "coordinates lie in [0, 1], not in [-1, 1]"},
      {"axial-normalized-index", "coordinates are not normalized"},
      {"axial-shift-ignored", "coordinates are not moved"},
      {"axial-scale-ignored", "coordinates are not multiplied"},
      {"axial-scale-of-first-axis", "every axis is multiplied by the first one's scale"},
      {"axial-shift-of-first-axis", "every axis is moved by the first one's shift"},
      {"axial-scale-twice", "the last axis is multiplied by its scale twice"},
      {"axial-shift-other-way", "coordinates are moved the other way"},
      {"axial-scale-divides", "coordinates are divided by their scales"},
      {"axial-rising-falls", "claims ladder both_ends, computes falling"},
      {"axial-rising-open-end", "frequencies end short of the base"},
      {"axial-rising-middles", "claims coordinates normalized_starts, computes normalized"},
      {"axial-rising-whole-turn", "coordinates have four times the claimed unit"},
      {"axial-rising-half-turn", "coordinates have twice the claimed unit"},
      {"axial-rising-from-zero", "coordinates begin at 0, not at -1"},
      {"axial-rising-blocks", "claims section_order interleaved, computes blocked"},
      {"axial-rising-padding-behind", "claims rotary_layout suffix, computes prefix"},
      {"axial-ladder-of-the-head", "divides exponents by the head's width"},
      {"fourier-axis-major-for-frequencies", "claims channel_order"},
      {"fourier-identity-last", "claims identity first, computes last"},
      {"fourier-linear-for-powers", "claims ladder powers_of_two, computes linear"},
      {"fourier-end-excluded", "highest"},
      {"fourier-ends-for-centres", "claims coordinates centres, computes ends"},
      {"fourier-extents-swapped", "claims extents"},
      {"fourier-positions-truncated", "to whole numbers"},
      {"bucket-log-whole-distance", "logarithms are divided by that of max_distance, not of one less"},
      {"qk-norm-no-weight", "heads are normalized, and the weights are left out"},
      {"qk-norm-no-epsilon", "epsilon is left out"},
      {"qk-norm-centred",
       "heads whose channels are all alike are divided by the root of epsilon alone, as where their mean is "
       "subtracted before their squares are summed"},
      {"qk-norm-mean-of-rotary-channels", "the mean is that of the channels that turn, not of the head"},
      {"axial-normalized-square", "every axis is divided by the first one's extent"},
      {"axial-shift-after-scale", "coordinates are multiplied before they are moved"},
      {"axial-shift-in-patches", "shifts are taken for numbers of patches"},
      {"axial-scale-before-centring", "coordinates in [0, 1] are multiplied, before they are made to lie in [-1, 1]"},
      {"axial-moves-clipped", "coordinates beyond -1 and 1 are clipped to them"},
      {"axial-rising-turned-round", "each axis has its frequencies in reverse order"},
      {"axial-rising-frames-as-patches", "the first axis has the unit of the last"},
      {"rope-real-float16", "positions are rounded to float16: right up to 16"},
      {"sinusoidal-float16-wavelengths", "wavelengths are rounded to float16"},
      {"table-interleaved-as-halves", "cosines and sines alternate, where the first half of a row are cosines"},
      {"table-tiled-as-repeated", "a row stands there twice over, and is read as each value twice running"},
      {"table-factor-of-cosines", "the attention factor is in cosines alone"},
      {"table-scaling-dropped", "frequencies are not scaled by yarn, though its attention factor is there"},
      {"grid-one-axis", "all axes have the positions of the first"},
      {"attention-window-sign", "query and key change places"},
      {"attention-axial-first-axis", "all axes have the positions of the first"},
      {"attention-axial-rows-first", "claims axes in the order 1, 0, computes 0, 1"},
      {"timestep-padding-cosine", "the channel that pads an odd width is 1, where the claim has 0"},
      {"timestep-padding-repeated", "the channel that pads an odd width repeats the one before"},
      {"timestep-padding-in-front", "the channel that pads an odd width comes first"},
      {"timestep-padded-before-flip", "the channel that pads an odd width stands between the halves"},
      {"rope-real-truncated", "positions are rounded down to whole numbers"},
      {"rope-real-nearest-integer", "positions are rounded to whole numbers"},
      {"alibi-bfloat16-product", "biases are rounded to bfloat16"},
      {"axial-dealt-other-hand", "frequencies are dealt out backwards: the last axis has the first of each round"},
      {"window-heads-swapped", "heads read the weight's columns in reverse"},
      {"places-scales-multiply", "coordinates are multiplied by their scales, where the claim divides by them"},
      {"fourier-positions-in-float16", "positions are rounded to float16"},
      {"sinusoidal-two-frequencies-a-pair", "exponents count channels, not pairs"},
      {"sinusoidal-table-of-1024-sines", "angles are rounded to 1024 steps a turn"},
      {"sinusoidal-last-pair-missing", "channel 63 is 0 at every position"},
      {"sinusoidal-stale-rows", "a session's first call leaves its positions behind: tokens of later calls have those"},
      {"sinusoidal-longest-seen", "answers depend on the calls before"},
      {"rope-float16-input", "vectors are rounded to float16 before they are turned"},
      {"rope-eighth-head-stale", "head 7 of 8 is not rotated"},
      {"qk-norm-over-all-heads", "the mean is over all heads of a token, not over each"},
      {"qk-norm-first-head-for-all", "every head of a token is divided by the root of the first one's mean"},
      {"qk-norm-bfloat16-root", "the inverse of the root is rounded to bfloat16"},
  };
  return list;
}

void PrintTo(const Named& named, std::ostream* stream) { *stream << named.mutant; }

class Diagnosed : public testing::TestWithParam<Named> {};

TEST_P(Diagnosed, BySentence) {
  const auto subject = mutants::open(GetParam().mutant);
  const auto diagnosis = diagnose(*subject, parse_spec(mutants::named(GetParam().mutant).spec));
  ASSERT_TRUE(diagnosis) << "nothing is said";
  EXPECT_NE(words_of(*diagnosis).find(GetParam().words), std::string::npos) << words_of(*diagnosis);
}

std::string name_of_case(const testing::TestParamInfo<Named>& info) {
  std::string name = info.param.mutant;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Mutants, Diagnosed, testing::ValuesIn(named()), name_of_case);

TEST(Diagnose, VerifiesTheClaimThatWouldHold) {
  const auto subject = mutants::open("rope-pairing-ignored");
  const Spec claim = parse_spec(R"({"encoding":"rope","head_dim":64,"pairing":"interleaved"})");
  const auto diagnosis = diagnose(*subject, claim);
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(words_of(*diagnosis), "claims pairing interleaved, computes half");
  EXPECT_EQ(diagnosis->differences.front().row, "C2");
  EXPECT_TRUE(diagnosis->is_verified);
  EXPECT_GT(diagnosis->of_bound, 0);
  EXPECT_LT(diagnosis->of_bound, 1);
  EXPECT_EQ(describe(parse_spec(diagnosis->spec_json)),
            describe(parse_spec(R"({"encoding":"rope","head_dim":64,"pairing":"half"})")));
}

// What is said of a mutant.
std::string said(const std::string& name) {
  const auto diagnosis = diagnose(*mutants::open(name), parse_spec(mutants::named(name).spec));
  return diagnosis ? words_of(*diagnosis) : std::string();
}

// Mutants of whose answers the fields of some claim explain a part, by chance: nothing is said, or what is true.
TEST(Diagnose, SaysNothingFalse) {
  for (const char* name : {"xpos-scale-table-of-2048", "learned-row-32768", "table-one-value",
                           "sinusoidal-off-by-one-from-4096", "rope-shift-by-head-size", "rope-bfloat16-two-ulps",
                           "rope-repeats-copied", "sinusoidal-capacity-scaled", "rope-last-pairs-of-10"})
    EXPECT_EQ(said(name), "") << name;
  EXPECT_EQ(said("sinusoidal-one-row-for-all"),
            "every token of a call has the position of the last, counted on from its own");
  EXPECT_EQ(said("attention-first-batch-row"), "every batch row reads the keys and values of the first");
  EXPECT_EQ(said("attention-mask-off-by-one"),
            "a query sees one key more than the causal mask allows: the one after its own");
  EXPECT_EQ(said("qk-norm-positions-from-zero"), "a token's place in the call is taken for its position");
  EXPECT_EQ(said("rope-far-later-heads"), "of 8 heads only 0 is right at every position asked");
  EXPECT_EQ(said("rope-very-last"), "head 7 of 8 is turned otherwise than the others at some places");
  EXPECT_EQ(said("rope-real-bfloat16"), "positions are rounded to bfloat16: right up to 2");
  EXPECT_EQ(said("rope-none-rotated"), "vectors are rotated by base 10000, where rope_type none turns nothing");
  EXPECT_EQ(said("rope-none-first-pair-turned"), "1 of 16 pairs is rotated, where rope_type none turns nothing");
  EXPECT_EQ(said("axial-none-rotated"), "vectors are rotated by base 10000, where rope_type none turns nothing");
  EXPECT_EQ(said("rope-neighbour-overwritten"), "the two members of a pair are not turned alike");
}

// A float32 array [rows, columns] as a .npy file.
std::filesystem::path npy_of(const Tensor& table) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", table.shape[0], table.shape[1]);
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "diagnosed.npy";
  std::ofstream stream(path, std::ios::binary);
  stream << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size()) << '\0' << header;
  stream.write(reinterpret_cast<const char*>(table.data.data()), static_cast<std::streamsize>(table.data.size()));
  return path;
}

TEST(Diagnose, TellsWhatARecordedTableIs) {
  const Spec recorded = parse_spec(R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated","first":"cos"})");
  std::vector<std::int64_t> positions(3000);
  std::iota(positions.begin(), positions.end(), 0);
  const auto session = builtin_subject()->open(recorded);
  const std::filesystem::path file = npy_of(encode(*session, recorded, positions));
  const Spec claim = parse_spec(R"({"encoding":"sinusoidal","dim":64})");
  const auto diagnosis = diagnose(*recorded_subject("file:diagnosed.npy", file, claim), claim);
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(words_of(*diagnosis), "claims layout interleaved, computes concatenated; claims first sin, computes cos");
  EXPECT_TRUE(diagnosis->is_verified);
  EXPECT_FALSE(diagnose(*recorded_subject("file:diagnosed.npy", file, recorded), recorded));
}

std::vector<std::string> controls() {
  std::vector<std::string> names;
  for (const mutants::Mutant& mutant : mutants::registry()) {
    if (mutant.kind == mutants::Kind::control) names.push_back(mutant.name);
  }
  return names;
}

class RightControl : public testing::TestWithParam<std::string> {};

TEST_P(RightControl, IsToldNothing) {
  const auto diagnosis = diagnose(*mutants::open(GetParam()), parse_spec(mutants::named(GetParam()).spec));
  EXPECT_FALSE(diagnosis) << words_of(*diagnosis);
}

INSTANTIATE_TEST_SUITE_P(Controls, RightControl, testing::ValuesIn(controls()), [](const auto& tested) {
  std::string name = tested.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Diagnose, NamesWhatStepsAndPaddingGoWrongBy) {
  EXPECT_EQ(said("decode-mask-at-top"),
            "in a step the causal mask is aligned to the top left: its first query sees the first key alone");
  EXPECT_EQ(said("decode-own-key-hidden"), "in a step a query does not see its own key");
  EXPECT_EQ(said("decode-chunk-sees-all"), "in a step every query sees all keys: no causal mask is among its tokens");
  EXPECT_EQ(said("decode-by-index"), "in a step a query's index among the keys is taken for its position");
  EXPECT_EQ(said("cache-turned-twice"), "keys that the cache keeps turned are turned again");
  EXPECT_EQ(said("padding-of-first-row"), "every batch row has the padding of the first");
  EXPECT_EQ(said("padding-one-too-late"), "rows of a batch begin one key too late, where they are padded on the left");
  EXPECT_EQ(said("padding-one-too-early"),
            "rows of a batch begin one key too early, where they are padded on the left");
}

TEST(Diagnose, NamesSinksAndRoundedWeights) {
  EXPECT_EQ(said("sinks-of-first-head"), "every head has the sink of the first");
  EXPECT_EQ(said("sinks-as-one"), "a sink counts as a score of 0, whatever it is");
  EXPECT_EQ(said("attention-float16-weights"), "weights are rounded to float16 or TF32 before they multiply values");
}

// A window's bias whose row and heads are read otherwise.
std::string said_of_window(const std::string& claim, const std::function<std::int64_t(std::int64_t head)>& shift) {
  const FunctionSubject subject("window", [&](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right, shift](std::string_view operation, const Tensors& inputs) {
      Tensors changed = inputs;
      Tensor& weight = changed.at("weight");
      const Tensor given = weight;
      const std::int64_t rows = given.shape[0];
      const std::int64_t heads = given.shape[1];
      for (std::int64_t i = 0; i < given.elements(); ++i)
        weight.set(i, given.at((i / heads + shift(i % heads)) % rows * heads + i % heads));
      return right->call(operation, changed);
    };
  });
  const auto diagnosis = diagnose(subject, parse_spec(claim));
  return diagnosis ? words_of(*diagnosis) : std::string();
}

TEST(Diagnose, TellsHeadsOfAWindowThatAloneAreWrong) {
  for (const char* claim :
       {R"({"encoding":"window_bias","window":[4,4]})", R"({"encoding":"window_bias","window":[8,8]})"}) {
    EXPECT_EQ(said_of_window(claim, [](std::int64_t head) { return head == 0 ? 2 : 0; }),
              "biases of head 0 are wrong, and the rest is right");
    EXPECT_EQ(said_of_window(claim, [](std::int64_t head) { return head == 1 ? 2 : 0; }),
              "biases of head 1 are wrong, and the rest is right");
    // Of a table of fewer rows than 64 all have the same second digit, which no other row shows.
    EXPECT_EQ(said_of_window(claim, [](std::int64_t) { return 2; }).find("head"), std::string::npos) << claim;
  }
}

TEST(Diagnose, NamesTheGeometryOfWindows) {
  EXPECT_EQ(said("window-wide-radix"), "a step down counts 2 width rows of the weight, not one less");
  EXPECT_EQ(said("window-unshifted"), "differences are not made positive: rows below 0 wrap round to the weight's end");
  EXPECT_EQ(said("window-shifted-by-height"),
            "differences of columns are made positive by the height, not by the width");
  EXPECT_EQ(said("window-depth-dropped"), "the difference in depth does not count");
  EXPECT_EQ(said("window-depth-last"),
            "depth is the fastest axis: the window's extents are taken as height, width, depth");
  EXPECT_EQ(said("window-class-rows-permuted"), "the class token's rows as query and as key change places");
  EXPECT_EQ(said("window-class-token-last"),
            "the last token is taken for the class token, where the claim has the first");
}

TEST(Diagnose, NamesScalesOfQueries) {
  // Whole calls that show a query's number in its call are too long to be asked.
  EXPECT_EQ(said("query-scale-left-out-with-rope"),
            "queries are not scaled by their positions, in steps and in calls of fewer than 16384 tokens");
  EXPECT_EQ(said("query-scale-log-n-by-number"),
            "queries are not scaled by their positions, in steps and in calls of fewer than 8192 tokens");
  EXPECT_EQ(said("query-scale-ceil"), "periods that have begun count in queries' scales");
  EXPECT_EQ(said("query-scale-smooth"), "parts of a period count in queries' scales");
  EXPECT_EQ(said("query-scale-log2"), "the logarithm in queries' scales is to base 2");
  EXPECT_EQ(said("query-scale-from-1"), "queries' scales count positions from 1, where the claim counts from 0");
  EXPECT_EQ(said("query-scale-rows-alike"), "every batch row has the scales of the first one's queries");
  EXPECT_EQ(said("query-scale-keys-instead"), "keys are scaled by their positions in the queries' place");
  EXPECT_EQ(said("query-scale-first-head"),
            "heads after the first have queries that are not scaled by their positions");
  EXPECT_EQ(said("query-scale-bfloat16"), "the scales of queries are rounded to bfloat16");
  EXPECT_EQ(said("query-scale-log-n-below-1"), "queries before the length are scaled down");
  EXPECT_EQ(said("query-scale-log-n-natural"),
            "the logarithm in queries' scales is natural, not to the base of the length");
}

}  // namespace
}  // namespace sextant::identify::identify_diagnose_test
