#include "attack/run/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <numeric>

#include "attack/cases/attacks.hpp"
#include "attack/run/shrink.hpp"
#include "attack/run/worker.hpp"
#include "attack/truth/truths.hpp"
#include "lib/kernels/targets.hpp"
#include "lib/numeric/hex_text.hpp"

namespace sextant::attack {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr std::array dtypes{Dtype::float32, Dtype::float64, Dtype::float16, Dtype::bfloat16};

// Shares of the time: what has more code to be wrong, and more parameters, has more. Encoders that copy or count need
// little.
struct Share {
  std::string_view encoder;
  double share;
};
constexpr std::array shares{Share{"sinusoidal", 6},     Share{"sinusoidal_2d", 1},   Share{"sinusoidal_nd", 2},
                            Share{"rope", 8},           Share{"rope_nd", 2},         Share{"xpos", 3},
                            Share{"rotary_table", 0.5}, Share{"alibi", 1},           Share{"integer", 0.5},
                            Share{"binary", 0.3},       Share{"relative_bias", 1},   Share{"learned", 0.5},
                            Share{"window_bias", 0.5},  Share{"log_coordinates", 1}, Share{"attention", 0.7},
                            Share{"fourier", 2},        Share{"qk_norm_rope", 0.5}};

/// A way of constructing cases in one dtype: what it has done, and what it cost.
struct Lane {
  Attack attack;
  double share;
  std::uint64_t next = 0;
  std::int64_t cases = 0;
  std::int64_t reported = 0;
  double making = 0;
  double waiting = 0;
  double judging = 0;
  double spent() const { return making + waiting + judging; }
};

/// An encoder in one dtype.
struct Cell {
  std::string_view encoder;
  Dtype dtype;
  std::vector<Lane> lanes;
  std::int64_t cases = 0;
  std::int64_t values = 0;
  std::int64_t exact = 0;
  std::int64_t failed = 0;
  std::map<std::string_view, std::int64_t> answered;  // of each target
};

// Each lane's sequence is its own, so that a seed gives the same cases however fast the others are.
std::uint64_t seed_of(std::uint64_t seed, Dtype dtype, const Lane& lane) {
  std::uint64_t hash = seed ^ 0xcbf29ce484222325U;
  const auto mix = [&](std::string_view text) {
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  };
  mix(lane.attack.encoder);
  mix(lane.attack.family);
  mix(name_of(dtype));
  hash ^= (lane.next + 1) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

bool is_chosen(const std::vector<std::string>& chosen, std::string_view name) {
  return chosen.empty() || std::ranges::find(chosen, name) != chosen.end();
}

std::vector<Cell> cells_of(const Options& options) {
  std::vector<Cell> cells;
  for (const auto& [encoder, share] : shares) {
    for (const Dtype dtype : dtypes) {
      if (!is_chosen(options.encoders, encoder) || !is_chosen(options.dtypes, name_of(dtype))) continue;
      Cell cell{encoder, dtype, {}, 0, 0, 0, 0, {}};
      double weights = 0;
      for (const Attack& attack : attacks()) {
        const bool skipped = !options.skipped.empty() && is_chosen(options.skipped, attack.family);
        if (attack.encoder != encoder || skipped || !is_chosen(options.families, attack.family)) continue;
        weights += attack.weight;
        cell.lanes.push_back({attack, share * attack.weight});
      }
      for (Lane& lane : cell.lanes) lane.share /= weights;
      if (!cell.lanes.empty()) cells.push_back(std::move(cell));
    }
  }
  return cells;
}

struct Judged {
  std::optional<Mismatch> mismatch;
  std::int64_t values = 0;
  std::int64_t exact = 0;
};

Judged judged(const Case& example, const Answer& answer) {
  if (!answer.failure.empty()) return {Mismatch{0, 0, 0, answer.failure}, 0, 0};
  if (std::ssize(answer.elements) != answer_size(example))
    return {Mismatch{0, 0, 0, "the answer has another size"}, 0, 0};
  Checker checker(example.spec.dtype, answer.elements);
  judge(example, checker);
  return {checker.mismatch(), checker.values(), checker.exact()};
}

std::string text_of(const Mismatch& mismatch, Dtype dtype) {
  const ElementFormat format = element_format(dtype);
  const double got = value_of(format, mismatch.got);
  const double wanted = value_of(format, mismatch.wanted);
  return fmt::format("element {}: got {:#x} = {:.17g} ({}), must be {:#x} = {:.17g} ({}): {}", mismatch.element,
                     mismatch.got, got, hex_text(got), mismatch.wanted, wanted, hex_text(wanted), mismatch.rule);
}

class Campaign {
 public:
  explicit Campaign(const Options& options) : options_(options), start_(Clock::now()), cells_(cells_of(options)) {
    std::vector<std::string> targets = options.targets;
    if (targets.empty()) {
      for (const std::string_view target : supported_targets()) targets.emplace_back(target);
    }
    for (const std::string& target : targets) workers_.emplace_back(target);
  }

  int run() {
    fmt::print("seed {}, {:g} s, targets", options_.seed, options_.seconds);
    for (const Worker& worker : workers_) fmt::print(" {}", worker.target());
    fmt::print("\n");
    std::fflush(stdout);
    // Every lane once, then whichever has had least of its share.
    for (Cell& cell : cells_) {
      for (Lane& lane : cell.lanes) attack_once(cell, lane);
    }
    while (!cells_.empty() && seconds_since(start_) < options_.seconds) {
      Cell* cell = nullptr;
      Lane* least = nullptr;
      for (Cell& each : cells_) {
        for (Lane& lane : each.lanes) {
          if (least != nullptr && lane.spent() / lane.share >= least->spent() / least->share) continue;
          cell = &each;
          least = &lane;
        }
      }
      attack_once(*cell, *least);
    }
    return report();
  }

  int replay(const std::string& token) {
    const Case example = case_of(token);
    bool wrong = false;
    for (Worker& worker : workers_) {
      worker.ask(token);
      const Judged result = judged(example, worker.answer());
      fmt::print("{}: {}\n", worker.target(),
                 result.mismatch ? text_of(*result.mismatch, example.spec.dtype)
                                 : fmt::format("{} values, nothing wrong", result.values));
      wrong = wrong || result.mismatch;
    }
    return wrong ? found_wrong : nothing_wrong;
  }

 private:
  // Draws until the lane has made something: some draws have no case.
  void attack_once(Cell& cell, Lane& lane) {
    for (int tries = 0; tries < 200; ++tries) {
      Random random(seed_of(options_.seed, cell.dtype, lane));
      const std::uint64_t index = lane.next++;
      const auto began = Clock::now();
      const std::vector<Case> cases = lane.attack.make(random, cell.dtype);
      lane.making += seconds_since(began);
      for (const Case& example : cases) one_case(cell, lane, index, example, random);
      if (!cases.empty()) return;
    }
  }

  void one_case(Cell& cell, Lane& lane, std::uint64_t index, const Case& example, Random& random) {
    const auto asked = Clock::now();
    const std::string token = token_of(example);
    for (Worker& worker : workers_) worker.ask(token);
    ++cell.cases;
    ++lane.cases;
    // Attention alone may differ from one instruction set to the next.
    const bool alike = cell.encoder != "attention";
    std::vector<Answer> answers;
    for (Worker& worker : workers_) answers.push_back(worker.answer());
    const auto answered = Clock::now();
    const double waited = seconds_since(asked);
    lane.waiting += waited;
    constexpr double slow = 10;
    if (waited > slow) {
      fmt::print("slow, {:.1f} s: {} {} {} case {} of seed {}\n  {}\n", waited, cell.encoder, name_of(cell.dtype),
                 lane.attack.family, index, options_.seed, short_of(token));
      std::fflush(stdout);
    }
    std::vector<Worker*> wrong;
    std::optional<Mismatch> first;
    const Answer* right = nullptr;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      Answer& answer = answers[i];
      if (options_.plant && !answer.elements.empty()) {
        answer.elements[static_cast<std::size_t>(random.between(std::int64_t{0}, std::ssize(answer.elements) - 1))] ^=
            alike ? 1 : Bits{1} << (element_format(cell.dtype).width - 2);
      }
      ++cell.answered[workers_[i].target()];
      if (alike && right != nullptr && answer.failure.empty() && answer.elements == right->elements) continue;
      try {
        Judged result = judged(example, answer);
        cell.values += result.values;
        cell.exact += result.exact;
        if (!result.mismatch && alike && right != nullptr)
          result.mismatch = Mismatch{0, 0, 0, "right, but not the bits of another instruction set"};
        if (!result.mismatch) {
          right = &answer;
          continue;
        }
        wrong.push_back(&workers_[i]);
        if (!first) first = result.mismatch;
      } catch (const Undecided& undecided) {
        ++undecided_;
        fmt::print("undecided, {} {} {} case {}: {}\n  {}\n", cell.encoder, name_of(cell.dtype), lane.attack.family,
                   index, undecided.what(), short_of(token));
      }
    }
    lane.judging += seconds_since(answered);
    if (!first) return;
    ++cell.failed;
    tell(cell, lane, index, wrong, {example, *first});
  }

  // A counterexample, made small. So many of a lane and no more: those that come after are counted.
  void tell(const Cell& cell, Lane& lane, std::uint64_t index, const std::vector<Worker*>& wrong,
            Counterexample found) {
    constexpr std::int64_t most_of_a_lane = 2;
    Worker& worker = *wrong.front();
    if (++lane.reported > most_of_a_lane) return;
    const auto again = [&](const Case& example) -> std::optional<Mismatch> {
      try {
        validate(example.spec);
        worker.ask(token_of(example));
        return judged(example, worker.answer()).mismatch;
      } catch (const std::exception&) {
        return std::nullopt;  // not a case that shrinking may make
      }
    };
    const bool repeats = again(found.example).has_value();
    if (repeats) found = shrunk(std::move(found), again, 3);
    std::string targets;
    for (const Worker* each : wrong) targets += (targets.empty() ? "" : ",") + each->target();
    fmt::print("WRONG after {:.1f} s: {} {} on {}, {}, case {} of seed {}\n  {}\n", seconds_since(start_), cell.encoder,
               name_of(cell.dtype), targets, lane.attack.family, index, options_.seed,
               text_of(found.mismatch, found.example.spec.dtype));
    if (!repeats)
      fmt::print(
          "  not so when asked again, nor perhaps by its token: it needs what was asked before, or is planted\n");
    fmt::print("  sextant-attack --targets {} --replay '{}'\n", worker.target(), short_of(token_of(found.example)));
    std::fflush(stdout);
  }

  // A token for the terminal; one too long for that goes to a file.
  std::string short_of(const std::string& token) {
    constexpr std::size_t most = 6000;
    if (token.size() <= most) return token;
    const std::string path = fmt::format("sextant-attack-{}-{}.token", options_.seed, ++files_);
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return token;
    std::fputs(token.c_str(), file);
    std::fclose(file);
    return "@" + path;
  }

  int report() const {
    std::int64_t failed = 0;
    bool missing = cells_.empty();
    fmt::print("{:<14} {:<9} {:>8} {:>12} {:>10} {:>7} {:>7}\n", "encoder", "dtype", "cases", "values", "by MPFR",
               "wrong", "s");
    for (const Cell& cell : cells_) {
      fmt::print("{:<14} {:<9} {:>8} {:>12} {:>10} {:>7} {:>7.1f}\n", cell.encoder, name_of(cell.dtype), cell.cases,
                 cell.values, cell.exact, cell.failed,
                 std::accumulate(cell.lanes.begin(), cell.lanes.end(), 0.0,
                                 [](double sum, const Lane& lane) { return sum + lane.spent(); }));
      failed += cell.failed;
      for (const Worker& worker : workers_) {
        const auto answered = cell.answered.find(worker.target());
        if (cell.values > 0 && answered != cell.answered.end()) continue;
        fmt::print("nothing was tried of {} {} on {}\n", cell.encoder, name_of(cell.dtype), worker.target());
        missing = true;
      }
    }
    for (const EncodingExample& example : encoding_examples()) {
      if (std::ranges::none_of(attacks(), [&](const Attack& attack) { return attack.encoder == example.encoding; }))
        fmt::print("no attack is written for {}\n", example.encoding);
    }
    fmt::print("{:<14} {:<20} {:>8} {:>9} {:>9} {:>9}\n", "encoder", "family", "cases", "making s", "waiting s",
               "judging s");
    for (const Attack& attack : attacks()) {
      Lane sum{attack, 1};
      for (const Cell& cell : cells_) {
        for (const Lane& lane : cell.lanes) {
          if (lane.attack.make != attack.make) continue;
          sum.cases += lane.cases;
          sum.making += lane.making;
          sum.waiting += lane.waiting;
          sum.judging += lane.judging;
        }
      }
      if (sum.cases > 0)
        fmt::print("{:<14} {:<20} {:>8} {:>9.1f} {:>9.1f} {:>9.1f}\n", attack.encoder, attack.family, sum.cases,
                   sum.making, sum.waiting, sum.judging);
    }
    std::int64_t cases = 0;
    std::int64_t values = 0;
    for (const Cell& cell : cells_) cases += cell.cases, values += cell.values;
    fmt::print("{} cases on {} instruction sets, {} values judged, {} cases wrong, {} undecided, seed {}\n", cases,
               workers_.size(), values, failed, undecided_, options_.seed);
    if (failed > 0) return found_wrong;
    return missing || undecided_ > 0 ? not_tried : nothing_wrong;
  }

  Options options_;
  Clock::time_point start_;
  std::vector<Cell> cells_;
  std::vector<Worker> workers_;
  std::int64_t undecided_ = 0;
  int files_ = 0;
};

}  // namespace

int run_campaign(const Options& options) { return Campaign(options).run(); }

int replay(const std::string& token, const Options& options) { return Campaign(options).replay(token); }

}  // namespace sextant::attack
