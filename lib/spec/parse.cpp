#include <cmath>
#include <limits>

#include "lib/spec/fields.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {
namespace {

using nlohmann::json;

constexpr Names<Layout, 2> layouts{{{"interleaved", Layout::interleaved}, {"concatenated", Layout::concatenated}}};
constexpr Names<First, 2> firsts{{{"sin", First::sin}, {"cos", First::cos}}};
constexpr Names<Denominator, 2> denominators{
    {{"dim", Denominator::dim}, {"half_minus_one", Denominator::half_minus_one}}};
constexpr Names<Pairing, 2> pairings{{{"interleaved", Pairing::interleaved}, {"half", Pairing::half}}};
constexpr Names<RotaryLayout, 2> rotary_layouts{{{"prefix", RotaryLayout::prefix}, {"spread", RotaryLayout::spread}}};
constexpr Names<Direction, 2> directions{
    {{"counterclockwise", Direction::counterclockwise}, {"clockwise", Direction::clockwise}}};
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

template <class Enum, std::size_t N>
std::string_view text_of(const Names<Enum, N>& names, Enum value) {
  for (const auto& [name, known] : names) {
    if (known == value) return name;
  }
  throw SpecError("spec: a field holds no value of its enumeration");
}

Sinusoidal read_sinusoidal(Fields& fields) {
  Sinusoidal encoding;
  const auto dim = fields.integer("dim");
  if (!dim) fields.refuse("dim", "needed");
  encoding.dim = *dim;
  encoding.base = fields.number("base").value_or(encoding.base);
  encoding.layout = fields.choice("layout", layouts, encoding.layout);
  encoding.first = fields.choice("first", firsts, encoding.first);
  encoding.denominator = fields.choice("denominator", denominators, encoding.denominator);
  encoding.position_offset = fields.integer("position_offset").value_or(encoding.position_offset);
  encoding.scale = fields.number("scale").value_or(encoding.scale);
  return encoding;
}

std::int64_t read_rotary_dim(Fields& fields, std::int64_t head_dim) {
  const auto rotary_dim = fields.integer("rotary_dim");
  const auto factor = fields.number("partial_rotary_factor");
  if (!factor) return rotary_dim.value_or(head_dim);
  if (!(*factor > 0 && *factor <= 1)) fields.refuse("partial_rotary_factor", "expected a number above 0 and at most 1");
  // Truncated, as Hugging Face's configurations read it: int(head_dim * partial_rotary_factor).
  const auto product = static_cast<std::int64_t>(static_cast<double>(head_dim) * *factor);
  if (rotary_dim && *rotary_dim != product) {
    fields.refuse("rotary_dim", fmt::format("{} contradicts partial_rotary_factor, which makes it {}", *rotary_dim, product));
  }
  if (product < 2 || product % 2 != 0) {
    fields.refuse("partial_rotary_factor",
                  fmt::format("head_dim {} times {} makes rotary_dim {}, expected an even number of at least 2", head_dim,
                              *factor, product));
  }
  return product;
}

void read_scaling(Fields& fields) {
  const json* scaling = fields.object("rope_scaling");
  if (scaling == nullptr) return;
  Fields inner(*scaling, "rope_scaling.");
  constexpr Names<int, 1> types{{{"default", 0}}};
  inner.choice("rope_type", types, 0);
  inner.finish();
}

Rope read_rope(Fields& fields) {
  Rope encoding;
  const auto head_dim = fields.integer("head_dim");
  if (!head_dim) fields.refuse("head_dim", "needed");
  if (*head_dim < 2 || *head_dim > (std::int64_t{1} << 20)) fields.refuse("head_dim", "expected an even number from 2 to 1048576");
  encoding.head_dim = *head_dim;
  encoding.rotary_dim = read_rotary_dim(fields, encoding.head_dim);
  encoding.rope_theta = fields.number("rope_theta").value_or(encoding.rope_theta);
  encoding.pairing = fields.choice("pairing", pairings, encoding.pairing);
  encoding.output_pairing = fields.choice("output_pairing", pairings, encoding.pairing);
  encoding.rotary_layout = fields.choice("rotary_layout", rotary_layouts, encoding.rotary_layout);
  encoding.direction = fields.choice("direction", directions, encoding.direction);
  read_scaling(fields);
  return encoding;
}

}  // namespace

