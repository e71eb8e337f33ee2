#include "properties/diagnose/laws/wrong_rotation_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/diagnose/diagnose.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

Rope* head_of(Spec& spec) {
  if (auto* rope = held<Rope>(spec)) return rope;
  if (auto* several = held<RopeNd>(spec)) return &several->rope;
  if (auto* xpos = held<Xpos>(spec)) return &xpos->rope;
  return nullptr;
}

// The claim whose rotation is the transposed one; its own inverse.
Spec transposed(Spec spec) {
  if (Rope* head = head_of(spec)) {
    head->direction = head->direction == Direction::clockwise ? Direction::counterclockwise : Direction::clockwise;
    std::swap(head->pairing, head->output_pairing);
  }
  return spec;
}

// What is rotated, on which a gradient does not depend: the gradient's own values, each an element further on.
Tensor moved_by_one(const Tensor& values) {
  Tensor moved = values;
  if (values.elements() > 1)
    std::ranges::rotate(moved.data, moved.data.begin() + static_cast<std::ptrdiff_t>(size_of(values.dtype)));
  return moved;
}

class GradientSession final : public Session {
 public:
  explicit GradientSession(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  Description describe() override {
    Description description = session_->describe();
    description.threads = false;
    return description;
  }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    if (operation != "rotate") return session_->call(operation, inputs);
    Tensors asked = inputs;
    asked.insert_or_assign("grad", inputs.at("x"));
    asked.insert_or_assign("x", moved_by_one(inputs.at("x")));
    Tensors reply = session_->backward("rotate", asked);
    const auto gradient = reply.find("grad_x");
    if (gradient == reply.end()) throw SubjectFailure(FailureKind::protocol, "the reply has no tensor \"grad_x\"");
    return named("y", std::move(gradient->second));
  }

 private:
  std::unique_ptr<Session> session_;
};

// Answers `rotate` under a transposed claim with gradients under the claim.
class GradientSubject final : public Subject {
 public:
  explicit GradientSubject(const Subject& subject) : subject_(subject) {}

  std::string name() const override { return subject_.name(); }
  Spec within_reach(const Spec& spec) const override { return transposed(subject_.within_reach(transposed(spec))); }
  std::unique_ptr<Session> open(const Spec& spec) const override {
    return std::make_unique<GradientSession>(subject_.open(transposed(spec)));
  }
  std::unique_ptr<Session> open_anew(const Spec& spec) const override {
    return std::make_unique<GradientSession>(subject_.open_anew(transposed(spec)));
  }

 private:
  const Subject& subject_;
};

// What a gradient may be in place of the claim's.
struct OtherRotation {
  std::string words;
  Spec spec;
};

std::vector<OtherRotation> other_gradients(const Spec& claim) {
  std::vector<OtherRotation> list{{"the gradient is rotated forward, not back", claim}};
  const Spec back = transposed(claim);
  const auto add = [&](std::string words, const auto& change) {
    Spec spec = back;
    change(*head_of(spec));
    if (to_json(spec) != to_json(back)) list.push_back({std::move(words), std::move(spec)});
  };
  add("the gradient lacks the attention factor", [](Rope& rope) {
    if (auto* yarn = std::get_if<YarnScaling>(&rope.rope_scaling)) {
      yarn->mscale.reset();
      yarn->mscale_all_dim.reset();
      yarn->attention_factor = 1;
    }
    if (auto* longrope = std::get_if<LongropeScaling>(&rope.rope_scaling)) {
      longrope->short_mscale.reset();
      longrope->long_mscale.reset();
      longrope->attention_factor = 1;
    }
  });
  if (!std::holds_alternative<NoTurning>(head_of(list.front().spec)->rope_scaling))
    add("the gradient does not know the scaling rule", [](Rope& rope) { rope.rope_scaling = DefaultScaling{}; });
  add("the gradient's base is 10000, whatever the claim's rope_theta", [](Rope& rope) { rope.rope_theta = 10000; });
  if (const auto* xpos = held<Xpos>(back)) {
    Spec spec = back;
    spec.encoding = xpos->rope;
    list.push_back({"the gradient lacks xPos' power", spec});
    Xpos other = *xpos;
    other.role = xpos->role == Role::query ? Role::key : Role::query;
    spec.encoding = other;
    list.push_back({"the gradient is divided by xPos' power, not multiplied", spec});
  }
  return list;
}

