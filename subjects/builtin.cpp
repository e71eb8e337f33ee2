#include "subjects/builtin.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "lib/attention/attention.hpp"
#include "lib/encoders/encoders.hpp"
#include "lib/encoders/share_processors.hpp"
#include "lib/qk_norm_rope/qk_norm_rope.hpp"
#include "subjects/equally_spaced.hpp"
#include "subjects/kind.hpp"
#include "subjects/operations.hpp"
#include "subjects/threads.hpp"

#ifndef SEXTANT_VERSION
#error "the build defines SEXTANT_VERSION"
#endif

namespace sextant {
namespace {

DotProductAttention encoder_of(const Attention& encoding, std::int64_t) { return DotProductAttention(encoding); }
QkNormRopeEncoder encoder_of(const QkNormRope& encoding, std::int64_t) { return QkNormRopeEncoder(encoding); }

// The tables of a rope's encoder, as if the longest call were asked.
struct RotaryTables {
  RopeEncoder encoder;
  std::int64_t last;
};
RotaryTables encoder_of(const RotaryTable& encoding, std::int64_t max_position) {
  return {RopeEncoder(encoding.rope), max_position - 1};
}

template <class... Encodings>
std::variant<decltype(encoder_of(std::declval<const Encodings&>(), std::int64_t{}))...> encoders_of(
    const std::variant<Encodings...>&);
using Encoder = decltype(encoders_of(std::declval<const Encoding&>()));

// A tensor of the request, by its name in the protocol.
const Tensor& input(const Tensors& inputs, const std::string& name) {
  const auto found = inputs.find(name);
  if (found == inputs.end()) throw SubjectFailure(FailureKind::error, "the request has no tensor \"" + name + "\"");
  return found->second;
}
std::vector<std::int64_t> integers(const Tensors& inputs, const std::string& name) {
  return input(inputs, name).integers();
}

[[noreturn]] void refuse(std::string_view operation) {
  throw SubjectFailure(FailureKind::unsupported,
                       "builtin has no operation " + std::string(operation) + " for this spec");
}

// The encoder has an overload for lists and one for ranges, of which callers meet either: it is asked by range where
// the question is one.
Tensors answer(const SinusoidalEncoder& sinusoidal, std::string_view operation, const Tensors& inputs, Dtype dtype) {
  if (operation != "encode") refuse(operation);
  const std::vector<std::int64_t> positions = integers(inputs, "positions");
  const auto range = equally_spaced(positions);
  if (!range) return named("encoding", sinusoidal.encode(positions, dtype));
  Tensor table = Tensor::zeros(dtype, {range->count, sinusoidal.dim()});
  sinusoidal.encode(*range, {dtype, table.data.data(), range->count, sinusoidal.dim(), sinusoidal.dim()});
  return named("encoding", std::move(table));
}

Tensors answer(const RotaryTables& tables, std::string_view operation, const Tensors& inputs, Dtype dtype) {
  if (operation != "table") refuse(operation);
  std::vector<std::int64_t> positions = integers(inputs, "positions");
  const Rope& rope = tables.encoder.encoding();
  const std::int64_t rows = std::ssize(positions);
  // A rule that looks at the length is given the longest by one more row, which nobody is told of.
  if (rows > 0 && length_limit(rope.rope_scaling)) positions.push_back(tables.last);
  const std::int64_t count = pairs(rope);
  Tensors reply;
  for (const char* name : {"cos", "sin"}) reply.emplace(name, Tensor::zeros(dtype, {std::ssize(positions), count}));
  const auto rows_of = [&](const char* name) {
    return Rows{dtype, reply.at(name).data.data(), std::ssize(positions), count, count};
  };
  tables.encoder.tables(positions, rows_of("cos"), rows_of("sin"));
  for (auto& [name, tensor] : reply) {
    tensor.shape[0] = rows;
    tensor.data.resize(static_cast<std::size_t>(rows * count) * size_of(dtype));
  }
  return reply;
}

Tensors answer(const QkNormRopeEncoder& encoder, std::string_view operation, const Tensors& inputs, Dtype) {
  if (operation != "qk_norm_rope") refuse(operation);
  const std::vector<std::int64_t> positions = integers(inputs, "positions");
  QkNormRopeEncoder::Turned turned = encoder.apply({.q = input(inputs, "q"),
                                                    .k = input(inputs, "k"),
                                                    .q_weight = input(inputs, "q_weight"),
                                                    .k_weight = input(inputs, "k_weight"),
                                                    .positions = positions});
  Tensors reply = named("q", std::move(turned.q));
  reply.emplace("k", std::move(turned.k));
  return reply;
}

// The other codes, rotations, and codes and biases with a weight or without: each by what its encoder has.
template <class Code>
requires requires(const Code& code) { code.encode({}, Dtype::float32); }
Tensors answer(const Code& code, std::string_view operation, const Tensors& inputs, Dtype dtype) {
  if (operation != "encode") refuse(operation);
  return named("encoding", code.encode(integers(inputs, "positions"), dtype));
}

// Its frequencies are its own or a weight.
Tensors answer(const FourierEncoder& fourier, std::string_view operation, const Tensors& inputs, Dtype dtype) {
  if (operation != "encode") refuse(operation);
  const std::vector<std::int64_t> positions = integers(inputs, "positions");
  return named("encoding", inputs.contains("weight") ? fourier.encode(positions, input(inputs, "weight"))
                                                     : fourier.encode(positions, dtype));
}

template <class Rotation>
requires requires(const Rotation& rotation, const Tensor& x) { rotation.rotate(x, {}); }
Tensors answer(const Rotation& rotation, std::string_view operation, const Tensors& inputs, Dtype) {
  if (operation != "rotate") refuse(operation);
  return named("y", rotation.rotate(input(inputs, "x"), integers(inputs, "positions")));
}

template <class Lookup>
requires requires(const Lookup& lookup, const Tensor& weight) { lookup.encode({}, weight); }
Tensors answer(const Lookup& lookup, std::string_view operation, const Tensors& inputs, Dtype) {
  if (operation != "encode") refuse(operation);
  return named("encoding", lookup.encode(integers(inputs, "positions"), input(inputs, "weight")));
}

template <class Bias>
requires requires(const Bias& bias) { bias.bias({}, {}, Dtype::float32); }
Tensors answer(const Bias& bias, std::string_view operation, const Tensors& inputs, Dtype dtype) {
  if (operation != "bias") refuse(operation);
  return named("bias", bias.bias(integers(inputs, "query_positions"), integers(inputs, "key_positions"), dtype));
}

template <class Bias>
requires requires(const Bias& bias, const Tensor& weight) { bias.bias({}, {}, weight); }
Tensors answer(const Bias& bias, std::string_view operation, const Tensors& inputs, Dtype) {
  if constexpr (requires { bias.bucket(std::int64_t{}); }) {
    if (operation == "bucket") {
      std::vector<std::int64_t> buckets = integers(inputs, "relative");
      for (std::int64_t& value : buckets) value = bias.bucket(value);
      return named("bucket", Tensor::of_integers({std::ssize(buckets)}, buckets));
    }
  }
  if (operation != "bias") refuse(operation);
  return named("bias", bias.bias(integers(inputs, "query_positions"), integers(inputs, "key_positions"),
                                 input(inputs, "weight")));
}

// What attend is given, held for as long as the encoder reads it.
class GivenAttention {
 public:
  explicit GivenAttention(const Tensors& inputs)
      : inputs_(inputs),
        positions_(integers(inputs, "positions")),
        query_positions_(integers_or_none("query_positions")),
        starts_(integers_or_none("starts")),
        ends_(integers_or_none("ends")) {}

