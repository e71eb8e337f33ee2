#include "properties/mutants/plain_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_rope.hpp"

namespace sextant::mutants {
namespace {

constexpr double none_yet = -std::numeric_limits<double>::infinity();

// Tokens and heads exchanged: [batch, a, b, d] to [batch, b, a, d].
Tensor exchanged(const Tensor& x) {
  Tensor y = Tensor::zeros(x.dtype, {x.shape[0], x.shape[2], x.shape[1], x.shape[3]});
  const std::size_t vector = static_cast<std::size_t>(x.shape[3]) * size_of(x.dtype);
  auto to = y.data.begin();
  for (std::int64_t batch = 0; batch < x.shape[0]; ++batch) {
    for (std::int64_t b = 0; b < x.shape[2]; ++b) {
      for (std::int64_t a = 0; a < x.shape[1]; ++a) {
        const auto from = static_cast<std::size_t>((batch * x.shape[1] + a) * x.shape[2] + b) * vector;
        to = std::copy_n(x.data.begin() + static_cast<std::ptrdiff_t>(from), vector, to);
      }
    }
  }
  return y;
}

// Queries or keys, [batch, heads, n, d], as the position leaves them.
// rope by cosines and sines that are rounded to `table`.
FunctionSubject::Call with_cast_table(const Rope& encoding, Dtype dtype, Dtype table) {
  PlainRope plain(encoding, dtype);
  plain.turn = [turn = plain.turn, table](double angle) {
    const Turn exact = turn(angle);
    return Turn{round_to(table, exact.sin), round_to(table, exact.cos)};
  };
  return [plain](std::string_view, const Tensors& inputs) -> Tensors {
    return {{"y", plain.rotate(inputs.at("x"), inputs.at("positions").integers())}};
  };
}

Tensor turned(const FunctionSubject::Call& rope, const Tensor& x, const Tensor& positions) {
  return exchanged(rope("rotate", {{"x", exchanged(x)}, {"positions", positions}}).at("y"));
}

double of_periods(const QueryScale& scale, double n, const auto& rounded) {
  const double quotient = rounded(n / static_cast<double>(scale.period));
  const double of_log = rounded(rounded(scale.amount) * rounded(std::log1p(std::floor(quotient))));
  return rounded(1 + of_log);
}

double log_of(const QueryScale& scale, double n, const auto& rounded) {
  const auto length = static_cast<double>(scale.length);
  return n > length ? rounded(rounded(std::log(n)) / rounded(std::log(length))) : 1;
}

// Queries by their own scales, as transformers has it: the scale in float32, or double where vectors are; rounded; the
// product rounded to the queries' dtype.
Tensor scaled_queries(const QueryScale& scale, Dtype kept, const Tensor& q, const Tensor& positions) {
  const Dtype formed = q.dtype == Dtype::float64 ? Dtype::float64 : Dtype::float32;
  const std::vector<std::int64_t> places = positions.integers();
  const std::int64_t of_row = q.shape[1] * q.shape[2] * q.shape[3];
  Tensor scaled = q;
  for (std::int64_t i = 0; i < q.elements(); ++i) {
    const std::int64_t token = i / q.shape[3] % q.shape[2];
    const auto place = static_cast<double>(places[static_cast<std::size_t>(i / of_row * q.shape[2] + token)]);
    const auto rounded = [&](double value) { return round_to(formed, value); };
    const double n = rounded(place + static_cast<double>(scale.offset));
    const double factor =
        scale.rule == QueryScaleRule::log_n ? log_of(scale, n, rounded) : of_periods(scale, n, rounded);
    scaled.set(i, q.at(i) * (kept == Dtype::float32 ? factor : round_to(kept, factor)));
  }
  return scaled;
}

// round_to without a call for float32, in which nearly all sums are.
inline double in_format(Dtype dtype, double value) {
  return dtype == Dtype::float32 ? static_cast<double>(static_cast<float>(value)) : round_to(dtype, value);
}

// Sum of weights and of weighted values, times e^-most.
struct Partial {
  double most = none_yet;
  double sum = 0;
  std::vector<double> values;
};

class Row {
 public:
  Row(const PlainAttention& how, const Attention& encoding)
      : how_(how), encoding_(encoding), width_(static_cast<std::size_t>(encoding.head_dim)) {}

