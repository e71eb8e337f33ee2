#include "properties/attention/steps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <set>

#include "lib/spec/of.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/extent.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_calls.hpp"
#include "properties/model/attention_scores.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"
#include "properties/model/questions.hpp"

namespace sextant {
namespace {

// Of queries, before all but the last are left out: at most, of the most that is usual, and of those that are drawn.
// Heads of 4096 channels together have 2304 tokens.
constexpr std::int64_t most_values = std::int64_t{9} << 20;
constexpr std::int64_t usual_values = std::int64_t{1} << 17;
constexpr std::int64_t drawn_values = std::int64_t{1} << 15;
constexpr std::int64_t most_step_queries = 257;

std::int64_t values_of_token(const Spec& spec) {
  return of<Attention>([](const Spec&, const Attention& e) { return e.num_heads * e.head_dim; })(spec);
}

// Of queries and keys, in a call of all batch rows.
std::int64_t most_pairs(const Spec& spec) {
  return std::min<std::int64_t>(static_cast<std::int64_t>(work_of_longest) / values_of_token(spec),
                                std::int64_t{1} << 20);
}

// No queries are a whole call.
bool is_small(const Spec& spec, const Step& asked) {
  const std::int64_t queries = asked.queries == 0 ? asked.tokens : asked.queries;
  return asked.batch * asked.tokens * values_of_token(spec) <= most_values &&
         asked.batch * asked.tokens * queries <= most_pairs(spec);
}

std::int64_t longest_of(const Spec& spec) {
  return std::clamp<std::int64_t>(most_values / values_of_token(spec), 1, longest_cache);
}

// Scores of which a bound says something, by turns of each kind: where sums keep 16 bits, few keys count.
std::int64_t fill_of(const Spec& spec, std::int64_t number) {
  const AttentionArithmetic arithmetic(spec);
  const std::int64_t turn = std::isfinite(arithmetic.cap) ? number % 3 : 1 + number % 2;
  if (is_16_bit(arithmetic.operations))
    return one_channel_fill(number, turn == 0 ? beyond_cap : turn == 1 ? few_keys : half_for_one);
  switch (number % 5) {
    case 0: return latest_key_wins + number % 90;
    case 1: return every_key_counts + number % 90;
    case 2: return one_channel_fill(number, turn == 0 ? beyond_cap : half_for_one);
    case 3: return one_channel_fill(number, few_keys);
    default: return 1 + number;
  }
}

// Two kinds of which one tells of each key that is left out, or read, of however many.
std::array<std::int64_t, 2> fills_of_long(const Spec& spec, std::int64_t number) {
  const bool is_fine = !is_16_bit(AttentionArithmetic(spec).operations);
  return {one_channel_fill(number, few_keys),
          is_fine ? every_key_counts + number % 90 : one_channel_fill(number, half_for_one)};
}

// As many rows as come to at most so many values, at least one, at most `most`.
std::int64_t clamped_batch(const Spec& spec, Step& step, std::int64_t most, std::int64_t values) {
  step.queries = std::clamp<std::int64_t>(most_pairs(spec) / step.tokens, 1, step.queries);
  const std::int64_t by_values = values / values_of_token(spec) / step.tokens;
  return std::clamp<std::int64_t>(std::min(by_values, most_pairs(spec) / (step.tokens * step.queries)), 1, most);
}

// The same, asked whole where that is not too much.
Step whole_call(const Spec& spec, Step step) {
  Step whole = step;
  whole.queries = 0;
  return is_small(spec, whole) ? whole : step;
}

class StepList {
 public:
  StepList(const Spec& spec)
      : spec_(spec), first_(gen::simplest_position({spec.min_position, last_position_of(spec)})) {}

  // Where the calls that follow begin.
  void begin_at(std::int64_t position) { first_ = position; }

  void add(std::int64_t tokens, std::int64_t queries, std::int64_t batch = 1) {
    add_filled(tokens, queries, batch, usual_values, fill_of(spec_, std::ssize(list_)));
  }

  // As many batch rows as any call has room for.
  void add_rows(std::int64_t tokens, std::int64_t batch) {
    add_filled(tokens, 1, batch, most_values, fill_of(spec_, std::ssize(list_)));
  }

