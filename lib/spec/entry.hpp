#pragma once

namespace sextant {

/// An encoding's line in the list of all encodings: its name, how JSON is read and written, what a subject is asked.
/// Private to lib/spec, which defines it in encoding_entry.hpp; each encoding's own file has its `entry`.
template <class EncodingType>
struct EncodingEntry;

}  // namespace sextant
