#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "lib/spec/spec.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_others.hpp"
#include "reference/relative_bias.hpp"

// Mutants of backward passes: attention's by queries, keys and values, and those of tables.

namespace sextant::mutants::gradient_mutants {
namespace {

constexpr const char* grouped = R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,)"
                                R"("max_position":4096})";
constexpr const char* causal = R"({"encoding":"attention","num_heads":2,"head_dim":16,"causal":true,)"
                               R"("max_position":4096})";
constexpr const char* with_rope = R"({"encoding":"attention","num_heads":2,"head_dim":16,"max_position":4096,)"
                                  R"("position":{"encoding":"rope","head_dim":16}})";
constexpr const char* t5 = R"({"encoding":"relative_bias","max_position":4096})";
constexpr const char* learned = R"({"encoding":"learned","dim":8,"max_positions":50})";

using Rows = std::vector<std::vector<double>>;  // [batch * heads * tokens][head_dim]

Rows rows_of(const Tensor& tensor) {
  Rows rows(static_cast<std::size_t>(tensor.elements() / tensor.shape[3]));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].resize(static_cast<std::size_t>(tensor.shape[3]));
    tensor.read(static_cast<std::int64_t>(i) * tensor.shape[3], rows[i]);
  }
  return rows;
}

Tensor tensor_of(Dtype dtype, const std::vector<std::int64_t>& shape, const Rows& rows) {
  Tensor tensor = Tensor::zeros(dtype, shape);
  std::int64_t i = 0;
  for (const std::vector<double>& row : rows) {
    for (const double value : row) tensor.set(i++, value);
  }
  return tensor;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(std::vector<double>& to, double factor, const std::vector<double>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

// The backward pass of attention as it is commonly written, in double: rope in the half pairing, base 10000, or no
// position. As made it is right.
struct PlainGradient {
  bool subtract_mean = true;
  double scale_of_keys = 1;      // what dk is multiplied by beside 1/sqrt(head_dim)
  bool add_over_group = true;    // whether heads of a group are added up
  bool turn_back = true;         // whether dq and dk are
  bool mask = true;              // whether a causal mask is heard
  std::int64_t block = 1 << 20;  // queries from here on add nothing to dk and dv

  static void turn(std::vector<double>& x, std::int64_t position, double direction) {
    const std::size_t half = x.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      const double frequency = std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
      const double angle = direction * static_cast<double>(position) * frequency;
      const double x0 = x[i];
      const double x1 = x[i + half];
      x[i] = x0 * std::cos(angle) - x1 * std::sin(angle);
      x[i + half] = x0 * std::sin(angle) + x1 * std::cos(angle);
    }
  }

  Tensors answer(const Spec& spec, const Attention& encoding, const Tensors& inputs) const {
    Rows q = rows_of(inputs.at("q"));
    Rows k = rows_of(inputs.at("k"));
    const Rows v = rows_of(inputs.at("v"));
    const Rows by_out = rows_of(inputs.at("grad"));
    const std::vector<std::int64_t>& shape = inputs.at("q").shape;
    const std::int64_t n = shape[2];
    const std::int64_t group = encoding.num_heads / encoding.num_kv_heads;
    const double scale = 1 / std::sqrt(static_cast<double>(encoding.head_dim));
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    const bool turns = encoding.position.has_value();
    const auto turn_all = [&](Rows& rows, std::int64_t heads, double direction) {
      for (std::int64_t row = 0; row < std::ssize(rows); ++row) {
        const std::int64_t token = row / n / heads * n + row % n;
        turn(rows[static_cast<std::size_t>(row)], positions[static_cast<std::size_t>(token)], direction);
      }
    };
    if (turns) {
      turn_all(q, encoding.num_heads, 1);
      turn_all(k, encoding.num_kv_heads, 1);
    }
    const std::vector<double> zeros(static_cast<std::size_t>(encoding.head_dim), 0);
    Rows dq(q.size(), zeros);
    Rows dk(k.size(), zeros);
    Rows dv(k.size(), zeros);
    for (std::int64_t row = 0; row < std::ssize(q); ++row) {
      const std::int64_t query = row % n;
      const std::int64_t head = row / n;
      const std::int64_t first = head / group * n;
      const std::int64_t seen = encoding.causal && mask ? query + 1 : n;
      const auto at = [&](std::int64_t key) { return static_cast<std::size_t>(first + key); };
      std::vector<double> weights;
      for (std::int64_t key = 0; key < seen; ++key)
        weights.push_back(scale * dot(q[static_cast<std::size_t>(row)], k[at(key)]));
      const double greatest = *std::ranges::max_element(weights);
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - greatest);
      const std::vector<double>& out = by_out[static_cast<std::size_t>(row)];
      double mean = 0;
      for (std::int64_t key = 0; key < seen; ++key)
        mean += weights[static_cast<std::size_t>(key)] / sum * dot(out, v[at(key)]);
      for (std::int64_t key = 0; key < seen; ++key) {
        const double weight = weights[static_cast<std::size_t>(key)] / sum;
        const double by_score = scale * weight * (dot(out, v[at(key)]) - (subtract_mean ? mean : 0));
        add(dq[static_cast<std::size_t>(row)], by_score, k[at(key)]);
        if ((!add_over_group && head % group != group - 1) || query >= block) continue;
        add(dk[at(key)], scale_of_keys * by_score, q[static_cast<std::size_t>(row)]);
        add(dv[at(key)], weight, out);
      }
    }
    if (turns && turn_back) {
      turn_all(dq, encoding.num_heads, -1);
      turn_all(dk, encoding.num_kv_heads, -1);
    }
    const std::vector<std::int64_t>& kv_shape = inputs.at("k").shape;
    return {{"grad_q", tensor_of(spec.dtype, shape, dq)},
            {"grad_k", tensor_of(spec.dtype, kv_shape, dk)},
            {"grad_v", tensor_of(spec.dtype, kv_shape, dv)}};
  }
};

