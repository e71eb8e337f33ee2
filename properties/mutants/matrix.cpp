// Over 400 lines: one program, from the list of mutants to the page that it prints.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/recipe_subject.hpp"
#include "properties/verdict/tally.hpp"

// The kill matrix, property x mutant, as Markdown on standard output. Exits 1 unless every mutant is killed, every
// property kills one, and every control and recipe is accepted; with a name it has the rows alone whose name holds it.
// What `quick` refuses needs no further look, and nearly all of `standard`'s time goes into what it accepts; so
// `standard` judges what `quick` accepts: every mutant, and the controls of small claims.
//
// With --until-killed it says the same of mutants, properties and controls, and prints no matrix: a mutant is asked
// by properties that have killed nothing yet, and then by one after another until it falls. That takes less time, and
// is what each change is tested by. --until-killed=MATRIX has an earlier matrix, a Markdown page with the rows that are
// printed here: which properties killed a mutant then are asked before the others.

namespace sextant::mutants {
namespace {

// An honest recipe under the class that it can claim.
struct HonestRecipe {
  const char* recipe;
  const char* spec;
};

constexpr std::array honest_recipes{
    HonestRecipe{"float32", R"({"encoding":"sinusoidal","dim":128})"},
    HonestRecipe{"float32-power", R"({"encoding":"sinusoidal","dim":128})"},
    HonestRecipe{"float32-exponential", R"({"encoding":"sinusoidal","dim":512})"},
    HonestRecipe{"float32-running-product", R"({"encoding":"sinusoidal","dim":512,"accuracy":"float32-recurrence"})"},
    HonestRecipe{"float64",
                 R"({"encoding":"sinusoidal","dim":128,"accuracy":"exact-angle","max_position":2147483648})"},
    HonestRecipe{
        "float16-angle",
        R"({"encoding":"sinusoidal","dim":128,"dtype":"float16","accuracy":"float16-angle","evaluation":"dtype",)"
        R"("max_position":65504})"},
    HonestRecipe{"bfloat16-angle",
                 R"({"encoding":"sinusoidal","dim":128,"dtype":"bfloat16","accuracy":"bfloat16-angle",)"
                 R"("evaluation":"dtype"})"},
    HonestRecipe{"float32", R"({"encoding":"rope","head_dim":128})"},
    HonestRecipe{"float32", R"({"encoding":"rope","head_dim":128,"dtype":"bfloat16","evaluation":"dtype"})"},
    HonestRecipe{"cast-table", R"({"encoding":"rope","head_dim":128,"dtype":"bfloat16","evaluation":"table"})"},
    HonestRecipe{"cast-table", R"({"encoding":"rope","head_dim":128,"dtype":"float16","evaluation":"table",)"
                               R"("rope_scaling":{"rope_type":"yarn","factor":4,)"
                               R"("original_max_position_embeddings":32768}})"},
    HonestRecipe{"cast-table-fused-first",
                 R"({"encoding":"rope","head_dim":64,"dtype":"float16","evaluation":"table"})"},
    HonestRecipe{"cast-table-fused-second",
                 R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16","evaluation":"table"})"},
    HonestRecipe{"cast-table", R"({"encoding":"sinusoidal","dim":128,"dtype":"bfloat16","evaluation":"table"})"},
    HonestRecipe{"cast-table",
                 R"({"encoding":"sinusoidal","dim":128,"scale":1.25,"dtype":"bfloat16","evaluation":"table"})"},
    HonestRecipe{"float32-widened-fused-first", R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16"})"},
    HonestRecipe{"float32-widened-fused-second", R"({"encoding":"rope","head_dim":64})"},
    HonestRecipe{"wide-power", R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16",)"
                               R"("rope_scaling":{"rope_type":"linear","factor":3}})"},
    HonestRecipe{"wide-power-fused-first", R"({"encoding":"rope","head_dim":64})"},
    HonestRecipe{"wide-power-fused-second", R"({"encoding":"rope","head_dim":64})"},
    HonestRecipe{"float32-running-product", R"({"encoding":"rope","head_dim":64,"accuracy":"float32-recurrence",)"
                                            R"("rope_theta":500000,"rope_scaling":{"rope_type":"llama3","factor":8,)"
                                            R"("original_max_position_embeddings":8192,"low_freq_factor":1,)"
                                            R"("high_freq_factor":4}})"},
    HonestRecipe{"float32-running-product-fused-x0",
                 R"({"encoding":"rope","head_dim":64,"accuracy":"float32-recurrence"})"},
    HonestRecipe{"quotient", R"({"encoding":"rope","head_dim":64,"rope_theta":1000000,)"
                             R"("rope_scaling":{"rope_type":"linear","factor":8}})"},
    HonestRecipe{"quotient", R"({"encoding":"sinusoidal","dim":128})"},
    HonestRecipe{"narrow-logarithm", R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16","evaluation":"dtype"})"},
    HonestRecipe{"narrow-logarithm-cephes", R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16",)"
                                            R"("evaluation":"dtype"})"},
    HonestRecipe{"narrow-logarithm-cephes", R"({"encoding":"rope","head_dim":64})"},
    HonestRecipe{"float32-power", R"({"encoding":"rope","head_dim":128,"rope_theta":1000000})"},
    HonestRecipe{"float32-exponential", R"({"encoding":"rope","head_dim":128,"rope_theta":500000})"},
    HonestRecipe{"float32-running-product", R"({"encoding":"rope","head_dim":128,"accuracy":"float32-recurrence"})"},
    HonestRecipe{"float32-widened", R"({"encoding":"rope","head_dim":128,"dtype":"float16"})"},
    HonestRecipe{"float64", R"({"encoding":"rope","head_dim":128,"accuracy":"exact-angle","max_position":2147483648})"},
    HonestRecipe{"float32", R"({"encoding":"rope","head_dim":128,"rope_theta":500000,)"
                            R"("rope_scaling":{"rope_type":"llama3","factor":8,)"
                            R"("original_max_position_embeddings":8192,"low_freq_factor":1,)"
                            R"("high_freq_factor":4}})"},
    HonestRecipe{"float32", R"({"encoding":"rope","head_dim":128,"rope_theta":1000000,)"
                            R"("rope_scaling":{"rope_type":"yarn","factor":4,)"
                            R"("original_max_position_embeddings":32768}})"},
    HonestRecipe{"float32", R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"dynamic",)"
                            R"("factor":4,"original_max_position_embeddings":2048},"max_position":8192})"},
    HonestRecipe{
        "float16-angle",
        R"({"encoding":"rope","head_dim":64,"dtype":"float16","accuracy":"float16-angle","evaluation":"dtype",)"
        R"("max_position":65504})"},
    HonestRecipe{"bfloat16-angle", R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16","accuracy":"bfloat16-angle",)"
                                   R"("evaluation":"dtype"})"},
};

struct Row {
  std::string name;
  std::string why;          // the mechanism, or what the control is
  std::string recipe = {};  // that its audit names
  bool must_be_killed = false;
  Profile profile = Profile::quick;  // the last that it was judged by
  std::set<std::string> killers = {};
  std::string counterexample = {};  // of the first killer
};

std::unique_ptr<Subject> subject_of(const std::string& name) {
  const std::size_t colon = name.find(':');
  return name.starts_with("recipe:") ? open_recipe(std::string_view(name).substr(colon + 1))
                                     : open(std::string_view(name).substr(colon + 1));
}

void judge_by(Profile profile, const Amount& amount, const std::vector<Property>& properties, Row& row,
              const Spec& spec) {
  row.profile = profile;
  AuditOptions options;
  options.profile = profile;
  options.amount = amount;
  options.counterexamples = Counterexamples::not_sought;
  for (const PropertyResult& result : audit(properties, *subject_of(row.name), spec, options).results) {
    // What stays undecided convicts nobody, and accepts nobody either.
    const bool is_refused = result.verdict == Verdict::violated || result.verdict == Verdict::crashed ||
                            (result.verdict == Verdict::undecided && !row.must_be_killed);
    if (!is_refused) continue;
    row.killers.insert(result.id);
    if (row.counterexample.empty() && result.simplest)
      row.counterexample = fmt::format("{}: {}", result.simplest->token, result.simplest->finding);
    if (row.counterexample.empty()) row.counterexample = fmt::format("{}: {}", result.id, result.reason);
  }
}

// Whether `standard` of an honest implementation takes few seconds.
bool is_small(const Spec& spec) {
  const auto sweep = property_named("accuracy")->sweep(spec, values_of(Profile::standard));
  const std::int64_t values = sweep.claimed * sweep.values_of_position;
  return values > 0 && values <= std::int64_t{1} << 18;
}

// What judges a mutant or a control as far as it has to.
using Asking = std::function<void(Profile profile, const Amount& amount, Row& row, const Spec& spec)>;

void by_every_property(Profile profile, const Amount& amount, Row& row, const Spec& spec) {
  judge_by(profile, amount, catalogue_as(row.recipe), row, spec);
}

// What an earlier matrix says of a mutant.
struct Remembered {
  std::set<std::string> killers = {};
  Profile profile = Profile::quick;
};

// The cells of a row of a Markdown table, without the spaces around them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t start = 1; start < line.size();) {
    const std::size_t end = std::min(line.find('|', start), line.size());
    const std::size_t first = std::min(line.find_first_not_of(' ', start), end);
    const std::size_t last = std::max(first, line.find_last_not_of(' ', end - 1) + 1);
    cells.push_back(line.substr(first, last - first));
    start = end + 1;
  }
  return cells;
}

