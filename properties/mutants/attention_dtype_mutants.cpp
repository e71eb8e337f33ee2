#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_attention.hpp"
#include "properties/mutants/plain_others.hpp"

// What goes wrong in attention, in float32 and under the widest claims of 16 bits that deployed code makes: whatever is
// refused there is refused under the others. And honest attention in 16 bits, each way under the claim that it meets.

namespace sextant::mutants::attention_dtype_mutants {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

// A claim, but for its dtype.
struct Claim {
  std::int64_t heads = 2;
  std::int64_t kv_heads = 2;
  std::int64_t head_dim = 16;
  bool is_causal = false;
  std::string position = "";  // JSON, empty for none
};

std::string spec_text(const Claim& claim, const std::string& arithmetic) {
  return fmt::format(R"({{"encoding":"attention","num_heads":{},"num_kv_heads":{},"head_dim":{},"causal":{},)"
                     R"("max_position":2048,{}{}}})",
                     claim.heads, claim.kv_heads, claim.head_dim, claim.is_causal,
                     claim.position.empty() ? "" : fmt::format(R"("position":{},)", claim.position), arithmetic);
}

std::string rope(std::int64_t head_dim) { return fmt::format(R"({{"encoding":"rope","head_dim":{}}})", head_dim); }
Claim with_rope(std::int64_t head_dim = 16) { return {.head_dim = head_dim, .position = rope(head_dim)}; }
Claim with_alibi(std::int64_t head_dim = 16) {
  return {.heads = 4,
          .kv_heads = 4,
          .head_dim = head_dim,
          .is_causal = true,
          .position = R"({"encoding":"alibi","num_heads":4})"};
}
Claim with_t5(std::int64_t head_dim = 16) {
  return {.head_dim = head_dim, .position = R"({"encoding":"relative_bias"})"};
}
Claim with_yarn(std::int64_t head_dim) {
  return {
      .head_dim = head_dim,
      .position = fmt::format(R"({{"encoding":"rope","head_dim":{},"rope_scaling":{{"rope_type":"yarn","factor":16,)"
                              R"("original_max_position_embeddings":128}}}})",
                              head_dim)};
}
Claim plain(std::int64_t head_dim = 16) { return {.head_dim = head_dim}; }
Claim grouped(std::int64_t heads, std::int64_t kv_heads) { return {.heads = heads, .kv_heads = kv_heads}; }
Claim causal() { return {.is_causal = true}; }

using Change = std::function<void(PlainOther&)>;

class Defects {
 public:
  explicit Defects(LocalFaults& list) : list_(list) {}

  void add(const std::string& name, const std::string& mechanism, const Claim& claim, const Change& change) {
    for (const auto& [suffix, arithmetic] : {std::pair{"", R"("dtype":"float32")"},
                                             {"-bfloat16", R"("dtype":"bfloat16","evaluation":"dtype")"},
                                             {"-float16", R"("dtype":"float16","evaluation":"dtype")"}}) {
      list_.add(Kind::defect, fmt::format("attend-{}{}", name, suffix), mechanism, spec_text(claim, arithmetic),
                plain_other(change));
    }
  }

  void score(const std::string& name, const std::string& mechanism, const Claim& claim,
             const std::function<double(double score, const Seen& seen)>& score) {
    add(name, mechanism, claim, [score](PlainOther& attention) { attention.finish_score = score; });
  }

