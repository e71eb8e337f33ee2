#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "properties/mutants/plain_attention.hpp"
#include "properties/mutants/plain_others.hpp"

// Queries scaled by their positions: what goes wrong with the logarithm's argument, with whose position it is, and with
// what is multiplied.

namespace sextant::mutants::query_scale_mutants {
namespace {

constexpr double amount = 0.1;

std::string claim_of(const std::string& fields, const std::string& dtype = "float32",
                     const std::string& evaluation = "float32") {
  return fmt::format(R"({{"encoding":"attention","num_heads":2,"num_kv_heads":1,"head_dim":16,"causal":true,{},)"
                     R"("max_position":131072,"dtype":"{}","evaluation":"{}"}})",
                     fields, dtype, evaluation);
}
// Llama 4's layers without rotation, and Ministral 3's, with its rotation.
constexpr const char* llama_fields = R"("query_scale":{"amount":0.1,"period":8192,"offset":1})";
constexpr const char* ministral_fields =
    R"("position":{"encoding":"rope","head_dim":16},"query_scale":{"amount":0.1,"period":16384,"offset":0})";
constexpr const char* qwen_fields = R"("query_scale":{"rule":"log_n","length":8192,"offset":1})";
const std::string llama = claim_of(llama_fields);
const std::string qwen = claim_of(qwen_fields);
const std::string ministral = claim_of(ministral_fields);
const std::string capped = claim_of(R"("logit_softcap":2,"query_scale":{"amount":0.1,"period":8192,"offset":1})");

double scale_of(double periods) { return 1 + amount * std::log1p(periods); }
double periods_at(std::int64_t position) { return std::floor(static_cast<double>(position + 1) / 8192); }
double scale_at(std::int64_t position) { return scale_of(periods_at(position)); }

using Scale = std::function<double(const Seen& seen)>;

PlainOthers::Change scaled_by(const Scale& scale) {
  return [scale](PlainOther& plain) { plain.query_scale = scale; };
}

void arguments(PlainOthers& list) {
  const auto periods = [&](std::string name, std::string mechanism, const std::function<double(double quotient)>& of) {
    list.defect(std::move(name), "F13", std::move(mechanism), llama, scaled_by([of](const Seen& seen) {
                  return scale_of(of(static_cast<double>(seen.query_position + 1) / 8192));
                }));
  };
  periods("query-scale-ceil", "periods that have begun are counted",
          [](double quotient) { return std::ceil(quotient); });
  periods("query-scale-round", "periods are rounded", [](double quotient) { return std::round(quotient); });
  periods("query-scale-smooth", "parts of periods count", [](double quotient) { return quotient; });
  periods("query-scale-late-border", "the third period begins one position late",
          [](double quotient) { return quotient == 3 ? 2 : std::floor(quotient); });
  periods("query-scale-one-period", "no more than one period is counted",
          [](double quotient) { return std::min(std::floor(quotient), 1.0); });
  const auto factor = [&](std::string name, std::string mechanism, const std::function<double(double periods)>& of) {
    list.defect(std::move(name), "F13", std::move(mechanism), llama,
                scaled_by([of](const Seen& seen) { return of(periods_at(seen.query_position)); }));
  };
  factor("query-scale-log2", "the logarithm is to base 2", [](double n) { return 1 + amount * std::log2(1 + n); });
  factor("query-scale-log10", "the logarithm is to base 10", [](double n) { return 1 + amount * std::log10(1 + n); });
  factor("query-scale-log-of-periods", "the logarithm is of the periods, not of one more",
         [](double n) { return 1 + amount * std::log(std::max(n, 1.0)); });
  factor("query-scale-without-one", "the logarithm alone multiplies, where it is not 0",
         [](double n) { return n == 0 ? 1 : amount * std::log1p(n); });
  factor("query-scale-bfloat16", "the scale is rounded to bfloat16 in a float32 model",
         [](double n) { return round_to(Dtype::bfloat16, scale_of(n)); });
  list.defect("query-scale-from-0", "F13", "positions are counted from 0, where the claim counts from 1", llama,
              scaled_by([](const Seen& seen) {
                return scale_of(std::floor(static_cast<double>(seen.query_position) / 8192));
              }));
  list.defect("query-scale-from-1", "F13", "positions are counted from 1, where the claim counts from 0", ministral,
              scaled_by([](const Seen& seen) {
                return scale_of(std::floor(static_cast<double>(seen.query_position + 1) / 16384));
              }));
  list.defect("query-scale-by-served-length", "F13", "the period is the length served, not that of the pretraining",
              ministral, scaled_by([](const Seen& seen) {
                return scale_of(std::floor(static_cast<double>(seen.query_position) / 131072));
              }));
}

void places(PlainOthers& list) {
  const auto place = [&](std::string name, std::string row, std::string mechanism,
                         const std::function<std::int64_t(const Seen& seen)>& of) {
    list.defect(std::move(name), std::move(row), std::move(mechanism), llama,
                scaled_by([of](const Seen& seen) { return scale_at(of(seen)); }));
  };
  place("query-scale-by-number", "H1", "a query's number in its call is taken for its position",
        [](const Seen& seen) { return seen.number; });
  place("query-scale-by-index", "H17", "a query's index in its sequence is taken for its position",
        [](const Seen& seen) { return seen.query; });
  place("query-scale-rows-alike", "H6", "every batch row has the first one's scales",
        [](const Seen& seen) { return seen.in_first_row; });
  place("query-scale-one-for-call", "", "all queries of a call have the first one's scale",
        [](const Seen& seen) { return seen.query_position - seen.number; });
}

void factors(PlainOthers& list) {
  list.defect("query-scale-left-out", "F12", "queries are not scaled", llama,
              [](PlainOther& plain) { plain.query_scale = nullptr; });
  list.defect("query-scale-left-out-with-rope", "F12", "queries that turn are not scaled", ministral,
              [](PlainOther& plain) { plain.query_scale = nullptr; });
  list.defect(
      "query-scale-twice", "F13", "queries are scaled, and the scores again", llama,
      scaled_by([](const Seen& seen) { return scale_at(seen.query_position) * scale_at(seen.query_position); }));
  list.defect("query-scale-keys-too", "F13", "keys are scaled by their positions too", llama,
              scaled_by([](const Seen& seen) { return scale_at(seen.query_position) * scale_at(seen.key_position); }));
  list.defect("query-scale-keys-instead", "F13", "keys are scaled by their positions, not queries", llama,
              scaled_by([](const Seen& seen) { return scale_at(seen.key_position); }));
  list.defect("query-scale-first-head", "", "heads after the first are not scaled", llama,
              scaled_by([](const Seen& seen) { return seen.head == 0 ? scale_at(seen.query_position) : 1; }));
  list.defect("query-scale-after-softcap", "", "capped scores are scaled", capped, [](PlainOther& plain) {
    plain.query_scale = nullptr;
    plain.finish_score = [](double score, const Seen& seen) { return score * scale_at(seen.query_position); };
  });
}

// Qwen 1's, the logarithm of a query's number to the base of the trained length.
double log_n_scale(double n) { return n > 8192 ? std::log(n) / std::log(8192) : 1; }
double number_of(std::int64_t position) { return static_cast<double>(position + 1); }

void logarithms_of_numbers(PlainOthers& list) {
  const auto factor = [&](std::string name, std::string row, std::string mechanism, const Scale& of) {
    list.defect("query-scale-log-n-" + std::move(name), std::move(row), std::move(mechanism), qwen, scaled_by(of));
  };
  list.defect("query-scale-log-n-left-out", "F14", "queries are not scaled", qwen,
              [](PlainOther& plain) { plain.query_scale = nullptr; });
  factor("from-0", "F14", "positions are counted from 0, where the claim counts from 1",
         [](const Seen& seen) { return log_n_scale(static_cast<double>(seen.query_position)); });
  factor("from-2", "F14", "positions are counted from 2, where the claim counts from 1",
         [](const Seen& seen) { return log_n_scale(number_of(seen.query_position) + 1); });
  factor("below-1", "F14", "earlier queries are scaled down",
         [](const Seen& seen) { return std::log(number_of(seen.query_position)) / std::log(8192); });
  factor("natural", "F14", "the logarithm is natural",
         [](const Seen& seen) { return seen.query_position < 8192 ? 1 : std::log(number_of(seen.query_position)); });
  factor("by-served-length", "F14", "the base is the length served, not that of the training",
         [](const Seen& seen) { return std::max(std::log(number_of(seen.query_position)) / std::log(131072), 1.0); });
  factor("smooth", "F14", "a root in place of the logarithm", [](const Seen& seen) {
    return std::max(std::pow(number_of(seen.query_position) / 8192, 1 / std::log(8192)), 1.0);
  });
  factor("by-number", "H1", "a query's number in its call is taken for its position",
         [](const Seen& seen) { return log_n_scale(number_of(seen.number)); });
  factor("keys-too", "F14", "keys are scaled by their positions too", [](const Seen& seen) {
    return log_n_scale(number_of(seen.query_position)) * log_n_scale(number_of(seen.key_position));
  });
  factor("bfloat16", "F14", "the scale is rounded to bfloat16 in a float32 model",
         [](const Seen& seen) { return round_to(Dtype::bfloat16, log_n_scale(number_of(seen.query_position))); });
}

void honest(PlainOthers& list) {
  const auto control = [&](std::string name, std::string mechanism, std::string spec, const PlainAttention& how) {
    list.entries.push_back({std::move(name), Kind::control, "", std::move(mechanism), std::move(spec),
                            [how](const Spec& claimed) { return how.call(claimed); }});
  };
  control("query-scale-float32", "float32 throughout", llama, {});
  control("query-scale-float32-with-rope", "float32 throughout, after the rotation", ministral, {});
  control("query-scale-float64", "double throughout", claim_of(llama_fields, "float64"),
          {.operations = Dtype::float64, .weights = Dtype::float64, .sums = Dtype::float64});
  control("query-scale-product-in-float32", "a float32 scale, and the query rounded to bfloat16 after",
          claim_of(llama_fields, "bfloat16"), {});
  control("query-scale-cast", "a float32 scale, rounded to bfloat16 before it multiplies, and every operation rounded",
          claim_of(llama_fields, "bfloat16", "dtype"),
          {.operations = Dtype::bfloat16,
           .weights = Dtype::bfloat16,
           .divided = PlainAttention::Divided::weight,
           .query_scale = Dtype::bfloat16});
  control("query-scale-log-n-float32", "float32 throughout, the logarithm of a query's number", qwen, {});
  control("query-scale-log-n-float64", "double throughout", claim_of(qwen_fields, "float64"),
          {.operations = Dtype::float64, .weights = Dtype::float64, .sums = Dtype::float64});
  control("query-scale-log-n-cast", "a float32 scale, rounded to bfloat16 before it multiplies",
          claim_of(qwen_fields, "bfloat16", "dtype"),
          {.operations = Dtype::bfloat16,
           .weights = Dtype::bfloat16,
           .divided = PlainAttention::Divided::weight,
           .query_scale = Dtype::bfloat16});
  control("query-scale-cast-with-rope", "the same after a rotation, weights alone rounded",
          claim_of(ministral_fields, "bfloat16", "dtype"),
          {.weights = Dtype::bfloat16, .query_scale = Dtype::bfloat16});
}

}  // namespace

std::vector<Mutant> all() {
  PlainOthers list;
  arguments(list);
  places(list);
  factors(list);
  logarithms_of_numbers(list);
  honest(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::query_scale_mutants
