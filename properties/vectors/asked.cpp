#include "properties/vectors/asked.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "lib/spec/operation.hpp"
#include "properties/gen/order.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/vectors/gradients.hpp"
#include "subjects/table_order.hpp"

namespace sextant::vectors {
namespace {

constexpr std::string_view backward_prefix = "backward/";

// What was sent last, and what came back, if anything did.
struct Sent {
  std::string operation;
  Tensors inputs;
  Tensors reply;
};

// Passes calls on, and keeps the last.
class Recorder final : public Session {
 public:
  explicit Recorder(Session& session) : session_(session) {}
  Description describe() override { return session_.describe(); }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    sent_ = {std::string(operation), inputs, {}};
    return sent_.reply = session_.call(operation, inputs);
  }
  Tensors backward(std::string_view of, const Tensors& inputs) override {
    sent_ = {std::string(backward_prefix) + std::string(of), inputs, {}};
    return sent_.reply = session_.backward(of, inputs);
  }

  Sent taken() { return std::move(sent_); }

 private:
  Session& session_;
  Sent sent_;
};

// Gives one reply, whatever it is asked.
class Replayed final : public Session {
 public:
  explicit Replayed(const Tensors& reply) : reply_(reply) {}
  Description describe() override { return {}; }
  Tensors call(std::string_view, const Tensors&) override { return reply_; }
  Tensors backward(std::string_view, const Tensors&) override { return reply_; }

 private:
  const Tensors& reply_;
};

Tensor answered(Session& session, const EncodingModel& model, Kind kind, const Call& call) {
  return kind == Kind::gradient ? gradient(session, model, call) : model.ask(session, call);
}

// What queries are multiplied by: by little in every other drawing, so that every key counts, and by much in one of
// eight, so that scores are far from 0.
double factor_of_queries(std::int64_t fill) {
  if (fill % 2 == 0) return small_factor;
  return fill % 8 == 7 ? large_factor : 1;
}

double factor_of_kind(Kind kind, Dtype dtype) {
  switch (kind) {
    case Kind::large: return dtype == Dtype::float16 ? large_in_float16 : large_elsewhere;
    case Kind::huge: return huge_factor;
    case Kind::tiny: return std::ldexp(1.0, format_of(dtype).min_exponent - 8);
    default: return 1;
  }
}

// The second column is the first, the third its opposite, and the fourth is constant.
void make_columns_alike(Tensor& weight) {
  const std::int64_t columns = weight.shape.back();
  if (columns < 4) return;
  for (std::int64_t start = 0; start < weight.elements(); start += columns) {
    weight.set(start + 1, weight.at(start));
    weight.set(start + 2, -weight.at(start));
    weight.set(start + 3, weight.at(3));
  }
}

// The inputs' own values are replaced.
void repeat_pattern(Call& call, Kind kind, const Operation operation) {
  const std::int64_t start = call.fill * 37 % pattern_length;
  std::int64_t which = 0;
  for (Tensor& tensor : call.vectors) {
    // Of 22 significant bits where the dtype has them: what goes through a narrower one shows.
    const double fine = size_of(tensor.dtype) > 2 ? fine_factor : 1;
    // Of attention the values are large, not the scores.
    double factor = factor_of_kind(kind, tensor.dtype);
    if (kind == Kind::tiny) factor /= fine;  // few bits are left there
    if (operation == Operation::attend && which < 2) factor = which == 0 ? factor_of_queries(call.fill) : 1;
    tensor = patterned(tensor.dtype, tensor.shape, (start + 83 * which++) % pattern_length, fine * factor);
  }
  for (std::optional<Tensor>* tensor : {&call.weight, &call.sinks}) {
    if (*tensor) {
      const double fine = size_of((*tensor)->dtype) > 2 ? fine_factor : 1;
      double factor = operation == Operation::attend ? 1 : factor_of_kind(kind, (*tensor)->dtype);
      if (kind == Kind::tiny) factor /= fine;
      **tensor = patterned((*tensor)->dtype, (*tensor)->shape, (start + 83 * which) % pattern_length, fine * factor);
    }
    ++which;
  }
  if (kind == Kind::alike) make_columns_alike(*call.weight);
}

}  // namespace

