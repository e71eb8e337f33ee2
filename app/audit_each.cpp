#include "app/audit_each.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

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

int audit_each(std::span<const NamedSpec> claims, std::string_view what, Colour colour,
               const std::function<Report(const NamedSpec& claim)>& audit_one) {
  int worst = 0;
  std::int64_t judged = 0;
  std::vector<std::string_view> failed;
  std::size_t widest = 14;
  for (const NamedSpec& claim : claims) widest = std::max(widest, claim.name.size());
  for (const NamedSpec& claim : claims) {
    const Report report = audit_one(claim);
    const bool idle = is_idle(report);
    fmt::print("{:<{}} {} ({}, {:.1f} s)\n", claim.name, widest, idle ? "nothing applicable" : headline(report),
               claim_text(report), report.seconds);
    if (!idle) {
      ++judged;
      if (gravity(report.exit_status) > gravity(worst)) worst = report.exit_status;
      if (report.exit_status != 0) {
        failed.push_back(claim.name);
        fmt::print("\n{}\n", write_terminal(report, colour));
      }
    }
    std::fflush(stdout);  // each takes seconds
  }
  if (judged == 0) {
    fmt::print("\nnothing applicable ran\n");
    return 4;
  }
  fmt::print("\n{} of {} {} hold\n", judged - std::ssize(failed), judged, what);
  return worst;
}

}  // namespace sextant
