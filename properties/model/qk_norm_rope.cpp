#include <cstring>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/head_norm_budget.hpp"
#include "properties/model/models.hpp"
#include "properties/model/qk_norm_rope_judge.hpp"
#include "properties/model/scaled_rotations.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// As models have it: as many keys as queries, a quarter of them, a third.
std::int64_t key_heads_of(std::int64_t query_heads) {
  if (query_heads % 4 == 0) return query_heads / 4;
  return query_heads % 3 == 0 ? query_heads / 3 : query_heads;
}

// Heads [first, last) of each token.
Tensor heads_of_call(const Tensor& x, std::int64_t first, std::int64_t last) {
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  Tensor some = Tensor::zeros(x.dtype, {x.shape[0], x.shape[1], last - first, x.shape[3]});
  const std::size_t bytes = static_cast<std::size_t>(x.shape[3]) * size_of(x.dtype);
  const auto width = static_cast<std::size_t>(last - first);
  for (std::int64_t token = 0; token < tokens && width > 0; ++token) {
    std::memcpy(some.data.data() + static_cast<std::size_t>(token) * width * bytes,
                x.data.data() + static_cast<std::size_t>(token * x.shape[2] + first) * bytes, width * bytes);
  }
  return some;
}

// Queries and then keys of each token.
Tensor joined(const Tensor& q, const Tensor& k) {
  Tensor all = Tensor::zeros(q.dtype, {q.shape[0], q.shape[1], q.shape[2] + k.shape[2], q.shape[3]});
  std::byte* to = all.data.data();
  const auto tokens = static_cast<std::size_t>(q.shape[0] * q.shape[1]);
  for (std::size_t token = 0; token < tokens; ++token) {
    for (const Tensor* part : {&q, &k}) {
      const std::size_t bytes = part->data.size() / tokens;
      if (bytes > 0) std::memcpy(to, part->data.data() + token * bytes, bytes);
      to += bytes;
    }
  }
  return all;
}

Tensor row_of(const Tensor& weights, std::int64_t row) {
  const auto bytes = static_cast<std::ptrdiff_t>(weights.data.size() / 2);
  const auto begin = weights.data.begin() + row * bytes;
  return {weights.dtype, {weights.shape[1]}, {begin, begin + bytes}};
}

class QkNormRopeModel final : public ScaledRotationModel {
 public:
  QkNormRopeModel(const Spec& spec, const QkNormRope& encoding)
      : ScaledRotationModel(spec, encoding.rope, ladders_of(encoding.rope)), encoding_(encoding) {}

  std::vector<Variant> variants() const override {
    Variants<QkNormRope> list(spec());
    add_rope_variants<QkNormRope>(list, [](QkNormRope& e) -> Rope& { return e.rope; });
    // Large enough to be felt by vectors of any usual size.
    list.with("epsilon", [](QkNormRope& e) { e.epsilon = e.epsilon == 0.25 ? 0.5 : 0.25; });
    list.with("weight_offset", [](QkNormRope& e) { e.weight_offset = 1 - e.weight_offset; });
    return list.made();
  }

  std::vector<Variant> siblings() const override {
    Variants<QkNormRope> list(spec(), variants());
    add_wider_heads<QkNormRope>(list, [](QkNormRope& e) -> Rope& { return e.rope; });
    return list.made();
  }

  Call call_of(const Question& question) const override {
    return as_asked(RotationModel::call_of(question), question.heads);
  }
  Call accuracy_call(const Question& question) const override {
    return with_heads_of_zeros(as_asked(RotationModel::accuracy_call(question), question.heads));
  }

  Parts chunk_of(const Chunk& chunk) const override {
    Parts parts = RotationModel::chunk_of(chunk);
    for (Call* call : {&parts.whole, &parts.part}) {
      call->fill = chunk.fill;
      *call = as_asked(std::move(*call), 1);
    }
    return parts;
  }

