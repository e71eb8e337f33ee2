#include "properties/catalogue.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <set>

#include "properties/engine.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant {
namespace {

// One plain scalar implementation of both encodings in float32, as anybody would write it, with one place for each way to go
// wrong. Without a defect it is the negative control.
struct Plain {
  // What happens to a position before the angle is formed.
  double (*position)(std::int64_t p) = [](std::int64_t p) { return static_cast<double>(p); };
  // The frequency's exponent, as a multiple of ln(base), for the two members of pair i of `count`.
  double (*exponent)(std::int64_t i, std::int64_t count, bool second) = [](std::int64_t i, std::int64_t count, bool) {
    return static_cast<double>(i) / static_cast<double>(count);
  };
  // What the finished value goes through.
  double (*value)(double v) = [](double v) { return v; };
  // Rotation of a pair.
  void (*rotate)(double& a, double& b, double cos, double sin) = [](double& a, double& b, double cos, double sin) {
    const double turned = a * cos - b * sin;
    b = a * sin + b * cos;
    a = turned;
  };
  // The position used for row `row` of a call of `rows` rows.
  std::int64_t (*row_position)(std::int64_t p, std::int64_t row, std::int64_t rows) = [](std::int64_t p, std::int64_t, std::int64_t) { return p; };
  // The partner of channel i under half pairing.
  std::int64_t (*partner)(std::int64_t i, std::int64_t count) = [](std::int64_t i, std::int64_t count) { return i + count; };
};

float angle_of(const Plain& plain, double base, std::int64_t p, std::int64_t i, std::int64_t count, bool second) {
  const auto frequency = static_cast<float>(std::pow(base, -plain.exponent(i, count, second)));
  return static_cast<float>(plain.position(p)) * frequency;
}

Tensor encode_plain(const Plain& plain, const Spec& spec, const std::vector<std::int64_t>& positions) {
  const auto& encoding = std::get<Sinusoidal>(spec.encoding);
  const auto rows = static_cast<std::int64_t>(positions.size());
  Tensor table = Tensor::zeros(spec.dtype, {rows, encoding.dim});
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t p = plain.row_position(positions[static_cast<std::size_t>(row)], row, rows);
    for (std::int64_t i = 0; i < encoding.dim / 2; ++i) {
      table.set(row * encoding.dim + 2 * i, plain.value(static_cast<double>(std::sin(angle_of(plain, encoding.base, p, i, encoding.dim / 2, false)))));
      table.set(row * encoding.dim + 2 * i + 1, plain.value(static_cast<double>(std::cos(angle_of(plain, encoding.base, p, i, encoding.dim / 2, true)))));
    }
  }
  return table;
}

Tensor rotate_plain(const Plain& plain, const Spec& spec, const Tensor& x, const std::vector<std::int64_t>& positions) {
  const auto& encoding = std::get<Rope>(spec.encoding);
  Tensor y = x;
  const std::int64_t heads = x.shape[2];
  const std::int64_t count = encoding.head_dim / 2;
  for (std::int64_t vector = 0; vector < x.elements() / encoding.head_dim; ++vector) {
    const std::int64_t token = vector / heads;
    const std::int64_t p = plain.row_position(positions[static_cast<std::size_t>(token)], token % x.shape[1], x.shape[1]);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t first = vector * encoding.head_dim + i;
      const std::int64_t second = vector * encoding.head_dim + plain.partner(i, count);
      double a = x.at(first);
      double b = x.at(second);
      const float angle = angle_of(plain, encoding.rope_theta, p, i, count, false);
      const float other = angle_of(plain, encoding.rope_theta, p, i, count, true);
      plain.rotate(a, b, static_cast<double>(std::cos(other)), static_cast<double>(std::sin(angle)));
      y.set(first, plain.value(a));
      y.set(second, plain.value(b));
    }
  }
  return y;
}