  // Scores below finite numbers that masks may have.
  void add_below_masks(std::int64_t tokens, std::int64_t queries, std::int64_t batch) {
    add_filled(tokens, queries, batch, usual_values, below_masks + std::ssize(list_) % below_masks_count);
  }

  // Of so many keys that few of them say little together.
  void add_long(std::int64_t tokens, std::int64_t queries) {
    if (tokens > longest_of(spec_)) return;
    for (const std::int64_t fill : fills_of_long(spec_, std::ssize(list_)))
      add_filled(tokens, queries, 1, most_values, fill);
  }

  // A prompt, then one token after the other; three at once, of which one is taken; and back to a shorter sequence.
  void add_session(std::int64_t prompt, std::int64_t batch) {
    add(prompt, prompt, batch);
    for (std::int64_t token = 1; token <= 3; ++token) add(prompt + token, 1, batch);
    add(prompt + 6, 3, batch);
    add(prompt + 5, 1, batch);
    add(prompt, 1, batch);
  }

  std::vector<Step> taken() { return std::move(list_); }

 private:
  void add_filled(std::int64_t tokens, std::int64_t queries, std::int64_t batch, std::int64_t values,
                  std::int64_t fill) {
    Step step;
    step.position = first_;
    step.tokens = std::min(tokens, longest_of(spec_));
    step.queries = std::min(queries, step.tokens);
    step.batch = clamped_batch(spec_, step, batch, values);
    step.fill = fill;
    step.side = std::ssize(list_) % padded_sides;
    list_.push_back(step);
  }

