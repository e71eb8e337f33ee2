#include "properties/mutants/plain_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"

namespace sextant::mutants {
namespace {

constexpr double none_yet = -std::numeric_limits<double>::infinity();

// Tokens and heads exchanged: [batch, a, b, d] to [batch, b, a, d].
Tensor exchanged(const Tensor& x) {
  Tensor y = Tensor::zeros(x.dtype, {x.shape[0], x.shape[2], x.shape[1], x.shape[3]});
  std::int64_t to = 0;
  for (std::int64_t batch = 0; batch < x.shape[0]; ++batch) {
    for (std::int64_t b = 0; b < x.shape[2]; ++b) {
      for (std::int64_t a = 0; a < x.shape[1]; ++a) {
        for (std::int64_t c = 0; c < x.shape[3]; ++c)
          y.set(to++, x.at(((batch * x.shape[1] + a) * x.shape[2] + b) * x.shape[3] + c));
      }
    }
  }
  return y;
}

// Queries or keys, [batch, heads, n, d], as the position leaves them.
Tensor turned(const FunctionSubject::Call& rope, const Tensor& x, const Tensor& positions) {
  return exchanged(rope("rotate", {{"x", exchanged(x)}, {"positions", positions}}).at("y"));
}

// Sum of weights and of weighted values, times e^-most.
struct Partial {
  double most = none_yet;
  double sum = 0;
  std::vector<double> values;
};

class Row {
 public:
  Row(const PlainAttention& how, std::int64_t width) : how_(how), width_(static_cast<std::size_t>(width)) {}

  double rounded(double value) const { return round_to(how_.operations, value); }

  double score(const std::vector<double>& q, const std::vector<double>& k) const {
    const double scale = rounded(1 / std::sqrt(static_cast<double>(width_)));
    const bool first = how_.scaled == PlainAttention::Scaled::query;
    double sum = 0;
    for (std::size_t c = 0; c < width_; ++c) add(sum, (first ? rounded(q[c] * scale) : q[c]) * k[c]);
    sum = rounded(sum);
    return first ? sum : rounded(sum * scale);
  }

  // Of the scores and values of some keys, which follow those of `before`.
  void take(Partial& partial, const std::vector<double>& scores, const std::vector<std::vector<double>>& values) const {
    const double most = std::max(partial.most, *std::ranges::max_element(scores));
    const double kept = partial.most == none_yet ? 0 : exponential(rounded(partial.most - most));
    partial.most = most;
    partial.sum = round_to(how_.sums, partial.sum * kept);
    partial.values.resize(width_);
    for (double& value : partial.values) value = round_to(how_.sums, value * kept);
    std::vector<double> weights;
    double sum = 0;
    for (const double score : scores) {
      weights.push_back(exponential(rounded(score - most)));
      add(sum, weights.back());
    }
    add(partial.sum, sum);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      double weight = weights[i];
      if (how_.divided == PlainAttention::Divided::weight) weight = rounded(weight / rounded(sum));
      weight = round_to(how_.weights, weight);
      for (std::size_t c = 0; c < width_; ++c) add(partial.values[c], weight * values[i][c]);
    }
  }

  Partial joined(const Partial& one, const Partial& other) const {
    Partial both{std::max(one.most, other.most), 0, std::vector<double>(width_, 0)};
    for (const Partial& part : {one, other}) {
      const double kept = exponential(part.most - both.most);
      add(both.sum, part.sum * kept);
      for (std::size_t c = 0; c < width_; ++c) add(both.values[c], part.values[c] * kept);
    }
    return both;
  }

 private:
  double exponential(double x) const {
    if (!how_.powers_of_two) return rounded(std::exp(x));
    return rounded(std::exp2(round_to(how_.operations, x * std::numbers::log2e)));
  }

  void add(double& sum, double term) const { sum = round_to(how_.sums, sum + round_to(how_.sums, term)); }

  const PlainAttention& how_;
  std::size_t width_;
};

std::vector<double> vector_of(const Tensor& tensor, std::int64_t row, std::int64_t width) {
  std::vector<double> values(static_cast<std::size_t>(width));
  tensor.read(row * width, values);
  return values;
}

Tensor attend(const PlainAttention& how, const Attention& encoding, const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::int64_t n = q.shape[2];
  const std::int64_t width = encoding.head_dim;
  Tensor out = Tensor::zeros(q.dtype, q.shape);
  for (std::int64_t row = 0; row < q.elements() / width; ++row) {
    const std::int64_t kv =
        row / n / encoding.num_heads * encoding.num_kv_heads + kv_head(encoding, row / n % encoding.num_heads);
    const std::int64_t seen = encoding.causal ? row % n + 1 : n;
    const Row arithmetic(how, width);
    const std::vector<double> query = vector_of(q, row, width);
    Partial whole;
    const std::int64_t parts = std::min(how.parts, seen);
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t end = (part + 1) * seen / parts;
      Partial own;
      for (std::int64_t first = part * seen / parts; first < end; first += std::min(how.tile, end - first)) {
        std::vector<double> scores;
        std::vector<std::vector<double>> values;
        for (std::int64_t key = first; key < first + std::min(how.tile, end - first); ++key) {
          scores.push_back(arithmetic.score(query, vector_of(k, kv * n + key, width)));
          values.push_back(vector_of(v, kv * n + key, width));
        }
        arithmetic.take(own, scores, values);
      }
      whole = part == 0 ? own : arithmetic.joined(whole, own);
    }
    for (std::int64_t c = 0; c < width; ++c) {
      const double sum = whole.values[static_cast<std::size_t>(c)];
      out.set(row * width + c,
              how.divided == PlainAttention::Divided::weight ? sum : round_to(how.sums, sum / whole.sum));
    }
  }
  return out;
}

}  // namespace

FunctionSubject::Call PlainAttention::call(const Spec& spec) const {
  const auto make =
      of<Attention>([how = *this](const Spec& claimed, const Attention& encoding) -> FunctionSubject::Call {
        FunctionSubject::Call rope;
        if (encoding.position) {
          const auto* position = carried<Rope>(encoding);
          if (position == nullptr) return plain_call(claimed);
          Spec alone = claimed;
          alone.encoding = *position;
          rope = plain_call(alone);
        }
        return [how, encoding, rope](std::string_view operation, const Tensors& inputs) -> Tensors {
          if (operation != "attend") throw SubjectFailure(FailureKind::unsupported, "attend only");
          if (!rope) return {{"out", attend(how, encoding, inputs.at("q"), inputs.at("k"), inputs.at("v"))}};
          const Tensor& positions = inputs.at("positions");
          return {{"out", attend(how, encoding, turned(rope, inputs.at("q"), positions),
                                 turned(rope, inputs.at("k"), positions), inputs.at("v"))}};
        };
      });
  return make(spec);
}

}  // namespace sextant::mutants
