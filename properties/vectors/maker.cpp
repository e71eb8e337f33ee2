#include "properties/vectors/maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "lib/spec/operation.hpp"
#include "properties/vectors/gradients.hpp"
#include "properties/vectors/tolerances.hpp"

namespace sextant::vectors {
namespace {

Spec of_class(Spec spec, AccuracyClass accuracy) {
  spec.accuracy = accuracy;
  spec.evaluation = Evaluation::float32;
  return spec;
}

// Where each element of an answer, as the model has it, stands in the reply: tensor and element. The reply is asked
// again with its elements' numbers in place of their values.
struct Origin {
  std::string tensor;
  std::int64_t element;
};
std::vector<Origin> origins(const EncodingModel& model, Kind kind, const Call& call, const Exchange& exchange) {
  std::vector<Origin> list(static_cast<std::size_t>(exchange.answer.elements()));
  if (exchange.reply.size() == 1) {
    const auto& [name, tensor] = *exchange.reply.begin();
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = {name, static_cast<std::int64_t>(i)};
    return list;
  }
  // Two digits at a time, which every dtype has.
  constexpr std::int64_t base = 128;
  std::vector<std::int64_t> number(list.size(), 0);
  std::vector<std::string> names;
  std::vector<std::int64_t> starts;
  std::int64_t all = 0;
  for (const auto& [name, tensor] : exchange.reply) {
    names.push_back(name);
    starts.push_back(all);
    all += tensor.elements();
  }
  for (std::int64_t place = 1; place <= all; place *= base) {
    Tensors numbered = exchange.reply;
    for (std::size_t which = 0; which < names.size(); ++which) {
      Tensor& tensor = numbered.at(names[which]);
      for (std::int64_t i = 0; i < tensor.elements(); ++i)
        tensor.set(i, static_cast<double>((starts[which] + i) / place % base));
    }
    const Tensor answer = answer_of(model, kind, call, numbered);
    for (std::size_t i = 0; i < list.size(); ++i)
      number[i] += place * static_cast<std::int64_t>(answer.at(static_cast<std::int64_t>(i)));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::size_t which = names.size() - 1;
    while (number[i] < starts[which]) --which;
    list[i] = {names[which], number[i] - starts[which]};
  }
  return list;
}

// The elements that are told: those that were chosen, the last, and some evenly spread before it.
std::set<std::int64_t> told(std::int64_t elements, std::span<const std::int64_t> chosen) {
  std::set<std::int64_t> list(chosen.begin(), chosen.end());
  constexpr std::int64_t spread = 6;
  // Odd, and no multiple of 3 or 5, so that each channel of the usual widths has its turn.
  std::int64_t step = std::max<std::int64_t>(1, elements / spread);
  while (step > 1 && (step % 2 == 0 || step % 3 == 0 || step % 5 == 0)) ++step;
  for (std::int64_t element = elements - 1; element >= 0; element -= step) list.insert(element);
  return list;
}

}  // namespace

Maker::Maker(const Spec& spec, std::unique_ptr<Session> proposer)
    : model_(model_of(spec)), proposer_(std::move(proposer)), judge_(model_->judge()), rounding_(Rounding::correct) {}

Judge& Maker::judge_of(Kind kind) {
  if (kind != Kind::gradient) return *judge_;
  if (!gradient_judge_) gradient_judge_ = gradient_judge_of(*model_);
  return *gradient_judge_;
}

Test Maker::made(const Ask& ask, std::span<const std::int64_t> elements) {
  const Call call = call_of(*model_, ask);
  Exchange exchange = exchanged(*proposer_, *model_, ask.kind, call);
  Tensor& answer = exchange.answer;
  Judge& judge = judge_of(ask.kind);
  if (const Judgement judgement = judge.values(call, answer); judgement.within != reference::Certainty::yes)
    throw std::logic_error(fmt::format("vectors: {}: {}", describe(model_->spec()), judgement.finding));
  if (ask.kind == Kind::gradient && signature_of(model_->spec().encoding).operation != Operation::rotate) {
    rounding_ = Rounding::within_class;  // no class of these gradients is stricter than their claim's
  } else if (rounding_ == Rounding::correct) {
    const auto strict = model_of(of_class(model_->spec(), AccuracyClass::correctly_rounded));
    const auto judged = ask.kind == Kind::gradient ? strict->gradient_judge() : strict->judge();
    if (judged->values(call, answer).within != reference::Certainty::yes) rounding_ = Rounding::within_class;
  }

  Test test{.comment = text_of(*model_, ask),
            .flags = {},
            .operation = exchange.operation,
            .inputs = exchange.inputs,
            .outputs = {}};
  for (const auto& [name, tensor] : exchange.reply)
    test.outputs.push_back({.name = name, .dtype = tensor.dtype, .shape = tensor.shape, .values = {}});
  const std::vector<Origin> places = origins(*model_, ask.kind, call, exchange);
  for (const std::int64_t element : told(answer.elements(), elements)) {
    const auto tolerance = tolerance_of(judge, call, answer, element);
    if (!tolerance) continue;
    const Origin& place = places[static_cast<std::size_t>(element)];
    std::ranges::find(test.outputs, place.tensor, &ExpectedTensor::name)
        ->values.push_back({place.element, answer.at(element), *tolerance});
  }
  for (ExpectedTensor& expected : test.outputs) std::ranges::sort(expected.values, {}, &Expected::element);
  return test;
}

std::vector<WeakerClass> Maker::weaker(const Ask& ask, const Test& test) {
  constexpr AccuracyClass accuracy = AccuracyClass::bfloat16_angle;
  if (model_->spec().accuracy != AccuracyClass::float32_angle || test.outputs.size() != 1) return {};
  const auto model = model_of(of_class(model_->spec(), accuracy));
  if (model->not_judged()) return {};
  const Call call = call_of(*model_, ask);
  Tensor answer = exchanged(*proposer_, *model_, ask.kind, call).answer;
  const auto judge = model->judge();
  const ExpectedTensor& expected = test.outputs[0];
  WeakerClass weaker{.accuracy = accuracy};
  bool is_weaker = false;
  for (const Expected& value : expected.values) {
    const auto tolerance = tolerance_of(*judge, call, answer, value.element);
    weaker.tolerances[expected.name].push_back(tolerance.value_or(value.tolerance));
    is_weaker = is_weaker || tolerance.value_or(0) > 2 * value.tolerance;
  }
  return is_weaker ? std::vector{weaker} : std::vector<WeakerClass>();
}

std::string text_of(const EncodingModel& model, const Ask& ask) {
  const Question& q = ask.question;
  if (ask.kind == Kind::nothing) return "no tokens";
  if (ask.kind == Kind::breaking) return "positions where implementations break";
  if (ask.kind == Kind::step)
    return fmt::format("a step: the last {} of {} tokens, {} rows", 1 + q.fill % 3, q.tokens, q.batch);
  if (ask.kind == Kind::padded) return fmt::format("padding: {} rows of at most {} tokens", q.batch, q.tokens);
  std::string text = fmt::format("{} tokens", q.tokens);
  const Signature signature = signature_of(model.spec().encoding);
  if (signature.operation == Operation::bias) text = fmt::format("{} keys", q.tokens);
  if (signature.operation == Operation::rotate || signature.operation == Operation::qk_norm_rope)
    text += fmt::format(", {} rows, {} heads", q.batch, q.heads);
  text += fmt::format(" from {}", q.position);
  if (q.order != 0) text += fmt::format(", order {}", q.order);
  switch (ask.kind) {
    case Kind::gradient: return "gradient of " + text;
    case Kind::large: return text + ", large values";
    case Kind::huge: return text + ", values whose squares overflow";
    case Kind::tiny: return text + ", subnormal values";
    case Kind::alike: return text + ", columns of the weight alike";
    default: return text;
  }
}

}  // namespace sextant::vectors
