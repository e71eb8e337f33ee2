#pragma once

#include <cstdint>
#include <optional>

#include "properties/model/model.hpp"

namespace sextant::vectors {

// How far a value of an answer may be from the one that a vector has, so that it is judged without an oracle.
//
// Let t be the truth, B the bound that the claim's class puts on |got - t| (docs/proofs/accuracy-classes.md), and v the
// value of the vector. Where |got - t| <= B,
//
//   |got - v| <= |got - t| + |t - v| <= B + |v - t| =: T,
//
// so that every implementation of the class is accepted. One that is not may be accepted only where its error is in
// (B, T + |v - t|]: v being the nearest value of the dtype, |v - t| <= ulp/2, which is at most an eighth of B in every
// class but the two strictest. T is written with two digits, rounded up.
//
// B and t are the judge's own, which is asked about an answer with one value moved far away: it tells that value's
// error E, and E as a multiple R of the bound, so B = E / R; moved by 8 B, E is 8 B + (v - t) or 8 B - (v - t).

/// T of element `element` of an answer that the judge accepts; nothing where the judge says nothing of the element. The
/// answer is as it was afterwards.
std::optional<double> tolerance_of(Judge& judge, const Call& call, Tensor& answer, std::int64_t element);

/// The least number of two digits that is not below a positive one.
double rounded_up(double value);

}  // namespace sextant::vectors