FunctionSubject subject_of(const Plain& plain) {
  return {"plain", [plain](const Spec& spec) -> FunctionSubject::Call {
            return [plain, spec](std::string_view operation, const Tensors& inputs) -> Tensors {
              const std::vector<std::int64_t> positions = inputs.at("positions").integers();
              if (operation == "encode") return {{"encoding", encode_plain(plain, spec, positions)}};
              return {{"y", rotate_plain(plain, spec, inputs.at("x"), positions)}};
            };
          }};
}

std::set<std::string> violated(const Subject& subject, const Spec& spec) {
  AuditOptions options;
  options.profile = Profile::quick;
  options.threads = 2;
  std::set<std::string> ids;
  for (const PropertyResult& result : audit(catalogue(), subject, spec, options).results) {
    EXPECT_NE(result.verdict, Verdict::undecided) << result.id << ": " << result.reason;
    EXPECT_NE(result.verdict, Verdict::crashed) << result.id << ": " << result.reason;
    if (result.verdict == Verdict::violated) ids.insert(result.id);
  }
  return ids;
}

const Spec sinusoidal = parse_spec(R"({"encoding":"sinusoidal","dim":64})");
const Spec rope = parse_spec(R"({"encoding":"rope","head_dim":64})");

TEST(NegativeControl, ThePlainFloat32RecipeIsAccepted) {
  EXPECT_EQ(violated(subject_of({}), sinusoidal), std::set<std::string>{});
  EXPECT_EQ(violated(subject_of({}), rope), std::set<std::string>{});
}

// Sextant's own encoders, at the strictest class they state, for every dtype and every variant of the spec.
class Builtin : public testing::TestWithParam<const char*> {};

TEST_P(Builtin, HoldsWhereverItApplies) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    Spec spec = parse_spec(GetParam());
    spec.dtype = dtype;
    spec.accuracy = dtype == Dtype::float64 ? AccuracyClass::exact_angle : AccuracyClass::faithful;
    // A rotation is faithful to the pair's norm, not to each component near its zero.
    if (std::holds_alternative<Rope>(spec.encoding)) spec.accuracy = AccuracyClass::exact_angle;
    EXPECT_EQ(violated(*builtin_subject(), spec), std::set<std::string>{}) << to_json(spec);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Specs, Builtin,
    testing::Values(R"({"encoding":"sinusoidal","dim":32})",
                    R"({"encoding":"sinusoidal","dim":34,"base":77777.25,"layout":"concatenated","first":"cos","min_position":-9007199254740992,"max_position":9007199254740992})",
                    R"({"encoding":"sinusoidal","dim":10,"denominator":"half_minus_one","position_offset":2,"scale":-0.3})",
                    R"({"encoding":"sinusoidal","dim":2,"base":1,"max_position":1})",
                    R"({"encoding":"rope","head_dim":32})",
                    R"({"encoding":"rope","head_dim":24,"rotary_dim":10,"pairing":"interleaved","direction":"clockwise","min_position":-9007199254740992,"max_position":9007199254740992})",
                    R"({"encoding":"rope","head_dim":24,"rotary_dim":8,"rotary_layout":"spread","rope_theta":500000})",
                    R"({"encoding":"rope","head_dim":16,"pairing":"interleaved","output_pairing":"half"})",
                    R"({"encoding":"rope","head_dim":2,"max_position":2})"));

struct Mutant {
  const char* name;
  const Spec* spec;
  Plain plain;
  std::set<std::string> killed_by;
  std::set<std::string> survives;
};

// What GoogleTest shows of a parameter.
void PrintTo(const Mutant& mutant, std::ostream* stream) { *stream << mutant.name; }

double to_bfloat16(double v) { return round_to(Dtype::bfloat16, v); }

