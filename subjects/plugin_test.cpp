// Plugins are loaded by their host, which is asked as audits ask it.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "subjects/c/sextant_subject.h"
#include "subjects/kind.hpp"
#include "subjects/operations.hpp"
#include "subjects/unusable.hpp"

namespace sextant::plugin_test {
namespace {

// DLPack 1.x, dlpack.h: DLTensor on a machine whose pointers have 64 bits.
static_assert(sizeof(SextantTensor) == 48 && offsetof(SextantTensor, data) == 0 &&
              offsetof(SextantTensor, device) == 8 && offsetof(SextantTensor, ndim) == 16 &&
              offsetof(SextantTensor, dtype) == 20 && offsetof(SextantTensor, shape) == 24 &&
              offsetof(SextantTensor, strides) == 32 && offsetof(SextantTensor, byte_offset) == 40);
static_assert(sizeof(SextantDtype) == 4 && offsetof(SextantDtype, bits) == 1 && offsetof(SextantDtype, lanes) == 2);
static_assert(SEXTANT_CPU == 1 && SEXTANT_INT == 0 && SEXTANT_FLOAT == 2 && SEXTANT_BFLOAT == 4);

class Plugin : public testing::Test {
 protected:
  void SetUp() override { setenv("SEXTANT_LIBEXEC", SEXTANT_BINARY_DIR "/libexec/sextant", 1); }
  void TearDown() override { unsetenv("SEXTANT_TEST_FAULT"); }

  std::unique_ptr<Subject> subject(const std::string& library) const {
    return open_subject(subject_kinds(), "plugin:" SEXTANT_BINARY_DIR "/plugins/" + library + ".so", spec_, {});
  }
  std::unique_ptr<Session> open(const std::string& library) const { return subject(library)->open(spec_); }

  // How encode of faulty.so fails when it makes this fault, in one of the calls whose tensors lie at either edge.
  SubjectFailure failure(const char* fault) const {
    setenv("SEXTANT_TEST_FAULT", fault, 1);
    for (std::int64_t position = 0; position < 16; ++position) {
      const auto session = open("faulty");
      try {
        encode(*session, spec_, std::vector<std::int64_t>{position, 0});
      } catch (const SubjectFailure& caught) {
        return caught;
      }
    }
    return {FailureKind::unsupported, "no failure"};
  }

  std::string refusal(const char* fault) const {
    setenv("SEXTANT_TEST_FAULT", fault, 1);
    try {
      open("faulty")->describe();
    } catch (const SubjectUnusable& unusable) {
      return unusable.what();
    }
    return "not refused";
  }

