#pragma once

#include <optional>
#include <string_view>

#include "lib/spec/spec.hpp"
#include "properties/identify/identification.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What is told where they do so otherwise.
inline constexpr std::string_view depends_on_calls =
    "answers depend on the calls before, or on the session: the same question has another answer elsewhere";

/// How far two answers to one question are apart, at most; nothing where sums taken in another order explain it, some
/// units in the last place of the greatest value, and of answers of other sizes.
std::optional<double> apart(const Tensor& one, const Tensor& other, Dtype dtype);

/// What answers depend on where they depend on the calls before, as some fifty calls of several sessions bear out: "in
/// a call of one token positions beyond those of the last call of several tokens are taken for the greatest of them".
/// A claim under which the answers are right otherwise is needed. Nothing where all are right, or no reading explains
/// every one. @throws what the operation does.
/// @param probe  the spec of the sessions  @param claim  what answers are held against
std::optional<Fault> kept_state(const Subject& subject, const Spec& probe, const Spec& claim);

/// Whether a few calls are answered otherwise in one order than in reverse. @throws likewise.
bool depends_on_order(const Subject& subject, const Spec& probe);

}  // namespace sextant::identify
