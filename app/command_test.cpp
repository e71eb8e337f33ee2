// Over 400 lines, since every test here shares one fixture, which runs the command in a directory of its own and waits
// for it.

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <pugixml.hpp>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <thread>

#include "lib/spec/spec.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "subjects/array_file.hpp"
#include "subjects/safetensors.hpp"

// The command as a user meets it: arguments in, exit status, standard output and standard error out.

namespace sextant::command_test {
namespace {

struct Finished {
  int status;
  std::string output;
  std::string error;
};

std::string read_all(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Command : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("command_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // Runs `sextant ARGUMENTS` through a shell, in the test's directory, with a file of it as standard input.
  Finished sextant(const std::string& arguments, const std::string& input = "/dev/null") const {
    const std::string line = "cd '" + directory_.string() + "' && " + environment_ + " '" + SEXTANT_COMMAND + "' " +
                             arguments + " >out 2>err <" + input;
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), read_all(directory_ / "out"),
            read_all(directory_ / "err")};
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream(directory_ / name) << text; }

  std::filesystem::path directory_;
  std::string environment_ = "SEXTANT_PROGRESS=never";  // what is slow is told on standard error else
};

void expect_one_line(const Finished& finished, const std::string& text) {
  EXPECT_EQ(finished.status, 2) << finished.error;
  EXPECT_NE(finished.error.find(text), std::string::npos) << finished.error;
  EXPECT_EQ(std::count(finished.error.begin(), finished.error.end(), '\n'), 1) << finished.error;
  EXPECT_EQ(finished.output, "");
}

constexpr const char* spec = R"( --spec '{"encoding":"sinusoidal","dim":16}' --profile quick )";
constexpr const char* header = "import numpy as np, os, signal, sys, time, subprocess\n";
constexpr const char* correct = R"(
def encode(p, spec):
    d = spec['dim']
    angle = np.asarray(p, np.float64)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    table = np.zeros((len(p), d), np.float32)
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table
)";

TEST_F(Command, AGoodSubjectExitsZeroAndLeavesItsReports) {
  const Finished finished = sextant(std::string("audit builtin") + spec + "--report reports");
  EXPECT_EQ(finished.status, 0) << finished.error;
  EXPECT_EQ(finished.error, "");
  EXPECT_NE(finished.output.find("applicable properties hold"), std::string::npos);
  const auto json = nlohmann::json::parse(read_all(directory_ / "reports" / "report.json"));
  EXPECT_GE(json["properties"].size(), 23);
  EXPECT_EQ(json["exit_status"], 0);
  EXPECT_EQ(json["spec"]["dim"], 16);
  pugi::xml_document junit;
  ASSERT_TRUE(junit.load_file((directory_ / "reports" / "junit.xml").c_str()));
  EXPECT_EQ(junit.child("testsuites").child("testsuite").attribute("tests").as_ullong(), json["properties"].size());
  EXPECT_EQ(junit.child("testsuites").child("testsuite").attribute("skipped").as_int(),
            std::ranges::count_if(json["properties"],
                                  [](const auto& property) { return property["verdict"] == "not_applicable"; }));
  EXPECT_NE(read_all(directory_ / "reports" / "report.md").find("| `accuracy` | holds |"), std::string::npos);
}

TEST_F(Command, IdentifyWritesASpecThatAuditAccepts) {
  write("rotary.py", R"(import numpy as np
def rotate(x, positions, spec):
    d = x.shape[-1]
    angle = positions[:, :, None, None] * 500000.0 ** (-np.arange(0, d, 2) / d)
    a, b = x[..., 0::2], x[..., 1::2]
    y = np.empty_like(x)
    y[..., 0::2] = a * np.cos(angle) - b * np.sin(angle)
    y[..., 1::2] = a * np.sin(angle) + b * np.cos(angle)
    return y
)");
  const Finished found = sextant("identify python:rotary.py --dim 64 --out found.json --json");
  ASSERT_EQ(found.status, 0) << found.error;
  const auto json = nlohmann::json::parse(found.output);
  EXPECT_EQ(json["confidence"], "high");
  EXPECT_EQ(json["spec"]["rope_theta"], 500000);
  EXPECT_EQ(json["spec"]["pairing"], "interleaved");
  EXPECT_EQ(nlohmann::json::parse(read_all(directory_ / "found.json")), json["spec"]);
  EXPECT_EQ(sextant("audit python:rotary.py --spec found.json --profile quick --only accuracy").status, 0);
  const Finished text = sextant("identify python:rotary.py --op rotate --dim 64");
  EXPECT_NE(text.output.find("rope head_dim 64, rope_theta 500000, pairing interleaved"), std::string::npos);
  // A claim that it does not meet is told apart from what it computes.
  const Finished wrong = sextant(
      R"(audit python:rotary.py --spec '{"encoding":"rope","head_dim":64}' --profile quick --only accuracy --report r)");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.output.find("claims pairing half, computes interleaved; base 500000 measured, 10000 claimed"),
            std::string::npos)
      << wrong.output;
  const auto report = nlohmann::json::parse(read_all(directory_ / "r" / "report.json"));
  EXPECT_EQ(report["diagnosis"]["verified"], true);
  EXPECT_EQ(report["diagnosis"]["spec"]["rope_theta"], 500000);
}

TEST_F(Command, IdentifyTellsWhatItCannotName) {
  write("scrambled.py", R"(import numpy as np
def rotate(x, positions, spec):
    return np.flip(x, axis=-1) + np.roll(x, 3, axis=-1) * 0.5 + x
)");
  const Finished found = sextant("identify python:scrambled.py --dim 16 --out found.json");
  EXPECT_EQ(found.status, 4) << found.error;
  EXPECT_NE(found.output.find("unidentified"), std::string::npos) << found.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "found.json"));
  write("none.py", "def rotate(x, positions, spec):\n    return None\n");
  EXPECT_EQ(sextant("identify python:none.py --op rotate").status, 4);
  write("dying.py", "import os\ndef rotate(x, positions, spec):\n    os._exit(7)\n");
  EXPECT_EQ(sextant("identify python:dying.py --op rotate").status, 3);
  expect_one_line(sextant("identify builtin --spec llama-2-7b --dim 64"), "--spec: says the operation");
  expect_one_line(sextant("identify builtin --dim 63"), "--dim 63: expected an even number");
  const auto told_of = [&](const char* name, const char* text, const char* line) {
    write(name, text);
    return sextant(std::string("identify python:") + name + line).error;
  };
  EXPECT_NE(told_of("several.py", "def rotate(x, positions, spec):\n    return x, x\n", " --op rotate")
                .find("returned a tuple of 2, expected one array; likely fix: return the y alone"),
            std::string::npos);
  EXPECT_NE(told_of("weighted.py", "def bias(query_positions, key_positions, weight, spec):\n    pass\n", " --op bias")
                .find("if it takes a weight, name a claim that has one, t5-small say"),
            std::string::npos);
  EXPECT_NE(told_of("forgets.py", "def rotate(x, positions, spec):\n    x * 2\n", "")
                .find("rotate returned None: return the result, if it serves this claim"),
            std::string::npos);
  expect_one_line(sextant("identify python:absent.py"), "absent.py");
}

TEST_F(Command, ABrokenSubjectExitsOneWithATokenThatReplaysAlone) {
  write("broken.py", std::string(header) + correct + R"(
_encode = encode
def encode(p, spec):
    return _encode(np.where(p > 300, p + 1, p), spec)
)");
  const Finished finished = sextant(std::string("audit python:broken.py") + spec);
  EXPECT_EQ(finished.status, 1) << finished.error;
  EXPECT_NE(finished.output.find("--replay accuracy:position=301,rows=1"), std::string::npos) << finished.output;
  const Finished replayed =
      sextant(std::string("audit python:broken.py") + spec + "--replay accuracy:position=301,rows=1");
  EXPECT_EQ(replayed.status, 1);
  EXPECT_NE(replayed.output.find("1 case,"), std::string::npos) << replayed.output;
  EXPECT_EQ(sextant(std::string("audit python:broken.py") + spec + "--replay accuracy:position=300,rows=1").status, 0);
}

TEST_F(Command, SubjectsThatFailExitThreeWithinTheirTimeOut) {
  const std::pair<const char*, const char*> subjects[] = {
      {"def encode(p, spec):\n    os.kill(os.getpid(), signal.SIGSEGV)\n", "signal 11"},
      {"def encode(p, spec):\n    time.sleep(1000)\n", "gave no answer within 1 s"},
      {"def encode(p, spec):\n    return np.zeros((len(p), spec['dim'] + 1), np.float32)\n", "came back with shape"},
      {"def encode(p, spec):\n    raise RuntimeError('no')\n", "RuntimeError: no"},
      {"time.sleep(1000)\n", "gave no answer within 1 s"},
  };
  for (const auto& [code, text] : subjects) {
    write("bad.py", std::string(header) + code);
    const auto start = std::chrono::steady_clock::now();
    const Finished finished = sextant(std::string("audit python:bad.py") + spec + "--timeout 1 --only accuracy");
    EXPECT_EQ(finished.status, 3) << code << finished.output << finished.error;
    EXPECT_NE(finished.output.find(text), std::string::npos) << finished.output;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  }
  const Finished printing = sextant(std::string("audit 'exec:echo loading; cat'") + spec);
  EXPECT_EQ(printing.status, 3);
  EXPECT_NE(printing.output.find("broke the protocol"), std::string::npos) << printing.output;
}

TEST_F(Command, ACrashAtALaterCallIsToldInTheFirstLinesWithTheCall) {
  write("bad.py", std::string(header) + correct + R"(
_encode = encode
def encode(p, spec):
    if len(p) > 16:
        os.kill(os.getpid(), signal.SIGSEGV)
    return _encode(p, spec)
)");
  const Finished finished = sextant(std::string("audit python:bad.py") + spec + "--only accuracy");
  EXPECT_EQ(finished.status, 3) << finished.output << finished.error;
  const std::size_t said = finished.output.find("encode: was killed by signal 11 (Segmentation fault), at call ");
  EXPECT_LT(said, finished.output.find("\n\n")) << finished.output;
  EXPECT_LT(finished.output.find("of its session, of positions ["), finished.output.find("\n\n")) << finished.output;
}

TEST_F(Command, ASubjectThatReturnsNothingIsToldWhatNoneSays) {
  write("bad.py", std::string(header) + "def encode(p, spec):\n    table = np.zeros((len(p), spec['dim']))\n");
  const Finished finished = sextant(std::string("audit python:bad.py") + spec);
  EXPECT_EQ(finished.status, 4) << finished.output << finished.error;
  EXPECT_NE(finished.output.find("likely fix: return the result"), std::string::npos) << finished.output;
}

// Nothing was audited, so nothing has failed: the file is no subject, as one that is absent.
TEST_F(Command, AFileThatIsNoSubjectIsOneLineAndExitTwo) {
  const std::pair<const char*, const char*> files[] = {
      {"x = 1\n", "python:bad.py: the file defines none of encode, table, rotate, qk_norm_rope"},
      {"", "python:bad.py: the file defines none of encode, table, rotate, qk_norm_rope"},
      {"framework = 'tensors'\ndef encode(p, spec):\n    pass\n", "framework 'tensors': expected numpy, torch or jax"},
      {"fields = 'dim'\ndef encode(p, spec):\n    pass\n", "fields 'dim': expected a list of names"},
  };
  for (const auto& [code, text] : files) {
    SCOPED_TRACE(code);
    write("bad.py", code);
    expect_one_line(sextant(std::string("audit python:bad.py") + spec), text);
    expect_one_line(sextant(std::string("audit python:bad.py") + spec + "--replay accuracy:position=0,rows=1"), text);
  }
  // One that ends the process is a crash, which only the process' end tells.
  write("bad.py", "import os\nos._exit(2)\n");
  const Finished ended = sextant(std::string("audit python:bad.py --only accuracy") + spec);
  EXPECT_EQ(ended.status, 3);
  EXPECT_NE(ended.output.find("ended with exit status 2 (while importing bad.py)"), std::string::npos) << ended.output;
}

TEST_F(Command, AnInterpreterThatIsNoneIsToldByItsOption) {
  write("good.py", std::string(header) + correct);
  const Finished finished = sextant(std::string("audit python:good.py --only accuracy --python /bin/true") + spec);
  EXPECT_EQ(finished.status, 3);
  EXPECT_NE(finished.output.find("likely fix: name by --python a Python that imports NumPy: /bin/true does not"),
            std::string::npos)
      << finished.output;
  EXPECT_EQ(finished.output.find("importing"), std::string::npos) << finished.output;
  expect_one_line(sextant(std::string("audit python:good.py --python /tmp") + spec),
                  "--python /tmp: a directory, not a program");
}

