#include "lib/spec/attention.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace {

void check_head_dim(std::int64_t own, std::int64_t expected) {
  if (own != expected)
    refuse_field("position.head_dim", fmt::format("{} contradicts head_dim = {} of attention", own, expected));
}

void check_together(const Rope& position, const Attention& attention) {
  check_head_dim(position.head_dim, attention.head_dim);
}
void check_together(const RopeNd& position, const Attention& attention) {
  check_head_dim(position.head_dim, attention.head_dim);
}

void check_together(const Xpos& position, const Attention& attention) {
  check_head_dim(position.rope.head_dim, attention.head_dim);
  if (position.role != Role::query)
    refuse_field("position.role", "expected none: attention turns q as a query and k as a key");
}

void check_together(const Alibi& position, const Attention& attention) {
  if (position.num_heads != attention.num_heads) {
    refuse_field("position.num_heads",
                 fmt::format("{} contradicts num_heads = {} of attention", position.num_heads, attention.num_heads));
  }
  if (position.mask == Mask::causal && !attention.causal) {
    refuse_field("position.mask",
                 "expected symmetric, or causal attention: a causal mask has no bias for keys after the query");
  }
}

// The others leave attention as it is.
template <class Added>
void check_together(const Added&, const Attention&) {}

}  // namespace

std::int64_t kv_head(const Attention& encoding, std::int64_t head) {
  return head / (encoding.num_heads / encoding.num_kv_heads);
}

namespace {

Attention read(Fields& fields) {
  Attention encoding;
  encoding.num_heads = fields.required_integer("num_heads");
  encoding.num_kv_heads = fields.integer("num_kv_heads").value_or(encoding.num_heads);
  encoding.head_dim = fields.required_integer("head_dim");
  encoding.causal = fields.boolean("causal").value_or(encoding.causal);
  if (const nlohmann::json* position = fields.object("position"); position != nullptr) {
    Fields inner(*position, "position.");
    encoding.position = read_position_encoding(inner);
    inner.finish();
  }
  return encoding;
}

void check(const Attention& encoding) {
  check_count("num_heads", encoding.num_heads, heads_limit);
  check_count("num_kv_heads", encoding.num_kv_heads, encoding.num_heads);
  if (encoding.num_heads % encoding.num_kv_heads != 0) {
    refuse_field("num_kv_heads", fmt::format("expected a divisor of num_heads = {}, got {}", encoding.num_heads,
                                             encoding.num_kv_heads));
  }
  check_count("head_dim", encoding.head_dim, width_limit);
  if (!encoding.position) return;
  try {
    std::visit([](const auto& position) { entry_of(position).check(position); }, *encoding.position);
  } catch (const SpecError& error) {
    // The encoding names its own field, not knowing where it stands.
    constexpr std::string_view start = "spec: ";
    throw SpecError(fmt::format("{}position.{}", start, std::string_view(error.what()).substr(start.size())));
  }
  std::visit([&](const auto& position) { check_together(position, encoding); }, *encoding.position);
}

void write(const Attention& encoding, nlohmann::ordered_json& object) {
  object["num_heads"] = encoding.num_heads;
  object["num_kv_heads"] = encoding.num_kv_heads;
  object["head_dim"] = encoding.head_dim;
  object["causal"] = encoding.causal;
  object["position"] = nullptr;
  if (encoding.position) object["position"] = written(*encoding.position);
}

std::string size_text(const Attention& encoding) {
  std::string text = fmt::format("num_heads {} num_kv_heads {} head_dim {}{}", encoding.num_heads,
                                 encoding.num_kv_heads, encoding.head_dim, encoding.causal ? " causal" : "");
  if (encoding.position) text += fmt::format(" with {}", described(*encoding.position));
  return text;
}

Signature signature(const Attention& encoding) {
  Signature own{.operation = Operation::attend,
                .head_dim = encoding.head_dim,
                .heads = encoding.num_heads,
                .kv_heads = encoding.num_kv_heads};
  if (!encoding.position) return own;
  // Vectors are turned by positions of so many coordinates, and a bias may be trained. What is added to the embeddings
  // comes before attention, and its weight with it.
  const Signature inner = signature_of(*encoding.position);
  own.axes = inner.axes;
  if (inner.operation == Operation::bias && inner.weight) own.weight = {inner.weight->rows, encoding.num_heads};
  return own;
}

std::optional<std::int64_t> count_of_positions(const Attention& encoding) {
  if (!encoding.position) return std::nullopt;
  return std::visit([](const auto& position) { return entry_of(position).count_of_positions(position); },
                    *encoding.position);
}

void check_claim(const Attention& encoding, const Spec& spec) {
  if (!encoding.position) return;
  std::visit([&](const auto& position) { entry_of(position).check_claim(position, spec); }, *encoding.position);
}

}  // namespace

constinit const EncodingEntry<Attention> Attention::entry{
    .name = "attention",
    .example = R"({"encoding":"attention","num_heads":8,"head_dim":64})",
    .read = read,
    .check = check,
    .write = write,
    .size_text = size_text,
    .signature = signature,
    .count_of_positions = count_of_positions,
    .check_claim = check_claim};

}  // namespace sextant
