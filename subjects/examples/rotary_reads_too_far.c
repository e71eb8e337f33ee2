/* A rotary encoding with a planted bug, which docs/cpp.md finds: it reads one float beyond the last vector. */

#include <math.h>
#include <string.h>

#include "sextant_subject.h"

/* Each channel is turned with the one that stands d/2 behind it, "rotate_half" in one pass over the whole array. */
static int rotate(SextantCall* call) {
  const SextantSpec* spec = call->spec;
  const int64_t* shape = call->x->shape;
  const int64_t rows = shape[0] * shape[1], heads = shape[2], d = shape[3], half = d / 2;
  const float* x = call->x->data;
  float* y = call->y->data;
  const int64_t* positions = call->positions->data;
  const double theta = spec->number(spec, "rope_theta");
  const char* dtype = spec->text(spec, "dtype");
  if (dtype == NULL || strcmp(dtype, "float32") != 0) return SEXTANT_UNSUPPORTED;
  for (int64_t vector = 0; vector < rows * heads; ++vector, x += d, y += d) {
    float ahead = x[half]; /* loaded one step before it is used, and so once too often */
    for (int64_t i = 0; i < half; ++i) {
      const double angle = (double)positions[vector / heads] * pow(theta, -2.0 * (double)i / (double)d);
      const float second = ahead;
      ahead = x[half + i + 1];
      y[i] = (float)(x[i] * cos(angle) - second * sin(angle));
      y[half + i] = (float)(x[i] * sin(angle) + second * cos(angle));
    }
  }
  return SEXTANT_OK;
}

SEXTANT_EXPORT const SextantSubject* sextant_subject(void) {
  static const SextantSubject subject = {
      .version = SEXTANT_SUBJECT_VERSION, .name = "rotary in C, software pipelined", .rotate = rotate};
  return &subject;
}