TEST_F(Command, OptionsThatSayNothingAreRefused) {
  const std::string rope = R"( --spec '{"encoding":"rope","head_dim":64}')";
  write("turns.py", "def rotate(x, positions, spec):\n    return x\n");
  const std::pair<std::string, const char*> lines[] = {
      {"identify python:turns.py --heads 3", "--heads: says nothing of rotate, which is asked"},
      {"identify builtin --op encode --heads 3", "--heads: says nothing of encode, which is asked"},
      {"identify builtin --op bias --dim 4", "--dim: says nothing of bias, which is asked"},
      {"identify builtin --dim 3", "--dim 3: expected an even number from 2 to 16384, for operation rotate"},
      {"identify builtin --python python3", "--python python3: says nothing of builtin"},
      {"audit builtin --python python3" + rope, "--python python3: says nothing of builtin"},
      {"audit builtin --table-order sin_cos" + rope, "--table-order sin_cos: says nothing of builtin"},
      {"audit builtin --budget 1x" + rope, "--budget 1x: expected seconds from 0.001 to 86400, as 90, 90s or 1.5m"},
      {"audit builtin" + rope + rope, "--spec: given 2 times, expected once"},
      {"audit builtin --hf-config .", "--hf-config .: a directory without a config.json"},
      {"audit pyton:turns.py" + rope, "live:SOCKET, mutant:NAME or recipe:NAME; did you mean python?"},
      {R"(audit builtin --spec '{"encoding":"rope","head_dim":64,"pairing":"halves"}')", "; did you mean half?"}};
  for (const auto& [line, text] : lines) {
    SCOPED_TRACE(line);
    expect_one_line(sextant(line), text);
  }
}

// Once, and on standard error: what is printed and what is kept are those of any other run.
TEST_F(Command, WhatTakesLongSaysSoWhereNoTerminalShowsIt) {
  write("slow.py", std::string(header) + correct + "time.sleep(2.1)\n");
  const std::string line = std::string("audit python:slow.py --only bounds --report files") + spec;
  EXPECT_EQ(sextant(line).error, "");
  environment_.clear();
  const Finished told = sextant(line);
  EXPECT_EQ(told.error.find("sextant: still judging: "), 0U) << told.error;
  EXPECT_EQ(std::count(told.error.begin(), told.error.end(), '\n'), 1) << told.error;
  EXPECT_NE(told.error.find(" properties judged"), std::string::npos) << told.error;
  EXPECT_EQ(told.output.find(" properties judged"), std::string::npos) << told.output;
}

// One message with the place, the calls that led there and what mends it, in place of a line for each property.
TEST_F(Command, ASubjectThatFailsAtOnceIsToldOnceAndExitsThree) {
  struct Failing {
    const char* code;
    const char* reason;
    const char* place;
    const char* fix;
  };
  const Failing files[] = {
      {"\n\nimport no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'", "bad.py, line 3",
       "install no_such_module"},
      {"def encode(positions, spec)\n    pass\n", "SyntaxError: expected ':'", "bad.py, line 1", ""},
      {"import sys\nsys.exit('give me a GPU')\n", "SystemExit: give me a GPU", "bad.py, line 2", ""},
      {"def encode(positions, spec):\n    return 1.5\n", "came back with shape []", "bad.py, line 1",
       "return 2 axes, not a scalar"},
      {"import numpy as np\ndef encode(p, spec):\n    return np.zeros((len(p), 3), np.float32)\n",
       "came back with shape", "bad.py, line 2", "return [n, dim] with dim 16, not 3"},
      {"def f():\n    raise ValueError('not\\nhere')\nf()\n", "ValueError: not here", "bad.py, line 2", ""},
      {"class Odd(Exception):\n    def __str__(self):\n        raise ValueError\nraise Odd()\n",
       "sextant_subject.Odd: <exception str() failed>", "bad.py, line 4", ""},
      {"import sextant_worker\nsextant_worker.serve(encoder=print)\n", "TypeError: no operation is called encoder",
       "bad.py, line 2", ""},
      {"import numpy as np\n\n\ndef encode(p, spec):\n    return np.zeros((len(p), spec['dim']))\n",
       "\"encoding\" came back as float64, the spec says float32", "bad.py, line 4", ".astype(\"float32\")"},
      {"import numpy as np\ndef encode(p, spec):\n    return np.zeros((spec['dim'], len(p)), np.float32)\n",
       "came back with shape", "bad.py, line 2", "its axes are in another order"},
      {"def encode(positions):\n    return positions\n", "takes 1 positional argument but 2 were given",
       "bad.py, line 1", "define it as encode(positions, spec)"},
      {"def encode(positions, spec):\n    return positions * spec['theta_base']\n", "KeyError: 'theta_base'",
       "bad.py, line 2", "it has base"},
  };
  for (const auto& [code, reason, place, fix] : files) {
    SCOPED_TRACE(code);
    write("bad.py", code);
    const Finished finished = sextant(std::string("audit python:bad.py --report files") + spec);
    EXPECT_EQ(finished.status, 3) << finished.error;
    EXPECT_EQ(finished.output.find("the subject cannot be audited: "), 0U) << finished.output;
    for (const char* text : {reason, place, fix})
      EXPECT_NE(finished.output.find(text), std::string::npos) << text << "\n" << finished.output;
    EXPECT_EQ(finished.output.find("--replay"), std::string::npos) << finished.output;
    const auto json = nlohmann::json::parse(read_all(directory_ / "files" / "report.json"));
    EXPECT_EQ(json.at("exit_status"), 3);
    EXPECT_NE(json.at("stop").at("reason").get<std::string>().find(reason), std::string::npos) << json.at("stop");
    const auto sarif = nlohmann::json::parse(read_all(directory_ / "files" / "report.sarif"));
    EXPECT_EQ(sarif.at("runs")[0].at("results").size(), 1U);
  }
  write("bad.py", "\n\nimport no_such_module\n");
  EXPECT_EQ(sextant(std::string("audit python:bad.py --replay accuracy:position=0,rows=1") + spec).status, 3);
  // What fails in some calls only is for the properties to judge.
  write("bad.py", std::string(header) + correct + R"(
_encode = encode
def encode(p, spec):
    if len(p) == 1:
        raise ValueError("one row")
    return _encode(p, spec)
)");
  const Finished some = sextant(std::string("audit python:bad.py") + spec);
  EXPECT_EQ(some.status, 3);
  EXPECT_NE(some.output.find("--replay accuracy:"), std::string::npos) << some.output;
}

// Of code that is unchanged no seed and no profile has anything to tell.
TEST_F(Command, UnchangedCodeComparesCleanWithItsBaseline) {
  const std::string claim = R"( --spec '{"encoding":"sinusoidal","dim":16}')";
  for (const std::string subject : {"mutant:sinusoidal-bfloat16-positions", "recipe:float32"}) {
    SCOPED_TRACE(subject);
    sextant("audit " + subject + claim + " --write-baseline known.json");
    ASSERT_LT(read_all(directory_ / "known.json").size(), 10000U);
    for (int seed = 2; seed <= 11; ++seed) {
      const std::string profile = seed % 2 == 0 ? " --profile quick" : "";
      const Finished again =
          sextant("audit " + subject + claim + " --baseline known.json --seed " + std::to_string(seed) + profile);
      EXPECT_EQ(again.status, 0) << again.output << again.error;
      EXPECT_EQ(again.output.find("regression:"), std::string::npos) << again.output;
    }
    const Finished some = sextant("audit " + subject + claim + " --baseline known.json --only bounds");
    EXPECT_EQ(some.status, 0) << some.output;
    EXPECT_NE(some.output.find("which this run left out"), std::string::npos) << some.output;
  }
  // One that cannot be asked any more is worse, and has no baseline of its own.
  write("gone.py", "raise ValueError\n");
  const Finished gone = sextant("audit python:gone.py --baseline known.json --write-baseline own.json" + claim);
  EXPECT_EQ(gone.status, 1) << gone.output;
  EXPECT_NE(gone.error.find("--write-baseline own.json: nothing was written"), std::string::npos) << gone.error;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "own.json"));
  // The last is that of a subject that holds.
  const Finished worse = sextant("audit mutant:sinusoidal-bfloat16-positions --baseline known.json" + claim);
  EXPECT_EQ(worse.status, 1);
  EXPECT_TRUE(worse.output.starts_with("worse than known.json: ")) << worse.output;
  const Finished idle = sextant("audit recipe:float32 --baseline known.json --ratchet --seed 2" + claim);
  EXPECT_EQ(idle.status, 0);
  EXPECT_NE(idle.output.find("warning: --ratchet compares nothing here"), std::string::npos) << idle.output;
  write("broken.json", R"({"format":"sextant-baseline","version":1,"sextant":"0"})");
  expect_one_line(sextant("audit builtin --baseline broken.json" + claim), "broken.json: subject: missing");
}

TEST_F(Command, MeasuresNothingWhereNoPropertyIsAsked) {
  const Finished none = sextant("audit builtin --spec transformer-512 --only accuracy --skip accuracy");
  EXPECT_EQ(none.status, 4);
  EXPECT_TRUE(none.output.starts_with("nothing applicable ran: --only accuracy --skip accuracy leaves no property\n"))
      << none.output;
  EXPECT_EQ(none.output.find("measured"), std::string::npos) << none.output;
}

TEST_F(Command, ASubjectOfOneSpecIsToldSoAndPassesStrictly) {
  write("fixed.py", std::string(header) + R"(
def encode(p, spec):
    angle = np.asarray(p, np.float64)[:, None] * 10000.0 ** (-np.arange(0, 16, 2) / 16)
    table = np.zeros((len(p), 16), np.float32)
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table
)");
  const Finished fixed = sextant(std::string("audit python:fixed.py --strict") + spec);
  EXPECT_EQ(fixed.status, 0) << fixed.output;
  EXPECT_NE(fixed.output.find("serves this claim alone"), std::string::npos) << fixed.output;
  // One that reads some fields has to read or refuse the others, unless it says which it reads.
  write("some.py", std::string(header) + correct);
  EXPECT_EQ(sextant(std::string("audit python:some.py --strict") + spec).status, 1);
  write("some.py", std::string(header) + "fields = ['dim']\n" + correct);
  const Finished told = sextant(std::string("audit python:some.py --strict") + spec);
  EXPECT_EQ(told.status, 0) << told.output;
  EXPECT_NE(told.output.find("of the spec it reads dim"), std::string::npos) << told.output;
}

TEST_F(Command, ASubjectThatPrintsIsJudgedAllTheSame) {
  write("chatty.py", std::string(header) + correct + "print('loaded')\nos.system('echo shell')\n");
  EXPECT_EQ(sextant(std::string("audit python:chatty.py") + spec).status, 0);
}

TEST_F(Command, ASubjectWithoutTheOperationExitsFour) {
  write("other.py", "def bucket(relative, spec):\n    return relative\n");
  const Finished finished = sextant(std::string("audit python:other.py") + spec);
  EXPECT_EQ(finished.status, 4);
  EXPECT_NE(finished.output.find("nothing applicable ran: the subject defines no"), std::string::npos)
      << finished.output;
}

// Without a spec, builtin is audited against every encoding, a folder of reports each.
TEST_F(Command, WhatCannotBeWrittenIsNoVerdict) {
  for (const char* asked :
       {"list specs", "audit builtin --spec llama-2-7b --profile quick --only accuracy",
        "grade builtin --spec llama-2-7b --profile quick --only accuracy", "spec --spec llama-2-7b"}) {
    const std::string line =
        "cd '" + directory_.string() + "' && '" + SEXTANT_COMMAND + "' " + asked + " >/dev/full 2>err";
    const int status = std::system(line.c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 2) << asked;
    const std::string error = read_all(directory_ / "err");
    EXPECT_NE(error.find("standard output: cannot be written"), std::string::npos) << error;
  }
}

