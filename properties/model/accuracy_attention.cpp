#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/model/accuracy_of.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/question_cases.hpp"
#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;

constexpr std::int64_t judged_rows = 4;  // of a call: the exact tier costs about a millisecond a key

}  // namespace

Check attention_accuracy(const Spec& spec) {
  return [spec, encoding = std::get<Attention>(spec.encoding), oracle = AttentionOracle(spec)](
             Session& session, const Case& values) mutable {
    const Question question = question_of(values);
    const AttentionCase request = attention_case(spec, question);
    const Tensor out = attend(session, spec, request);
    const std::int64_t rows = out.elements() / encoding.head_dim;
    const std::int64_t step = std::max<std::int64_t>(1, rows / judged_rows);
    Judgement judgement;
    for (std::int64_t row = question.fill % step; row < rows; row += step) {
      const std::int64_t token = row % request.tokens;
      const std::int64_t head = row / request.tokens % encoding.num_heads;
      const std::int64_t batch = row / request.tokens / encoding.num_heads;
      const AttentionOracle::Row expected = oracle.row(request, batch, head, token, reference::first_precision);
      for (std::int64_t c = 0; c < encoding.head_dim; ++c) {
        const double value = out.at(row * encoding.head_dim + c);
        const auto place = [&] {
          return fmt::format("batch row {}, head {}, token {}, channel {}", batch, head, token, c);
        };
        if (!std::isfinite(value)) {
          judgement.add(Certainty::no, not_finite(), [&] { return place() + ": NaN or infinite"; });
          continue;
        }
        const Enclosure& truth = expected.value[static_cast<std::size_t>(c)];
        const Enclosure error = abs(Enclosure(value, reference::first_precision) - truth);
        const Enclosure bound(expected.bound, reference::first_precision);
        const Deviation deviation = deviation_of(error, bound, ulp(spec.dtype, truth.upper()));
        judgement.add(reference::at_most(error, bound), deviation, [&] {
          return fmt::format("{}: {}", place(), comparison_text(spec.dtype, value, truth.upper(), deviation));
        });
      }
    }
    return judgement;
  };
}

}  // namespace sextant