  AttentionInputs inputs() const {
    return {.q = input(inputs_, "q"),
            .k = input(inputs_, "k"),
            .v = input(inputs_, "v"),
            .positions = positions_,
            .weight = or_none("weight"),
            .sinks = or_none("sinks"),
            .query_positions = query_positions_,
            .starts = starts_,
            .ends = ends_};
  }

 private:
  const Tensor* or_none(const char* name) const {
    const auto found = inputs_.find(name);
    return found == inputs_.end() ? nullptr : &found->second;
  }
  std::vector<std::int64_t> integers_or_none(const char* name) const {
    const Tensor* tensor = or_none(name);
    return tensor == nullptr ? std::vector<std::int64_t>() : tensor->integers();
  }

  const Tensors& inputs_;
  std::vector<std::int64_t> positions_;
  std::vector<std::int64_t> query_positions_;
  std::vector<std::int64_t> starts_;
  std::vector<std::int64_t> ends_;
};

Tensors answer(const DotProductAttention& attention, std::string_view operation, const Tensors& inputs, Dtype) {
  if (operation != "attend") refuse(operation);
  return named("out", attention.attend(GivenAttention(inputs).inputs()));
}

// The gradients: by x of a rotation, by the weight of a table.
template <class Other>
Tensors gradient(const Other&, std::string_view of, const Tensors&) {
  refuse("backward of " + std::string(of));
}

template <class Rotation>
requires requires(const Rotation& rotation, const Tensor& x) { rotation.backward(x, std::span<const std::int64_t>()); }
Tensors gradient(const Rotation& rotation, std::string_view of, const Tensors& inputs) {
  if (of != "rotate") refuse("backward of " + std::string(of));
  return named("grad_x", rotation.backward(input(inputs, "grad"), integers(inputs, "positions")));
}

template <class Lookup>
requires requires(const Lookup& lookup, const Tensor& grad) { lookup.grad_weight({}, grad); }
Tensors gradient(const Lookup& lookup, std::string_view of, const Tensors& inputs) {
  if (of != "encode") refuse("backward of " + std::string(of));
  return named("grad_weight", lookup.grad_weight(integers(inputs, "positions"), input(inputs, "grad")));
}

template <class Bias>
requires requires(const Bias& bias, const Tensor& grad) { bias.grad_weight({}, {}, grad); }
Tensors gradient(const Bias& bias, std::string_view of, const Tensors& inputs) {
  if (of != "bias") refuse("backward of " + std::string(of));
  return named("grad_weight", bias.grad_weight(integers(inputs, "query_positions"), integers(inputs, "key_positions"),
                                               input(inputs, "grad")));
}

Tensors gradient(const DotProductAttention& attention, std::string_view of, const Tensors& inputs) {
  if (of != "attend") refuse("backward of " + std::string(of));
  AttentionGradients gradients = attention.backward(GivenAttention(inputs).inputs(), input(inputs, "grad"));
  Tensors all = named("grad_q", std::move(gradients.q));
  all.emplace("grad_k", std::move(gradients.k));
  all.emplace("grad_v", std::move(gradients.v));
  return all;
}

class BuiltinSession final : public Session {
 public:
  BuiltinSession(const Spec& spec, int judges)
      : judges_(judges),
        dtype_(spec.dtype),
        grid_(position_grid_of(spec.encoding)),
        encoder_(std::visit([&](const auto& encoding) -> Encoder { return encoder_of(encoding, spec.max_position); },
                            spec.encoding)) {}

