#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "properties/mutants/local_fault.hpp"

// Implementations that are right when asked once: what a module keeps from call to call where it generates.

namespace sextant::mutants::history_mutants {
namespace {

constexpr const char* rope = R"({"encoding":"rope","head_dim":16,"max_position":16384})";
constexpr const char* sinusoidal = R"({"encoding":"sinusoidal","dim":16,"max_position":16384})";
constexpr const char* alibi = R"({"encoding":"alibi","num_heads":4,"max_position":16384})";
constexpr const char* learned = R"({"encoding":"learned","dim":8,"max_positions":6000})";
constexpr const char* attention = R"({"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,)"
                                  R"("max_position":4096,"position":{"encoding":"rope","head_dim":8}})";

using Positions = std::vector<std::int64_t>;

// A call, and what its session remembers of those before it.
struct Remembered {
  std::int64_t calls = 0;
  std::int64_t longest = 0;    // tokens of a call, so far
  std::int64_t furthest = -1;  // position, so far
  std::int64_t rows = 0;       // of the last call
  std::int64_t refused = 0;
  std::map<Positions, Positions> kept;
};
struct AskedPositions {
  std::int64_t rows;
  std::int64_t tokens;
  std::int64_t end;  // of the claim
};

// Which positions a call's values are those of.
using Change = std::function<void(Remembered& past, const AskedPositions& asked, Positions& positions)>;

// Positions beyond the claim are refused, as lookups do.
FunctionSubject::Make remembering(Change change) {
  return [change = std::move(change)](const Spec& spec) -> FunctionSubject::Call {
    return [change, honest = plain_call(spec), end = spec.max_position, past = Remembered()](
               std::string_view operation, const Tensors& inputs) mutable -> Tensors {
      const auto name = inputs.contains("positions") ? "positions" : "key_positions";
      if (!inputs.contains(name)) return honest(operation, inputs);
      const Tensor& given = inputs.at(name);
      Positions positions = given.integers();
      if (positions.empty()) return honest(operation, inputs);
      const std::int64_t tokens = given.shape.back();
      if (*std::ranges::max_element(positions) >= end) {
        ++past.refused;
        throw SubjectFailure(FailureKind::error, "position out of range");
      }
      const std::int64_t furthest = *std::ranges::max_element(positions);
      const std::int64_t rows = std::ssize(positions) / tokens;
      change(past, {rows, tokens, end}, positions);
      ++past.calls;
      past.longest = std::max(past.longest, tokens);
      past.furthest = std::max(past.furthest, furthest);
      past.rows = rows;
      Tensors changed = inputs;
      changed.at(name) = Tensor::of_integers(given.shape, positions);
      return honest(operation, changed);
    };
  };
}

void move_all(Positions& positions, std::int64_t by, std::int64_t end) {
  for (std::int64_t& position : positions) position = position + by < end ? position + by : position - by;
}

// Those of the first call whose key is the same.
void as_kept(Remembered& past, Positions key, Positions& positions) {
  positions = past.kept.try_emplace(std::move(key), positions).first->second;
}

void decoding(LocalFaults& list) {
  list.add(Kind::defect, "rope-decode-goes-on",
           "a single token stands behind the furthest so far, wherever it is asked", rope,
           remembering([](Remembered& past, const AskedPositions& asked, Positions& positions) {
             if (asked.tokens == 1 && asked.rows == 1 && past.furthest >= 0)
               positions[0] = std::min(past.furthest + 1, asked.end - 1);
           }));
  list.add(Kind::defect, "rope-never-back", "a single token behind the furthest so far is taken to be there", rope,
           remembering([](Remembered& past, const AskedPositions& asked, Positions& positions) {
             if (asked.tokens == 1 && asked.rows == 1) positions[0] = std::max(positions[0], past.furthest);
           }));
  list.add(Kind::defect, "rope-fourth-chunk", "the fourth call of a session counts from the third one's start", rope,
           remembering([](Remembered& past, const AskedPositions& asked, Positions& positions) {
             if (past.calls == 3) move_all(positions, -std::min(asked.tokens, positions[0]), asked.end);
           }));
  list.add(Kind::defect, "attention-positions-kept", "positions are kept by the number of tokens", attention,
           remembering([](Remembered& past, const AskedPositions&, Positions& positions) {
             as_kept(past, {std::ssize(positions)}, positions);
           }));
}

void growing_caches(LocalFaults& list) {
  list.add(Kind::defect, "rope-growth-loses-a-row", "a table that grows fourfold or more loses its last row", rope,
           remembering([](Remembered& past, const AskedPositions&, Positions& positions) {
             const std::int64_t capacity = past.furthest + 1;
             const bool grows = past.furthest >= 0 && *std::ranges::max_element(positions) >= 4 * capacity;
             if (grows) std::ranges::replace(positions, past.furthest, std::max<std::int64_t>(past.furthest - 1, 0));
           }));
  list.add(Kind::defect, "sinusoidal-after-long", "after a call of more than 4096 rows tables are read one row on",
           sinusoidal, remembering([](Remembered& past, const AskedPositions& asked, Positions& positions) {
             if (past.longest > 4096 && asked.tokens < 64) move_all(positions, 1, asked.end);
           }));
  list.add(Kind::defect, "learned-after-long", "a call of more than 4096 rows leaves its end behind", learned,
           remembering([](Remembered& past, const AskedPositions& asked, Positions& positions) {
             if (past.longest > 4096 && asked.tokens < 64) move_all(positions, 1, asked.end);
           }));
}

void keys_of_caches(LocalFaults& list) {
  list.add(Kind::defect, "rope-kept-by-ends", "a table is kept by its first and last position and their number", rope,
           remembering([](Remembered& past, const AskedPositions&, Positions& positions) {
             as_kept(past, {positions.front(), positions.back(), std::ssize(positions)}, positions);
           }));
  list.add(Kind::defect, "sinusoidal-kept-by-ends", "a table is kept by its first and last position and their number",
           sinusoidal, remembering([](Remembered& past, const AskedPositions&, Positions& positions) {
             as_kept(past, {positions.front(), positions.back(), std::ssize(positions)}, positions);
           }));
  list.add(Kind::defect, "alibi-kept-by-keys", "a row of biases is kept by the number of keys", alibi,
           remembering([](Remembered& past, const AskedPositions&, Positions& positions) {
             as_kept(past, {std::ssize(positions)}, positions);
           }));
  list.add(Kind::defect, "rope-rows-of-last-call",
           "batch rows beyond those of the last call have the first one's table", rope,
           remembering([](Remembered& past, const AskedPositions& asked, Positions& positions) {
             for (std::int64_t row = past.rows; past.rows > 0 && row < asked.rows; ++row)
               std::copy_n(positions.begin(), asked.tokens, positions.begin() + row * asked.tokens);
           }));
}

void errors(LocalFaults& list) {
  for (const auto& [name, spec] : {std::pair{"rope-after-error", rope}, {"learned-after-error", learned}}) {
    list.add(Kind::defect, name, "a call that is refused has moved the offset of those after it", spec,
             remembering([](Remembered& past, const AskedPositions& asked, Positions& positions) {
               if (past.refused > 0) move_all(positions, 1, asked.end);
             }));
  }
  list.add(Kind::control, "rope-refuses-beyond", "positions beyond the claim are refused, and nothing is kept", rope,
           remembering([](Remembered&, const AskedPositions&, Positions&) {}));
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  decoding(list);
  growing_caches(list);
  keys_of_caches(list);
  errors(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::history_mutants
