#include <cmath>
#include <memory>
#include <string>
#include <vector>

#define EIGEN_DONT_PARALLELIZE  // rows are shared among the threads here
#include <Eigen/Core>
#if defined(__GLIBC__) && defined(__x86_64__)
#define SEXTANT_LIBMVEC_PEER
#include <dlfcn.h>
#include <immintrin.h>
#endif
#if defined(SEXTANT_HAVE_SLEEF) && defined(__x86_64__)
#define SEXTANT_SLEEF_PEER
#include <immintrin.h>
// As sleef.h declares them, but only to a compiler that takes every processor to have these vectors.
struct SleefPair512 {
  __m512 x;
  __m512 y;
};
struct SleefPair256 {
  __m256 x;
  __m256 y;
};
extern "C" __attribute__((target("avx512f"))) SleefPair512 Sleef_sincosf16_u10avx512f(__m512 angle);
extern "C" __attribute__((target("avx2,fma"))) SleefPair256 Sleef_sincosf8_u10avx2(__m256 angle);
#endif

#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/roofline_benchmark.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"

// Tables of consecutive positions, certified and fast, beside the speed of memory and beside what people write: the C
// library's float32 sine, the same as an Eigen expression, and the vectors of SLEEF and libmvec. The peers form the
// angle in float32, so that they are also wrong, by up to 7e-3 at position 131071; the comparison is of speed alone.

namespace sextant {
namespace {

using Body = std::function<void()>;

struct Shape {
  std::int64_t rows;
  std::int64_t dim;

  std::string text() const { return std::to_string(rows) + "x" + std::to_string(dim); }
  std::size_t elements() const { return static_cast<std::size_t>(rows * dim); }
};

std::vector<float> frequencies(std::int64_t dim) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < dim / 2; ++i)
    values.push_back(std::pow(10000.0F, -2.0F * static_cast<float>(i) / static_cast<float>(dim)));
  return values;
}

void add_encoder(Shape shape, Dtype dtype, Layout layout, Rounding rounding) {
  const std::size_t bytes = shape.elements() * size_of(dtype);
  const std::string name = "sinusoidal/" + std::string(name_of(dtype)) +
                           (layout == Layout::interleaved ? "/interleaved" : "/concatenated") +
                           (rounding == Rounding::certified ? "/certified/" : "/fast/") + shape.text();
  register_paired(
      {name, caching_of(static_cast<std::int64_t>(bytes)) == Caching::kept ? Roofline::store : Roofline::stream_store,
       bytes, [=](std::span<std::byte> memory, auto) -> Body {
         Sinusoidal encoding;
         encoding.dim = shape.dim;
         encoding.layout = layout;
         const auto encoder = std::make_shared<SinusoidalEncoder>(encoding);
         const Rows out{dtype, memory.data(), shape.rows, shape.dim, shape.dim};
         return [=] { encoder->encode(PositionRange{0, out.rows, 1}, out, rounding); };
       }});
}

// `row(table_row, position)` fills one row of float32, interleaved.
template <class Row>
void add_peer(const std::string& peer, Shape shape, Row row) {
  register_paired({"sinusoidal/float32/interleaved/" + peer + "/" + shape.text(), Roofline::stream_store,
                   shape.elements() * sizeof(float), [=](std::span<std::byte> memory, auto) -> Body {
                     auto* table = reinterpret_cast<float*>(memory.data());
                     const std::vector<float> w = frequencies(shape.dim);
                     return [=] {
#pragma omp parallel for schedule(static)
                       for (std::int64_t position = 0; position < shape.rows; ++position) {
                         row(w, static_cast<float>(position), table + position * shape.dim);
                       }
                     };
                   }});
}

void libm_row(const std::vector<float>& w, float position, float* out) {
  for (std::size_t i = 0; i < w.size(); ++i) {
    const float angle = position * w[i];
    out[2 * i] = std::sin(angle);
    out[2 * i + 1] = std::cos(angle);
  }
}

void eigen_row(const std::vector<float>& w, float position, float* out) {
  const Eigen::Map<const Eigen::ArrayXf> frequency(w.data(), static_cast<Eigen::Index>(w.size()));
  Eigen::Map<Eigen::ArrayXf, 0, Eigen::InnerStride<2>> sine(out, frequency.size());
  Eigen::Map<Eigen::ArrayXf, 0, Eigen::InnerStride<2>> cosine(out + 1, frequency.size());
  sine = (position * frequency).sin();
  cosine = (position * frequency).cos();
}

