#pragma once

#include <optional>

#include "lib/spec/spec.hpp"
#include "properties/identify/identification.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Of attention whose position is a rotation over several axes, what of other_grids() explains answers about texts,
/// images and films: "rows and columns change places where an image has more rows than columns". Nothing where the
/// claim explains them, or none of those does. @throws what attend does.
std::optional<Fault> attention_grids(Session& session, const Spec& claim);

}  // namespace sextant::identify
