#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reports/event_log.hpp"
#include "reports/html.hpp"
#include "reports/json.hpp"
#include "reports/junit.hpp"
#include "reports/markdown.hpp"
#include "reports/read_events.hpp"
#include "reports/read_json.hpp"
#include "reports/sample_test.hpp"
#include "reports/sarif.hpp"
#include "reports/tally_json.hpp"
#include "reports/terminal.hpp"
#include "reports/write.hpp"

namespace sextant::events_test {
namespace {

using nlohmann::ordered_json;

// The sample as it stands before anything is judged.
Report nothing_judged() {
  Report report = sample();
  for (const PropertyResult& result : report.results) report.missing.push_back(result.id);
  report.results.clear();
  report.survey.reset();
  report.seconds = 0;
  return report;
}

// The sample with only its first `count` properties judged.
Report partial(std::size_t count) {
  Report report = nothing_judged();
  const Report whole = sample();
  report.results.assign(whole.results.begin(), whole.results.begin() + static_cast<std::ptrdiff_t>(count));
  report.missing.erase(report.missing.begin(), report.missing.begin() + static_cast<std::ptrdiff_t>(count));
  report.exit_status = exit_status(report);
  return report;
}

std::string refusal(const std::string& text) {
  try {
    read_events(text);
  } catch (const ReadError& error) {
    return error.what();
  }
  return "read";
}

class Events : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(testing::TempDir()) /
            ("events_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".jsonl");
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // The log of the whole sample, its properties judged from the last to the first, as threads may.
  std::string whole_log() const {
    const Report report = sample();
    {
      EventLog log(path_, nothing_judged());
      for (auto result = report.results.rbegin(); result != report.results.rend(); ++result)
        log.judged(report, *result);
      log.ended(report);
    }
    return read_text_file(path_);
  }

  std::filesystem::path path_;
};

TEST_F(Events, TellTheWholeReport) {
  const std::string text = whole_log();
  const auto run = read_events(text);
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->is_finished);
  EXPECT_EQ(run->size, text.size());
  EXPECT_EQ(write_json(run->report), write_json(sample()));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(sample().results.size()) + 2);
}

TEST_F(Events, TellAsMuchAsWasWrittenWhereverTheyAreCut) {
  const std::string text = whole_log();
  const std::size_t count = sample().results.size();
  for (std::size_t size = 0; size < text.size(); ++size) {
    // Around each line break, and here and there within the lines.
    const bool is_near_break =
        text[size] == '\n' || (size > 0 && text[size - 1] == '\n') || (size > 1 && text[size - 2] == '\n');
    if (!is_near_break && size % 97 != 0) continue;
    const std::string cut = text.substr(0, size);
    const auto lines = static_cast<std::size_t>(std::count(cut.begin(), cut.end(), '\n'));
    const auto run = read_events(cut);
    ASSERT_EQ(run.has_value(), lines > 0) << size;
    if (!run) continue;
    ASSERT_EQ(run->report.results.size(), lines - 1) << size;
    ASSERT_EQ(run->report.missing.size(), count + 1 - lines) << size;
    ASSERT_FALSE(run->is_finished);
    ASSERT_EQ(run->size, cut.rfind('\n') + 1) << size;
  }
}

TEST_F(Events, GoOnBehindTheLastWholeLine) {
  const std::string text = whole_log();
  const std::size_t torn = text.find('\n', text.find('\n') + 1) + 20;
  std::ofstream(path_, std::ios::binary) << text.substr(0, torn);
  const auto run = read_events_file(path_);
  ASSERT_TRUE(run);
  const Report report = sample();
  {
    EventLog log(path_, *run);
    for (std::size_t i = report.results.size() - 1; i-- > 0;) log.judged(report, report.results[i]);
    log.ended(report);
  }
  EXPECT_EQ(read_text_file(path_), text);
}

TEST_F(Events, TellHowFarAPropertyCame) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tally tally;
  tally.judged = 7;
  tally.undecided = 2;
  tally.precision = 8192;
  tally.hiding = 1;
  tally.informative = 2;
  tally.uninformative = 3;
  tally.unsupported = 3;
  tally.why_unsupported = Remark{4, "no \"rows\""};
  tally.unfinished = Remark{5, "beta:position=5"};
  tally.remark = Remark{1, "one line of beta"};
  tally.coverage = Coverage{10, 20, 80};
  tally.horizon = -3;
  tally.worst = WorstCase{2, true, std::nan(""), -1, {"beta:position=2", "bad", {std::nan(""), infinity, 1}}, 9, 17};
  tally.counterexample = Counterexample{3, std::nullopt, {"beta:position=3", "bad", {0.1, 0.2, 0.3}}, std::nullopt};
  tally.failure = FailedCase{6, 5, Verdict::timed_out, "timed out", {"beta:position=6", "late", {}}};
  {
    EventLog log(path_, nothing_judged(), "0123");
    log.judging({"alpha", 1, {}});
    log.judging({"beta", 3, {}});
    log.judging({"beta", 4, tally});
    log.judged(sample(), sample().results[0]);
  }
  const auto run = read_events_file(path_);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->subject_digest, "0123");
  ASSERT_EQ(run->begun.size(), 1U);  // alpha is judged
  EXPECT_EQ(run->begun[0].id, "beta");
  EXPECT_EQ(run->begun[0].done, 4);
  EXPECT_EQ(tally_json(run->begun[0].tally).dump(), tally_json(tally).dump());
  const std::string text = read_text_file(path_);
  EXPECT_EQ(refusal(text + "{\"judging\":{\"id\":\"alpha\",\"done\":1,\"share\":{}}}\n"),
            "line 6: judging.share.judged: missing");
  const std::string share = tally_json({}).dump();
  EXPECT_EQ(refusal(text + "{\"judging\":{\"id\":\"alpha\",\"done\":1,\"share\":" + share + "}}\n"),
            "line 6: judging.id: is not a property that this run has left to judge");
}