// By the mutants' names; rows of no mutant, such as those of controls, are passed over.
std::map<std::string, Remembered> remembered_in(const std::string& path) {
  std::map<std::string, Remembered> list;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 4) continue;
    Remembered row;
    std::istringstream killers(cells[cells.size() - 2]);
    for (std::string id; killers >> id;) {
      if (id.ends_with(',')) id.pop_back();
      if (property_named(id) != nullptr) row.killers.insert(id);
    }
    if (cells.back().ends_with("standard")) row.profile = Profile::standard;
    if (!row.killers.empty()) list.emplace("mutant:" + cells[0].substr(1, cells[0].size() - 2), std::move(row));
  }
  return list;
}

// Which properties have killed how many mutants: the next mutant is asked by those first that have killed none, by all
// of them, and then by one after another, from the one that has killed most, until one kills it. So each property that
// kills any mutant kills one here too, in whichever order the mutants come. Accuracy is asked last: its sweep costs
// more than all others together. Of a mutant that an earlier matrix has, its killers there are asked by the profile
// that killed it then; the others when it comes to the most that is asked.
class UntilKilled {
 public:
  explicit UntilKilled(std::map<std::string, Remembered> matrix) : matrix_(std::move(matrix)) {}

  void operator()(Profile profile, const Amount& amount, Row& row, const Spec& spec) {
    if (!row.must_be_killed) return by_every_property(profile, amount, row, spec);
    std::vector<Property> properties = catalogue_as(row.recipe);
    if (const auto found = matrix_.find(row.name); found != matrix_.end()) {
      if (profile < found->second.profile) return;
      std::vector<Property> others = taken_out(properties, found->second.killers);
      ask(profile, amount, row, spec, properties);
      if (!row.killers.empty() || profile == Profile::quick || amount.largest_call) return;
      properties = std::move(others);
    }
    ask(profile, amount, row, spec, properties);
  }

