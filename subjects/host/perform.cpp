#include "subjects/host/perform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/spec/spec.hpp"
#include "subjects/host/environment.hpp"
#include "subjects/host/faults.hpp"
#include "subjects/host/spec_fields.hpp"

namespace sextant::host {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr std::array<std::pair<std::string_view, const SextantTensor * SextantCall::*>, 15> inputs{
    {{"positions", &SextantCall::positions},
     {"x", &SextantCall::x},
     {"query_positions", &SextantCall::query_positions},
     {"key_positions", &SextantCall::key_positions},
     {"relative", &SextantCall::relative},
     {"weight", &SextantCall::weight},
     {"q", &SextantCall::q},
     {"k", &SextantCall::k},
     {"q_weight", &SextantCall::q_weight},
     {"k_weight", &SextantCall::k_weight},
     {"v", &SextantCall::v},
     {"sinks", &SextantCall::sinks},
     {"starts", &SextantCall::starts},
     {"ends", &SextantCall::ends},
     {"grad", &SextantCall::grad}}};

constexpr std::array<std::pair<std::string_view, SextantTensor * SextantCall::*>, 14> outputs{
    {{"encoding", &SextantCall::encoding},
     {"y", &SextantCall::y},
     {"bias", &SextantCall::bias},
     {"bucket", &SextantCall::bucket},
     {"out", &SextantCall::out},
     {"q_out", &SextantCall::q_out},
     {"k_out", &SextantCall::k_out},
     {"cos", &SextantCall::cos},
     {"sin", &SextantCall::sin},
     {"grad_x", &SextantCall::grad_x},
     {"grad_weight", &SextantCall::grad_weight},
     {"grad_q", &SextantCall::grad_q},
     {"grad_k", &SextantCall::grad_k},
     {"grad_v", &SextantCall::grad_v}}};

constexpr std::array<std::pair<std::string_view, SextantOperation SextantSubject::*>, 8> operations{
    {{"encode", &SextantSubject::encode},
     {"table", &SextantSubject::table},
     {"rotate", &SextantSubject::rotate},
     {"qk_norm_rope", &SextantSubject::qk_norm_rope},
     {"bias", &SextantSubject::bias},
     {"bucket", &SextantSubject::bucket},
     {"attend", &SextantSubject::attend},
     {"backward", &SextantSubject::backward}}};

template <class List>
auto member_of(const List& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, [](const auto& entry) { return entry.first; });
  return found == list.end() ? decltype(found->second){nullptr} : found->second;
}

// The call cannot be made or was not right. The status is the reply's.
struct NoAnswer {
  std::string status;
  std::string message;
};

const Tensor& input(const Tensors& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw NoAnswer{"error", fmt::format("the request has no tensor \"{}\"", name)};
  return found->second;
}

// A tensor of the result: its dtype and shape as docs/protocol.md has them.
struct Result {
  std::string name;
  Dtype dtype;
  Shape shape;
  std::string over = {};   // the input that an operation in place writes it over
  std::string reply = {};  // what the protocol calls it, if that is another name
};

Result like(std::string name, const Tensor& tensor) { return {std::move(name), tensor.dtype, tensor.shape}; }

// Where the protocol calls both alike.
Result turned(const std::string& name, const Tensors& given) {
  const Tensor& tensor = input(given, name);
  return {name + "_out", tensor.dtype, tensor.shape, name, name};
}

