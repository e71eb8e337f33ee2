// Over 400 lines: the steps of one plain implementation, each a few lines that are read alone, and attention's loop.

#include "properties/mutants/plain_others.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "lib/spec/of.hpp"
#include "properties/mutants/plain_rope.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"
#include "reference/relative_bias.hpp"
#include "reference/rope.hpp"

namespace sextant::mutants {

double released_slope(std::int64_t head, std::int64_t heads) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  if (head < power) return std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(power));
  return std::exp2(-8.0 * static_cast<double>(2 * (head - power) + 1) / static_cast<double>(2 * power));
}

double geometric_slope(std::int64_t head, std::int64_t heads) {
  return std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(heads));
}

std::int64_t plain_centre(const std::variant<std::int64_t, HalfOfCall>& centre, std::int64_t length) {
  if (const auto* position = std::get_if<std::int64_t>(&centre)) return *position;
  const double half = static_cast<double>(length) / 2;
  const bool up = std::get<HalfOfCall>(centre) == HalfOfCall::ceil;
  return static_cast<std::int64_t>(up ? std::ceil(half) : std::floor(half));
}

std::vector<std::int64_t> window_coordinates(std::span<const std::int64_t> window, std::int64_t token) {
  std::vector<std::int64_t> coordinates(window.size());
  for (std::size_t axis = window.size(); axis-- > 0; token /= window[axis]) coordinates[axis] = token % window[axis];
  return coordinates;
}

std::int64_t plain_window_row(const WindowBias& encoding, std::int64_t query, std::int64_t key) {
  std::int64_t rows = 1;
  for (const std::int64_t extent : encoding.window) rows *= 2 * extent - 1;
  const std::int64_t first = encoding.class_token == ClassToken::first ? 1 : 0;
  if (query < first && key < first) return rows + 2;
  if (key < first) return rows + 1;
  if (query < first) return rows;
  const auto of_query = window_coordinates(encoding.window, query - first);
  const auto of_key = window_coordinates(encoding.window, key - first);
  std::int64_t row = 0;
  std::int64_t places = 1;
  for (std::size_t axis = encoding.window.size(); axis-- > 0;) {
    row += (of_query[axis] - of_key[axis] + encoding.window[axis] - 1) * places;
    places *= 2 * encoding.window[axis] - 1;
  }
  return row;
}

namespace {

// Rotates pairs of one vector, in float32, at `angle_of(pair)`.
template <class AngleOf, class ScaleOf>
void turn(std::vector<double>& vector, const Rope& rope, AngleOf angle_of, ScaleOf scale_of) {
  const std::vector<double> x = vector;
  const auto index = [](std::int64_t channel) { return static_cast<std::size_t>(channel); };
  for (const auto& [output, input] : passthrough_channels(rope)) vector[index(output)] = x[index(input)];
  for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
    const Channels from = channels_of_pair(rope, rope.pairing, pair);
    const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
    const double a = x[index(from.first)];
    const double b = x[index(from.second)];
    const auto angle = static_cast<float>(angle_of(pair));
    const double sine = (rope.direction == Direction::clockwise ? -1 : 1) * static_cast<double>(std::sin(angle));
    const auto cosine = static_cast<double>(std::cos(angle));
    vector[index(to.first)] = (a * cosine - b * sine) * scale_of(pair, false);
    vector[index(to.second)] = (a * sine + b * cosine) * scale_of(pair, true);
  }
}

std::vector<double> vector_at(const Tensor& tensor, std::int64_t start, std::int64_t width) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < width; ++i) values.push_back(tensor.at(start + i));
  return values;
}

// theta^(k/(m-1)) of a rope_nd's ladder of m pairs, from its last to its first.
std::vector<double> rising_frequencies(const Rope& ladder) {
  std::vector<double> list;
  for (std::int64_t k = pairs(ladder) - 1; k >= 0; --k) {
    const double exponent = in_float32(static_cast<double>(2 * k) / static_cast<double>(rotary_width(ladder)));
    list.push_back(in_float32(std::pow(ladder.rope_theta, exponent)));
  }
  return list;
}

