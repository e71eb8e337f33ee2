#include "lib/spec/of.hpp"
#include "properties/mutants/mutant.hpp"

namespace sextant::mutants::tent_mutants {
namespace {

// (p mod 2^(i+1)) / 2^(i+1), which starts again where a tent comes down.
FunctionSubject::Call saw_tooth(const Spec& spec) {
  return
      [dim = held<Tent>(spec)->dim, dtype = spec.dtype](std::string_view operation, const Tensors& inputs) -> Tensors {
        if (operation != "encode") throw SubjectFailure(FailureKind::unsupported, "a tent is encoded");
        const std::vector<std::int64_t> positions = inputs.at("positions").integers();
        Tensor codes = Tensor::zeros(dtype, {std::ssize(positions), dim});
        std::int64_t element = 0;
        for (const std::int64_t position : positions) {
          for (std::int64_t i = 0; i < dim; ++i) {
            const std::int64_t period = std::int64_t{2} << i;
            codes.set(element++, static_cast<double>(position & (period - 1)) / static_cast<double>(period));
          }
        }
        return {{"encoding", std::move(codes)}};
      };
}

}  // namespace

std::vector<Mutant> all() {
  return {{"tent-saw-tooth", Kind::defect, "", "a saw tooth for a tent", R"({"encoding":"tent","dim":8})", saw_tooth}};
}

}  // namespace sextant::mutants::tent_mutants
