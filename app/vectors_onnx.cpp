#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "app/vectors_files.hpp"
#include "properties/vectors/rotation_cases.hpp"

// Test data sets as ONNX's backend tests have them: NAME/model.onnx, of one node RotaryEmbedding (opset 23), and
// NAME/test_data_set_0/input_0.pb ... output_0.pb. Its own tests draw cosines and sines from [0, 1); these are real.

namespace sextant {
namespace {

using vectors::RotationCase;

// A message of protocol buffers (protobuf.dev, "Encoding"), field by field.
class Message {
 public:
  Message& number(std::uint64_t field, std::int64_t value) {
    varint(field << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& bytes(std::uint64_t field, const std::string& value) {
    varint(field << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>((value & 0x7F) | 0x80);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

// TensorProto.DataType of onnx.proto.
std::int64_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::float32: return 1;
    case Dtype::int64: return 7;
    case Dtype::float16: return 10;
    case Dtype::float64: return 11;
    case Dtype::bfloat16: return 16;
  }
  return 0;
}

std::string tensor_proto(const std::string& name, const Tensor& tensor) {
  Message message;
  for (const std::int64_t extent : tensor.shape) message.number(1, extent);
  message.number(2, type_of(tensor.dtype)).bytes(8, name);
  // Little-endian, as tensors are here.
  message.bytes(9, std::string(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()));
  return message.text();
}

struct Named {
  std::string name;
  Tensor tensor;
};

std::string value_info(const Named& value) {
  Message shape;
  for (const std::int64_t extent : value.tensor.shape) shape.bytes(1, Message().number(1, extent).text());
  const Message type = Message().number(1, type_of(value.tensor.dtype)).bytes(2, shape.text());
  return Message().bytes(1, value.name).bytes(2, Message().bytes(1, type.text()).text()).text();
}

std::string integer_attribute(const std::string& name, std::int64_t value) {
  constexpr std::int64_t is_integer = 2;
  return Message().bytes(1, name).number(3, value).number(20, is_integer).text();
}

struct Attribute {
  std::string name;
  std::int64_t value;
};

std::string model(const std::string& name, const std::vector<Named>& inputs, const Named& output,
                  const std::vector<Attribute>& attributes) {
  constexpr std::int64_t ir_version = 11;
  constexpr std::int64_t opset = 23;
  Message node;
  for (const Named& input : inputs) node.bytes(1, input.name);
  node.bytes(2, output.name).bytes(4, "RotaryEmbedding");
  for (const auto& [attribute, value] : attributes) node.bytes(5, integer_attribute(attribute, value));
  Message graph;
  graph.bytes(1, node.text()).bytes(2, name);
  for (const Named& input : inputs) graph.bytes(11, value_info(input));
  graph.bytes(12, value_info(output));
  return Message()
      .number(1, ir_version)
      .bytes(2, "sextant")
      .bytes(7, graph.text())
      .bytes(8, Message().bytes(1, "").number(2, opset).text())
      .text();
}

// [batch, tokens, heads, head_dim] as [batch, heads, tokens, head_dim].
Tensor heads_first(const Tensor& x) {
  const std::int64_t tokens = x.shape[1];
  const std::int64_t heads = x.shape[2];
  const std::int64_t width = x.shape[3];
  Tensor made = Tensor::zeros(x.dtype, {x.shape[0], heads, tokens, width});
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t vector = i / width;
    const std::int64_t token = vector / heads % tokens;
    const std::int64_t batch = vector / heads / tokens;
    made.set(((batch * heads + vector % heads) * tokens + token) * width + i % width, x.at(i));
  }
  return made;
}

// A list of rows in which every token has its own, from the last on, and which row it has.
Tensor as_list(const Tensor& rows) {
  const std::int64_t count = rows.shape[0] * rows.shape[1];
  const std::int64_t width = rows.shape[2];
  Tensor list = Tensor::zeros(rows.dtype, {count, width});
  for (std::int64_t i = 0; i < rows.elements(); ++i) list.set((count - 1 - i / width) * width + i % width, rows.at(i));
  return list;
}
Tensor places_in_list(const Tensor& rows) {
  const std::int64_t count = rows.shape[0] * rows.shape[1];
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) places.push_back(count - 1 - i);
  return Tensor::of_integers({rows.shape[0], rows.shape[1]}, places);
}

enum class Caches { of_tokens, with_position_ids };

void add(std::vector<VectorFile>& files, const RotationCase& rotation, Caches caches) {
  const bool has_ids = caches == Caches::with_position_ids;
  const std::string name = fmt::format("rotary_embedding_{}{}", rotation.name, has_ids ? "_position_ids" : "");
  std::vector<Named> inputs{{"X", heads_first(rotation.x)},
                            {"cos_cache", has_ids ? as_list(rotation.cos) : rotation.cos},
                            {"sin_cache", has_ids ? as_list(rotation.sin) : rotation.sin}};
  if (has_ids) inputs.push_back({"position_ids", places_in_list(rotation.cos)});
  const Named output{"Y", heads_first(rotation.y)};
  std::vector<Attribute> attributes{{"interleaved", rotation.pairing == Pairing::interleaved ? 1 : 0}};
  const std::int64_t rotary_dim = 2 * rotation.cos.shape[2];
  if (rotary_dim < rotation.x.shape[3]) {
    attributes.push_back({"num_heads", rotation.x.shape[2]});
    attributes.push_back({"rotary_embedding_dim", rotary_dim});
  }
  files.push_back({name + "/model.onnx", model(name, inputs, output, attributes)});
  const std::string folder = name + "/test_data_set_0/";
  for (std::size_t i = 0; i < inputs.size(); ++i)
    files.push_back({fmt::format("{}input_{}.pb", folder, i), tensor_proto(inputs[i].name, inputs[i].tensor)});
  files.push_back({folder + "output_0.pb", tensor_proto(output.name, output.tensor)});
}

}  // namespace

std::vector<VectorFile> onnx_vectors() {
  std::vector<VectorFile> files;
  for (const RotationCase& rotation : vectors::rotation_cases()) {
    add(files, rotation, Caches::of_tokens);
    add(files, rotation, Caches::with_position_ids);
  }
  std::ranges::sort(files, {}, &VectorFile::name);
  return files;
}

}  // namespace sextant