TEST_F(Command, EveryEncodingOfOursHolds) {
  const Finished finished = sextant("audit builtin --profile quick --only accuracy --report reports");
  EXPECT_EQ(finished.status, 0) << finished.output << finished.error;
  EXPECT_EQ(finished.error, "");
  const auto encodings = nlohmann::json::parse(sextant("list encodings --json").output);
  for (const auto& encoding : encodings) EXPECT_GT(encoding["fields"].size(), 7U) << encoding["encoding"];
  const std::string explained = sextant("list encodings").output;
  EXPECT_NE(explained.find("\n  rotary_layout "), std::string::npos) << explained;
  EXPECT_NE(explained.find("\nevery spec\n  encoding "), std::string::npos) << explained;
  EXPECT_EQ(std::count(finished.output.begin(), finished.output.end(), '\n'), std::ssize(encodings) + 3)
      << finished.output;
  for (const auto& encoding : encodings) {
    const std::string name = encoding["encoding"];
    EXPECT_NE(("\n" + finished.output).find("\n" + name + " "), std::string::npos) << finished.output;
    const auto json = nlohmann::json::parse(read_all(directory_ / "reports" / name / "report.json"));
    EXPECT_EQ(json["exit_status"], 0) << name;
    EXPECT_EQ(json["spec"], encoding["example"]);
    EXPECT_TRUE(std::ranges::any_of(json["properties"], [](const auto& property) {
      return property["id"] == "accuracy" && property["verdict"] == "holds";
    })) << name;
    EXPECT_TRUE(std::filesystem::exists(directory_ / "reports" / name / "report.html"));
    write("spec.json", encoding["example"].dump());
    if (name != "sinusoidal" && name != "rope" && name != "rotary_table")
      expect_one_line(sextant("audit file:table.npy --spec spec.json"),
                      "of sinusoidal, rope or rotary_table, got " + name);
  }
}

TEST_F(Command, APropertyOfOneEncodingLeavesTheOthersAside) {
  const Finished finished = sextant("audit builtin --profile quick --only decay --max-position 100");
  EXPECT_EQ(finished.status, 0) << finished.output << finished.error;
  EXPECT_NE(finished.output.find("alibi           nothing applicable"), std::string::npos) << finished.output;
  EXPECT_NE(finished.output.find("1 of 1 encodings hold"), std::string::npos) << finished.output;
}

TEST_F(Command, ReportsAreComparedAndRendered) {
  const std::string claim = R"( --profile quick --spec '{"encoding":"sinusoidal","dim":16}')";
  ASSERT_EQ(sextant("audit builtin --report good" + claim).status, 0);
  ASSERT_EQ(sextant("audit mutant:sinusoidal-bfloat16-positions --report bad" + claim).status, 1);
  EXPECT_EQ(sextant("report compare good/report.json good/report.json").status, 0);
  const Finished lost = sextant("report compare good/report.json bad/report.json --tighten next.json");
  EXPECT_EQ(lost.status, 1);
  EXPECT_NE(lost.output.find("regression: accuracy: violated, held before"), std::string::npos) << lost.output;
  EXPECT_EQ(sextant("report compare good/report.json next.json").status, 0);
  EXPECT_EQ(sextant("report compare bad/report.json good/report.json").status, 0);
  // Known violations pass, new ones do not.
  EXPECT_EQ(sextant("audit mutant:sinusoidal-bfloat16-positions --baseline bad/report.json" + claim).status, 0);
  EXPECT_EQ(sextant("audit mutant:sinusoidal-bfloat16-positions --baseline good/report.json" + claim).status, 1);
  EXPECT_EQ(sextant("report render good/report.json bad/report.json --out matrix.html").status, 0);
  EXPECT_NE(read_all(directory_ / "matrix.html").find("2 subjects"), std::string::npos);
  EXPECT_EQ(sextant("report render bad/report.json --out again.html").status, 0);
  EXPECT_EQ(read_all(directory_ / "again.html"), read_all(directory_ / "bad" / "report.html"));
  write("none.json", "{}");
  expect_one_line(sextant("report compare none.json good/report.json"),
                  "none.json: expected a baseline or a report.json, which have a field format");
  expect_one_line(sextant("report render absent.json"), "absent.json: cannot be read");
  ASSERT_EQ(
      sextant(R"(audit builtin --profile quick --report other --spec '{"encoding":"sinusoidal","dim":18}')").status, 0);
  expect_one_line(sextant("report compare other/report.json good/report.json"), "other specs: dim ");
  expect_one_line(sextant("audit builtin --baseline none.json" + claim),
                  "none.json: expected a baseline or a report.json, which have a field format");
}

// A report.json but for times, in bytes.
std::string without_times(const std::filesystem::path& file) {
  auto json = nlohmann::ordered_json::parse(read_all(file));
  json["seconds"] = 0;
  for (auto& property : json["properties"]) property["seconds"] = 0;
  return json.dump();
}

TEST_F(Command, ShardsMakeTheReportOfOneRun) {
  // Wrong at one position; of no use for long calls; out at another position.
  const std::string changed(correct);
  write("wrong.py", std::string(header) + changed +
                        "_right = encode\ndef encode(p, spec):\n    t = _right(p, spec)\n"
                        "    t[np.asarray(p) == 1777, 3] += 0.25\n    return t\n");
  write("partial.py", std::string(header) + changed +
                          "_right = encode\ndef encode(p, spec):\n"
                          "    return _right(p, spec) if len(p) < 100 else None\n");
  write("failing.py", std::string(header) + changed +
                          "_right = encode\ndef encode(p, spec):\n"
                          "    assert 1500 not in p\n    return _right(p, spec)\n");
  const std::string sinusoid = R"('{"encoding":"sinusoidal","dim":16,"max_position":2000}')";
  const std::string rope = R"('{"encoding":"rope","head_dim":8,"max_position":2000}')";
  struct Run {
    const char* subject;
    std::string claim;
    std::vector<int> counts;
    int status;
  };
  const Run runs[] = {{"builtin", rope, {1, 16}, 0},
                      {"builtin", R"('{"encoding":"alibi","num_heads":3,"max_position":500}')", {5}, 0},
                      {"mutant:sinusoidal-bfloat16-positions", sinusoid, {3}, 1},
                      {"python:wrong.py", sinusoid, {2}, 1},
                      {"python:partial.py", sinusoid, {2}, 4},
                      {"python:failing.py", sinusoid, {2}, 3}};
  for (const Run& run : runs) {
    const std::string audit = std::string("audit ") + run.subject + " --profile quick --spec " + run.claim;
    EXPECT_EQ(sextant(audit + " --threads 2 --report whole").status, run.status) << run.subject;
    for (const int count : run.counts) {
      std::string files;
      for (int index = count; index >= 1; --index) {
        const std::string part = std::to_string(index) + "/" + std::to_string(count);
        sextant(audit + " --threads 1 --report parts/" + part + " --shard " + part);
        files += " parts/" + part + "/report.json";
      }
      EXPECT_EQ(sextant("report merge" + files + " --out merged").status, run.status) << run.subject;
      EXPECT_EQ(without_times(directory_ / "merged/report.json"), without_times(directory_ / "whole/report.json"))
          << run.subject << " in " << count;
    }
  }
  const std::string subject = "audit builtin --profile quick --spec " + sinusoid + " --report ";
  EXPECT_EQ(sextant(subject + "idle --shard 10000/10000").status, 0);
  expect_one_line(sextant("report merge parts/1/3/report.json parts/3/3/report.json --out none"),
                  "shard 2/3 is missing");
  expect_one_line(sextant(subject + "x --shard 4/3"), "--shard 4/3: expected I/N");
  expect_one_line(sextant(subject + "x --shard 1"), "--shard 1: expected I/N");
}

TEST_F(Command, AKilledAuditIsRenderedAndResumed) {
  // Waits for the file `go` once a property is judged.
  write("waiting.py", std::string(header) + correct + R"(
name, version = 'waiting', '1'
_encode = encode
def encode(p, spec):
    with open('calls', 'a') as calls:
        calls.write('.')
    if not os.path.exists('go') and os.path.exists('cut/events.jsonl') and any(line.startswith('{"judged"') for line in open('cut/events.jsonl')):
        open('stuck', 'w').write('yes')
        time.sleep(1000)
    return _encode(p, spec) * np.float32(1.5)
)");
  const std::string claim = R"('{"encoding":"sinusoidal","dim":16}')";
  const std::string subject =
      "audit python:waiting.py --threads 1 --profile quick --only bounds --only empty_input --spec " + claim;
  write("go", "");
  EXPECT_EQ(sextant(subject + " --report whole").status, 1);
  std::filesystem::remove(directory_ / "go");
  std::filesystem::remove(directory_ / "calls");

  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (chdir(directory_.c_str()) != 0 || freopen("out", "w", stdout) == nullptr ||
        freopen("err", "w", stderr) == nullptr)
      _exit(99);
    execl("/bin/sh", "sh", "-c", ("exec '" SEXTANT_COMMAND "' " + subject + " --report cut").c_str(),
          static_cast<char*>(nullptr));
    _exit(98);
  }
  for (int i = 0; i < 1500 && read_all(directory_ / "stuck").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << read_all(directory_ / "err");
  ASSERT_FALSE(read_all(directory_ / "stuck").empty());
  EXPECT_FALSE(std::filesystem::exists(directory_ / "cut" / "report.json"));
  const std::string log = read_all(directory_ / "cut" / "events.jsonl");
  ASSERT_NE(log.find("\n{\"judged\""), std::string::npos) << log;

  const Finished rendered = sextant("report render cut/events.jsonl --out cut");
  EXPECT_EQ(rendered.status, 1) << rendered.error;  // bounds was judged, and is violated
  EXPECT_NE(rendered.output.find("partial, 1 of 2 properties not judged; of the others: 1 property violated, 0 held"),
            std::string::npos)
      << rendered.output;
  EXPECT_NE(read_all(directory_ / "cut" / "report.html").find("This report is partial."), std::string::npos);
  EXPECT_NE(read_all(directory_ / "cut" / "junit.xml").find("not judged: the run was cut short"), std::string::npos);

  // Refused as long as it is another audit; then goes on, whatever was torn off.
  expect_one_line(sextant(subject + " --resume cut --seed 2"),
                  "--resume cut: its log and this audit are of different seeds: 1 and 2");
  expect_one_line(sextant(subject + " --resume cut --strict"), "different strictness: lenient and strict");
  expect_one_line(sextant(subject + " --resume cut --shard 1/2"), "different shards: none and 1/2");
  expect_one_line(sextant(subject + " --resume cut --skip bounds"), "different properties (--only, --skip)");
  expect_one_line(sextant(subject + " --resume cut --max-position 99"), "different specs: max_position 131072 and 99");
  expect_one_line(sextant("audit builtin --profile quick --resume cut --spec " + claim),
                  "different subjects: python:waiting.py and builtin");
  EXPECT_EQ(read_all(directory_ / "cut" / "events.jsonl"), log);
  std::ofstream(directory_ / "cut" / "events.jsonl", std::ios::app) << "{\"judged\":{\"id\":\"acc";
  write("go", "");
  std::filesystem::remove(directory_ / "calls");
  EXPECT_EQ(sextant(subject + " --resume cut").status, 1);
  EXPECT_EQ(without_times(directory_ / "cut/report.json"), without_times(directory_ / "whole/report.json"));
  const auto calls = std::filesystem::file_size(directory_ / "calls");
  EXPECT_EQ(read_all(directory_ / "cut" / "events.jsonl").substr(0, log.size()), log);
  // All is judged: nothing is asked again, and the log tells it all.
  EXPECT_EQ(sextant(subject + " --resume cut").status, 1);
  EXPECT_EQ(std::filesystem::file_size(directory_ / "calls"), calls);
  EXPECT_EQ(without_times(directory_ / "cut/report.json"), without_times(directory_ / "whole/report.json"));
  EXPECT_EQ(sextant("report render cut/events.jsonl --out page.html").status, 0);
  EXPECT_EQ(read_all(directory_ / "page.html").find("This report is partial."), std::string::npos);
}

TEST_F(Command, AnAuditKilledInsideASweepGoesOnAtItsBlock) {
  // Ends the command at its 20th call from the sweep's first block on, unless told not to.
  write("killing.py", std::string(header) + correct + R"(
_encode = encode
def encode(p, spec):
    with open('calls', 'a') as calls:
        calls.write('.')
    if not os.path.exists('go') and os.path.getsize('calls') == 40:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)
    return _encode(p, spec)
)");
  const std::string audit =
      "audit python:killing.py --threads 1 --profile quick --cases 1 --values 2000000 --only accuracy --spec "
      R"('{"encoding":"sinusoidal","dim":16}')";
  write("go", "");
  ASSERT_EQ(sextant(audit + " --report whole").status, 0);
  const auto whole = std::filesystem::file_size(directory_ / "calls");
  std::filesystem::remove(directory_ / "go");
  std::filesystem::remove(directory_ / "calls");
  EXPECT_EQ(sextant(audit + " --report cut").status, 128 + SIGKILL);
  write("go", "");
  EXPECT_EQ(sextant(audit + " --resume cut").status, 0);
  EXPECT_EQ(without_times(directory_ / "cut/report.json"), without_times(directory_ / "whole/report.json"));
  // What is asked twice: the first case of all when the audit begins, the block at hand, and at most a tenth of a
  // second of the cases before the sweep, which are over.
  EXPECT_LE(std::filesystem::file_size(directory_ / "calls"), whole + 2);

  std::filesystem::copy(directory_ / "cut", directory_ / "changed", std::filesystem::copy_options::recursive);
  std::ofstream(directory_ / "killing.py", std::ios::app) << "# changed\n";
  expect_one_line(sextant(audit + " --resume changed"),
                  "--resume changed: python:killing.py: its file has changed since the log was begun");
}