 private:
  struct Order {
    std::vector<Property> unproven;
    std::vector<Property> proven;
  };

  // Leaves those that are named; the others are the result.
  static std::vector<Property> taken_out(std::vector<Property>& properties, const std::set<std::string>& named) {
    const auto [others, end] = std::ranges::stable_partition(
        properties, [&](const Property& property) { return named.contains(property.id); });
    std::vector<Property> taken(others, end);
    properties.erase(others, end);
    return taken;
  }

  void ask(Profile profile, const Amount& amount, Row& row, const Spec& spec, const std::vector<Property>& properties) {
    const auto [unproven, proven] = in_order(properties);
    if (!unproven.empty()) judge_by(profile, amount, unproven, row, spec);
    for (const Property& property : proven) {
      if (!row.killers.empty()) break;
      judge_by(profile, amount, {property}, row, spec);
    }
    const std::lock_guard lock(mutex_);
    for (const std::string& id : row.killers) ++kills_[id];
  }

  Order in_order(const std::vector<Property>& properties) {
    const std::lock_guard lock(mutex_);
    Order order;
    for (const Property& property : properties)
      (kills_[property.id] == 0 ? order.unproven : order.proven).push_back(property);
    std::ranges::stable_sort(order.proven, std::ranges::greater{}, [&](const Property& property) {
      return property.id == "accuracy" ? 0 : kills_[property.id];
    });
    return order;
  }

