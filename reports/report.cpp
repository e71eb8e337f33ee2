#include "reports/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sextant {

std::int64_t count(const Report& report, Verdict verdict) {
  return std::count_if(report.results.begin(), report.results.end(),
                       [&](const PropertyResult& result) { return result.verdict == verdict; });
}

std::string headline(const Report& report) {
  const auto properties = [](std::int64_t n) { return n == 1 ? "property" : "properties"; };
  const std::int64_t violated = count(report, Verdict::violated);
  const std::int64_t failed = count(report, Verdict::crashed) + count(report, Verdict::timed_out);
  const std::int64_t undecided = count(report, Verdict::undecided);
  const std::int64_t held = count(report, Verdict::holds);
  if (violated + failed + undecided + held == 0) return "nothing applicable ran";
  std::string line;
  const auto add = [&](std::int64_t n, std::string_view what) {
    if (n == 0) return;
    line += fmt::format("{}{} {} {}", line.empty() ? "" : ", ", n, properties(n), what);
  };
  add(violated, "violated");
  add(failed, "with a subject that failed");
  add(undecided, "undecided");
  if (line.empty()) return held == 1 ? "the one applicable property holds" : fmt::format("all {} applicable properties hold", held);
  return fmt::format("{}, {} held", line, held);
}

std::string cases_text(std::int64_t cases) { return fmt::format("{} case{}", cases, cases == 1 ? "" : "s"); }

std::string replay_command(const Report& report, const Example& example) {
  return fmt::format("{} --replay {}", report.command, example.token);
}

std::string of_bound_text(const Deviation& deviation) {
  if (!std::isfinite(deviation.of_bound)) return "beyond any bound";
  if (deviation.of_bound <= 1) return fmt::format("{:.2g} of the bound", deviation.of_bound);
  return fmt::format("{:.3g} times the bound", deviation.of_bound);
}

}  // namespace sextant
