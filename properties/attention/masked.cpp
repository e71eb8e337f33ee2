#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "properties/attention/steps.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/row_agreement.hpp"

// NaN and infinity in keys and values: a call is asked, some of them become that, and it is asked again. What does not
// see them keeps its bits; what sees a NaN shows it.

namespace sextant {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What a key or a value becomes.
struct Poison {
  enum class In { key, value };
  In in;
  double value;
};
constexpr std::array poisons{Poison{Poison::In::value, std::numeric_limits<double>::quiet_NaN()},
                             Poison{Poison::In::key, std::numeric_limits<double>::quiet_NaN()},
                             Poison{Poison::In::value, infinity}, Poison{Poison::In::key, infinity}};

// Queries that are no further from a key see it with a weight that no dtype loses, however steep a bias is.
constexpr std::int64_t surely_weighted = 8;

// A question, and which token of which batch row and group is poisoned, counted round, with what.
struct Poisoned : Question {
  std::int64_t token = 0;
  std::int64_t poison = 0;
};

struct PlaceOfKey {
  std::int64_t batch;
  std::int64_t kv;
  std::int64_t token;
};

PlaceOfKey place_of(const Attention& encoding, const AttentionCase& request, const Poisoned& asked) {
  const std::int64_t group = asked.fill % (request.batch * encoding.num_kv_heads);
  return {group / encoding.num_kv_heads, group % encoding.num_kv_heads, asked.token % request.tokens};
}

AttentionCase poisoned(const Attention& encoding, AttentionCase request, const PlaceOfKey& at, const Poison& poison) {
  Tensor& tensor = poison.in == Poison::In::key ? request.k : request.v;
  const std::int64_t row = (at.batch * encoding.num_kv_heads + at.kv) * request.tokens + at.token;
  for (std::int64_t c = 0; c < encoding.head_dim; ++c) tensor.set(row * encoding.head_dim + c, poison.value);
  return request;
}

// Of each query: whether it sees the poison, and whether it must show it. Rows of padding are neither.
enum class Duty { none, unchanged, shown };

// What changes a row that does not see what was changed, as far as the new value tells.
constexpr std::string_view masked_key = "it has a weight, or a mask is added to its score, which stays NaN";
constexpr std::string_view masked_value = "it has a weight, or is multiplied by a weight of 0, which makes NaN";
constexpr std::string_view has_a_weight = "it has a weight";

template <class DutyOf, class Cause>
Judgement judge_rows(const Attention& encoding, const AttentionCase& request, const Tensor& clean, const Tensor& after,
                     const DutyOf& duty_of, const Cause& cause) {
  Judgement judgement;
  const std::int64_t queries = request.queries();
  for (std::int64_t row = 0; row < request.batch * encoding.num_heads * queries; ++row) {
    const std::int64_t batch = row / queries / encoding.num_heads;
    const std::int64_t head = row / queries % encoding.num_heads;
    const std::int64_t query = row % queries;
    const Duty duty = duty_of(batch, head, query);
    if (duty == Duty::none) continue;
    for (std::int64_t c = 0; c < encoding.head_dim; ++c) {
      const double was = clean.at(row * encoding.head_dim + c);
      const double is = after.at(row * encoding.head_dim + c);
      const bool is_right = duty == Duty::shown ? !std::isfinite(is) : same_or_nan(was, is);
      const auto place = [&] {
        return fmt::format("batch row {}, head {}, token {}, channel {}", batch, head, query, c);
      };
      judgement.add_exact(is_right ? std::nullopt
                          : duty == Duty::shown
                              ? std::optional(fmt::format("{}: {}, though a key that it sees is NaN", place(),
                                                          value_text(clean.dtype, is)))
                              : std::optional(fmt::format("{}: {} became {}, {}", place(), value_text(clean.dtype, was),
                                                          value_text(clean.dtype, is), cause(batch, head, is))),
                          [&] { return place() + ": as it was"; });
    }
  }
  if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "no token sees what was changed"; });
  return judgement;
}

