#include "app/report.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.hpp"
#include "reports/baseline.hpp"
#include "reports/html.hpp"
#include "reports/json.hpp"
#include "reports/merge.hpp"
#include "reports/read_events.hpp"
#include "reports/read_json.hpp"
#include "reports/text.hpp"
#include "reports/write.hpp"

namespace sextant {
namespace {

constexpr int exit_regression = 1;

// How a comparison is printed.
enum class Printed { text, json };

int run_compare(const std::string& old_file, const std::string& new_file, const std::string& tighten, Drift drift,
                Printed printed) {
  const auto [older, form] = read_reference_file(old_file);
  const Report newer = read_reference_file(new_file).report;
  if (const std::string why = why_incomparable(older, newer); !why.empty())
    throw UsageError(fmt::format("report compare: {}", why));
  const Comparison comparison = compare(older, newer, {drift, Unjudged::dropped});
  const int status = comparison.regressions.empty() ? 0 : exit_regression;
  if (printed == Printed::json) {
    const nlohmann::ordered_json json{{"regressions", comparison.regressions},
                                      {"improvements", comparison.improvements},
                                      {"notes", comparison.notes},
                                      {"warnings", comparison.warnings},
                                      {"exit_status", status}};
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    print_comparison(comparison);
  }
  if (!tighten.empty()) write_text_file(write_reference(tightened(older, newer), form), tighten);
  return status;
}

int run_merge(const std::vector<std::string>& files, const std::string& out) {
  try {
    Merging merging;
    for (const std::string& file : files) merging.take(read_json_file(file));
    const Report whole = std::move(merging).whole();
    prepare_directory(out);
    write_reports(whole, out);
    fmt::print("{}\nreport in {}\n", headline(whole), out);
    return whole.exit_status;
  } catch (const MergeError& error) {
    throw UsageError(fmt::format("report merge: {}", error.what()));
  }
}

// The report of report.json, or as much of one as an event log tells.
Report read_report(const std::filesystem::path& file) {
  if (file.extension() != ".jsonl") return read_json_file(file);
  std::optional<LoggedRun> run = read_events_file(file);
  if (!run) throw ReadError(fmt::format("{}: the log holds no run yet", file.string()));
  return std::move(run->report);
}

// The address of the page beside each file, from the page that is written; empty where there is none.
std::vector<std::string> pages_of(const std::vector<std::string>& files, const std::filesystem::path& target) {
  std::vector<std::string> pages;
  for (const std::string& file : files) {
    const std::filesystem::path page = std::filesystem::absolute(file).parent_path() / "report.html";
    std::error_code error;
    const bool is_there = std::filesystem::is_regular_file(page, error);
    const std::filesystem::path from = std::filesystem::absolute(target).parent_path();
    pages.push_back(is_there ? uri_of(page.lexically_normal().lexically_relative(from.lexically_normal()).string())
                             : "");
  }
  return pages;
}

int run_render(const std::vector<std::string>& files, const std::string& out) {
  // "out" and "out/" are directories, there or not; a page's file has an ending.
  const std::filesystem::path target(out);
  const bool is_directory =
      out.ends_with('/') || std::filesystem::is_directory(target) || (files.size() == 1 && !target.has_extension());
  if (is_directory && files.size() > 1)
    throw UsageError(fmt::format("--out {}: a matrix is one page, not a directory", out));
  if (!is_directory && target.extension() != ".html" && target.extension() != ".htm")
    throw UsageError(fmt::format("--out {}: expected FILE.html, or a directory for every format", out));
  std::vector<Report> reports;
  reports.reserve(files.size());
  for (const std::string& file : files) reports.push_back(read_report(file));
  if (is_directory) {
    prepare_directory(out);
    write_reports(reports.front(), out);
  } else {
    write_text_file(
        reports.size() == 1 ? write_html(reports.front()) : write_html_matrix(reports, pages_of(files, target)), out);
  }
  if (reports.size() == 1) fmt::print("{}\n", headline(reports.front()));
  fmt::print("{}\n", out);
  // Of a run that was cut short this is all that is known: it must not pass for a good one.
  const auto partial = std::ranges::find_if(reports, [](const Report& report) { return !report.missing.empty(); });
  return partial == reports.end() ? 0 : partial->exit_status;
}

}  // namespace

void print_comparison(const Comparison& comparison) {
  for (const std::string& line : comparison.warnings) fmt::print("warning: {}\n", line);
  for (const std::string& line : comparison.regressions) fmt::print("regression: {}\n", line);
  for (const std::string& line : comparison.improvements) fmt::print("better: {}\n", line);
  for (const std::string& line : comparison.notes) fmt::print("note: {}\n", line);
  if (comparison.regressions.empty()) fmt::print("no regression\n");
}

Run add_report(CLI::App& app) {
  struct Arguments {
    std::string older;
    std::string newer;
    std::string tighten;
    bool json = false;
    bool ratchet = false;
    std::vector<std::string> files;
    std::string out = "report.html";
    std::vector<std::string> shards;
    std::string directory;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("report", "Compare reports, put shards together, or render a page");
  command->require_subcommand(1);
  CLI::App* comparing = command->add_subcommand("compare", "Say what NEW has lost against OLD; exit 1 if anything");
  comparing->add_option("old", arguments->older, "Baseline or report.json of the state to keep")->required();
  comparing->add_option("new", arguments->newer, "Baseline or report.json of the state to judge")->required();
  comparing->add_option("--tighten", arguments->tighten,
                        "Write the next baseline here, in OLD's form: of each property the better result of the two");
  comparing->add_flag("--ratchet", arguments->ratchet, "Let a worst error that grew below its bound be a regression");
  comparing->add_flag("--json", arguments->json, "As JSON: lists of lines, and the exit status");
  CLI::App* rendering = command->add_subcommand("render", "Write a page of one report, or a matrix of several");
  rendering
      ->add_option("reports", arguments->files, "report.json files, or the events.jsonl of an audit that was cut short")
      ->required();
  rendering
      ->add_option("--out", arguments->out,
                   "The page's file, FILE.html; or of one report a directory, which is made, for every format")
      ->capture_default_str();
  CLI::App* merging = command->add_subcommand("merge", "Put the shards of a run together; exits as the run would");
  merging->add_option("shards", arguments->shards, "report.json of each shard")->required();
  merging->add_option("--out", arguments->directory, "Directory for the whole report")->required();
  return [arguments, comparing, merging] {
    if (merging->parsed()) return run_merge(arguments->shards, arguments->directory);
    if (comparing->parsed())
      return run_compare(arguments->older, arguments->newer, arguments->tighten,
                         arguments->ratchet ? Drift::refused : Drift::noted,
                         arguments->json ? Printed::json : Printed::text);
    return run_render(arguments->files, arguments->out);
  };
}

}  // namespace sextant
