#pragma once

#include <string>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/places/dividing_place.hpp"
#include "properties/diagnose/places/judged_vectors.hpp"

namespace sextant::identify {

/// What positions from a border on are taken for, where every wrong vector that was compared is the right one of that:
/// "positions above 1000 are clamped to it", "positions from 4096 on wrap: position p is taken for p mod 4096". `place`
/// has all wrong vectors, and a first position. Empty of several axes, where the position below the border was not
/// asked, and where nothing that is tried explains them.
std::string words_of_positions_beyond(const Spec& claim, const VectorJudge& judge, const WrongPlace& place);

/// What the wrong vectors that were compared are the right ones of, where that is the claim with a field at its
/// default: "are as though scale were not given". Empty where no field is that, or too few were compared.
std::string words_of_fields_left_out(const Spec& claim, const VectorJudge& judge, const WrongPlace& place);

}  // namespace sextant::identify
