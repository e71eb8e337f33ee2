/* The least of a plugin: an encoding whose every channel is twice the position. */
#include <sextant_subject.h>

static int encode(SextantCall* call) {
  const int64_t n = call->encoding->shape[0], dim = call->encoding->shape[1];
  const int64_t* positions = call->positions->data;
  float* encoding = call->encoding->data;
  for (int64_t i = 0; i < n * dim; ++i) encoding[i] = 2.0F * (float)positions[i / dim];
  return SEXTANT_OK;
}

SEXTANT_EXPORT const SextantSubject* sextant_subject(void) {
  static const SextantSubject subject = {.version = SEXTANT_SUBJECT_VERSION, .name = "doubling", .encode = encode};
  return &subject;
}
