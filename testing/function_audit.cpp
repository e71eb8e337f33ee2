#include "testing/function_audit.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "lib/spec/nearest_name.hpp"
#include "lib/spec/presets.hpp"
#include "lib/spec/spec.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "subjects/process.hpp"
#include "subjects/subject.hpp"
#include "subjects/worker.hpp"

namespace sextant::function_audit {
namespace {

Spec read_spec(const std::string& text) {
  const auto preset = preset_named(text);
  if (!preset && !text.starts_with('{'))
    throw SpecError(fmt::format("{}: neither JSON nor a preset{}", text, did_you_mean(text, presets(), &Preset::name)));
  return parse_spec(preset ? preset->json : text);
}

// In a fork: lets go of the parent's ends of this session's pipes and of others', which only an exec would close. While
// one is open here, a session does not see the end of its input.
void close_pipes_of_parent() {
  std::vector<int> pipes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) && (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0)
      pipes.push_back(descriptor);
  }
  for (const int descriptor : pipes) close(descriptor);
}

// A child that serves the functions, with so many threads for OpenMP, and does nothing else: what the tests have
// registered, and what they would do at their end, stays here.
std::unique_ptr<Process> fork_to_serve(const sextant_worker::Subject& functions, int threads) {
  std::fflush(nullptr);  // else the child's copies of what is not yet written would be written, too
  return std::make_unique<Process>([&](const std::array<int, 3>& streams) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child > 0) {
      setpgid(child, child);
      return child;
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (int i = 0; i < 3; ++i) dup2(streams[static_cast<std::size_t>(i)], i);
    close_pipes_of_parent();
    omp_set_num_threads(threads);
    const int status = sextant_worker::serve(functions);
    std::fflush(nullptr);
    _exit(status);
  });
}

Profile profile_named(std::string_view name) {
  for (const Profile profile : {Profile::quick, Profile::standard, Profile::exhaustive}) {
    if (name_of(profile) == name) return profile;
  }
  throw std::invalid_argument(fmt::format("profile {}: expected quick, standard or exhaustive", name));
}

const Property& property_of(const std::string& id) {
  const Property* property = property_named(id);
  if (property == nullptr) throw std::invalid_argument(fmt::format("{}: no such property", id));
  return *property;
}

std::string example_text(std::string_view label, const Example& example) {
  return fmt::format("{}: {}\n  SEXTANT_REPLAY={}\n", label, example.finding, example.token);
}

std::string text_of(const PropertyResult& result) {
  std::string text = fmt::format("{} {}: {}\n", result.id, name_of(result.verdict), result.title);
  if (!result.reason.empty()) text += result.reason + "\n";
  if (result.simplest) text += example_text("simplest", *result.simplest);
  if (result.verdict == Verdict::violated && result.worst) text += example_text("worst", *result.worst);
  if (result.horizon) text += fmt::format("no case up to position {} violates it\n", *result.horizon);
  return text;
}

Finding finding_of(const PropertyResult& result) {
  switch (result.verdict) {
    case Verdict::holds: return {Finding::Kind::holds, ""};
    case Verdict::unsupported:
    case Verdict::not_applicable: return {Finding::Kind::skipped, result.reason};
    case Verdict::violated:
    case Verdict::undecided:
    case Verdict::crashed:
    case Verdict::timed_out: return {Finding::Kind::fails, text_of(result)};
  }
  throw std::invalid_argument("finding_of: no such verdict");
}

}  // namespace

std::vector<Question> questions(const std::string& spec) {
  const Spec claim = read_spec(spec);
  std::vector<Question> list;
  for (const Property& property : catalogue()) {
    if (property.level != Level::advice && !property.not_applicable(claim))
      list.push_back({property.id, property.explanation.title});
  }
  return list;
}

Finding judge(const std::string& property, const std::string& spec, const sextant_worker::Subject& functions,
              const Amount& amount) {
  const Property& asked = property_of(property);
  const Spec claim = read_spec(spec);
  const int threads = omp_get_max_threads();
  WorkerLimits limits;
  limits.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(amount.timeout * 1000));
  const std::string name = functions.name.empty() ? "functions" : functions.name;
  const std::unique_ptr<Subject> subject = worker_subject(
      name, [&functions, threads] { return fork_to_serve(functions, threads); }, limits);
  AuditOptions options;
  options.profile = profile_named(amount.profile);
  // In a thread of its own, which has started no others of OpenMP and starts none: GCC's library waits without end in
  // the fork of one that has.
  const auto judged = [&] {
    omp_set_num_threads(1);
    const AuditOutcome outcome = amount.replay.empty() ? audit({asked}, *subject, claim, options)
                                                       : replay(asked, amount.replay, *subject, claim);
    return finding_of(outcome.results.front());
  };
  return std::async(std::launch::async, judged).get();
}

}  // namespace sextant::function_audit
