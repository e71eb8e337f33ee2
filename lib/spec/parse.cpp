#include <algorithm>
#include <array>

#include "lib/numeric/domains.hpp"
#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/spec/encoding_entry.hpp"
#include "lib/spec/field_meanings.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {
namespace {

constexpr Names<Dtype, 4> dtypes{{{"float32", Dtype::float32},
                                  {"float64", Dtype::float64},
                                  {"float16", Dtype::float16},
                                  {"bfloat16", Dtype::bfloat16}}};
constexpr Names<AccuracyClass, 8> accuracies{{{"correctly-rounded", AccuracyClass::correctly_rounded},
                                              {"faithful", AccuracyClass::faithful},
                                              {"exact-angle", AccuracyClass::exact_angle},
                                              {"pair-norm", AccuracyClass::pair_norm},
                                              {"float32-angle", AccuracyClass::float32_angle},
                                              {"float32-recurrence", AccuracyClass::float32_recurrence},
                                              {"float16-angle", AccuracyClass::float16_angle},
                                              {"bfloat16-angle", AccuracyClass::bfloat16_angle}}};

constexpr Names<Evaluation, 4> evaluations{{{"float32", Evaluation::float32},
                                            {"table", Evaluation::table},
                                            {"dtype", Evaluation::dtype},
                                            {"dtype-accumulate", Evaluation::dtype_accumulate}}};

template <class Variant>
std::string_view name_in_list(const Variant& encoding) {
  return std::visit([](const auto& alternative) { return entry_of(alternative).name; }, encoding);
}

// Where a field is missing, one that the encoding does not have is the likelier mistake: `dim` for `head_dim`.
void refuse_strangers(const Fields& fields, std::string_view encoding) {
  std::vector<std::string_view> known{"encoding"};
  const auto add = [&](const FieldMeaning& field) {
    known.push_back(field.name.substr(0, field.name.find_first_of(".[")));
  };
  std::ranges::for_each(fields_of_encoding(encoding), add);
  std::ranges::for_each(fields_of_every_spec(), add);
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& name : fields.names()) {
    if (!std::ranges::binary_search(known, std::string_view(name))) fields.refuse_unknown(name, known);
  }
}

// Reads whichever of the variant's encodings the field `encoding` names.
template <class... EncodingTypes>
std::variant<EncodingTypes...> read_one_of(Fields& fields, const std::variant<EncodingTypes...>*) {
  const std::vector<std::string_view> known{EncodingTypes::entry.name...};
  const auto name = fields.text("encoding");
  if (!name) fields.refuse("encoding", fmt::format("required: one of {}", fmt::join(known, ", ")));
  std::optional<std::variant<EncodingTypes...>> encoding;
  const auto read_if_named = [&](const auto& entry) {
    if (entry.name != *name) return;
    try {
      encoding = entry.read(fields);
    } catch (const FieldError& error) {
      if (error.expected().starts_with("required")) refuse_strangers(fields, *name);
      throw;
    }
  };
  (read_if_named(EncodingTypes::entry), ...);
  if (!encoding)
    fields.refuse("encoding", fmt::format("expected one of {}, got \"{}\"{}", fmt::join(known, ", "), *name,
                                          did_you_mean(*name, known)));
  return std::move(*encoding);
}

template <class Variant>
void write_encoding(const Variant& encoding, nlohmann::ordered_json& object) {
  object["encoding"] = name_in_list(encoding);
  std::visit([&](const auto& alternative) { entry_of(alternative).write(alternative, object); }, encoding);
}

template <class... EncodingTypes>
std::array<EncodingExample, sizeof...(EncodingTypes)> examples_of(const std::variant<EncodingTypes...>*) {
  return {{{EncodingTypes::entry.name, EncodingTypes::entry.example}...}};
}

void check_fields(const Encoding& encoding) {
  std::visit([](const auto& alternative) { entry_of(alternative).check(alternative); }, encoding);
}

