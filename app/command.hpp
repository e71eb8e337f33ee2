#pragma once

#include <functional>
#include <span>
#include <stdexcept>

#include "lib/numeric/user_error.hpp"

namespace CLI {
class App;
}

namespace sextant {

/// Exit statuses that are not the verdict of an audit.
inline constexpr int exit_usage = 2;
inline constexpr int exit_interrupted = 130;

/// An argument that cannot be taken: one line for standard error, exit status 2.
class UsageError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// A run that a signal has ended, with what there is to say of it: one line for standard error, exit status 130.
class InterruptedRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a subcommand does once its arguments are parsed; returns the exit status.
using Run = std::function<int()>;

// Each adds its subcommand to the parser and returns what it runs; one file each.
/// `words`: the command line's, which the one that resumes repeats.
Run add_audit(CLI::App& app, std::span<const char* const> words);
Run add_grade(CLI::App& app);
Run add_identify(CLI::App& app);
Run add_spec(CLI::App& app);
Run add_table(CLI::App& app);
Run add_vectors(CLI::App& app);
Run add_list(CLI::App& app);
Run add_explain(CLI::App& app);
Run add_report(CLI::App& app);
Run add_completion(CLI::App& app);
Run add_manual(CLI::App& app);

}  // namespace sextant