  Description describe() override {
    return {"sextant",
            SEXTANT_VERSION,
            {"encode", "table", "rotate", "qk_norm_rope", "bias", "bucket", "attend", "backward", "reset"},
            {"float64", "float32", "float16", "bfloat16"},
            false,
            true};
  }

  Tensors call(std::string_view operation, const Tensors& inputs) override {
    if (operation == "reset") return {};  // encoders keep no state
    return asked(inputs,
                 [&](const auto& encoder, const Tensors& given) { return answer(encoder, operation, given, dtype_); });
  }

  Tensors backward(std::string_view of, const Tensors& inputs) override {
    return asked(inputs, [&](const auto& encoder, const Tensors& given) { return gradient(encoder, of, given); });
  }

  std::vector<ThreadReply> call_at_once(std::span<const ThreadCall> calls) override {
    return in_threads(calls, [this](const ThreadCall& call) {
      return BuiltinSession(call.spec, judges_).call(call.operation, call.inputs);
    });
  }

 private:
  // What an encoder refuses is the subject's own error, told as a worker would tell it.
  template <class Ask>
  Tensors asked(const Tensors& inputs, Ask ask) const {
    if (judges_ > 1) share_processors(judges_);
    try {
      if (grid_.dtype == Dtype::int64)
        return std::visit([&](const auto& encoder) { return ask(encoder, inputs); }, encoder_);
      // Encoders count steps.
      Tensors counted = inputs;
      Tensor& positions = counted.at("positions");
      positions = Tensor::of_integers(positions.shape, counts_of(positions, grid_));
      return std::visit([&](const auto& encoder) { return ask(encoder, counted); }, encoder_);
    } catch (const std::logic_error& error) {
      throw SubjectFailure(FailureKind::error, error.what());
    }
  }

  int judges_;
  Dtype dtype_;
  PositionGrid grid_;
  Encoder encoder_;
};

class BuiltinSubject final : public Subject {
 public:
  explicit BuiltinSubject(int judges) : judges_(judges) {}

  std::string name() const override { return "builtin"; }
  std::unique_ptr<Session> open(const Spec& spec) const override {
    return std::make_unique<BuiltinSession>(spec, judges_);
  }

 private:
  int judges_;
};

}  // namespace

std::unique_ptr<Subject> builtin_subject(int judges) { return std::make_unique<BuiltinSubject>(judges); }

/// Sextant's own encoders.
SubjectKind builtin_kind() {
  return {"builtin", "builtin", [](const std::string&, const std::string&, const Spec&, const OpenOptions& options) {
            return builtin_subject(options.judges);
          }};
}

}  // namespace sextant
