#pragma once

#include <string>
#include <string_view>

namespace sextant {

/// `text` with every control character but the line feed, every byte that is not part of valid UTF-8, and U+FFFE and
/// U+FFFF (which XML 1.0 cannot hold) replaced by "?": a subject's words can neither steer a terminal nor break a file.
std::string printable(std::string_view text);

/// A path as the reference of a URI (RFC 3986): what is neither unreserved nor a separator is written in hexadecimal.
std::string uri_of(std::string_view path);

/// `text` with a capital letter first.
std::string capitalized(std::string text);

/// `text` as a sentence: a capital letter first and a full stop behind.
std::string sentence(std::string text);

/// `text` in lines of at most `width` columns, broken at spaces; all but the first are indented by `indent`, and the
/// first is taken to start there. A longer word stands alone.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace sextant