TEST_F(Events, AreWrittenByOneAuditAtATime) {
  const EventLog log(path_, nothing_judged());
  const std::string before = read_text_file(path_);
  EXPECT_THROW(EventLog(path_, nothing_judged()), WriteError);
  EXPECT_EQ(read_text_file(path_), before);
}

TEST_F(Events, TellWhereTheyCannotBeWritten) {
  EXPECT_THROW(EventLog(path_ / "below", nothing_judged()), WriteError);
  if (access("/dev/full", W_OK) == 0) {
    EXPECT_THROW(EventLog("/dev/full", nothing_judged()), WriteError);
  }
}

TEST_F(Events, HostileLogsAreRefusedInOneLine) {
  const std::string text = whole_log();
  const std::string head = text.substr(0, text.find('\n') + 1);
  const std::string first = text.substr(head.size(), text.find('\n', head.size()) + 1 - head.size());
  const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  const auto changed = [&](auto change) {
    auto json = ordered_json::parse(head);
    change(json);
    return json.dump() + "\n";
  };
  EXPECT_EQ(refusal(std::string(100, '\0')), "line 1: no event log");
  EXPECT_EQ(refusal("diary"), "line 1: no event log");
  EXPECT_EQ(refusal("\n"), "line 1: expected JSON");
  EXPECT_EQ(refusal("[]\n"), "line 1: expected an object");
  EXPECT_EQ(refusal("{}\n"), "line 1: format: expected \"sextant-events\"");
  EXPECT_EQ(refusal(changed([](auto& json) { json["version"] = 2; })), "line 1: version: expected 1");
  EXPECT_EQ(refusal(changed([](auto& json) { json.erase("report"); })), "line 1: report: missing");
  EXPECT_EQ(refusal(changed([](auto& json) { json["report"]["seed"] = "one"; })), "line 1: seed: expected an integer");
  EXPECT_EQ(refusal(changed([](auto& json) { json["report"]["missing"] = 7; })),
            "line 1: missing: expected a list of strings");
  EXPECT_EQ(refusal(changed([](auto& json) { json["report"]["missing"].push_back("alpha"); })),
            "line 1: report.missing: a property stands in it twice");
  EXPECT_EQ(refusal(head + std::string(50, '\0') + "\n"), "line 2: expected JSON");
  EXPECT_EQ(refusal(head + first.substr(0, first.size() / 2) + "\n"), "line 2: expected JSON");
  EXPECT_EQ(refusal(head + "{}\n"), "line 2: unknown event");
  EXPECT_EQ(refusal(head + "{\"judged\":7}\n"), "line 2: report: expected an object");
  EXPECT_EQ(refusal(head + first + first), "line 3: iota is judged twice");
  EXPECT_EQ(refusal(changed([](auto& json) { json["report"]["missing"].erase(8); }) + first),
            "line 2: has a result for a property that this run was not asked for");
  EXPECT_EQ(refusal(head + last), "line 2: the run ends, though alpha is not judged");
  EXPECT_EQ(refusal(text + first), "line 12: follows the end of the run");
  EXPECT_EQ(refusal(head + std::string(10000, '[') + "\n"), "line 2: nested too deeply");
  EXPECT_EQ(refusal(head + "{\"judged\":\"" + std::string((16 << 20) + 1, 'x') + "\"}\n"),
            "line 2: 16777230 bytes, more than an event has");
}

TEST(Partial, IsSaidInEveryFormat) {
  const Report report = partial(1);
  EXPECT_EQ(report.exit_status, 4);
  EXPECT_EQ(headline(report),
            "partial, 8 of 9 properties not judged; of the others: the one applicable property holds");
  for (const std::string& text :
       {write_terminal(report, Colour::none), write_markdown(report), write_html(report),
        write_html_matrix(std::vector<Report>{report, sample()}), write_sarif(report), write_json(report)}) {
    EXPECT_NE(text.find("8 of 9 properties not judged"), std::string::npos) << text.substr(0, 400);
  }
  EXPECT_NE(write_terminal(report, Colour::none).find("not judged, the run was cut short: beta, gamma"),
            std::string::npos);
  EXPECT_NE(write_html(report).find("not judged: beta, gamma"), std::string::npos);
  EXPECT_NE(write_markdown(report).find("Not judged: `beta`, `gamma`"), std::string::npos);
  EXPECT_NE(
      write_junit(report).find(R"(<testsuite )"
                               R"(name="python:modèles/&lt;rope> &amp; co.py: rope head_dim 64, rope_theta 10000, )"
                               R"(pairing half, float32, float32-angle, positions 0 to 131071" )"
                               R"(tests="9" failures="0" errors="8")"),
      std::string::npos)
      << write_junit(report);
  const auto invocation = ordered_json::parse(write_sarif(report))["runs"][0]["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  EXPECT_EQ(invocation["toolExecutionNotifications"].size(), 1);
  EXPECT_EQ(write_json(read_json(write_json(report))), write_json(report));
}

TEST(Partial, KeepsWhatWasFoundInItsStatus) {
  EXPECT_EQ(partial(0).exit_status, 4);
  EXPECT_EQ(partial(2).exit_status, 1);  // beta is violated
}

}  // namespace
}  // namespace sextant::events_test
