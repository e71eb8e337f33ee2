#include "properties/diagnose/places/failing_attention.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "lib/spec/of.hpp"
#include "properties/attention/steps.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/case.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/identify/attention/place_of_calls.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

constexpr std::array asked_of_attention{std::string_view("accuracy"), std::string_view("decode"),
                                        std::string_view("padding")};

// What stands in padding says nothing of a call's extents.
AttentionCase failing_case(const Spec& claim, std::string_view id, const std::string& token) {
  const auto values = [&](const auto& fields) {
    return values_of(fields, read_token(token, property_named(id)->fields(claim)));
  };
  if (id == "decode") return step_case_of(claim, values(steps().fields(claim)));
  if (id == "padding") return padded_case_of(claim, values(padded_calls().fields(claim)), 0);
  const auto model = model_of(claim);
  return attention_case(model->accuracy_call(values(model->question_fields())));
}

std::vector<const Example*> examples_of(const Clues& clues, std::string_view id) {
  std::vector<const Example*> list;
  const PropertyResult* result = violated_named(clues, id);
  if (result == nullptr) return list;
  for (const auto& example : {&result->simplest, &result->worst}) {
    if (*example) list.push_back(&**example);
  }
  return list;
}

// The call's extents, asked in another way.
AttentionCase asked_whole(AttentionCase call) {
  call.query_positions = {};
  return call;
}
AttentionCase unpadded(AttentionCase call) {
  call.starts = call.ends = {};
  return call;
}
AttentionCase padded(AttentionCase call) {
  call.ends.assign(static_cast<std::size_t>(call.batch), call.tokens);
  return call;
}

bool has_padding(const AttentionCase& call) { return !call.starts.empty() || !call.ends.empty(); }

}  // namespace

std::vector<AttentionCase> failing_attention(const Spec& claim, const Clues& clues) {
  std::vector<AttentionCase> list;
  if (!is_of<Attention>(claim)) return list;
  for (const std::string_view id : asked_of_attention) {
    for (const Example* example : examples_of(clues, id)) {
      if (example->shown == Shown::alone) list.push_back(failing_case(claim, id, example->token));
    }
  }
  return list;
}

bool fails_after_other_calls(const Clues& clues) {
  bool any = false;
  for (const std::string_view id : asked_of_attention) {
    for (const Example* example : examples_of(clues, id)) {
      if (example->shown == Shown::alone) return false;
      any = true;
    }
  }
  return any;
}

Widened widened(const Fault& fault, const std::vector<AttentionCase>& failing) {
  if (!fault.says_right || std::ranges::none_of(failing, fault.says_right)) return {};
  const AttentionCase& any = failing.front();
  const bool are_whole_right =
      fault.says_right(unpadded(asked_whole(any))) && fault.says_right(padded(asked_whole(any)));
  if (are_whole_right && std::ranges::all_of(failing, &AttentionCase::is_step))
    return {true, std::string(wrong_in_some_steps)};
  const bool are_unpadded_right = fault.says_right(unpadded(asked_whole(any))) && fault.says_right(unpadded(any));
  if (are_unpadded_right && std::ranges::all_of(failing, has_padding))
    return {true, "values are wrong in some calls with padding, and right in those without"};
  return {true};
}

}  // namespace sextant::identify
