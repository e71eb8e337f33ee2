#include <cmath>
#include <functional>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/recipe_subject.hpp"
#include "reference/recipe.hpp"

// Subjects that mostly have the bits of the recipe that they are audited as, but not in every call, and but for the
// recurrence are within every bound of their claim; and implementations of one evaluation that claim another.

namespace sextant::mutants::recipe_mutants {
namespace {

constexpr const char* usual = R"({"encoding":"rope","head_dim":64,"max_position":16384})";
constexpr const char* bfloat16_table =
    R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16","evaluation":"table","max_position":16384})";
constexpr const char* codes = R"({"encoding":"sinusoidal","dim":64,"max_position":16384})";

// Batch rows, tokens and heads of a call.
struct Extents {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  std::int64_t heads = 1;
};

Extents extents_of(const Tensors& inputs) {
  const auto x = inputs.find("x");
  if (x == inputs.end()) return {.tokens = inputs.at("positions").elements()};
  return {x->second.shape[0], x->second.shape[1], x->second.shape[2]};
}

// Of others, and of gradients, recipes say themselves that they do not cover them.
bool is_covered(std::string_view operation) { return operation == "encode" || operation == "rotate"; }

Tensor& answer_in(Tensors& outputs) { return outputs.begin()->second; }

// The whole call by another recipe where `when` says so.
FunctionSubject::Make by(std::string_view usually, std::string_view otherwise,
                         const std::function<bool(const Extents&)>& when) {
  return [usually = reference::recipe_named(usually), otherwise = reference::recipe_named(otherwise),
          when](const Spec& spec) -> FunctionSubject::Call {
    return [one = recipe_call(usually, spec), other = recipe_call(otherwise, spec), when](
               std::string_view operation, const Tensors& inputs) -> Tensors {
      return is_covered(operation) && when(extents_of(inputs)) ? other(operation, inputs) : one(operation, inputs);
    };
  };
}

// Those elements by another recipe that lie in heads for which `when` says so.
FunctionSubject::Make heads_by(std::string_view usually, std::string_view otherwise,
                               const std::function<bool(const Extents&, std::int64_t head)>& when) {
  return [usually = reference::recipe_named(usually), otherwise = reference::recipe_named(otherwise),
          when](const Spec& spec) -> FunctionSubject::Call {
    return [one = recipe_call(usually, spec), other = recipe_call(otherwise, spec), when](
               std::string_view operation, const Tensors& inputs) -> Tensors {
      Tensors outputs = one(operation, inputs);
      const Tensors others = other(operation, inputs);
      const Extents extents = extents_of(inputs);
      Tensor& answer = answer_in(outputs);
      const Tensor& differing = others.begin()->second;
      const std::int64_t width = answer.shape.back();
      for (std::int64_t i = 0; i < answer.elements(); ++i) {
        if (when(extents, i / width % extents.heads)) answer.set(i, differing.at(i));
      }
      return outputs;
    };
  };
}

// Codes of a call's second half of tokens by turning the first half's codes on, in float64, as a recurrence does.
FunctionSubject::Make by_recurrence() {
  return of<Sinusoidal>([](const Spec& spec, const Sinusoidal& encoding) -> FunctionSubject::Call {
    return [one = recipe_call(reference::recipe_named("float32"), spec), encoding](std::string_view operation,
                                                                                   const Tensors& inputs) -> Tensors {
      Tensors outputs = one(operation, inputs);
      Tensor& answer = answer_in(outputs);
      const std::vector<std::int64_t> positions = inputs.at("positions").integers();
      for (std::size_t token = 1; token < positions.size(); ++token) {
        if (token % 64 == 0 || positions[token] != positions[token - 1] + 1) continue;
        for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
          const Channels at = channels_of_pair(encoding, pair);
          const double step =
              std::pow(encoding.base, -2.0 * static_cast<double>(pair) / static_cast<double>(encoding.dim));
          const std::int64_t row = static_cast<std::int64_t>(token) * encoding.dim;
          const double sine = answer.at(row - encoding.dim + at.first);
          const double cosine = answer.at(row - encoding.dim + at.second);
          answer.set(row + at.first, sine * std::cos(step) + cosine * std::sin(step));
          answer.set(row + at.second, cosine * std::cos(step) - sine * std::sin(step));
        }
      }
      return outputs;
    };
  });
}

FunctionSubject::Make as_recipe(std::string_view name) {
  return [recipe = reference::recipe_named(name)](const Spec& spec) { return recipe_call(recipe, spec); };
}

}  // namespace