double float32_angle(double p, double w) { return in_float32(in_float32(p) * in_float32(w)); }

// What positions of a call, [axes, tokens], say of one token.
std::vector<std::int64_t> place_of(const std::vector<std::int64_t>& positions, std::int64_t tokens,
                                   std::int64_t token) {
  std::vector<std::int64_t> place;
  for (std::int64_t at = token; at < std::ssize(positions); at += tokens)
    place.push_back(positions[static_cast<std::size_t>(at)]);
  return place;
}

}  // namespace

PlainOther::PlainOther(const Spec& claimed) : dtype(claimed.dtype), last_position(claimed.max_position - 1) {
  position = [](std::int64_t p) { return p; };
  channel_of = [](std::int64_t channel, std::int64_t) { return channel; };
  finish = [](double value) { return value; };
  finish_score = [](double score, const Seen&) { return score; };
  turned_by = [](std::int64_t p, Role) { return p; };
  subtracted = [](std::span<const double> scores) { return *std::ranges::max_element(scores); };
  step_position = [](const StepQuery& query) { return query.position; };
  step_token = [](std::int64_t query, std::int64_t queries, const KeyRange& sequence, std::int64_t) {
    return sequence.end - queries + query;
  };
  sequence_of = [](const KeyRange& sequence, std::int64_t) { return sequence; };
  turns_key = [](bool is_cached) { return !is_cached; };
  axis_of_half = [](std::int64_t half) { return half; };
  slope = released_slope;
  round_slope = [](double value) { return value; };
  axis_of_channel = [](std::int64_t channel) { return channel; };
  distance = [](std::int64_t query, std::int64_t key) { return static_cast<double>(query - key); };
  query_position = [](const std::vector<std::int64_t>& positions, std::size_t query) { return positions[query]; };
  head_of = [](std::int64_t head, std::int64_t) { return head; };
  axis_of_pair = [](std::int64_t) { return 0; };
  coordinate = [](std::span<const std::int64_t> place, std::int64_t axis) {
    return static_cast<double>(place[static_cast<std::size_t>(axis)]);
  };
  pair_in_exponent = [](std::int64_t pair) { return pair; };
  pair_in_scale = [](std::int64_t pair, bool) { return pair; };
  kv_head_of = [](std::int64_t head, std::int64_t heads, std::int64_t kv_heads) { return head / (heads / kv_heads); };
  of_each(claimed, [this](const auto& encoding) { prepare(encoding); });
  exponent = [from = centre](std::int64_t p, std::int64_t length, double sign) {
    return sign * static_cast<double>(p - plain_centre(from, length));
  };
  // Long calls ask for each distance again and again: those up to the last bucket's are looked for once.
  const std::int64_t reach = std::min<std::int64_t>(relative.max_distance, 4096);
  std::vector<std::int64_t> near;
  for (std::int64_t difference = -reach; difference <= reach; ++difference)
    near.push_back(reference::bucket(relative, difference));
  bucket = [e = relative, reach, near = std::move(near)](std::int64_t difference) {
    return std::abs(difference) <= reach ? near[static_cast<std::size_t>(difference + reach)]
                                         : reference::bucket(e, difference);
  };
}

void PlainOther::prepare_code(std::int64_t dim, std::int64_t end) {
  dim_ = dim;
  end_ = end;
  answers_["encode"] = {&PlainOther::encode, "encoding"};
}

void PlainOther::prepare(const Integer& encoding) {
  prepare_code(encoding.dim, std::numeric_limits<std::int64_t>::max());
  value_ = [normalize = encoding.normalize](const PlainOther& plain, std::int64_t p, std::int64_t, const Tensors&) {
    return normalize ? static_cast<double>(p) / static_cast<double>(plain.last_position) : static_cast<double>(p);
  };
}

