#pragma once

#include <exception>
#include <functional>
#include <map>
#include <span>
#include <thread>
#include <vector>

#include "subjects/subject.hpp"

namespace sextant {

/// Calls perform(call) for each, in the threads that they name, within this process. For sessions that live in it.
/// @throws what a perform throws that is no SubjectFailure, after all have ended.
inline std::vector<ThreadReply> in_threads(std::span<const ThreadCall> calls,
                                           const std::function<Tensors(const ThreadCall& call)>& perform) {
  std::vector<ThreadReply> replies(calls.size());
  std::vector<std::exception_ptr> others(calls.size());
  std::map<std::int64_t, std::vector<std::size_t>> of_threads;
  for (std::size_t i = 0; i < calls.size(); ++i) of_threads[calls[i].thread].push_back(i);
  {
    std::vector<std::jthread> threads;
    for (const auto& [number, own] : of_threads) {
      threads.emplace_back([&calls, &perform, &replies, &others, &list = own] {
        for (const std::size_t i : list) {
          try {
            replies[i].tensors = perform(calls[i]);
          } catch (const SubjectFailure& failure) {
            replies[i].failure = failure;
          } catch (...) {
            others[i] = std::current_exception();
          }
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
