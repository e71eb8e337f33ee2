#include "properties/mutants/plain_rope.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "properties/mutants/plain_sinusoidal.hpp"
#include "reference/rope.hpp"

namespace sextant::mutants {
namespace {

RotateCall call_of(const Tensor& x, std::span<const std::int64_t> positions) {
  return {x.shape[0], x.shape[1], x.shape[2], reference::sequence_length(positions), positions};
}

// What pairs of a batch row turn by, and are multiplied by.
struct OfRow {
  std::vector<double> frequencies;
  double magnitude;
};

// Of each batch row, the same for all where they have one length.
std::vector<OfRow> rows_of(const PlainRope& plain, RotateCall call) {
  std::vector<OfRow> rows;
  for (const std::int64_t length : plain.row_lengths(call.positions, call.batch)) {
    const bool same = !rows.empty() && length == call.length;
    call.length = length;
    rows.push_back(same ? rows.back() : OfRow{plain.frequencies(call), in_float32(plain.factor(length))});
  }
  return rows;
}

// Where each of `pairs` pairs lies in a vector of the call.
std::vector<Channels> channels_of(const std::function<Channels(const RotateCall&, std::int64_t pair)>& channels,
                                  const RotateCall& call, std::size_t pairs) {
  std::vector<Channels> list;
  for (std::size_t pair = 0; pair < pairs; ++pair) list.push_back(channels(call, static_cast<std::int64_t>(pair)));
  return list;
}

// What the pairs of one vector after another are turned by: that of the vector before where row and position are its
// own, as those of a token's heads are.
class Turns {
 public:
  Turns(const PlainRope& plain, const std::vector<OfRow>& rows) : plain_(plain), rows_(rows) {}

  const std::vector<Turn>& at(std::size_t row, double position) {
    if (row == row_ && std::bit_cast<std::uint64_t>(position) == position_) return turns_;
    row_ = row;
    position_ = std::bit_cast<std::uint64_t>(position);
    turns_.clear();
    for (const double w : rows_[row].frequencies) turns_.push_back(plain_.turn(plain_.angle(position, w)));
    return turns_;
  }

 private:
  const PlainRope& plain_;
  const std::vector<OfRow>& rows_;
  std::size_t row_ = std::numeric_limits<std::size_t>::max();  // none yet
  std::uint64_t position_ = 0;                                 // its bits
  std::vector<Turn> turns_;
};

// Calls visit(place, start of the vector).
template <class Visit>
void each_vector(const RotateCall& call, std::int64_t head_dim, Visit visit) {
  std::int64_t start = 0;
  for (std::int64_t batch = 0; batch < call.batch; ++batch) {
    for (std::int64_t token = 0; token < call.tokens; ++token) {
      for (std::int64_t head = 0; head < call.heads; ++head, start += head_dim) visit(Place{batch, token, head}, start);
    }
  }
}

}  // namespace

RowLengths row_lengths_of(const RopeScaling& scaling) {
  return [scope = length_scope(scaling)](std::span<const std::int64_t> positions, std::int64_t batch) {
    return reference::row_lengths(scope, positions, batch);
  };
}

PlainRope::PlainRope(const Rope& claimed, Dtype of_values) : encoding(claimed), dtype(of_values) {
  const Rope& e = encoding;
  row_lengths = row_lengths_of(e.rope_scaling);
  position = [grid = e.positions](const RotateCall& call, const Place& place) {
    return grid.at(call.positions[static_cast<std::size_t>(place.batch * call.tokens + place.token)]);
  };
  frequencies = [e](const RotateCall& call) { return plain_frequencies(e, call.length); };
  factor = [e](std::int64_t length) { return plain_factor(e, length); };
  angle = [](double p, double w) { return in_float32(in_float32(p) * in_float32(w)); };
  turn = [clockwise = e.direction == Direction::clockwise](double a) {
    const auto sine = static_cast<double>(std::sin(static_cast<float>(a)));
    return Turn{clockwise ? -sine : sine, static_cast<double>(std::cos(static_cast<float>(a)))};
  };
  input = [e](const RotateCall&, std::int64_t pair) { return channels_of_pair(e, e.pairing, pair); };
  output = [e](const RotateCall&, std::int64_t pair) { return channels_of_pair(e, e.output_pairing, pair); };
  apply = [](double& a, double& b, const Turn& by) {
    const double first = in_float32(in_float32(a * by.cos) - in_float32(b * by.sin));
    b = in_float32(in_float32(a * by.sin) + in_float32(b * by.cos));
    a = first;
  };
  skips = [](const RotateCall&, const Place&) { return false; };
  receive = [](double value) { return value; };
  afterwards = [](Tensor&, const Tensor&, const RotateCall&) {};
}

Tensor PlainRope::rotate(const Tensor& x, std::span<const std::int64_t> positions) const {
  const RotateCall call = call_of(x, positions);
  Tensor y = x;
  const std::vector<OfRow> rows = rows_of(*this, call);
  const std::size_t pairs = rows.empty() ? 0 : rows.front().frequencies.size();
  const std::vector<Channels> in = channels_of(input, call, pairs);
  const std::vector<Channels> out = channels_of(output, call, pairs);
  Turns turns(*this, rows);
  const std::vector<Passthrough> untouched = passthrough_channels(encoding);
  const std::size_t width = size_of(x.dtype);
  each_vector(call, encoding.head_dim, [&](const Place& place, std::int64_t start) {
    if (skips(call, place)) return;
    const auto row = static_cast<std::size_t>(place.batch);
    const std::vector<Turn>& by = turns.at(row, position(call, place));
    const double magnitude = rows[row].magnitude;
    for (const Passthrough& channel : untouched) {
      const auto from =
          x.data.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(start + channel.input) * width);
      std::copy_n(
          from, width,
          y.data.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(start + channel.output) * width));
    }
    for (std::size_t pair = 0; pair < by.size(); ++pair) {
      double a = receive(x.at(start + in[pair].first));
      double b = receive(x.at(start + in[pair].second));
      apply(a, b, {in_float32(by[pair].sin * magnitude), in_float32(by[pair].cos * magnitude)});
      y.set(start + out[pair].first, a);
      y.set(start + out[pair].second, b);
    }
  });
  afterwards(y, x, call);
  return y;
}

Tensor PlainRope::backward(const Tensor& grad, std::span<const std::int64_t> positions) const {
  const RotateCall call = call_of(grad, positions);
  Tensor result = grad;
  const std::vector<Passthrough> untouched = passthrough_channels(encoding);
  const std::vector<OfRow> rows = rows_of(*this, call);
  const std::size_t pairs = rows.empty() ? 0 : rows.front().frequencies.size();
  const std::vector<Channels> in = channels_of(input, call, pairs);
  const std::vector<Channels> out = channels_of(output, call, pairs);
  Turns turns(*this, rows);
  each_vector(call, encoding.head_dim, [&](const Place& place, std::int64_t start) {
    const auto row = static_cast<std::size_t>(place.batch);
    const std::vector<Turn>& by = turns.at(row, position(call, place));
    const double magnitude = rows[row].magnitude;
    for (const Passthrough& channel : untouched) result.set(start + channel.input, grad.at(start + channel.output));
    for (std::size_t pair = 0; pair < by.size(); ++pair) {
      double a = grad.at(start + out[pair].first);
      double b = grad.at(start + out[pair].second);
      apply(a, b, {in_float32(-by[pair].sin * magnitude), in_float32(by[pair].cos * magnitude)});
      result.set(start + in[pair].first, a);
      result.set(start + in[pair].second, b);
    }
  });
  return result;
}

}  // namespace sextant::mutants
