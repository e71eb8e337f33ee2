#include <fmt/format.h>
#include <mpfr.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "attack/cases/attacks.hpp"
#include "attack/run/campaign.hpp"
#include "attack/run/worker.hpp"
#include "lib/kernels/targets.hpp"

namespace {

using sextant::attack::Options;

constexpr int usage_error = 2;

constexpr const char* about =
    R"(Attacks Sextant's own certified encoders: draws hard cases, asks the encoders on every instruction set, and compares
each value with the truth, computed in multiprecision from the papers' formulas.

A family is a way to construct cases: near_ties (results next to a rounding border, by lattice reduction), near_zeros,
exact_ties, guards (both ends of every limit in the code), exotic (valid but extreme parameters), environments (other
rounding modes, flush-to-zero), large and usual ones. --list prints which encoder is attacked by which.

Each wrong value is printed with a token that replays it alone, and the token is written to
sextant-attack-SEED-N.token in the current directory. A family runs once even where the time is short.

Exit codes: 0 nothing wrong, 1 a wrong value, 2 usage, 4 an encoder was not tried in some dtype on some target.)";

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(fmt::format("--replay: {}: cannot be read", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

CLI::IsMember one_of(const std::set<std::string>& names) { return CLI::IsMember(names); }

// What an option of 64 bits takes: CLI11 would take -1 and what is too large for the greatest number.
CLI::Validator word() {
  return {[](const std::string& text) {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error == std::errc() && end == text.data() + text.size()) return std::string();
            return fmt::format("{}: expected an integer from 0 to 18446744073709551615", text);
          },
          ""};
}

int command(int argc, char** argv) {
  std::set<std::string> encoders;
  std::set<std::string> families;
  for (const auto& attack : sextant::attack::attacks()) {
    encoders.emplace(attack.encoder);
    families.emplace(attack.family);
  }
  std::set<std::string> targets;
  for (const std::string_view target : sextant::supported_targets()) targets.emplace(target);

  Options options;
  options.seed = (std::uint64_t{std::random_device()()} << 32) | std::random_device()();
  std::string token;
  CLI::App app(about, "sextant-attack");
  app.add_option("SECONDS", options.seconds, "How long to attack")->check(CLI::Range(0.0, 1e6))->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of everything random; a new one unless given")->check(word());
  const auto add_names = [&](const char* name, std::vector<std::string>& values, const std::set<std::string>& known,
                             const char* text) {
    app.add_option(name, values, text)->delimiter(',')->check(one_of(known))->allow_extra_args(false);
  };
  add_names("--targets", options.targets, targets, "Only these instruction sets");
  add_names("--encoders", options.encoders, encoders, "Only these encoders");
  add_names("--dtypes", options.dtypes, {"float32", "float64", "float16", "bfloat16"}, "Only these dtypes");
  add_names("--families", options.families, families, "Only these families");
  add_names("--skip", options.skipped, families, "All families but these");
  CLI::Option* replayed = app.add_option("--replay", token, "Run the one case of this token, or of the file after @");
  bool listed = false;
  app.add_flag("--list", listed, "Print the encoders and the families that attack them");
  bool serves = false;
  app.add_flag("--worker", serves)->group("");        // what this program starts for each target
  app.add_flag("--plant", options.plant)->group("");  // a wrong bit in each answer, for the tests
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    throw std::invalid_argument(error.what());
  }
  if (serves) return sextant::attack::serve();
  if (listed) {
    for (const auto& attack : sextant::attack::attacks()) fmt::print("{} {}\n", attack.encoder, attack.family);
    return 0;
  }
  if (replayed->count() == 0) return run_campaign(options);
  if (token.starts_with('@')) token = contents_of(token.substr(1));
  if (token.empty()) throw std::invalid_argument("--replay: the token is empty");
  return replay(token, options);
}

}  // namespace

int main(int argc, char** argv) {
  // xPos raises numbers to powers that leave MPFR's default range of exponents.
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  std::signal(SIGPIPE, SIG_IGN);  // a worker that died is found when its answer is read
  try {
    return command(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "sextant-attack: {}\n", error.what());
    return usage_error;
  }
}
