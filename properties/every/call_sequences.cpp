#include "properties/every/call_sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "properties/gen/order.hpp"
#include "properties/model/reshaped.hpp"

namespace sextant {
namespace {

constexpr std::int64_t asked_heads = 2;
constexpr std::int64_t long_call = 4500;  // beyond tables of 4096 rows
constexpr std::int64_t doublings = 5;
constexpr std::int64_t decoded = 5;

std::string text_at(const Question& question, std::string_view where) {
  return fmt::format("{} token{} {}{}{}", question.tokens, question.tokens == 1 ? "" : "s", where,
                     question.order == 0 ? "" : " in another order",
                     question.batch == 1 ? "" : fmt::format(" in {} batch rows", question.batch));
}

}  // namespace

std::string text_of(const Question& question, const Spec& spec) {
  return text_at(question, fmt::format("from position {}", position_grid_of(spec.encoding).text(question.position)));
}

std::string text_of(const SequencedCall& call, const Spec& spec) {
  if (call.is_empty) return "no tokens";
  if (call.weight != OtherWeight::none) return text_of(call.question, spec) + " under another weight";
  return call.is_beyond ? text_at(call.question, "beyond the claim") : text_of(call.question, spec);
}

std::vector<SequencedCall> calls_of(Sequence sequence, const EncodingModel& model, std::int64_t position,
                                    std::int64_t tokens, std::int64_t fill) {
  std::vector<SequencedCall> calls;
  const gen::PositionRange range = model.range();
  const gen::LargestCall largest = model.largest_drawn();
  const auto add = [&](std::int64_t first, std::int64_t count, gen::Order order = gen::Order::one_by_one,
                       std::int64_t batch = 1) {
    Question question{.position = first,
                      .tokens = std::min(std::max<std::int64_t>(count, 1), model.most_tokens_from(first)),
                      .batch = batch,
                      .heads = asked_heads,
                      .fill = fill % plain_fills,
                      .order = static_cast<std::int64_t>(order)};
    if (first >= range.last) return;
    question = clipped(question, largest);
    if (model.related(question)) calls.push_back({question});
  };
  switch (sequence) {
    case Sequence::none: break;
    case Sequence::decode:
      add(position, tokens);
      for (std::int64_t token = 0; token < decoded; ++token) add(position + tokens + token, 1);
      break;
    case Sequence::chunked_prefill: {
      const std::int64_t chunk = (tokens + 2) / 3;
      for (std::int64_t done = 0; done < tokens; done += chunk) add(position + done, std::min(chunk, tokens - done));
      add(position, tokens);
      break;
    }
    case Sequence::speculative:
      add(position, tokens);
      for (const std::int64_t accepted : {0, 2, 3}) {
        add(position + tokens + accepted, 4);
        add(position + tokens + accepted + 1, 1);
      }
      break;
    case Sequence::growing:
      for (std::int64_t doubling = 0; doubling <= doublings; ++doubling) add(position, tokens << doubling);
      add(position, tokens);
      break;
    case Sequence::long_and_short:
      add(position, tokens);
      add(range.first, long_call);
      add(position + 1, tokens);
      add(position, long_call + tokens);
      add(position, tokens);
      break;
    case Sequence::same_ends:
      for (const gen::Order order :
           {gen::Order::one_by_one, gen::Order::shuffled_between_ends, gen::Order::shuffled_between_halves})
        add(position, std::max<std::int64_t>(tokens, 4), order);
      for (const gen::Order order : {gen::Order::one_by_one, gen::Order::exchanged})
        add(position, std::max<std::int64_t>(tokens, 6), order);
      for (const Question& question : model.questions_of_same_ends()) {
        if (model.related(question)) calls.push_back({question});
      }
      break;
    case Sequence::batches:
      for (const std::int64_t batch : {1, 4, 2, 1, 3}) add(position, tokens, gen::Order::one_by_one, batch);
      break;
    case Sequence::after_error:
      add(position, tokens);
      add(position, tokens);
      if (!calls.empty()) calls.back().is_beyond = true;
      add(position, tokens);
      add(position + 1, 1);
      break;
    case Sequence::after_empty:
      add(position, tokens);
      add(position, tokens);
      if (!calls.empty()) calls.back().is_empty = true;
      add(position, tokens);
      add(position + 1, 1);
      break;
    case Sequence::other_weights:
      for (const OtherWeight weight : {OtherWeight::none, OtherWeight::all_but_first, OtherWeight::all_but_middle,
                                       OtherWeight::all_but_last, OtherWeight::in_reverse}) {
        add(position, tokens);
        if (!calls.empty()) calls.back().weight = weight;
      }
      if (calls.empty() || !model.accuracy_call(calls.front().question).weight) calls.clear();
      break;
  }
  return calls;
}

namespace {

// Others are as far from what they were as half of it and a quarter, which every dtype holds about exactly.
void change(Tensor& weight, OtherWeight which) {
  const std::int64_t count = weight.elements();
  const Tensor drawn = weight;
  const std::int64_t kept = which == OtherWeight::all_but_first    ? 0
                            : which == OtherWeight::all_but_middle ? count / 2
                                                                   : count - 1;
  for (std::int64_t i = 0; which != OtherWeight::none && i < count; ++i) {
    if (which == OtherWeight::in_reverse)
      weight.set(i, drawn.at(count - 1 - i));
    else if (i != kept)
      weight.set(i, drawn.at(i) / 2 + 0.25);
  }
}

}  // namespace

Call call_of(const EncodingModel& model, const SequencedCall& call) {
  if (call.is_empty) {
    Question none = call.question;
    none.tokens = 0;
    return model.call_of(none);
  }
  Call made = model.accuracy_call(call.question);
  if (made.weight) change(*made.weight, call.weight);
  if (!call.is_beyond) return made;
  std::ranges::fill(made.positions, model.range().last);
  std::ranges::fill(made.query_positions, model.range().last);
  return made;
}

}  // namespace sextant