// Every field that holds an enumeration: to write it asks for its value's name.
void check_choices(const Spec& spec) {
  if (!is_floating(spec.dtype)) refuse_field("dtype", "expected float64, float32, float16 or bfloat16");
  text_of("accuracy", accuracies, spec.accuracy);
  text_of("evaluation", evaluations, spec.evaluation);
  nlohmann::ordered_json written;
  write_encoding(spec.encoding, written);
}

void check_positions(const Spec& spec, const PositionBounds& bounds) {
  if (spec.min_position < bounds.first) {
    refuse_field("min_position", fmt::format("expected at least {}, the first position of {}, got {}", bounds.first,
                                             encoding_name(spec), spec.min_position));
  }
  if (spec.max_position > bounds.end) {
    refuse_field("max_position", fmt::format("expected at most {}, the number of positions of this {}, got {}",
                                             bounds.end, encoding_name(spec), spec.max_position));
  }
}

}  // namespace

void check_begins_within(const Spec& spec, std::int64_t shortest) {
  if (spec.min_position < shortest) return;
  const PositionGrid grid = position_grid_of(spec.encoding);
  refuse_field("min_position", fmt::format("expected less than {}, where the shortest axis ends, got {}",
                                           grid.text(shortest), grid.text(spec.min_position)));
}

namespace {

// Of a claim that names none.
std::optional<PositionBounds> usual_positions_of(const Encoding& encoding) {
  if (const auto bounds = position_bounds_of(encoding)) return bounds;
  return std::visit([](const auto& alternative) { return entry_of(alternative).usual_positions(alternative); },
                    encoding);
}

void check_whole_ends(const Spec& spec) {
  if (spec.min_position < -position_limit || spec.min_position >= position_limit) {
    refuse_field("min_position", "expected an integer from -2^53 to 2^53 - 1");
  }
  if (spec.max_position <= spec.min_position || spec.max_position > position_limit) {
    refuse_field("max_position", fmt::format("expected an integer above min_position = {} and at most 2^53, got {}",
                                             spec.min_position, spec.max_position));
  }
  if (spec.trained_positions &&
      (*spec.trained_positions <= spec.min_position || *spec.trained_positions > position_limit)) {
    refuse_field("trained_positions",
                 fmt::format("expected an integer above min_position = {} and at most 2^53, got {}", spec.min_position,
                             *spec.trained_positions));
  }
}

// The ends of a claim of real positions: all of it lies on numbers of their dtype.
void check_real_ends(const Spec& spec, const PositionGrid& grid) {
  check_position_grid(grid);
  const std::int64_t most = grid.most();
  const auto limit =
      fmt::format("{} = {} steps, the most that {} tells apart", grid.text(most), most, name_of(grid.dtype));
  if (spec.min_position < -most || spec.min_position >= most)
    refuse_field("min_position", fmt::format("expected a number from -{} on and below it", limit));
  const auto check_end = [&](std::string_view field, std::int64_t end) {
    if (end <= spec.min_position || end > most) {
      refuse_field(field, fmt::format("expected a number above min_position = {} and at most {}, got {}",
                                      grid.text(spec.min_position), limit, grid.text(end)));
    }
  };
  check_end("max_position", spec.max_position);
  if (spec.trained_positions) check_end("trained_positions", *spec.trained_positions);
  // The spacing of its subnormal numbers: multiples of less vanish.
  if (spec.accuracy == AccuracyClass::float16_angle && grid.step < 0x1p-24)
    refuse_field("accuracy", fmt::format("float16-angle has no multiples of position_step = {}", grid.step));
}

// A field that holds a position, as a count of steps.
std::optional<std::int64_t> read_position(Fields& fields, const std::string& name, const PositionGrid& grid) {
  if (grid.dtype == Dtype::int64) return fields.integer(name);
  const auto position = fields.number(name);
  if (!position) return std::nullopt;
  const auto count = grid.count_of(*position);
  if (!count) {
    fields.refuse(name, fmt::format("expected a multiple of position_step = {}, at most 2^53 of it, got {}", grid.step,
                                    *position));
  }
  return count;
}

// A count of steps as the position that it is: a whole number where it is one.
nlohmann::ordered_json position_json(std::int64_t count, const PositionGrid& grid) {
  const double position = grid.at(count);
  const auto whole = static_cast<std::int64_t>(position);
  if (static_cast<double>(whole) == position) return whole;
  return position;
}

}  // namespace