std::vector<Result> results_of(const std::string& operation, const std::string& of, const Tensors& given,
                               const Spec& spec) {
  const Signature signature = signature_of(spec.encoding);
  if (operation == "encode") {
    if (!signature.dim) throw NoAnswer{"unsupported", fmt::format("{} has no codes", encoding_name(spec))};
    const Shape& shape = input(given, "positions").shape;
    return {{"encoding", spec.dtype, {shape.empty() ? 0 : shape.back(), *signature.dim}}};
  }
  if (operation == "table") {
    if (!signature.dim) throw NoAnswer{"unsupported", fmt::format("{} has no tables", encoding_name(spec))};
    const Shape& shape = input(given, "positions").shape;
    const Shape rows{shape.empty() ? 0 : shape.back(), *signature.dim / 2};
    return {{"cos", spec.dtype, rows}, {"sin", spec.dtype, rows}};
  }
  if (operation == "rotate") {
    const Tensor& x = input(given, "x");
    return {{"y", x.dtype, x.shape, "x"}};
  }
  if (operation == "qk_norm_rope") return {turned("q", given), turned("k", given)};
  if (operation == "bias") {
    const auto weight = given.find("weight");
    const std::int64_t heads = weight != given.end() && weight->second.shape.size() == 2 ? weight->second.shape[1]
                                                                                         : signature.heads.value_or(1);
    return {{"bias",
             spec.dtype,
             {heads, input(given, "query_positions").elements(), input(given, "key_positions").elements()}}};
  }
  if (operation == "bucket") return {like("bucket", input(given, "relative"))};
  if (operation == "attend") return {like("out", input(given, "q"))};
  if (of == "attend")
    return {like("grad_q", input(given, "q")), like("grad_k", input(given, "k")), like("grad_v", input(given, "v"))};
  if (given.contains("weight")) return {like("grad_weight", input(given, "weight"))};
  return {like("grad_x", input(given, "x"))};
}

SextantDtype dtype_of(Dtype dtype) {
  const std::uint8_t code = dtype == Dtype::int64      ? SEXTANT_INT
                            : dtype == Dtype::bfloat16 ? SEXTANT_BFLOAT
                                                       : SEXTANT_FLOAT;
  return {code, static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
}

// A SextantTensor with what it points to.
class View {
 public:
  View(Dtype dtype, const Shape& shape, std::span<std::byte> bytes) : shape_(shape), strides_(shape.size(), 1) {
    for (std::size_t i = shape.size(); i-- > 1;) strides_[i - 1] = strides_[i] * shape_[i];
    tensor_ = {bytes.data(),
               {SEXTANT_CPU, 0},
               static_cast<std::int32_t>(shape.size()),
               dtype_of(dtype),
               shape_.data(),
               strides_.data(),
               0};
    given_ = tensor_;
    given_shape_ = shape_;
    given_strides_ = strides_;
  }
  SextantTensor& tensor() { return tensor_; }

  /// What a call has changed of the struct: "data", "shape"; nothing if it is as it was.
  std::optional<std::string_view> changed() const {
    const auto& [data, device, ndim, dtype, shape, strides, byte_offset] = tensor_;
    if (data != given_.data) return "data";
    if (device.device_type != given_.device.device_type || device.device_id != given_.device.device_id) return "device";
    if (ndim != given_.ndim) return "ndim";
    if (dtype.code != given_.dtype.code || dtype.bits != given_.dtype.bits || dtype.lanes != given_.dtype.lanes)
      return "dtype";
    if (shape != given_.shape || shape_ != given_shape_) return "shape";
    if (strides != given_.strides || strides_ != given_strides_) return "strides";
    if (byte_offset != given_.byte_offset) return "byte_offset";
    return std::nullopt;
  }

 private:
  Shape shape_;
  Shape strides_;
  SextantTensor tensor_{};
  Shape given_shape_;
  Shape given_strides_;
  SextantTensor given_{};
};

std::uint64_t fnv_1a(std::uint64_t hash, std::uint64_t byte) { return (hash ^ byte) * 0x100000001b3; }

// Of the sizes and of the first bytes of each tensor.
std::uint64_t hash_of(const Tensors& tensors) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto& [name, tensor] : tensors) {
    for (const std::int64_t extent : tensor.shape) hash = fnv_1a(hash, static_cast<std::uint64_t>(extent));
    for (const std::byte byte : std::span(tensor.data).first(std::min<std::size_t>(tensor.data.size(), 64)))
      hash = fnv_1a(hash, static_cast<std::uint64_t>(byte));
  }
  return hash;
}