CasesOf<Poisoned> poisoned_cases() {
  CasesOf<Poisoned> cases = questions<Poisoned>(
      {{"token", FieldRole::choice, &Poisoned::token, [](const Spec&) { return std::int64_t{300}; }},
       {"poison", FieldRole::choice, &Poisoned::poison, [](const Spec&) { return std::ssize(poisons); }}});
  const auto longest = of<Attention>(
      [](const Spec&, const Attention& e) { return std::min<std::int64_t>(longest_tokens(e, work_of_drawn), 300); });
  cases.fields = [fields = cases.fields, longest](const Spec& spec) {
    std::vector<FieldOf<Poisoned>> list = fields(spec);
    for (FieldOf<Poisoned>& field : list) {
      if (field.member == &Poisoned::tokens) field.range.most = longest(spec);
      if (field.member == &Poisoned::batch) field.range.most = 3;
    }
    return list;
  };
  cases.first = [longest](const Spec& spec) {
    std::vector<Poisoned> list;
    const std::int64_t near = gen::simplest_position({spec.min_position, last_position_of(spec)});
    for (const std::int64_t tokens : {2, 5, 16, 17, 33, 65, 129, 257}) {
      for (std::int64_t poison = 0; poison < std::ssize(poisons); ++poison) {
        Poisoned asked;
        asked.position = near;
        asked.tokens = std::min(tokens, longest(spec));
        asked.batch = 1 + poison % 2;
        asked.fill = every_key_counts + poison;
        asked.poison = poison;
        // The last key, which only the last query sees under a causal mask, and one in the middle.
        for (const std::int64_t token : {asked.tokens - 1, asked.tokens / 2}) {
          asked.token = token;
          list.push_back(asked);
        }
      }
    }
    return list;
  };
  cases.drawn = [drawn = cases.drawn, longest](const Spec& spec) {
    return gen::map(drawn(spec), [most = longest(spec)](Poisoned asked) {
      asked.tokens = std::min(asked.tokens, most);
      asked.batch = std::min<std::int64_t>(asked.batch, 3);
      asked.fill = every_key_counts + asked.fill % 100;
      return asked;
    });
  };
  return cases;
}

// The claim's own case, of scores in which every key counts.
Judgement judge_masked(Session& session, const Spec& spec, const Attention& encoding, const Poisoned& asked) {
  const AttentionCase clean = attention_case(spec, asked);
  const Poison& poison = poisons[static_cast<std::size_t>(asked.poison)];
  const PlaceOfKey at = place_of(encoding, clean, asked);
  const Tensor before = attend(session, spec, clean);
  const Tensor after = attend(session, spec, poisoned(encoding, clean, at, poison));
  const auto duty_of = [&](std::int64_t batch, std::int64_t head, std::int64_t query) {
    const bool is_of_group = batch == at.batch && kv_head(encoding, head) == at.kv;
    if (!is_of_group || !clean.seen_by(encoding, batch, query).contains(at.token)) return Duty::unchanged;
    // An infinite key may have the score minus infinity, and then no weight.
    const bool shows = !(poison.in == Poison::In::key && !std::isnan(poison.value));
    return shows && std::abs(query - at.token) <= surely_weighted ? Duty::shown : Duty::none;
  };
  const auto cause = [&](std::int64_t batch, std::int64_t head, double is) {
    const bool is_key = poison.in == Poison::In::key;
    const bool is_other_row = batch != at.batch;
    const bool is_other_head = kv_head(encoding, head) != at.kv;
    const std::string of = is_other_row    ? fmt::format(" of batch row {}", at.batch)
                           : is_other_head ? fmt::format(" of key head {}", at.kv)
                                           : "";
    const std::string what = fmt::format("when {} {}{}, which it does not see, became {}", is_key ? "key" : "value",
                                         at.token, of, poison.value);
    if (is_other_row || is_other_head) return what;
    if (!std::isnan(is)) return fmt::format("{}: {}", what, has_a_weight);
    return fmt::format("{}: {}", what, is_key ? masked_key : masked_value);
  };
  return judge_rows(encoding, clean, before, after, duty_of, cause);
}

