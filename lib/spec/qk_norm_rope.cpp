#include "lib/spec/qk_norm_rope.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_qk_norm_rope {
namespace {

// A square that vanishes in float32 is not felt beside such a mean (docs/proofs/accuracy-classes.md, step 24), and
// no released model comes near either end.
constexpr double least_epsilon = 0x1p-100;
constexpr double most_epsilon = 1;

QkNormRope read(Fields& fields) {
  for (const char* name : {"position_dtype", "position_step"})
    fields.refuse_of_parts(name, "no field of qk_norm_rope, which takes whole positions");
  QkNormRope encoding;
  encoding.rope = Rope::entry.read(fields);
  encoding.epsilon = fields.number("epsilon").value_or(encoding.epsilon);
  encoding.weight_offset = fields.number("weight_offset").value_or(encoding.weight_offset);
  return encoding;
}

void check(const QkNormRope& encoding) {
  Rope::entry.check(encoding.rope);
  if (encoding.rope.positions.dtype != Dtype::int64)
    refuse_field("position_dtype", "expected int64: qk_norm_rope takes whole positions");
  if (!(encoding.epsilon >= least_epsilon && encoding.epsilon <= most_epsilon))
    refuse_field("epsilon", fmt::format("expected a number from 2^-100 to 1, got {}", encoding.epsilon));
  if (encoding.weight_offset != 0 && encoding.weight_offset != 1)
    refuse_field("weight_offset", fmt::format("expected 0 or 1, got {}", encoding.weight_offset));
}

void check_claim(const QkNormRope&, const Spec& spec) {
  if (spec.evaluation == Evaluation::dtype_accumulate)
    refuse_field("evaluation", "expected float32, table or dtype: a sum of squares is formed in float32 at least");
}

void write(const QkNormRope& encoding, nlohmann::ordered_json& object) {
  Rope::entry.write(encoding.rope, object);
  object["epsilon"] = encoding.epsilon;
  object["weight_offset"] = encoding.weight_offset;
}

Signature signature(const QkNormRope& encoding) {
  return {.operation = Operation::qk_norm_rope, .head_dim = encoding.rope.head_dim};
}

// Those of rope, whose positions are whole, and its own.
std::vector<FieldMeaning> fields() {
  std::vector<FieldMeaning> list = Rope::entry.fields();
  std::erase_if(list, [](const FieldMeaning& field) { return field.name.starts_with("position_"); });
  list.push_back({"epsilon", "what is added to the mean of a head's squares before its root is taken"});
  list.push_back({"weight_offset", "what is added to a norm's weight: 0, or 1 where it is stored less 1, as Gemma's"});
  return list;
}

constexpr std::string_view described[] = {"head_dim", "rope_theta", "pairing", "epsilon"};

}  // namespace
}  // namespace spec_qk_norm_rope

constinit const EncodingEntry<QkNormRope> QkNormRope::entry{.name = "qk_norm_rope",
                                                            .example = R"({"encoding":"qk_norm_rope","head_dim":128})",
                                                            .fields = spec_qk_norm_rope::fields,
                                                            .read = spec_qk_norm_rope::read,
                                                            .check = spec_qk_norm_rope::check,
                                                            .write = spec_qk_norm_rope::write,
                                                            .described = spec_qk_norm_rope::described,
                                                            .signature = spec_qk_norm_rope::signature,
                                                            .check_claim = spec_qk_norm_rope::check_claim};

}  // namespace sextant
