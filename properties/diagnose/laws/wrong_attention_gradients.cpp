#include "properties/diagnose/laws/wrong_attention_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_gradient.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/call.hpp"
#include "properties/model/questions.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

struct AskedBackward {
  AttentionCase request;
  Tensor grad;
  AttendGradients got;
};

// A group of heads: those that read key and value head `kv` of a batch row.
struct GroupPlace {
  std::int64_t batch;
  std::int64_t kv;
};

bool has_zeros_alone(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    if (tensor.at(i) != 0) return false;
  }
  return true;
}

// The gradient of the result, with zeros in rows that are left out.
using Keeps = std::function<bool(std::int64_t head, std::int64_t query)>;
Tensor kept_rows(const Tensor& grad, const Keeps& keeps) {
  Tensor kept = grad;
  const std::int64_t width = grad.shape[3];
  for (std::int64_t row = 0; row * width < grad.elements(); ++row) {
    if (keeps(row / grad.shape[2] % grad.shape[1], row % grad.shape[2])) continue;
    for (std::int64_t c = 0; c < width; ++c) kept.set(row * width + c, 0);
  }
  return kept;
}

// Holds gradients against what they would be but for one thing.
class BackwardAsker {
 public:
  BackwardAsker(const Subject& subject, const Spec& claim)
      : claim_(claim), encoding_(*held<Attention>(claim)), oracle_(claim), session_(subject.open(claim)) {}

  const Spec& claim() const { return claim_; }
  const Attention& encoding() const { return encoding_; }
  std::int64_t heads_of_group() const { return encoding_.num_heads / encoding_.num_kv_heads; }
  bool is_grouped() const { return heads_of_group() > 1; }

  AskedBackward ask(AttentionCase request, Tensor grad) {
    AttendGradients got = backward(*session_, claim_, request_of(request), grad);
    return {std::move(request), std::move(grad), std::move(got)};
  }

  GroupGradients truth(const AskedBackward& asked, const Tensor& grad, const GroupPlace& group) {
    return gradients_of_group(claim_, oracle_, asked.request, grad, group.batch, group.kv);
  }
  GroupGradients truth(const AskedBackward& asked, const GroupPlace& group) { return truth(asked, asked.grad, group); }
  AttentionOracle& oracle() { return oracle_; }

  // The first group and the last.
  std::vector<GroupPlace> groups(const AskedBackward& asked) const {
    const GroupPlace last{asked.request.batch - 1, encoding_.num_kv_heads - 1};
    if (last.batch == 0 && last.kv == 0) return {last};
    return {{0, 0}, last};
  }

  bool is_met(const AskedBackward& asked, const GroupPlace& group, const GroupGradients& expected) const {
    const std::int64_t number = group.batch * encoding_.num_kv_heads + group.kv;
    Judgement judgement;
    judge_gradient(judgement, {"dq", asked.got.q, number * heads_of_group() * asked.request.queries(), expected.q});
    judge_gradient(judgement, {"dk", asked.got.k, number * asked.request.tokens, expected.k});
    judge_gradient(judgement, {"dv", asked.got.v, number * asked.request.tokens, expected.v});
    return judgement.within == reference::Certainty::yes;
  }

 private:
  const Spec& claim_;
  Attention encoding_;
  AttentionOracle oracle_;
  std::unique_ptr<Session> session_;
};

// The gradients of a group but for one thing; nothing where that says nothing of the call.
using ExpectedGradients =
    std::function<std::optional<GroupGradients>(BackwardAsker& asker, const AskedBackward& asked, const GroupPlace&)>;

struct OtherBackward {
  std::string words;
  ExpectedGradients expected;
};

bool explains_backward(BackwardAsker& asker, const std::vector<AskedBackward>& asked,
                       const ExpectedGradients& expected) {
  std::int64_t told = 0;
  for (const AskedBackward& one : asked) {
    for (const GroupPlace& group : asker.groups(one)) {
      const auto gradients = expected(asker, one, group);
      if (!gradients) continue;
      if (!asker.is_met(one, group, *gradients)) return false;
      ++told;
    }
  }
  return told > 0;
}

// As the truth of a claim with one field changed.
ExpectedGradients as_under(const Spec& other) {
  const auto oracle = std::make_shared<AttentionOracle>(other);
  return [other, oracle](BackwardAsker&, const AskedBackward& asked, const GroupPlace& group) {
    return std::optional(gradients_of_group(other, *oracle, asked.request, asked.grad, group.batch, group.kv));
  };
}

// A product more rounds once more.
void multiply_rows(std::vector<GradientRow>& rows, double factor, double u) {
  for (GradientRow& row : rows) {
    for (std::size_t c = 0; c < row.value.size(); ++c) {
      row.value[c] = row.value[c] * reference::Enclosure(factor, reference::first_precision);
      row.bound[c] = row.bound[c] * factor * (1 + 1e-9) + 2 * u * abs(row.value[c]).upper();
    }
  }
}