Spec::Spec() = default;
Spec::~Spec() = default;
Spec::Spec(const Spec&) = default;
Spec::Spec(Spec&&) noexcept = default;
Spec& Spec::operator=(const Spec&) = default;
Spec& Spec::operator=(Spec&&) noexcept = default;

std::string_view encoding_name(const Spec& spec) { return name_in_list(spec.encoding); }
std::string_view encoding_name(const PositionEncoding& encoding) { return name_in_list(encoding); }

namespace {

// An operation asks by sizes that a signature must have.
template <class Variant>
Signature complete_signature(const Variant& encoding) {
  return std::visit(
      [](const auto& alternative) {
        const Signature signature = entry_of(alternative).signature(alternative);
        const auto needs = [&](const std::optional<std::int64_t>& size, std::string_view name) {
          if (!size)
            throw std::logic_error(fmt::format("the signature of {} has no {}", entry_of(alternative).name, name));
        };
        switch (signature.operation) {
          case Operation::encode:
          case Operation::table: needs(signature.dim, "dim"); break;
          case Operation::rotate:
          case Operation::qk_norm_rope: needs(signature.head_dim, "head_dim"); break;
          case Operation::bias:
            if (!signature.weight) needs(signature.heads, "heads");
            break;
          case Operation::attend: needs(signature.kv_heads, "kv_heads"); break;
        }
        return signature;
      },
      encoding);
}

}  // namespace

Signature signature_of(const Encoding& encoding) { return complete_signature(encoding); }
Signature signature_of(const PositionEncoding& encoding) { return complete_signature(encoding); }

Operation operation_of(const Encoding& encoding) { return signature_of(encoding).operation; }

PositionGrid position_grid_of(const Encoding& encoding) { return signature_of(encoding).positions; }

std::int64_t axes_of(const Encoding& encoding) { return signature_of(encoding).axes; }

std::optional<PositionBounds> position_bounds_of(const Encoding& encoding) {
  return std::visit([](const auto& alternative) { return entry_of(alternative).position_bounds(alternative); },
                    encoding);
}

std::optional<std::int64_t> width_of(const Encoding& encoding) { return signature_of(encoding).dim; }

std::span<const EncodingExample> encoding_examples() {
  static const auto examples = examples_of(static_cast<const Encoding*>(nullptr));
  return examples;
}

namespace {

constexpr FieldMeaning fields_of_all[] = {
    {"encoding", "the name of one of these"},
    {"dtype", "of inputs and outputs: float64, float32, float16 or bfloat16"},
    {"min_position", "the first position claimed"},
    {"max_position", "the first position not claimed"},
    {"accuracy",
     "correctly-rounded, faithful, exact-angle, pair-norm, float32-angle, float32-recurrence, float16-angle or "
     "bfloat16-angle"},
    {"evaluation", "of 16 bits, what follows sine and cosine: float32, table, dtype or dtype-accumulate"},
    {"libm", "the most that pow, exp, log, sin and cos in use are off by, in ULP, from 0.5 to 64; 1 unless given"},
    {"trained_positions", "the first position that a model was not trained on"},
};

template <class... Encodings>
std::vector<FieldMeaning> fields_in_list(std::string_view encoding, const std::variant<Encodings...>*) {
  std::vector<FieldMeaning> found;
  ((Encodings::entry.name == encoding ? void(found = Encodings::entry.fields()) : void()), ...);
  return found;
}

}  // namespace

std::span<const FieldMeaning> fields_of_every_spec() { return fields_of_all; }

