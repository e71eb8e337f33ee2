// Eigen uses the instructions that the compiler is told of, here AVX2 and fused operations where the processor is an
// x86 (lib/CMakeLists.txt): 8 heads of 1024 tokens x 64 channels took 10 ms on two threads of a Zen 5 so, 24 ms with
// SSE2 and 16 ms with AVX-512. Under another name, so that no other file takes these functions for its own.
#include "lib/attention/eigen_products_benchmark.hpp"

#define EIGEN_DONT_PARALLELIZE
#define Eigen EigenOfProducts
#include <Eigen/Core>

namespace sextant {

void eigen_products(const float* vectors, std::ptrdiff_t n, std::ptrdiff_t head_dim, float* scores, float* out) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Matrix> v(vectors, n, head_dim);
  Eigen::Map<Matrix> products(scores, n, n);
  products.noalias() = v * v.transpose();
  Eigen::Map<Matrix>(out, n, head_dim).noalias() = products * v;
}

}  // namespace sextant
