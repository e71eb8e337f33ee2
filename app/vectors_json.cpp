#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "app/sha256.hpp"
#include "app/vectors_files.hpp"
#include "app/vectors_texts.hpp"
#include "lib/spec/presets.hpp"
#include "properties/model/exact_table.hpp"
#include "properties/vectors/chosen.hpp"
#include "properties/vectors/groups.hpp"
#include "subjects/builtin.hpp"

namespace sextant {

std::string bits_text(const Tensor& tensor, std::int64_t element) {
  const std::size_t width = size_of(tensor.dtype);
  const std::byte* bytes = tensor.data.data() + static_cast<std::size_t>(element) * width;
  std::string text;
  for (std::size_t i = width; i-- > 0;) text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  return text;
}

std::string bits_text(Dtype dtype, double value) {
  Tensor one = Tensor::zeros(dtype, {1});
  one.set(0, value);
  return bits_text(one, 0);
}

namespace {

using Json = nlohmann::ordered_json;
using vectors::Expected;
using vectors::ExpectedTensor;
using vectors::Group;
using vectors::Test;

// [first, step, count] of stretches that rise or fall evenly, where that is shorter than the list.
Json integers_json(const std::vector<std::int64_t>& values) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < values.size();) {
    std::size_t count = 1;
    const std::int64_t step = i + 1 < values.size() ? values[i + 1] - values[i] : 0;
    while (i + count < values.size() && values[i + count] - values[i + count - 1] == step) ++count;
    if (count == 2) count = 1;
    runs.push_back({values[i], count == 1 ? 0 : step, count});
    i += count;
  }
  const Json list(values);
  return runs.dump().size() < list.dump().size() ? Json{{"runs", runs}} : Json{{"values", list}};
}

// From which value of the pattern on, and times what, a tensor repeats it, but for values that are not finite; nothing
// if it does not.
struct PatternPlace {
  std::int64_t from;
  double factor;
};
std::optional<PatternPlace> pattern_place(const Tensor& tensor) {
  constexpr std::int64_t telling = 8;
  const std::vector<double> pattern = vectors::pattern();
  const auto repeats = [&](const PatternPlace& place, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto index = static_cast<std::size_t>((place.from + i) % vectors::pattern_length);
      const double value = tensor.at(i);
      if (std::isfinite(value) && value != place.factor * pattern[index]) return false;
    }
    return true;
  };
  for (const double size : {1.0, vectors::small_factor, vectors::large_factor, vectors::large_in_float16,
                            vectors::large_elsewhere, vectors::huge_factor, vectors::tiny_factor}) {
    for (const double fine : {1.0, vectors::fine_factor}) {
      for (std::int64_t from = 0; from < vectors::pattern_length; ++from) {
        const PatternPlace place{from, fine * size};
        if (repeats(place, std::min(telling, tensor.elements())) && repeats(place, tensor.elements())) return place;
      }
    }
  }
  return std::nullopt;
}