std::vector<std::int64_t> breaking_positions(const EncodingModel& model) {
  const auto [first, last] = model.range();
  std::set<std::int64_t> all{first, 0, 1, last - 1, last - 2};
  for (std::int64_t power = 128; power < last && power > 0; power *= 2) all.insert({power - 1, power, power + 1});
  for (std::int64_t power = -128; power > first; power *= 2) all.insert({power - 1, power, power + 1});
  for (const auto& border : {model.switching_length(), std::optional(model.trained_end())}) {
    if (border) all.insert({*border - 1, *border, *border + 1});
  }
  std::vector<std::int64_t> rising;
  for (const std::int64_t position : all) {
    if (position >= first && position < last) rising.push_back(position);
  }
  // From both ends by turns, each fifth once more.
  std::vector<std::int64_t> positions;
  for (std::size_t i = 0; i < rising.size(); ++i) {
    positions.push_back(i % 2 == 0 ? rising[rising.size() - 1 - i / 2] : rising[i / 2]);
    if (i % 5 == 4) positions.push_back(positions[positions.size() - 3]);
  }
  return positions;
}

namespace {

// Whether a call gives values that an answer grows with.
bool takes_values(const EncodingModel& model, Operation operation) {
  if (operation == Operation::rotate || operation == Operation::attend) return true;
  return model.accuracy_call({.position = model.range().first}).weight.has_value();
}

}  // namespace

bool is_refused(Kind kind) { return kind == Kind::beyond || kind == Kind::below; }

// NaN alone, NaN for both, and infinities of either sign, in a pair each of the first vectors.
std::vector<SpecialPair> special_pairs() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {{0, 0, nan, 0.5}, {1, 1, 0.5, nan}, {2, 0, -infinity, 0.5}, {3, 1, 0.5, -infinity}, {4, 0, nan, nan}};
}

bool can_ask(const EncodingModel& model, Kind kind) {
  const Signature signature = signature_of(model.spec().encoding);
  const bool is_list = signature.operation != Operation::bias && signature.operation != Operation::attend;
  switch (kind) {
    case Kind::plain: return true;
    case Kind::breaking: return is_list && signature.axes == 1 && !signature.axes_lead;
    case Kind::gradient: return has_gradient(model);
    case Kind::nothing: return is_list && signature.operation != Operation::qk_norm_rope;
    case Kind::step:
    case Kind::padded: return signature.operation == Operation::attend;
    case Kind::huge:
      // A norm in float32 may overflow.
      if (model.spec().dtype == Dtype::float16 || signature.operation == Operation::qk_norm_rope) return false;
      [[fallthrough]];
    case Kind::large:
    case Kind::tiny: return takes_values(model, signature.operation);
    case Kind::alike: return model.accuracy_call({.position = model.range().first}).weight.has_value();
    case Kind::special: return signature.operation == Operation::rotate && model.turning() != nullptr;
    case Kind::beyond: return held<Learned>(model.spec()) || held<Binary>(model.spec());
    case Kind::below: return held<Learned>(model.spec()) != nullptr;
  }
  return false;
}

namespace {

// Channels that do not turn are NaN in the sixth vector, and infinite in the seventh.
void make_pairs_special(Call& call, const EncodingModel& model) {
  const auto turning = model.turning();
  const Rope& head = turning->head();
  Tensor& x = call.vectors[0];
  for (const SpecialPair& special : special_pairs()) {
    const Channels channels = channels_of_pair(head, head.pairing, special.pair);
    x.set(special.vector * head.head_dim + channels.first, special.first);
    x.set(special.vector * head.head_dim + channels.second, special.second);
  }
  for (const Passthrough& channel : passthrough_channels(head)) {
    x.set(5 * head.head_dim + channel.input, std::numeric_limits<double>::quiet_NaN());
    x.set(6 * head.head_dim + channel.input, std::numeric_limits<double>::infinity());
  }
}

// The first position that a lookup or a number of digits does not have.
std::int64_t end_of(const Spec& spec) {
  if (const auto* learned = held<Learned>(spec)) return learned->max_positions;
  return std::int64_t{1} << held<Binary>(spec)->dim;
}

// Of so many drawings one has its padding on the left, one on the right, one on both sides; steps have 1 to 3 queries.
Call attention_call(const EncodingModel& model, const Ask& ask) {
  const Question& question = ask.question;
  AttentionCase request = attention_case(model.spec(), question);
  if (ask.kind == Kind::padded) {
    const auto side = static_cast<PaddedSide>(question.fill % padded_sides);
    request = with_padding(std::move(request), side, std::max<std::int64_t>(1, question.tokens / 2), question.fill, 0);
  } else {
    request = last_of(request, std::min(request.tokens, 1 + question.fill % 3));
  }
  return sextant::call_of(std::move(request), question.fill);
}

}  // namespace