TEST_F(Command, ABudgetSaysWhatItCameToAndIsRepeatedByNumber) {
  write("slow.py", std::string(header) + correct + R"(
_encode = encode
def encode(p, spec):
    time.sleep(1e-5 * len(p) * spec['dim'])
    return _encode(p, spec)
)");
  const std::string audit =
      "audit python:slow.py --only accuracy --only bounds --spec "
      R"('{"encoding":"sinusoidal","dim":16}' )";
  const auto start = std::chrono::steady_clock::now();
  const Finished chosen = sextant(audit + "--budget 4s --threads 1 --report chosen");
  EXPECT_EQ(chosen.status, 0) << chosen.error;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  const auto json = nlohmann::json::parse(read_all(directory_ / "chosen/report.json"));
  ASSERT_TRUE(json.contains("amount"));
  EXPECT_EQ(json["amount"]["budget"], 4);
  const std::string values = std::to_string(json["amount"]["values"].get<std::int64_t>());
  const std::string cases = std::to_string(json["amount"]["cases"].get<std::int64_t>());
  EXPECT_LT(json["amount"]["values"], std::int64_t{1} << 21);
  const std::string text = "asked within 4 s: at most " + values + " values a sweep, " + cases + " first and " + cases +
                           " drawn cases a property, ";
  EXPECT_NE(chosen.output.find(text), std::string::npos) << chosen.output;
  EXPECT_NE(read_all(directory_ / "chosen/report.md").find(text), std::string::npos);
  EXPECT_NE(read_all(directory_ / "chosen/report.html").find(text), std::string::npos);
  const std::string again = json["command"].get<std::string>();
  EXPECT_EQ(
      sextant(again.substr(again.find("audit")) + " --only accuracy --only bounds --threads 2 --report again").status,
      0);
  EXPECT_EQ(without_times(directory_ / "again/report.json"), without_times(directory_ / "chosen/report.json"));
  expect_one_line(sextant(audit + "--budget 4 --shard 1/2"), "--shard: --budget would choose other numbers in each");
  expect_one_line(sextant(audit + "--budget 4h"), "--budget 4h: expected seconds");
}

TEST_F(Command, SaysWhySessionsAreNotForked) {
  const std::string claim =
      R"( --profile quick --only accuracy --spec '{"encoding":"sinusoidal","dim":16}' --report r)";
  write("starts.py", std::string(header) + correct + "open('starts', 'a').write('.')\n");
  EXPECT_EQ(sextant("audit python:starts.py" + claim).output.find("note:"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(directory_ / "starts"), 1);
  // As a framework might.
  write("torch.py", "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n");
  write("threads.py", std::string(header) + "import torch\n" + correct);
  const std::string note = "each session starts an interpreter anew: importing the file started threads (torch)";
  EXPECT_NE(sextant("audit python:threads.py" + claim).output.find("note: " + note), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(read_all(directory_ / "r/report.json"))["notes"], nlohmann::json::array({note}));
  EXPECT_EQ(sextant("report render r/events.jsonl --out again/").status, 0);
  EXPECT_EQ(sextant("report render r/events.jsonl --out made/anew").status, 0);
  EXPECT_TRUE(std::filesystem::is_regular_file(directory_ / "made/anew/report.json"));
  EXPECT_EQ(without_times(directory_ / "again/report.json"), without_times(directory_ / "r/report.json"));
}

TEST_F(Command, HostileLogsExitTwoWithOneLine) {
  const std::string audit = "audit builtin --profile quick --spec '{\"encoding\":\"sinusoidal\",\"dim\":16}' --resume ";
  const std::pair<std::string, const char*> logs[] = {
      {std::string(4096, '\0'), "events.jsonl: line 1: no event log"},
      {std::string(1 << 20, '['), "events.jsonl: line 1: no event log"},
      {std::string(1 << 20, '[') + "\n", "events.jsonl: line 1: nested too deeply"},
      {"{\"format\":\"sextant-events\",\"version\":3}\n", "events.jsonl: line 1: version: expected 1"},
      {"{\"format\":\"\x1b[31mred\n", "events.jsonl: line 1: expected JSON"},
      {std::string(17 << 20, 'x') + "\n", "events.jsonl: line 1: 17825792 bytes, more than an event has"},
  };
  std::filesystem::create_directories(directory_ / "r");
  for (const auto& [log, text] : logs) {
    write("r/events.jsonl", log);
    expect_one_line(sextant(audit + "r"), text);
    expect_one_line(sextant("report render r/events.jsonl --out r"), text);
    EXPECT_EQ(read_all(directory_ / "r" / "events.jsonl"), log);
  }
  write("r/events.jsonl", "");
  expect_one_line(sextant("report render r/events.jsonl --out r"), "the log holds no run yet");
  expect_one_line(sextant("report render absent.jsonl"), "absent.jsonl: cannot be read");
  expect_one_line(sextant(audit + "r --report r"), "--resume: the report is written into its directory");
  expect_one_line(sextant(audit + "r --replay accuracy:position=0,rows=1"),
                  "--resume: cannot be combined with --replay");
  // Nothing there yet, or nothing whole: begins.
  EXPECT_EQ(sextant(audit + "r").status, 0);
  EXPECT_EQ(sextant(audit + "new").status, 0);
  std::filesystem::remove(directory_ / "r" / "events.jsonl");
  std::filesystem::create_directories(directory_ / "r" / "events.jsonl");
  expect_one_line(sextant(audit + "r"), "events.jsonl: cannot be read");
}

TEST_F(Command, AMutantIsASubject) {
  EXPECT_EQ(sextant("audit mutant:sinusoidal-layout-ignored --profile quick --spec "
                    "'{\"encoding\":\"sinusoidal\",\"dim\":16,\"layout\":\"concatenated\"}'")
                .status,
            1);
  EXPECT_EQ(sextant("audit recipe:float32 --profile quick --spec '{\"encoding\":\"sinusoidal\",\"dim\":16}'").status,
            0);
  expect_one_line(sextant("audit mutant:none" + std::string(spec)), "no such mutant");
  expect_one_line(sextant("audit recipe:none" + std::string(spec)), "no such recipe");
  EXPECT_GE(nlohmann::json::parse(sextant("list mutants --json").output).size(), 60);
}

TEST_F(Command, BitsAreHeldToARecipeThatIsNamed) {
  const std::string claim = " --profile quick --spec '{\"encoding\":\"rope\",\"head_dim\":16,\"max_position\":2048}'";
  const std::string only = " --only recipe_identity";
  const Finished own = sextant("audit recipe:float32 --as float32" + claim + only);
  EXPECT_EQ(own.status, 0) << own.output;
  const Finished other = sextant("audit recipe:float32 --as float32-power --report other" + claim + only);
  EXPECT_EQ(other.status, 1) << other.output;
  EXPECT_NE(other.output.find("--as float32-power --replay"), std::string::npos) << other.output;
  const auto report = nlohmann::json::parse(read_all(directory_ / "other/report.json"));
  EXPECT_EQ(report.at("recipe"), "float32-power");
  const std::string token = report.at("properties").at(0).at("simplest").at("token");
  EXPECT_EQ(sextant("audit recipe:float32 --as float32-power" + claim + " --replay '" + token + "'").status, 1);
  expect_one_line(sextant("audit recipe:float32" + claim + " --replay '" + token + "'"), "no recipe is named");
  expect_one_line(
      sextant("audit builtin --as float32 --spec t5-small"),
      "--as float32: the recipe float32 is not known for relative_bias: recipes are of sinusoidal and rope");
  expect_one_line(sextant("audit builtin --as quotient --spec '{\"encoding\":\"rope\",\"head_dim\":16,\"rope_scaling\":"
                          "{\"rope_type\":\"proportional\",\"factor\":8}}'"),
                  "not known for this rope_scaling of rope");
  expect_one_line(sextant("audit recipe:float32 --as float8" + claim), "no such recipe");
  expect_one_line(sextant("audit recipe:float32 --as float32 --resume other" + claim + only), "recipes");
  const Finished none = sextant("audit recipe:float32" + claim + only);
  EXPECT_EQ(none.status, 4) << none.output;
  EXPECT_NE(none.output.find("no recipe is named"), std::string::npos) << none.output;
}

TEST_F(Command, ARecordedTableIsJudgedAsFarAsItReaches) {
  write("save.py", std::string(header) + correct + "\nnp.save('table.npy', encode(np.arange(500), {'dim': 16}))\n");
  ASSERT_EQ(std::system(("cd '" + directory_.string() + "' && python3 save.py").c_str()), 0);
  const Finished finished = sextant(std::string("audit file:table.npy --verbose") + spec);
  EXPECT_EQ(finished.status, 0) << finished.error;
  EXPECT_NE(finished.output.find("positions 0 to 499"), std::string::npos) << finished.output;
  EXPECT_NE(finished.output.find("needs a live subject, and this one is a recording"), std::string::npos);
  expect_one_line(sextant("audit file:table.npy --spec transformer-512"), "16 columns, the spec says dim 512");
}

// What np.save makes of a cache is enough.
TEST_F(Command, ARotaryCacheIsJudgedInItsOrder) {
  write("save.py",
        "import numpy as np\n"
        "a = np.arange(300)[:, None] * 10000.0 ** (-np.arange(0, 16, 2) / 16)\n"
        "c, s = np.cos(a).astype(np.float32), np.sin(a).astype(np.float32)\n"
        "np.save('joined.npy', np.concatenate([c, s], -1))\n"
        "np.save('complex.npy', np.exp(1j * a).astype(np.complex64))\n"
        "np.savez_compressed('halves.npz', cos=np.tile(c, 2)[None, :, None], sin=np.tile(s, 2)[None, :, None])\n"
        "s[299, 7] = 0.5\n"
        "np.save('wrong.npy', np.stack([c, s], -1).astype('>f4'))\n"
        "np.save('later.npy', np.concatenate([c, s], -1)[1:])\n");
  ASSERT_EQ(std::system(("cd '" + directory_.string() + "' && python3 save.py").c_str()), 0);
  const std::string claim = R"( --profile quick --spec '{"encoding":"rope","head_dim":16}')";
  for (const char* file : {"joined.npy", "complex.npy", "halves.npz"}) {
    const Finished finished = sextant(std::string("audit file:") + file + claim);
    EXPECT_EQ(finished.status, 0) << finished.output << finished.error;
    EXPECT_NE(finished.output.find("claim    rotary_table head_dim 16"), std::string::npos) << finished.output;
    EXPECT_NE(finished.output.find("the table's order is"), std::string::npos) << finished.output;
  }
  const Finished wrong = sextant("audit file:wrong.npy" + claim);
  EXPECT_EQ(wrong.status, 1) << wrong.output << wrong.error;
  EXPECT_NE(wrong.output.find("position 299"), std::string::npos) << wrong.output;
  expect_one_line(sextant("audit file:later.npy" + claim), "say --table-order ORDER");
  const Finished later = sextant("audit file:later.npy --table-order cos_sin" + claim);
  EXPECT_EQ(later.status, 1) << later.output << later.error;
  expect_one_line(sextant("audit file:later.npy --table-order sideways" + claim), "expected one of separate");
  expect_one_line(sextant("audit builtin --table --spec transformer-512"), "--table: expected a claim of rope");
  EXPECT_EQ(sextant("audit builtin --table --only accuracy --only linear_shift" + claim).status, 0);
}

constexpr const char* two_bases = R"({
  "model_type": "gemma3_text",
  "head_dim": 16,
  "num_hidden_layers": 7,
  "rope_theta": 1000000.0,
  "max_position_embeddings": 512
})";