nlohmann::json parse_object(std::string_view text, std::string_view what) {
  // nlohmann keeps the last of two equal keys; a spec that says two things is refused instead.
  std::vector<std::set<std::string>> open;
  std::string repeated;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second) {
      repeated = parsed.get<std::string>();
    }
    return true;
  };
  json parsed;
  try {
    parsed = json::parse(text.begin(), text.end(), watch);
  } catch (const json::exception& error) {
    std::string reason = error.what();
    if (const auto bracket = reason.find("] "); bracket != std::string::npos) reason = reason.substr(bracket + 2);
    for (char& letter : reason) {
      if (letter == '\n' || letter == '\r') letter = ' ';
    }
    throw SpecError(fmt::format("{}: not valid JSON: {}", what, reason));
  }
  if (!parsed.is_object()) throw SpecError(fmt::format("{}: expected a JSON object", what));
  if (!repeated.empty()) throw SpecError(fmt::format("{}: field \"{}\" is given twice", what, repeated));
  return parsed;
}

const json* Fields::find(const std::string& name) {
  asked_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

std::optional<std::int64_t> Fields::integer(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_integer()) refuse(name, fmt::format("expected an integer, got {}", value->dump()));
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    refuse(name, fmt::format("{} does not fit a signed 64-bit integer", value->dump()));
  }
  return value->get<std::int64_t>();
}

std::optional<double> Fields::number(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) refuse(name, fmt::format("expected a number, got {}", value->dump()));
  return value->get<double>();
}

std::optional<std::string> Fields::text(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, fmt::format("expected a string, got {}", value->dump()));
  return value->get<std::string>();
}

std::optional<std::int64_t> Fields::integer_or_null(const std::string& name) {
  const json* value = find(name);
  return value != nullptr && value->is_null() ? std::nullopt : integer(name);
}

std::optional<std::string> Fields::text_or_null(const std::string& name) {
  const json* value = find(name);
  return value != nullptr && value->is_null() ? std::nullopt : text(name);
}

const json* Fields::object(const std::string& name) {
  const json* value = find(name);
  if (value == nullptr || value->is_null()) return nullptr;
  if (!value->is_object()) refuse(name, fmt::format("expected an object or null, got {}", value->dump()));
  return value;
}

void Fields::refuse(const std::string& name, std::string_view expected) const {
  throw SpecError(fmt::format("spec: {}{}: {}", path_, name, expected));
}

void Fields::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (!asked_.contains(name)) refuse(name, fmt::format("unknown field, expected one of {}", fmt::join(asked_, ", ")));
  }
}

Spec parse_spec(std::string_view text) {
  const json object = parse_object(text, "spec");
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
  if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.encoding)) {
    object["dim"] = sinusoidal->dim;
    object["base"] = sinusoidal->base;
    object["layout"] = text_of(layouts, sinusoidal->layout);
    object["first"] = text_of(firsts, sinusoidal->first);
    object["denominator"] = text_of(denominators, sinusoidal->denominator);
    object["position_offset"] = sinusoidal->position_offset;
    object["scale"] = sinusoidal->scale;
  } else {
    const Rope& rope = std::get<Rope>(spec.encoding);
    object["head_dim"] = rope.head_dim;
    object["rotary_dim"] = rope.rotary_dim;
    object["rope_theta"] = rope.rope_theta;
    object["pairing"] = text_of(pairings, rope.pairing);
    object["output_pairing"] = text_of(pairings, rope.output_pairing);
    object["rotary_layout"] = text_of(rotary_layouts, rope.rotary_layout);
    object["direction"] = text_of(directions, rope.direction);
    object["rope_scaling"] = nullptr;
  }
  object["dtype"] = name_of(spec.dtype);
  object["min_position"] = spec.min_position;
  object["max_position"] = spec.max_position;
  object["accuracy"] = name_of(spec.accuracy);
  return object.dump();
}

}  // namespace sextant
