#include "properties/mutants/local_fault.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/mutants/plain_others.hpp"
#include "subjects/operations.hpp"

namespace sextant::mutants {
namespace {

// How an answer's values lie: every operation has an order of its own.
class Order {
 public:
  explicit Order(const Asked& asked) : operation_(asked.operation) {
    const std::vector<std::int64_t>& shape = asked.answer.shape;
    if (operation_ == "encode") {
      extents_ = {.tokens = shape[0], .channels = shape[1]};
    } else if (operation_ == "rotate") {
      extents_ = {.batches = shape[0], .tokens = shape[1], .heads = shape[2], .channels = shape[3]};
    } else if (operation_ == "bias") {
      extents_ = {.tokens = shape[1], .heads = shape[0], .channels = shape[2]};
      keys_ = asked.inputs.at("key_positions").integers();
    } else {
      extents_ = {.batches = shape[0], .tokens = shape[2], .heads = shape[1], .channels = shape[3]};
    }
    // Of a bias and of a step of attention those of the queries.
    positions_ = asked.inputs.at(asked.inputs.contains("query_positions") ? "query_positions" : "positions").integers();
  }

  std::int64_t index(const Spot& at) const {
    if (operation_ == "encode" || operation_ == "rotate") return at.vector() * at.channels + at.channel;
    return ((at.batch * at.heads + at.head) * at.tokens + at.token) * at.channels + at.channel;
  }

  Spot spot(std::int64_t index) const {
    Spot at = extents_;
    at.channel = index % at.channels;
    index /= at.channels;
    const bool heads_last = operation_ == "rotate";
    const std::int64_t inner = heads_last ? at.heads : at.tokens;
    (heads_last ? at.head : at.token) = index % inner;
    index /= inner;
    const std::int64_t outer = heads_last ? at.tokens : at.heads;
    (heads_last ? at.token : at.head) = index % outer;
    at.batch = index / outer;
    const auto row = static_cast<std::size_t>(at.batch * at.tokens + at.token);
    const auto rows = static_cast<std::size_t>(at.batches * at.tokens);
    at.position = positions_[row];
    at.before = at.token == 0 ? at.position - 1 : positions_[row - 1];
    at.second = !keys_.empty()                  ? keys_[static_cast<std::size_t>(at.channel)]
                : positions_.size() >= 2 * rows ? positions_[rows + row]
                                                : at.position;
    return at;
  }

 private:
  std::string_view operation_;
  Spot extents_;
  std::vector<std::int64_t> positions_;
  std::vector<std::int64_t> keys_;
};

// An answer whose values stand elsewhere in the right one.
Wrong from(std::function<Spot(Spot spot)> place) {
  return [place = std::move(place)](const Asked& asked) {
    const Order order(asked);
    Tensor wrong = asked.answer;
    asked.each(
        [&](const Spot& spot, std::int64_t index) { wrong.set(index, asked.answer.at(order.index(place(spot)))); });
    return wrong;
  };
}

Wrong each_value(std::function<double(Dtype dtype, double value)> change) {
  return [change = std::move(change)](const Asked& asked) {
    Tensor wrong = asked.answer;
    for (std::int64_t i = 0; i < wrong.elements(); ++i) wrong.set(i, change(wrong.dtype, wrong.at(i)));
    return wrong;
  };
}

std::int64_t moved(std::int64_t number, std::int64_t steps, std::int64_t count) {
  return std::clamp<std::int64_t>(number + steps, 0, count - 1);
}

Tensors with(Tensors inputs, const std::string& name, Tensor tensor) {
  inputs.at(name) = std::move(tensor);
  return inputs;
}

struct PlainCall {
  const Spec& spec;