enum class Scaled { queries, keys, both };

ExpectedGradients multiplied(Scaled scaled, double factor) {
  return [scaled, factor](BackwardAsker& asker, const AskedBackward& asked, const GroupPlace& group) {
    GroupGradients gradients = asker.truth(asked, group);
    const double u = unit_roundoff(asker.claim().dtype);
    if (scaled != Scaled::keys) {
      multiply_rows(gradients.q, factor, u);
    }
    if (scaled != Scaled::queries) multiply_rows(gradients.k, factor, u);
    return std::optional(std::move(gradients));
  };
}

// Keys and values have the gradients of these queries alone; queries have their own. Gradients are linear in that of
// the result, so that they are the true ones of a result whose other rows have none.
ExpectedGradients with_rows(
    const std::function<bool(const BackwardAsker& asker, std::int64_t head, std::int64_t query)>& keeps) {
  return [keeps](BackwardAsker& asker, const AskedBackward& asked, const GroupPlace& group) {
    GroupGradients gradients = asker.truth(asked, group);
    const Tensor kept =
        kept_rows(asked.grad, [&](std::int64_t head, std::int64_t query) { return keeps(asker, head, query); });
    GroupGradients of_kept = asker.truth(asked, kept, group);
    gradients.k = std::move(of_kept.k);
    gradients.v = std::move(of_kept.v);
    return std::optional(std::move(gradients));
  };
}

// Gradients by turned queries and keys, each pair of which an error keeps its length in when it is turned: a channel is
// off by the root of two squares of bounds at most, which their sum is not below.
enum class NotTurned { queries, keys, both };

void turn_rows(std::vector<GradientRow>& rows, TurningOracle& turning,
               const std::function<VectorPlace(std::size_t row)>& at) {
  const Rope& head = turning.head();
  for (std::size_t number = 0; number < rows.size(); ++number) {
    GradientRow& row = rows[number];
    GradientRow turned = row;
    for (const Passthrough& channel : passthrough_channels(head)) {
      turned.value[static_cast<std::size_t>(channel.output)] = row.value[static_cast<std::size_t>(channel.input)];
      turned.bound[static_cast<std::size_t>(channel.output)] = row.bound[static_cast<std::size_t>(channel.input)];
    }
    for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
      const Channels from = channels_of_pair(head, head.pairing, pair);
      const Channels to = channels_of_pair(head, head.output_pairing, pair);
      const auto image = turning
                             .turned(at(number), pair,
                                     {row.value[static_cast<std::size_t>(from.first)],
                                      row.value[static_cast<std::size_t>(from.second)]},
                                     reference::first_precision)
                             .value;
      turned.value[static_cast<std::size_t>(to.first)] = image.first;
      turned.value[static_cast<std::size_t>(to.second)] = image.second;
      const double bound =
          row.bound[static_cast<std::size_t>(from.first)] + row.bound[static_cast<std::size_t>(from.second)];
      turned.bound[static_cast<std::size_t>(to.first)] = turned.bound[static_cast<std::size_t>(to.second)] = bound;
    }
    row = std::move(turned);
  }
}

ExpectedGradients not_turned_back(NotTurned which) {
  return [which](BackwardAsker& asker, const AskedBackward& asked, const GroupPlace& group) {
    GroupGradients gradients = asker.truth(asked, group);
    TurningOracle& turning = *asker.oracle().turning();
    const std::vector<std::int64_t> lengths = lengths_of(asked.request, &turning);
    const auto place = [&](Role role) {
      return [&, role](std::size_t row) {
        return place_of(asked.request, group.batch, static_cast<std::int64_t>(row) % asked.request.tokens, role,
                        lengths);
      };
    };
    if (which != NotTurned::keys) turn_rows(gradients.q, turning, place(Role::query));
    if (which != NotTurned::queries) turn_rows(gradients.k, turning, place(Role::key));
    return std::optional(std::move(gradients));
  };
}