// Calls of several lengths, rows and heads, near 0 and at the claim's end, one of one token.
std::vector<Question> gradient_questions(const Spec& claim) {
  const auto model = model_of(claim);
  const gen::PositionRange range = model->range();
  const std::int64_t near = gen::simplest_position(range);
  const std::int64_t middle = range.first + (range.last - range.first) / 2;
  const auto before_end = [&](std::int64_t tokens) { return std::max(range.first, range.last - tokens); };
  std::vector<Question> questions{{.position = near, .tokens = 5, .batch = 2, .heads = 3, .fill = 1},
                                  {.position = std::min(near + 1, range.last - 1), .tokens = 1, .heads = 2, .fill = 2},
                                  {.position = middle, .tokens = 33, .batch = 3, .heads = 1, .fill = 3},
                                  {.position = near, .tokens = 260, .heads = 2, .fill = 4},
                                  {.position = before_end(7), .tokens = 7, .batch = 2, .heads = 12, .fill = 5}};
  std::erase_if(questions, [&](const Question& question) { return !model->fits(question); });
  return questions;
}

struct AskedGradient {
  Call call;
  Tensor gradient;
};

bool is_met(const Spec& spec, std::span<const AskedGradient> asked) {
  const auto judge = model_of(spec)->judge();
  return std::ranges::all_of(asked, [&](const AskedGradient& one) {
    return judge->values(one.call, one.gradient).within == reference::Certainty::yes;
  });
}

bool is_zero_gradient(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    if (tensor.at(i) != 0) return false;
  }
  return true;
}

// Which channels of each pair a call's vectors have, as the gradient is given.
enum class PairMember { first, second };

// The gradients of vectors that have one member of each pair alone, and of these one member with the other sign: the
// gradient by each member is known from them, as it is linear.
bool are_met_with_turned_sign(Session& session, const Spec& back, PairMember given, PairMember turned) {
  Spec spec = back;
  const Rope head = *head_of(spec);
  const auto model = model_of(back);
  const auto judge = model->judge();
  return std::ranges::all_of(gradient_questions(back), [&](const Question& question) {
    Call call = model->call_of(question);
    Tensor& x = call.vectors[0];
    for (std::int64_t start = 0; start < x.elements(); start += head.head_dim) {
      for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
        const Channels from = channels_of_pair(head, head.pairing, pair);
        x.set(start + (given == PairMember::first ? from.second : from.first), 0);
      }
    }
    Tensor answer = model->ask(session, call);
    if (given != turned) {
      for (std::int64_t start = 0; start < answer.elements(); start += head.head_dim) {
        for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
          const Channels to = channels_of_pair(head, head.output_pairing, pair);
          const std::int64_t at = start + (turned == PairMember::first ? to.first : to.second);
          answer.set(at, -answer.at(at));
        }
      }
    }
    return judge->values(call, answer).within == reference::Certainty::yes;
  });
}

std::string words_of_sign(const Subject& gradients, const Spec& back) {
  const auto session = gradients.open(back);
  for (const PairMember member : {PairMember::second, PairMember::first}) {
    if (are_met_with_turned_sign(*session, back, PairMember::first, member) &&
        are_met_with_turned_sign(*session, back, PairMember::second, member))
      return fmt::format("in the gradient of each pair's {} channel the sine has the wrong sign",
                         member == PairMember::first ? "first" : "second");
  }
  return {};
}

}  // namespace

std::string words_of_rotation_gradient(const Subject& subject, const Spec& claim, const Clues& clues,
                                       const std::vector<std::string>& failing) {
  const Spec back = transposed(claim);
  const GradientSubject gradients(subject);
  std::vector<AskedGradient> asked;
  {
    const auto model = model_of(back);
    const auto session = gradients.open(back);
    for (const Question& question : gradient_questions(back)) {
      Call call = model->call_of(question);
      Tensor gradient = model->ask(*session, call);
      asked.push_back({std::move(call), std::move(gradient)});
    }
  }
  if (!is_met(back, asked)) {
    if (std::ranges::all_of(asked, [](const AskedGradient& one) { return is_zero_gradient(one.gradient); }))
      return "the gradient is zero";
    for (const OtherRotation& other : other_gradients(claim)) {
      if (is_met(other.spec, asked)) return other.words;
    }
    if (std::string words = words_of_sign(gradients, back); !words.empty()) return words;
  }
  const auto diagnosis = diagnose(gradients, back, {.proposer = clues.proposer, .failing = failing});
  const std::string words = diagnosis ? words_of(*diagnosis) : std::string();
  return words.empty() ? words : "in the gradient, " + words;
}

}  // namespace sextant::identify