void PlainOther::prepare(const Binary& encoding) {
  prepare_code(encoding.dim, position_count(encoding));
  value_ = [encoding](const PlainOther& plain, std::int64_t p, std::int64_t channel, const Tensors&) {
    if (p < 0) throw SubjectFailure(FailureKind::error, "no digits");
    const auto digit = static_cast<double>((p >> plain.channel_of(channel, encoding.dim)) & 1);
    return encoding.normalize ? digit * 2 - 1 : digit;
  };
}

void PlainOther::prepare(const Learned& encoding) {
  prepare_code(encoding.dim, encoding.max_positions);
  answers_["backward/encode"] = {&PlainOther::scatter, "grad_weight"};
  value_ = [dim = encoding.dim](const PlainOther&, std::int64_t p, std::int64_t channel, const Tensors& inputs) {
    if (p < 0) throw SubjectFailure(FailureKind::error, "index out of range");
    return inputs.at("weight").at(p * dim + channel);
  };
}

void PlainOther::prepare(const Sinusoidal2d& encoding) {
  grid_ = encoding;
  exponent_width = encoding.dim / 2;
  if (encoding.axis_order == AxisOrder::width_first) axis_of_half = [](std::int64_t half) { return 1 - half; };
  answers_["encode"] = {&PlainOther::encode_grid, "encoding"};
}

double PlainOther::slope_of(std::int64_t head, std::int64_t heads) const {
  const double of_eight = slope(head, heads);
  return round_slope(bias_max == 8 ? of_eight : std::pow(of_eight, bias_max / 8));
}

void PlainOther::prepare(const Alibi& encoding) {
  if (encoding.slopes == AlibiSlopes::geometric) slope = geometric_slope;
  bias_max = static_cast<double>(encoding.bias_max);
  if (encoding.slope_dtype)
    round_slope = [dtype_of_slope = *encoding.slope_dtype](double value) { return round_to(dtype_of_slope, value); };
  const bool by_key = encoding.form == AlibiForm::key_index;
  const bool symmetric = encoding.mask == Mask::symmetric;
  distance = [by_key, symmetric](std::int64_t query, std::int64_t key) {
    return static_cast<double>(by_key ? -key : symmetric ? std::abs(query - key) : query - key);
  };
  heads_ = encoding.num_heads;
  bias_ = [](const PlainOther& plain, const Score& at, const Tensors&) {
    return plain.finish(in_float32(-in_float32(at.slope) * plain.distance(at.query, at.key)));
  };
  score_bias_ = [](const PlainOther& plain, const Score& at, const Tensors&) {
    return -plain.bias_scale * at.slope * plain.distance(at.query, at.key);
  };
  answers_["bias"] = {&PlainOther::bias, "bias"};
}

void PlainOther::prepare(const RelativeBias& encoding) {
  relative = encoding;
  bias_ = [](const PlainOther& plain, const Score& at, const Tensors& inputs) {
    return inputs.at("weight").at(plain.bucket(at.key - at.query) * at.heads + plain.head_of(at.head, at.heads));
  };
  score_bias_ = [](const PlainOther& plain, const Score& at, const Tensors& inputs) {
    return plain.bias_scale * inputs.at("weight").at(plain.bucket(at.key - at.query) * at.heads + at.head);
  };
  answers_["bias"] = {&PlainOther::bias, "bias"};
  answers_["bucket"] = {&PlainOther::buckets, "bucket"};
}