  const std::map<std::string, Remembered> matrix_;
  std::mutex mutex_;
  std::map<std::string, int> kills_;
};

// Most fall at once, and of the others most in calls that are not the largest: the plain implementations that mutants
// are made of take a microsecond a value.
void judge(const Asking& ask, Row& row, const Spec& spec) {
  Amount few;
  few.values = std::int64_t{1} << 18;
  Amount no_large_calls;
  no_large_calls.largest_call = std::int64_t{1} << 15;
  ask(Profile::quick, few, row, spec);
  if (row.killers.empty() && (row.must_be_killed || is_small(spec))) ask(Profile::standard, no_large_calls, row, spec);
  if (row.killers.empty() && row.must_be_killed) ask(Profile::standard, {}, row, spec);
}

// Whether no law and no contract but accuracy refuses a mutant. Advice does not count, since it fails no audit.
bool needs_accuracy(const Row& row) {
  const auto accuracy_or_advice = [](const std::string& id) {
    return id == "accuracy" || property_named(id)->level == Level::advice;
  };
  return row.killers.contains("accuracy") && std::ranges::all_of(row.killers, accuracy_or_advice);
}

struct Task {
  Row row;
  Spec spec;
};

std::vector<Task> tasks() {
  std::vector<Task> list;
  for (const Mutant& mutant : registry()) {
    const std::string why =
        mutant.row.empty() ? mutant.mechanism : fmt::format("{} ({})", mutant.mechanism, mutant.row);
    list.push_back({Row{.name = "mutant:" + mutant.name,
                        .why = why,
                        .recipe = mutant.recipe,
                        .must_be_killed = mutant.kind == Kind::defect},
                    parse_spec(mutant.spec)});
  }
  for (const HonestRecipe& honest : honest_recipes) {
    list.push_back({Row{.name = fmt::format("recipe:{}", honest.recipe), .why = honest.spec, .recipe = honest.recipe},
                    parse_spec(honest.spec)});
  }
  return list;
}

// In the last column of the matrix.
std::string remarks(const Row& row) {
  std::vector<std::string> list;
  if (needs_accuracy(row)) list.emplace_back("accuracy alone");
  if (row.profile == Profile::standard) list.emplace_back("standard");
  return fmt::format("{}", fmt::join(list, ", "));
}

// Who kills whom, the properties that need the mutant first: those with the fewest killers.
void print(const std::vector<Task>& list) {
  std::map<std::string, int> kills;
  fmt::print("| Mutant | What it does | Killed by | |\n|---|---|---|---|\n");
  for (const Task& task : list) {
    if (!task.row.must_be_killed) continue;
    fmt::print("| `{}` | {} | {} | {} |\n", task.row.name.substr(7), task.row.why,
               task.row.killers.empty() ? "**survives**" : fmt::format("{}", fmt::join(task.row.killers, ", ")),
               remarks(task.row));
    for (const std::string& id : task.row.killers) ++kills[id];
  }
  fmt::print("\n| Property | Mutants killed |\n|---|---:|\n");
  for (const Property& property : catalogue()) fmt::print("| `{}` | {} |\n", property.id, kills[property.id]);
  fmt::print("\n| Control | What it is | Verdict |\n|---|---|---|\n");
  for (const Task& task : list) {
    if (task.row.must_be_killed) continue;
    fmt::print(
        "| `{}` | {} | {} |\n", task.row.name, task.row.why,
        task.row.killers.empty() ? "accepted" : fmt::format("**refused by {}**", fmt::join(task.row.killers, ", ")));
  }
}

