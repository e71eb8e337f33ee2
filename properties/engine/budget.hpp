#pragma once

#include <cstdint>
#include <vector>

#include "properties/engine/engine.hpp"

namespace sextant {

/// How much an audit asks of each property: values of its sweep, drawn cases.
struct Amount {
  std::int64_t values;
  std::int64_t cases;
};

/// What an audit under these options can ask in about `seconds`, at most what its profile asks: measures the subject by
/// a few cases of each property and a few blocks of each sweep, for a tenth of that time at most. The number of values
/// is a power of two. Measured, so another machine or hour may come to another amount; an audit under options.values
/// and options.cases is what can be repeated. Looking for the simplest of many violations is not counted.
Amount amount_within(double seconds, const std::vector<Property>& properties, const Subject& subject, const Spec& spec,
                     const AuditOptions& options);

}  // namespace sextant
