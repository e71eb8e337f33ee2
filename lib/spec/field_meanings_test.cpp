#include "lib/spec/field_meanings.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "lib/spec/spec.hpp"

namespace sextant::spec_field_meanings_test {
namespace {

// Of an object and of its rope_scaling, by path.
void collect(const nlohmann::json& object, const std::string& path, std::set<std::string>& names) {
  for (const auto& [name, value] : object.items()) {
    names.insert(path + name);
    if (name == "rope_scaling" && value.is_object()) collect(value, "rope_scaling.", names);
  }
}

std::set<std::string> written_fields(std::string_view encoding) {
  std::set<std::string> names;
  const auto collect_from = [&](std::string_view spec) {
    collect(nlohmann::json::parse(to_json(parse_spec(spec))), "", names);
  };
  for (const EncodingExample& example : encoding_examples()) {
    if (example.encoding == encoding) collect_from(example.spec);
  }
  if (encoding != "rope" && encoding != "rope_nd" && encoding != "rotary_table" && encoding != "qk_norm_rope")
    return names;
  for (const char* scaling :
       {R"("yarn","factor":4,"original_max_position_embeddings":8)",
        R"("dynamic","factor":4,"original_max_position_embeddings":8)",
        R"("longrope","factor":4,"original_max_position_embeddings":8,"short_factor":[1,1],"long_factor":[2,2])",
        R"("llama3","factor":4,"original_max_position_embeddings":8,"low_freq_factor":1,"high_freq_factor":4)"}) {
    const std::string sections = encoding == "rope_nd" ? R"(,"sections":[2])" : "";
    collect_from(R"({"encoding":")" + std::string(encoding) + R"(","head_dim":4)" + sections +
                 R"(,"rope_scaling":{"rope_type":)" + scaling + "}}");
  }
  return names;
}

// Whether the reader knows the field: it then refuses a list of lists for what it is.
bool is_read(const EncodingExample& example, const std::string& name) {
  auto spec = nlohmann::json::parse(example.spec);
  spec[name] = {{1, {2}}};
  try {
    parse_spec(spec.dump());
  } catch (const SpecError& error) {
    const std::string_view what = error.what();
    return what.find(name) != what.npos && what.find("unknown") == what.npos;
  }
  return false;
}

TEST(FieldMeanings, EachFieldThatIsWrittenIsExplainedAndEachExplainedOneIsRead) {
  for (const EncodingExample& example : encoding_examples()) {
    std::set<std::string> explained;
    const auto take = [&](const FieldMeaning& field) {
      EXPECT_TRUE(explained.insert(std::string(field.name)).second) << example.encoding << ' ' << field.name;
      EXPECT_FALSE(field.meaning.empty()) << field.name;
      EXPECT_LE(field.name.size() + field.meaning.size(), 140U) << field.name;
    };
    for (const FieldMeaning& field : fields_of_encoding(example.encoding)) take(field);
    for (const FieldMeaning& field : fields_of_every_spec()) take(field);
    const std::set<std::string> written = written_fields(example.encoding);
    for (const std::string& name : written) EXPECT_TRUE(explained.contains(name)) << example.encoding << ' ' << name;
    for (const std::string& name : explained) {
      EXPECT_TRUE(written.contains(name) || is_read(example, name)) << example.encoding << ' ' << name;
    }
  }
}

TEST(FieldMeanings, NothingIsSaidOfAnUnknownEncoding) { EXPECT_TRUE(fields_of_encoding("warp").empty()); }

}  // namespace
}  // namespace sextant::spec_field_meanings_test
