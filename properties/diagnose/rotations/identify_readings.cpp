#include "properties/diagnose/rotations/identify_readings.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/diagnose/rotations/other_rotations.hpp"
#include "properties/identify/counted_subject.hpp"
#include "properties/identify/rotations/other_lengths.hpp"

namespace sextant::identify {
namespace {

constexpr std::int64_t most_asked_to_identify = 199;

}  // namespace

Identification with_reading(const Subject& subject, const Spec& probe, Identification found) {
  // Another class may be what a fit of many numbers leaves of one change that no spec says.
  const bool is_sure = found.confidence == Confidence::high ||
                       (found.confidence == Confidence::medium && found.spec->accuracy == probe.accuracy);
  if (is_sure || rope_of(probe) == nullptr || is_of<Attention>(probe)) return found;
  const CountedSubject counted(subject, most_asked_to_identify - found.calls);
  std::optional<DiagnosedDifference> reading;
  try {
    reading = other_rotation(counted, probe, nullptr);
  } catch (const OutOfCalls&) {
    // A reading that was held against a part of the calls may be refuted by the others.
  }
  found.calls += counted.calls();
  if (!reading) return found;
  // Fields that were fitted to some of the answers are another story of the same ones; what was measured stands.
  Identification read;
  read.calls = found.calls;
  read.seen = std::move(found.seen);
  read.spec = probe;
  read.confidence = Confidence::low;
  read.faults.emplace_back(std::move(reading->words), reading->stage);
  return read;
}

}  // namespace sextant::identify
