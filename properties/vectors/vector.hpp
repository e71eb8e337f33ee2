#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::vectors {

// Conformance vectors: calls with what is true of their answers, as plain data that a test-suite needs no oracle for.

/// One value of an answer, and how far a right one may be from it.
struct Expected {
  std::int64_t element;  ///< in row-major order
  double value;          ///< of the dtype, the nearest to the truth where the group says so; NaN where one must come
  double tolerance;      ///< |got - value| may be that: tolerances.hpp; where value is an infinity got is that or NaN
};

/// What is known of one tensor of an answer.
struct ExpectedTensor {
  std::string name;
  Dtype dtype;
  std::vector<std::int64_t> shape;
  std::vector<Expected> values;  ///< rising by element: some of those that the claim says something of
};

/// A wrong answer to the call of a test, which a comparison must refuse: what another claim says, one field changed.
struct WrongAnswer {
  std::string field;                                       ///< that is not as the claim has it
  std::map<std::string, std::vector<double>> values = {};  ///< of each tensor, where the test has values
};

/// What a weaker class allows in the answer to a test: accepted by who claims no more.
struct WeakerClass {
  AccuracyClass accuracy;
  std::map<std::string, std::vector<double>> tolerances = {};  ///< of each tensor, in the order of its values
};

/// What a call is due: an answer, or to be refused.
enum class Due { answer, refusal };

/// One call and its answer. Those of a group are asked in their order, of one session.
struct Test {
  std::string comment;
  std::vector<std::string> flags;  ///< rows of docs/bug-zoo.md whose bugs it shows
  std::string operation;           ///< of the protocol; "backward/rotate" for a gradient
  Tensors inputs;
  std::vector<ExpectedTensor> outputs;
  std::vector<WrongAnswer> wrong = {};
  std::vector<WeakerClass> weaker = {};
  Due due = Due::answer;
};

/// Whether each value is the nearest of its dtype to the truth, or within the class.
enum class Rounding { correct, within_class };

/// Tests of one claim.
struct Group {
  Spec spec;
  Rounding rounding;
  std::vector<Test> tests;
};

/// The values that inputs repeat: long ones are a few words in a file. Their number is a prime, so that rows of no
/// width are alike before it.
inline constexpr std::int64_t pattern_length = 251;
std::vector<double> pattern();

/// What they are multiplied by, exactly: by 1 or the first, and by 1, the second or the third.
inline constexpr double fine_factor = 1 + 0x1p-14;
inline constexpr double small_factor = 0x1p-6;
inline constexpr double large_factor = 0x1p6;

/// Instead of 1: what values of Kind::large are multiplied by, in float16 and else, and those of Kind::huge.
inline constexpr double large_in_float16 = 0x1p11;
inline constexpr double large_elsewhere = 0x1p20;
inline constexpr double huge_factor = 0x1p80;

/// What values of Kind::tiny are multiplied by in float32: its least normal one is 2^-126.
inline constexpr double tiny_factor = 0x1p-134;

/// A tensor of these values, from number `from` on and over again, each times `factor`.
Tensor patterned(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t from, double factor = 1);

}  // namespace sextant::vectors