// The gradient by T5's table, in double. As made it is right.
struct PlainTable {
  std::int64_t keys_seen = 1 << 20;  // of each query
  bool add = true;
  std::int64_t sign = 1;  // of the relative position
  bool of_self = true;    // of as many queries as keys at the same positions, some and not a thousand

  Tensors answer(const RelativeBias& encoding, const Tensors& inputs) const {
    const std::vector<std::int64_t> queries = inputs.at("query_positions").integers();
    const std::vector<std::int64_t> keys = inputs.at("key_positions").integers();
    const Tensor& grad = inputs.at("grad");
    const std::int64_t heads = grad.shape[0];
    if (!of_self && queries == keys && std::ssize(keys) >= 4 && std::ssize(keys) < 1000)
      return {{"grad_weight", Tensor::zeros(grad.dtype, {encoding.num_buckets, heads})}};
    std::vector<double> sums(static_cast<std::size_t>(encoding.num_buckets * heads), 0);
    for (std::int64_t i = 0; i < grad.elements(); ++i) {
      const std::int64_t key = i % std::ssize(keys);
      if (key >= keys_seen) continue;
      const std::int64_t query = i / std::ssize(keys) % std::ssize(queries);
      const std::int64_t relative =
          sign * (keys[static_cast<std::size_t>(key)] - queries[static_cast<std::size_t>(query)]);
      double& sum = sums[static_cast<std::size_t>(reference::bucket(encoding, relative) * heads +
                                                  i / std::ssize(keys) / std::ssize(queries))];
      sum = (add ? sum : 0) + grad.at(i);
    }
    Tensor by_weight = Tensor::zeros(grad.dtype, {encoding.num_buckets, heads});
    for (std::int64_t i = 0; i < by_weight.elements(); ++i) by_weight.set(i, sums[static_cast<std::size_t>(i)]);
    return {{"grad_weight", by_weight}};
  }
};

struct List {
  std::vector<Mutant> entries;

  // `backward(spec, inputs)` answers operation "backward/OF", the rest is plain.
  void with(Kind kind, std::string name, std::string mechanism, const char* spec, std::string operation,
            std::function<Tensors(const Spec& claimed, const Tensors& inputs)> backward) {
    const auto make = [operation = std::move(operation),
                       backward = std::move(backward)](const Spec& claimed) -> FunctionSubject::Call {
      return
          [operation, backward, claimed, plain = PlainOther(claimed)](std::string_view asked, const Tensors& inputs) {
            return asked == operation ? backward(claimed, inputs) : plain.answer(asked, inputs);
          };
    };
    entries.push_back({std::move(name), kind, "", std::move(mechanism), spec, make});
  }

  void attention(Kind kind, std::string name, std::string mechanism, const char* spec,
                 const std::function<void(PlainGradient&)>& change) {
    PlainGradient gradient;
    change(gradient);
    with(kind, std::move(name), std::move(mechanism), spec, "backward/attend",
         of<Attention>([gradient](const Spec& claimed, const Attention& encoding, const Tensors& inputs) {
           return gradient.answer(claimed, encoding, inputs);
         }));
  }

  void table(Kind kind, std::string name, std::string mechanism, const std::function<void(PlainTable&)>& change) {
    PlainTable gradient;
    change(gradient);
    with(kind, std::move(name), std::move(mechanism), t5, "backward/bias",
         of<RelativeBias>([gradient](const Spec&, const RelativeBias& encoding, const Tensors& inputs) {
           return gradient.answer(encoding, inputs);
         }));
  }
};

