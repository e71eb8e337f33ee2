#include "properties/mutants/plain_others.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "properties/mutants/plain_rope.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"
#include "reference/relative_bias.hpp"

namespace sextant::mutants {
namespace {

template <class Wanted>
const Wanted* part_of(const Spec& spec) {
  if (const auto* own = std::get_if<Wanted>(&spec.encoding)) return own;
  const auto* attention = std::get_if<Attention>(&spec.encoding);
  return attention != nullptr && attention->position ? std::get_if<Wanted>(&*attention->position) : nullptr;
}

// Press et al. 2021 as released: powers of two have one series; others the nearest smaller power's, then every other
// one of twice as many.
double released_slope(std::int64_t head, std::int64_t heads) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  if (head < power) return std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(power));
  return std::exp2(-8.0 * static_cast<double>(2 * (head - power) + 1) / static_cast<double>(2 * power));
}

// Rotates pairs of one vector of x in place, in float32, at `angle_of(pair)`.
template <class AngleOf, class ScaleOf>
void turn(std::vector<double>& x, const Rope& rope, AngleOf angle_of, ScaleOf scale_of) {
  for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
    const Channels at = channels_of_pair(rope, rope.pairing, pair);
    double& a = x[static_cast<std::size_t>(at.first)];
    double& b = x[static_cast<std::size_t>(at.second)];
    const auto angle = static_cast<float>(angle_of(pair));
    const double sine = (rope.direction == Direction::clockwise ? -1 : 1) * static_cast<double>(std::sin(angle));
    const auto cosine = static_cast<double>(std::cos(angle));
    const double first = a * cosine - b * sine;
    b = (a * sine + b * cosine) * scale_of(pair, true);
    a = first * scale_of(pair, false);
  }
}

std::vector<double> vector_at(const Tensor& tensor, std::int64_t start, std::int64_t width) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < width; ++i) values.push_back(tensor.at(start + i));
  return values;
}

double float32_angle(double p, double w) { return in_float32(in_float32(p) * in_float32(w)); }

[[noreturn]] void unsupported() { throw SubjectFailure(FailureKind::unsupported, "no such operation"); }

}  // namespace

PlainOther::PlainOther(const Spec& claimed) : spec(claimed), last_position(claimed.max_position - 1) {
  position = [](std::int64_t p) { return p; };
  channel_of = [](std::int64_t channel, std::int64_t) { return channel; };
  finish = [](double value) { return value; };
  axis_of_half = [](std::int64_t half) { return half; };
  if (const auto* grid = part_of<Sinusoidal2d>(claimed)) {
    exponent_width = grid->dim / 2;
    if (grid->axis_order == AxisOrder::width_first) axis_of_half = [](std::int64_t half) { return 1 - half; };
  }
  slope = released_slope;
  const auto* alibi = part_of<Alibi>(claimed);
  const bool by_key = alibi != nullptr && alibi->form == AlibiForm::key_index;
  const bool symmetric = alibi != nullptr && alibi->mask == Mask::symmetric;
  distance = [by_key, symmetric](std::int64_t query, std::int64_t key) {
    return static_cast<double>(by_key ? -key : symmetric ? std::abs(query - key) : query - key);
  };
  query_position = [](const std::vector<std::int64_t>& positions, std::size_t query) { return positions[query]; };
  if (const auto* t5 = part_of<RelativeBias>(claimed)) relative = *t5;
  bucket = [e = relative](std::int64_t difference) { return reference::bucket(e, difference); };
  head_of = [](std::int64_t head, std::int64_t) { return head; };
  if (const auto* axial = part_of<RopeNd>(claimed))
    axis_of_pair = [list = axis_of_pairs(*axial)](std::int64_t pair) { return list[static_cast<std::size_t>(pair)]; };
  coordinate = [](std::span<const std::int64_t> place, std::int64_t axis) {
    return static_cast<double>(place[static_cast<std::size_t>(axis)]);
  };
  pair_in_exponent = [](std::int64_t pair) { return pair; };
  if (const auto* xpos = part_of<Xpos>(claimed)) {
    scale_base = xpos->scale_base;
    scale_sign = xpos->role == Role::query ? 1 : -1;
  }
  if (const auto* attention = std::get_if<Attention>(&claimed.encoding))
    score_scale = 1 / std::sqrt(static_cast<double>(attention->head_dim));
  kv_head_of = [](std::int64_t head, std::int64_t heads, std::int64_t kv_heads) { return head / (heads / kv_heads); };
}