// What is wrong with the matrix, one line each; of a part of it, only what is wrong with its rows.
std::vector<std::string> faults(const std::vector<Task>& list, Extent extent) {
  std::vector<std::string> lines;
  std::set<std::string> killing;
  for (const Task& task : list) {
    const Row& row = task.row;
    if (row.must_be_killed) killing.insert(row.killers.begin(), row.killers.end());
    if (row.must_be_killed && row.killers.empty()) lines.push_back(fmt::format("{} survives", row.name));
    if (!row.must_be_killed && !row.killers.empty())
      lines.push_back(fmt::format("{} under {} is refused: {}", row.name, to_json(task.spec), row.counterexample));
  }
  for (const Property& property : catalogue()) {
    if (extent == Extent::whole && !killing.contains(property.id))
      lines.push_back(fmt::format("{} kills no mutant", property.id));
  }
  return lines;
}

}  // namespace
}  // namespace sextant::mutants

int main(int count, char** arguments) {
  using namespace sextant::mutants;
  const std::vector<std::string_view> given(arguments + 1, arguments + count);
  constexpr std::string_view option = "--until-killed";
  const bool is_until_killed = !given.empty() && given.front().substr(0, given.front().find('=')) == option;
  const std::string_view part = given.size() > (is_until_killed ? 1U : 0U) ? given.back() : "";
  std::vector<Task> list = tasks();
  std::erase_if(list, [&](const Task& task) { return task.row.name.find(part) == std::string::npos; });
  if (list.empty()) {
    fmt::print(stderr, "sextant-mutants: no mutant's name has {}; `sextant list mutants` has them all\n", part);
    return 2;
  }

  std::map<std::string, Remembered> earlier;
  if (is_until_killed && given.front() != option) {
    const std::string path(given.front().substr(option.size() + 1));
    earlier = remembered_in(path);
    if (earlier.empty()) {
      fmt::print(stderr, "sextant-mutants: {}: expected a page with the rows of a kill matrix\n", path);
      return 2;
    }
  }
  UntilKilled until_killed(std::move(earlier));
  const Asking ask = is_until_killed ? Asking(std::ref(until_killed)) : Asking(by_every_property);
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      helpers.emplace_back([&] {
        for (std::size_t at = next++; at < list.size(); at = next++) judge(ask, list[at].row, list[at].spec);
      });
    }
  }
  const auto extent = part.empty() ? sextant::Extent::whole : sextant::Extent::share;
  const std::vector<std::string> wrong = faults(list, extent);
  for (const std::string& line : wrong) fmt::print(stderr, "{}\n", line);
  if (!is_until_killed) {
    print(list);
    const auto of_accuracy = std::ranges::count_if(list, [](const Task& task) { return needs_accuracy(task.row); });
    const auto by_standard = std::ranges::count_if(list, [](const Task& task) {
      return !task.row.killers.empty() && task.row.profile == sextant::Profile::standard;
    });
    fmt::print("\n{} mutants are killed by nothing but `accuracy`, {} by `standard` and not by `quick`\n\n",
               of_accuracy, by_standard);
  }
  const auto defects = std::ranges::count_if(list, [](const Task& task) { return task.row.must_be_killed; });
  fmt::print("{} mutants, {} controls, {} properties: {}\n", defects, std::ssize(list) - defects,
             sextant::catalogue().size(),
             wrong.empty() ? "every mutant killed, every control accepted" : fmt::format("{} faults", wrong.size()));
  return wrong.empty() ? 0 : 1;
}
