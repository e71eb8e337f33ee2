/* What a kernel must not do, one thing at a time: SEXTANT_TEST_FAULT names it. Without it the rows are zeros. */

#define _DEFAULT_SOURCE /* sysconf's _SC_PHYS_PAGES */
#include <fenv.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "sextant_subject.h"

static SextantSubject subject = {.version = SEXTANT_SUBJECT_VERSION, .name = "faulty"};

static int encode(SextantCall* call) {
  const char* fault = getenv("SEXTANT_TEST_FAULT");
  const int64_t n = call->encoding->shape[0], size = n * call->encoding->shape[1];
  volatile int64_t* positions = call->positions->data;
  volatile float* encoding = call->encoding->data;
  float sum = 0;
  for (int64_t i = 0; i < size; ++i)
    if (fault == NULL || i != 1 || strcmp(fault, "leaves an element") != 0) encoding[i] = 0;
  if (fault == NULL) return SEXTANT_OK;
  if (strcmp(fault, "reads past the end") == 0) sum += (float)positions[n];
  if (strcmp(fault, "reads before the beginning") == 0) sum += (float)positions[-1];
  if (strcmp(fault, "writes past the end") == 0) encoding[size] = 1;
  if (strcmp(fault, "writes before the beginning") == 0) encoding[-1] = 1;
  if (strcmp(fault, "reads far away") == 0) sum += encoding[size + 100000000];
  if (strcmp(fault, "changes an input") == 0) positions[n - 1] += 1;
  if (strcmp(fault, "rounds upward") == 0) fesetround(FE_UPWARD);
#if defined(__SSE2__)
  if (strcmp(fault, "flushes to zero") == 0) _mm_setcsr(_mm_getcsr() | 0x8000);
  if (strcmp(fault, "flushes inputs") == 0) _mm_setcsr(_mm_getcsr() | 0x40);
  if (strcmp(fault, "rounds vectors downward") == 0) _mm_setcsr(_mm_getcsr() | 0x2000);
  if (strcmp(fault, "unmasks division") == 0) _mm_setcsr(_mm_getcsr() & ~0x0200U);
  if (strcmp(fault, "raises inexact") == 0) _mm_setcsr(_mm_getcsr() | 0x20);
  unsigned short x87 = 0x037F;
  if (strcmp(fault, "narrows x87") == 0) x87 = 0x027F;
  if (strcmp(fault, "unmasks overflow of x87") == 0) x87 = 0x0377;
  __asm__ volatile("fldcw %0" : : "m"(x87));
#endif
  SextantTensor* input = (SextantTensor*)call->positions;
  if (strcmp(fault, "takes an input") == 0) input->data = NULL;
  if (strcmp(fault, "reshapes the result") == 0) call->encoding->shape[0] = n + 1;
  if (strcmp(fault, "points to other strides") == 0) input->strides = call->encoding->strides;
  if (strcmp(fault, "renames the dtype") == 0) call->encoding->dtype.bits = 16;
  if (strcmp(fault, "takes 32 bytes for granted") == 0 || strcmp(fault, "asks for 32 bytes") == 0)
    return (uintptr_t)encoding % 32 == 0 ? SEXTANT_OK : 9;
  if (strcmp(fault, "uses null") == 0) sum += *(volatile float*)(uintptr_t)(n * 16);
  if (strcmp(fault, "prints") == 0) puts("to standard output");
  if (strcmp(fault, "exits") == 0) exit(7);
  /* Three quarters of the machine's, which Linux promises to anybody who has no limit. */
  const size_t much = (size_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * (size_t)sysconf(_SC_PAGESIZE);
  if (strcmp(fault, "asks for memory") == 0 && malloc(much) == NULL) {
    call->message = "no memory";
    return SEXTANT_ERROR;
  }
  if (strcmp(fault, "returns 9") == 0) return 9;
  encoding[0] += 0 * sum;
  return SEXTANT_OK;
}

/* As libraries were built with version 1 of the header: nothing of ours lies behind `reset`. */
static struct {
  SextantSubject table;
  char padding[64];
} old;
static const SextantSubject* of_version_1(void) {
  memset(&old, 0xA5, sizeof old);
  memset(&old.table, 0, offsetof(SextantSubject, table));
  old.table.version = 1;
  old.table.encode = encode;
  return &old.table;
}

SEXTANT_EXPORT const SextantSubject* sextant_subject(void) {
  const char* fault = getenv("SEXTANT_TEST_FAULT");
  subject.encode = encode;
  if (fault == NULL) return &subject;
  if (strcmp(fault, "version 1") == 0) return of_version_1();
  if (strcmp(fault, "version") == 0) subject.version = 99;
  if (strcmp(fault, "flags") == 0) subject.flags = 64;
  if (strcmp(fault, "alignment") == 0) subject.alignment = 48;
  if (strcmp(fault, "asks for 32 bytes") == 0) subject.alignment = 32;
  if (strcmp(fault, "nothing") == 0) subject.encode = NULL;
  return strcmp(fault, "no table") == 0 ? NULL : &subject;
}