Json tensor_json(const Tensor& tensor) {
  Json json{{"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}};
  if (tensor.dtype == Dtype::int64) {
    json.update(integers_json(tensor.integers()));
  } else if (const auto place = pattern_place(tensor); place && tensor.elements() > 0) {
    json["pattern"] = {place->from, place->factor};
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      if (!std::isfinite(tensor.at(i)))
        json["set"].push_back({i, std::isnan(tensor.at(i)) ? "nan" : tensor.at(i) > 0 ? "inf" : "-inf"});
    }
  } else {
    std::string bits;
    for (std::int64_t i = 0; i < tensor.elements(); ++i) bits += bits_text(tensor, i);
    json["bits"] = bits;
  }
  return json;
}

// One number where all are the same.
Json tolerances_json(const std::vector<double>& tolerances) {
  const bool is_one = !tolerances.empty() &&
                      std::ranges::all_of(tolerances, [&](double tolerance) { return tolerance == tolerances[0]; });
  return is_one ? Json(tolerances[0]) : Json(tolerances);
}

Json output_json(const ExpectedTensor& expected) {
  Json json{{"dtype", name_of(expected.dtype)}, {"shape", expected.shape}};
  std::vector<std::int64_t> elements;
  std::vector<double> tolerances;
  std::string bits;
  for (const auto& [element, value, tolerance] : expected.values) {
    elements.push_back(element);
    tolerances.push_back(tolerance);
    bits += bits_text(expected.dtype, value);
  }
  json["at"] = elements;
  json["bits"] = bits;
  json["tolerance"] = tolerances_json(tolerances);
  return json;
}

// The tests of one file, numbered as they come.
class Numbered {
 public:
  Json tests_of(const Group& group) {
    Json list = Json::array();
    for (const Test& test : group.tests) {
      const std::int64_t id = next_++;
      Json json{
          {"tcId", id}, {"comment", test.comment}, {"flags", test.flags}, {"result", "valid"}, {"op", test.operation}};
      for (const auto& [name, tensor] : test.inputs) json["inputs"][name] = tensor_json(tensor);
      if (test.due == vectors::Due::refusal) json["result"] = "invalid";
      for (const ExpectedTensor& expected : test.outputs) json["outputs"][expected.name] = output_json(expected);
      list.push_back(json);
      flags_.insert(test.flags.begin(), test.flags.end());
      for (const vectors::WrongAnswer& wrong : test.wrong) list.push_back(wrong_json(test, wrong, id));
      for (const vectors::WeakerClass& weaker : test.weaker) list.push_back(weaker_json(weaker, id));
    }
    return list;
  }

  std::int64_t count() const { return next_ - 1; }
  const std::set<std::string>& flags() const { return flags_; }

 private:
  Json wrong_json(const Test& test, const vectors::WrongAnswer& wrong, std::int64_t of) {
    Json json{{"tcId", next_++},
              {"comment", fmt::format("as if {} were another", wrong.field)},
              {"flags", {"OtherClaim"}},
              {"result", "invalid"},
              {"of", of}};
    for (const ExpectedTensor& expected : test.outputs) {
      std::string bits;
      for (const double value : wrong.values.at(expected.name)) bits += bits_text(expected.dtype, value);
      json["outputs"][expected.name]["bits"] = bits;
    }
    flags_.insert("OtherClaim");
    return json;
  }

  Json weaker_json(const vectors::WeakerClass& weaker, std::int64_t of) {
    Json json{{"tcId", next_++},
              {"comment", fmt::format("{} allows this much", name_of(weaker.accuracy))},
              {"flags", {"WeakerClass"}},
              {"result", "acceptable"},
              {"of", of}};
    for (const auto& [name, tolerances] : weaker.tolerances)
      json["outputs"][name]["tolerance"] = tolerances_json(tolerances);
    flags_.insert("WeakerClass");
    return json;
  }

  std::int64_t next_ = 1;
  std::set<std::string> flags_;
};

Json notes_of(const std::set<std::string>& flags) {
  Json notes = Json::object();
  for (const std::string& flag : flags) {
    if (const vectors::Bug* bug = vectors::bug_named(flag)) {
      notes[flag] = {{"bugType", "KNOWN_BUG"}, {"description", bug->text}};
      if (!bug->thread.empty()) notes[flag]["links"] = {bug->thread};
    }
  }
  if (flags.contains("OtherClaim"))
    notes["OtherClaim"] = {{"bugType", "WRONG_CLAIM"},
                           {"description", "a right answer to another spec, one field changed: to be refused"}};
  if (flags.contains("WeakerClass"))
    notes["WeakerClass"] = {{"bugType", "WEAK_ARITHMETIC"},
                            {"description", "what angles rounded to bfloat16 come to: outside the class, and common"}};
  return notes;
}

Json pattern_json() {
  std::string bits;
  for (const double value : vectors::pattern()) bits += bits_text(Dtype::bfloat16, value);
  return {{"dtype", "bfloat16"}, {"bits", bits}};
}

// With the field that to_json leaves out where it has its default: of 16 bits it says what is expected.
std::string spec_text(const Spec& spec) {
  std::string text = to_json(spec);
  if (!Json::parse(text).contains("evaluation")) text.insert(text.size() - 1, R"(,"evaluation":"float32")");
  return text;
}

// A line for each test, so that two versions can be compared.
std::string file_text(const std::string& encoding, const std::vector<Group>& groups) {
  Numbered numbered;
  std::string body;
  for (const Group& group : groups) {
    const Json tests = numbered.tests_of(group);
    body += fmt::format("{}{{\"spec\": {},\n\"class\": \"{}\", \"rounding\": \"{}\", \"tests\": [\n",
                        body.empty() ? "" : ",\n", spec_text(group.spec), name_of(group.spec.accuracy),
                        group.rounding == vectors::Rounding::correct ? "correct" : "within-class");
    for (std::size_t i = 0; i < tests.size(); ++i) body += tests[i].dump() + (i + 1 < tests.size() ? ",\n" : "]}");
  }
  std::string text = "{\n";
  const auto field = [&](const char* name, const Json& value) {
    text += fmt::format("{}: {},\n", Json(name).dump(), value.dump());
  };
  field("algorithm", encoding);
  field("schema", "schema.json");
  field("vectorsVersion", bits_version);
  field("license", "CC0-1.0");
  field("numberOfTests", numbered.count());
  field("header", {"Conformance vectors for positional encodings: README.md says how to read them."});
  field("notes", notes_of(numbered.flags()));
  field("pattern", pattern_json());
  return text + "\"testGroups\": [\n" + body + "\n]}\n";
}

// How many groups and calls each dtype has, under each evaluation.
Json coverage_json(const std::vector<Group>& groups) {
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::size_t>> counts;
  for (const Group& group : groups) {
    const Json spec = Json::parse(spec_text(group.spec));
    auto& [of_groups, of_calls] = counts[{spec["dtype"], spec["evaluation"]}];
    ++of_groups;
    of_calls += group.tests.size();
  }
  Json list = Json::array();
  for (const auto& [narrow, count] : counts)
    list.push_back(
        {{"dtype", narrow.first}, {"evaluation", narrow.second}, {"groups", count.first}, {"calls", count.second}});
  return list;
}

// Full tables, of which the vectors have the digests alone.
struct FullTable {
  const char* preset;
  Dtype dtype;
  std::int64_t positions;
};
constexpr FullTable full_tables[] = {
    {"transformer-512", Dtype::float32, 8192}, {"llama-2-7b", Dtype::float32, 131072},
    {"llama-2-7b", Dtype::bfloat16, 131072},   {"llama-3.1-8b", Dtype::float32, 131072},
    {"llama-3.1-8b", Dtype::bfloat16, 131072}, {"qwen2.5-7b-yarn", Dtype::float32, 131072},
    {"gpt-neox-20b", Dtype::float16, 131072},
};

Json table_json(const FullTable& full) {
  const Spec spec = parse_spec(preset_named(full.preset)->json);
  const auto table = exact_table(spec, {.dtype = full.dtype, .furthest = full.positions - 1});
  Sha256 sha;
  for (std::int64_t position = 0; position < full.positions; ++position) {
    for (const std::vector<double>& row : table->at(position)) {
      Tensor values = Tensor::zeros(full.dtype, {std::ssize(row)});
      for (std::int64_t i = 0; i < values.elements(); ++i) values.set(i, row[static_cast<std::size_t>(i)]);
      sha.add(values.data);
    }
  }
  Json parts = Json::array();
  for (const ExactTable::Part& part : table->parts()) parts.push_back({part.name, part.columns});
  return {{"spec", Json::parse(to_json(spec))}, {"name", full.preset}, {"dtype", name_of(full.dtype)},
          {"positions", {0, full.positions}},   {"row", parts},        {"sha256", sha.digest()}};
}

}  // namespace