std::vector<Mutant> all() {
  std::vector<Mutant> list;
  const auto add = [&](Kind kind, const char* name, const char* mechanism, const char* spec, FunctionSubject::Make make,
                       const char* recipe) {
    Mutant mutant;
    mutant.name = name;
    mutant.kind = kind;
    mutant.row = kind == Kind::defect ? "P5" : "";
    mutant.mechanism = mechanism;
    mutant.spec = spec;
    mutant.make = std::move(make);
    mutant.recipe = recipe;
    list.push_back(std::move(mutant));
  };
  const auto never = [](const Extents&) { return false; };

  add(Kind::defect, "recipe-odd-batches-fused", "an odd number of batch rows, beyond one, has a fused product", usual,
      by("float32", "float32-widened-fused-first", [](const Extents& at) { return at.batch > 1 && at.batch % 2 == 1; }),
      "float32");
  add(Kind::defect, "recipe-long-calls",
      "calls of more than 128 tokens take another path, which forms powers in another way", usual,
      by("float32", "float32-exponential", [](const Extents& at) { return at.tokens > 128; }), "float32");
  add(Kind::defect, "recipe-single-token", "a token alone is fused in the other order", usual,
      by("float32-widened-fused-first", "float32-widened-fused-second",
         [](const Extents& at) { return at.tokens == 1; }),
      "float32-widened-fused-first");
  add(Kind::defect, "recipe-last-heads-fused", "heads behind the last whole block of 4 have a fused multiply-add",
      usual,
      heads_by("float32", "float32-widened-fused-second",
               [](const Extents& at, std::int64_t head) { return head >= at.heads / 4 * 4; }),
      "float32");
  add(Kind::defect, "recipe-table-not-cast", "the table of a call of one row stays in float32", bfloat16_table,
      by("cast-table", "float32-widened", [](const Extents& at) { return at.batch == 1; }), "cast-table");
  add(Kind::defect, "recipe-recurrence",
      "within 64 tokens that follow each other a code is the last one, turned on by a step",
      R"({"encoding":"sinusoidal","dim":64,"max_position":512,"accuracy":"bfloat16-angle"})", by_recurrence(),
      "float32");
  add(Kind::defect, "recipe-code-powers", "calls of more than 64 codes have one power of a negative exponent", codes,
      by("float32", "float32-power", [](const Extents& at) { return at.tokens > 64; }), "float32");

  constexpr const char* wide = R"({"encoding":"sinusoidal","dim":512,"max_position":16384})";
  constexpr const char* many_heads = R"({"encoding":"rope","head_dim":128,"max_position":16384})";
  add(Kind::defect, "recipe-code-beyond-4096", "calls of more than 4096 codes have one power of a negative exponent",
      wide, by("float32", "float32-power", [](const Extents& at) { return at.tokens > 4096; }), "float32");
  add(Kind::defect, "recipe-512-tokens", "calls of 512 tokens take another path, which forms powers in another way",
      many_heads, by("float32", "float32-exponential", [](const Extents& at) { return at.tokens == 512; }), "float32");

  Mutant in_dtype;
  in_dtype.name = "table-claimed-products-in-dtype";
  in_dtype.row = "P5";
  in_dtype.mechanism = "products and sum are rounded to bfloat16, where only the table may be";
  in_dtype.spec = bfloat16_table;
  in_dtype.make = as_recipe("float32");
  list.push_back(in_dtype);
  in_dtype.name = "table-claimed-products-in-dtype-factor";
  in_dtype.mechanism = "the same under yarn's attention factor";
  in_dtype.spec = R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16","evaluation":"table","max_position":16384,)"
                  R"("rope_scaling":{"rope_type":"yarn","factor":16,"original_max_position_embeddings":1024}})";
  list.push_back(in_dtype);
  in_dtype.name = "float32-claimed-table-cast";
  in_dtype.mechanism = "the table is cast to bfloat16, where the claim has one rounding at the end";
  in_dtype.spec = R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16","max_position":16384})";
  in_dtype.make = as_recipe("cast-table");
  list.push_back(in_dtype);
  in_dtype.name = "float32-claimed-table-cast-float16";
  in_dtype.mechanism = "the same in float16";
  in_dtype.spec = R"({"encoding":"rope","head_dim":64,"dtype":"float16","max_position":16384})";
  list.push_back(in_dtype);

  add(Kind::control, "recipe-kept", "the recipe's bits in every call, by another program", usual,
      by("float32", "float64", never), "float32");
  add(Kind::control, "recipe-cast-table-fused", "a kernel that leaves the second product exact, everywhere",
      bfloat16_table, by("cast-table-fused-second", "float64", never), "cast-table-fused-second");
  return list;
}

}  // namespace sextant::mutants::recipe_mutants