  double rounded(double value) const { return in_format(how_.operations, value); }

  double score(const std::vector<double>& q, const std::vector<double>& k) const {
    const double scale = rounded(encoding_.softmax_scale.value_or(1 / std::sqrt(static_cast<double>(width_))));
    const bool first = how_.scaled == PlainAttention::Scaled::query;
    double sum = 0;
    if (how_.sums == Dtype::float32 && !first) {
      // A sum of doubles that are float32's, rounded to it, is float32's own sum: 53 >= 2 * 24 + 2 bits.
      float of_floats = 0;
      for (std::size_t c = 0; c < width_; ++c) of_floats += static_cast<float>(q[c] * k[c]);
      sum = static_cast<double>(of_floats);
    } else {
      for (std::size_t c = 0; c < width_; ++c) add(sum, (first ? rounded(q[c] * scale) : q[c]) * k[c]);
    }
    sum = rounded(sum);
    if (!first) sum = rounded(sum * scale);
    if (!encoding_.logit_softcap) return sum;
    const double cap = *encoding_.logit_softcap;
    return rounded(cap * rounded(std::tanh(rounded(sum / cap))));
  }

  // Of the scores and values of some keys, which follow those of `before`.
  void take(Partial& partial, const std::vector<double>& scores, const std::vector<const double*>& values) const {
    const double most = std::max(partial.most, *std::ranges::max_element(scores));
    const double kept = partial.most == none_yet ? 0 : exponential(rounded(partial.most - most));
    partial.most = most;
    partial.sum = in_format(how_.sums, partial.sum * kept);
    partial.values.resize(width_);
    for (double& value : partial.values) value = in_format(how_.sums, value * kept);
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
      weight = in_format(how_.weights, weight);
      add_weighted(partial.values, weight, values[i]);
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
    return rounded(std::exp2(in_format(how_.operations, x * std::numbers::log2e)));
  }

  void add(double& sum, double term) const { sum = in_format(how_.sums, sum + in_format(how_.sums, term)); }

  void add_weighted(std::vector<double>& sums, double weight, const double* values) const {
    if (how_.sums == Dtype::float32) {
      for (std::size_t c = 0; c < width_; ++c) sums[c] = as_float32(sums[c] + as_float32(weight * values[c]));
    } else {
      for (std::size_t c = 0; c < width_; ++c) add(sums[c], weight * values[c]);
    }
  }

  static double as_float32(double value) { return static_cast<double>(static_cast<float>(value)); }

  const PlainAttention& how_;
  const Attention& encoding_;
  std::size_t width_;
};

std::vector<std::vector<double>> vectors_of(const Tensor& tensor, std::int64_t width) {
  std::vector<std::vector<double>> vectors(static_cast<std::size_t>(tensor.elements() / width));
  for (std::size_t row = 0; row < vectors.size(); ++row) {
    vectors[row].resize(static_cast<std::size_t>(width));
    tensor.read(static_cast<std::int64_t>(row) * width, vectors[row]);
  }
  return vectors;
}

// Which keys each query of a call sees.
class Shown {
 public:
  Shown(const Attention& encoding, const Tensors& inputs)
      : encoding_(encoding),
        queries_(inputs.at("q").shape[2]),
        keys_(inputs.at("k").shape[2]),
        is_step_(inputs.contains("query_positions")) {
    if (inputs.contains("starts")) starts_ = inputs.at("starts").integers();
    if (inputs.contains("ends")) ends_ = inputs.at("ends").integers();
  }

