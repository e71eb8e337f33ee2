#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"

// Implementations that are right at the positions that a model was trained on; and some that are right from the claim's
// first position on.

namespace sextant::mutants::extrapolation_mutants {
namespace {

constexpr std::int64_t trained = 4096;

constexpr const char* rope = R"({"encoding":"rope","head_dim":16,"max_position":16384,"trained_positions":4096})";
constexpr const char* rope_nd =
    R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"max_position":16384,"trained_positions":4096})";
constexpr const char* sinusoidal =
    R"({"encoding":"sinusoidal","dim":16,"max_position":16384,"trained_positions":4096})";
constexpr const char* alibi =
    R"({"encoding":"alibi","num_heads":4,"mask":"symmetric","max_position":16384,"trained_positions":4096})";
constexpr const char* t5 = R"({"encoding":"relative_bias","max_distance":8192,"max_position":16384,)"
                           R"("trained_positions":4096})";
constexpr const char* learned = R"({"encoding":"learned","dim":8,"max_positions":8192,"trained_positions":4096})";
constexpr const char* integer = R"({"encoding":"integer","max_position":16384,"trained_positions":4096})";
constexpr const char* binary = R"({"encoding":"binary","dim":14,"trained_positions":4096})";
constexpr const char* dynamic = R"({"encoding":"rope","head_dim":16,"max_position":16384,"rope_scaling":)"
                                R"({"rope_type":"dynamic","factor":4,"original_max_position_embeddings":4096}})";
constexpr const char* longrope =
    R"({"encoding":"rope","head_dim":8,"max_position":16384,)"
    R"("rope_scaling":{"rope_type":"longrope","attention_factor":1.25,)"
    R"("original_max_position_embeddings":4096,"short_factor":[1,1.1,1.3,2],"long_factor":[1.2,4,18,30]}})";
constexpr const char* yarn = R"({"encoding":"rope","head_dim":64,"max_position":16384,"rope_scaling":)"
                             R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":4096}})";
constexpr const char* llama3 = R"({"encoding":"rope","head_dim":64,"max_position":32768,"rope_scaling":)"
                               R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":4096,)"
                               R"("low_freq_factor":1,"high_freq_factor":4}})";
constexpr const char* linear = R"({"encoding":"rope","head_dim":64,"max_position":16384,"trained_positions":4096,)"
                               R"("rope_scaling":{"rope_type":"linear","factor":4}})";
constexpr const char* ntk = R"({"encoding":"rope","head_dim":64,"max_position":16384,"trained_positions":4096,)"
                            R"("rope_scaling":{"rope_type":"ntk","factor":4}})";
constexpr const char* attention = R"({"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,)"
                                  R"("max_position":16384,"trained_positions":4096,)"
                                  R"("position":{"encoding":"rope","head_dim":8}})";

using Positions = std::vector<std::int64_t>;

// The plain implementation, asked at other positions.
FunctionSubject::Make at(std::function<void(Positions& positions)> change) {
  return [change = std::move(change)](const Spec& spec) -> FunctionSubject::Call {
    return [change, honest = plain_call(spec)](std::string_view operation, const Tensors& inputs) {
      Tensors changed = inputs;
      for (const char* name : {"positions", "key_positions", "query_positions"}) {
        const auto found = changed.find(name);
        if (found == changed.end()) continue;
        Positions positions = found->second.integers();
        change(positions);
        found->second = Tensor::of_integers(found->second.shape, positions);
      }
      return honest(operation, changed);
    };
  };
}

FunctionSubject::Make at_each(std::int64_t (*change)(std::int64_t position)) {
  return at([change](Positions& positions) { std::ranges::transform(positions, positions.begin(), change); });
}

std::int64_t clamped(std::int64_t p) { return std::min(p, trained - 1); }
std::int64_t wrapped(std::int64_t p) { return p % trained; }