TEST_F(Command, SpecTellsTheLineOfEachField) {
  write("config.json", two_bases);
  const Finished text = sextant("spec --hf-config config.json");
  EXPECT_EQ(text.status, 0) << text.error;
  EXPECT_NE(text.output.find("sliding_attention: layers 0-4, 6, as gemma3_text"), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("line 5: rope_theta\n"), std::string::npos) << text.output;
  const auto claims = nlohmann::json::parse(sextant("spec --hf-config config.json --json").output);
  ASSERT_EQ(claims.size(), 2);
  EXPECT_EQ(claims[1].at("layers"), nlohmann::json::parse("[5]"));
  EXPECT_EQ(claims[1].at("spec").at("rope_theta"), 1000000);
  EXPECT_EQ(claims[1].at("sources").at("max_position"), "line 6: max_position_embeddings");
  EXPECT_EQ(sextant("spec --hf-config config.json --layer 5 --json").status, 0);
  EXPECT_EQ(sextant("spec --spec llama-2-7b").output,
            to_json(parse_spec(sextant("spec --spec llama-2-7b").output)) + "\n");
}

TEST_F(Command, WhatAModelsFileSaysBeyondItsClaimIsANote) {
  std::filesystem::create_directory(directory_ / "model");
  write("model/config.json",
        R"({"model_type":"falcon","alibi":true,"hidden_size":512,"num_attention_heads":8,"torch_dtype":"bfloat16"})");
  const auto finished = sextant("audit builtin --hf-config model --profile quick --only determinism");
  EXPECT_EQ(finished.status, 0) << finished.error;
  const std::size_t note =
      finished.output.find("\n           note: transformers rounds key positions (257 is 256 there)");
  EXPECT_LT(finished.output.find("  claim    alibi num_heads 8"), note) << finished.output;
  EXPECT_LT(note, finished.output.find("  profile ")) << finished.output;
}

TEST_F(Command, AConfigWithSeveralClaimsIsAuditedByLayerOrWhole) {
  write("config.json", two_bases);
  expect_one_line(sextant("audit builtin --hf-config config.json"), "2 claims, sliding_attention (layers 0-4, 6)");
  const Finished one =
      sextant("audit builtin --profile quick --only accuracy --hf-config config.json --layer 5 --report one");
  EXPECT_EQ(one.status, 0) << one.error;
  const auto report = nlohmann::json::parse(read_all(directory_ / "one" / "report.json"));
  EXPECT_NE(report.at("command").get<std::string>().find("--hf-config config.json --layer 5"), std::string::npos);
  const Finished all =
      sextant("audit builtin --profile quick --only accuracy --hf-config config.json --all-layers --report all");
  EXPECT_EQ(all.status, 0) << all.error;
  EXPECT_NE(all.output.find("2 of 2 claims hold"), std::string::npos) << all.output;
  EXPECT_TRUE(std::filesystem::exists(directory_ / "all" / "full_attention" / "report.json"));
}

// Of real positions --max-position is one of them, not a number of steps.
TEST_F(Command, TheLastPositionIsGivenAsASubjectGetsIt) {
  const Finished finished = sextant(
      "audit builtin --profile quick --only determinism --max-position 2.5 --spec "
      R"('{"encoding":"sinusoidal","dim":8,"position_dtype":"float32","position_step":0.5}')");
  EXPECT_EQ(finished.status, 0) << finished.error;
  EXPECT_NE(finished.output.find("positions 0 to 2\n"), std::string::npos) << finished.output;
}

TEST_F(Command, BadArgumentsExitTwoWithOneLine) {
  write("config.json",
        R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"rope_scaling":{"rope_type":"warp"}})");
  write("bert.json", R"({"model_type":"unheard-of","hidden_size":768,"num_attention_heads":12})");
  write("spec.json", R"({"encoding":"sinusoidal"})");
  const std::pair<const char*, const char*> lines[] = {
      {R"(audit builtin --spec '{"encoding":"rope","head_dim":64,"typo":1}')", "typo"},
      {"audit python:absent.py", "exactly one of --spec, --hf-config and --gguf"},
      {"audit builtin --replay accuracy:position=1,rows=1", "--replay: needs --spec, --hf-config or --gguf"},
      {"audit builtin --baseline spec.json", "--baseline: needs --spec, --hf-config or --gguf"},
      {"audit builtin --only nothing", "--only nothing: no such property"},
      {"audit builtin --max-position 0", "integer: "},
      {"audit builtin --report spec.json", "--report spec.json: the directory cannot be created"},
      {"audit builtin --spec no-such-preset", "no-such-preset"},
      {"audit builtin --spec spec.json", "spec.json: spec: dim: required"},
      {"audit builtin --hf-config config.json", "rope_type"},
      {"audit builtin --hf-config absent.json", "--hf-config absent.json: no such file"},
      {"audit builtin --hf-config .", "./config.json:1: rope_scaling.rope_type: expected one of"},
      {"audit builtin --gguf .", "--gguf .: a directory, not a file"},
      {"audit builtin --spec .", "--spec .: a directory, not a file"},
      {"audit python:. --spec transformer-512", "python:.: a directory, not a file"},
      {"report render spec.json --out page.pdf", "--out page.pdf: expected FILE.html, or a directory for every format"},
      {"audit builtin --gguf absent.gguf", "--gguf absent.gguf: no such file"},
      {"audit builtin --gguf config.json", "config.json: the file does not begin with GGUF"},
      {"audit builtin --hf-config bert.json",
       "bert.json:1: model_type: \"unheard-of\" is not known, and no field of its file tells of a rotation: state the "
       "claim with "
       "--spec"},
      {"audit builtin --hf-config bert.json --pairing both", "--pairing: expected one of half, interleaved, got both"},
      {"audit builtin --spec transformer-512 --layer 3", "--layer: needs --hf-config"},
      {"audit builtin --spec transformer-512 --all-layers", "--all-layers: needs --hf-config"},
      {"audit builtin --all-layers", "--all-layers: needs --hf-config"},
      {"audit builtin --hf-config config.json --all-layers --baseline spec.json", "--baseline: needs one claim"},
      {"spec", "exactly one of --spec, --hf-config and --gguf"},
      {"spec --spec transformer-512 --hf-config config.json", "exactly one of --spec, --hf-config and --gguf"},
      {"spec --hf-config config.json", "config.json:1: rope_scaling.rope_type: expected one of"},
      {"audit magic:thing --spec transformer-512", "magic:thing"},
      {"audit python:absent.py --spec transformer-512", "subject python:absent.py: no such file"},
      {"audit file:absent.npy --spec transformer-512", "absent.npy: no such file"},
      {"audit builtin --spec transformer-512 --only nothing", "--only nothing: no such property"},
      {"audit builtin --spec transformer-512 --profile fast",
       "--profile: expected one of quick, standard, exhaustive, got fast"},
      {"audit builtin --spec transformer-512 --max-position 0", "--max-position 0: spec: max_position: expected an"},
      {"audit builtin --spec transformer-512 --max-position -5", "--max-position -5: spec: max_position: expected an"},
      {"audit builtin --spec transformer-512 --max-position many",
       "--max-position many: expected a number from -2^53 to 2^53"},
      {"audit builtin --spec transformer-512 --max-position inf",
       "--max-position inf: expected a number from -2^53 to 2^53"},
      {"audit builtin --spec transformer-512 --max-position 2.5", "--max-position 2.5: expected a whole number"},
      {"audit builtin --spec transformer-512 --max-position 9223372036854775808",
       "--max-position 9223372036854775808: expected a number from -2^53 to 2^53"},
      {"audit builtin --spec transformer-512 --max-position ''", "--max-position: the value is empty"},
      {"audit builtin --spec nerf-positions --max-position 0.1",
       "--max-position 0.1: expected a position, at most 2^53 times position_step = 9.5367431640625e-07 and a "
       "multiple"},
      {"audit builtin --spec lama-2-7b", "(see sextant list specs); did you mean llama-2-7b?"},
      {"audit builtin --spec transformer-512 --only acuracy", "; did you mean accuracy?"},
      {"audit builtin --spec transformer-512 --as float32-widend", "; did you mean float32-widened?"},
      {"audit recipe:float32-widend --spec transformer-512", "; did you mean float32-widened?"},
      {R"(audit builtin --spec '{"encoding":"rop","head_dim":64}')", "; did you mean rope?"},
      {R"(audit builtin --spec '{"encoding":"rope","head_dim":64,"rope_tetha":1}')", "; did you mean rope_theta?"},
      {"explain acuracy", "; did you mean accuracy?"},
      {"list presetz", "list: expected one of positions"},
      {"audit python:absent.py --spec transformer-512 --python /no/python", "absent.py: no such file"},
      {"audit builtin --spec transformer-512 --timeout 0", "--timeout"},
      {"audit builtin --spec transformer-512 --threads 0", "--threads"},
      // An unset variable is no absent option.
      {"audit builtin --spec ''", "--spec: the value is empty"},
      {"audit builtin --spec=''", "--spec"},
      {"audit builtin --hf-config ''", "--hf-config: the value is empty"},
      {"audit builtin --spec transformer-512 --report ''", "--report: the value is empty"},
      {"audit builtin --spec transformer-512 --resume ''", "--resume: the value is empty"},
      {"audit builtin --spec transformer-512 --replay ''", "--replay: the value is empty"},
      {"audit builtin --spec transformer-512 --baseline ''", "--baseline: the value is empty"},
      {"audit builtin --spec transformer-512 --shard ''", "--shard: the value is empty"},
      {"audit builtin --spec transformer-512 --python ''", "--python: the value is empty"},
      {"audit builtin --spec transformer-512 --only ''", "--only"},
      {"audit builtin --spec transformer-512 --only bounds --skip ''", "--skip"},
      {"audit '' --spec transformer-512", "subject: the value is empty"},
      {"table --spec '' --positions 0:9 --out t.npy", "--spec: the value is empty"},
      {"table --spec transformer-512 --positions 0:9 --dtype '' --out t.npy", "--dtype: the value is empty"},
      {"report render spec.json --out ''", "--out: the value is empty"},
      // A number is the one that is written.
      {"audit builtin --spec transformer-512 --seed -1",
       "--seed -1: expected an integer from 0 to 18446744073709551615"},
      {"audit builtin --spec transformer-512 --seed 18446744073709551616", "--seed 18446744073709551616"},
      {"audit builtin --spec transformer-512 --seed 1e3", "--seed 1e3"},
      {"audit builtin --spec transformer-512 --seed ''", "--seed"},
      {"audit builtin --spec transformer-512 --seed ' 1'", "--seed  1"},
      {"audit builtin --spec transformer-512 --threads -1", "--threads -1"},
      {"audit builtin --spec transformer-512 --threads 0x2", "--threads 0x2"},
      {"audit builtin --spec transformer-512 --threads 4294967297", "--threads 4294967297"},
      {"audit builtin --spec transformer-512 --timeout 5s", "--timeout 5s"},
      {"audit builtin --spec transformer-512 --timeout nan", "--timeout nan"},
      {"audit builtin --spec transformer-512 --timeout inf", "--timeout inf"},
      {"audit builtin --spec transformer-512 --timeout -1", "--timeout -1"},
      {"audit builtin --spec transformer-512 --timeout 1e-9", "--timeout 1e-9: expected seconds from 0.001 to 86400"},
      {"audit builtin --spec transformer-512 --max-position 99999999999999999999",
       "--max-position 99999999999999999999"},
      {"audit builtin --spec transformer-512 --max-position 010x", "--max-position 010x"},
      {"audit builtin --spec transformer-512 --shard -1/2", "--shard -1/2"},
      {"audit builtin --spec transformer-512 --shard 1/2x", "--shard 1/2x"},
      {"audit builtin --spec transformer-512 --shard 1/4294967297", "--shard 1/4294967297"},
      {R"(audit builtin --spec '{"encoding":"sinusoidal_2d","dim":8,"height":9,"width":7,"min_position":7}')",
       "min_position: expected less than 7"},
      {"audit builtin --spec transformer-512 --replay accuracy", "--replay"},
      {"audit builtin --spec transformer-512 --replay accuracy:position=999999,rows=1",
       "--replay: position: expected 0 to 131071, got 999999"},
      {"audit builtin --spec transformer-512 --only bounds --replay accuracy:position=1,rows=1",
       "--replay: names its property: leave out --only and --skip"},
      {"audit builtin --spec transformer-512 --replay isometry:position=0,tokens=1,heads=1,fill=1", "does not apply"},
      {"audit builtin --spec llama-2-7b --replay accuracy:pos=1",
       "expected the fields position, tokens, batch, heads, fill[, order], in this order"},
      {"audit builtin --spec transformer-512 --baseline absent.json", "--baseline absent.json: cannot be read"},
      {"audit builtin --spec transformer-512 --replay odd:x=1", "no property is called \"odd\""},
      {"audit builtin --spec transformer-512 --report spec.json", "spec.json: the directory cannot be created"},
      {"audit builtin --spec transformer-512 --unknown", "--unknown"},
      {"audit", "subject"},
      {"table --spec transformer-512 --positions 5:2 --out t.npy", "--positions 5:2"},
      {"table --spec transformer-512 --positions 0:9:0 --out t.npy", "STEP"},
      {"table --spec transformer-512 --positions 0: --out t.npy", "expected A:B"},
      {"table --spec transformer-512 --positions 0:9 --dtype int8 --out t.npy", "--dtype int8"},
      {"table --spec transformer-512 --positions 0:9 --out t.csv", "t.csv"},
      {"table --spec transformer-512 --positions 0:9 --out absent/t.npy", "absent/t.npy"},
      {"table --spec llama-2-7b --positions 0:9 --out t.csv", ".safetensors"},
      {"table --spec t5-small --positions 0:9 --out t.npy", "of which it writes tables, got relative_bias"},
      {"table --positions 0:9 --out t.npy", "exactly one of --spec, --hf-config and --gguf"},
      {"table --spec transformer-512 --positions absent --out t.npy", "expected A:B, A:B:STEP or a file: no such file"},
      {"table --spec transformer-512 --positions spec.json --out t.npy", "spec.json: number 1: expected an integer"},
      {"audit live:99 --spec transformer-512", "live:99: expected the number of a descriptor"},
      {"audit live:0 --spec transformer-512", "live:0: expected the number of a descriptor"},
      {"audit builtin --json", "--json: needs --spec, --hf-config or --gguf"},
      {"list specs --spec transformer-512", "list --spec: expected properties or positions"},
      {"list positions", "list positions: needs --spec"},
      {"list properties --spec transformer-512 --matrix", "list --spec: cannot be combined with --matrix"},
      {"list properties --spec no-such-preset", "no-such-preset"},
      {"explain nothing", "explain nothing: no such property"},
      {"list things", "list: expected one of positions"},
      {"list propertys", "did you mean properties?"},
      {"", "missing subcommand: expected one of audit"},
      {"report", "report: missing subcommand: expected one of compare"},
      {"audit", "audit: missing argument: subject; sextant audit --help"},
      {"audit builtin --sepc llama-2-7b", "--sepc: no such option of audit; did you mean --spec?"},
      {"audit builtin again --spec transformer-512", "again: audit takes no such argument"},
      {"audit builtin --seed", "--seed: its value is missing"},
      {"foo", "foo: no such subcommand"},
      {"adit builtin", "did you mean audit?"},
      {R"(audit builtin --spec '{"encoding":"rope","head_dim":64,"rope_scaling":{"type":"linear","factor":2}}')",
       "rope_scaling.type: unknown field: in a spec it is called rope_type"},
  };
  for (const auto& [line, text] : lines) {
    SCOPED_TRACE(line);
    expect_one_line(sextant(line), text);
  }
}