std::vector<Mutant> mutants() {
  std::vector<Mutant> list;
  const auto add = [&](const char* name, const Spec& spec, std::set<std::string> killed_by, std::set<std::string> survives, auto change) {
    Mutant mutant{name, &spec, {}, std::move(killed_by), std::move(survives)};
    change(mutant.plain);
    list.push_back(std::move(mutant));
  };
  add("bfloat16_positions", sinusoidal, {"accuracy", "linear_shift"}, {"bounds", "prefix_consistency"},
      [](Plain& p) { p.position = [](std::int64_t q) { return to_bfloat16(static_cast<double>(q)); }; });
  add("float16_positions", sinusoidal, {"accuracy", "bounds", "linear_shift"}, {},
      [](Plain& p) { p.position = [](std::int64_t q) { return round_to(Dtype::float16, static_cast<double>(q)); }; });
  add("off_by_one_from_4096", sinusoidal, {"accuracy", "linear_shift"}, {"bounds", "prefix_consistency"},
      [](Plain& p) { p.position = [](std::int64_t q) { return static_cast<double>(q < 4096 ? q : q + 1); }; });
  add("positions_wrap_at_16_bits", sinusoidal, {"accuracy", "linear_shift"}, {"bounds"},
      [](Plain& p) { p.position = [](std::int64_t q) { return static_cast<double>(static_cast<std::int16_t>(q)); }; });
  add("sine_and_cosine_of_different_frequencies", sinusoidal, {"accuracy", "linear_shift"}, {"bounds", "prefix_consistency"}, [](Plain& p) {
    p.exponent = [](std::int64_t i, std::int64_t count, bool second) { return (static_cast<double>(i) + (second ? 0.5 : 0)) / static_cast<double>(count); };
  });
  add("doubled_exponent", sinusoidal, {"accuracy"}, {"bounds", "prefix_consistency"}, [](Plain& p) {
    p.exponent = [](std::int64_t i, std::int64_t count, bool) { return 2 * static_cast<double>(i) / static_cast<double>(count); };
  });
  add("a_hair_above_one", sinusoidal, {"bounds"}, {"accuracy", "linear_shift"},
      [](Plain& p) { p.value = [](double v) { return v == 1 ? 1 + 0x1p-23 : v; }; });
  add("single_row_calls_start_at_zero", sinusoidal, {"prefix_consistency"}, {"bounds"}, [](Plain& p) {
    p.row_position = [](std::int64_t q, std::int64_t row, std::int64_t rows) { return rows == 1 ? row : q; };
  });

  add("bfloat16_positions_in_rope", rope, {"accuracy", "relative_offset"}, {"isometry", "prefix_consistency"},
      [](Plain& p) { p.position = [](std::int64_t q) { return to_bfloat16(static_cast<double>(q)); }; });
  add("transposed_rotation", rope, {"accuracy"}, {"isometry", "relative_offset", "prefix_consistency"}, [](Plain& p) {
    p.rotate = [](double& a, double& b, double cos, double sin) {
      const double turned = a * cos + b * sin;
      b = b * cos - a * sin;
      a = turned;
    };
  });
  add("overwritten_before_it_is_read", rope, {"accuracy", "isometry", "relative_offset"}, {"prefix_consistency"}, [](Plain& p) {
    p.rotate = [](double& a, double& b, double cos, double sin) {
      a = a * cos - b * sin;
      b = a * sin + b * cos;
    };
  });
  add("sine_and_cosine_of_different_angles", rope, {"accuracy", "isometry", "relative_offset"}, {"prefix_consistency"}, [](Plain& p) {
    p.exponent = [](std::int64_t i, std::int64_t count, bool second) { return (static_cast<double>(i) + (second ? 1 : 0)) / static_cast<double>(count); };
  });
  add("wrong_base", rope, {"accuracy"}, {"isometry", "relative_offset", "prefix_consistency"}, [](Plain& p) {
    p.exponent = [](std::int64_t i, std::int64_t count, bool) { return 1.2 * static_cast<double>(i) / static_cast<double>(count); };
  });
  add("a_table_of_bfloat16", rope, {"accuracy", "isometry"}, {"prefix_consistency"}, [](Plain& p) {
    p.rotate = [](double& a, double& b, double cos, double sin) {
      const double turned = a * to_bfloat16(cos) - b * to_bfloat16(sin);
      b = a * to_bfloat16(sin) + b * to_bfloat16(cos);
      a = turned;
    };
  });
  add("decode_one_too_far", rope, {"accuracy", "prefix_consistency"}, {"isometry"}, [](Plain& p) {
    p.row_position = [](std::int64_t q, std::int64_t, std::int64_t rows) { return rows == 1 ? q + 1 : q; };
  });
  return list;
}