  Spec spec_ = parse_spec(R"({"encoding":"sinusoidal","dim":4,"base":100})");
};

void expect_failure(const SubjectFailure& failure, FailureKind kind, const std::string& text) {
  EXPECT_EQ(failure.kind(), kind) << failure.what();
  EXPECT_EQ(failure.what(), text);
}

TEST_F(Plugin, SaysWhatItsTableSays) {
  const Description said = open("plain")->describe();
  EXPECT_EQ(said.name, "plain");
  EXPECT_EQ(said.version, "7");
  EXPECT_EQ(said.operations, (std::vector<std::string>{"encode", "table", "rotate", "qk_norm_rope", "bias", "bucket",
                                                       "attend", "backward"}));
  EXPECT_EQ(said.fields, (std::vector<std::string>{"base", "head_dim"}));
  EXPECT_TRUE(said.in_place);
  EXPECT_TRUE(said.threads);
  EXPECT_FALSE(open("faulty")->describe().in_place);
}

TEST_F(Plugin, EncodesCallAfterCallAndForgetsWhenReset) {
  const auto session = open("plain");
  for (int again = 0; again < 2; ++again) {
    for (std::int64_t call = 0; call < 20; ++call) {
      const Tensor table = encode(*session, spec_, std::vector<std::int64_t>{call, -call, 3});
      EXPECT_EQ(table.at(2), static_cast<double>(100 * call + 2));
      EXPECT_EQ(table.at(4), static_cast<double>(-100 * call));
      EXPECT_EQ(table.at(11), static_cast<double>(call));
    }
    reset(*session);
  }
}

TEST_F(Plugin, SessionsAreProcessesOfTheirOwn) {
  const auto plain = subject("plain");
  const auto one = plain->open(spec_);
  const auto other = plain->open(spec_);
  const std::vector<std::int64_t> zero{0};
  encode(*one, spec_, zero);
  EXPECT_EQ(encode(*one, spec_, zero).at(3), 1);
  EXPECT_EQ(encode(*other, spec_, zero).at(3), 0);
}

TEST_F(Plugin, AnswersEveryOtherOperation) {
  const std::vector<std::int64_t> two{0, 5};
  spec_ = parse_spec(R"({"encoding":"rope","head_dim":4})");
  Tensor x = Tensor::zeros(Dtype::float32, {1, 2, 1, 4});
  x.set(7, 21);
  EXPECT_EQ(rotate(*open("plain"), spec_, x, two).at(7), 42);
  EXPECT_EQ(rotate_backward(*open("plain"), spec_, x, two, x).at(7), 84);

  spec_ = parse_spec(R"({"encoding":"qk_norm_rope","head_dim":4})");
  Tensor weight_of_2 = Tensor::zeros(Dtype::float32, {4});
  weight_of_2.set(3, 2);
  const QueriesAndKeys both = qk_norm_rope(*open("plain"), spec_, {x, x, weight_of_2, weight_of_2, two});
  EXPECT_EQ(both.q.at(7), 84);
  EXPECT_EQ(both.k.at(7), 126);

  spec_ = parse_spec(R"({"encoding":"rotary_table","head_dim":4})");
  const Tensor cosines_then_sines = table(*open("plain"), spec_, two);
  EXPECT_EQ(cosines_then_sines.shape, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(cosines_then_sines.at(5), 5);
  EXPECT_EQ(cosines_then_sines.at(7), 1);

  spec_ = parse_spec(R"({"encoding":"relative_bias","num_buckets":4,"max_distance":3})");
  const auto relative = open("plain");
  Tensor weight = Tensor::zeros(Dtype::float32, {4, 3});
  weight.set(1, 7);
  EXPECT_EQ(bucket(*relative, spec_, std::vector<std::int64_t>{-5, 3, 8}), (std::vector<std::int64_t>{1, 3, 0}));
  const Tensor biases = bias(*relative, spec_, two, two, weight);
  EXPECT_EQ(biases.at(4), 7);
  EXPECT_EQ(biases.at(5), 12);
  const Tensors inputs{{"query_positions", Tensor::of_integers({2}, two)},
                       {"key_positions", Tensor::of_integers({2}, two)},
                       {"weight", weight}};
  Tensor grad = Tensor::zeros(Dtype::float32, {3, 2, 2});
  grad.set(5, 2);
  EXPECT_EQ(backward(*relative, spec_, "bias", inputs, grad).at(5), 8);

  spec_ = parse_spec(R"({"encoding":"attention","num_heads":2,"head_dim":4,"sinks":true})");
  const auto attention = open("plain");
  Tensor q = Tensor::zeros(Dtype::float32, {1, 2, 2, 4});
  const Tensor sinks = Tensor::zeros(Dtype::float32, {2});
  q.set(3, 1);
  EXPECT_EQ(attend(*attention, spec_, {.q = q, .k = q, .v = q, .positions = two, .sinks = &sinks}).at(3), 101);
  const AttendRequest step{.q = q, .k = q, .v = q, .positions = two, .sinks = &sinks, .query_positions = two};
  EXPECT_EQ(attend(*attention, spec_, step).at(3), 111);
  const AttendGradients gradients = backward(*attention, spec_, step, q);
  EXPECT_EQ(gradients.q.at(3), 1);
  EXPECT_EQ(gradients.k.at(3), 2);
  EXPECT_EQ(gradients.v.at(3), 3);
}

TEST_F(Plugin, SaysWhatItDoesNotSupport) {
  spec_ = parse_spec(R"({"encoding":"sinusoidal","dim":4,"dtype":"bfloat16"})");
  try {
    encode(*open("plain"), spec_, std::vector<std::int64_t>{1});
    FAIL();
  } catch (const SubjectFailure& failure) {
    expect_failure(failure, FailureKind::unsupported, "float32 only");
  }
  spec_ = parse_spec(R"({"encoding":"rope","head_dim":4})");
  try {
    rotate(*open("faulty"), spec_, Tensor::zeros(Dtype::float32, {1, 1, 1, 4}), std::vector<std::int64_t>{1});
    FAIL();
  } catch (const SubjectFailure& failure) {
    expect_failure(failure, FailureKind::unsupported, "the library has no rotate");
  }
}

TEST_F(Plugin, EmptyCallsHaveNothingToUse) {
  EXPECT_EQ(encode(*open("plain"), spec_, {}).elements(), 0);
  setenv("SEXTANT_TEST_FAULT", "reads past the end", 1);
  EXPECT_THROW(encode(*open("faulty"), spec_, {}), SubjectFailure);
}

TEST_F(Plugin, CallsAtOnceHaveMemoriesOfTheirOwn) {
  const auto session = open("plain");
  std::vector<ThreadCall> calls;
  for (std::int64_t i = 0; i < 24; ++i)
    calls.push_back(
        {spec_, "encode", named("positions", Tensor::of_integers({1}, std::vector<std::int64_t>{i})), i % 8});
  const std::vector<ThreadReply> replies = session->call_at_once(calls);
  ASSERT_EQ(replies.size(), calls.size());
  for (std::size_t i = 0; i < replies.size(); ++i) {
    ASSERT_FALSE(replies[i].failure);
    EXPECT_EQ(replies[i].tensors.at("encoding").at(1), static_cast<double>(100 * i + 1));
  }
}

TEST_F(Plugin, AccessesBeyondATensorAreNamed) {
#if defined(__x86_64__)
  expect_failure(failure("reads past the end"), FailureKind::misbehaved,
                 "encode read past the end of positions: at byte 16, and it has 16");
  expect_failure(failure("reads before the beginning"), FailureKind::misbehaved,
                 "encode read before the beginning of positions: at byte -8");
  // Whichever is met first: in the padding, or where memory faults.
  expect_failure(failure("writes past the end"), FailureKind::misbehaved,
                 "encode wrote past the end of encoding: at byte 32, and it has 32");
  expect_failure(failure("writes before the beginning"), FailureKind::misbehaved,
                 "encode wrote before the beginning of encoding: at byte -4");
  expect_failure(failure("reads far away"), FailureKind::misbehaved,
                 "encode read past the end of encoding: at byte 400000032, and it has 32");
#else
  for (const char* fault : {"reads past the end", "reads before the beginning", "writes past the end",
                            "writes before the beginning", "reads far away"})
    EXPECT_EQ(failure(fault).kind(), FailureKind::misbehaved) << fault;
#endif
}

TEST_F(Plugin, TheSameCallLiesAtTheSameEdgeInEverySession) {
  setenv("SEXTANT_TEST_FAULT", "reads past the end", 1);
  std::array<int, 2> failed{};
  for (std::int64_t position = 0; position < 16; ++position) {
    std::optional<bool> before;
    for (int again = 0; again < 2; ++again) {
      bool fails = false;
      try {
        encode(*open("faulty"), spec_, std::vector<std::int64_t>{position});
      } catch (const SubjectFailure&) {
        fails = true;
      }
      EXPECT_EQ(before.value_or(fails), fails);
      before = fails;
    }
    ++failed.at(*before ? 1 : 0);
  }
  EXPECT_GT(failed[0], 0);
  EXPECT_GT(failed[1], 0);
}

// Two rows of 16 bytes begin and end at multiples of 32 bytes, at either edge.
TEST_F(Plugin, TensorsAreAlignedAsTheTableSaysAndNoBetter) {
  expect_failure(failure("takes 32 bytes for granted"), FailureKind::error, "encode: returned 9");
  expect_failure(failure("asks for 32 bytes"), FailureKind::unsupported, "no failure");
}

TEST_F(Plugin, AChangedInputComesBack) {
  setenv("SEXTANT_TEST_FAULT", "changes an input", 1);
  const Tensor positions = Tensor::of_integers({2}, std::vector<std::int64_t>{3, 8});
  const Tensors reply = open("faulty")->call("encode", {{"positions", positions}});
  EXPECT_EQ(reply.at("modified/positions").integers(), (std::vector<std::int64_t>{3, 9}));
  setenv("SEXTANT_TEST_FAULT", "none", 1);
  EXPECT_EQ(open("faulty")->call("encode", {{"positions", positions}}).size(), 1U);
}

TEST_F(Plugin, AChangedEnvironmentIsNamed) {
  expect_failure(failure("rounds upward"), FailureKind::misbehaved, "encode left the rounding mode at upward");
#if defined(__SSE2__)
  expect_failure(failure("flushes to zero"), FailureKind::misbehaved, "encode left flush-to-zero on");
  expect_failure(failure("flushes inputs"), FailureKind::misbehaved, "encode left denormals-are-zero on");
  expect_failure(failure("rounds vectors downward"), FailureKind::misbehaved,
                 "encode left the rounding mode at downward");
  expect_failure(failure("unmasks division"), FailureKind::misbehaved,
                 "encode left divisions by zero unmasked, in MXCSR");
  expect_failure(failure("narrows x87"), FailureKind::misbehaved, "encode left x87's precision at fewer than 64 bits");
  expect_failure(failure("unmasks overflow of x87"), FailureKind::misbehaved,
                 "encode left overflows unmasked, in x87's control word");
  expect_failure(failure("raises inexact"), FailureKind::unsupported, "no failure");
#endif
}

TEST_F(Plugin, AChangedTensorStructIsNamed) {
  expect_failure(failure("takes an input"), FailureKind::misbehaved,
                 "encode changed the tensor struct of positions: its data");
  expect_failure(failure("reshapes the result"), FailureKind::misbehaved,
                 "encode changed the tensor struct of encoding: its shape");
  expect_failure(failure("points to other strides"), FailureKind::misbehaved,
                 "encode changed the tensor struct of positions: its strides");
  expect_failure(failure("renames the dtype"), FailureKind::misbehaved,
                 "encode changed the tensor struct of encoding: its dtype");
}

TEST_F(Plugin, OtherEndsAreCrashes) {
  const SubjectFailure null = failure("uses null");
  EXPECT_EQ(null.kind(), FailureKind::crashed);
  EXPECT_NE(std::string(null.what()).find("encode used an address that is in none of its tensors"), std::string::npos)
      << null.what();
  EXPECT_NE(std::string(null.what()).find("signal 11"), std::string::npos) << null.what();
  expect_failure(failure("exits"), FailureKind::crashed,
                 "encode: ended with exit status 7, at call 1 of its session, of positions [2] all 0");
  expect_failure(failure("returns 9"), FailureKind::error, "encode: returned 9");
}

TEST_F(Plugin, MemoryIsLimited) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the host of a sanitizer's build sets no limit";
#endif
  expect_failure(failure("asks for memory"), FailureKind::error, "encode: no memory");
}

TEST_F(Plugin, AnElementThatIsNotWrittenIsNaN) {
  setenv("SEXTANT_TEST_FAULT", "leaves an element", 1);
  EXPECT_TRUE(std::isnan(encode(*open("faulty"), spec_, std::vector<std::int64_t>{1}).at(1)));
}

TEST_F(Plugin, ATableThatCannotBeIsRefused) {
  EXPECT_EQ(refusal("version"), "the table is of version 99 of sextant_subject.h, expected 1 to 2");
  EXPECT_EQ(refusal("flags"), "the table's flags are 0x40, expected some of 0x3");
  EXPECT_EQ(refusal("alignment"), "the table's alignment is 48, expected 0 or a power of two of at most 4096");
  EXPECT_EQ(refusal("nothing"),
            "the table has none of encode, rotate, bias, bucket, attend, backward, table, qk_norm_rope");
  EXPECT_EQ(refusal("no table"), "sextant_subject returned no table");
}

TEST_F(Plugin, ATableOfVersion1EndsBeforeWhatCameLater) {
  setenv("SEXTANT_TEST_FAULT", "version 1", 1);
  const Description said = open("faulty")->describe();
  EXPECT_EQ(said.operations, std::vector<std::string>{"encode"});
  EXPECT_FALSE(said.fields);
}

TEST_F(Plugin, WhatIsNoLibraryIsRefused) {
  EXPECT_THROW(subject("no_such_library"), SubjectNameError);
  const std::filesystem::path text = std::filesystem::path(testing::TempDir()) / "text.so";
  std::ofstream(text) << "no library";
  try {
    open_subject(subject_kinds(), "plugin:" + text.string(), spec_, {})->open(spec_)->describe();
    FAIL();
  } catch (const SubjectUnusable& unusable) {
    EXPECT_NE(std::string(unusable.what()).find("text.so"), std::string::npos) << unusable.what();
  }
  std::filesystem::remove(text);
}

// The header is C99, and C++ of each standard, without a warning.
TEST(PluginHeader, CompilesAsCAndAsCxx) {
  const std::string source = SEXTANT_SOURCE_DIR "/subjects/c/sextant_subject.h";
  for (const char* compiler : {"cc -x c -std=c99", "c++ -x c++ -std=c++11", "c++ -x c++ -std=c++20"}) {
    const std::string command =
        std::string(compiler) + " -pedantic -Wall -Wextra -Werror -fsyntax-only " + source + " > /dev/null 2>&1";
    const int status = std::system(command.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
      continue;  // another compiler's machine: the plugins compile it
    EXPECT_EQ(status, 0) << command;
  }
}

}  // namespace
}  // namespace sextant::plugin_test
