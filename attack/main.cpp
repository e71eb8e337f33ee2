#include <fmt/format.h>
#include <mpfr.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "attack/cases/attacks.hpp"
#include "attack/run/campaign.hpp"
#include "attack/run/worker.hpp"

namespace {

constexpr int usage_error = 2;

constexpr std::string_view usage =
    R"(sextant-attack [SECONDS] [--seed N] [--targets A,B] [--encoders A,B] [--dtypes A,B] [--families A,B] [--skip FAMILIES]
sextant-attack --replay TOKEN|@FILE [--targets A,B]
sextant-attack --list
Attacks the certified encoders for 60 seconds, or as many as asked for. Exit codes: 0 nothing wrong, 1 a wrong value, 2 usage, 4 something was not tried.
)";

std::vector<std::string> names_of(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

template <class Number>
Number number_of(const std::string& name, const std::string& text, Number (*read)(const std::string&, std::size_t*)) {
  std::size_t end = 0;
  try {
    const Number value = read(text, &end);
    if (end == text.size() && text.front() != '-') return value;
  } catch (const std::exception&) {
  }
  throw std::invalid_argument(fmt::format("{}: expected a number of at least 0, got {}", name, text));
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(fmt::format("--replay: {} cannot be read", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

int command(std::span<char*> arguments) {
  using sextant::attack::Options;
  Options options;
  options.seed = (std::uint64_t{std::random_device()()} << 32) | std::random_device()();
  std::string token;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string name = arguments[i];
    const auto value = [&] {
      if (i + 1 >= arguments.size()) throw std::invalid_argument(name + ": a value is missing");
      return std::string(arguments[++i]);
    };
    if (name == "--worker") return sextant::attack::serve();
    if (name == "--list") {
      for (const auto& attack : sextant::attack::attacks()) fmt::print("{} {}\n", attack.encoder, attack.family);
      return 0;
    }
    if (name == "--help") {
      fmt::print("{}", usage);
      return 0;
    }
    if (name == "--seed") {
      options.seed = number_of<unsigned long long>(
          name, value(), [](const std::string& text, std::size_t* end) { return std::stoull(text, end); });
    } else if (name == "--targets") {
      options.targets = names_of(value());
    } else if (name == "--encoders") {
      options.encoders = names_of(value());
    } else if (name == "--dtypes") {
      options.dtypes = names_of(value());
    } else if (name == "--families") {
      options.families = names_of(value());
    } else if (name == "--skip") {
      options.skipped = names_of(value());
    } else if (name == "--replay") {
      token = value();
      if (token.starts_with('@')) token = contents_of(token.substr(1));
    } else if (name == "--plant") {
      options.plant = true;
    } else {
      options.seconds = number_of<double>(
          "SECONDS", name, [](const std::string& text, std::size_t* end) { return std::stod(text, end); });
    }
  }
  return token.empty() ? run_campaign(options) : replay(token, options);
}

}  // namespace

int main(int argc, char** argv) {
  // xPos raises numbers to powers that leave MPFR's default range of exponents.
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  std::signal(SIGPIPE, SIG_IGN);  // a worker that died is found when its answer is read
  try {
    return command({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    fmt::print(stderr, "sextant-attack: {}\n", error.what());
    return usage_error;
  }
}
