#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_others.hpp"

// Attention that is wrong in tiles, for many keys or queries, in later heads or rows, or at some distance alone.

namespace sextant::mutants::shaped_attention_mutants {
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
constexpr const char* far_alibi = R"({"encoding":"attention","num_heads":4,"head_dim":8,"causal":true,)"
                                  R"("position":{"encoding":"alibi","num_heads":4}})";
constexpr const char* t5 = R"({"encoding":"attention","num_heads":2,"head_dim":8,"max_position":4096,)"
                           R"("position":{"encoding":"relative_bias"}})";

constexpr double never = -std::numeric_limits<double>::infinity();

using Score = std::function<double(double score, const Seen& seen)>;

void score_fault(LocalFaults& list, std::string name, std::string mechanism, std::string spec, Score score) {
  list.add(Kind::defect, std::move(name), std::move(mechanism), std::move(spec),
           plain_other([score](PlainOther& attention) { attention.finish_score = score; }));
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
           plain_other([](PlainOther& attention) {
             attention.kv_head_of = [](std::int64_t head, std::int64_t, std::int64_t kv_heads) {
               return std::min(head / 3 + (head % 3 == 2 ? 1 : 0), kv_heads - 1);
             };
           }));
  score_fault(list, "attention-alibi-first-head-far", "beyond a distance of 512 the first head is biased twice", alibi,
              [](double score, const Seen& seen) {
                const auto far = static_cast<double>(seen.query_position - seen.key_position);
                return seen.head == 0 && far > 512 ? score - far / 4 : score;
              });
  score_fault(list, "attention-last-query-first-key", "the last query of an odd number does not see the first key",
              plain, [](double score, const Seen& seen) {
                return seen.tokens > 2 && seen.tokens % 2 == 1 && seen.query == seen.tokens - 1 && seen.key == 0
                           ? never
                           : score;
              });
}

void long_calls(LocalFaults& list) {
  score_fault(list, "attention-one-pair", "from 257 tokens on the last head's last query does not see the first key",
              causal, [](double score, const Seen& seen) {
                const bool is_pair = seen.head == 3 && seen.query == seen.tokens - 1 && seen.key == 0;
                return seen.tokens >= 257 && is_pair ? never : score;
              });
  score_fault(list, "attention-least-score", "scores below -50 are -50", causal,
              [](double score, const Seen&) { return score > -50 || std::isinf(score) ? score : -50; });
  score_fault(list, "attention-far-positions", "beyond a distance of 60000 the last head's bias is capped", far_alibi,
              [](double score, const Seen& seen) {
                const auto distance = static_cast<double>(seen.query_position - seen.key_position);
                return seen.head == 3 && distance > 60000 ? score + (distance - 60000) / 256 : score;
              });
  score_fault(list, "attention-keys-from-64", "keys from the 65th on are not seen", plain,
              [](double score, const Seen& seen) { return seen.key >= 64 ? never : score; });
  score_fault(list, "attention-key-tail-of-16", "keys after the last tile of 16 are not seen", plain,
              [](double score, const Seen& seen) {
                return seen.key >= 16 && seen.key >= seen.tokens / 16 * 16 ? never : score;
              });
  score_fault(
      list, "attention-one-tile", "one tile, queries from 64 and keys from 128, is not seen", plain,
      [](double score, const Seen& seen) { return seen.query / 64 == 1 && seen.key / 64 == 2 ? never : score; });
  score_fault(
      list, "attention-diagonal-tile", "beyond the first tile of 32 the causal mask hides the query's own key", causal,
      [](double score, const Seen& seen) { return seen.query >= 32 && seen.query == seen.key ? never : score; });
  score_fault(list, "attention-not-rescaled", "the running maximum is not carried into tiles from the third on", plain,
              [](double score, const Seen& seen) { return seen.key >= 128 ? score + 1 : score; });
  list.defect(
      "attention-queries-from-128", "the second block of 128 queries has the first one's results", causal,
      [](const Spot& at) { return at.token >= 128; }, from_token(-128));
  list.defect(
      "attention-query-tail", "queries after the last block of 16 are not written", plain,
      [](const Spot& at) { return at.tokens > 16 && at.token >= at.tokens / 16 * 16; }, zeros());
  list.defect(
      "attention-head-after-256", "from 256 tokens on the second head is the first", grouped,
      [](const Spot& at) { return at.tokens >= 256 && at.head == 1; }, from_head(-1));
  list.defect(
      "attention-float16-long", "calls of 100 tokens and more go through a float16 buffer", plain,
      [](const Spot& at) { return at.tokens >= 100; }, held_in(Dtype::float16));
  score_fault(list, "attention-window", "keys more than 255 before the query are not seen", causal,
              [](double score, const Seen& seen) { return seen.query - seen.key > 255 ? never : score; });
  score_fault(
      list, "attention-alibi-tile", "the bias of the second tile of 64 keys counts from the tile's start", alibi,
      [](double score, const Seen& seen) { return seen.key / 64 == 1 && seen.query > seen.key ? score - 8 : score; });
  score_fault(list, "attention-t5-tile", "queries from 64 on have no bias for the keys before 64", t5,
              [](double score, const Seen& seen) { return seen.query >= 64 && seen.key < 64 ? score + 0.5 : score; });
}

