#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "properties/vectors/asked.hpp"

namespace sextant::vectors {

// How the questions of the vectors are chosen: by which of them a wrong implementation gives itself away.

/// How it does in a call: by an element of its answer, or whatever the elements.
struct Conviction {
  std::optional<std::int64_t> element;
};

/// What is asked, and the right answer.
struct Asked {
  const EncodingModel& model;
  const Ask& ask;
  const Call& call;
  Exchange& right;
  Judge& judge;
};

/// Whether it does, by one of these elements where they do.
std::optional<Conviction> conviction(Session& session, const Asked& asked, const std::set<std::int64_t>& elements);

/// Sends what was sent before, whatever comes of it: a runner goes on to the next test.
void send_to(Session& session, const Exchange& earlier);

/// "A5,B1": the rows of docs/bug-zoo.md that a mutant names.
std::set<std::string> rows_of(std::string_view row);

/// A line of chosen.def.
std::string line_of(const Ask& ask, const std::set<std::int64_t>& elements, const std::set<std::string>& rows);

}  // namespace sextant::vectors