// A lookup's gradient that loses what is used more often than `most`.
Tensors scattered_up_to(std::int64_t most, const Tensors& inputs) {
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const Tensor& grad = inputs.at("grad");
  const std::int64_t dim = grad.shape[1];
  Tensor by_weight = Tensor::zeros(grad.dtype, inputs.at("weight").shape);
  std::vector<double> sums(static_cast<std::size_t>(by_weight.elements()), 0);
  std::vector<std::int64_t> uses(static_cast<std::size_t>(by_weight.shape[0]), 0);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (++uses[static_cast<std::size_t>(positions[i])] > most) continue;
    for (std::int64_t c = 0; c < dim; ++c)
      sums[static_cast<std::size_t>(positions[i] * dim + c)] += grad.at(static_cast<std::int64_t>(i) * dim + c);
  }
  for (std::int64_t i = 0; i < by_weight.elements(); ++i) by_weight.set(i, sums[static_cast<std::size_t>(i)]);
  return {{"grad_weight", by_weight}};
}

}  // namespace

std::vector<Mutant> all() {
  List list;
  list.attention(Kind::defect, "attention-gradient-no-mean",
                 "the weights' gradient lacks the mean that softmax takes off", grouped,
                 [](PlainGradient& plain) { plain.subtract_mean = false; });
  list.attention(Kind::defect, "attention-gradient-scale", "keys' gradients are scaled twice", grouped,
                 [](PlainGradient& plain) { plain.scale_of_keys = 0.25; });
  list.attention(Kind::defect, "attention-gradient-group", "of a group's heads the last one's gradient is kept",
                 grouped, [](PlainGradient& plain) { plain.add_over_group = false; });
  list.attention(Kind::defect, "attention-gradient-mask", "the backward pass forgets the causal mask", causal,
                 [](PlainGradient& plain) { plain.mask = false; });
  list.attention(Kind::defect, "attention-gradient-not-turned",
                 "gradients of turned queries and keys are not turned back", with_rope,
                 [](PlainGradient& plain) { plain.turn_back = false; });
  list.attention(Kind::defect, "attention-gradient-32-queries",
                 "queries from the thirty-third on add nothing to dk, dv", causal,
                 [](PlainGradient& plain) { plain.block = 32; });
  list.table(Kind::defect, "t5-gradient-overwritten", "a bucket's gradient is that of its last use",
             [](PlainTable& plain) { plain.add = false; });
  list.table(Kind::defect, "t5-gradient-256-keys", "keys from the 257th on add nothing to a bucket's gradient",
             [](PlainTable& plain) { plain.keys_seen = 256; });
  list.table(Kind::defect, "t5-gradient-mirrored", "the backward pass takes query minus key",
             [](PlainTable& plain) { plain.sign = -1; });
  list.with(Kind::defect, "learned-gradient-1000-uses", "uses of a row beyond 1000 are lost", learned,
            "backward/encode", [](const Spec&, const Tensors& inputs) { return scattered_up_to(1000, inputs); });
  list.attention(Kind::defect, "attention-gradient-256-queries", "queries from the 257th on add nothing to dk, dv",
                 causal, [](PlainGradient& plain) { plain.block = 256; });
  list.table(Kind::defect, "t5-gradient-of-self-zero", "the gradient of tokens that see themselves is zero",
             [](PlainTable& plain) { plain.of_self = false; });
  list.table(Kind::defect, "t5-gradient-1024-keys", "keys from the 1025th on add nothing to a bucket's gradient",
             [](PlainTable& plain) { plain.keys_seen = 1024; });
  list.with(Kind::defect, "learned-gradient-last-row", "the table's last row has no gradient", learned,
            "backward/encode", [](const Spec&, const Tensors& inputs) {
              Tensors reply = scattered_up_to(std::int64_t{1} << 40, inputs);
              Tensor& by_weight = reply.at("grad_weight");
              for (std::int64_t i = by_weight.elements() - by_weight.shape[1]; i < by_weight.elements(); ++i)
                by_weight.set(i, 0);
              return reply;
            });
  list.attention(Kind::control, "attention-gradient-plain", "grouped queries and their gradients", grouped,
                 [](PlainGradient&) {});
  list.attention(Kind::control, "attention-gradient-causal", "causal, with gradients", causal, [](PlainGradient&) {});
  list.attention(Kind::control, "attention-gradient-rope", "rotated queries and keys, with gradients", with_rope,
                 [](PlainGradient&) {});
  list.table(Kind::control, "t5-gradient-plain", "a learned bias with its gradient", [](PlainTable&) {});
  list.with(Kind::control, "learned-gradient-plain", "a lookup with its gradient", learned, "backward/encode",
            [](const Spec&, const Tensors& inputs) { return scattered_up_to(std::int64_t{1} << 40, inputs); });
  return list.entries;
}

}  // namespace sextant::mutants::gradient_mutants
