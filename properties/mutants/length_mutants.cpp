#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_others.hpp"
#include "reference/rope.hpp"

// Scaling rules that look at a length, in calls whose batch rows have several: the claim says whose is meant, and
// implementations take another one.

namespace sextant::mutants::length_mutants {
namespace {

constexpr const char* dynamic = R"("rope_type":"dynamic","factor":4,"original_max_position_embeddings":2048)";
constexpr const char* longrope = R"("rope_type":"longrope","attention_factor":1.25,)"
                                 R"("original_max_position_embeddings":2048,)"
                                 R"("short_factor":[1,1.1,1.3,2],"long_factor":[1.2,4,18,30])";

std::string rope_of(const std::string& rule, const std::string& scope) {
  return fmt::format(R"("encoding":"rope","head_dim":8,"rope_scaling":{{{},"length_scope":"{}"}})", rule, scope);
}
std::string claim_of(const std::string& rule, const std::string& scope) {
  return fmt::format(R"({{{},"max_position":8192}})", rope_of(rule, scope));
}
std::string attention_of(const std::string& rule, const std::string& scope) {
  return fmt::format(
      R"({{"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,"position":{{{}}},"max_position":8192}})",
      rope_of(rule, scope));
}

// The lengths that a defect takes for those of the rows.
struct Misread {
  const char* name;
  const char* scope;
  const char* mechanism;
  RowLengths lengths;
};

RowLengths scope_of(LengthScope scope) {
  return [scope](std::span<const std::int64_t> positions, std::int64_t batch) {
    return reference::row_lengths(scope, positions, batch);
  };
}

// That of one row for all.
RowLengths of_row(bool first) {
  return [first](std::span<const std::int64_t> positions, std::int64_t batch) {
    std::vector<std::int64_t> lengths = reference::row_lengths(LengthScope::row, positions, batch);
    if (!lengths.empty()) std::ranges::fill(lengths, first ? lengths.front() : lengths.back());
    return lengths;
  };
}

// How many tokens a row has.
std::vector<std::int64_t> by_tokens(std::span<const std::int64_t> positions, std::int64_t batch) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(batch), std::ssize(positions) / batch);
}

// What a defect makes of a length beyond L that the claim rounds up to L 2^j, given as l/L.
struct Misstepped {
  const char* name;
  const char* row;
  const char* mechanism;
  double (*ratio)(double ratio);
};
constexpr Misstepped misstepped[] = {
    {"continuous", "E7", "lengths are not rounded up to doublings", [](double ratio) { return ratio; }},
    {"down", "E7", "lengths are rounded down", [](double ratio) { return std::exp2(std::floor(std::log2(ratio))); }},
    {"nearest", "E7", "lengths are rounded to the nearest doubling",
     [](double ratio) { return std::exp2(std::round(std::log2(ratio))); }},
    {"late", "E7", "a length that is a doubling takes the next one",
     [](double ratio) { return std::exp2(std::floor(std::log2(ratio)) + 1); }},
    {"whole", "E7", "lengths are rounded up to multiples", [](double ratio) { return std::ceil(ratio); }}};

// By another length, of a rule that takes every one.
FunctionSubject::Make stepping(double (*ratio)(double ratio)) {
  return of<Rope>([ratio](const Spec& spec, const Rope& encoding) {
    Rope every = encoding;
    auto* rule = std::get_if<DynamicScaling>(&every.rope_scaling);
    if (rule == nullptr || rule->length_steps == LengthSteps::every) return rope_call(PlainRope(encoding, spec.dtype));
    rule->length_steps = LengthSteps::every;
    PlainRope plain(every, spec.dtype);
    plain.row_lengths = [ratio, rule = *rule](std::span<const std::int64_t> positions, std::int64_t batch) {
      std::vector<std::int64_t> lengths = reference::row_lengths(rule.length_scope, positions, batch);
      const auto trained = static_cast<double>(rule.original_max_position_embeddings);
      for (std::int64_t& length : lengths) {
        if (length <= rule.original_max_position_embeddings) continue;
        length = std::llround(trained * ratio(static_cast<double>(length) / trained));
      }
      return lengths;
    };
    return rope_call(std::move(plain));
  });
}

void add_steps(LocalFaults& list) {
  const std::string by_doublings = fmt::format(R"({},"length_steps":"doublings")", dynamic);
  for (const Misstepped& wrong : misstepped) {
    list.entries.push_back({fmt::format("rope-dynamic-doublings-{}", wrong.name), Kind::defect, wrong.row,
                            wrong.mechanism, claim_of(by_doublings, "call"), stepping(wrong.ratio)});
  }
  // As a logarithm with an epsilon has it: of 64 the first such length is 32 doublings' and one more.
  const std::string of_few =
      R"("rope_type":"dynamic","factor":2,"original_max_position_embeddings":64,"length_steps":"doublings")";
  list.entries.push_back({"rope-dynamic-doublings-beside", Kind::defect, "E7",
                          "lengths just beyond a doubling are taken for it", claim_of(of_few, "call"),
                          stepping([](double ratio) { return std::exp2(std::ceil(std::log2(ratio) - 1e-3)); })});
  for (const char* scope : {"call", "row"})
    list.add(Kind::control, fmt::format("rope-dynamic-doublings-by-{}", scope), "lengths rounded up to doublings",
             claim_of(by_doublings, scope), plain_call);
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  const Misread misread[] = {
      {"length-of-each-row", "call", "each batch row takes its own length", scope_of(LengthScope::row)},
      {"length-of-first-row", "call", "all batch rows take the first one's length", of_row(true)},
      {"length-of-last-row", "call", "all batch rows take the last one's length", of_row(false)},
      {"length-of-tokens", "call", "the number of tokens is taken for the length", by_tokens},
      {"rows-length-of-call", "row", "each batch row takes the longest one's length", scope_of(LengthScope::call)},
      {"rows-length-of-first", "row", "all batch rows take the first one's length", of_row(true)},
      {"rows-length-of-tokens", "row", "the number of tokens is taken for the length", by_tokens}};
  for (const auto& [rule_name, rule] : {std::pair{"dynamic", dynamic}, {"longrope", longrope}}) {
    for (const Misread& wrong : misread) {
      const auto add = [&](const char* encoding, std::string claim, FunctionSubject::Make make) {
        list.entries.push_back({fmt::format("{}-{}-{}", encoding, rule_name, wrong.name), Kind::defect, "",
                                wrong.mechanism, std::move(claim), std::move(make)});
      };
      add("rope", claim_of(rule, wrong.scope),
          of<Rope>([lengths = wrong.lengths](const Spec& spec, const Rope& encoding) {
            PlainRope plain(encoding, spec.dtype);
            plain.row_lengths = lengths;
            return rope_call(std::move(plain));
          }));
      add("attention", attention_of(rule, wrong.scope),
          plain_other([lengths = wrong.lengths](PlainOther& plain) { plain.row_lengths = lengths; }));
    }
    for (const char* scope : {"call", "row"}) {
      list.add(Kind::control, fmt::format("rope-{}-by-{}", rule_name, scope), "a length for what the claim says",
               claim_of(rule, scope), plain_call);
      list.add(Kind::control, fmt::format("attention-{}-by-{}", rule_name, scope), "a length for what the claim says",
               attention_of(rule, scope), plain_call);
    }
  }
  add_steps(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::length_mutants
