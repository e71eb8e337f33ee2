/* Every operation of the table, each so simple that a test can say what comes of it. */

#include <stdlib.h>
#include <string.h>

#include "sextant_subject.h"

static int64_t elements(const SextantTensor* tensor) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < tensor->ndim; ++axis) count *= tensor->shape[axis];
  return count;
}

static int is_float32(const SextantTensor* tensor) {
  return tensor->device.device_type == SEXTANT_CPU && tensor->dtype.code == SEXTANT_FLOAT && tensor->dtype.bits == 32 &&
         tensor->dtype.lanes == 1 && tensor->byte_offset == 0;
}

static int calls = 0;

/* Channel i of the row of position p: p * base + i; in the last channel how many calls came before. */
static int encode(SextantCall* call) {
  const int64_t* positions = call->positions->data;
  const int64_t n = call->encoding->shape[0], dim = call->encoding->shape[1];
  const double base = call->spec->number(call->spec, "base");
  float* encoding = call->encoding->data;
  if (!is_float32(call->encoding)) {
    call->message = "float32 only";
    return SEXTANT_UNSUPPORTED;
  }
  const int before = __sync_fetch_and_add(&calls, 1);
  for (int64_t row = 0; row < n; ++row) {
    float* values = encoding + row * call->encoding->strides[0];
    for (int64_t i = 0; i < dim; ++i) values[i] = (float)((double)positions[row] * base + (double)i);
    values[dim - 1] = (float)before;
  }
  return SEXTANT_OK;
}

/* Twice x, where it lies. */
static int rotate(SextantCall* call) {
  float* y = call->y->data;
  if (call->y->data != call->x->data) return SEXTANT_ERROR;
  for (int64_t i = 0; i < elements(call->y); ++i) y[i] *= 2;
  return SEXTANT_OK;
}

/* Twice q and three times k, where they lie, each times its weight. */
static int qk_norm_rope(SextantCall* call) {
  float *q = call->q_out->data, *k = call->k_out->data;
  const float *q_weight = call->q_weight->data, *k_weight = call->k_weight->data;
  if (call->q_out->data != call->q->data || call->k_out->data != call->k->data) return SEXTANT_ERROR;
  for (int64_t i = 0; i < elements(call->q_out); ++i) q[i] *= 2 * q_weight[i % call->q_weight->shape[0]];
  for (int64_t i = 0; i < elements(call->k_out); ++i) k[i] *= 3 * k_weight[i % call->k_weight->shape[0]];
  return SEXTANT_OK;
}

/* The position for a cosine, the number of the pair for a sine. */
static int table(SextantCall* call) {
  const int64_t* positions = call->positions->data;
  float *cosines = call->cos->data, *sines = call->sin->data;
  for (int64_t row = 0; row < call->cos->shape[0]; ++row)
    for (int64_t pair = 0; pair < call->cos->shape[1]; ++pair) {
      *cosines++ = (float)positions[row];
      *sines++ = (float)pair;
    }
  return SEXTANT_OK;
}

/* weight[0][head] + key - query. */
static int bias(SextantCall* call) {
  const int64_t heads = call->bias->shape[0], queries = call->bias->shape[1], keys = call->bias->shape[2];
  const int64_t *query = call->query_positions->data, *key = call->key_positions->data;
  const float* weight = call->weight->data;
  float* values = call->bias->data;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < queries; ++i)
      for (int64_t j = 0; j < keys; ++j) *values++ = weight[h] + (float)(key[j] - query[i]);
  return SEXTANT_OK;
}

static int bucket(SextantCall* call) {
  const int64_t* relative = call->relative->data;
  int64_t* buckets = call->bucket->data;
  for (int64_t i = 0; i < elements(call->bucket); ++i) buckets[i] = llabs(relative[i]) % 4;
  return SEXTANT_OK;
}

/* q, and 10 more in the calls that have a query's positions, 100 in those with sinks. */
static int attend(SextantCall* call) {
  const float more = (call->query_positions != NULL ? 10.0F : 0.0F) + (call->sinks != NULL ? 100.0F : 0.0F);
  const float* q = call->q->data;
  float* out = call->out->data;
  for (int64_t i = 0; i < elements(call->out); ++i) out[i] = q[i] + more;
  return SEXTANT_OK;
}

static void scaled(SextantTensor* result, const SextantTensor* grad, float by) {
  const float* from = grad->data;
  float* to = result->data;
  const int64_t wrapped = elements(grad);
  for (int64_t i = 0; i < elements(result); ++i) to[i] = by * from[i % wrapped];
}

static int backward(SextantCall* call) {
  if (strcmp(call->operation, "attend") == 0) {
    scaled(call->grad_q, call->grad, 1);
    scaled(call->grad_k, call->grad, 2);
    scaled(call->grad_v, call->grad, 3);
  } else {
    scaled(call->grad_weight != NULL ? call->grad_weight : call->grad_x, call->grad, 4);
  }
  return SEXTANT_OK;
}

static void reset(void) { calls = 0; }

SEXTANT_EXPORT const SextantSubject* sextant_subject(void) {
  static const SextantSubject subject = {SEXTANT_SUBJECT_VERSION,
                                         SEXTANT_IN_PLACE | SEXTANT_THREADS,
                                         "plain",
                                         "7",
                                         64,
                                         encode,
                                         rotate,
                                         bias,
                                         bucket,
                                         attend,
                                         backward,
                                         reset,
                                         table,
                                         qk_norm_rope,
                                         "base,head_dim"};
  return &subject;
}