Tensors PlainOther::answer(std::string_view operation, const Tensors& inputs) const {
  if (operation == "encode") return {{"encoding", encode(inputs)}};
  if (operation == "backward/encode" && std::holds_alternative<Learned>(spec.encoding))
    return {{"grad_weight", scatter(inputs)}};
  if (operation == "bias") return {{"bias", bias(inputs)}};
  if (operation == "bucket" && std::holds_alternative<RelativeBias>(spec.encoding)) {
    std::vector<std::int64_t> buckets = inputs.at("relative").integers();
    for (std::int64_t& value : buckets) value = bucket(value);
    return {{"bucket", Tensor::of_integers({std::ssize(buckets)}, buckets)}};
  }
  if (operation == "rotate") return {{"y", rotate(inputs)}};
  if (operation == "attend") return {{"out", attend(inputs)}};
  unsupported();
}

Tensor PlainOther::encode(const Tensors& inputs) const {
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  if (const auto* grid = std::get_if<Sinusoidal2d>(&spec.encoding)) {
    const std::int64_t count = std::ssize(positions) / 2;
    const Sinusoidal half = half_of(*grid);
    Tensor table = Tensor::zeros(spec.dtype, {count, grid->dim});
    for (std::int64_t row = 0; row < count; ++row) {
      for (std::int64_t side = 0; side < 2; ++side) {
        const std::int64_t p = positions[static_cast<std::size_t>(axis_of_half(side) * count + row)];
        for (std::int64_t pair = 0; pair < pairs(half); ++pair) {
          const Channels at = channels_of_pair(half, pair);
          const auto angle = static_cast<float>(float32_angle(
              static_cast<double>(p),
              std::pow(grid->base, -2.0 * static_cast<double>(pair) / static_cast<double>(exponent_width))));
          table.set(row * grid->dim + side * half.dim + at.first, static_cast<double>(std::sin(angle)));
          table.set(row * grid->dim + side * half.dim + at.second, static_cast<double>(std::cos(angle)));
        }
      }
    }
    return table;
  }
  const auto* integer = std::get_if<Integer>(&spec.encoding);
  const auto* binary = std::get_if<Binary>(&spec.encoding);
  const auto* learned = std::get_if<Learned>(&spec.encoding);
  if (integer == nullptr && binary == nullptr && learned == nullptr) unsupported();
  const std::int64_t dim = integer != nullptr ? integer->dim : binary != nullptr ? binary->dim : learned->dim;
  const std::int64_t end = binary != nullptr    ? position_count(*binary)
                           : learned != nullptr ? learned->max_positions
                                                : std::numeric_limits<std::int64_t>::max();
  Tensor table = Tensor::zeros(spec.dtype, {std::ssize(positions), dim});
  for (std::int64_t row = 0; row < std::ssize(positions); ++row) {
    const std::int64_t asked =
        consecutive ? std::min(positions[0] + row, end - 1) : positions[static_cast<std::size_t>(row)];
    if (refuses_beyond && asked >= end) throw SubjectFailure(FailureKind::error, "index out of range");
    const std::int64_t p = position(asked);
    for (std::int64_t channel = 0; channel < dim; ++channel) {
      double value = 0;
      if (integer != nullptr)
        value =
            integer->normalize ? static_cast<double>(p) / static_cast<double>(last_position) : static_cast<double>(p);
      if (binary != nullptr)
        value = static_cast<double>((p >> channel_of(channel, dim)) & 1) * (binary->normalize ? 2 : 1) -
                (binary->normalize ? 1 : 0);
      if (learned != nullptr) value = inputs.at("weight").at(p * dim + channel);
      table.set(row * dim + channel, finish(value));
    }
  }
  return table;
}

