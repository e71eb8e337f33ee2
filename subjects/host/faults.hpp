#pragma once

#include <string>

namespace sextant::host {

/// The call that a thread is performing, for the signal handler.
struct Underway {
  const char* operation;  ///< "rotate"
  const char* id;         ///< of the request that may be answered when the call faults; null where others wait as well
};

/// Says for a scope what this thread is performing, and gives it a stack for the handler.
class Performing {
 public:
  explicit Performing(Underway underway);
  Performing(const Performing&) = delete;
  Performing& operator=(const Performing&) = delete;
  ~Performing();

 private:
  Underway underway_;
};

/// From now on a fault is told before the process ends by its signal: on standard error, and, where it lies beside a
/// tensor, in a reply of status `misbehaved` on the descriptor `replies`: "rotate read past the end of x: ...".
void tell_faults(int replies);

}  // namespace sextant::host
