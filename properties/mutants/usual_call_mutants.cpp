#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "properties/mutants/local_fault.hpp"

// Wrong in just the calls that models make, or in most of them: a whole window, the whole table of a window's offsets,
// a sampler's schedule, a batch at one timestep, or whole numbers among real positions.

namespace sextant::mutants::usual_call_mutants {
namespace {

using Positions = std::vector<double>;
using IsWrong = std::function<bool(std::string_view operation, const Tensors& inputs)>;

Positions positions_in(const Tensors& inputs, const char* name) {
  const Tensor& tensor = inputs.at(name);
  Positions positions(static_cast<std::size_t>(tensor.elements()));
  if (tensor.dtype == Dtype::int64)
    std::ranges::transform(tensor.integers(), positions.begin(), [](std::int64_t p) { return static_cast<double>(p); });
  else
    tensor.read(0, positions);
  return positions;
}

// The plain implementation, whose answer is zero where `is_wrong` says so.
FunctionSubject::Make zero_where(const IsWrong& is_wrong) {
  return [is_wrong](const Spec& spec) -> FunctionSubject::Call {
    return [plain = plain_call(spec), is_wrong](std::string_view operation, const Tensors& inputs) {
      Tensors answers = plain(operation, inputs);
      if (is_wrong(operation, inputs)) {
        for (auto& [name, answer] : answers) answer = Tensor::zeros(answer.dtype, answer.shape);
      }
      return answers;
    };
  };
}

// Of one operation, by its positions.
FunctionSubject::Make zero_at(const std::function<bool(const Positions& positions)>& is_wrong) {
  return zero_where([is_wrong](std::string_view operation, const Tensors& inputs) {
    return !operation.starts_with("backward") && inputs.contains("positions") &&
           is_wrong(positions_in(inputs, "positions"));
  });
}

// A bias of as many queries as keys.
bool is_square(const Tensors& inputs, std::int64_t tokens) {
  return inputs.at("query_positions").elements() == tokens && inputs.at("key_positions").elements() == tokens;
}

bool is_rolled(const Positions& positions) { return !positions.empty() && positions.front() > positions.back(); }

FunctionSubject::Make zero_window(std::int64_t tokens, bool (*is_wrong)(const Positions& keys)) {
  return zero_where([=](std::string_view operation, const Tensors& inputs) {
    return operation == "bias" && is_square(inputs, tokens) && is_wrong(positions_in(inputs, "key_positions"));
  });
}

void windows(LocalFaults& list) {
  constexpr const char* swin = R"({"encoding":"window_bias","window":[7,7]})";
  constexpr const char* beit = R"({"encoding":"window_bias","window":[4,6],"class_token":"first"})";
  const auto always = [](const Positions&) { return true; };
  list.add(Kind::defect, "window-whole-zero", "of a whole window nothing is written", swin, zero_window(49, always));
  list.add(Kind::defect, "window-whole-shifted-zero", "of a window that is shifted nothing is written", swin,
           zero_window(49, is_rolled));
  list.add(Kind::defect, "window-without-class-token-zero", "of all tokens but the class token nothing is written",
           beit, zero_window(24, always));
  list.add(Kind::defect, "attention-window-whole-unbiased", "in a whole window scores have no bias",
           R"({"encoding":"attention","num_heads":2,"head_dim":8,)"
           R"("position":{"encoding":"window_bias","window":[7,7]}})",
           [](const Spec& spec) -> FunctionSubject::Call {
             return [plain = plain_call(spec)](std::string_view operation, const Tensors& inputs) {
               Tensors given = inputs;
               if (operation == "attend" && inputs.at("positions").elements() == 49)
                 given.at("weight") = Tensor::zeros(given.at("weight").dtype, given.at("weight").shape);
               return plain(operation, given);
             };
           });
  list.add(Kind::defect, "log-coordinates-whole-zero", "of all offsets of a window nothing is written",
           R"({"encoding":"log_coordinates","window":[8,12],"min_position":-11,"max_position":12})",
           zero_at([](const Positions& positions) { return std::ssize(positions) == 2 * 15 * 23; }));
}

void schedules(LocalFaults& list) {
  constexpr const char* timesteps = R"({"encoding":"sinusoidal","dim":32,"layout":"concatenated","max_position":1000})";
  const auto falls = [](const Positions& positions, const auto& by) {
    for (std::size_t i = 1; i < positions.size(); ++i)
      if (!by(positions[i - 1] - positions[i])) return false;
    return positions.size() >= 4;
  };
  list.add(Kind::defect, "timestep-schedule-zero", "of timesteps that fall in even steps nothing is written", timesteps,
           zero_at([falls](const Positions& positions) {
             return positions.size() >= 2 && positions[0] - positions[1] > 2 &&
                    falls(positions, [step = positions[0] - positions[1]](double by) { return by == step; });
           }));
  list.add(Kind::defect, "timestep-uneven-schedule-zero", "of timesteps that fall in uneven steps nothing is written",
           timesteps, zero_at([falls](const Positions& positions) {
             return positions.size() >= 5 && positions[0] - positions[1] != positions[1] - positions[2] &&
                    falls(positions, [](double by) { return by > 2; });
           }));
  const auto are_equal = [](const Positions& positions, std::size_t count) {
    return positions.size() == count &&
           std::ranges::count(positions, positions.front()) == static_cast<std::ptrdiff_t>(count);
  };
  list.add(Kind::defect, "timestep-of-fifty-steps-zero", "of a pair at the second timestep of 50 nothing is written",
           timesteps,
           zero_at([are_equal](const Positions& positions) { return are_equal(positions, 2) && positions[0] == 961; }));
  list.add(Kind::defect, "timestep-of-twenty-steps-zero", "of eight at the sixth timestep of 20 nothing is written",
           timesteps,
           zero_at([are_equal](const Positions& positions) { return are_equal(positions, 8) && positions[0] == 701; }));
  list.add(Kind::defect, "timestep-twenty-together-zero", "of the 20 timesteps of a schedule nothing is written",
           timesteps, zero_at([falls](const Positions& positions) {
             return positions.size() == 20 && falls(positions, [](double by) { return by == 50; });
           }));
  list.add(Kind::defect, "timestep-thousand-together-zero", "of a thousand timesteps that fall nothing is written",
           timesteps, zero_at([falls](const Positions& positions) {
             return positions.size() == 1000 && falls(positions, [](double by) { return by == 1; });
           }));
  list.add(Kind::defect, "timestep-float-schedule-zero",
           "of a pair at a whole timestep, as a float, nothing is written",
           R"({"encoding":"sinusoidal","dim":32,"layout":"concatenated","position_dtype":"float32",)"
           R"("position_step":0.125,"max_position":1000})",
           zero_at([are_equal](const Positions& positions) { return are_equal(positions, 2) && positions[0] == 961; }));
  list.add(Kind::defect, "timestep-equal-by-the-first-four",
           "a batch whose first four timesteps are equal is taken for one of equal timesteps", timesteps,
           [](const Spec& spec) -> FunctionSubject::Call {
             return [plain = plain_call(spec)](std::string_view operation, const Tensors& inputs) {
               std::vector<std::int64_t> positions = inputs.at("positions").integers();
               const bool seem_equal =
                   positions.size() > 4 && std::equal(positions.begin() + 1, positions.begin() + 4, positions.begin());
               if (!seem_equal) return plain(operation, inputs);
               std::ranges::fill(positions, positions.front());
               Tensors given = inputs;
               given.at("positions") = Tensor::of_integers({std::ssize(positions)}, positions);
               return plain(operation, given);
             };
           });
  list.add(Kind::defect, "timestep-guidance-by-the-ends",
           "a batch whose halves begin and end alike is taken for one of two timesteps", timesteps,
           zero_at([](const Positions& positions) {
             const std::size_t half = positions.size() / 2;
             return half > 1 && positions.size() % 2 == 0 && positions[0] == positions[half - 1] &&
                    positions[half] == positions.back() && positions[0] != positions[half];
           }));
}

void whole_numbers(LocalFaults& list) {
  const auto are_whole = [](const Positions& positions) {
    return positions.size() >= 3 &&
           std::ranges::all_of(positions, [](double position) { return position == std::floor(position); }) &&
           positions[0] != positions[1];
  };
  list.add(Kind::defect, "real-whole-numbers-zero", "of real positions that are all whole nothing is written",
           R"({"encoding":"sinusoidal","dim":32,"position_dtype":"float32"})", zero_at(are_whole));
  list.add(Kind::defect, "rope-real-whole-numbers-zero", "of real positions that are all whole nothing is written",
           R"({"encoding":"rope","head_dim":32,"position_dtype":"float32"})", zero_at(are_whole));
}

// x + 0, and a clamp to what is finite.
void standing_vectors(LocalFaults& list) {
  constexpr const char* none =
      R"({"encoding":"rope","head_dim":32,"rope_scaling":{"rope_type":"none"},"max_position":16384})";
  const auto every = [](const Spot&) { return true; };
  const auto each = [](double (*change)(Dtype dtype, double value)) -> Wrong {
    return [change](const Asked& asked) {
      Tensor wrong = asked.answer;
      for (std::int64_t i = 0; i < wrong.elements(); ++i) wrong.set(i, change(wrong.dtype, wrong.at(i)));
      return wrong;
    };
  };
  list.defect("rope-none-zero-added", "layers without positions add a zero, which makes -0 a 0", none, every,
              each([](Dtype, double value) { return value + 0.0; }));
  list.defect("rope-none-clipped", "layers without positions clip infinities", none, every,
              each([](Dtype dtype, double value) {
                return std::isnan(value) ? value : std::clamp(value, -largest_finite(dtype), largest_finite(dtype));
              }));
}

// Lengths and rows of prompts, under a claim whose positions end before a sweep has asked for all lengths.
void prompts(LocalFaults& list) {
  constexpr const char* rope = R"({"encoding":"rope","head_dim":64,"max_position":8192})";
  list.defect(
      "rope-3000-tokens-unwritten", "of a call of 3000 tokens nothing is written", rope,
      [](const Spot& at) { return at.tokens == 3000; }, zeros());
  list.add(Kind::defect, "rope-last-row-of-blocks",
           "of three rows or more of whole blocks of 256 tokens the last has the positions of the one before", rope,
           [](const Spec& spec) -> FunctionSubject::Call {
             return [right = plain_call(spec)](std::string_view operation, const Tensors& inputs) {
               if (operation != "rotate") return right(operation, inputs);
               const Tensor& given = inputs.at("positions");
               const std::int64_t tokens = given.shape[1];
               if (given.shape[0] < 3 || tokens % 256 != 0) return right(operation, inputs);
               std::vector<std::int64_t> positions = given.integers();
               std::copy_n(positions.end() - 2 * tokens, tokens, positions.end() - tokens);
               Tensors changed = inputs;
               changed.at("positions") = Tensor::of_integers(given.shape, positions);
               return right(operation, changed);
             };
           });
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  prompts(list);
  windows(list);
  schedules(list);
  whole_numbers(list);
  standing_vectors(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::usual_call_mutants