Tensor PlainOther::scatter(const Tensors& inputs) const {
  const auto& learned = std::get<Learned>(spec.encoding);
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const Tensor& grad = inputs.at("grad");
  std::vector<double> sums(static_cast<std::size_t>(learned.max_positions * learned.dim), 0);
  for (std::int64_t row = 0; row < std::ssize(positions); ++row) {
    for (std::int64_t c = 0; c < learned.dim; ++c) {
      double& sum = sums[static_cast<std::size_t>(positions[static_cast<std::size_t>(row)] * learned.dim + c)];
      const double value = grad.at(row * learned.dim + c);
      sum = gradient == Gradient::added ? sum + value : gradient == Gradient::overwritten ? value : 0;
    }
  }
  Tensor result = Tensor::zeros(spec.dtype, {learned.max_positions, learned.dim});
  for (std::int64_t i = 0; i < result.elements(); ++i) result.set(i, sums[static_cast<std::size_t>(i)]);
  return result;
}

Tensor PlainOther::bias(const Tensors& inputs) const {
  const std::vector<std::int64_t> queries = inputs.at("query_positions").integers();
  const std::vector<std::int64_t> keys = inputs.at("key_positions").integers();
  const auto* alibi = std::get_if<Alibi>(&spec.encoding);
  if (alibi == nullptr && !std::holds_alternative<RelativeBias>(spec.encoding)) unsupported();
  const std::int64_t heads = alibi != nullptr ? alibi->num_heads : inputs.at("weight").shape[1];
  Tensor table = Tensor::zeros(spec.dtype, {heads, std::ssize(queries), std::ssize(keys)});
  if (skip_single_query && queries.size() == 1) return table;
  std::int64_t at = 0;
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::size_t query = 0; query < queries.size(); ++query) {
      const std::int64_t q = query_position(queries, query);
      for (const std::int64_t key : keys) {
        table.set(at++, alibi != nullptr ? finish(in_float32(-in_float32(slope(head, heads)) * distance(q, key)))
                                         : inputs.at("weight").at(bucket(key - q) * heads + head_of(head, heads)));
      }
    }
  }
  return table;
}

// One vector at `place`, its coordinates; `first` is the call's first position and `sign` that of the scale's exponent,
// for xpos.
void PlainOther::turn_vector(std::vector<double>& values, std::span<const std::int64_t> place, std::int64_t first,
                             double sign) const {
  const auto* axial = part_of<RopeNd>(spec);
  const auto* xpos = part_of<Xpos>(spec);
  const Rope rope = xpos != nullptr ? xpos->rope : along_diagonal(*axial);
  const auto n = static_cast<double>(rope.rotary_layout == RotaryLayout::spread ? rope.head_dim : rope.rotary_dim);
  const auto scale = [&](std::int64_t pair, bool second) {
    if (xpos == nullptr) return 1.0;
    const double zeta =
        (2 * static_cast<double>(tiled_scale && second ? (pair + 3) % pairs(rope) : pair) / n + 0.4) / 1.4;
    return std::pow(zeta, sign * static_cast<double>(place[0] - (scale_from_call ? first : 0)) / scale_base);
  };
  const auto angle = [&](std::int64_t pair) {
    return float32_angle(coordinate(place, axial != nullptr ? axis_of_pair(pair) : 0),
                         std::pow(rope.rope_theta, -2 * static_cast<double>(pair_in_exponent(pair)) / n));
  };
  turn(values, rope, angle, scale);
}

Tensor PlainOther::rotate(const Tensors& inputs) const {
  const auto* axial = std::get_if<RopeNd>(&spec.encoding);
  const auto* xpos = std::get_if<Xpos>(&spec.encoding);
  if (axial == nullptr && xpos == nullptr) unsupported();
  const std::int64_t width = xpos != nullptr ? xpos->rope.head_dim : axial->head_dim;
  const Tensor& x = inputs.at("x");
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  const std::int64_t heads = x.shape[2];
  Tensor y = x;
  for (std::int64_t vector = 0; vector < tokens * heads; ++vector) {
    std::vector<std::int64_t> place;
    const std::int64_t token = first_batch_positions ? vector / heads % x.shape[1] : vector / heads;
    for (std::int64_t at = token; at < std::ssize(positions); at += tokens)
      place.push_back(positions[static_cast<std::size_t>(at)]);
    std::vector<double> values = vector_at(x, vector * width, width);
    turn_vector(values, place, positions[0], scale_sign);
    for (std::int64_t i = 0; i < width; ++i) y.set(vector * width + i, values[static_cast<std::size_t>(i)]);
  }
  return y;
}