 private:
  LocalFaults& list_;
};

void left_out(Defects& list) {
  for (const std::int64_t head_dim : {16, 256}) {
    const std::string width = fmt::format("-{}", head_dim);
    list.add("rope-left-out" + width, "rope is left out", with_rope(head_dim),
             [](PlainOther& plain) { plain.use_position = false; });
    list.add("alibi-left-out" + width, "the bias of alibi is left out", with_alibi(head_dim),
             [](PlainOther& plain) { plain.use_position = false; });
    list.add("scale-left-out" + width, "scores are not divided by the root of head_dim", plain(head_dim),
             [](PlainOther& plain) { plain.score_scale = 1; });
  }
  list.add("t5-left-out", "the relative bias is left out", with_t5(),
           [](PlainOther& plain) { plain.use_position = false; });
  list.add("not-normalised", "weights are divided by the number of keys", plain(),
           [](PlainOther& plain) { plain.normalise = false; });
  list.score("factor-left-out", "yarn's attention factor is left out", with_yarn(64), [](double score, const Seen&) {
    const double factor = 0.1 * std::log(16.0) + 1;
    return score / (factor * factor);
  });
}

void halved(Defects& list) {
  list.add("scale-halved", "the scale of the scores is half of what it is", plain(64),
           [](PlainOther& plain) { plain.score_scale /= 2; });
  list.add("scale-of-two-heads", "the scale is that of a head twice as wide", plain(128),
           [](PlainOther& plain) { plain.score_scale /= std::sqrt(2.0); });
  list.add("alibi-halved", "the bias of alibi is halved", with_alibi(),
           [](PlainOther& plain) { plain.bias_scale = 0.5; });
  list.add("t5-halved", "the relative bias is halved", with_t5(), [](PlainOther& plain) { plain.bias_scale = 0.5; });
  list.add("rope-halved", "queries and keys stand at half their positions", with_rope(64),
           [](PlainOther& plain) { plain.turned_by = [](std::int64_t p, Role) { return p / 2; }; });
}

void crossed(Defects& list) {
  list.add("key-unrotated", "queries are rotated, keys are not", with_rope(64),
           [](PlainOther& plain) { plain.rotate_keys = false; });
  list.add("key-turned-back", "keys turn the other way", with_rope(64), [](PlainOther& plain) {
    plain.turned_by = [](std::int64_t p, Role role) { return role == Role::query ? p : -p; };
  });
  list.add("query-one-further", "queries stand one further on than keys", with_rope(64), [](PlainOther& plain) {
    plain.turned_by = [](std::int64_t p, Role role) { return role == Role::query ? p + 1 : p; };
  });
  list.add("values-rotated", "values are rotated like keys", with_rope(),
           [](PlainOther& plain) { plain.rotate_values = true; });
  list.add("first-batch-keys", "every batch row reads the keys of the first", plain(),
           [](PlainOther& plain) { plain.first_batch_keys = true; });
  list.add("places", "a token's place is taken for its position", with_rope(),
           [](PlainOther& plain) { plain.places = true; });
}

void wrong_groups(Defects& list) {
  const auto reads = [&](const std::string& name, const std::string& mechanism, const Claim& claim,
                         const std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t)>& kv_head) {
    list.add(name, mechanism, claim, [kv_head](PlainOther& plain) { plain.kv_head_of = kv_head; });
  };
  reads("groups-in-turn", "query heads read the key heads in turn, not in groups of 3", grouped(6, 2),
        [](std::int64_t head, std::int64_t, std::int64_t kv_heads) { return head % kv_heads; });
  reads("groups-of-7", "in groups of 7 the last head reads the next group's keys", grouped(14, 2),
        [](std::int64_t head, std::int64_t, std::int64_t kv_heads) { return std::min((head + 1) / 7, kv_heads - 1); });
  reads("groups-of-8", "in groups of 8 the second group reads the first one's keys", grouped(16, 2),
        [](std::int64_t, std::int64_t, std::int64_t) -> std::int64_t { return 0; });
}

void tiles_and_windows(Defects& list) {
  list.score("keys-from-64", "keys from the 65th on are not seen", plain(),
             [](double score, const Seen& seen) { return seen.key >= 64 ? never : score; });
  list.score("key-tail", "keys after the last tile of 16 are not seen", plain(), [](double score, const Seen& seen) {
    return seen.key >= 16 && seen.key >= seen.tokens / 16 * 16 ? never : score;
  });
  list.score("not-rescaled", "the running maximum is not carried into tiles from the second on", plain(),
             [](double score, const Seen& seen) { return seen.key >= 64 ? score + 1 : score; });
  list.score("window-of-63", "keys more than 63 before the query are not seen", causal(),
             [](double score, const Seen& seen) { return seen.query - seen.key > 63 ? never : score; });
  list.score("own-key-hidden", "beyond the first tile of 32 a query does not see its own key", causal(),
             [](double score, const Seen& seen) { return seen.query >= 32 && seen.query == seen.key ? never : score; });
}