void PlainOther::prepare(const WindowBias& encoding) {
  window = encoding;
  window_row = [encoding](std::int64_t query, std::int64_t key) { return plain_window_row(encoding, query, key); };
  std::int64_t tokens = encoding.class_token == ClassToken::first ? 1 : 0;
  tokens += std::accumulate(encoding.window.begin(), encoding.window.end(), std::int64_t{1}, std::multiplies<>());
  // A row below 0 or beyond the table wraps round, as in Python; of tokens there are no others.
  const auto weight = [tokens](const PlainOther& plain, const Score& at, const Tensors& inputs) {
    if (std::min(at.query, at.key) < 0 || std::max(at.query, at.key) >= tokens)
      throw std::out_of_range("the window has no such token");
    const Tensor& table = inputs.at("weight");
    const std::int64_t rows = table.shape[0];
    const std::int64_t row = (plain.window_row(at.query, at.key) % rows + rows) % rows;
    return table.at(row * table.shape[1] + plain.head_of(at.head, table.shape[1]));
  };
  bias_ = weight;
  score_bias_ = [weight](const PlainOther& plain, const Score& at, const Tensors& inputs) {
    return plain.bias_scale * weight(plain, at, inputs);
  };
  answers_["bias"] = {&PlainOther::bias, "bias"};
}

void PlainOther::prepare(const LogCoordinates& encoding) {
  offsets = encoding;
  log_coordinate = [encoding](std::int64_t axis, std::int64_t offset) {
    const double x = in_float32(static_cast<double>(offset) / static_cast<double>(divisor(encoding, axis))) * 8;
    const auto y = static_cast<float>(in_float32(std::fabs(x) + 1));
    return std::copysign(static_cast<double>(std::log2(y)) / 3, x);
  };
  answers_["encode"] = {&PlainOther::encode_offsets, "encoding"};
}

void PlainOther::prepare(const Rope& encoding) {
  row_lengths = row_lengths_of(encoding.rope_scaling);
  turn_ = [encoding](const PlainOther&, std::vector<double>& values, const Token& token) {
    const std::vector<double> w = plain_frequencies(encoding, token.length);
    const double factor = in_float32(plain_factor(encoding, token.length));
    turn(
        values, encoding,
        [&](std::int64_t pair) {
          return float32_angle(static_cast<double>(token.position), w[static_cast<std::size_t>(pair)]);
        },
        [factor](std::int64_t, bool) { return factor; });
  };
}

// Pairs that are scaled.
void PlainOther::prepare_turn(const Rope& head) {
  head_ = head;
  turn_ = [n = static_cast<double>(head.rotary_layout == RotaryLayout::spread ? head.head_dim : head.rotary_dim)](
              const PlainOther& plain, std::vector<double>& values, const Token& token) {
    turn(
        values, plain.head_,
        [&](std::int64_t pair) {
          const double power = -2 * static_cast<double>(plain.pair_in_exponent(pair)) / n;
          return float32_angle(plain.coordinate(token.place, plain.axis_of_pair(pair)),
                               std::pow(plain.head_.rope_theta, power));
        },
        [&](std::int64_t pair, bool second) { return plain.pair_scale(pair, second, token); });
  };
  answers_["rotate"] = {&PlainOther::rotate, "y"};
}

void PlainOther::prepare(const RopeNd& encoding) {
  axial = encoding;
  turn_as(encoding);
  answers_["rotate"] = {&PlainOther::rotate, "y"};
}