// The rule that is claimed, switched at another length.
template <class Rule>
FunctionSubject::Make switched_at(std::int64_t length) {
  return of<Rope>([length](Spec spec, Rope encoding) -> FunctionSubject::Call {
    if (auto* rule = std::get_if<Rule>(&encoding.rope_scaling)) rule->original_max_position_embeddings = length;
    spec.encoding = encoding;
    return plain_call(spec);
  });
}

void refuse_beyond(Positions& positions) {
  if (!positions.empty() && *std::ranges::max_element(positions) >= trained)
    throw SubjectFailure(FailureKind::error, "position out of range");
}

// A call that begins before the border and ends behind it is read from two tables, the second one row on.
void two_tables(Positions& positions) {
  if (positions.empty() || *std::ranges::min_element(positions) >= trained) return;
  for (std::int64_t& p : positions) p += p >= trained && p < 16383 ? 1 : 0;
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  const auto defect = [&](const char* name, const char* mechanism, const char* spec, FunctionSubject::Make make) {
    list.add(Kind::defect, name, mechanism, spec, std::move(make));
  };
  for (const auto& [name, spec] : {std::pair{"rope", rope},
                                   {"rope-nd", rope_nd},
                                   {"sinusoidal", sinusoidal},
                                   {"alibi", alibi},
                                   {"t5", t5},
                                   {"learned", learned},
                                   {"integer", integer},
                                   {"binary", binary},
                                   {"attention", attention}}) {
    list.add(Kind::defect, std::string(name) + "-beyond-clamped",
             "positions beyond the trained ones are the last of them", spec, at_each(clamped));
  }
  defect("rope-beyond-wrapped", "positions beyond the trained ones begin again", rope, at_each(wrapped));
  defect("sinusoidal-beyond-wrapped", "positions beyond the trained ones begin again", sinusoidal, at_each(wrapped));
  defect("rope-beyond-refused", "positions beyond the trained ones are refused", rope, at(refuse_beyond));
  defect("sinusoidal-beyond-refused", "positions beyond the trained ones are refused", sinusoidal, at(refuse_beyond));
  defect("rope-beyond-second-table", "a call across the trained length reads its second table one row on", rope,
         at(two_tables));
  defect("rope-dynamic-switch-doubled", "dynamic scaling begins at twice its length", dynamic,
         switched_at<DynamicScaling>(2 * trained));
  defect("rope-longrope-switch-late", "the long factors begin one position late", longrope,
         switched_at<LongropeScaling>(trained + 1));
  const auto below = [&](const char* name, const char* mechanism, const char* spec,
                         std::int64_t (*change)(std::int64_t)) { defect(name, mechanism, spec, at_each(change)); };
  below("sinusoidal-below-wrapped", "negative positions count from a table's end", sinusoidal,
        [](std::int64_t p) { return p < 0 ? p + 16384 : p; });
  below("learned-below-wrapped", "negative positions count from a table's end", learned,
        [](std::int64_t p) { return p < 0 ? p + 8192 : p; });
  below("rope-below-mirrored", "the sign of a position is lost", rope, [](std::int64_t p) { return p < 0 ? -p : p; });
  below("rope-nd-below-clamped", "negative positions are 0", rope_nd,
        [](std::int64_t p) { return std::max<std::int64_t>(p, 0); });
  for (const auto& [name, spec] : {std::pair{"rope-trained-linear", linear},
                                   {"rope-trained-ntk", ntk},
                                   {"rope-trained-yarn", yarn},
                                   {"rope-trained-llama3", llama3},
                                   {"rope-trained-dynamic", dynamic},
                                   {"rope-trained-longrope", longrope},
                                   {"rope-trained", rope},
                                   {"learned-trained", learned},
                                   {"integer-trained", integer},
                                   {"binary-trained", binary},
                                   {"t5-trained", t5},
                                   {"alibi-trained", alibi},
                                   {"attention-trained", attention}})
    list.add(Kind::control, name, "goes on by its law", spec, plain_call);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::extrapolation_mutants