// Half of calls have all their tensors at the end, where most go too far, a quarter at the beginning, and a quarter a
// few odd steps behind it, each tensor by its own name's number of them: a kernel may align its loops by one tensor and
// take the others to lie like it.
Placement placement_of(std::uint64_t hash_of_call, std::string_view name) {
  if ((hash_of_call >> 32 & 1) == 0) return {Edge::end, 0};
  if ((hash_of_call >> 40 & 1) == 0) return {Edge::beginning, 0};
  std::uint64_t hash = hash_of_call;
  for (const char letter : name) hash = fnv_1a(hash, static_cast<std::uint64_t>(letter));
  return {Edge::beginning, 2 * (hash >> 40 & 3) + 1};
}

std::span<std::byte> placed(Arena& arena, const std::string& name, Dtype dtype, std::size_t bytes,
                            std::uint64_t hash_of_call, const SextantSubject& subject) {
  const std::size_t alignment = std::max<std::size_t>(subject.alignment, size_of(dtype));
  return arena.of(name).place(bytes, alignment, placement_of(hash_of_call, name));
}

Tensor copy_of(Dtype dtype, const Shape& shape, std::span<const std::byte> bytes) {
  return {dtype, shape, {bytes.begin(), bytes.end()}};
}

bool is_same(std::span<const std::byte> one, std::span<const std::byte> other) {
  return one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0;
}

int returned_by(SextantOperation function, SextantCall& call) {
  try {
    return function(&call);
  } catch (const std::exception& exception) {
    throw NoAnswer{"error", fmt::format("threw an exception: {}", exception.what())};
  } catch (...) {
    throw NoAnswer{"error", "threw an exception"};
  }
}

void check_result(int result, const std::string& operation, const SextantCall& call) {
  const std::string message = call.message == nullptr ? "" : call.message;
  if (result == SEXTANT_OK) return;
  if (result == SEXTANT_UNSUPPORTED)
    throw NoAnswer{"unsupported", message.empty() ? fmt::format("{} is unsupported", operation) : message};
  throw NoAnswer{"error", message.empty() ? fmt::format("returned {}", result) : message};
}