class Mutants : public testing::TestWithParam<Mutant> {};

TEST_P(Mutants, IsKilledByTheRightProperties) {
  const std::set<std::string> killers = violated(subject_of(GetParam().plain), *GetParam().spec);
  for (const std::string& id : GetParam().killed_by) EXPECT_TRUE(killers.contains(id)) << id << " did not kill it";
  for (const std::string& id : GetParam().survives) EXPECT_FALSE(killers.contains(id)) << id << " killed it";
}

INSTANTIATE_TEST_SUITE_P(Plain, Mutants, testing::ValuesIn(mutants()), [](const auto& mutant) { return std::string(mutant.param.name); });

TEST(Catalogue, EveryPropertyKillsAMutant) {
  std::set<std::string> killers;
  for (const Mutant& mutant : mutants()) killers.insert(mutant.killed_by.begin(), mutant.killed_by.end());
  for (const Property& property : catalogue()) EXPECT_TRUE(killers.contains(property.id)) << property.id;
}

TEST(Catalogue, EveryPropertySaysWhatItIs) {
  std::set<std::string> ids;
  for (const Property& property : catalogue()) {
    EXPECT_TRUE(ids.insert(property.id).second) << property.id;
    EXPECT_EQ(property_named(property.id), &property);
    const Explanation& text = property.explanation;
    for (const std::string* part : {&text.title, &text.statement, &text.source, &text.applies_to, &text.tolerance, &text.catches}) {
      EXPECT_FALSE(part->empty()) << property.id;
    }
  }
  EXPECT_EQ(property_named("no such"), nullptr);
}

// Whatever a generator draws must be in the domain that replay accepts, also where the claim is a single position or huge.
TEST(Catalogue, CasesAreAdmitted) {
  for (const char* text : {R"({"encoding":"sinusoidal","dim":4})", R"({"encoding":"sinusoidal","dim":4,"max_position":1})",
                           R"({"encoding":"sinusoidal","dim":4,"min_position":-9007199254740992,"max_position":9007199254740992})",
                           R"({"encoding":"rope","head_dim":4,"min_position":-3,"max_position":-1})", R"({"encoding":"rope","head_dim":4,"min_position":7,"max_position":8})",
                           R"({"encoding":"rope","head_dim":4,"rope_scaling":{"rope_type":"dynamic","factor":2,"original_max_position_embeddings":8},"max_position":8})",
                           R"({"encoding":"rope","head_dim":4,"min_position":-9007199254740992,"max_position":9007199254740992})"}) {
    const Spec spec = parse_spec(text);
    for (const Property& property : catalogue()) {
      if (property.not_applicable(spec)) continue;
      rc::Random random(3);
      const rc::Gen<Case> generator = property.cases(spec);
      std::vector<Case> cases = property.first_cases(spec);
      for (int i = 0; i < 300; ++i) cases.push_back(generator(random.split()).value());
      for (const Case& values : cases) {
        const std::string token = write_token(property.id, property.fields(spec), values);
        ASSERT_TRUE(property.admits(spec, values)) << token << " of " << text;
        ASSERT_EQ(read_token(token, property.fields(spec)), values);
      }
    }
  }
}

}  // namespace
}  // namespace sextant
