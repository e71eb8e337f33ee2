#pragma once

namespace sextant {

/// Bound on |true value - computed value| of sin and cos as RotationAt of rotations-inl.h returns them:
/// docs/proofs/encoder-rotations.md, step 5.
inline constexpr double rotation_error = 1.25 * 0x1p-53;

/// The same of PreciseRotationAt's high + low: docs/proofs/encoder-rotations.md, step 9.
inline constexpr double precise_rotation_error = 0x1p-99;

/// The same of RotationForFloatsAt of float_rotations-inl.h, step 10.
inline constexpr double float_rotation_error = 0x1p-32;

}  // namespace sextant