Tensors answer(const SextantSubject& subject, const Blob& request, const std::string& operation, Arena& arena,
               Waiting waiting) {
  const auto text = [&](const char* key) {
    const auto found = request.metadata.find(key);
    return found == request.metadata.end() ? std::string() : found->second;
  };
  const std::string id = text("id");
  const Performing performing({operation.c_str(), waiting == Waiting::one ? id.c_str() : nullptr});
  if (operation == "reset") {
    if (subject.reset != nullptr) subject.reset();
    return {};
  }
  const auto function = member_of(operations, operation);
  if (function == nullptr || subject.*function == nullptr)
    throw NoAnswer{"unsupported", fmt::format("the library has no {}", operation)};

  const std::string of = text("of");
  const SpecFields fields(text("spec"));
  const Spec spec = parse_spec(text("spec"));
  const std::uint64_t hash = hash_of(request.tensors);
  SextantCall call{};
  call.spec = &fields.spec();
  call.operation = operation == "backward" ? of.c_str() : operation.c_str();

  std::map<std::string, View> views;  // which stay where they are
  std::map<std::string, std::span<std::byte>> memory;
  for (const auto& [name, tensor] : request.tensors) {
    const auto member = member_of(inputs, name);
    if (member == nullptr) throw NoAnswer{"unsupported", fmt::format("the table has no input {}", name)};
    const std::span<std::byte> bytes = placed(arena, name, tensor.dtype, tensor.data.size(), hash, subject);
    std::ranges::copy(tensor.data, bytes.begin());
    memory[name] = bytes;
    call.*member = &views.try_emplace(name, tensor.dtype, tensor.shape, bytes).first->second.tensor();
  }
  const bool in_place = (subject.flags & SEXTANT_IN_PLACE) != 0;
  const std::vector<Result> results = results_of(operation, of, request.tensors, spec);
  const auto is_written_over = [&](const std::string& name) {
    return in_place && std::ranges::any_of(results, [&](const Result& result) { return result.over == name; });
  };
  std::map<std::string, std::span<std::byte>> owned = memory;  // not twice, where y is x
  for (const Result& result : results) {
    if (in_place && !result.over.empty()) {
      memory[result.name] = memory.at(result.over);
    } else {
      const std::size_t bytes = static_cast<std::size_t>(elements_of(result.shape)) * size_of(result.dtype);
      memory[result.name] = placed(arena, result.name, result.dtype, bytes, hash, subject);
      fill_with_poison(memory[result.name]);
      owned[result.name] = memory[result.name];
    }
    call.*member_of(outputs, result.name) =
        &views.try_emplace(result.name, result.dtype, result.shape, memory[result.name]).first->second.tensor();
  }

  const int returned = returned_by(subject.*function, call);
  if (const auto changed = changed_environment()) throw NoAnswer{"misbehaved", *changed};
  for (const auto& [name, bytes] : owned) {
    if (const auto overrun = arena.of(name).overrun()) throw NoAnswer{"misbehaved", *overrun};
  }
  for (const auto& [name, view] : views) {
    if (const auto what = view.changed())
      throw NoAnswer{"misbehaved", fmt::format("changed the tensor struct of {}: its {}", name, *what)};
  }
  check_result(returned, operation, call);

  Tensors reply;
  for (const Result& result : results) {
    reply[result.reply.empty() ? result.name : result.reply] = copy_of(result.dtype, result.shape, memory[result.name]);
  }
  for (const auto& [name, tensor] : request.tensors) {
    if (!is_written_over(name) && !is_same(memory[name], tensor.data))
      reply["modified/" + name] = copy_of(tensor.dtype, tensor.shape, memory[name]);
  }
  return reply;
}

}  // namespace

Blob perform(const SextantSubject& subject, const Blob& request, Arena& arena, Waiting waiting) {
  Blob reply;
  for (const char* key : {"id", "op"}) {
    if (!request.metadata.contains(key)) {
      reply.metadata = {{"status", "error"}, {"message", fmt::format("the request's metadata has no {}", key)}};
      return reply;
    }
  }
  const std::string operation = request.metadata.at("op");
  reply.metadata = {{"id", request.metadata.at("id")}, {"status", "ok"}};
  const auto refuse = [&](std::string status, std::string message) {
    reply.metadata["status"] = std::move(status);
    reply.metadata["message"] = std::move(message);
  };
  try {
    reply.tensors = answer(subject, request, operation, arena, waiting);
  } catch (const NoAnswer& no) {
    refuse(no.status, no.message);
  } catch (const std::exception& exception) {
    refuse("error", exception.what());
  }
  return reply;
}

std::map<std::string, std::string> description_of(const SextantSubject& subject, const std::string& id) {
  std::string names;
  for (const auto& [name, member] : operations) {
    if (subject.*member != nullptr) names += fmt::format("{}{}", names.empty() ? "" : ",", name);
  }
  const auto text = [](const char* of) { return std::string(of == nullptr ? "" : of); };
  const auto says = [&](std::uint32_t flag) { return (subject.flags & flag) != 0 ? "true" : "false"; };
  std::map<std::string, std::string> description{{"id", id},
                                                 {"status", "ok"},
                                                 {"name", text(subject.name)},
                                                 {"version", text(subject.version_text)},
                                                 {"ops", names},
                                                 {"in_place", says(SEXTANT_IN_PLACE)},
                                                 {"threads", says(SEXTANT_THREADS)}};
  if (subject.fields != nullptr) description.emplace("fields", subject.fields);
  return description;
}

}  // namespace sextant::host
