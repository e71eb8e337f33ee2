#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "reports/charts/chart.hpp"

namespace sextant {

std::vector<Series> principal_components(const CodeMap& map) {
  const auto finite = [](double value) { return std::isfinite(value); };
  if (map.rows < 3 || map.width < 2 || !std::ranges::all_of(map.values, finite)) return {};
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrix codes = Eigen::Map<const Matrix>(map.values.data(), map.rows, map.width);
  // Sums of values near the largest double would overflow, and the decomposition of infinities is undefined.
  const double largest = codes.cwiseAbs().maxCoeff();
  const double unit = largest > 0x1p500 ? largest : 1;
  codes /= unit;
  codes.rowwise() -= codes.colwise().mean().eval();
  // The survey's code has few rows, for which Jacobi's method is as fast as any; others take half a minute to compile.
  const Eigen::JacobiSVD<Eigen::MatrixXd> decomposition(codes, Eigen::ComputeThinU);
  Series path{"positions, in order", {}, {}, Series::Mark::line};
  for (Eigen::Index row = 0; row < codes.rows(); ++row) {
    path.x.push_back(decomposition.matrixU()(row, 0) * decomposition.singularValues()(0) * unit);
    path.y.push_back(decomposition.matrixU()(row, 1) * decomposition.singularValues()(1) * unit);
  }
  if (!std::ranges::all_of(path.x, finite) || !std::ranges::all_of(path.y, finite)) return {};
  Series first{"first position", {path.x.front()}, {path.y.front()}, Series::Mark::points};
  return {path, first};
}

std::string component_chart(const CodeMap& map) {
  return plot({"first principal component", Scale::linear}, {"second", Scale::linear}, principal_components(map));
}

}  // namespace sextant