void PlainOther::turn_as(const RopeNd& encoding) {
  if (encoding.coordinates != Coordinates::index) {
    const float into_patch = encoding.coordinates == Coordinates::normalized ? 0.5F : 0;
    coordinate = [into_patch, extents = encoding.extents, shifts = encoding.coordinate_shifts,
                  scales = encoding.coordinate_scales](std::span<const std::int64_t> place, std::int64_t axis) {
      const auto i = static_cast<std::size_t>(axis);
      const auto middle = static_cast<float>(place[i]) + into_patch;
      float normalized = 2 * (middle / static_cast<float>(extents[i])) - 1;
      if (!shifts.empty()) normalized = normalized + static_cast<float>(shifts[i]);
      if (!scales.empty()) normalized = normalized * static_cast<float>(scales[i]);
      return static_cast<double>(static_cast<float>(2 * std::numbers::pi) * normalized);
    };
  }
  row_lengths = row_lengths_of(encoding.rope.rope_scaling);
  head_ = encoding.rope;
  ladders = ladders_of(encoding);
  axis_of_pair = [list = axis_of_pairs(encoding)](std::int64_t pair) { return list[static_cast<std::size_t>(pair)]; };
  const bool rises = encoding.ladder == LadderShape::both_ends;
  turn_ = [rises, rope = encoding.rope](const PlainOther& plain, std::vector<double>& values, const Token& token) {
    const double factor = in_float32(plain_factor(rope, token.length));
    std::vector<std::vector<double>> w;
    for (const Ladder& ladder : plain.ladders.ladders) {
      w.push_back(rises ? rising_frequencies(ladder.rope) : plain_frequencies(ladder.rope, token.length));
    }
    turn(
        values, plain.head_,
        [&](std::int64_t pair) {
          const auto& [ladder, index] = plain.ladders.places[static_cast<std::size_t>(pair)];
          return float32_angle(plain.coordinate(token.place, plain.axis_of_pair(pair)),
                               w[static_cast<std::size_t>(ladder)][static_cast<std::size_t>(index)]);
        },
        [factor](std::int64_t, bool) { return factor; });
  };
}

void PlainOther::prepare(const Xpos& encoding) {
  const Rope& head = encoding.rope;
  prepare_turn(head);
  scale_width_ = head.rotary_layout == RotaryLayout::spread ? head.head_dim : head.rotary_dim;
  scale_base = encoding.scale_base;
  scale_sign = encoding.role == Role::query ? 1 : -1;
  centre = encoding.centre;
}

void PlainOther::prepare(const Attention& encoding) {
  attention_ = encoding;
  score_scale = encoding.softmax_scale.value_or(1 / std::sqrt(static_cast<double>(encoding.head_dim)));
  softcap = encoding.logit_softcap;
  if (encoding.query_scale) {
    query_scale = [scale = *encoding.query_scale](const Seen& seen) {
      if (scale.rule == QueryScaleRule::log_n) {
        const auto n = static_cast<double>(seen.query_position + scale.offset);
        const auto length = static_cast<double>(scale.length);
        return n > length ? std::log(n) / std::log(length) : 1;
      }
      const auto periods = static_cast<double>((seen.query_position + scale.offset) / scale.period);
      return 1 + scale.amount * std::log(1 + periods);
    };
  }
  if (encoding.position) of_each(*encoding.position, [this](const auto& part) { prepare(part); });
  answers_.clear();
  answers_["attend"] = {&PlainOther::attend, "out"};
}

Tensors PlainOther::answer(std::string_view operation, const Tensors& inputs) const {
  const auto found = answers_.find(operation);
  if (found == answers_.end()) throw SubjectFailure(FailureKind::unsupported, "no such operation");
  return {{found->second.tensor, (this->*found->second.method)(inputs)}};
}

Tensor PlainOther::buckets(const Tensors& inputs) const {
  std::vector<std::int64_t> list = inputs.at("relative").integers();
  for (std::int64_t& value : list) value = bucket(value);
  return Tensor::of_integers({std::ssize(list)}, list);
}

Tensor PlainOther::encode_grid(const Tensors& inputs) const {
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const std::int64_t count = std::ssize(positions) / 2;
  const Sinusoidal half = half_of(grid_);
  Tensor table = Tensor::zeros(dtype, {count, grid_.dim});
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t side = 0; side < 2; ++side) {
      const std::int64_t p = positions[static_cast<std::size_t>(axis_of_half(side) * count + row)];
      for (std::int64_t pair = 0; pair < pairs(half); ++pair) {
        const Channels at = channels_of_pair(half, pair);
        const auto angle = static_cast<float>(float32_angle(
            static_cast<double>(p),
            std::pow(grid_.base, -2.0 * static_cast<double>(pair) / static_cast<double>(exponent_width))));
        table.set(row * grid_.dim + side * half.dim + at.first, static_cast<double>(std::sin(angle)));
        table.set(row * grid_.dim + side * half.dim + at.second, static_cast<double>(std::cos(angle)));
      }
    }
  }
  return table;
}

