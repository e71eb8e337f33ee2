#include "properties/vectors/maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "lib/spec/operation.hpp"
#include "properties/model/turned_call.hpp"
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

// What values of a call of Kind::special become in every honest arithmetic, as far as that is certain: NaN times
// anything is NaN, and an infinity times what is not 0 is one of that sign, or NaN where code adds and takes away.
std::map<std::int64_t, double> special_values(const EncodingModel& model, const Call& call) {
  constexpr reference::Precision precision = reference::first_precision;
  const reference::Enclosure zero(0.0, precision);
  const reference::Enclosure one(1.0, precision);
  const Rotations rotations(model.spec());
  const Rope& head = rotations.head();
  std::map<std::int64_t, double> values;
  for (const SpecialPair& special : special_pairs()) {
    const VectorPlace place = rotations.place(call, special.vector, rotations.lengths(call));
    const Channels out = channels_of_pair(head, head.output_pairing, special.pair);
    const TurnedPair of_first = rotations.oracle().turned(place, special.pair, {one, zero}, precision);
    const TurnedPair of_second = rotations.oracle().turned(place, special.pair, {zero, one}, precision);
    const auto sign = [&](const reference::Enclosure& part, const reference::Enclosure& bound) {
      return certainly_above(part, bound) ? 1.0 : certainly_above(-part, bound) ? -1.0 : 0.0;
    };
    for (const bool is_second : {false, true}) {
      const double by_first = sign(is_second ? of_first.value.second : of_first.value.first, of_first.bound);
      const double by_second = sign(is_second ? of_second.value.second : of_second.value.first, of_second.bound);
      const double value = special.first * by_first + special.second * by_second;
      if (by_first != 0 && by_second != 0 && !std::isfinite(value))
        values[special.vector * head.head_dim + (is_second ? out.second : out.first)] = value;
    }
  }
  constexpr std::size_t few = 3;
  const std::vector<Passthrough> untouched = passthrough_channels(head);
  for (std::size_t i = 0; i < std::min(few, untouched.size()); ++i) {
    const Passthrough& channel = untouched[i * (untouched.size() - 1) / (few - 1)];
    values[5 * head.head_dim + channel.output] = std::numeric_limits<double>::quiet_NaN();
    values[6 * head.head_dim + channel.output] = std::numeric_limits<double>::infinity();
  }
  return values;
}

// The elements that are told: those that were chosen, the last, and some evenly spread before it.
std::set<std::int64_t> told(const Tensor& answer, std::span<const std::int64_t> chosen) {
  const std::int64_t elements = answer.elements();
  std::set<std::int64_t> list(chosen.begin(), chosen.end());
  const std::int64_t spread = size_of(answer.dtype) > 2 ? 5 : 3;
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

Test Maker::refused(const Ask& ask) {
  auto exchange = vectors::refused(*proposer_, *model_, call_of(*model_, ask));
  if (!exchange)
    throw std::logic_error(fmt::format("vectors: {}: {}: answered", describe(model_->spec()), text_of(*model_, ask)));
  return {.comment = text_of(*model_, ask),
          .flags = {},
          .operation = std::move(exchange->operation),
          .inputs = std::move(exchange->inputs),
          .outputs = {},
          .due = Due::refusal};
}

Test Maker::special(const Ask& ask, std::span<const std::int64_t> elements) {
  const Call finite = call_of(*model_, {Kind::plain, ask.question});
  Tensor before = exchanged(*proposer_, *model_, Kind::plain, finite).answer;
  if (judge_->values(finite, before).within != reference::Certainty::yes)
    throw std::logic_error(fmt::format("vectors: {}: {}", describe(model_->spec()), text_of(*model_, ask)));
  const Call call = call_of(*model_, ask);
  const Exchange exchange = exchanged(*proposer_, *model_, ask.kind, call);
  const std::map<std::int64_t, double> due = special_values(*model_, call);
  std::vector<std::int64_t> chosen(elements.begin(), elements.end());
  for (const auto& [element, value] : due) chosen.push_back(element);
  const auto& [name, tensor] = *exchange.reply.begin();
  ExpectedTensor expected{.name = name, .dtype = tensor.dtype, .shape = tensor.shape, .values = {}};
  for (const std::int64_t element : told(before, chosen)) {
    const double value = exchange.answer.at(element);
    if (const auto found = due.find(element); found != due.end()) {
      if (!std::isnan(value) && value != found->second)
        throw std::logic_error(fmt::format("vectors: {}: {} of element {}", describe(model_->spec()), value, element));
      expected.values.push_back({element, found->second, 0});
    } else if (value == before.at(element)) {
      if (const auto tolerance = tolerance_of(*judge_, finite, before, element))
        expected.values.push_back({element, value, *tolerance});
    }
  }
  return {.comment = text_of(*model_, ask),
          .flags = {},
          .operation = exchange.operation,
          .inputs = exchange.inputs,
          .outputs = {expected}};
}

Test Maker::made(const Ask& ask, std::span<const std::int64_t> elements) {
  if (is_refused(ask.kind)) return refused(ask);
  if (ask.kind == Kind::special) return special(ask, elements);
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
  for (const std::int64_t element : told(answer, elements)) {
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
    case Kind::special: return text + ", some NaN and infinite";
    case Kind::beyond: return text + ", the last past the end";
    case Kind::below: return text + ", the last below 0";
    default: return text;
  }
}

}  // namespace sextant::vectors