void masks(Defects& list) {
  list.add("mask-one-late", "a query sees one key more than the causal mask allows", causal(),
           [](PlainOther& plain) { plain.seen_ahead = 1; });
  list.add("mask-forgotten", "the causal mask is forgotten", causal(),
           [](PlainOther& plain) { plain.seen_ahead = 1 << 20; });
  list.score("mask-one-early", "the causal mask hides a query's own key", causal(),
             [](double score, const Seen& seen) { return seen.query > 0 && seen.key == seen.query ? never : score; });
  list.add("mask-of-later-heads", "heads but the first see one key more", causal(), [](PlainOther& plain) {
    plain.seen_ahead = 1;
    plain.finish_score = [](double score, const Seen& seen) {
      return seen.key <= seen.query || seen.head > 0 ? score : never;
    };
  });
}

void overflows(Defects& list) {
  list.add("greatest-not-subtracted", "the greatest score is not subtracted before the exponential", plain(),
           [](PlainOther& plain) { plain.subtracted = [](std::span<const double>) { return 0.0; }; });
  list.add("first-subtracted", "the first score is subtracted in the greatest one's place", causal(),
           [](PlainOther& plain) { plain.subtracted = [](std::span<const double> scores) { return scores[0]; }; });
  list.score("scores-to-64", "scores beyond 64 are 64", plain(),
             [](double score, const Seen&) { return std::clamp(score, -64.0, 64.0); });
}

// Under the arithmetic that is claimed of the dtype.
void add_honest(LocalFaults& list, Dtype dtype) {
  const std::string name(name_of(dtype));
  const auto control = [&](const std::string& what, const std::string& mechanism, const Claim& claim,
                           const std::string& evaluation, const PlainAttention& how) {
    list.add(Kind::control, fmt::format("attend-{}-{}", what, name), mechanism,
             spec_text(claim, fmt::format(R"("dtype":"{}","evaluation":"{}")", name, evaluation)),
             [how](const Spec& spec) { return how.call(spec); });
  };
  const Claim causal_rope{.is_causal = true, .position = rope(16)};
  control("float32", "float32 inside, one rounding at the end", grouped(6, 2), "float32", {});
  control("rope-rounded", "turned queries and keys are rounded, all else is float32", with_rope(64), "float32", {});
  control("cast-table", "queries and keys are turned by a table that is rounded, all else is float32", with_rope(64),
          "table", {.table = dtype});
  control("tiles", "an online softmax over tiles of 64 keys", causal_rope, "float32", {.tile = 64});
  control("key-by-key", "an online softmax, key by key", causal(), "float32", {.tile = 1});
  control("split", "keys in four parts, whose results are joined", plain(), "float32", {.parts = 4});
  control("powers-of-two", "exponentials of base two", with_rope(), "float32", {.powers_of_two = true});
  control("flash", "tiles, and weights rounded before they multiply values", causal_rope, "dtype",
          {.weights = dtype, .tile = 64});
  control("split-rounded", "the same in three parts", with_rope(128), "dtype",
          {.weights = dtype, .tile = 64, .parts = 3});
  const PlainAttention native{.operations = dtype, .weights = dtype, .divided = PlainAttention::Divided::weight};
  control("native", "every operation on tensors is rounded", plain(), "dtype", native);
  control("native-rope", "the same, with rope", with_rope(64), "dtype", native);
  control("native-causal", "the same, causal", causal_rope, "dtype", native);
  control("native-prescaled", "queries are scaled before the product", with_rope(), "dtype",
          {.operations = dtype, .weights = dtype, .scaled = PlainAttention::Scaled::query});
  // In bfloat16 a sum of some hundred terms has no bound to speak of.
  if (dtype == Dtype::float16)
    control("native-sums", "sums are rounded too, term by term", plain(8), "dtype-accumulate",
            {.operations = dtype, .weights = dtype, .sums = dtype});
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  Defects defects(list);
  left_out(defects);
  halved(defects);
  crossed(defects);
  wrong_groups(defects);
  tiles_and_windows(defects);
  masks(defects);
  overflows(defects);
  add_honest(list, Dtype::bfloat16);
  add_honest(list, Dtype::float16);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::attention_dtype_mutants