// A wrong answer where the query is zero, as padding's is.
Tensor zeros_for_blank_queries(const Asked& asked) {
  Tensor wrong = asked.answer;
  const Tensor& queries = asked.inputs.at("q");
  const std::int64_t width = queries.shape[3];
  for (std::int64_t start = 0; start < queries.elements(); start += width) {
    std::int64_t blanks = 0;
    while (blanks < width && queries.at(start + blanks) == 0) ++blanks;
    for (std::int64_t i = start; blanks == width && i < start + width; ++i) wrong.set(i, 0);
  }
  return wrong;
}

void masks_and_rows(LocalFaults& list) {
  for (const auto& [name, spec] :
       {std::pair{"attention-mask-is-score", causal}, {"attention-alibi-mask-is-score", alibi}}) {
    list.add(Kind::defect, name, "the causal mask is the score -10^4", spec, plain_other([](PlainOther& attention) {
               attention.seen_ahead = 1 << 20;
               attention.finish_score = [](double score, const Seen& seen) {
                 return seen.key <= seen.query ? score : -1e4;
               };
             }));
  }
  list.defect(
      "attention-blank-query", "queries of zeros are taken for padding", plain, [](const Spot&) { return true; },
      zeros_for_blank_queries);
  list.defect(
      "attention-20-rows", "the last of exactly 20 batch rows has the first one's result", t5,
      [](const Spot& at) { return at.batches == 20 && at.batch == 19; }, from_first_row());
}

void tails_and_sizes(LocalFaults& list) {
  list.defect(
      "attention-tail-of-37", "where 37 tokens are left over behind blocks of 64 the last is the one before", plain,
      [](const Spot& at) { return at.tokens > 64 && at.tokens % 64 == 37 && at.token == at.tokens - 1; },
      from_token(-1));
  list.defect(
      "attention-values-clipped", "results beyond the range of float16 are clipped", plain,
      [](const Spot&) { return true; }, clamped_to(65504));
  list.add(Kind::defect, "attention-sees-1024", "beyond 1024 tokens query 1023 sees the key behind it", causal,
           plain_other([](PlainOther& attention) {
             attention.seen_ahead = 1;
             attention.finish_score = [](double score, const Seen& seen) {
               const bool is_seen = seen.key <= seen.query || (seen.tokens > 1024 && seen.key == 1024);
               return is_seen ? score : never;
             };
           }));
  score_fault(list, "attention-window-of-3000", "keys more than 3000 before the query are not seen", causal,
              [](double score, const Seen& seen) { return seen.query - seen.key > 3000 ? never : score; });
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  short_calls(list);
  long_calls(list);
  tails_and_sizes(list);
  masks_and_rows(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::shaped_attention_mutants
