#include "properties/identify/state/kept_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/state/asked_sessions.hpp"
#include "properties/identify/state/session_readings.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// The calls of a session that were answered, up to the first that was not.
struct AnsweredSession {
  std::vector<SessionCall> calls;
  std::vector<Tensor> answers;
  std::vector<bool> are_right;  // by the claim
};

bool is_met(const EncodingModel& model, const Call& call, const Tensor& answer) {
  return model.judge()->values(call, answer).within != reference::Certainty::no;
}

AnsweredSession answered(const Subject& subject, const Spec& probe, const EncodingModel& model,
                         const std::vector<SessionCall>& calls) {
  AnsweredSession session;
  const auto opened = subject.open(probe);
  for (const SessionCall& one : calls) {
    try {
      session.answers.push_back(model.ask(*opened, one.call));
    } catch (const SubjectFailure&) {
      break;
    }
    session.are_right.push_back(is_met(model, one.call, session.answers.back()));
    session.calls.push_back(one);
  }
  return session;
}

bool explains(const SessionReading& reading, const std::vector<AnsweredSession>& sessions) {
  for (const AnsweredSession& session : sessions) {
    const std::span<const SessionCall> calls(session.calls);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::optional<TakenCall> taken = reading.taken(calls.first(i), calls[i]);
      const bool is_right = taken ? is_met(*model_of(taken->spec), taken->call, session.answers[i])
                                  : static_cast<bool>(session.are_right[i]);
      if (!is_right) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<double> apart(const Tensor& one, const Tensor& other, Dtype dtype) {
  if (one.elements() != other.elements()) return std::nullopt;
  double most = 0;
  double greatest = 0;
  for (std::int64_t i = 0; i < one.elements(); ++i) {
    const double difference = std::fabs(one.at(i) - other.at(i));
    if (std::isfinite(difference)) most = std::max(most, difference);
    if (std::isfinite(one.at(i))) greatest = std::max(greatest, std::fabs(one.at(i)));
  }
  constexpr double units = 16;
  if (most <= units * std::ldexp(greatest, -format_of(dtype).precision)) return std::nullopt;
  return most;
}

std::optional<Fault> kept_state(const Subject& subject, const Spec& probe, const Spec& claim) {
  const auto model = model_of(claim);
  if (!subject.is_live() || model->not_judged()) return std::nullopt;
  std::vector<AnsweredSession> sessions;
  for (const std::vector<SessionCall>& calls : sessions_of_calls(*model))
    sessions.push_back(answered(subject, probe, *model, calls));
  std::int64_t wrong = 0;
  for (const AnsweredSession& session : sessions) wrong += std::ranges::count(session.are_right, false);
  constexpr std::int64_t fewest = 2;
  if (wrong < fewest) return std::nullopt;
  for (const SessionReading& reading : session_readings(claim)) {
    if (explains(reading, sessions)) return Fault(reading.words, reading.stage);
  }
  return std::nullopt;
}

namespace {

// Whether calls are answered otherwise in one order than in reverse, each in a session of its own.
bool depends_on_order_of(const std::vector<Call>& calls, const Subject& subject, const EncodingModel& model) {
  std::vector<Tensor> answers;
  const auto first = subject.open(model.spec());
  for (const Call& one : calls) answers.push_back(model.ask(*first, one));
  const auto second = subject.open(model.spec());
  for (std::size_t i = calls.size(); i-- > 0;) {
    if (apart(model.ask(*second, calls[i]), answers[i], model.spec().dtype)) return true;
  }
  return false;
}

}  // namespace

bool depends_on_order(const Subject& subject, const Spec& probe) {
  const auto model = model_of(probe);
  if (!subject.is_live()) return false;
  std::vector<Call> calls;
  for (SessionCall& one : calls_of_two_orders(*model)) calls.push_back(std::move(one.call));
  if (depends_on_order_of(calls, subject, *model)) return true;
  const std::vector<Call> steps = steps_of_two_orders(*model);
  try {
    return !steps.empty() && depends_on_order_of(steps, subject, *model);
  } catch (const SubjectFailure&) {
    // It has no steps.
    return false;
  }
}

}  // namespace sextant::identify