// Without the mean the gradient of a score is p_j (do . v_j), so that dq has scale (do . o) sum_j p_j k_j more, and
// dk_j scale sum_i p_ij (do_i . o_i) q_i. Where all positions are the same one, rotations of the two cancel in both:
// the first sum is attention's result with keys for values, the other dv where the result's gradient is
// scale (do . o) q. That is given in the dtype, a rounding that a second bound on such a dv is not below.
std::optional<GroupGradients> without_mean(BackwardAsker& asker, const AskedBackward& asked, const GroupPlace& group) {
  const AttentionCase& request = asked.request;
  if (std::ranges::adjacent_find(request.positions, std::not_equal_to<>()) != request.positions.end())
    return std::nullopt;
  const auto precision = reference::first_precision;
  const double scale = score_scale(asker.encoding());
  const std::int64_t width = asker.encoding().head_dim;
  GroupGradients gradients = asker.truth(asked, group);
  AttentionCase of_keys = request;
  of_keys.v = request.k;
  Tensor weighted = kept_rows(asked.grad, [](std::int64_t, std::int64_t) { return false; });
  const double u = unit_roundoff(asker.claim().dtype);
  for (std::int64_t i = 0; i < std::ssize(gradients.q); ++i) {
    const std::int64_t head = group.kv * asker.heads_of_group() + i / request.tokens;
    const std::int64_t token = i % request.tokens;
    const std::int64_t start = ((group.batch * asker.encoding().num_heads + head) * request.tokens + token) * width;
    const reference::RealVector out = asker.oracle().row(request, group.batch, head, token, precision);
    const reference::RealVector keys = asker.oracle().row(of_keys, group.batch, head, token, precision);
    double mean = 0;
    for (std::int64_t c = 0; c < width; ++c)
      mean += asked.grad.at(start + c) * out[static_cast<std::size_t>(c)].upper();
    GradientRow& row = gradients.q[static_cast<std::size_t>(i)];
    for (std::int64_t c = 0; c < width; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const double more = scale * mean * keys[at].upper();
      row.value[at] = row.value[at] + reference::Enclosure(more, precision);
      row.bound[at] += static_cast<double>(width + request.tokens + 4) * u * std::fabs(more);
      weighted.set(start + c, scale * mean * request.q.at(start + c));
    }
  }
  const GroupGradients more = asker.truth(asked, weighted, group);
  for (std::size_t key = 0; key < gradients.k.size(); ++key) {
    GradientRow& row = gradients.k[key];
    for (std::size_t c = 0; c < row.value.size(); ++c) {
      row.value[c] = row.value[c] + more.v[key].value[c];
      row.bound[c] += 2 * more.v[key].bound[c];
    }
  }
  return gradients;
}

// Whether a gradient of the result at one query alone gives keys and values some.
bool adds_of_query(BackwardAsker& asker, const AttentionCase& request, std::int64_t query) {
  Tensor grad = gen::values(asker.claim().dtype, request.q.shape, 5);
  grad = kept_rows(grad, [&](std::int64_t, std::int64_t at) { return at == query; });
  const AskedBackward asked = asker.ask(request, std::move(grad));
  return !has_zeros_alone(asked.got.v);
}

// Where all queries from one on add nothing: found between two that follow each other, confirmed by all that is asked.
std::optional<std::int64_t> border_of_queries(BackwardAsker& asker, const AttentionCase& request) {
  std::int64_t right = 0;
  std::int64_t wrong = request.tokens - 1;
  if (wrong <= right || adds_of_query(asker, request, wrong) || !adds_of_query(asker, request, right))
    return std::nullopt;
  while (wrong - right > 1) {
    const std::int64_t middle = right + (wrong - right) / 2;
    (adds_of_query(asker, request, middle) ? right : wrong) = middle;
  }
  return wrong;
}

std::vector<OtherBackward> other_backwards(BackwardAsker& asker) {
  const Spec& claim = asker.claim();
  std::vector<OtherBackward> list;
  const auto with_changed = [&](std::string words, const auto& change) {
    Spec other = claim;
    change(*held<Attention>(other));
    if (to_json(other) != to_json(claim)) list.push_back({std::move(words), as_under(other)});
  };
  with_changed("the backward pass forgets the causal mask", [](Attention& encoding) {
    if (!encoding.causal || encoding.window) return;
    encoding.causal = false;
  });
  with_changed("the backward pass forgets the window", [](Attention& encoding) { encoding.window.reset(); });
  with_changed("the backward pass forgets the softcap", [](Attention& encoding) { encoding.logit_softcap.reset(); });
  const double scale = score_scale(asker.encoding());
  if (scale != 1) {
    list.push_back({"keys' gradients are scaled twice", multiplied(Scaled::keys, scale)});
    list.push_back({"queries' gradients are scaled twice", multiplied(Scaled::queries, scale)});
    list.push_back({"queries' and keys' gradients are scaled twice", multiplied(Scaled::both, scale)});
    list.push_back({"keys' gradients are not scaled", multiplied(Scaled::keys, 1 / scale)});
    list.push_back({"queries' gradients are not scaled", multiplied(Scaled::queries, 1 / scale)});
    list.push_back({"queries' and keys' gradients are not scaled", multiplied(Scaled::both, 1 / scale)});
  }
  if (asker.is_grouped()) {
    list.push_back({"of a group's heads the last one's gradient by keys and values is kept, not their sum",
                    with_rows([](const BackwardAsker& own, std::int64_t head, std::int64_t) {
                      return head % own.heads_of_group() == own.heads_of_group() - 1;
                    })});
    list.push_back({"of a group's heads the first one's gradient by keys and values is kept, not their sum",
                    with_rows([](const BackwardAsker& own, std::int64_t head, std::int64_t) {
                      return head % own.heads_of_group() == 0;
                    })});
  }
  if (asker.oracle().turning() != nullptr) {
    list.push_back({"gradients of turned queries and keys are not turned back", not_turned_back(NotTurned::both)});
    list.push_back({"gradients of turned queries are not turned back", not_turned_back(NotTurned::queries)});
    list.push_back({"gradients of turned keys are not turned back", not_turned_back(NotTurned::keys)});
  }
  return list;
}

