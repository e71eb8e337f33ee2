#include "lib/attention/products.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "lib/kernels/guard_page_test.hpp"

namespace sextant::attention_products_test {
namespace {

// Each test runs on every target that this machine has, named in its id.
class ProductsOn : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override {
    EXPECT_EQ(products_target(), hwy::TargetName(GetParam())) << "the kernels ran on another target";
    hwy::SetSupportedTargetsForTest(0);
  }
};

INSTANTIATE_TEST_SUITE_P(Target, ProductsOn, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

// A matrix of random numbers that ends where a page begins that may not be touched.
template <class Scalar>
struct Guarded {
  Guarded(std::int64_t rows, std::int64_t columns, std::mt19937_64& random)
      : bytes(static_cast<std::size_t>(rows * columns) * sizeof(Scalar), GuardedBytes::Against::end), stride(columns) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::int64_t i = 0; i < rows * columns; ++i) data()[i] = static_cast<Scalar>(uniform(random));
  }
  Scalar* data() { return reinterpret_cast<Scalar*>(bytes.data()); }
  MatrixView<Scalar> view() { return {data(), stride}; }
  MatrixView<const Scalar> constant() { return {data(), stride}; }
  GuardedBytes bytes;
  std::int64_t stride;
};

template <class Scalar>
void expect_sums(const ProductShape& shape, std::mt19937_64& random) {
  Guarded<Scalar> a(shape.rows, shape.depth, random);
  Guarded<Scalar> b(shape.depth, shape.columns, random);
  Guarded<Scalar> c(shape.rows, shape.columns, random);
  const std::vector<Scalar> before(c.data(), c.data() + shape.rows * shape.columns);
  add_product<Scalar>(shape, a.constant(), b.constant(), c.view());
  const long double u = std::ldexp(1.0L, -std::numeric_limits<Scalar>::digits);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    for (std::int64_t j = 0; j < shape.columns; ++j) {
      long double sum = before[static_cast<std::size_t>(i * shape.columns + j)];
      long double size = std::fabs(sum);
      for (std::int64_t p = 0; p < shape.depth; ++p) {
        const long double term =
            static_cast<long double>(a.data()[i * shape.depth + p]) * b.data()[p * shape.columns + j];
        sum += term;
        size += std::fabs(term);
      }
      // Each of depth + 1 terms is rounded at most depth + 1 times, the products too, and the higher orders are within
      // another; the sum here, of 64 bits, errs by less than the one more for doubles.
      const long double bound = static_cast<long double>(shape.depth + 3) * u * size;
      ASSERT_LE(std::fabs(c.data()[i * shape.columns + j] - sum), bound)
          << shape.rows << " " << shape.depth << " " << shape.columns << " at " << i << ", " << j;
    }
  }
  // An element by itself, its column of b moved to another place.
  for (int draw = 0; draw < 4 && shape.rows * shape.columns > 0; ++draw) {
    const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape.rows));
    const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape.columns));
    Scalar alone = before[static_cast<std::size_t>(i * shape.columns + j)];
    add_product<Scalar>({1, shape.depth, 1}, {a.data() + i * shape.depth, 0}, {b.data() + j, shape.columns},
                        {&alone, 0});
    ASSERT_EQ(std::memcmp(&alone, c.data() + i * shape.columns + j, sizeof alone), 0) << i << ", " << j;
  }
}

TEST_P(ProductsOn, EveryElementIsItsOwnSum) {
  std::mt19937_64 random(7);
  for (const std::int64_t rows : {0, 1, 3, 4, 5, 9}) {
    for (const std::int64_t columns : {0, 1, 2, 3, 5, 8, 15, 16, 31, 33, 64, 77, 131}) {
      const auto depth = static_cast<std::int64_t>(random() % 70);
      expect_sums<float>({rows, depth, columns}, random);
      expect_sums<double>({rows, depth, columns}, random);
      if (HasFatalFailure()) return;
    }
  }
}

template <class Scalar>
void expect_transpose(std::int64_t rows, std::int64_t columns, std::mt19937_64& random) {
  Guarded<Scalar> x(rows, columns, random);
  Guarded<Scalar> to(columns, rows, random);
  transpose<Scalar>(rows, columns, x.constant(), to.view());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) ASSERT_EQ(to.data()[j * rows + i], x.data()[i * columns + j]);
}

TEST_P(ProductsOn, TransposesMatricesOfEveryExtent) {
  std::mt19937_64 random(8);
  for (std::int64_t rows = 0; rows < 10; ++rows) {
    for (const std::int64_t columns : {0, 1, 2, 3, 4, 5, 7, 8, 64, 65}) {
      expect_transpose<float>(rows, columns, random);
      expect_transpose<double>(rows, columns, random);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace sextant::attention_products_test