  FunctionSubject::Call operator()(const Sinusoidal& encoding) const {
    return sinusoidal_call(PlainSinusoidal(encoding, spec.dtype));
  }
  FunctionSubject::Call operator()(const Rope& encoding) const { return rope_call(PlainRope(encoding, spec.dtype)); }
  FunctionSubject::Call operator()(const auto&) const {
    return [plain = PlainOther(spec)](std::string_view operation, const Tensors& inputs) {
      return plain.answer(operation, inputs);
    };
  }
};

}  // namespace

void Asked::each(const std::function<void(const Spot& spot, std::int64_t index)>& visit) const {
  const Order order(*this);
  for (std::int64_t i = 0; i < answer.elements(); ++i) visit(order.spot(i), i);
}

FunctionSubject::Call rope_call(PlainRope plain) {
  return [plain = std::move(plain)](std::string_view operation, const Tensors& inputs) -> Tensors {
    const auto positions = [&] { return counts_of(inputs.at("positions"), plain.encoding.positions); };
    if (operation == "rotate") return {{"y", plain.rotate(inputs.at("x"), positions())}};
    if (operation == "backward/rotate") return {{"grad_x", plain.backward(inputs.at("grad"), positions())}};
    throw SubjectFailure(FailureKind::unsupported, "rotate and its gradient only");
  };
}

FunctionSubject::Call sinusoidal_call(PlainSinusoidal plain) {
  return [plain = std::move(plain)](std::string_view operation, const Tensors& inputs) -> Tensors {
    if (operation != "encode") throw SubjectFailure(FailureKind::unsupported, "encode only");
    return {{"encoding", plain.encode(counts_of(inputs.at("positions"), plain.encoding.positions))}};
  };
}

FunctionSubject::Make changed(const SinusoidalChange& change) {
  return of<Sinusoidal>([change](const Spec& spec, const Sinusoidal& claimed) {
    PlainSinusoidal plain(claimed, spec.dtype);
    change(plain);
    return sinusoidal_call(plain);
  });
}

FunctionSubject::Call plain_call(const Spec& spec) { return of_each(spec, PlainCall{spec}); }

FunctionSubject::Make wrong_where(Where where, Wrong wrong, Pass pass) {
  return [where = std::move(where), wrong = std::move(wrong), pass](const Spec& spec) -> FunctionSubject::Call {
    return
        [where, wrong, pass, honest = plain_call(spec)](std::string_view operation, const Tensors& inputs) -> Tensors {
          Tensors reply = honest(operation, inputs);
          Tensor& answer = reply.begin()->second;
          constexpr std::string_view backward = "backward/";
          const bool is_backward = operation.starts_with(backward);
          if (is_backward != (pass == Pass::backward) || operation == "bucket" || answer.elements() == 0) return reply;
          const Tensor right = answer;
          const FunctionSubject::Call again = [&](std::string_view, const Tensors& changed) {
            return honest(operation, changed);
          };
          const Asked asked{again, is_backward ? operation.substr(backward.size()) : operation, inputs, right};
          std::optional<Tensor> other;  // made only where something is wrong
          asked.each([&](const Spot& spot, std::int64_t index) {
            if (!where(spot)) return;
            if (!other) other = wrong(asked);
            answer.set(index, other->at(index));
          });
          return reply;
        };
  };
}

Tensor vectors_alone(const Asked& asked, std::span<const std::int64_t> vectors) {
  const bool rotates = asked.operation == "rotate";
  const std::int64_t heads = rotates ? asked.answer.shape[2] : 1;
  const std::int64_t width = asked.answer.shape.back();
  const std::int64_t tokens = asked.answer.elements() / heads / width;
  const auto count = static_cast<std::int64_t>(vectors.size());
  const std::vector<std::int64_t> all = asked.inputs.at("positions").integers();
  const std::int64_t axes = std::ssize(all) / tokens;
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (const std::int64_t vector : vectors)
      positions.push_back(all[static_cast<std::size_t>(axis * tokens + vector / heads)]);
  }
  // Of the others none is as large: a call of all vectors is not copied for each.
  Tensors inputs;
  for (const auto& [name, tensor] : asked.inputs) {
    if (name != "x" && name != "positions") inputs.emplace(name, tensor);
  }
  std::vector<std::int64_t> shape = asked.inputs.at("positions").shape;
  shape.back() = count;
  if (rotates) {
    shape[shape.size() - 2] = 1;
    const Tensor& x = asked.inputs.at("x");
    Tensor own = Tensor::zeros(x.dtype, {1, count, 1, width});
    const auto bytes = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(width) * size_of(x.dtype));
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(x.data.begin() + vectors[static_cast<std::size_t>(i)] * bytes, bytes, own.data.begin() + i * bytes);
    inputs["x"] = std::move(own);
  }
  inputs["positions"] = Tensor::of_integers(std::move(shape), positions);
  Tensor answer = asked.again(inputs);
  answer.shape = {count, width};
  return answer;
}

