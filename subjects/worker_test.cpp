// Over 400 lines, since every test here shares one fixture, which writes a worker and speaks the protocol with it.

#include "subjects/worker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "subjects/operations.hpp"
#include "subjects/python.hpp"
#include "subjects/unusable.hpp"

namespace sextant::worker_test {
namespace {

// Python subjects of all manners, each in a file of its own for the length of a test.
class Worker : public testing::Test {
 protected:
  void SetUp() override {
    setenv("SEXTANT_SHARE", SEXTANT_BINARY_DIR "/share/sextant", 1);
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("worker_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<Session> open(const std::string& python,
                                std::chrono::milliseconds timeout = std::chrono::seconds(30)) const {
    const std::filesystem::path file = directory_ / "subject.py";
    std::ofstream(file) << "import numpy as np\n" << python;
    return worker_subject("python:subject.py", python_command(file, std::nullopt), {timeout, {}})->open(spec_);
  }

  // The failure of one encode call of such a subject.
  SubjectFailure failure(const std::string& python,
                         std::chrono::milliseconds timeout = std::chrono::seconds(30)) const {
    const auto session = open(python, timeout);
    try {
      encode(*session, spec_, std::vector<std::int64_t>{0, 1});
    } catch (const SubjectFailure& caught) {
      return caught;
    }
    return {FailureKind::unsupported, "no failure"};
  }

  // Text that standard output and error of a shell command are expected to break.
  SubjectFailure shell_failure(const std::string& command,
                               std::chrono::milliseconds timeout = std::chrono::seconds(30)) const {
    const auto session = worker_subject("exec:", Command{{"/bin/sh", "-c", command}}, {timeout, {}})->open(spec_);
    try {
      encode(*session, spec_, std::vector<std::int64_t>{0, 1});
    } catch (const SubjectFailure& caught) {
      return caught;
    }
    return {FailureKind::unsupported, "no failure"};
  }

  std::filesystem::path directory_;
  Spec spec_ = parse_spec(R"({"encoding":"sinusoidal","dim":4})");
};

constexpr const char* good =
    "def encode(positions, spec):\n    return np.outer(positions, np.arange(spec['dim'])).astype(np.float32)\n";

void expect_failure(const SubjectFailure& failure, FailureKind kind, const std::string& text) {
  EXPECT_EQ(failure.kind(), kind) << failure.what();
  EXPECT_NE(std::string(failure.what()).find(text), std::string::npos) << failure.what();
}

TEST_F(Worker, AnswersCallAfterCall) {
  const auto session = open(good);
  EXPECT_EQ(session->describe().operations, std::vector<std::string>{"encode"});
  for (std::int64_t p = 0; p < 20; ++p) {
    const Tensor table = encode(*session, spec_, std::vector<std::int64_t>{p, -p, p + 1});
    EXPECT_EQ(table.at(3), static_cast<double>(3 * p));
    EXPECT_EQ(table.at(7), static_cast<double>(-3 * p));
  }
}

TEST_F(Worker, CarriesEveryDtypeBitForBit) {
  for (const char* dtype : {"float64", "float32", "float16", "bfloat16"}) {
    spec_ = parse_spec(std::string(R"({"encoding":"rope","head_dim":4,"dtype":")") + dtype + "\"}");
    Tensor x = Tensor::zeros(spec_.dtype, {1, 2, 1, 4});
    for (std::int64_t i = 0; i < 8; ++i)
      x.set(i, std::ldexp(1.0 + 0.001 * static_cast<double>(i), static_cast<int>(i) - 4));
    x.set(6, INFINITY);
    const auto session = open("def rotate(x, positions, spec):\n    return x\n");
    EXPECT_EQ(rotate(*session, spec_, x, std::vector<std::int64_t>{1, 2}).data, x.data) << dtype;
  }
}

TEST_F(Worker, TheServeFunctionIsThere) {
  const auto session = open(
      "import sextant_worker\ndef f(p, spec):\n    return np.zeros((len(p), 4), np.float32)\n"
      "sextant_worker.serve(encode=f, name='mine', version='2')\n");
  EXPECT_EQ(session->describe().name, "mine");
  EXPECT_EQ(session->describe().version, "2");
  EXPECT_EQ(encode(*session, spec_, std::vector<std::int64_t>{5}).at(0), 0);
}

TEST_F(Worker, PrintsGoToStandardErrorAlsoFromC) {
  const auto session = open(std::string("import os\nprint('at import')\nos.system('echo from a child')\n") + good +
                            "_encode = encode\ndef encode(p, spec):\n    print('hello')\n    os.write(1, b'raw')\n    "
                            "return _encode(p, spec)\n");
  EXPECT_EQ(encode(*session, spec_, std::vector<std::int64_t>{2}).at(1), 2);
}

TEST_F(Worker, QueriesAndKeysComeTogether) {
  spec_ = parse_spec(R"({"encoding":"qk_norm_rope","head_dim":2})");
  Tensor q = Tensor::zeros(Dtype::float32, {1, 1, 2, 2});
  Tensor k = Tensor::zeros(Dtype::float32, {1, 1, 1, 2});
  Tensor q_weight = Tensor::zeros(Dtype::float32, {2});
  Tensor k_weight = q_weight;
  q.set(2, 3);
  k.set(1, 5);
  q_weight.set(0, 7);
  k_weight.set(1, 11);
  const std::vector<std::int64_t> positions{4};
  const auto ask = [&](const std::string& python) {
    return qk_norm_rope(*open(python), spec_,
                        {.q = q, .k = k, .q_weight = q_weight, .k_weight = k_weight, .positions = positions});
  };
  const std::string head = "def qk_norm_rope(q, k, positions, q_weight, k_weight, spec):\n    ";
  for (const char* result : {"return q * q_weight, k * k_weight", "return {'k': k * k_weight, 'q': q * q_weight}"}) {
    const QueriesAndKeys reply = ask(head + result + "\n");
    EXPECT_EQ(reply.q.at(2), 21);
    EXPECT_EQ(reply.k.at(1), 55);
  }
  const QueriesAndKeys in_place = ask("in_place = True\n" + head + "q[:] = q * q_weight; k[:] = k * k_weight\n");
  EXPECT_EQ(in_place.q.at(2), 21);
  EXPECT_EQ(in_place.k.at(1), 55);
  for (const char* result : {"return q", "return q, k[:, :, :, :1]", "return None"})
    EXPECT_THROW(ask(head + result + "\n"), SubjectFailure) << result;
}

TEST_F(Worker, ATableComesInTheOrderThatTheFileNames) {
  spec_ = parse_spec(R"({"encoding":"rotary_table","head_dim":4})");
  const std::vector<std::int64_t> positions{0, 5};
  const std::string angles =
      "def angles(p):\n    return np.outer(p, [1.0, 0.01])\ndef table(p, spec):\n    a = angles(p)\n";
  const auto expect_table = [&](const std::string& order, const std::string& result, std::int64_t copies) {
    const auto session = open(order + angles + "    return " + result + "\n");
    EXPECT_EQ(session->describe().operations, std::vector<std::string>{"table"});
    const Tensor rows = table(*session, spec_, positions);
    ASSERT_EQ(rows.shape, (std::vector<std::int64_t>{2, 4 * copies})) << order;
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      const std::int64_t last = 4 * copies + 4 * copy;
      EXPECT_EQ(rows.at(4 * copy), 1) << order;
      EXPECT_EQ(rows.at(last), std::cos(5.0F)) << order;
      EXPECT_EQ(rows.at(last + 1), std::cos(0.05F)) << order;
      EXPECT_EQ(rows.at(last + 3), std::sin(0.05F)) << order;
    }
    EXPECT_EQ(table(*session, spec_, {}).shape, (std::vector<std::int64_t>{0, 4 * copies})) << order;
  };
  const std::string cast = ".astype(np.float32)";
  expect_table("", "np.cos(a)" + cast + ", np.sin(a)" + cast, 1);
  expect_table("table_order = 'cos_sin'\n", "np.concatenate([np.cos(a), np.sin(a)], -1)" + cast, 1);
  expect_table("table_order = 'interleaved'\n", "np.exp(1j * a).astype(np.complex64)", 1);
  expect_table("table_order = 'interleaved'\n", "np.stack([np.cos(a), np.sin(a)], -1)" + cast, 1);
  expect_table("table_order = 'repeated'\n", "tuple(np.repeat(f(a), 2, -1)" + cast + " for f in (np.cos, np.sin))", 2);
  const auto refusal = [&](const std::string& python) {
    try {
      table(*open(python), spec_, positions);
    } catch (const SubjectFailure& failure) {
      return std::string(failure.what());
    }
    return std::string("no failure");
  };
  EXPECT_NE(refusal(angles + "    return a\n").find("table returned one array: expected cos and sin, or table_order"),
            std::string::npos);
  EXPECT_NE(refusal("table_order = 'sideways'\n" + angles + "    return a\n").find("expected one of separate, cos_sin"),
            std::string::npos);
}
TEST_F(Worker, ASegmentationFaultIsACrash) {
  expect_failure(failure("import os, signal\ndef encode(p, spec):\n    os.kill(os.getpid(), signal.SIGSEGV)\n"),
                 FailureKind::crashed, "signal 11");
}

TEST_F(Worker, AnExitIsACrash) {
  expect_failure(failure("import os\ndef encode(p, spec):\n    os._exit(7)\n"), FailureKind::crashed, "exit status 7");
}

TEST_F(Worker, AnImportErrorTellsItsReason) {
  expect_failure(failure("import no_such_module\n"), FailureKind::crashed, "No module named 'no_such_module'");
}

TEST_F(Worker, AFileWithoutOperationsSaysSo) {
  expect_failure(failure("x = 1\n"), FailureKind::crashed, "defines none of encode");
}

TEST_F(Worker, AnExceptionIsAnErrorAndTheNextCallWorks) {
  const auto session = open(
      "calls = []\ndef encode(p, spec):\n    calls.append(1)\n    if len(calls) == 1:\n        raise ValueError('not "
      "today')\n"
      "    return np.zeros((len(p), 4), np.float32)\n");
  try {
    encode(*session, spec_, std::vector<std::int64_t>{0});
    FAIL();
  } catch (const SubjectFailure& caught) {
    expect_failure(caught, FailureKind::error, "ValueError: not today");
  }
  EXPECT_EQ(encode(*session, spec_, std::vector<std::int64_t>{0}).elements(), 4);
}

TEST_F(Worker, NoneAndAbsentOperationsAreUnsupported) {
  expect_failure(failure("def encode(p, spec):\n    return None\n"), FailureKind::unsupported, "encode returned None");
  expect_failure(failure("def rotate(x, p, spec):\n    return x\n"), FailureKind::unsupported, "defines no encode");
}

TEST_F(Worker, AFileThatWasJustEditedRunsAsItIsNow) {
  // Of one length and within one second, which Python's bytecode cache takes for the same file.
  unsetenv("PYTHONDONTWRITEBYTECODE");
  for (const char* value : {"1", "2", "3"}) {
    const auto session =
        open(std::string("def encode(p, spec):\n    return np.full((len(p), 4), ") + value + ", np.float32)\n");
    EXPECT_EQ(encode(*session, spec_, std::vector<std::int64_t>{0}).at(0), std::stod(value));
  }
}

TEST_F(Worker, WrongShapesAndDtypesBreakTheProtocol) {
  expect_failure(failure("def encode(p, spec):\n    return np.zeros((len(p), 3), np.float32)\n"), FailureKind::protocol,
                 "shape [2, 3], expected [2, 4]");
  expect_failure(failure("def encode(p, spec):\n    return np.zeros((len(p), 4))\n"), FailureKind::protocol,
                 "came back as float64, the spec says float32");
  expect_failure(failure("def encode(p, spec):\n    return np.zeros((len(p), 4), complex)\n"), FailureKind::error,
                 "complex128");
  expect_failure(failure("def encode(p, spec):\n    return np.zeros((2000000, 4), np.float32)\n"),
                 FailureKind::protocol, "oversized");
}

TEST_F(Worker, AHangEndsAtTheTimeOut) {
  const auto start = std::chrono::steady_clock::now();
  const auto session = open("import time\ndef encode(p, spec):\n    time.sleep(100)\n", std::chrono::seconds(2));
  session->describe();
  EXPECT_THROW(encode(*session, spec_, std::vector<std::int64_t>{0}), SubjectFailure);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// A bias grows with heads, queries and keys at once, a table with its width: neither may meet the limit on replies.
TEST_F(Worker, LargeBiasesAndTablesFitTheirReply) {
  std::vector<std::int64_t> positions(500);
  const Tensor row = Tensor::of_integers({500}, positions);
  spec_ = parse_spec(R"({"encoding":"alibi","num_heads":8,"dtype":"float64"})");
  const auto alibi = open("def bias(q, k, spec):\n    return np.zeros((spec['num_heads'], len(q), len(k)))\n");
  EXPECT_EQ(alibi->call("bias", {{"query_positions", row}, {"key_positions", row}}).at("bias").elements(), 2'000'000);
  spec_ = parse_spec(R"({"encoding":"relative_bias","dtype":"float64"})");
  const auto relative = open("def bias(q, k, weight, spec):\n    return np.zeros((weight.shape[1], len(q), len(k)))\n");
  const Tensor weight = Tensor::zeros(Dtype::float64, {32, 8});
  EXPECT_EQ(relative->call("bias", {{"query_positions", row}, {"key_positions", row}, {"weight", weight}})
                .at("bias")
                .elements(),
            2'000'000);
  spec_ = parse_spec(R"({"encoding":"learned","dim":4096,"max_positions":500,"dtype":"float64"})");
  const auto learned = open("def encode(p, spec):\n    return np.zeros((len(p), spec['dim']))\n");
  EXPECT_EQ(learned->call("encode", {{"positions", row}}).at("encoding").elements(), 2'048'000);
}

TEST_F(Worker, ADestroyedSessionLeavesNoChildAndNoGrandchild) {
  const std::filesystem::path pids = directory_ / "pids";
  {
    const auto session = open("import subprocess, os\nchild = subprocess.Popen(['sleep', '1000'])\nopen('" +
                              pids.string() + "', 'w').write(f'{os.getpid()} {child.pid}')\n" + good);
    encode(*session, spec_, std::vector<std::int64_t>{0});
  }
  std::ifstream stream(pids);
  pid_t worker = 0;
  pid_t child = 0;
  ASSERT_TRUE(stream >> worker >> child);
  const auto gone = [](pid_t pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    return !(status >> number >> name >> state) || state == "Z";
  };
  for (int i = 0; i < 100 && !(gone(worker) && gone(child)); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(gone(worker));
  EXPECT_TRUE(gone(child));
}

TEST_F(Worker, AnswersEveryOtherOperation) {
  spec_ = parse_spec(R"({"encoding":"relative_bias","num_buckets":4,"max_distance":3})");
  const auto session = open(
      "def bucket(relative, spec):\n    return np.abs(relative) % spec['num_buckets']\n"
      "def bias(q, k, weight, spec):\n    return np.repeat(weight.T[:, :1, None], len(q), 1).repeat(len(k), 2)\n"
      "def backward(of, inputs, grad, spec):\n"
      "    assert of == 'bias' and set(inputs) == {'query_positions', 'key_positions', 'weight'}\n"
      "    return inputs['weight'] * grad.sum()\n");
  const std::vector<std::int64_t> two{0, 5};
  EXPECT_EQ(bucket(*session, spec_, two), (std::vector<std::int64_t>{0, 1}));
  Tensor weight = Tensor::zeros(Dtype::float32, {4, 3});
  weight.set(1, 7);
  EXPECT_EQ(bias(*session, spec_, two, two, weight).at(4), 7);
  const Tensors inputs{{"query_positions", Tensor::of_integers({2}, two)},
                       {"key_positions", Tensor::of_integers({2}, two)},
                       {"weight", weight}};
  Tensor grad = Tensor::zeros(Dtype::float32, {3, 2, 2});
  grad.set(5, 2);
  EXPECT_EQ(backward(*session, spec_, "bias", inputs, grad).at(1), 14);
  EXPECT_NO_THROW(reset(*session));

  spec_ = parse_spec(R"({"encoding":"attention","num_heads":2,"head_dim":4})");
  const auto attention = open(
      "def attend(q, k, v, positions, spec):\n    return v * np.float32(positions.sum())\n"
      "def backward(of, inputs, grad, spec):\n"
      "    q, k, v = grad, 2 * grad, 3 * grad\n"
      "    return (q, k, v) if inputs['positions'][0, 0] == 0 else {'grad_v': v, 'grad_k': k, 'grad_q': q}\n");
  Tensor q = Tensor::zeros(Dtype::float32, {1, 2, 2, 4});
  q.set(3, 1);
  EXPECT_EQ(attend(*attention, spec_, {q, q, q, two}).at(3), 5);
  for (const std::vector<std::int64_t>& positions : {two, std::vector<std::int64_t>{3, 4}}) {
    const AttendGradients gradients = backward(*attention, spec_, {q, q, q, positions}, q);
    EXPECT_EQ(gradients.q.at(3), 1);
    EXPECT_EQ(gradients.k.at(3), 2);
    EXPECT_EQ(gradients.v.at(3), 3);
  }
}

TEST_F(Worker, AttentionTakesByNameWhatOnlySomeCallsHave) {
  spec_ = parse_spec(R"({"encoding":"attention","num_heads":2,"head_dim":4,"sinks":true})");
  const Tensor q = Tensor::zeros(Dtype::float32, {2, 2, 1, 4});
  const Tensor k = Tensor::zeros(Dtype::float32, {2, 2, 3, 4});
  const Tensor sinks = Tensor::zeros(Dtype::float32, {2});
  const std::vector<std::int64_t> positions{0, 1, 2, 3, 4, 5};
  const std::vector<std::int64_t> of_queries{2, 5};
  const std::vector<std::int64_t> starts{0, 1};
  const AttendRequest step{
      .q = q, .k = k, .v = k, .positions = positions, .sinks = &sinks, .query_positions = of_queries, .starts = starts};
  const auto all = open(
      "def attend(q, k, v, positions, spec, query_positions=None, starts=None, ends=None, sinks=None):\n"
      "    assert ends is None and sinks.shape == (2,) and positions.shape == (2, 3)\n"
      "    return q + np.float32(10 * query_positions[1, 0] + starts[1])\n");
  EXPECT_EQ(attend(*all, spec_, step).at(0), 51);
  const auto any = open("def attend(q, k, v, positions, spec, **others):\n    return q + np.float32(len(others))\n");
  EXPECT_EQ(attend(*any, spec_, step).at(0), 3);
  const auto none = open("def attend(q, k, v, positions, spec, sinks):\n    return q\n");
  try {
    attend(*none, spec_, step);
    FAIL();
  } catch (const SubjectFailure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::unsupported);
    EXPECT_STREQ(failure.what(), "attend takes no query_positions");
  }
}

TEST_F(Worker, ARotationInPlaceIsWhatItLeavesInItsInput) {
  spec_ = parse_spec(R"({"encoding":"rope","head_dim":4})");
  const Tensors inputs{{"x", Tensor::zeros(spec_.dtype, {1, 2, 1, 4})},
                       {"positions", Tensor::of_integers({1, 2}, std::vector<std::int64_t>{4, 5})}};
  const std::string file = "def rotate(x, positions, spec):\n    x[:] = 3\n";
  const auto session = open("in_place = True\n" + file);
  EXPECT_TRUE(session->describe().in_place);
  EXPECT_EQ(session->call("rotate", inputs).at("y").at(7), 3);
  const auto other = open(file);
  EXPECT_FALSE(other->describe().in_place);
  EXPECT_THROW(other->call("rotate", inputs), SubjectFailure);
}

// Each call waits for the other: one after the other, neither would return.
constexpr const char* waiting =
    "import threading\n"
    "meeting = threading.Barrier(2)\n"
    "def encode(positions, spec):\n"
    "    meeting.wait(20)\n"
    "    return np.full((len(positions), spec['dim']), positions[0], np.float32)\n";

TEST_F(Worker, CallsAtOnceRunInThreadsOfOneProcess) {
  const auto session = open(std::string(waiting) + "threads = True\n");
  EXPECT_TRUE(session->describe().threads);
  EXPECT_FALSE(open(waiting)->describe().threads);
  EXPECT_THROW(open(std::string(waiting) + "threads = 4\n")->describe(), SubjectUnusable);
  Spec wider = spec_;
  wider.encoding = Sinusoidal{.dim = 8};
  const std::vector<ThreadCall> calls{
      {spec_, "encode", named("positions", Tensor::of_integers({2}, std::vector<std::int64_t>{5, 6})), 0},
      {wider, "encode", named("positions", Tensor::of_integers({1}, std::vector<std::int64_t>{7})), 1}};
  for (int again = 0; again < 2; ++again) {
    const std::vector<ThreadReply> replies = session->call_at_once(calls);
    ASSERT_EQ(replies.size(), 2U);
    EXPECT_FALSE(replies[0].failure || replies[1].failure);
    EXPECT_EQ(replies[0].tensors.at("encoding").shape, (std::vector<std::int64_t>{2, 4}));
    EXPECT_EQ(replies[0].tensors.at("encoding").at(0), 5);
    EXPECT_EQ(replies[1].tensors.at("encoding").shape, (std::vector<std::int64_t>{1, 8}));
    EXPECT_EQ(replies[1].tensors.at("encoding").at(7), 7);
  }
}

TEST_F(Worker, ACallAtOnceThatFailsLeavesTheOthers) {
  const auto session = open(
      "threads = True\n"
      "def encode(positions, spec):\n"
      "    if positions[0] == 7:\n"
      "        raise ValueError('no seven')\n"
      "    return np.zeros((len(positions), spec['dim']), np.int32 if positions[0] == 8 else np.float32)\n");
  std::vector<ThreadCall> calls;
  for (const std::int64_t position : {6, 7, 8})
    calls.push_back(
        {spec_, "encode", named("positions", Tensor::of_integers({1}, std::vector{position})), position % 2});
  const std::vector<ThreadReply> replies = session->call_at_once(calls);
  ASSERT_EQ(replies.size(), 3U);
  EXPECT_FALSE(replies[0].failure);
  ASSERT_TRUE(replies[1].failure && replies[2].failure);
  expect_failure(*replies[1].failure, FailureKind::error, "ValueError: no seven");
  expect_failure(*replies[2].failure, FailureKind::error, "TypeError: returned an array of int32");
  EXPECT_EQ(session->call("encode", calls[0].inputs).at("encoding").elements(), 4);
}

TEST_F(Worker, AnInputThatIsLeftModifiedComesBack) {
  spec_ = parse_spec(R"({"encoding":"rope","head_dim":4,"dtype":"bfloat16"})");
  Tensor x = Tensor::zeros(spec_.dtype, {1, 2, 1, 4});
  x.set(5, 3);
  const Tensors inputs{{"x", x}, {"positions", Tensor::of_integers({1, 2}, std::vector<std::int64_t>{4, 5})}};
  const Tensors kept = open("def rotate(x, positions, spec):\n    return x.copy()\n")->call("rotate", inputs);
  EXPECT_EQ(kept.size(), 1U);
  const Tensors left =
      open("def rotate(x, positions, spec):\n    positions += 1\n    x[:] = 0\n    return x\n")->call("rotate", inputs);
  EXPECT_EQ(left.size(), 3U);
  EXPECT_EQ(left.at("modified/x").at(5), 0);
  EXPECT_EQ(left.at("modified/positions").integers(), (std::vector<std::int64_t>{5, 6}));
}

TEST_F(Worker, AStopRequestInterruptsACall) {
  const std::filesystem::path file = directory_ / "subject.py";
  std::ofstream(file) << "import time\ndef encode(p, spec):\n    time.sleep(100)\n";
  std::stop_source source;
  const auto session =
      worker_subject("s", python_command(file, std::nullopt), {std::chrono::seconds(60), source.get_token()})
          ->open(spec_);
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    source.request_stop();
  });
  EXPECT_THROW(encode(*session, spec_, std::vector<std::int64_t>{0}), Interrupted);
}

TEST_F(Worker, ForeignProgramsThatBreakTheProtocolAreNamed) {
  expect_failure(shell_failure("echo loading the model; cat"), FailureKind::protocol, "loading");
  expect_failure(shell_failure("exit 3"), FailureKind::crashed, "exit status 3");
  expect_failure(shell_failure("echo out of memory >&2; exit 1"), FailureKind::crashed, "it wrote: out of memory");
  expect_failure(shell_failure("exec 1>&-; sleep 1000"), FailureKind::crashed, "closed its standard output");
  // It waits for the request: before that, what it writes is refused with other words.
  expect_failure(shell_failure("head -c 8 >/dev/null; head -c 20000000 /dev/zero"), FailureKind::protocol,
                 "header length 0");
  expect_failure(shell_failure("sleep 1000 & exit 5"), FailureKind::crashed, "exit status 5");
  expect_failure(shell_failure("yes >&2 & cat >/dev/null; wait", std::chrono::seconds(2)), FailureKind::timed_out,
                 "gave no answer within 2 s");
  // An echo of the request is a well-formed blob with the right id, and no status.
  expect_failure(shell_failure("cat"), FailureKind::protocol, "status \"\"");
}

TEST_F(Worker, AProgramThatIsNotThereCannotBeOpened) {
  EXPECT_THROW(worker_subject("x", Command{{"/no/such/program"}}, {})->open(spec_), SubjectNameError);
  EXPECT_THROW(python_command(directory_ / "absent.py", std::nullopt), SubjectNameError);
}

// Sessions as forks of a worker that has imported the file. Each answer is (calls so far, own process id, that of the
// import).
class ForkedWorker : public Worker {
 protected:
  void SetUp() override {
    Worker::SetUp();
    adopt_descendants();
  }