Tensor PlainOther::encode_offsets(const Tensors& inputs) const {
  const std::vector<std::int64_t> coordinates = inputs.at("positions").integers();
  const std::int64_t width = axes(offsets);
  const std::int64_t count = std::ssize(coordinates) / width;
  Tensor table = Tensor::zeros(dtype, {count, width});
  for (std::int64_t i = 0; i < table.elements(); ++i) {
    const std::int64_t axis = axis_of_channel(i % width);
    table.set(i, log_coordinate(axis, coordinates[static_cast<std::size_t>(axis * count + i / width)]));
  }
  return table;
}

Tensor PlainOther::encode(const Tensors& inputs) const {
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions), dim_});
  for (std::int64_t row = 0; row < std::ssize(positions); ++row) {
    const std::int64_t asked =
        consecutive ? std::min(positions[0] + row, end_ - 1) : positions[static_cast<std::size_t>(row)];
    if (refuses_beyond && asked >= end_) throw SubjectFailure(FailureKind::error, "index out of range");
    const std::int64_t p = position(asked);
    for (std::int64_t channel = 0; channel < dim_; ++channel)
      table.set(row * dim_ + channel, finish(value_(*this, p, channel, inputs)));
  }
  return table;
}

Tensor PlainOther::scatter(const Tensors& inputs) const {
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const Tensor& grad = inputs.at("grad");
  std::vector<double> sums(static_cast<std::size_t>(end_ * dim_), 0);
  for (std::int64_t row = 0; row < std::ssize(positions); ++row) {
    for (std::int64_t c = 0; c < dim_; ++c) {
      double& sum = sums[static_cast<std::size_t>(positions[static_cast<std::size_t>(row)] * dim_ + c)];
      const double value = grad.at(row * dim_ + c);
      sum = gradient == Gradient::added ? sum + value : gradient == Gradient::overwritten ? value : 0;
    }
  }
  Tensor result = Tensor::zeros(dtype, {end_, dim_});
  for (std::int64_t i = 0; i < result.elements(); ++i) result.set(i, sums[static_cast<std::size_t>(i)]);
  return result;
}

Tensor PlainOther::bias(const Tensors& inputs) const {
  const std::vector<std::int64_t> queries = inputs.at("query_positions").integers();
  const std::vector<std::int64_t> keys = inputs.at("key_positions").integers();
  const std::int64_t heads = heads_ ? *heads_ : inputs.at("weight").shape[1];
  Tensor table = Tensor::zeros(dtype, {heads, std::ssize(queries), std::ssize(keys)});
  if (skip_single_query && queries.size() == 1) return table;
  std::int64_t at = 0;
  for (std::int64_t head = 0; head < heads; ++head) {
    const double slope_of_head = slope_of(head, heads);
    for (std::size_t query = 0; query < queries.size(); ++query) {
      const std::int64_t q = query_position(queries, query);
      for (const std::int64_t key : keys) table.set(at++, bias_(*this, {head, heads, slope_of_head, q, key}, inputs));
    }
  }
  return table;
}

double PlainOther::pair_scale(std::int64_t pair, bool second, const Token& token) const {
  if (scale_width_ == 0) return 1;
  const auto scaled = static_cast<double>(pair_in_scale(pair, second));
  const double zeta = (2 * scaled / static_cast<double>(scale_width_) + 0.4) / 1.4;
  const std::int64_t counted = token.place[0] - (scale_from_call ? token.first : 0);
  return std::pow(zeta, exponent(counted, token.length, token.sign) / scale_base);
}

