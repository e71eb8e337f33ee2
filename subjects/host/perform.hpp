#pragma once

#include <map>
#include <string>

#include "subjects/c/sextant_subject.h"
#include "subjects/host/guarded.hpp"
#include "subjects/safetensors.hpp"

namespace sextant::host {

/// Whether the request is the only one that waits for a reply.
enum class Waiting { one, several };

/// Performs a request by a function of the table, its tensors in guarded memory, and looks afterwards at what it left:
/// tensors, padding, floating-point environment. Where tensors lie (guarded.hpp) follows from what is asked alone, so
/// that a case that is asked again, in another session, lies as it did. For one thread, as its arena.
/// @returns the reply, whatever came of it.
Blob perform(const SextantSubject& subject, const Blob& request, Arena& arena, Waiting waiting);

/// The reply to `describe`.
std::map<std::string, std::string> description_of(const SextantSubject& subject, const std::string& id);

}  // namespace sextant::host
