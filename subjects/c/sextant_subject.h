/* What a C or C++ kernel exports to be audited as plugin:LIBRARY.so (docs/cpp.md). C99 and C++, no other header needed.
 *
 * The library defines one function, sextant_subject, which returns a table of the operations that it has. Each is
 * called with the tensors of docs/protocol.md, under the names that they have there. */

#ifndef SEXTANT_SUBJECT_H
#define SEXTANT_SUBJECT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of everything here. A table of version 1, which ends before `table`, is served too, others are not. */
#define SEXTANT_SUBJECT_VERSION 2

/* Tensors are laid out as DLPack 1.x lays out its DLTensor, bit for bit, so that a pointer to one can be cast to the
 * other. They lie in the host's memory (device_type 1, kDLCPU), row-major: strides[i] is the product of the extents
 * behind axis i, counted in elements, and byte_offset is 0. An operation leaves the structs and what shape and strides
 * point to as they are. */
typedef struct {
  int32_t device_type; /* SEXTANT_CPU */
  int32_t device_id;
} SextantDevice;

typedef struct {
  uint8_t code; /* SEXTANT_INT, ... */
  uint8_t bits;
  uint16_t lanes; /* 1 */
} SextantDtype;

typedef struct {
  void* data;
  SextantDevice device;
  int32_t ndim;
  SextantDtype dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} SextantTensor;

enum { SEXTANT_CPU = 1 };
/* float16, float32 and float64 are SEXTANT_FLOAT of 16, 32 and 64 bits, bfloat16 is SEXTANT_BFLOAT of 16, positions are
 * SEXTANT_INT of 64. */
enum { SEXTANT_INT = 0, SEXTANT_FLOAT = 2, SEXTANT_BFLOAT = 4 };

/* The claim under audit, every field filled in. */
typedef struct SextantSpec SextantSpec;
struct SextantSpec {
  const char* json; /* the whole of it */
  /* A number's value, 0 or 1 for false or true, and NaN for a field that is absent, null or no number. Fields within
   * others are named by a path: "rope_scaling/factor", "sections/0". */
  double (*number)(const SextantSpec* spec, const char* field);
  /* A text's characters, good until the call returns; of a field that is no text its JSON; NULL for one that is absent
   * or null. */
  const char* (*text)(const SextantSpec* spec, const char* field);
};

/* One call of an operation. A tensor that the operation does not have, or that this call does not have, is NULL. */
typedef struct {
  const SextantSpec* spec;
  const char* operation; /* "rotate"; of backward the operation whose gradient is asked for */

  /* Inputs: to be left as they are, but for x, or q and k of qk_norm_rope, of a subject that says SEXTANT_IN_PLACE. */
  const SextantTensor* positions;
  const SextantTensor* x;
  const SextantTensor* query_positions;
  const SextantTensor* key_positions;
  const SextantTensor* relative;
  const SextantTensor* weight;
  const SextantTensor* q;
  const SextantTensor* k;
  const SextantTensor* v;
  const SextantTensor* sinks;
  const SextantTensor* starts;
  const SextantTensor* ends;
  const SextantTensor* grad;

  /* Outputs, of the shape and dtype that they have to have. They hold NaN, or in integers -11259170869739561, until
   * they are written. */
  SextantTensor* encoding;
  SextantTensor* y; /* of a subject that says SEXTANT_IN_PLACE: x itself */
  SextantTensor* bias;
  SextantTensor* bucket;
  SextantTensor* out;
  SextantTensor* grad_x;
  SextantTensor* grad_weight;
  SextantTensor* grad_q;
  SextantTensor* grad_k;
  SextantTensor* grad_v;

  /* Why the result is not SEXTANT_OK, if the operation says so: a text that lives on after it has returned. */
  const char* message;

  /* Since version 2: inputs of qk_norm_rope, its outputs, which are q and k themselves of a subject that says
   * SEXTANT_IN_PLACE, and those of table. */
  const SextantTensor* q_weight;
  const SextantTensor* k_weight;
  SextantTensor* q_out;
  SextantTensor* k_out;
  SextantTensor* cos;
  SextantTensor* sin;
} SextantCall;

/* What an operation returns. */
enum {
  SEXTANT_OK = 0,
  SEXTANT_UNSUPPORTED = 1, /* the spec, the dtype or one of the inputs is none that the kernel has: no fault */
  SEXTANT_ERROR = 2
};

typedef int (*SextantOperation)(SextantCall* call);

/* What a table's flags may say. */
enum {
  SEXTANT_IN_PLACE = 1, /* rotate writes over its x, qk_norm_rope over its q and k */
  SEXTANT_THREADS = 2   /* several threads may call the operations at once */
};

typedef struct {
  uint32_t version; /* SEXTANT_SUBJECT_VERSION */
  uint32_t flags;
  const char* name;         /* shown in the report; may be NULL */
  const char* version_text; /* likewise */
  /* A power of two, at most 4096: every tensor's data begin at a multiple of so many bytes; 0: of the size of an
   * element. The larger it is, the more lies between a tensor's end and the memory that faults. */
  uint32_t alignment;

  /* NULL for those that the library does not have. */
  SextantOperation encode;
  SextantOperation rotate;
  SextantOperation bias;
  SextantOperation bucket;
  SextantOperation attend;
  SextantOperation backward;
  void (*reset)(void); /* forgets what earlier calls have left; NULL if they leave nothing */

  /* Since version 2. */
  SextantOperation table;
  SextantOperation qk_norm_rope;
  /* The fields of a spec that the kernel reads, "head_dim,rope_theta": what audits do not vary are the others. NULL if
   * it does not say. */
  const char* fields;
} SextantSubject;

#if defined(_WIN32)
#define SEXTANT_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define SEXTANT_EXPORT __attribute__((visibility("default")))
#else
#define SEXTANT_EXPORT
#endif

/* The one symbol that a library exports. The table is read while the library is loaded. */
SEXTANT_EXPORT const SextantSubject* sextant_subject(void);

#ifdef __cplusplus
}
#endif

#endif