TEST_F(Command, AnInstructionSetCanBeForced) {
  const auto targets = nlohmann::json::parse(sextant("list targets --json").output);
  ASSERT_FALSE(targets.empty());
  const std::string plainest = targets.back()["name"];
  setenv("SEXTANT_FORCE_TARGET", plainest.c_str(), 1);
  const auto forced = nlohmann::json::parse(sextant("list targets --json").output);
  setenv("SEXTANT_FORCE_TARGET", "MMX", 1);
  const Finished refused = sextant("list targets");
  unsetenv("SEXTANT_FORCE_TARGET");
  EXPECT_EQ(forced.size(), targets.size());
  EXPECT_EQ(forced.back()["in_use"], true);
  expect_one_line(refused, "SEXTANT_FORCE_TARGET=MMX: expected one of " + std::string(targets.front()["name"]));
}

TEST_F(Command, ListAndExplainPrintTheCatalogue) {
  EXPECT_NE(sextant("list properties").output.find("linear_shift"), std::string::npos);
  EXPECT_GE(nlohmann::json::parse(sextant("list properties --json").output).size(), 23);
  EXPECT_NE(sextant("list specs").output.find("transformer-512"), std::string::npos);
  const std::string specs = sextant("list specs").output;
  EXPECT_EQ(sextant("list presets").output, specs);
  for (const auto& preset : nlohmann::json::parse(sextant("list specs --json").output)) {
    const std::string source = preset.at("source");
    EXPECT_FALSE(source.empty()) << preset.at("name");
    EXPECT_NE(specs.find("[" + source + "]"), std::string::npos) << source;
  }
  EXPECT_EQ(nlohmann::json::parse(sextant("list encodings --json").output).size(), encoding_examples().size());
  for (const auto& property : nlohmann::json::parse(sextant("list properties --json").output)) {
    const Finished finished = sextant("explain " + property["id"].get<std::string>());
    EXPECT_EQ(finished.status, 0);
    EXPECT_NE(finished.output.find("tolerance"), std::string::npos);
  }
  EXPECT_EQ(sextant("--version").status, 0);
  EXPECT_EQ(sextant("--help").status, 0);
}

TEST_F(Command, ListsThePropertiesThatASpecIsJudgedBy) {
  const auto listed = nlohmann::json::parse(sextant("list properties --json --spec transformer-512").output);
  const auto report =
      nlohmann::json::parse(sextant("audit builtin --spec transformer-512 --profile quick --json").output);
  std::vector<std::string> judged;
  for (const auto& property : report["properties"]) {
    if (property["verdict"] != "not_applicable") judged.push_back(property["id"]);
  }
  std::vector<std::string> ids;
  for (const auto& property : listed) ids.push_back(property["id"]);
  EXPECT_EQ(ids, judged);
  EXPECT_GE(ids.size(), 15);
}

TEST_F(Command, ListsThePositionsWhereImplementationsBreak) {
  const auto listed =
      nlohmann::json::parse(sextant("list positions --json --spec transformer-512").output).get<std::vector<int>>();
  ASSERT_TRUE(std::ranges::is_sorted(listed));
  for (const int position : {0, 1, 2, 255, 256, 257, 2049, 65520, 131070, 131071})
    EXPECT_EQ(std::ranges::count(listed, position), 1) << position;
  EXPECT_EQ(listed.back(), 131071);
  EXPECT_EQ(sextant("list positions --spec transformer-512").output.substr(0, 2), "0 ");
}

TEST_F(Command, AReportIsPrintedAsItsFileHoldsIt) {
  const std::string asked = std::string("audit builtin") + spec + "--only bounds --json";
  const Finished finished = sextant(asked + " --report reports");
  EXPECT_EQ(finished.status, 0) << finished.error;
  EXPECT_EQ(finished.output, read_all(directory_ / "reports" / "report.json"));
  // Which are for a report's pictures.
  EXPECT_EQ(nlohmann::json::parse(sextant(asked).output)["survey"]["frequencies"], nullptr);
}

TEST_F(Command, ATableHasTheRowsOfAFileOfPositionsInItsOrder) {
  write("positions", "7 -3\n7\n\n  100 0");
  const std::string table = R"(table --spec '{"encoding":"sinusoidal","dim":8}' --positions )";
  ASSERT_EQ(sextant(table + "positions --out listed.npy").status, 0);
  ASSERT_EQ(sextant(table + "-3:101 --out all.npy").status, 0);
  const auto rows = [&](const char* name, const std::vector<std::int64_t>& indices) {
    const ArrayFile file(directory_ / name);
    return gather(rows_of(file.array(""), 8).value(), Dtype::float32, indices).data;
  };
  ASSERT_EQ(ArrayFile(directory_ / "listed.npy").array("").shape, (std::vector<std::int64_t>{5, 8}));
  EXPECT_EQ(rows("listed.npy", {0, 1, 2, 3, 4}), rows("all.npy", {10, 0, 10, 103, 3}));
  write("positions", "7 8.5");
  expect_one_line(sextant(table + "positions --out no.npy"), R"(number 2: expected an integer within 2^53, got "8.5")");
  write("positions", "9007199254740993");
  expect_one_line(sextant(table + "positions --out no.npy"), "number 1: expected an integer within 2^53");
  write("positions", " \n");
  expect_one_line(sextant(table + "positions --out no.npy"), "the file has no numbers");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "no.npy"));
}

TEST_F(Command, ATableIsCorrectlyRoundedAndSoHoldsAtTheStrictestClass) {
  const std::string strict = R"('{"encoding":"sinusoidal","dim":16,"accuracy":"correctly-rounded","dtype":")";
  for (const std::string dtype : {"float64", "float32", "float16", "bfloat16"}) {
    const std::string claim = strict + dtype + "\"}'";
    ASSERT_EQ(sextant("table --spec " + claim + " --positions 0:3000 --out t.npy").status, 0);
    const Finished finished = sextant("audit file:t.npy --profile quick --spec " + claim);
    EXPECT_EQ(finished.status, 0) << finished.output << finished.error;
  }
  EXPECT_EQ(
      sextant("table --spec llama-3.1-8b --positions 131000:131072:3 --dtype bfloat16 --out t.safetensors").status, 0);
  EXPECT_EQ(std::filesystem::file_size(directory_ / "t.safetensors") % 8, 0U);
  const std::string rope = R"('{"encoding":"rope","head_dim":32,"accuracy":"correctly-rounded","rope_scaling":)"
                           R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":512},"dtype":")";
  for (const std::string dtype : {"float64", "float32", "float16", "bfloat16"}) {
    const std::string claim = rope + dtype + "\"}'";
    for (const std::string file : {"t.safetensors", "t.npy"}) {
      ASSERT_EQ(sextant("table --spec " + claim + " --positions 0:1500 --out " + file).status, 0);
      const Finished finished = sextant("audit file:" + file + " --profile quick --spec " + claim);
      EXPECT_EQ(finished.status, 0) << finished.output << finished.error;
    }
  }
}

TEST_F(Command, ATableOfAGridHoldsTheOneDimensionalCodesOfItsCells) {
  const auto rows = [&](const char* name) {
    const ArrayFile file(directory_ / name);
    const StoredArray array = file.array("");
    std::vector<std::int64_t> all(static_cast<std::size_t>(array.shape[0]));
    std::iota(all.begin(), all.end(), 0);
    return gather(rows_of(array, array.shape[1]).value(), Dtype::float32, all);
  };
  const std::string grid = R"('{"encoding":"sinusoidal_2d","dim":16,"height":3,"width":5}')";
  ASSERT_EQ(sextant("table --spec " + grid + " --positions 0:15 --out grid.npy").status, 0);
  ASSERT_EQ(sextant(R"(table --spec '{"encoding":"sinusoidal","dim":8}' --positions 0:5 --out line.npy)").status, 0);
  const Tensor cells = rows("grid.npy");
  const Tensor line = rows("line.npy");
  ASSERT_EQ(cells.shape, (std::vector<std::int64_t>{15, 16}));
  for (std::int64_t cell = 0; cell < 15; ++cell) {
    for (std::int64_t channel = 0; channel < 8; ++channel) {
      ASSERT_EQ(cells.at(cell * 16 + channel), line.at(cell / 5 * 8 + channel));
      ASSERT_EQ(cells.at(cell * 16 + 8 + channel), line.at(cell % 5 * 8 + channel));
    }
  }
  expect_one_line(sextant("table --spec " + grid + " --positions 0:16 --out grid.npy"), "cells of the 3 x 5 grid");
  expect_one_line(sextant("table --spec " + grid + " --positions -1:4 --out grid.npy"), "cells of the 3 x 5 grid");
  const std::string film = R"('{"encoding":"sinusoidal_nd","dim":18,"extents":[2,3,5],"channels":[2,8,8]}')";
  ASSERT_EQ(sextant("table --spec " + film + " --positions 15:30 --out film.npy").status, 0);
  const Tensor frame = rows("film.npy");
  for (std::int64_t cell = 0; cell < 15; ++cell) {
    for (std::int64_t channel = 0; channel < 16; ++channel)
      ASSERT_EQ(frame.at(cell * 18 + 2 + channel), cells.at(cell * 16 + channel));
  }
  expect_one_line(sextant("table --spec " + film + " --positions 15:31 --out film.npy"), "cells of the 2 x 3 x 5 grid");
}