Judgement judge_padded(Session& session, const Spec& spec, const Attention& encoding, const Step& asked) {
  const AttentionCase clean = padded_case_of(spec, asked, 0);
  const Tensor before = attend(session, spec, clean);
  const double padding = asked.fill % 2 == 0 ? infinity : std::numeric_limits<double>::quiet_NaN();
  const Tensor after = attend(session, spec, padded_case_of(spec, asked, padding));
  const auto duty_of = [&](std::int64_t batch, std::int64_t, std::int64_t query) {
    return clean.seen_by(encoding, batch, query).count() > 0 ? Duty::unchanged : Duty::none;
  };
  return judge_rows(encoding, clean, before, after, duty_of, [&](std::int64_t, std::int64_t, double is) {
    const std::string what = fmt::format("when padding became {}", padding);
    return std::isnan(is)
               ? fmt::format(
                     "{}: key or value has a weight, or is multiplied by 0 or masked by addition, which makes NaN",
                     what)
               : fmt::format("{}: {}", what, has_a_weight);
  });
}

Judgement with_cure(Judgement judgement, std::string_view cure) {
  if (judgement.within == reference::Certainty::no) judgement.remark = cure;
  return judgement;
}

constexpr const char* bits = "none: the calls differ only in what the tokens do not see, so all bits are equal";

}  // namespace

Property masked_nan_property() {
  Property property;
  property.id = "masked_nan";
  property.level = Level::advice;
  property.explanation = {
      "a NaN or an infinity in a key or a value reaches the tokens that see it, and no others",
      "attend(q, k', v')[t] = attend(q, k, v)[t] where t does not see key j, and is not finite where it does, k' and "
      "v' being k and v with key or value j NaN, or value j infinite",
      "Vaswani et al. 2017, section 3.2.3: what is masked has no part in the sum; IEEE 754: a NaN that is an operand "
      "is the result",
      "attention; advice, since a weight of 0 times NaN is NaN in plain code",
      bits,
      "masks that multiply or add, rows of other heads and batch rows that are read, maxima and exponentials that lose "
      "a NaN, tiles that are skipped by a comparison that NaN fails"};
  property.not_applicable = stated_for<Attention>(accuracy_not_stated);
  use_cases(property, poisoned_cases(), of<Attention>([](const Spec& spec, const Attention& encoding) {
              return CheckOf<Poisoned>([spec, encoding](Session& session, const Poisoned& asked) {
                return with_cure(judge_masked(session, spec, encoding, asked),
                                 "likely fix: where a weight is 0, put 0 in the place of its product with the value");
              });
            }));
  return property;
}

Property padded_nan_property() {
  Property property;
  property.id = "padded_nan";
  property.level = Level::advice;
  property.explanation = {
      "a NaN or an infinity in padding reaches no token",
      "out is the same bit for bit whether the keys and values outside of start_b <= j < end_b are 0, NaN or infinite",
      "memory that nobody has written holds anything: the unused end of a cache, blocks that another sequence left",
      "attention whose subject takes starts and ends; advice, since a weight of 0 times NaN is NaN in plain code",
      bits,
      "padding whose weight is 0 but is multiplied, masks that are added to a score of NaN, tiles read past a row's "
      "end"};
  property.not_applicable = stated_for<Attention>(accuracy_not_stated);
  use_cases(property, padded_calls(), of<Attention>([](const Spec& spec, const Attention& encoding) {
              return CheckOf<Step>([spec, encoding](Session& session, const Step& asked) {
                return with_cure(judge_padded(session, spec, encoding, asked),
                                 "likely fix: set padded keys and values to 0 before anything is multiplied by them");
              });
            }));
  return property;
}

}  // namespace sextant
