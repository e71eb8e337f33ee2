#include "lib/spec/encodings.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {
namespace {

constexpr Names<Dtype, 4> dtypes{{{"float32", Dtype::float32},
                                  {"float64", Dtype::float64},
                                  {"float16", Dtype::float16},
                                  {"bfloat16", Dtype::bfloat16}}};
constexpr Names<AccuracyClass, 6> accuracies{{{"correctly-rounded", AccuracyClass::correctly_rounded},
                                              {"faithful", AccuracyClass::faithful},
                                              {"exact-angle", AccuracyClass::exact_angle},
                                              {"float32-angle", AccuracyClass::float32_angle},
                                              {"float16-angle", AccuracyClass::float16_angle},
                                              {"bfloat16-angle", AccuracyClass::bfloat16_angle}}};


}  // namespace

std::string_view encoding_name(const Spec& spec) {
  return std::holds_alternative<Sinusoidal>(spec.encoding) ? "sinusoidal" : "rope";
}

std::string_view name_of(AccuracyClass accuracy) { return text_of(accuracies, accuracy); }

void validate(const Spec& spec) {
  if (spec.dtype == Dtype::int64) refuse_field("dtype", "expected float64, float32, float16 or bfloat16");
  if (spec.min_position < -position_limit || spec.min_position >= position_limit) {
    refuse_field("min_position", "expected an integer from -2^53 to 2^53 - 1");
  }
  if (spec.max_position <= spec.min_position || spec.max_position > position_limit) {
    refuse_field("max_position", fmt::format("expected an integer above min_position = {} and at most 2^53, got {}",
                                       spec.min_position, spec.max_position));
  }
  std::visit([](const auto& encoding) { check(encoding); }, spec.encoding);
}

Spec parse_spec(std::string_view text) {
  const nlohmann::json object = parse_object(text, "spec");
  Fields fields(object, "");
  Spec spec;
  const auto encoding = fields.text("encoding");
  if (!encoding) fields.refuse("encoding", "needed: sinusoidal or rope");
  if (*encoding == "sinusoidal") {
    spec.encoding = read_sinusoidal(fields);
  } else if (*encoding == "rope") {
    spec.encoding = read_rope(fields);
  } else {
    fields.refuse("encoding", fmt::format("expected sinusoidal or rope, got \"{}\"", *encoding));
  }
  spec.dtype = fields.choice("dtype", dtypes, spec.dtype);
  spec.min_position = fields.integer("min_position").value_or(spec.min_position);
  spec.max_position = fields.integer("max_position").value_or(spec.max_position);
  spec.accuracy = fields.choice("accuracy", accuracies, spec.accuracy);
  fields.finish();
  validate(spec);
  return spec;
}

std::string to_json(const Spec& spec) {
  nlohmann::ordered_json object;
  object["encoding"] = encoding_name(spec);
  std::visit([&](const auto& encoding) { write(encoding, object); }, spec.encoding);
  object["dtype"] = name_of(spec.dtype);
  object["min_position"] = spec.min_position;
  object["max_position"] = spec.max_position;
  object["accuracy"] = name_of(spec.accuracy);
  return object.dump();
}

std::string describe(const Spec& spec) {
  const std::string size = std::visit([](const auto& encoding) { return size_text(encoding); }, spec.encoding);
  return fmt::format("{} {} {}", encoding_name(spec), size, name_of(spec.dtype));
}

}  // namespace sextant