Call call_of(const EncodingModel& model, const Ask& ask) {
  if (ask.kind == Kind::step || ask.kind == Kind::padded) {
    Call call = attention_call(model, ask);
    repeat_pattern(call, ask.kind, Operation::attend);
    return call;
  }
  Question question = ask.question;
  std::vector<std::int64_t> breaking;
  if (ask.kind == Kind::breaking) {
    breaking = breaking_positions(model);
    question.position = model.range().first;
    question.tokens = std::min<std::int64_t>(std::ssize(breaking), model.range().last - model.range().first);
    breaking.resize(static_cast<std::size_t>(question.tokens));
    question.batch = 1;
  }
  Call call = model.accuracy_call(question);
  if (!breaking.empty()) call.positions = breaking;
  if (ask.kind == Kind::gradient) call = with_gradient(model, std::move(call), ask.question.tokens);
  if (ask.kind == Kind::nothing) {
    call.positions.clear();
    for (Tensor& tensor : call.vectors) tensor = Tensor::zeros(tensor.dtype, {1, 0, 2, tensor.shape[3]});
  }
  repeat_pattern(call, ask.kind, signature_of(model.spec().encoding).operation);
  if (ask.kind == Kind::special) make_pairs_special(call, model);
  if (ask.kind == Kind::beyond) call.positions.back() = end_of(model.spec());
  if (ask.kind == Kind::below) call.positions.back() = -1;
  return call;
}

Exchange exchanged(Session& session, const EncodingModel& model, Kind kind, const Call& call) {
  Recorder recorder(session);
  Tensor answer = answered(recorder, model, kind, call);
  Sent sent = recorder.taken();
  return {std::move(sent.operation), std::move(sent.inputs), std::move(sent.reply), std::move(answer)};
}

std::optional<Exchange> refused(Session& session, const EncodingModel& model, const Call& call) {
  Recorder recorder(session);
  try {
    model.ask(recorder, call);
  } catch (const SubjectFailure&) {
    Sent sent = recorder.taken();
    return Exchange{std::move(sent.operation), std::move(sent.inputs), {}, {}};
  }
  return std::nullopt;
}

Tensor answer_of(const EncodingModel& model, Kind kind, const Call& call, const Tensors& reply) {
  Replayed replayed(reply);
  return answered(replayed, model, kind, call);
}

Tensors with_named_parts(const std::string& operation, Tensors reply) {
  if (operation != "table" || (reply.contains("cos") && reply.contains("sin"))) return reply;
  const TableOrder& order = order_of_reply(reply);
  std::vector<Tensor> parts;
  for (const std::string_view name : order.tensors) parts.push_back(reply.at(std::string(name)));
  const std::int64_t pairs = parts[0].shape[1] / columns_of(order, 1);
  const Tensor joined = cosines_then_sines(order, parts, pairs);
  const std::int64_t rows = joined.shape[0];
  const std::int64_t width = joined.shape[1];
  Tensor cos = Tensor::zeros(joined.dtype, {rows, pairs});
  Tensor sin = cos;
  for (std::int64_t i = 0; i < cos.elements(); ++i) {
    cos.set(i, joined.at(i / pairs * width + i % pairs));
    sin.set(i, joined.at(i / pairs * width + pairs + i % pairs));
  }
  return {{"cos", std::move(cos)}, {"sin", std::move(sin)}};
}

Tensors send(Session& session, const std::string& operation, const Tensors& inputs) {
  return operation.starts_with(backward_prefix) ? session.backward(operation.substr(backward_prefix.size()), inputs)
                                                : session.call(operation, inputs);
}

}  // namespace sextant::vectors
