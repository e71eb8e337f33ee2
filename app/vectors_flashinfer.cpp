#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/sha256.hpp"
#include "app/vectors_files.hpp"
#include "properties/vectors/rotation_cases.hpp"
#include "subjects/safetensors.hpp"

// FlashInfer-Bench's files: a Definition of each width and dtype, definitions/rope/NAME.json, whose axes and inputs are
// those of its op_type rope, and of each definition the workloads, workloads/rope/NAME.jsonl, with their tensors beside
// them (FlashInfer Trace schema, docs/flashinfer-trace). The blobs have q_out and k_out too, which are correct to the
// last place but for one rounding more.

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;
using vectors::RotationCase;

std::string definition_name(const RotationCase& rotation) {
  return fmt::format("rope_h{}_r{}_{}", rotation.x.shape[3], 2 * rotation.cos.shape[2], name_of(rotation.x.dtype));
}

constexpr const char* reference = R"(import torch

def run(q, k, cos_sin_cache, positions, is_neox):
    cos, sin = cos_sin_cache[positions].double()[:, None, :].chunk(2, dim=-1)
    width = 2 * cos.shape[-1]

    def turned(x):
        part = x[..., :width].double()
        a, b = part.chunk(2, dim=-1) if is_neox else (part[..., 0::2], part[..., 1::2])
        first, second = a * cos - b * sin, a * sin + b * cos
        part = torch.cat([first, second], -1) if is_neox else torch.stack([first, second], -1).flatten(-2)
        return torch.cat([part.to(x.dtype), x[..., width:]], -1)

    return turned(q), turned(k)
)";

Json definition_json(const RotationCase& rotation) {
  const auto var = [](const char* text) { return Json{{"type", "var"}, {"description", text}}; };
  const auto constant = [](std::int64_t value) { return Json{{"type", "const"}, {"value", value}}; };
  const std::string dtype(name_of(rotation.x.dtype));
  const auto tensor = [](std::vector<std::string> shape, const std::string& of) {
    return Json{{"shape", std::move(shape)}, {"dtype", of}};
  };
  const Json q = tensor({"num_tokens", "num_qo_heads", "head_size"}, dtype);
  const Json k = tensor({"num_tokens", "num_kv_heads", "head_size"}, dtype);
  return {{"name", definition_name(rotation)},
          {"op_type", "rope"},
          {"description", "Rotary embedding from a cache of real cosines and sines, at positions that break things."},
          {"tags", {"status:verified"}},
          {"axes",
           {{"num_tokens", var("tokens")},
            {"num_qo_heads", var("heads of queries")},
            {"num_kv_heads", var("heads of keys")},
            {"max_seq_len", var("rows of the cache")},
            {"head_size", constant(rotation.x.shape[3])},
            {"rotary_dim", constant(2 * rotation.cos.shape[2])}}},
          {"constraints", Json::array()},
          {"inputs",
           {{"q", q},
            {"k", k},
            {"cos_sin_cache", tensor({"max_seq_len", "rotary_dim"}, "float32")},
            {"positions", tensor({"num_tokens"}, "int64")},
            {"is_neox", {{"shape", nullptr}, {"dtype", "bool"}}}}},
          {"outputs", {{"q_out", q}, {"k_out", k}}},
          {"reference", reference}};
}

// Heads [first, first + count) of [batch, tokens, heads, head_dim], as [tokens, count, head_dim].
Tensor heads_of(const Tensor& x, std::int64_t first, std::int64_t count) {
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  const std::int64_t heads = x.shape[2];
  const std::int64_t width = x.shape[3];
  Tensor made = Tensor::zeros(x.dtype, {tokens, count, width});
  for (std::int64_t i = 0; i < made.elements(); ++i) {
    const std::int64_t vector = i / width;
    made.set(i, x.at((vector / count * heads + first + vector % count) * width + i % width));
  }
  return made;
}

// A row for each token, the last token's first: cosines, then sines, in float32 whatever the dtype.
Tensor joined_cache(const RotationCase& rotation) {
  const std::int64_t pairs = rotation.cos.shape[2];
  const std::int64_t tokens = rotation.cos.elements() / pairs;
  Tensor cache = Tensor::zeros(Dtype::float32, {tokens, 2 * pairs});
  for (std::int64_t i = 0; i < rotation.cos.elements(); ++i) {
    const std::int64_t row = tokens - 1 - i / pairs;
    cache.set(row * 2 * pairs + i % pairs, rotation.cos.at(i));
    cache.set(row * 2 * pairs + pairs + i % pairs, rotation.sin.at(i));
  }
  return cache;
}

// 32 digits of a digest, as a uuid has them.
std::string uuid_of(const std::string& text) {
  Sha256 sha;
  sha.add(text);
  std::string digits = sha.digest().substr(0, 32);
  for (const std::size_t place : {8U, 13U, 18U, 23U}) digits.insert(place, "-");
  return digits;
}

}  // namespace

std::vector<VectorFile> flashinfer_vectors() {
  std::map<std::string, std::string> texts;
  for (const RotationCase& rotation : vectors::rotation_cases()) {
    const std::string definition = definition_name(rotation);
    texts[fmt::format("definitions/rope/{}.json", definition)] = definition_json(rotation).dump(2) + "\n";
    const std::int64_t tokens = rotation.x.shape[0] * rotation.x.shape[1];
    const std::int64_t keys = 1;
    const std::int64_t queries = rotation.x.shape[2] - keys;
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < tokens; ++i) places.push_back(tokens - 1 - i);
    const std::string blob = fmt::format("workloads/rope/{}.safetensors", rotation.name);
    const std::vector<std::byte> bytes =
        write_safetensors({.metadata = {{"comment", rotation.comment}},
                           .tensors = {{"q", heads_of(rotation.x, 0, queries)},
                                       {"k", heads_of(rotation.x, queries, keys)},
                                       {"cos_sin_cache", joined_cache(rotation)},
                                       {"positions", Tensor::of_integers({tokens}, places)},
                                       {"q_out", heads_of(rotation.y, 0, queries)},
                                       {"k_out", heads_of(rotation.y, queries, keys)}}});
    texts[blob] = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    Json inputs;
    for (const char* name : {"q", "k", "cos_sin_cache", "positions"})
      inputs[name] = {{"type", "safetensors"}, {"path", blob}, {"tensor_key", name}};
    inputs["is_neox"] = {{"type", "scalar"}, {"value", rotation.pairing == Pairing::half}};
    const Json workload{
        {"definition", definition},
        {"workload",
         {{"uuid", uuid_of(rotation.name)},
          {"axes",
           {{"num_tokens", tokens}, {"num_qo_heads", queries}, {"num_kv_heads", keys}, {"max_seq_len", tokens}}},
          {"inputs", inputs}}},
        {"solution", nullptr},
        {"evaluation", nullptr}};
    texts[fmt::format("workloads/rope/{}.jsonl", definition)] += workload.dump() + "\n";
  }
  std::vector<VectorFile> files;
  for (const auto& [name, content] : texts) files.push_back({name, content});
  return files;
}

}  // namespace sextant
