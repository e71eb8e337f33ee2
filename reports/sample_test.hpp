#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "reports/report.hpp"

namespace sextant {

inline PropertyResult result(const std::string& id, Verdict verdict, const std::string& reason = "") {
  PropertyResult made;
  made.id = id;
  made.title = "the title of " + id;
  made.statement = "f(p) = g(p) < 1 & |f| >= 0";
  made.verdict = verdict;
  made.reason = reason;
  return made;
}

/// A survey with every picture, small.
inline Survey sample_survey() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Survey survey;
  survey.measured_class = "bfloat16-angle";
  survey.stage = "angle";
  survey.stage_evidence = "oracle";
  survey.recipe = "bfloat16-angle";
  survey.angle_bits = 7.5;
  survey.horizon = 256;
  survey.errors = ErrorGrid{{0, 1, 256, 131071},
                            2,
                            1,
                            {0, 1e-8, 1e-7, 0, 0.5, 0.25, infinity, 2},
                            {0, 0.125, 1, 0, 4e6, 2e6, infinity, 1e7},
                            {0, 0.1, 0.2, 0, 1e5, 2e4, infinity, 9},
                            {1e-7, 2e-7, 1e-5, 0.03},
                            {{"float32", {0, 1e-8, 2e-6, 7e-3}}, {"float64", {0, 1e-9, 1e-9, 1e-9}}}};
  survey.frequencies = FrequencyCurve{{1, 0.01}, {0.996, std::nan("")}};
  survey.codes = CodeMap{0, 3, 4, {0, 1, 0, 1, 0.84, 0.54, 0.01, 1, 0.91, -0.42, 0.02, std::nan("")}};
  survey.codes_at_horizon = CodeMap{255, 3, 2, {0.5, 0.86, 0.45, -0.45, -0.04, 0.99}};
  survey.similarity = SimilarityCurve{
      0, {0, 1, 2, 6}, {1, 0.77, 0.29, 0.98}, {1, 0.77, 0.3, 0.97}, 131071, 1, 0.958, 131071, {6, 44}, {0.289, 0.0354}};
  survey.bias = BiasMap{1, 2, 3, {0, -0.5, -1, 0.5, 0, -0.5}};
  return survey;
}

/// Holds each verdict, NaN, infinity, a path that is not ASCII, markup and control characters.
inline Report sample() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Report report;
  report.sextant_version = "0.0.0";
  report.subject = "python:modèles/<rope> & co.py";
  report.subject_name = "a *fine* |subject|";
  report.subject_version = "1.2";
  report.source = {"modèles/<rope> & co.py", 12};
  report.spec_json = R"({"encoding":"rope","head_dim":64})";
  report.spec_text = "rope head_dim 64, rope_theta 10000, pairing half, float32";
  report.claim_notes = {"positions are counted *anew* in each image", "tables are <float32>"};
  report.claim = "float32-angle";
  report.last_position = 131071;
  report.profile = "quick";
  report.seed = 18446744073709551615U;
  report.environment = {{"system", "Linux \"x\""}, {"mpfr", "4"}};
  report.command =
      "sextant audit 'python:modèles/<rope> & co.py' --spec '{\"encoding\":\"rope\",\"head_dim\":64}' --profile quick";
  report.selection = " --skip kappa";
  report.exit_status = 1;
  report.seconds = 1.5;

  PropertyResult holds = result("alpha", Verdict::holds);
  holds.cases = 203;
  holds.worst = Example{"alpha:position=7", "position 7: nothing much", {0.25, 1e-9, 0.5}};
  holds.seconds = 0.125;
  PropertyResult violated = result("beta", Verdict::violated);
  violated.level = Level::contract;
  violated.cases = 1;
  violated.simplest =
      Example{"beta:position=257", "position 257: got nan, `true` value <0.5>", {infinity, infinity, std::nan("")}};
  violated.worst = Example{"beta:position=300", "position 300: 7.4 times the bound", {7.4, 0.1, 1e6, 12.5}};
  PropertyResult crashed =
      result("gamma", Verdict::crashed,
             "crashed: encode: was killed by signal 11 (Segmentation fault); it wrote: \x1b[31mred\x01");
  crashed.simplest = Example{"gamma:position=0", "encode: was killed by signal 11 (Segmentation fault)", {}};
  report.results = {holds,
                    violated,
                    crashed,
                    result("delta", Verdict::timed_out, "timed out: encode: gave no answer within the time-out"),
                    result("epsilon", Verdict::undecided, "no case ran"),
                    result("zeta", Verdict::not_applicable, "a property of rotations"),
                    result("eta", Verdict::unsupported, "encode returned None")};
  PropertyResult advice = violated;
  advice.id = "theta";
  advice.level = Level::advice;
  PropertyResult witness = holds;
  witness.id = "iota";
  witness.theory = Theory::fails;
  witness.reason = "the encoding lacks this property, as theory says; the case shows it";
  witness.simplest = Example{"iota:position=1", "1 is above the bound", {infinity, 1, 2}};
  report.results.push_back(advice);
  report.results.push_back(witness);
  report.results[0].coverage = Coverage{.positions = 512, .claimed = 512, .values = 4096};
  report.results[1].horizon = 256;
  report.results[1].coverage = Coverage{.positions = 400, .claimed = 512, .values = 3200};
  report.diagnosis = Diagnosis{{{"claims pairing *half*, computes <interleaved>", "C2", DiagnosedStage::rotation},
                                {"one position off", "", DiagnosedStage::position}},
                               R"({"encoding":"rope","head_dim":64,"pairing":"interleaved"})",
                               {"pairing interleaved instead of half"},
                               "sextant audit 'python:modèles/<rope> & co.py' --spec "
                               "'{\"encoding\":\"rope\",\"head_dim\":64,\"pairing\":\"interleaved\"}' --profile quick",
                               true,
                               false,
                               0.25};
  report.survey = sample_survey();
  return report;
}

}  // namespace sextant
