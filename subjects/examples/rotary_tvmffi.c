/* Rotary position embedding with the ABI of TVM FFI: rotate(x, positions, y). Half pairing, the angle in double:
   Su et al. 2021. x and y are float32 [batch, n, heads, head_dim], positions int64 [batch, n].
   cc -O2 -shared -fPIC -I"$(tvm-ffi-config --includedir)" -o rotary_tvmffi.so rotary_tvmffi.c -lm */
#include <math.h>
#include <tvm/ffi/c_api.h>

/* The tensor of an argument: a pointer to it, or an object that has it behind its head. */
static const DLTensor* tensor_of(const TVMFFIAny* argument) {
  if (argument->type_index == kTVMFFIDLTensorPtr) return (const DLTensor*)argument->v_ptr;
  return (const DLTensor*)((const char*)argument->v_obj + sizeof(TVMFFIObject));
}

static void* data_of(const DLTensor* tensor) { return (char*)tensor->data + tensor->byte_offset; }

TVM_FFI_DLL_EXPORT int __tvm_ffi_rotate(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)self;
  (void)result;
  if (count != 3) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "rotate takes x, positions and y");
    return -1;
  }
  const DLTensor* x = tensor_of(&args[0]);
  if (x->ndim != 4 || x->dtype.code != kDLFloat || x->dtype.bits != 32) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "x is float32 [batch, n, heads, head_dim]");
    return -1;
  }
  const float* from = data_of(x);
  const int64_t* positions = data_of(tensor_of(&args[1]));
  float* to = data_of(tensor_of(&args[2]));
  const int64_t tokens = x->shape[0] * x->shape[1], heads = x->shape[2], width = x->shape[3], pairs = width / 2;
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t head = 0; head < heads; ++head, from += width, to += width) {
      for (int64_t i = 0; i < pairs; ++i) {
        const double angle = (double)positions[token] * pow(10000.0, -2.0 * (double)i / (double)width);
        const double first = from[i], second = from[i + pairs];
        to[i] = (float)(first * cos(angle) - second * sin(angle));
        to[i + pairs] = (float)(first * sin(angle) + second * cos(angle));
      }
    }
  }
  return 0;
}