  const Spec& spec_;
  std::int64_t first_;
  std::vector<Step> list_;
};

std::vector<Step> first_steps(const Spec& spec) {
  StepList list(spec);
  list.add(1, 1);
  list.add(2, 1);
  list.add_session(16, 1);
  list.add_session(5, 3);
  // A long prompt in chunks.
  for (const std::int64_t end : {64, 128, 192, 200}) list.add(end, end % 64 == 0 ? 64 : end % 64, 2);
  list.add_session(200, 2);
  // Three, since whole calls with padding take every third step.
  for (const std::int64_t queries : {1, 3, 5}) {
    for (const std::int64_t tokens : {9, 12, 16}) list.add_below_masks(tokens, queries, 2);
  }
  // Tiles of queries, and what is left of the last.
  for (const std::int64_t queries : {2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 100})
    list.add(2 * queries + 7, queries, 2);
  for (const std::int64_t queries : {127, 128, 129, 255, 256, 257, 512}) list.add(2 * queries + 7, queries);
  // Those that are split among blocks of threads.
  for (const std::int64_t tokens : {512, 1025, 2049, 4096}) {
    for (const std::int64_t queries : {1, 3}) list.add_long(tokens, queries);
  }
  // Windows that have just begun to move, and those that have left the beginning behind.
  if (const auto window = of<Attention>([](const Spec&, const Attention& e) { return e.window; })(spec)) {
    for (const std::int64_t tokens : {*window, *window + 1, *window + 2, *window + 5, 2 * *window + 3}) {
      for (const std::int64_t queries : {1, 2, 6}) list.add_long(tokens, queries);
    }
  }
  // Every number of batch rows, of wide heads those beside powers of two.
  for (std::int64_t batch = 1; batch <= most_rows; ++batch) {
    constexpr std::int64_t few = 16;
    const std::int64_t tokens = batch <= few ? 33 : 5;
    const bool is_dear = batch * tokens * values_of_token(spec) > 2 * usual_values;
    const bool is_usual = std::has_single_bit(static_cast<std::uint64_t>(batch - 1)) ||
                          std::has_single_bit(static_cast<std::uint64_t>(batch)) ||
                          std::has_single_bit(static_cast<std::uint64_t>(batch + 1));
    if (is_usual || !is_dear) list.add_rows(tokens, batch);
  }
  // Sessions that grow over the length at which other frequencies begin.
  if (const auto limit = model_of(spec)->switching_length()) {
    for (const auto& [prompt, batch] : {std::pair{16, 1}, {9, 3}}) {
      list.begin_at(std::max(*limit - prompt - 1, spec.min_position));
      list.add_session(prompt, batch);
    }
  }
  // Sessions that grow over positions from which queries are scaled by more, and rows of which some are beyond.
  const auto borders = of<Attention>([](const Spec& claimed, const Attention& e) {
    return query_scale_borders(e, {claimed.min_position, last_position_of(claimed)});
  })(spec);
  for (const std::int64_t border : borders) {
    list.begin_at(std::max(border - 10, spec.min_position));
    list.add_session(9, 1);
    list.begin_at(std::max(border - 6, spec.min_position));
    list.add_session(5, 2);
  }
  return list.taken();
}

// Every number of keys up to some pages, then those that pages of usual sizes have.
std::vector<Step> steps_of_each_length(const Spec& spec) {
  constexpr std::int64_t each_up_to = 130;
  constexpr std::int64_t pages_up_to = 512;
  StepList list(spec);
  std::set<std::int64_t> lengths;
  for (std::int64_t tokens = 1; tokens <= pages_up_to; ++tokens) {
    if (tokens <= each_up_to || tokens % 16 == 0 || tokens % 20 == 0) lengths.insert(tokens);
  }
  for (std::int64_t page = 128; page <= pages_up_to / 2; page *= 2) lengths.insert({page - 1, page + 1});
  // Two or three of the larger pages.
  for (const std::int64_t page : {200, 256, 320, 384, 400, 448, 512}) lengths.insert({2 * page, 3 * page});
  for (const std::int64_t tokens : gen::usual_extents()) {
    if (tokens <= pages_up_to) lengths.insert(tokens);
  }
  for (const std::int64_t tokens : lengths) list.add(tokens, 1);
  return list.taken();
}

// What an honest answer to padding of this size is least like.
double finite_padding(const Spec& spec) { return is_16_bit(spec.dtype) ? 240 : 1e4; }

// Judges answers to calls that `make` makes of cases.
template <class Make>
auto check_of(const Spec& spec, Make make) {
  return [spec, make, model = std::shared_ptr<const EncodingModel>(model_of(spec)),
          judge = std::shared_ptr<Judge>(model_of(spec)->judge())](Session& session, const Step& asked) {
    const Call call = call_of(make(spec, asked), asked.fill);
    return judge->values(call, model->ask(session, call));
  };
}

constexpr const char* bound_of_outputs = "docs/proofs/attention-oracle.md, as accuracy";

}  // namespace

CasesOf<Step> steps() {
  CasesOf<Step> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Step>> {
    return {{"position", FieldRole::position, &Step::position, {spec.min_position, last_position_of(spec) - 1}},
            {"tokens", FieldRole::run, &Step::tokens, {1, longest_of(spec)}},
            {"queries", FieldRole::count, &Step::queries, {1, longest_of(spec)}},
            {"batch", FieldRole::batch, &Step::batch, {1, most_rows}},
            {"fill", FieldRole::fill, &Step::fill, any_fill}};
  };
  cases.related = [](const Spec& spec, const Step& asked) {
    return asked.queries <= asked.tokens && is_small(spec, asked);
  };
  cases.first = [](const Spec& spec) {
    std::vector<Step> list = first_steps(spec);
    for (const Step& step : steps_of_each_length(spec)) list.push_back(step);
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    const gen::PositionRange range{spec.min_position, last_position_of(spec)};
    const auto parts = gen::tuple(gen::position(range), gen::count(0, 1 << 20), gen::count(0, 1 << 20),
                                  gen::count(1, 5), gen::count(0, 1 << 16));
    return gen::map(parts, [spec, longest = longest_of(spec)](const auto& drawn) {
      const auto& [position, tokens, queries, batch, fill] = drawn;
      constexpr std::int64_t one_long_in = 16;
      constexpr std::int64_t short_call = 40;
      Step step;
      step.position = position;
      step.tokens = 1 + tokens % std::min(longest, fill % one_long_in == 0 ? most_step_queries : short_call);
      // One token is what is asked most.
      step.queries = fill % 2 == 0 ? 1 : 1 + queries % std::min(step.tokens, most_step_queries);
      step.batch = clamped_batch(spec, step, batch, drawn_values);
      step.fill = fill_of(spec, fill);
      step.side = fill % padded_sides;
      return step;
    });
  };
  return cases;
}

CasesOf<Step> padded_calls() {
  CasesOf<Step> cases = steps();
  cases.fields = [fields = cases.fields](const Spec& spec) {
    std::vector<FieldOf<Step>> list = fields(spec);
    for (FieldOf<Step>& field : list) {
      if (field.member == &Step::queries) field.range.least = 0;
    }
    list.push_back({"side", FieldRole::choice, &Step::side, {0, padded_sides - 1}});
    return list;
  };
  cases.first = [](const Spec& spec) {
    std::vector<Step> list = first_steps(spec);
    // A cache's unused end, and whole calls of rows of different lengths.
    for (std::size_t i = 1; i < list.size(); i += 3) list[i] = whole_call(spec, list[i]);
    return list;
  };
  cases.drawn = [drawn = cases.drawn](const Spec& spec) {
    return gen::map(drawn(spec),
                    [spec](const Step& step) { return step.fill % 3 == 0 ? whole_call(spec, step) : step; });
  };
  return cases;
}

namespace {

// The sequence that a step is of, or that is padded. Positions of some have gaps: of those that have none indices say
// as much, to what sees distances alone.
AttentionCase sequence_of(const Spec& spec, const Step& asked) {
  AttentionCase whole = attention_case(spec, asked);
  if (asked.fill % spread_in == runs_fill) space_runs(whole, {spec.min_position, last_position_of(spec)});
  return whole;
}

}  // namespace

AttentionCase step_case_of(const Spec& spec, const Step& asked) {
  AttentionCase whole = sequence_of(spec, asked);
  // Sequences of one batch are seldom of one length.
  if (asked.fill % 2 == 1) part_rows(whole, {spec.min_position, last_position_of(spec)});
  return last_of(whole, asked.queries);
}

AttentionCase padded_case_of(const Spec& spec, const Step& asked, double padding) {
  const std::int64_t kept = std::max<std::int64_t>(asked.queries, 1);
  const AttentionCase whole =
      with_padding(sequence_of(spec, asked), static_cast<PaddedSide>(asked.side), kept, asked.fill, padding);
  return asked.queries == 0 ? whole : last_of(whole, asked.queries);
}

Property decode_property() {
  Property property;
  property.id = "decode";
  property.explanation = {
      "the last tokens of a sequence come out right when they alone are asked about",
      "with queries i of the tokens m - n .. m - 1 and all m keys: out_i = softmax(q_i K^T scale + bias) V, positions "
      "being the tokens' own, masks those of their places among the keys",
      "Vaswani et al. 2017, section 3.2.1; Shazeer 2019 (arXiv 1911.02150), section 2.4: incremental inference",
      "attention whose subject takes query_positions",
      bound_of_outputs,
      "positions counted from 0 in every step, one too far, or alike in all batch rows; a causal mask that begins at "
      "the "
      "first key; cached keys rotated twice, or new ones not at all; caches that end at a page; a bias by index"};
  property.not_applicable = stated_for<Attention>(accuracy_not_stated);
  use_cases(property, steps(), [](const Spec& spec) { return check_of(spec, step_case_of); });
  return property;
}

Property padding_property() {
  Property property;
  property.id = "padding";
  property.explanation = {
      "what stands in padding reaches no token",
      "with the keys start_b <= j < end_b of batch row b as its sequence: out is that of those keys alone, whatever "
      "the others hold",
      "Vaswani et al. 2017, section 3.2.3: what is masked has the score minus infinity",
      "attention whose subject takes starts and ends; steps, and whole calls, whose rows of padding are not judged",
      bound_of_outputs,
      "padding that is read, by one token or in one batch row; lengths of the first row used for all; a mask of a "
      "finite score, a causal mask by index that ignores where a row begins; unused ends of caches"};
  property.not_applicable = stated_for<Attention>(accuracy_not_stated);
  use_cases(property, padded_calls(), [](const Spec& spec) {
    const auto check = check_of(spec, [padding = finite_padding(spec)](const Spec& of, const Step& asked) {
      return padded_case_of(of, asked, padding);
    });
    return [check](Session& session, const Step& asked) {
      Judgement judgement = check(session, asked);
      judgement.least_coordinate.reset();  // which tokens see padding does not depend on their positions
      return judgement;
    };
  });
  return property;
}

}  // namespace sextant