#ifdef SEXTANT_SLEEF_PEER
// The widest of SLEEF's vectors that the processor has, called as its own dispatcher would.
__attribute__((target("avx512f"))) void sleef_row_512(const std::vector<float>& w, float position, float* out) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  for (std::size_t i = 0; i < w.size(); i += 16) {
    const auto value = Sleef_sincosf16_u10avx512f(_mm512_mul_ps(_mm512_set1_ps(position), _mm512_loadu_ps(&w[i])));
    _mm512_storeu_ps(out + 2 * i, _mm512_permutex2var_ps(value.x, low, value.y));
    _mm512_storeu_ps(out + 2 * i + 16, _mm512_permutex2var_ps(value.x, high, value.y));
  }
}
__attribute__((target("avx2,fma"))) void sleef_row_256(const std::vector<float>& w, float position, float* out) {
  for (std::size_t i = 0; i < w.size(); i += 8) {
    const auto value = Sleef_sincosf8_u10avx2(_mm256_mul_ps(_mm256_set1_ps(position), _mm256_loadu_ps(&w[i])));
    const __m256 low = _mm256_unpacklo_ps(value.x, value.y);
    const __m256 high = _mm256_unpackhi_ps(value.x, value.y);
    _mm256_storeu_ps(out + 2 * i, _mm256_permute2f128_ps(low, high, 0x20));
    _mm256_storeu_ps(out + 2 * i + 8, _mm256_permute2f128_ps(low, high, 0x31));
  }
}
void sleef_row(const std::vector<float>& w, float position, float* out) {
  static const bool wide = __builtin_cpu_supports("avx512f") != 0;
  wide ? sleef_row_512(w, position, out) : sleef_row_256(w, position, out);
}
#endif

#ifdef SEXTANT_LIBMVEC_PEER
// Vector functions under glibc's names, of the library that the loader finds: glibc's own, within 4 ULP, or crmvec's,
// correctly rounded, where LD_LIBRARY_PATH names its folder.
struct Libmvec {
  using Function = __m512 (*)(__m512);
  Function sine = nullptr;
  Function cosine = nullptr;
  std::string name;

  Libmvec() {
    void* library = dlopen("libmvec.so.1", RTLD_NOW);
    if (library == nullptr) return;
    sine = reinterpret_cast<Function>(dlsym(library, "_ZGVeN16v_sinf"));
    cosine = reinterpret_cast<Function>(dlsym(library, "_ZGVeN16v_cosf"));
    name = dlsym(library, "crmvec_f16_sin") == nullptr ? "libmvec" : "crmvec";
  }
};

const Libmvec& libmvec() {
  static const Libmvec library;
  return library;
}

__attribute__((target("avx512f"))) void libmvec_row(const std::vector<float>& w, float position, float* out) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const Libmvec& library = libmvec();
  for (std::size_t i = 0; i < w.size(); i += 16) {
    const __m512 angle = _mm512_mul_ps(_mm512_set1_ps(position), _mm512_loadu_ps(&w[i]));
    const __m512 sine = library.sine(angle);
    const __m512 cosine = library.cosine(angle);
    _mm512_storeu_ps(out + 2 * i, _mm512_permutex2var_ps(sine, low, cosine));
    _mm512_storeu_ps(out + 2 * i + 16, _mm512_permutex2var_ps(sine, high, cosine));
  }
}
#endif

const int registered = [] {
  for (const Shape shape :
       {Shape{131072, 64}, Shape{131072, 128}, Shape{131072, 512}, Shape{524288, 64}, Shape{262144, 128}}) {
    add_encoder(shape, Dtype::float32, Layout::interleaved, Rounding::certified);
  }
  const Shape within_l2{1024, 128};
  for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16})
    add_encoder(within_l2, dtype, Layout::interleaved, Rounding::certified);
  const Shape table{262144, 128};
  add_encoder(table, Dtype::float32, Layout::interleaved, Rounding::fast);
  add_encoder(table, Dtype::float32, Layout::concatenated, Rounding::certified);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
    add_encoder(table, dtype, Layout::interleaved, Rounding::certified);
    add_encoder(table, dtype, Layout::interleaved, Rounding::fast);
  }
  add_peer("libm", table, libm_row);
  add_peer("eigen", table, eigen_row);
#ifdef SEXTANT_SLEEF_PEER
  if (__builtin_cpu_supports("avx2")) add_peer("sleef", table, sleef_row);
#endif
#ifdef SEXTANT_LIBMVEC_PEER
  if (__builtin_cpu_supports("avx512f") && libmvec().sine != nullptr && libmvec().cosine != nullptr)
    add_peer(libmvec().name, table, libmvec_row);
#endif
  return 0;
}();

void set_up(benchmark::State& state) {
  Sinusoidal encoding;
  encoding.dim = 128;
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(SinusoidalEncoder(encoding));
}
BENCHMARK(set_up)->Name("sinusoidal/set_up/128")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sextant
