#pragma once

namespace sextant {

/// Bound on |true value - computed value| of sin and cos as RotationAt of rotations-inl.h returns them, which has the
/// proof.
inline constexpr double rotation_error = 1.25 * 0x1p-53;

/// The same of PreciseRotationAt's high + low.
inline constexpr double precise_rotation_error = 0x1p-99;

}  // namespace sextant
