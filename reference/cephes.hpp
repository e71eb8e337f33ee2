#pragma once

namespace sextant::reference {

/// Elementary functions of float32 as Cephes' single precision library has them, operation by operation, with the fused
/// products that vector code makes of its polynomials: those of MLX on a processor. Cody and Waite's reduction in three
/// steps and minimax polynomials (https://www.netlib.org/cephes/, single.tgz: sinf.c and expf.c).

/// exp(x), |x| <= 88, within |x| + 3 ULP.
float cephes_exponential(float x);

/// From here on MLX asks the C library instead.
inline constexpr float cephes_angle_limit = 0x1p23F;

/// sin(x) and cos(x), |x| < cephes_angle_limit, within an ULP of 1.
float cephes_sine(float x);
float cephes_cosine(float x);

}  // namespace sextant::reference
