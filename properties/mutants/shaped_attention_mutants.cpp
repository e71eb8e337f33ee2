#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_others.hpp"

// Attention that is wrong in tiles, for many keys or queries, in later heads or rows, or at some distance alone.

namespace sextant::mutants {
namespace {

constexpr const char* plain = R"({"encoding":"attention","num_heads":4,"head_dim":8,"max_position":4096})";
constexpr const char* causal =
    R"({"encoding":"attention","num_heads":4,"head_dim":8,"causal":true,"max_position":4096})";
constexpr const char* grouped =
    R"({"encoding":"attention","num_heads":12,"num_kv_heads":4,"head_dim":8,"max_position":4096})";
constexpr const char* rope = R"({"encoding":"attention","num_heads":2,"head_dim":8,"max_position":4096,)"
                             R"("position":{"encoding":"rope","head_dim":8}})";
constexpr const char* alibi = R"({"encoding":"attention","num_heads":4,"head_dim":8,"causal":true,)"
                              R"("max_position":4096,"position":{"encoding":"alibi","num_heads":4}})";
constexpr const char* t5 = R"({"encoding":"attention","num_heads":2,"head_dim":8,"max_position":4096,)"
                           R"("position":{"encoding":"relative_bias"}})";

constexpr double never = -std::numeric_limits<double>::infinity();

using Change = std::function<void(PlainOther&)>;
using Score = std::function<double(double score, const Seen& seen)>;

FunctionSubject::Make changed(const Change& change) {
  return [change](const Spec& spec) -> FunctionSubject::Call {
    PlainOther attention(spec);
    change(attention);
    return
        [attention](std::string_view operation, const Tensors& inputs) { return attention.answer(operation, inputs); };
  };
}

void score_fault(LocalFaults& list, std::string name, std::string mechanism, std::string spec, Score score) {
  list.add(Kind::defect, std::move(name), std::move(mechanism), std::move(spec),
           changed([score](PlainOther& attention) { attention.finish_score = score; }));
}

void short_calls(LocalFaults& list) {
  list.defect(
      "attention-later-row-heads", "in later batch rows the last head is that before it", plain,
      [](const Spot& at) { return at.batch >= 1 && at.head == at.heads - 1; }, from_head(-1));
  list.defect(
      "attention-last-head", "the last head's last query is not written", plain,
      [](const Spot& at) { return at.tokens > 2 && at.head == at.heads - 1 && at.token == at.tokens - 1; }, zeros());
  list.defect(
      "attention-channel-tail", "the last channels of queries after the first four are left out", plain,
      [](const Spot& at) { return at.token >= 4 && at.channel >= 6; }, zeros());
  score_fault(list, "attention-fifth-key", "keys are read four at a time, and the one after them is forgotten", plain,
              [](double score, const Seen& seen) {
                return seen.tokens > 4 && seen.tokens % 4 == 1 && seen.key == seen.tokens - 1 ? never : score;
              });
  score_fault(list, "attention-last-group-causal", "the mask of the last head begins one key early", causal,
              [](double score, const Seen& seen) {
                return seen.head == 3 && seen.query > 0 && seen.key == seen.query ? never : score;
              });
  list.add(Kind::defect, "attention-third-group", "the third head of a group reads the next group's keys", grouped,
           changed([](PlainOther& attention) {
             attention.kv_head_of = [](std::int64_t head, std::int64_t, std::int64_t kv_heads) {
               return std::min(head / 3 + (head % 3 == 2 ? 1 : 0), kv_heads - 1);
             };
           }));
  score_fault(list, "attention-last-query-first-key", "the last query of an odd number does not see the first key",
              plain, [](double score, const Seen& seen) {
                return seen.tokens > 2 && seen.tokens % 2 == 1 && seen.query == seen.tokens - 1 && seen.key == 0
                           ? never
                           : score;
              });
}

}  // namespace

std::vector<Mutant> shaped_attention_mutants() {
  LocalFaults list;
  short_calls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants
