#include "app/audit_encodings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "lib/spec/spec.hpp"
#include "reports/terminal.hpp"

namespace sextant {
namespace {

// None of the properties that were asked for is stated for the encoding.
bool is_idle(const Report& report) {
  return std::ranges::all_of(report.results,
                             [](const PropertyResult& result) { return result.verdict == Verdict::not_applicable; });
}

int gravity(int status) {
  constexpr int order[] = {0, 4, 3, 1};
  return static_cast<int>(std::ranges::find(order, status) - std::begin(order));
}

}  // namespace

int audit_encodings(const std::function<Report(const std::string& encoding, const std::string& spec)>& audit_one) {
  int worst = 0;
  std::int64_t judged = 0;
  std::vector<std::string_view> failed;
  for (const EncodingExample& example : encoding_examples()) {
    const Report report = audit_one(std::string(example.encoding), std::string(example.spec));
    const bool idle = is_idle(report);
    fmt::print("{:<14} {} ({}, {:.1f} s)\n", example.encoding, idle ? "nothing applicable" : headline(report),
               report.spec_text, report.seconds);
    if (!idle) {
      ++judged;
      if (gravity(report.exit_status) > gravity(worst)) worst = report.exit_status;
      if (report.exit_status != 0) {
        failed.push_back(example.encoding);
        fmt::print("\n{}\n", write_terminal(report, isatty(STDOUT_FILENO) != 0 ? Colour::ansi : Colour::none));
      }
    }
    std::fflush(stdout);  // each takes seconds
  }
  if (judged == 0) {
    fmt::print("\nnothing applicable ran\n");
    return 4;
  }
  fmt::print("\n{} of {} encodings hold\n", judged - std::ssize(failed), judged);
  return worst;
}

}  // namespace sextant
