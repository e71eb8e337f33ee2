// The instruction set in use: the best that this machine has, or the one that SEXTANT_FORCE_TARGET names, which is read
// once, before the first dispatch.

#include "lib/kernels/targets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <string>

namespace sextant {
namespace {

// Best first: Highway's bit of a better target is the lower one.
std::string_view best_target() { return hwy::TargetName(hwy::SupportedAndGeneratedTargets().front()); }

// Leaves only the target that the environment names, for all dispatches of the process. Highway calls this a switch for
// tests; its DisableTargets does not last: whoever asks for the supported targets next makes it choose among all of
// them again.
std::vector<std::int64_t> force_target() {
  std::vector<std::int64_t> supported = hwy::SupportedAndGeneratedTargets();
  const char* forced = std::getenv("SEXTANT_FORCE_TARGET");
  if (forced == nullptr || *forced == '\0') return supported;
  for (const std::int64_t target : supported) {
    if (std::string_view(hwy::TargetName(target)) == forced) {
      hwy::SetSupportedTargetsForTest(target);
      return supported;
    }
  }
  std::vector<std::string> names;
  names.reserve(supported.size());
  for (const std::int64_t target : supported) names.emplace_back(hwy::TargetName(target));
  throw TargetError(fmt::format("SEXTANT_FORCE_TARGET={}: expected one of {}", forced, fmt::join(names, ", ")));
}

const std::vector<std::int64_t>& supported_before_forcing() {
  static const std::vector<std::int64_t> targets = force_target();
  return targets;
}

}  // namespace

std::vector<std::string_view> supported_targets() {
  std::vector<std::string_view> names;
  for (const std::int64_t target : supported_before_forcing()) names.emplace_back(hwy::TargetName(target));
  return names;
}

std::string_view target_in_use() {
  supported_before_forcing();
  return best_target();
}

}  // namespace sextant