Wrong zeros() {
  return [](const Asked& asked) { return Tensor::zeros(asked.answer.dtype, asked.answer.shape); };
}

Wrong as_given() {
  return [](const Asked& asked) { return asked.inputs.at("x"); };
}

Wrong negated() {
  return each_value([](Dtype, double value) { return -value; });
}

Wrong from_token(std::int64_t steps) {
  return from([steps](Spot spot) {
    spot.token = moved(spot.token, steps, spot.tokens);
    return spot;
  });
}

Wrong from_head(std::int64_t steps) {
  return from([steps](Spot spot) {
    spot.head = moved(spot.head, steps, spot.heads);
    return spot;
  });
}

Wrong from_channel(std::int64_t steps) {
  return from([steps](Spot spot) {
    spot.channel = moved(spot.channel, steps, spot.channels);
    return spot;
  });
}

Wrong from_first_row() {
  return from([](Spot spot) {
    spot.batch = 0;
    return spot;
  });
}

Wrong at_positions(std::function<std::int64_t(std::int64_t position)> change) {
  return [change = std::move(change)](const Asked& asked) {
    const Tensor& given = asked.inputs.at("positions");
    std::vector<std::int64_t> positions = given.integers();
    for (std::int64_t& position : positions) position = change(position);
    return asked.again(with(asked.inputs, "positions", Tensor::of_integers(given.shape, positions)));
  };
}

Wrong at_distances(std::function<std::int64_t(std::int64_t distance)> change) {
  return [change = std::move(change)](const Asked& asked) {
    const std::vector<std::int64_t> queries = asked.inputs.at("query_positions").integers();
    const std::vector<std::int64_t> keys = asked.inputs.at("key_positions").integers();
    Tensor wrong = asked.answer;
    for (std::size_t query = 0; query < queries.size(); ++query) {
      std::vector<std::int64_t> other;
      for (const std::int64_t key : keys) other.push_back(queries[query] + change(key - queries[query]));
      Tensors inputs = with(asked.inputs, "query_positions", Tensor::of_integers({1}, std::span(&queries[query], 1)));
      const Tensor row = asked.again(with(inputs, "key_positions", Tensor::of_integers({std::ssize(other)}, other)));
      const std::int64_t width = std::ssize(keys);
      for (std::int64_t i = 0; i < row.elements(); ++i) {
        const std::int64_t there = i / width * std::ssize(queries) + static_cast<std::int64_t>(query);
        wrong.set(there * width + i % width, row.at(i));
      }
    }
    return wrong;
  };
}

Wrong held_in(Dtype dtype) {
  return each_value([dtype](Dtype, double value) { return round_to(dtype, value); });
}

Wrong clamped_to(double most) {
  return each_value([most](Dtype, double value) { return std::clamp(value, -most, most); });
}

Wrong off_by_ulps(int ulps) {
  return each_value(
      [ulps](Dtype dtype, double value) { return value + (value < 0 ? -ulps : ulps) * ulp(dtype, value); });
}

}  // namespace sextant::mutants
