#pragma once

#include <exception>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "subjects/subject.hpp"

namespace sextant {

/// Calls perform(call) for each, in a thread of its own, within this process. For sessions that live in it.
/// @throws what a perform throws that is no SubjectFailure, after all have ended.
inline std::vector<ThreadReply> in_threads(std::span<const ThreadCall> calls,
                                           const std::function<Tensors(const ThreadCall& call)>& perform) {
  std::vector<ThreadReply> replies(calls.size());
  std::vector<std::exception_ptr> others(calls.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          replies[i].tensors = perform(calls[i]);
        } catch (const SubjectFailure& failure) {
          replies[i].failure = failure;
        } catch (...) {
          others[i] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& other : others) {
    if (other) std::rethrow_exception(other);
  }
  return replies;
}

}  // namespace sextant
