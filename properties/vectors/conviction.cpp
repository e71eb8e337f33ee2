#include "properties/vectors/conviction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/vectors/tolerances.hpp"

namespace sextant::vectors {
namespace {

// Some elements of an answer that differ from another's: those furthest off, in ULP and as they are, and others spread
// over the list, since a claim need not say something of all.
std::vector<std::int64_t> suspects_of(const Tensor& got, const Tensor& expected) {
  std::vector<std::pair<double, std::int64_t>> in_ulps;
  std::vector<std::pair<double, std::int64_t>> as_is;
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double value = expected.at(i);
    const double off = std::fabs(got.at(i) - value);
    if (off == 0 || !std::isfinite(value)) continue;
    const double size = std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
    in_ulps.emplace_back(size / ulp(expected.dtype, value), i);
    as_is.emplace_back(size, i);
  }
  std::vector<std::int64_t> elements;
  for (auto* list : {&as_is, &in_ulps}) {
    std::ranges::sort(*list, std::greater<>());
    for (std::size_t i = 0; i < std::min<std::size_t>(list->size(), 4); ++i) elements.push_back((*list)[i].second);
    for (std::size_t i = 0; i < 16 && !list->empty(); ++i) elements.push_back((*list)[i * list->size() / 16].second);
  }
  return elements;
}

}  // namespace

void send_to(Session& session, const Exchange& earlier) {
  try {
    send(session, earlier.operation, earlier.inputs);
  } catch (const SubjectFailure&) {
    // A runner goes on to the next test.
  }
}

std::optional<Conviction> conviction(Session& session, const Asked& asked, const std::set<std::int64_t>& elements) {
  Tensor& expected = asked.right.answer;
  Tensor answer;
  try {
    const Tensors inputs = asked.right.inputs;
    const Tensors reply = with_named_parts(asked.right.operation, send(session, asked.right.operation, inputs));
    for (const auto& [name, tensor] : asked.right.inputs) {
      if (inputs.at(name).data != tensor.data) return Conviction{};
    }
    for (const auto& [name, tensor] : asked.right.reply) {
      const auto found = reply.find(name);
      if (found == reply.end() || found->second.dtype != tensor.dtype || found->second.shape != tensor.shape)
        return Conviction{};
    }
    answer = answer_of(asked.model, asked.ask.kind, asked.call, reply);
  } catch (const SubjectFailure& failure) {
    return failure.kind() == FailureKind::unsupported ? std::nullopt : std::optional(Conviction{});
  }
  if (asked.judge.values(asked.call, answer).within == reference::Certainty::yes) return std::nullopt;
  std::vector<std::int64_t> suspects(elements.begin(), elements.end());
  for (const std::int64_t element : suspects_of(answer, expected)) suspects.push_back(element);
  for (const std::int64_t element : suspects) {
    const double got = answer.at(element);
    if (got == expected.at(element)) continue;
    const auto tolerance = tolerance_of(asked.judge, asked.call, expected, element);
    if (tolerance && !(std::fabs(got - expected.at(element)) <= *tolerance)) return Conviction{element};
  }
  return std::nullopt;
}

std::set<std::string> rows_of(std::string_view row) {
  std::set<std::string> rows;
  for (std::size_t start = 0; start < row.size();) {
    const std::size_t end = std::min(row.find(',', start), row.size());
    rows.emplace(row.substr(start, end - start));
    start = end + 1;
  }
  return rows;
}

std::string line_of(const Ask& ask, const std::set<std::int64_t>& elements, const std::set<std::string>& rows) {
  const Question& q = ask.question;
  return fmt::format("ASK({}, {}, {}, {}, {}, {}, {}, \"{}\", \"{}\")\n", static_cast<int>(ask.kind), q.position,
                     q.tokens, q.batch, q.heads, q.fill, q.order, fmt::join(elements, " "), fmt::join(rows, " "));
}

}  // namespace sextant::vectors