// The call has the positions of the file and no others: its length is the last one's, whatever B would leave room for.
TEST_F(Command, ATableWithAStepIsOneCallOfItsPositions) {
  for (const std::string scaling : {R"({"rope_type":"dynamic","factor":4,"original_max_position_embeddings":64})",
                                    R"({"rope_type":"longrope","original_max_position_embeddings":996,"factor":32,)"
                                    R"("short_factor":[1,1.1,1.3,2],"long_factor":[1.2,4,18,30]})"}) {
    const std::string claim = R"({"encoding":"rope","head_dim":8,"rope_scaling":)" + scaling + "}";
    ASSERT_EQ(sextant("table --spec '" + claim + "' --positions 7:1000:7 --dtype float64 --out t.safetensors").status,
              0);  // 7 ... 994
    const Spec parsed = parse_spec(claim);
    reference::RopeReference oracle(std::get<Rope>(parsed.encoding));
    SafetensorsReader reader(std::uint64_t{1} << 20);
    const std::string file = read_all(directory_ / "t.safetensors");
    reader.feed(std::as_bytes(std::span(file)));
    const Tensors tables = reader.blob().tensors;
    ASSERT_EQ(tables.at("cos").shape, (std::vector<std::int64_t>{142, 4}));
    for (std::int64_t row = 0; row < 142; ++row) {
      for (std::int64_t pair = 0; pair < 4; ++pair) {
        const auto value = [&](auto component) {
          return reference::nearest(Dtype::float64, [&](reference::Precision precision) {
            return oracle.attention_factor(precision) * component(oracle.rotation(7 + 7 * row, pair, 995, precision));
          });
        };
        ASSERT_EQ(tables.at("cos").at(row * 4 + pair),
                  value([](const reference::Rotation& rotation) { return rotation.cos; }))
            << row << " " << pair;
        ASSERT_EQ(tables.at("sin").at(row * 4 + pair),
                  value([](const reference::Rotation& rotation) { return rotation.sin; }))
            << row << " " << pair;
      }
    }
  }
}

TEST_F(Command, ATableTakesAStepThatReachesBeyondEveryPosition) {
  const std::string claim = R"(table --spec '{"encoding":"sinusoidal","dim":2}' --out t.npy --positions )";
  const Finished finished = sextant(claim + "-9007199254740992:9007199254740993:9223372036854775807");
  EXPECT_EQ(finished.status, 0);
  EXPECT_NE(finished.output.find("1 positions"), std::string::npos) << finished.output;
  EXPECT_NE(sextant(claim + "-9007199254740992:9007199254740993:18014398509481984").output.find("2 positions"),
            std::string::npos);
  expect_one_line(sextant(claim + "0:9:9223372036854775808"), "expected A:B");
}

TEST_F(Command, TheReportDependsOnTheSeedOnly) {
  const auto report = [&](const std::string& arguments) {
    sextant(std::string("audit builtin") + spec + arguments + " --report r");
    auto json = nlohmann::json::parse(read_all(directory_ / "r" / "report.json"));
    json.erase("seconds");
    for (auto& property : json["properties"]) property.erase("seconds");
    return json.dump();
  };
  EXPECT_EQ(report("--threads 1"), report("--threads 4"));
  EXPECT_NE(report("--seed 1"), report("--seed 2"));
}

// Shrinking, the search for the worst case, caches that colour later answers, and crashes: all of it happens on any
// thread.
TEST_F(Command, ABrokenSubjectHasTheSameReportOnOneThreadAndOnTwo) {
  write("broken.py",
        "import os\nimport numpy as np\nlongest = 0\ndef encode(positions, spec):\n    global longest\n    longest = "
        "max(longest, len(positions))\n"
        "    if len(positions) == 4:\n        os._exit(9)\n"
        "    d = spec['dim']\n    p = np.asarray(positions, np.float16).astype(np.float32)[:, None]\n"
        "    angle = p * spec['base'] ** (-np.arange(0, d, 2) / d) * (1 + (longest > 40))\n    table = "
        "np.zeros((len(positions), d), np.float32)\n"
        "    table[:, 0::2] = np.sin(angle)\n    table[:, 1::2] = np.cos(angle)\n    return table\n");
  for (const std::string& subject :
       {std::string("python:broken.py"), std::string("mutant:sinusoidal-summed-positions")}) {
    const auto report = [&](const char* threads) {
      const Finished finished = sextant("audit " + subject + " --spec " + R"('{"encoding":"sinusoidal","dim":16}')" +
                                        " --profile quick --report r --threads " + threads);
      EXPECT_EQ(finished.status, 1) << finished.error;
      auto json = nlohmann::json::parse(read_all(directory_ / "r" / "report.json"));
      json.erase("seconds");
      for (auto& property : json["properties"]) property.erase("seconds");
      return json.dump(1);
    };
    EXPECT_EQ(report("1"), report("2")) << subject;
  }
}

TEST_F(Command, AnInterruptEndsTheWorkersToo) {
  write("slow.py", std::string(header) + "open('pid', 'w').write(str(os.getpid()))\ntime.sleep(1000)\n");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (chdir(directory_.c_str()) != 0 || freopen("out", "w", stdout) == nullptr ||
        freopen("err", "w", stderr) == nullptr)
      _exit(99);
    execl(SEXTANT_COMMAND, "sextant", "audit", "python:slow.py", "--spec", "transformer-512", "--only", "accuracy",
          static_cast<char*>(nullptr));
    _exit(98);
  }
  for (int i = 0; i < 500 && read_all(directory_ / "pid").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::string worker = read_all(directory_ / "pid");
  ASSERT_FALSE(worker.empty());
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(read_all(directory_ / "err"), "sextant: interrupted; without --report nothing was kept to go on with\n");
  EXPECT_FALSE(std::filesystem::exists("/proc/" + worker));
}

// The line that it leaves, run as it is, judges the rest.
TEST_F(Command, AnInterruptedAuditSaysHowToGoOn) {
  write("waiting.py", std::string(header) + correct + R"(
_encode = encode
def encode(p, spec):
    if not os.path.exists('go'):
        open('stuck', 'w').write('yes')
        time.sleep(1000)
    return _encode(p, spec)
)");
  write("claim.json", R"({"encoding":
      "sinusoidal", "dim":16, "max_position":512})");
  std::filesystem::create_directory(directory_ / "it's here");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (chdir(directory_.c_str()) != 0 || freopen("out", "w", stdout) == nullptr ||
        freopen("err", "w", stderr) == nullptr || freopen("claim.json", "r", stdin) == nullptr)
      _exit(99);
    execl(SEXTANT_COMMAND, SEXTANT_COMMAND, "audit", "python:waiting.py", "--spec", "-", "--profile=quick", "--only",
          "accuracy", "--report", "it's here/out", "--threads", "1", static_cast<char*>(nullptr));
    _exit(98);
  }
  for (int i = 0; i < 1500 && read_all(directory_ / "stuck").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const std::string said = read_all(directory_ / "err");
  const std::string before = "sextant: interrupted; go on with: ";
  ASSERT_EQ(said.substr(0, before.size()), before) << said;
  const std::string line = said.substr(before.size());
  EXPECT_EQ(line,
            std::string(SEXTANT_COMMAND) +
                R"( audit python:waiting.py --spec '{"encoding":       "sinusoidal", "dim":16, "max_position":512}')"
                R"( --profile=quick)"
                R"( --only accuracy --threads 1 --resume 'it'\''s here/out')"
                "\n");
  write("go", "");
  write("line.sh", line);
  EXPECT_EQ(std::system(("cd '" + directory_.string() + "' && sh line.sh >out 2>err </dev/null").c_str()), 0)
      << read_all(directory_ / "err");
  EXPECT_TRUE(std::filesystem::exists(directory_ / "it's here/out/report.json"));
}

// One line of JSON on standard output, whatever happens.
TEST_F(Command, AGradeIsOneLineOfJson) {
  const auto graded = [&](const std::string& arguments, int status) {
    const Finished finished = sextant("grade " + arguments);
    EXPECT_EQ(finished.status, status) << arguments << "\n" << finished.output << finished.error;
    EXPECT_EQ(std::ranges::count(finished.output, '\n'), 1) << finished.output;
    EXPECT_TRUE(finished.output.ends_with('\n'));
    auto json = nlohmann::json::parse(finished.output);
    EXPECT_EQ(json.at("exit"), status);
    return json;
  };
  const std::string claim = R"( --spec '{"encoding":"sinusoidal","dim":16,"max_position":2048}')";
  const auto held = graded("builtin" + claim, 0);
  EXPECT_EQ(held["verdict"], "holds");
  EXPECT_EQ(held["claim"].get<std::string>().substr(0, 17), "sinusoidal dim 16");
  EXPECT_GE(held["properties"]["held"], 15);
  EXPECT_EQ(held["properties"]["violated"], 0);
  EXPECT_EQ(held["horizon"], nullptr);
  EXPECT_EQ(held["first_violation"], nullptr);
  EXPECT_EQ(held["first_failure"], nullptr);
  EXPECT_LE(held["worst"]["of_bound"], 1);
  EXPECT_GT(held["seconds"], 0);
  // The numbers are those of the report.
  ASSERT_EQ(sextant("audit builtin --profile quick --report r" + claim).status, 0);
  const auto report = nlohmann::json::parse(read_all(directory_ / "r/report.json"));
  std::map<std::string, int> verdicts;
  for (const auto& property : report["properties"]) ++verdicts[property["verdict"]];
  EXPECT_EQ(held["properties"]["held"], verdicts["holds"]);
  EXPECT_EQ(held["properties"]["not_applicable"], verdicts["not_applicable"]);

  const auto wrong = graded("mutant:sinusoidal-bfloat16-positions --only accuracy" + claim, 1);
  EXPECT_EQ(wrong["verdict"], "violated");
  EXPECT_EQ(wrong["horizon"], 256);
  EXPECT_EQ(wrong["worst"]["property"], "accuracy");
  EXPECT_GT(wrong["worst"]["of_bound"], 1000);
  EXPECT_GT(wrong["worst"]["ulps"], 1000);
  EXPECT_GT(wrong["worst"]["position"], 256);
  EXPECT_EQ(wrong["first_violation"]["property"], "accuracy");
  EXPECT_EQ(wrong["first_violation"]["finding"].get<std::string>().substr(0, 13), "position 257,");
  const std::string replay = wrong["first_violation"]["replay"];
  EXPECT_EQ(sextant(replay.substr(replay.find("audit"))).status, 1) << replay;

  write("crashing.py", std::string(header) + "def encode(p, spec):\n    os.kill(os.getpid(), signal.SIGSEGV)\n");
  const auto crashed = graded("python:crashing.py --only accuracy" + claim, 3);
  EXPECT_EQ(crashed["verdict"], "crashed");
  EXPECT_EQ(crashed["properties"]["failed"], 1);
  EXPECT_EQ(crashed["worst"], nullptr);
  EXPECT_NE(crashed["first_failure"]["reason"].get<std::string>().find("signal 11"), std::string::npos);
  write("hanging.py", std::string(header) + "def encode(p, spec):\n    time.sleep(1000)\n");
  EXPECT_EQ(graded("python:hanging.py --only accuracy --timeout 4" + claim, 3)["verdict"], "timed_out");
  // What a file prints is no part of the line.
  write("chatty.py", std::string(header) + correct + "print('{}')\nos.system('echo shell')\n");
  EXPECT_EQ(graded("python:chatty.py --only accuracy" + claim, 0)["verdict"], "holds");
  write("other.py", "def bucket(relative, spec):\n    return relative\n");
  EXPECT_EQ(graded("python:other.py" + claim, 4)["verdict"], "unsupported");
  EXPECT_EQ(graded("builtin --only isometry" + claim, 4)["verdict"], "not_applicable");
  // A value that is not finite is beyond any bound, and JSON has no infinity.
  write("nan.py", std::string(header) +
                      "def encode(p, spec):\n    return np.full((len(p), spec['dim']), np.nan, "
                      "np.float32)\n");
  const auto not_finite = graded("python:nan.py --only accuracy" + claim, 1);
  EXPECT_EQ(not_finite["worst"]["of_bound"], nullptr);
  EXPECT_EQ(not_finite["horizon"], -1);

  const std::pair<const char*, const char*> mistakes[] = {
      {"", "subject"},
      {"builtin", "exactly one of --spec, --hf-config and --gguf"},
      {"builtin --spec no-such-preset", "no-such-preset: neither a file"},
      {"builtin --spec ''", "--spec: the value is empty"},
      {"python:absent.py --spec transformer-512", "absent.py: no such file"},
      {"builtin --spec transformer-512 --only nothing", "no such property"},
      {"builtin --spec transformer-512 --as nothing", "no such recipe"},
      {"builtin --spec transformer-512 --unknown", "--unknown"},
      {"builtin --spec transformer-512 --budget 4h", "--budget 4h"}};
  for (const auto& [arguments, text] : mistakes) {
    const auto error = graded(arguments, 2);
    EXPECT_EQ(error["verdict"], "error");
    EXPECT_NE(error["error"].get<std::string>().find(text), std::string::npos) << error;
  }
}