  std::unique_ptr<Subject> subject(const std::string& python,
                                   std::chrono::milliseconds timeout = std::chrono::seconds(30)) const {
    const std::filesystem::path file = directory_ / "subject.py";
    std::ofstream(file) << "import numpy as np\nimport os\nimported = os.getpid()\ncalls = []\n" << python << telling;
    return worker_subject("python:subject.py", python_command(file, std::nullopt), {timeout, {}}, SessionStart::fork);
  }

  struct Answer {
    double calls;
    double process;
    double import;
  };
  Answer ask(Session& session, std::int64_t position = 0) const {
    const Tensor table = encode(session, spec_, std::vector<std::int64_t>{position});
    return {table.at(0), table.at(1), table.at(2)};
  }

  static constexpr const char* telling =
      "def encode(p, spec):\n    calls.append(1)\n    if p[0] == 1:\n        os.kill(os.getpid(), 11)\n    if p[0] == "
      "2:\n        import time; time.sleep(100)\n"
      "    if p[0] == 3:\n        print('mine', flush=True); os._exit(4)\n"
      "    return np.array([[len(calls), os.getpid(), imported, 0]], np.float32).repeat(len(p), 0)\n";
};

TEST_F(ForkedWorker, SessionsShareAnImportAndNothingElse) {
  const auto forked = subject("");
  const auto first = forked->open(spec_);
  const auto second = forked->open(spec_);
  const auto third = forked->open(spec_);
  EXPECT_EQ(ask(*first).import, ask(*second).import) << "one interpreter serves all";
  EXPECT_EQ(ask(*second).calls, 2);
  EXPECT_EQ(ask(*second).calls, 3);
  const Answer fresh = ask(*third);
  EXPECT_EQ(fresh.calls, 1);
  EXPECT_EQ(fresh.import, ask(*second).import);
  EXPECT_NE(fresh.process, ask(*second).process);
  EXPECT_NE(fresh.process, fresh.import);
  const Answer anew = ask(*forked->open_anew(spec_));
  EXPECT_EQ(anew.process, anew.import);
}

TEST_F(ForkedWorker, SessionsOpenedTogetherAreOneProcess) {
  const auto forked = subject("");
  const std::vector<Spec> specs{spec_, parse_spec(R"({"encoding":"sinusoidal","dim":4,"base":77})")};
  const auto together = forked->open_together(specs);
  ASSERT_EQ(together.size(), 2U);
  const Answer first = ask(*together[0]);
  const Answer second = ask(*together[1]);
  EXPECT_EQ(first.calls, 1);
  EXPECT_EQ(second.calls, 2) << "what the one leaves the other finds";
  EXPECT_EQ(first.process, second.process);
  EXPECT_EQ(ask(*together[0]).calls, 3);
  EXPECT_EQ(ask(*forked->open_together(specs)[1]).calls, 1) << "each time in a fresh process";
}

TEST_F(ForkedWorker, ACrashOrAHangIsNamedAndEndsItsOwnSessionOnly) {
  const auto forked = subject("", std::chrono::seconds(2));
  forked->open(spec_);
  const auto bystander = forked->open(spec_);
  const auto failure_at = [&](std::int64_t position) -> SubjectFailure {
    const auto session = forked->open(spec_);
    EXPECT_NE(ask(*session).process, ask(*session).import);
    try {
      ask(*session, position);
    } catch (const SubjectFailure& caught) {
      return caught;
    }
    return {FailureKind::unsupported, "no failure"};
  };
  expect_failure(failure_at(1), FailureKind::crashed,
                 "signal 11 (Segmentation fault), at call 3 of its session, of positions [1] all 1");
  expect_failure(failure_at(2), FailureKind::timed_out, "within 2 s");
  expect_failure(failure_at(3), FailureKind::crashed, "; it wrote: mine");
  EXPECT_EQ(ask(*bystander).calls, 1);
}

TEST_F(ForkedWorker, WhatAForkWouldShareKeepsSessionsApart) {
  std::filesystem::create_directory(directory_ / "jax");
  std::ofstream(directory_ / "jax" / "__init__.py") << "";
  for (const char* import :
       {"import threading, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n",
        "log = open(__file__)\n", "import subprocess\nsubprocess.Popen(['sleep', '100'])\n",
        "import mmap\nshared = mmap.mmap(-1, 100)\n", "import jax\n"}) {
    const auto apart = subject(import);
    for (int i = 0; i < 2; ++i) {
      const Answer answer = ask(*apart->open(spec_));
      EXPECT_EQ(answer.process, answer.import) << import;
    }
  }
}

// A stand-in that, as torch without a device, starts nothing when it is imported.
TEST_F(ForkedWorker, TorchIsForkedWhileItHoldsNothing) {
  std::filesystem::create_directory(directory_ / "torch");
  std::ofstream(directory_ / "torch" / "__init__.py") << "";
  const auto forked = subject("import torch\n");
  forked->open(spec_);
  const Answer answer = ask(*forked->open(spec_));
  EXPECT_NE(answer.process, answer.import);
}

TEST_F(ForkedWorker, AFileThatServesItselfIsForkedWhereItServes) {
  const std::filesystem::path file = directory_ / "subject.py";
  std::ofstream(file) << "import numpy as np\nimport os\nimport sextant_worker\nimported = os.getpid()\n"
                         "def f(p, spec):\n    return np.full((len(p), 4), os.getpid() - imported, "
                         "np.float32)\nsextant_worker.serve(encode=f)\n";
  const auto forked = worker_subject("s", python_command(file, std::nullopt), {}, SessionStart::fork);
  EXPECT_EQ(encode(*forked->open_anew(spec_), spec_, std::vector<std::int64_t>{0}).at(0), 0);
  EXPECT_NE(encode(*forked->open(spec_), spec_, std::vector<std::int64_t>{0}).at(0), 0);
}

TEST_F(ForkedWorker, AnImportThatFailsTheSecondTimeIsTold) {
  const auto failing =
      subject("if os.path.exists('" + (directory_ / "seen").string() +
              "'):\n    raise ValueError('only once')\nopen('" + (directory_ / "seen").string() + "', 'w').close()\n");
  EXPECT_EQ(ask(*failing->open(spec_)).calls, 1);
  const auto session = failing->open_anew(spec_);  // other sessions import nothing
  try {
    ask(*session);
    FAIL();
  } catch (const SubjectFailure& caught) {
    expect_failure(caught, FailureKind::crashed, "only once");
  }
}

TEST_F(ForkedWorker, AServerThatIsKilledIsReplacedAndNoted) {
  const std::filesystem::path file = directory_ / "subject.py";
  std::ofstream(file) << "import numpy as np\nimport os\nimported = os.getpid()\ncalls = []\n" << telling;
  std::vector<std::string> notes;
  WorkerLimits limits;
  limits.note = [&](const std::string& note) { notes.push_back(note); };
  const auto forked =
      worker_subject("python:subject.py", python_command(file, std::nullopt), limits, SessionStart::fork);
  const Answer before = ask(*forked->open(spec_));
  ASSERT_NE(before.process, before.import);
  EXPECT_TRUE(notes.empty());
  ASSERT_EQ(kill(static_cast<pid_t>(before.import), SIGKILL), 0);
  for (int i = 0; i < 2; ++i) {
    const Answer after = ask(*forked->open(spec_));
    EXPECT_EQ(after.process, after.import);
  }
  EXPECT_EQ(notes, std::vector<std::string>{"the process that sessions are forked from ended or fell silent: sessions "
                                            "since then start an interpreter anew"});
}

// Registered with atexit or not, a session's end leaves no process behind, nor does the server's.
TEST_F(ForkedWorker, NothingIsLeftOfASessionOrItsServer) {
  const std::filesystem::path ended = directory_ / "ended";
  std::vector<pid_t> processes;
  {
    const auto forked =
        subject("import atexit\natexit.register(lambda: open('" + ended.string() + "', 'a').write('x'))\n");
    for (int i = 0; i < 2; ++i) {
      const Answer answer = ask(*forked->open(spec_));
      processes.push_back(static_cast<pid_t>(answer.process));
      processes.push_back(static_cast<pid_t>(answer.import));
    }
    EXPECT_EQ(std::filesystem::file_size(ended), 2U);
  }
  for (const pid_t process : processes) EXPECT_EQ(kill(process, 0), -1) << process;
}

}  // namespace
}  // namespace sextant::worker_test
