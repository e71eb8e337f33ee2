#pragma once

#include <cstdint>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/call.hpp"
#include "properties/model/model.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// A call of a session with its extents: positions are [axes, rows, tokens], of a bias those of its keys.
struct SessionCall {
  Call call;
  std::int64_t rows;
  std::int64_t tokens;

  std::int64_t axes() const { return std::ssize(call.positions) / (rows * tokens); }
  std::int64_t greatest() const;
};

/// Sessions of a few calls each, in which what may be kept from call to call shows, and by which key: calls of as many
/// tokens elsewhere, that begin or end alike, of one token before, behind and far beyond those before it, of more rows
/// and of fewer, and, where frequencies change with the length of a call, on both sides of that length.
std::vector<std::vector<SessionCall>> sessions_of_calls(const EncodingModel& model);

/// A few calls that are asked in two sessions, in this order and in reverse, to see whether anything is kept at all.
std::vector<SessionCall> calls_of_two_orders(const EncodingModel& model);

/// Likewise steps of attention, all of one shape; none of another encoding.
std::vector<Call> steps_of_two_orders(const EncodingModel& model);

}  // namespace sextant::identify