TEST_F(Command, AClaimIsPrintedInFullAndReadFromStandardInput) {
  const std::string full = sextant("spec --spec llama-2-7b").output;
  const auto spec_of = [&](const std::string& line, const std::string& input = "/dev/null") {
    const Finished finished = sextant(line, input);
    EXPECT_EQ(finished.status, 0) << line << finished.error;
    return finished.output;
  };
  EXPECT_EQ(nlohmann::json::parse(full).at("rope_theta"), 10000);
  write("claim.json", nlohmann::json::parse(full).dump(2));
  EXPECT_EQ(spec_of("spec --spec -", "claim.json"), full);
  EXPECT_EQ(spec_of("spec --spec=-", "claim.json"), full);
  const auto claims = nlohmann::json::parse(spec_of("spec --spec llama-2-7b --json"));
  ASSERT_EQ(claims.size(), 1);
  EXPECT_EQ(claims[0].at("spec"), nlohmann::json::parse(full));
  EXPECT_EQ(claims[0].at("model_type"), "");
  EXPECT_EQ(spec_of("list properties --spec -", "claim.json"), spec_of("list properties --spec llama-2-7b"));
  EXPECT_EQ(spec_of("table --positions 0:3 --out t.npy --spec -", "claim.json"),
            spec_of("table --positions 0:3 --out t.npy --spec llama-2-7b"));
  // The report's command does not read standard input again.
  EXPECT_EQ(sextant("audit builtin --profile quick --only determinism --report r --spec -", "claim.json").status, 0);
  const std::string command = nlohmann::json::parse(read_all(directory_ / "r/report.json")).at("command");
  EXPECT_EQ(sextant(command.substr(command.find("audit")) + " --only determinism --resume r").status, 0) << command;
  expect_one_line(sextant("spec --spec -"), "--spec -: expected a spec on standard input, a JSON object");
  write("broken.json", "{\"encoding\":\n\"rope\"");
  expect_one_line(sextant("spec --spec -", "broken.json"), "spec: ");
  write("name", "llama-2-7b");
  expect_one_line(sextant("audit builtin --spec -", "name"), "--spec -: expected a spec on standard input");
}

TEST_F(Command, ListingsAndComparisonsArePrintedAsJson) {
  const auto explained = nlohmann::json::parse(sextant("explain accuracy --json").output);
  EXPECT_EQ(explained.at("id"), "accuracy");
  EXPECT_EQ(explained.at("level"), "law");
  for (const char* field : {"title", "statement", "source", "applies_to", "tolerance", "catches"})
    EXPECT_FALSE(explained.at(field).get<std::string>().empty()) << field;
  const std::string claim = R"( --profile quick --only accuracy --spec '{"encoding":"sinusoidal","dim":16}')";
  ASSERT_EQ(sextant("audit builtin --report good" + claim).status, 0);
  ASSERT_EQ(sextant("audit mutant:sinusoidal-bfloat16-positions --report bad" + claim).status, 1);
  const Finished lost = sextant("report compare good/report.json bad/report.json --json");
  EXPECT_EQ(lost.status, 1);
  const auto regressions = nlohmann::json::parse(lost.output);
  EXPECT_EQ(regressions.at("exit_status"), 1);
  const auto& lines = regressions.at("regressions");
  EXPECT_TRUE(std::ranges::any_of(lines, [](const auto& line) {
    return line.template get<std::string>().starts_with("accuracy: violated, held before: position 257,");
  })) << lines;
  const auto same = nlohmann::json::parse(sextant("report compare good/report.json good/report.json --json").output);
  EXPECT_EQ(same.at("exit_status"), 0);
  EXPECT_TRUE(same.at("regressions").empty());
}

TEST_F(Command, ColourIsWhatIsAskedFor) {
  const std::string audit = std::string("audit builtin --only determinism") + spec;
  const auto is_coloured = [&](const std::string& line) {
    const Finished finished = sextant(line);
    EXPECT_EQ(finished.status, 0) << finished.error;
    return finished.output.find("\x1b[") != std::string::npos;
  };
  EXPECT_FALSE(is_coloured(audit));  // standard output is a file
  EXPECT_FALSE(is_coloured(audit + "--color auto"));
  EXPECT_TRUE(is_coloured(audit + "--color always"));
  EXPECT_FALSE(is_coloured(audit + "--color never"));
  setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(is_coloured(audit + "--color always"));  // asked for in so many words
  unsetenv("NO_COLOR");
  expect_one_line(sextant(audit + "--color pink"), "--color: expected one of auto, always, never, got pink");
}

// What a person sees: standard output and standard error are a terminal, the keys Ctrl-C among them.
class Terminal : public Command {
 protected:
  // The command's output, and its status, run in the test's directory; `keys` are typed once the output has `prompt`.
  Finished on_terminal(const std::vector<std::string>& words, const std::string& prompt = "",
                       const std::string& keys = "") const {
    int master = -1;
    const pid_t child = forkpty(&master, nullptr, nullptr, nullptr);
    if (child == 0) {
      std::vector<char*> arguments;
      std::string program = SEXTANT_COMMAND;
      std::vector<std::string> own = words;
      arguments.push_back(program.data());
      for (std::string& word : own) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      setenv("TERM", "xterm", 1);
      if (chdir(directory_.c_str()) == 0) execv(SEXTANT_COMMAND, arguments.data());
      _exit(98);
    }
    Finished finished{};
    bool is_typed = keys.empty();
    std::array<char, 4096> part{};
    for (ssize_t count = 0; (count = read(master, part.data(), part.size())) > 0;) {
      finished.output.append(part.data(), static_cast<std::size_t>(count));
      if (!is_typed && finished.output.find(prompt) != std::string::npos) {
        is_typed = ::write(master, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size());
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    close(master);
    finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    return finished;
  }
};

TEST_F(Terminal, ShowsColourUnlessToldNotTo) {
  const std::vector<std::string> audit{"audit",  "builtin",     "--spec",    "transformer-512",
                                       "--only", "determinism", "--profile", "quick"};
  const auto last_line_is_green = [&](const std::vector<std::string>& words) {
    return on_terminal(words).output.find("\x1b[1;32mthe one applicable property holds") != std::string::npos;
  };
  EXPECT_TRUE(last_line_is_green(audit));
  std::vector<std::string> never = audit;
  never.insert(never.end(), {"--color", "never"});
  EXPECT_FALSE(last_line_is_green(never));
  setenv("NO_COLOR", "", 1);  // as good as unset: no-color.org
  EXPECT_TRUE(last_line_is_green(audit));
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(last_line_is_green(audit));
  unsetenv("NO_COLOR");
}

TEST_F(Terminal, ShowsProgressAndStopsAtTheKey) {
  write("slow.py", std::string(header) + correct + R"(
_encode = encode
def encode(p, spec):
    time.sleep(0.05)
    return _encode(p, spec) * np.float32(1.5)
)");
  const Finished finished = on_terminal(
      {"audit", "python:slow.py", "--spec", R"({"encoding":"sinusoidal","dim":16})", "--threads", "1", "--report", "r"},
      " s left", "\x03");
  EXPECT_EQ(finished.status, 130) << finished.output;
  const auto at = finished.output.find("properties judged");
  ASSERT_NE(at, std::string::npos) << finished.output;
  // What shares answers is judged together.
  const std::regex named("(accuracy|bounds|unit_circle), 0 of \\d+ properties judged");
  EXPECT_TRUE(std::regex_search(finished.output, named)) << finished.output;
  EXPECT_NE(finished.output.find(" s, about "), std::string::npos) << finished.output;
  EXPECT_NE(finished.output.find("interrupted; go on with: "), std::string::npos) << finished.output;
  EXPECT_NE(finished.output.find("--threads 1 --resume r"), std::string::npos) << finished.output;
}

// Bash itself says what it would offer.
TEST_F(Command, BashCompletesWhatThereIs) {
  write("completion", sextant("completion bash").output);
  const auto offered = [&](const std::string& words) {
    write("ask.sh", R"sh(source completion
eval "COMP_WORDS=($1)"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_sextant
printf '%s\n' "${COMPREPLY[@]}"
)sh");
    write("words", words);
    EXPECT_EQ(
        std::system(("cd '" + directory_.string() + "' && bash ask.sh \"$(cat words)\" >out 2>err </dev/null").c_str()),
        0);
    EXPECT_EQ(read_all(directory_ / "err"), "") << words;
    std::set<std::string> lines;
    std::istringstream stream(read_all(directory_ / "out"));
    for (std::string line; std::getline(stream, line);) {
      if (!line.empty()) lines.insert(line);
    }
    return lines;
  };
  using Lines = std::set<std::string>;
  EXPECT_EQ(offered("sextant aud"), Lines{"audit"});
  EXPECT_TRUE(offered("sextant ''").contains("completion"));
  EXPECT_EQ(offered("sextant report ''"), (Lines{"compare", "merge", "render"}));
  EXPECT_EQ(offered("sextant audit --prof"), Lines{"--profile"});
  EXPECT_EQ(offered("sextant audit builtin --profile ''"), (Lines{"exhaustive", "quick", "standard"}));
  EXPECT_EQ(offered("sextant audit builtin --profile = e"), Lines{"exhaustive"});
  EXPECT_EQ(offered("sextant audit builtin --profile ="), (Lines{"exhaustive", "quick", "standard"}));
  EXPECT_EQ(offered("sextant audit builtin --spec llama-2"), Lines{"llama-2-7b"});
  EXPECT_EQ(offered("sextant audit builtin --only accu"), Lines{"accuracy"});
  EXPECT_EQ(offered("sextant audit builtin --as float32-widened-fused-f"), Lines{"float32-widened-fused-first"});
  EXPECT_EQ(offered("sextant audit pyth"), Lines{"python:"});
  EXPECT_EQ(offered("sextant audit python : a"), Lines{});  // a file, bash's own
  EXPECT_EQ(offered("sextant audit builtin --report ''"), Lines{});
  EXPECT_EQ(offered("sextant explain accu"), Lines{"accuracy"});
  EXPECT_EQ(offered("sextant completion ''"), (Lines{"bash", "fish", "zsh"}));
  EXPECT_EQ(offered("sextant list enc"), Lines{"encodings"});
  EXPECT_EQ(offered("sextant report compare a --tigh"), Lines{"--tighten"});
  const Lines presets = offered("sextant grade builtin --spec ''");
  for (const auto& preset : nlohmann::json::parse(sextant("list specs --json").output))
    EXPECT_TRUE(presets.contains(preset.at("name"))) << preset;
  expect_one_line(sextant("completion tcsh"), "completion: expected one of bash, zsh, fish, got tcsh");
}

// The long options that the help of a command and of each below it shows.
std::set<std::string> long_options(const std::function<std::string(const std::string&)>& help_of,
                                   const std::string& command) {
  const std::string help = help_of(command);
  const auto subcommands = help.find("\nSubcommands:");
  std::set<std::string> options;
  const std::regex option("\n  (?:-\\w,)?(--[a-z-]+)");
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at) options.insert((*at)[1]);
  if (subcommands == std::string::npos) return options;
  const std::string below = help.substr(subcommands);
  const std::regex name("\n  ([a-z]+) ");
  for (std::sregex_iterator at(below.begin(), below.end(), name), end; at != end; ++at)
    options.merge(long_options(help_of, command + " " + (*at)[1].str()));
  return options;
}

TEST_F(Command, EveryOptionIsInEachCompletionAndInTheManual) {
  const std::set<std::string> options =
      long_options([&](const std::string& command) { return sextant(command + " --help").output; }, "");
  ASSERT_GE(options.size(), 30);
  const std::string fish = sextant("completion fish").output;
  const std::string zsh = sextant("completion zsh").output;
  const std::string bash = sextant("completion bash").output;
  const std::string page = sextant("man").output;
  for (const std::string& option : options) {
    std::string escaped = option;
    for (std::size_t at = 0; (at = escaped.find('-', at)) != std::string::npos; at += 2) escaped.insert(at, "\\");
    EXPECT_NE(bash.find(option), std::string::npos) << option;
    EXPECT_NE(zsh.find("'" + option + ":"), std::string::npos) << option;
    EXPECT_NE(fish.find(" -l " + option.substr(2)), std::string::npos) << option;
    if (option != "--help") {
      EXPECT_NE(page.find("\\fB" + escaped + "\\fR"), std::string::npos) << option;
    }
  }
  for (const std::string& text : {fish, zsh, bash, page}) {
    EXPECT_EQ(text.find("subject-shown"), std::string::npos);  // hidden
    EXPECT_NE(text.find("completion"), std::string::npos);
  }
  EXPECT_TRUE(
      std::ranges::all_of(page, [](char letter) { return letter == '\n' || (letter >= ' ' && letter <= '~'); }));
}

}  // namespace
}  // namespace sextant::command_test
