#pragma once

#include <optional>
#include <string>

#include "lib/spec/spec.hpp"
#include "properties/engine/property.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// Which fields of a spec a subject's answers depend on.
struct FieldsRead {
  /// Those that it names (Description::fields); nothing where it names none and its answers show that it reads some.
  std::optional<std::vector<std::string>> fields;
  std::string how_known;  ///< a sentence for the report, without its full stop; empty where nothing is known
};

/// What the subject says, else what its answers show: none is read where the answers to the claim, near its first and
/// its last position, have the same bits under each of the claim's variants. A subject that refuses a variant reads it.
/// @throws Interrupted.
FieldsRead fields_read_by(const Subject& subject, const Spec& spec, const Description& description);

/// Of a subject that reads some fields and not others: "no bit of its answers depends on the field pairing; if it is
/// made for one spec, fields = ["rope_theta"] says so"; of one that refuses some "...; refuse what is not computed (in
/// Python return None), as it does of the field rotary_dim". Empty where each is heard or refused. @throws Interrupted.
std::string unread_text(const Subject& subject, const Spec& spec);

/// Why the property says nothing of a subject that reads these fields, or nothing if it is to be judged.
std::optional<std::string> why_unread(const Property& property, const FieldsRead& read);

}  // namespace sextant
