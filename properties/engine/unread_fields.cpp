#include "properties/engine/unread_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>

#include "properties/gen/position.hpp"
#include "properties/model/model.hpp"
#include "properties/model/questions.hpp"

namespace sextant {
namespace {

// A call near each end of the claim: some fields act only beyond a length, and none acts at position 0.
std::vector<Question> telling_questions(const EncodingModel& model, const Spec& spec) {
  const gen::PositionRange range = gen::range_of(spec);
  std::vector<Question> questions;
  for (const std::int64_t position : {gen::simplest_position(range) + 1, range.last - 4}) {
    const Question question{.position = position, .tokens = 3, .batch = 2, .heads = 2, .fill = 1};
    if (model.admits(question)) questions.push_back(question);
  }
  if (questions.empty()) questions.push_back(model.first_questions().front());
  return questions;
}

std::vector<Tensor> answers_of(const Subject& subject, const Spec& asked, const std::vector<Question>& questions) {
  const std::unique_ptr<Session> session = subject.open(asked);
  std::vector<Tensor> answers;
  for (const Question& question : questions) answers.push_back(ask(*session, asked, question));
  return answers;
}

bool same_bits(const std::vector<Tensor>& one, const std::vector<Tensor>& other) {
  return std::ranges::equal(one, other, [](const Tensor& a, const Tensor& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.data == b.data;
  });
}

// Of some fields the inputs show what they say: whoever looks at those alone answers otherwise, and reads no spec.
bool shows_in_inputs(const Call& one, const Call& other) {
  const auto alike = [](const std::optional<Tensor>& a, const std::optional<Tensor>& b) {
    return a.has_value() == b.has_value() && (!a || same_bits({*a}, {*b}));
  };
  return !same_bits(one.vectors, other.vectors) || !alike(one.weight, other.weight) || !alike(one.sinks, other.sinks);
}

// Whether the subject answers a variant as it answers the claim. Of a variant of another width that is a result of the
// claim's, which the protocol refuses.
bool is_ignored(const Subject& subject, const Variant& variant, const std::vector<Tensor>& own,
                const std::vector<Question>& questions) {
  try {
    return same_bits(own, answers_of(subject, variant.spec, questions));
  } catch (const SubjectFailure& failure) {
    if (failure.kind() == FailureKind::protocol) return true;
    throw;
  }
}

}  // namespace

FieldsRead fields_read_by(const Subject& subject, const Spec& spec, const Description& description) {
  if (description.fields) {
    return {description.fields,
            description.fields->empty()
                ? std::string("the subject says that it reads no field of the spec")
                : fmt::format("the subject says that of the spec it reads {}", fmt::join(*description.fields, ", "))};
  }
  if (!subject.is_live()) return {};
  const auto model = model_of(spec);
  const std::vector<Variant> variants = model->variants();
  if (variants.empty()) return {};
  const std::vector<Question> questions = telling_questions(*model, spec);
  std::vector<Call> calls;
  for (const Question& question : questions) calls.push_back(model->call_of(question));
  std::set<std::string> changed;
  try {
    const std::vector<Tensor> own = answers_of(subject, spec, questions);
    for (const Variant& variant : variants) {
      const auto other = model_of(variant.spec);
      bool shows = false;
      for (std::size_t i = 0; i < questions.size(); ++i)
        shows = shows || shows_in_inputs(calls[i], other->call_of(questions[i]));
      if (shows) continue;
      changed.insert(variant.field);
      if (!is_ignored(subject, variant, own, questions)) return {};
    }
  } catch (const SubjectFailure&) {
    return {};  // it refuses the variant, or the claim itself, of which the properties tell
  }
  if (changed.empty()) return {};
  return {std::vector<std::string>{},
          fmt::format("the subject serves this claim alone: no bit of its answers depends on {}",
                      fmt::join(changed, ", "))};
}

std::optional<std::string> why_unread(const Property& property, const FieldsRead& read) {
  if (!property.changes || !read.fields) return std::nullopt;
  const bool any = property.changes->empty();
  if (any ? !read.fields->empty() : std::ranges::count(*read.fields, *property.changes) > 0) return std::nullopt;
  return read.how_known;
}

}  // namespace sextant