Tensor PlainOther::rotate(const Tensors& inputs) const {
  const std::int64_t width = head_.head_dim;
  const Tensor& x = inputs.at("x");
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  const std::int64_t heads = x.shape[2];
  const std::vector<std::int64_t> lengths = row_lengths(positions, x.shape[0]);
  Tensor y = x;
  for (std::int64_t vector = 0; vector < tokens * heads; ++vector) {
    const std::int64_t length = lengths[static_cast<std::size_t>(vector / heads / x.shape[1])];
    const std::int64_t token = first_batch_positions ? vector / heads % x.shape[1] : vector / heads;
    const std::vector<std::int64_t> place = place_of(positions, tokens, token);
    std::vector<double> values = vector_at(x, vector * width, width);
    turn_(*this, values, {place, place[0], positions[0], length, scale_sign});
    for (std::int64_t i = 0; i < width; ++i) y.set(vector * width + i, values[static_cast<std::size_t>(i)]);
  }
  return y;
}

Tensor PlainOther::attend(const Tensors& inputs) const {
  const Tensor& q = inputs.at("q");
  const Tensor& k = inputs.at("k");
  const Tensor& v = inputs.at("v");
  const auto integers = [&](const char* name) {
    const auto found = inputs.find(name);
    return found == inputs.end() ? std::vector<std::int64_t>() : found->second.integers();
  };
  const std::vector<std::int64_t> positions = integers("positions");
  const std::vector<std::int64_t> starts = integers("starts");
  const std::vector<std::int64_t> ends = integers("ends");
  const bool is_step = inputs.contains("query_positions");
  const std::vector<std::int64_t> query_positions = is_step ? integers("query_positions") : positions;
  const Tensor* sinks = attention_.sinks && use_sinks ? &inputs.at("sinks") : nullptr;
  const std::int64_t batches = q.shape[0];
  const std::int64_t n = q.shape[2];
  const std::int64_t m = k.shape[2];
  const std::int64_t width = attention_.head_dim;
  std::vector<std::int64_t> lengths = row_lengths(positions, batches);
  std::ranges::transform(lengths, row_lengths(query_positions, batches), lengths.begin(),
                         [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  const auto vector = [&](const Tensor& tensor, std::int64_t row, const std::vector<std::int64_t>& place,
                          std::int64_t p, Role role) {
    std::vector<double> values = vector_at(tensor, row * width, width);
    const std::int64_t length = lengths[static_cast<std::size_t>(row / (tensor.shape[1] * tensor.shape[2]))];
    turn_(*this, values,
          {place, turned_by(p, role), positions[0], length, role == Role::query || one_role ? 1.0 : -1.0});
    return values;
  };
  Tensor out = Tensor::zeros(dtype, q.shape);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const auto row = static_cast<std::size_t>(batch);
    const KeyRange sequence = sequence_of({starts.empty() ? 0 : starts[row], ends.empty() ? m : ends[row]}, m);
    const auto token_of = [&](std::int64_t t) { return is_step ? step_token(t, n, sequence, m) : t; };
    const auto key_place = [&](std::int64_t t) {
      return places ? t : positions[static_cast<std::size_t>(batch * m + t)];
    };
    const auto query_place = [&](std::int64_t t) {
      if (places) return token_of(t);
      const std::int64_t p = query_positions[static_cast<std::size_t>(batch * n + t)];
      if (!is_step) return p;
      return step_position({t, n, m, p, query_positions[static_cast<std::size_t>(t)], key_place(0)});
    };
    // Where a step moves a query, it moves it along every axis.
    const auto query_coordinates = [&](std::int64_t t) {
      std::vector<std::int64_t> place = place_of(query_positions, batches * n, batch * n + t);
      const std::int64_t moved = is_step && !places ? query_place(t) - place[0] : 0;
      for (std::int64_t& p : place) p += moved;
      return place;
    };
    const auto is_turned = [&](std::int64_t key) {
      if (!turn_ || !use_position || !rotate_keys) return false;
      if (attention_.cached_keys == CachedKeys::plain) return true;
      return turns_key(is_step && key < token_of(0));
    };
    for (std::int64_t head = 0; head < attention_.num_heads; ++head) {
      const double slope_of_head = slope_of(head, heads_.value_or(attention_.num_heads));
      const std::int64_t kv = (first_batch_keys ? 0 : batch) * attention_.num_kv_heads +
                              kv_head_of(head, attention_.num_heads, attention_.num_kv_heads);
      std::vector<std::vector<double>> turned;
      for (std::int64_t key = 0; key < m; ++key) {
        turned.push_back(is_turned(key) ? vector(k, kv * m + key, place_of(positions, batches * m, batch * m + key),
                                                 key_place(key), Role::key)
                                        : vector_at(k, (kv * m + key) * width, width));
      }
      std::vector<double> values = vector_at(v, kv * m * width, m * width);
      for (std::int64_t key = 0; rotate_values && turn_ && key < m; ++key) {
        std::ranges::copy(
            vector(v, kv * m + key, place_of(positions, batches * m, batch * m + key), key_place(key), Role::key),
            values.begin() + key * width);
      }
      for (std::int64_t t = 0; t < n; ++t) {
        const std::int64_t at = (batch * attention_.num_heads + head) * n + t;
        const std::int64_t token = token_of(t);
        const std::vector<double> query = turn_ && use_position
                                              ? vector(q, at, query_coordinates(t), query_place(t), Role::query)
                                              : vector_at(q, at * width, width);
        KeyRange seen = keys_seen(attention_, token, sequence);
        if (attention_.causal) seen.end = std::min(sequence.end, seen.end + seen_ahead);
        std::vector<double> weights;
        for (std::int64_t key = seen.first; key < seen.end; ++key) {
          const std::vector<double>& other = turned[static_cast<std::size_t>(key)];
          double score = 0;
          for (std::size_t i = 0; i < query.size(); ++i) score += query[i] * other[i];
          const Seen at_score{head,           token,          key, m,
                              query_place(t), key_place(key), t,   query_positions[static_cast<std::size_t>(t)]};
          score *= score_scale;
          if (query_scale) score *= query_scale(at_score);
          double bias = unasked_bias * static_cast<double>(key);
          if (score_bias_ && use_position)
            bias +=
                score_bias_(*this, {head, attention_.num_heads, slope_of_head, query_place(t), key_place(key)}, inputs);
          if (caps_bias) score += bias;
          if (softcap) score = *softcap * std::tanh(score / *softcap);
          if (!caps_bias) score += bias;
          weights.push_back(finish_score(score, at_score));
        }
        if (weights.empty()) continue;
        double least = subtracted(weights);
        double sum = 0;
        if (sinks != nullptr) {
          const double sink = sinks->at(head);
          least = std::max(least, sink);
          sum = std::exp(sink - least);
        }
        for (double& weight : weights) {
          weight = std::exp(weight - least);
          if (weight > largest_finite(Dtype::float32)) weight = std::numeric_limits<double>::infinity();
          sum += weight;
        }
        std::vector<double> result(static_cast<std::size_t>(width), 0);
        for (std::int64_t key = seen.first; key < seen.end; ++key) {
          const double weight = round_to(weight_dtype, weights[static_cast<std::size_t>(key - seen.first)] /
                                                           (normalise ? sum : static_cast<double>(seen.count())));
          for (std::int64_t i = 0; i < width; ++i)
            result[static_cast<std::size_t>(i)] += weight * values[static_cast<std::size_t>(key * width + i)];
        }
        for (std::int64_t i = 0; i < width; ++i) out.set(at * width + i, result[static_cast<std::size_t>(i)]);
      }
    }
  }
  return out;
}

FunctionSubject::Make plain_other(const std::function<void(PlainOther&)>& change) {
  return [change](const Spec& spec) -> FunctionSubject::Call {
    PlainOther plain(spec);
    change(plain);
    return [plain](std::string_view operation, const Tensors& inputs) { return plain.answer(operation, inputs); };
  };
}

}  // namespace sextant::mutants
