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

// How the subject answers a variant, beside the claim. Of a variant of another width the claim's result is one that the
// protocol refuses.
enum class Reply { alike, otherwise, refused };

Reply reply_to(const Subject& subject, const Variant& variant, const std::vector<Tensor>& own,
               const std::vector<Question>& questions) {
  try {
    return same_bits(own, answers_of(subject, variant.spec, questions)) ? Reply::alike : Reply::otherwise;
  } catch (const SubjectFailure& failure) {
    return failure.kind() == FailureKind::protocol ? Reply::alike : Reply::refused;
  }
}

// The fields whose change changes an answer, or is refused, and those whose change does not, where no input shows it.
struct Heard {
  std::set<std::string> fields;
  std::set<std::string> refused;  // of these
  std::set<std::string> ignored;
};
enum class Wanted { every_field, whether_any_is_heard };

Heard heard_fields(const Subject& subject, const Spec& spec, Wanted wanted) {
  Heard heard;
  const auto model = model_of(spec);
  const std::vector<Variant> variants = model->variants();
  if (variants.empty()) return heard;
  const std::vector<Question> questions = telling_questions(*model, spec);
  std::vector<Call> calls;
  for (const Question& question : questions) calls.push_back(model->call_of(question));
  std::vector<Tensor> own;
  try {
    own = answers_of(subject, spec, questions);
  } catch (const SubjectFailure&) {
    return heard;  // of which the properties tell
  }
  for (const Variant& variant : variants) {
    const auto other = model_of(variant.spec);
    bool shows = false;
    for (std::size_t i = 0; i < questions.size(); ++i)
      shows = shows || shows_in_inputs(calls[i], other->call_of(questions[i]));
    if (shows) continue;
    const Reply reply = reply_to(subject, variant, own, questions);
    (reply == Reply::alike ? heard.ignored : heard.fields).insert(variant.field);
    if (reply == Reply::refused) heard.refused.insert(variant.field);
    if (wanted == Wanted::whether_any_is_heard && !heard.fields.empty()) return heard;
  }
  // One of a field's variants may be as good as the claim itself.
  std::erase_if(heard.ignored, [&](const std::string& field) { return heard.fields.contains(field); });
  return heard;
}

// "the fields pairing, rope_theta".
std::string fields_text(const std::set<std::string>& fields) {
  return fmt::format("the field{} {}", fields.size() == 1 ? "" : "s", fmt::join(fields, ", "));
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
  const Heard heard = heard_fields(subject, spec, Wanted::whether_any_is_heard);
  if (!heard.fields.empty() || heard.ignored.empty()) return {};
  return {std::vector<std::string>{},
          fmt::format("the subject serves this claim alone: no bit of its answers depends on {}",
                      fields_text(heard.ignored))};
}

std::string unread_text(const Subject& subject, const Spec& spec) {
  const Heard heard = heard_fields(subject, spec, Wanted::every_field);
  if (heard.ignored.empty()) return {};
  const std::string ignored = "no bit of its answers depends on " + fields_text(heard.ignored);
  // What reads some fields to refuse others' values is made for more than one spec.
  if (!heard.refused.empty())
    return fmt::format("{}; refuse what is not computed (in Python return None), as it does of {}", ignored,
                       fields_text(heard.refused));
  std::vector<std::string> quoted;
  for (const std::string& field : heard.fields) quoted.push_back('"' + field + '"');
  return fmt::format("{}; if it is made for one spec, fields = [{}] says so", ignored, fmt::join(quoted, ", "));
}

std::optional<std::string> why_unread(const Property& property, const FieldsRead& read) {
  if (!property.changes || !read.fields) return std::nullopt;
  const bool any = property.changes->empty();
  if (any ? !read.fields->empty() : std::ranges::count(*read.fields, *property.changes) > 0) return std::nullopt;
  return read.how_known;
}

}  // namespace sextant