std::vector<FieldMeaning> fields_of_encoding(std::string_view encoding) {
  return fields_in_list(encoding, static_cast<const Encoding*>(nullptr));
}

std::string_view name_of(AccuracyClass accuracy) { return text_of("accuracy", accuracies, accuracy); }

PositionEncoding read_position_encoding(Fields& fields) {
  return read_one_of(fields, static_cast<PositionEncoding*>(nullptr));
}

nlohmann::ordered_json written(const PositionEncoding& encoding) {
  nlohmann::ordered_json object;
  write_encoding(encoding, object);
  return object;
}

void validate(const Spec& spec) {
  const StandardArithmetic arithmetic;  // in which a subnormal is not 0
  check_choices(spec);
  if (spec.evaluation != Evaluation::float32 && !is_16_bit(spec.dtype)) {
    refuse_field("evaluation", fmt::format("expected float32 for the dtype {}: {} is for float16 and bfloat16",
                                           name_of(spec.dtype), text_of("evaluation", evaluations, spec.evaluation)));
  }
  if (!(spec.libm >= 0.5 && spec.libm <= 64))
    refuse_field("libm", fmt::format("expected a number of ULP from 0.5 to 64, got {}", spec.libm));
  const PositionGrid grid = position_grid_of(spec.encoding);
  grid.dtype == Dtype::int64 ? check_whole_ends(spec) : check_real_ends(spec, grid);
  check_fields(spec.encoding);
  if (const auto bounds = position_bounds_of(spec.encoding)) check_positions(spec, *bounds);
  std::visit([&](const auto& encoding) { entry_of(encoding).check_claim(encoding, spec); }, spec.encoding);
}

Spec parse_spec(std::string_view text) {
  const StandardArithmetic arithmetic;  // in which a decimal is the nearest double
  const nlohmann::json object = parse_object(text, "spec");
  Fields fields(object, "");
  Spec spec;
  spec.encoding = read_one_of(fields, &spec.encoding);
  spec.dtype = fields.choice("dtype", dtypes, spec.dtype);
  const PositionGrid grid = position_grid_of(spec.encoding);
  if (grid.dtype != Dtype::int64) {
    check_position_grid(grid);
    spec.max_position =
        std::min(grid.count_of(static_cast<double>(spec.max_position)).value_or(grid.most()), grid.most());
  }
  const auto min_position = read_position(fields, "min_position", grid);
  const auto max_position = read_position(fields, "max_position", grid);
  spec.accuracy = fields.choice("accuracy", accuracies, spec.accuracy);
  spec.evaluation = fields.choice("evaluation", evaluations, spec.evaluation);
  spec.libm = fields.number("libm").value_or(spec.libm);
  spec.trained_positions = read_position(fields, "trained_positions", grid);
  fields.finish();
  if (!min_position || !max_position) {
    check_fields(spec.encoding);  // only valid fields have bounds
    if (const auto bounds = usual_positions_of(spec.encoding)) {
      spec.min_position = bounds->first;
      spec.max_position = std::min(spec.max_position, bounds->end);
    }
  }
  spec.min_position = min_position.value_or(spec.min_position);
  spec.max_position = max_position.value_or(spec.max_position);
  validate(spec);
  return spec;
}

std::string to_json(const Spec& spec) {
  const StandardArithmetic arithmetic;
  nlohmann::ordered_json object;
  write_encoding(spec.encoding, object);
  object["dtype"] = name_of(spec.dtype);
  const PositionGrid grid = position_grid_of(spec.encoding);
  object["min_position"] = position_json(spec.min_position, grid);
  object["max_position"] = position_json(spec.max_position, grid);
  object["accuracy"] = name_of(spec.accuracy);
  if (spec.evaluation != Spec().evaluation) object["evaluation"] = text_of("evaluation", evaluations, spec.evaluation);
  if (spec.libm != Spec().libm) object["libm"] = spec.libm;
  if (spec.trained_positions) object["trained_positions"] = position_json(*spec.trained_positions, grid);
  return object.dump();
}

}  // namespace sextant
