#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/identify/state/asked_sessions.hpp"
#include "properties/verdict/diagnosis.hpp"

namespace sextant::identify {

/// The question whose right answer a call has.
struct TakenCall {
  Spec spec;
  Call call;
};

/// What a session keeps from call to call, and what its answers are then.
struct SessionReading {
  std::string words;
  DiagnosedStage stage = DiagnosedStage::position;
  /// Nothing where a call is answered as it is asked.
  std::function<std::optional<TakenCall>(std::span<const SessionCall> before, const SessionCall& now)> taken;
};

/// Those that are tried, likeliest first: tables that are kept under too small a key, or end where earlier calls did;
/// tokens that are counted on from the calls before; lengths that are kept.
std::vector<SessionReading> session_readings(const Spec& claim);

}  // namespace sextant::identify