std::vector<VectorFile> json_vectors() {
  const std::vector<vectors::ChosenClaim> claims = vectors::chosen_claims();
  const auto proposer = builtin_subject();
  std::vector<VectorFile> files{
      {"LICENSE", vectors_licence}, {"README.md", vectors_readme}, {"run.py", vectors_runner}};
  std::vector<Group> all;
  for (const std::string& encoding : vectors::encodings_with_vectors(claims)) {
    std::vector<Group> groups;
    for (const vectors::ChosenClaim& claim : claims) {
      if (encoding_name(parse_spec(claim.spec)) == encoding) groups.push_back(vectors::made_group(claim, *proposer));
    }
    files.push_back({encoding + "_vectors.json", file_text(encoding, groups)});
    std::ranges::move(groups, std::back_inserter(all));
  }
  files.push_back({"schema.json", vectors_schema});
  std::ranges::sort(files, {}, &VectorFile::name);
  Json manifest{{"vectorsVersion", bits_version},
                {"license", "CC0-1.0"},
                {"coverage", coverage_json(all)},
                {"files", Json::object()},
                {"tables", Json::array()}};
  for (const VectorFile& file : files) {
    Sha256 sha;
    sha.add(file.content);
    manifest["files"][file.name] = {{"bytes", file.content.size()}, {"sha256", sha.digest()}};
  }
  for (const FullTable& full : full_tables) manifest["tables"].push_back(table_json(full));
  files.push_back({"manifest.json", manifest.dump(1) + "\n"});
  std::ranges::sort(files, {}, &VectorFile::name);
  return files;
}

}  // namespace sextant