AttentionCase case_of(const Spec& claim, std::int64_t position, std::int64_t tokens, std::int64_t batch,
                      std::int64_t fill) {
  return attention_case(claim, {.position = position, .tokens = tokens, .batch = batch, .fill = fill});
}

// Of long calls few rows have a gradient: those in between and the last.
Tensor gradient_for(const Spec& claim, const AttentionCase& request, std::int64_t fill) {
  const Tensor grad = gen::values(claim.dtype, request.q.shape, 4 * fill + 5);
  if (request.tokens <= 48) return grad;
  const std::int64_t tokens = request.tokens;
  return kept_rows(grad, [&](std::int64_t, std::int64_t query) {
    return query == tokens - 1 || query == tokens / 2 || query == tokens / 7 || query == 3;
  });
}

}  // namespace

std::string words_of_attention_gradient(const Subject& subject, const Spec& claim) {
  BackwardAsker asker(subject, claim);
  const gen::PositionRange range{claim.min_position, last_position_of(claim)};
  const std::int64_t near = gen::simplest_position(range);
  const std::int64_t most = std::max<std::int64_t>(range.last - range.first, 1);
  std::vector<AskedBackward> asked;
  const auto ask = [&](AttentionCase request, std::int64_t fill) {
    Tensor grad = gradient_for(claim, request, fill);
    asked.push_back(asker.ask(std::move(request), std::move(grad)));
  };
  const auto few = [&](std::int64_t tokens) { return std::min(tokens, most); };
  ask(case_of(claim, near, few(5), 2, 1), 1);
  ask(case_of(claim, near, 1, 1, 2), 2);
  ask(case_of(claim, near, few(12), 1, every_key_counts + 3), 3);
  ask(case_of(claim, near, few(40), 3, every_key_counts + 4), 4);
  ask(case_of(claim, std::max(range.first, range.last - 7), few(7), 2, 5), 5);
  ask(case_of(claim, near, few(130), 1, every_key_counts + 6), 6);
  const auto is_all_zero = [](const AskedBackward& one) {
    return has_zeros_alone(one.got.q) && has_zeros_alone(one.got.k) && has_zeros_alone(one.got.v);
  };
  if (std::ranges::all_of(asked, is_all_zero)) return "the gradients by queries, keys and values are zero";
  const bool is_right =
      explains_backward(asker, asked, [](BackwardAsker& own, const AskedBackward& one, const GroupPlace& group) {
        return std::optional(own.truth(one, group));
      });
  if (!is_right) {
    for (const OtherBackward& other : other_backwards(asker)) {
      if (explains_backward(asker, asked, other.expected)) return other.words;
    }
    const bool is_plain = !asker.encoding().logit_softcap && !asker.encoding().query_scale;
    if (is_plain) {
      std::vector<AskedBackward> alike;
      for (const std::int64_t tokens : {2, 5, 12, 33}) {
        AttentionCase request = case_of(claim, near, few(tokens), 2, every_key_counts + tokens);
        std::ranges::fill(request.positions, near + few(tokens) / 2);
        Tensor grad = gradient_for(claim, request, tokens);
        alike.push_back(asker.ask(std::move(request), std::move(grad)));
      }
      if (explains_backward(asker, alike, without_mean))
        return "the gradient of scores lacks the mean that softmax takes off";
    }
  }
  const AttentionCase longest = case_of(claim, near, few(600), 1, every_key_counts + 7);
  const auto border = border_of_queries(asker, longest);
  if (!border) return {};
  ask(longest, 7);
  ask(case_of(claim, near, few(*border + 5), 2, every_key_counts + 8), 8);
  const bool is_explained = explains_backward(
      asker, asked, with_rows([&](const BackwardAsker&, std::int64_t, std::int64_t query) { return query < *border; }));
  if (!is_explained) return {};
  return fmt::format("queries from index {} of a call on add nothing to keys' and values' gradients", *border);
}

}  // namespace sextant::identify
