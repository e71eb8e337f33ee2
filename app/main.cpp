#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "app/command.hpp"
#include "app/parse_error.hpp"
#include "lib/kernels/targets.hpp"
#include "lib/numeric/user_error.hpp"
#include "lib/spec/nearest_name.hpp"
#include "reports/grade.hpp"
#include "reports/text.hpp"
#include "subjects/process.hpp"
#include "subjects/subject.hpp"

namespace {

// Tells what went wrong, and ends with a status.
class Complaint {
 public:
  // `grade` has a line on standard output for its caller whatever happens.
  Complaint(int argc, char** argv) : is_graded_(argc > 1 && std::string_view(argv[1]) == "grade") {}

  // One line, whatever a subject or a file has put into it.
  int operator()(std::string message, int status) const {
    constexpr std::size_t longest = 2000;
    if (message.size() > longest) message = message.substr(0, longest) + "...";
    message = sextant::printable(message);
    std::ranges::replace(message, '\n', ' ');
    fmt::print(stderr, "sextant: {}\n", message);
    if (is_graded_) fmt::print("{}", sextant::write_grade_of_error(message, status));
    return status;
  }

 private:
  bool is_graded_;
};

// An empty value is what an unset variable leaves of a script's command line: to take it for an absent option would
// answer another question.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.empty()) throw sextant::UsageError(fmt::format("{}: the value is empty", option->get_name()));
    }
  }
  for (const CLI::App* subcommand : app.get_subcommands()) refuse_empty_values(*subcommand);
}

// The first word names the subcommand: CLI11 says of another only that one is required.
void refuse_unknown(const std::map<std::string, sextant::Run>& subcommands, int argc, char** argv) {
  if (argc < 2 || subcommands.contains(argv[1])) return;
  if (argv[1][0] == '-') {
    constexpr std::array<std::string_view, 4> options{"-h", "--help", "--version", "--help-all"};
    if (std::ranges::find(options, std::string_view(argv[1])) == options.end())
      throw sextant::UsageError(fmt::format("{}: no option of the command itself, which has --help and --version{}",
                                            argv[1], sextant::did_you_mean(argv[1], options)));
    return;
  }
  std::vector<std::string_view> known;
  for (const auto& [name, run] : subcommands) known.push_back(name);
  throw sextant::UsageError(fmt::format("{}: no such subcommand; expected one of {}{}", argv[1], fmt::join(known, ", "),
                                        sextant::did_you_mean(argv[1], known)));
}

std::string unwritten() { return fmt::format("standard output: cannot be written: {}", std::strerror(errno)); }

int run(int argc, char** argv) {
  using namespace sextant;
  CLI::App app("Sextant verifies positional encodings against proofs instead of tolerances.", "sextant");
  app.set_version_flag("--version", SEXTANT_VERSION);
  app.require_subcommand(1);
  std::map<std::string, Run> subcommands;
  subcommands["audit"] = add_audit(app, std::span<const char* const>(argv, static_cast<std::size_t>(argc)));
  subcommands["grade"] = add_grade(app);
  subcommands["identify"] = add_identify(app);
  subcommands["spec"] = add_spec(app);
  subcommands["table"] = add_table(app);
  subcommands["vectors"] = add_vectors(app);
  subcommands["list"] = add_list(app);
  subcommands["explain"] = add_explain(app);
  subcommands["report"] = add_report(app);
  subcommands["completion"] = add_completion(app);
  subcommands["man"] = add_manual(app);
  const Complaint complain(argc, argv);
  try {
    refuse_unknown(subcommands, argc, argv);
    app.parse(argc, argv);
    refuse_empty_values(app);
    target_in_use();  // refuses a bad SEXTANT_FORCE_TARGET, whatever the subcommand
    const int status = subcommands.at(app.get_subcommands().front()->get_name())();
    // What the verdict was printed to may be full, or closed: then nobody has it.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return complain(unwritten(), exit_usage);
    return status;
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return complain(text_of(app, std::span<const char* const>(argv, static_cast<std::size_t>(argc)), error),
                    exit_usage);
  } catch (const InterruptedRun& run) {
    return complain(run.what(), exit_interrupted);
  } catch (const Interrupted&) {
    return complain("interrupted", exit_interrupted);
  } catch (const std::exception& error) {
    if (dynamic_cast<const UserError*>(&error) != nullptr) return complain(error.what(), exit_usage);
    if (std::ferror(stdout) != 0) return complain(unwritten(), exit_usage);
    // Nothing could be concluded; the subject is not to blame.
    return complain(fmt::format("internal error: {}", error.what()), 4);
  }
}

// glibc hands a large block back to the system when it is freed, and each page of the next one costs a fault: a third
// of the time of audits, whose calls have up to 33 MiB. 32 MiB is the most that the first of these takes. What is kept
// is kept in each arena, and there would be eight for each core.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_ARENA_MAX, static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U)));
#endif
}

}  // namespace

int main(int argc, char** argv) {
  try {
    keep_freed_memory();
    sextant::adopt_descendants();
    const int status = run(argc, argv);
    sextant::kill_descendants();
    return status;
  } catch (...) {
    return 4;  // not even the message could be made
  }
}
