/* The rotary encoding of Su et al. 2021 in C, half pairing, with the angle in double (docs/cpp.md). */

#include <math.h>
#include <string.h>

#include "sextant_subject.h"

static int says(const SextantSpec* spec, const char* field, const char* expected) {
  const char* value = spec->text(spec, field);
  return expected == NULL ? value == NULL : value != NULL && strcmp(value, expected) == 0;
}

static int rotate(SextantCall* call) {
  const SextantSpec* spec = call->spec;
  const int64_t *shape = call->x->shape, rows = shape[0] * shape[1], heads = shape[2], d = shape[3];
  const float* x = call->x->data;
  float* y = call->y->data;
  const int64_t* positions = call->positions->data;
  double theta = spec->number(spec, "rope_theta");
  if (!says(spec, "encoding", "rope") || !says(spec, "dtype", "float32") || !says(spec, "rope_scaling", NULL) ||
      !says(spec, "pairing", "half") || !says(spec, "output_pairing", "half") ||
      !says(spec, "direction", "counterclockwise") || spec->number(spec, "rotary_dim") != (double)d) {
    call->message = "whole heads of float32 in half pairing only";
    return SEXTANT_UNSUPPORTED;
  }
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < d / 2; ++i) {
      const double angle = (double)positions[row] * pow(theta, -2.0 * (double)i / (double)d);
      const double c = cos(angle), s = sin(angle);
      for (int64_t head = 0; head < heads; ++head) {
        const int64_t at = (row * heads + head) * d + i;
        y[at] = (float)(x[at] * c - x[at + d / 2] * s);
        y[at + d / 2] = (float)(x[at] * s + x[at + d / 2] * c);
      }
    }
  }
  return SEXTANT_OK;
}

SEXTANT_EXPORT const SextantSubject* sextant_subject(void) {
  static const SextantSubject subject = {
      .version = SEXTANT_SUBJECT_VERSION, .flags = SEXTANT_THREADS, .name = "rotary in C", .rotate = rotate};
  return &subject;
}