  KeyRange to(std::int64_t batch, std::int64_t query) const {
    const auto row = static_cast<std::size_t>(batch);
    const KeyRange sequence{starts_.empty() ? 0 : starts_[row], ends_.empty() ? keys_ : ends_[row]};
    return keys_seen(encoding_, is_step_ ? sequence.end - queries_ + query : query, sequence);
  }

 private:
  const Attention& encoding_;
  std::int64_t queries_;
  std::int64_t keys_;
  bool is_step_;
  std::vector<std::int64_t> starts_;
  std::vector<std::int64_t> ends_;
};

Tensor attend(const PlainAttention& how, const Attention& encoding, const Tensors& inputs) {
  const Tensor& q = inputs.at("q");
  const Tensor& k = inputs.at("k");
  const Tensor& v = inputs.at("v");
  const Shown shown(encoding, inputs);
  const std::int64_t n = q.shape[2];
  const std::int64_t m = k.shape[2];
  const std::int64_t width = encoding.head_dim;
  const std::vector<std::vector<double>> queries = vectors_of(q, width);
  const std::vector<std::vector<double>> all_keys = vectors_of(k, width);
  const std::vector<std::vector<double>> all_values = vectors_of(v, width);
  const std::vector<double> zero(static_cast<std::size_t>(width), 0);
  Tensor out = Tensor::zeros(q.dtype, q.shape);
  for (std::int64_t row = 0; row < q.elements() / width; ++row) {
    const std::int64_t batch = row / n / encoding.num_heads;
    const std::int64_t head = row / n % encoding.num_heads;
    const std::int64_t kv = batch * encoding.num_kv_heads + kv_head(encoding, head);
    const KeyRange seen = shown.to(batch, row % n);
    if (seen.count() == 0) continue;
    const Row arithmetic(how, encoding);
    const std::vector<double>& query = queries[static_cast<std::size_t>(row)];
    Partial whole;
    const std::int64_t parts = std::min(how.parts, seen.count());
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t end = seen.first + (part + 1) * seen.count() / parts;
      Partial own;
      for (std::int64_t first = seen.first + part * seen.count() / parts; first < end;
           first += std::min(how.tile, end - first)) {
        std::vector<double> scores;
        std::vector<const double*> values;
        for (std::int64_t key = first; key < first + std::min(how.tile, end - first); ++key) {
          const auto at = static_cast<std::size_t>(kv * m + key);
          scores.push_back(arithmetic.score(query, all_keys[at]));
          values.push_back(all_values[at].data());
        }
        // A sink is one more key, whose value is zero.
        if (encoding.sinks && first + std::min(how.tile, end - first) == seen.end) {
          scores.push_back(inputs.at("sinks").at(head));
          values.push_back(zero.data());
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
          rope = how.table == Dtype::float32 ? plain_call(alone) : with_cast_table(*position, alone.dtype, how.table);
        }
        return [how, encoding, rope](std::string_view operation, const Tensors& inputs) -> Tensors {
          if (operation != "attend") throw SubjectFailure(FailureKind::unsupported, "attend only");
          const bool is_step = inputs.contains("query_positions");
          const auto by_place = [&](Tensors by_position) {
            if (!encoding.query_scale) return by_position;
            Tensor& q = by_position.at("q");
            q = scaled_queries(*encoding.query_scale, how.query_scale, q,
                               inputs.at(is_step ? "query_positions" : "positions"));
            return by_position;
          };
          if (!rope) return {{"out", attend(how, encoding, by_place(inputs))}};
          if (is_step && encoding.cached_keys == CachedKeys::rotated)
            throw SubjectFailure(FailureKind::unsupported, "keys come unrotated");
          Tensors by_position = inputs;
          const Tensor& positions = inputs.at("positions");
          by_position.at("q") = turned(rope, inputs.at("q"), is_step ? inputs.at("query_positions") : positions);
          by_position.at("k") = turned(rope, inputs.at("k"), positions);
          return {{"out", attend(how, encoding, by_place(by_position))}};
        };
      });
  return make(spec);
}

}  // namespace sextant::mutants