  // A query, and a key of the same token: neither comes without the other.
  Parts one_of(const Question& question, std::int64_t which) const override {
    Call whole = call_of(question);
    const std::int64_t tokens = question.batch * question.tokens;
    whole.positions = scattered_positions(spec(), question.position, tokens);
    const std::int64_t width = head_dim();
    const std::int64_t keys = whole.vectors[1].shape[2];
    const std::int64_t token = which % (tokens * question.heads) / question.heads;
    const std::int64_t query = which % question.heads;
    const std::int64_t key = query % keys;
    Call part{.positions = place_at(whole.positions, tokens, token), .weight = whole.weight, .fill = whole.fill};
    for (const auto& [x, vector] : {std::pair(&whole.vectors[0], token * question.heads + query),
                                    std::pair(&whole.vectors[1], token * keys + key)}) {
      Tensor own = Tensor::zeros(x->dtype, {1, 1, 1, width});
      for (std::int64_t i = 0; i < width; ++i) own.set(i, x->at(vector * width + i));
      part.vectors.push_back(std::move(own));
    }
    const std::int64_t first = token * (question.heads + keys);
    const auto in_whole = [=, key_place = question.heads + key](std::int64_t element) {
      return (first + (element < width ? query : key_place)) * width + element % width;
    };
    return {std::move(whole), std::move(part), in_whole, width};
  }

  // Of heads the first queries are cut.
  Parts reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const override {
    Parts parts = RotationModel::reshaped(RotationModel::accuracy_call(question), shape, cut, question.heads);
    const std::int64_t keys = key_heads_of(question.heads);
    parts.whole = as_asked(std::move(parts.whole), question.heads);
    const std::int64_t left = parts.part.vectors[0].shape[2] - keys;
    parts.part = as_asked(std::move(parts.part), left);
    return parts;
  }

  Tensor ask(Session& session, const Call& call) const override {
    const auto [q, k] = qk_norm_rope(session, spec(),
                                     {.q = call.vectors[0],
                                      .k = call.vectors[1],
                                      .q_weight = row_of(*call.weight, 0),
                                      .k_weight = row_of(*call.weight, 1),
                                      .positions = call.positions});
    return joined(q, k);
  }

  std::unique_ptr<TurningOracle> turning() const override { return nullptr; }
  std::unique_ptr<Judge> judge() const override { return make_qk_norm_rope_judge(spec(), encoding_); }
  // It is no linear function, so that its gradient is none of that of the answer alone.
  std::unique_ptr<Judge> gradient_judge() const override { return nullptr; }

 private:
  std::int64_t vectors_of(std::int64_t heads) const override { return heads + key_heads_of(heads); }

  // Of one tensor's heads the first are queries, the others keys.
  Call as_asked(Call call, std::int64_t queries) const {
    const Tensor x = std::move(call.vectors[0]);
    call.vectors = {heads_of_call(x, 0, queries), heads_of_call(x, queries, x.shape[2])};
    call.weight = gen::values(spec().dtype, {2, head_dim()}, drawing_of_weights + call.fill);
    return call;
  }

  // As padding has them: the norm of a head of zeros is that of epsilon alone, and the head stays 0.
  Call with_heads_of_zeros(Call call) const {
    if (call.fill < every_magnitude || encoding_.epsilon == 0) return call;
    for (Tensor& vectors : call.vectors) {
      const std::int64_t last = vectors.elements() / head_dim() - 1;
      for (const std::int64_t vector : {last / 2, last}) {
        for (std::int64_t i = 0; vector >= 0 && i < head_dim(); ++i) vectors.set(vector * head_dim() + i, 0);
      }
    }
    return call;
  }

  // No vector of a question has that drawing.
  static constexpr std::int64_t drawing_of_weights = 100000;

  double most_stretch() const override {
    return largest_finite(spec().dtype) / 2 / largest_normalized(spec().dtype, head_dim());
  }
  // What no pair turns is normalized all the same.
  bool turns_nothing() const override { return false; }

  QkNormRope encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const QkNormRope& encoding) {
  return std::make_unique<QkNormRopeModel>(spec, encoding);
}

}  // namespace sextant
