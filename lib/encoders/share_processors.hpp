#pragma once

namespace sextant {

/// From now on calls of encoders on this thread start at most a `callers`-th of the machine's processors as threads, at
/// least one: where several threads call encoders at once, their teams would wait for each other's processors. Results
/// do not depend on it. @param callers  at least 1.
void share_processors(int callers);

}  // namespace sextant