Tensor PlainOther::attend(const Tensors& inputs) const {
  const auto* encoding = std::get_if<Attention>(&spec.encoding);
  if (encoding == nullptr) unsupported();
  const Tensor& q = inputs.at("q");
  const Tensor& k = inputs.at("k");
  const Tensor& v = inputs.at("v");
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const std::int64_t n = q.shape[2];
  const std::int64_t width = encoding->head_dim;
  const auto* rope = part_of<Rope>(spec);
  const auto* alibi = part_of<Alibi>(spec);
  const bool t5 = part_of<RelativeBias>(spec) != nullptr;
  const std::vector<double> w =
      rope != nullptr ? plain_frequencies(*rope, positions.empty() ? 0 : *std::ranges::max_element(positions) + 1)
                      : std::vector<double>{};
  const bool scaled = part_of<Xpos>(spec) != nullptr;
  const bool axial = part_of<RopeNd>(spec) != nullptr;
  const std::int64_t tokens = q.shape[0] * n;
  const auto vector = [&](const Tensor& tensor, std::int64_t row, std::int64_t token, std::int64_t p, Role role,
                          bool turned) {
    std::vector<double> values = vector_at(tensor, row * width, width);
    if ((scaled || axial) && use_position && turned) {
      std::vector<std::int64_t> place;
      for (std::int64_t at = token; at < std::ssize(positions); at += tokens)
        place.push_back(positions[static_cast<std::size_t>(at)]);
      turn_vector(values, place, positions[0], role == Role::query || one_role ? 1 : -1);
    }
    if (rope != nullptr && use_position && turned) {
      turn(
          values, *rope,
          [&](std::int64_t pair) { return float32_angle(static_cast<double>(p), w[static_cast<std::size_t>(pair)]); },
          [](std::int64_t, bool) { return 1.0; });
    }
    return values;
  };
  Tensor out = Tensor::zeros(spec.dtype, q.shape);
  for (std::int64_t batch = 0; batch < q.shape[0]; ++batch) {
    const auto place = [&](std::int64_t t) { return places ? t : positions[static_cast<std::size_t>(batch * n + t)]; };
    for (std::int64_t head = 0; head < encoding->num_heads; ++head) {
      const std::int64_t kv = (first_batch_keys ? 0 : batch) * encoding->num_kv_heads +
                              kv_head_of(head, encoding->num_heads, encoding->num_kv_heads);
      for (std::int64_t t = 0; t < n; ++t) {
        const std::int64_t row = (batch * encoding->num_heads + head) * n + t;
        const std::vector<double> query = vector(q, row, batch * n + t, place(t), Role::query, true);
        const std::int64_t keys = encoding->causal ? std::min(n, t + 1 + seen_ahead) : n;
        std::vector<double> weights;
        for (std::int64_t key = 0; key < keys; ++key) {
          const std::vector<double> other =
              vector(k, kv * n + key, batch * n + key, place(key), Role::key, rotate_keys);
          double score = 0;
          for (std::size_t i = 0; i < query.size(); ++i) score += query[i] * other[i];
          score *= score_scale;
          if (alibi != nullptr && use_position)
            score -= bias_scale * slope(head, alibi->num_heads) * distance(place(t), place(key));
          if (t5 && use_position)
            score += bias_scale * inputs.at("weight").at(bucket(place(key) - place(t)) * encoding->num_heads + head);
          weights.push_back(score + unasked_bias * static_cast<double>(key));
        }
        const double most = *std::ranges::max_element(weights);
        double sum = 0;
        for (double& weight : weights) {
          weight = std::exp(weight - most);
          sum += weight;
        }
        std::vector<double> result(static_cast<std::size_t>(width), 0);
        for (std::int64_t key = 0; key < keys; ++key) {
          const double weight = round_to(
              weight_dtype, weights[static_cast<std::size_t>(key)] / (normalise ? sum : static_cast<double>(keys)));
          for (std::int64_t i = 0; i < width; ++i)
            result[static_cast<std::size_t>(i)] += weight * v.at((kv * n + key) * width + i);
        }
        for (std::int64_t i = 0; i < width; ++i) out.set(row * width + i, result[static_cast<std::size_t>(i)]);
      }
    }
  }
  return out;
}

}  // namespace sextant::mutants
