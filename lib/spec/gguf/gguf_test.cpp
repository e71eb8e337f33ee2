#include "lib/spec/gguf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

namespace sextant::gguf_test {
namespace {

// Writes the head of a GGUF file.
class Writer {
 public:
  explicit Writer(std::string_view architecture) { text("general.architecture", architecture); }

  Writer& text(std::string_view key, std::string_view value) {
    begin(key, 8);
    put_text(value);
    return *this;
  }
  Writer& integer(std::string_view key, std::uint32_t value) {
    begin(key, 4);
    put(value);
    return *this;
  }
  Writer& number(std::string_view key, float value) {
    begin(key, 6);
    put(value);
    return *this;
  }
  Writer& flag(std::string_view key, char value) {
    begin(key, 7);
    put(value);
    return *this;
  }
  template <class T>
  Writer& list(std::string_view key, std::uint32_t type, const std::vector<T>& values) {
    begin(key, 9);
    put(type);
    put(std::uint64_t{values.size()});
    for (const T& value : values) put(value);
    return *this;
  }
  Writer& texts(std::string_view key, std::size_t count) {
    begin(key, 9);
    put(std::uint32_t{8});
    put(std::uint64_t{count});
    for (std::size_t i = 0; i < count; ++i) put_text("token");
    return *this;
  }
  Writer& divisors(std::vector<float> values) {
    divisors_ = std::move(values);
    return *this;
  }

  std::string file() const {
    Writer whole;
    whole.put(std::uint32_t{0x46554747});
    whole.put(std::uint32_t{3});
    whole.put(std::uint64_t{divisors_.empty() ? 1U : 2U});
    whole.put(entries_);
    whole.bytes_ += bytes_;
    whole.put_tensor("token_embd.weight", 64, 0);
    if (!divisors_.empty()) whole.put_tensor("rope_freqs.weight", divisors_.size(), 256);
    while (whole.bytes_.size() % 32 != 0) whole.bytes_ += '\0';
    whole.bytes_ += std::string(256, 'x');
    for (const float value : divisors_) whole.put(value);
    return whole.bytes_;
  }

 private:
  Writer() = default;

  template <class T>
  void put(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
  }
  void put_text(std::string_view value) {
    put(std::uint64_t{value.size()});
    bytes_ += value;
  }
  void put_tensor(std::string_view name, std::uint64_t elements, std::uint64_t offset) {
    put_text(name);
    put(std::uint32_t{1});
    put(elements);
    put(std::uint32_t{0});
    put(offset);
  }
  void begin(std::string_view key, std::uint32_t type) {
    ++entries_;
    put_text(key);
    put(type);
  }

  std::string bytes_;
  std::uint64_t entries_ = 0;
  std::vector<float> divisors_;
};

Writer llama() {
  Writer writer("llama");
  writer.integer("llama.context_length", 8192)
      .integer("llama.embedding_length", 256)
      .integer("llama.attention.head_count", 16)
      .integer("llama.rope.dimension_count", 16)
      .number("llama.rope.freq_base", 500000);
  return writer;
}

ConfigClaim claim_of(const std::string& bytes) {
  std::istringstream stream(bytes);
  const auto claims = claims_of_gguf(stream);
  EXPECT_EQ(claims.size(), 1);
  return claims.front();
}

Rope rope_of(const Writer& writer) { return std::get<Rope>(claim_of(writer.file()).spec->encoding); }

std::string refusal_of(const std::string& bytes) {
  try {
    return to_json(*claim_of(bytes).spec);
  } catch (const SpecError& error) {
    return error.what();
  }
}

TEST(Gguf, ReadsALlamaPastItsTokens) {
  const ConfigClaim claim =
      claim_of(llama().texts("tokenizer.ggml.tokens", 5000).list("scores", 6, std::vector<float>(9000)).file());
  const auto& rope = std::get<Rope>(claim.spec->encoding);
  EXPECT_EQ(rope.head_dim, 16);
  EXPECT_EQ(rope.rope_theta, 500000);
  EXPECT_EQ(rope.pairing, Pairing::interleaved);
  EXPECT_EQ(claim.spec->max_position, 8192);
  const auto found = std::ranges::find(claim.sources, "rope_theta", &FieldSource::field);
  ASSERT_NE(found, claim.sources.end());
  EXPECT_EQ(found->source, "key llama.rope.freq_base");
  // Every field of the spec has one.
  const auto spec = nlohmann::json::parse(to_json(*claim.spec));
  for (const auto& [field, value] : spec.items())
    EXPECT_EQ(std::ranges::count(claim.sources, field, &FieldSource::field), 1) << field;
}

TEST(Gguf, ReadsLlama3sDivisors) {
  const Rope rope = rope_of(llama().divisors({1, 1, 1, 1, 2.5F, 8, 8, 8}));
  const auto& longrope = std::get<LongropeScaling>(rope.rope_scaling);
  EXPECT_EQ(longrope.short_factor, (std::vector<double>{1, 1, 1, 1, 2.5, 8, 8, 8}));
  EXPECT_EQ(longrope.long_factor, longrope.short_factor);
  EXPECT_EQ(longrope.attention_factor, 1);
}

TEST(Gguf, ReadsScalings) {
  const auto scaling = [](Writer writer) { return rope_of(writer).rope_scaling; };
  EXPECT_EQ(std::get<LinearScaling>(scaling(llama().number("llama.rope.scale_linear", 4))).factor, 4);
  EXPECT_EQ(std::get<LinearScaling>(
                scaling(llama().text("llama.rope.scaling.type", "linear").number("llama.rope.scaling.factor", 2)))
                .factor,
            2);
  EXPECT_EQ(name_of(scaling(llama().text("llama.rope.scaling.type", "none").number("llama.rope.scaling.factor", 2))),
            "default");
  const Writer writer = llama()
                            .text("llama.rope.scaling.type", "yarn")
                            .number("llama.rope.scaling.factor", 4)
                            .integer("llama.rope.scaling.original_context_length", 4096);
  const auto yarn = std::get<YarnScaling>(scaling(writer));
  EXPECT_EQ(yarn.original_max_position_embeddings, 4096);
  EXPECT_EQ(claim_of(writer.file()).spec->max_position, 16384);
}

TEST(Gguf, ReadsSections) {
  Writer writer("qwen2vl");
  writer.integer("qwen2vl.attention.key_length", 128)
      .list("qwen2vl.rope.dimension_sections", 5, std::vector<std::int32_t>{16, 24, 24, 0});
  const auto rope = std::get<RopeNd>(claim_of(writer.file()).spec->encoding);
  EXPECT_EQ(rope.sections, (std::vector<std::int64_t>{16, 24, 24}));
  EXPECT_EQ(rope.rope.pairing, Pairing::half);
}

TEST(Gguf, RefusesWhatItsKeysDoNotSay) {
  const auto expect = [](const Writer& writer, const char* reason) {
    const std::string refusal = refusal_of(writer.file());
    EXPECT_NE(refusal.find(reason), std::string::npos) << refusal;
  };
  expect(Writer("warp"), "general.architecture: \"warp\" is not known");
  expect(Writer("granite").integer("granite.attention.key_length", 64).flag("granite.rope.scaling.finetuned", 0),
         "granite.rope.scaling.finetuned: decides whether a granite turns at all");
  expect(Writer("gemma3"), "layers of a gemma3 turn by different rules");
  expect(Writer("llama"), "llama.attention.key_length: required");
  expect(llama().text("llama.rope.scaling.type", "longrope"), "longrope's factors are tensors");
  expect(llama()
             .text("llama.rope.scaling.type", "yarn")
             .number("llama.rope.scaling.factor", 2)
             .number("llama.rope.scaling.attn_factor", 1),
         "versions of llama.cpp differ");
  expect(llama().number("llama.rope.scaling.attn_factor", 1.5),
         "rope.scaling.attn_factor: versions of llama.cpp differ");
  EXPECT_EQ(name_of(rope_of(llama().number("llama.rope.scaling.attn_factor", 1)).rope_scaling), "default");
  expect(Writer("deepseek2")
             .integer("deepseek2.rope.dimension_count", 64)
             .text("deepseek2.rope.scaling.type", "yarn")
             .number("deepseek2.rope.scaling.factor", 40),
         "the magnitude of a deepseek2 under yarn");
  expect(
      llama().number("llama.rope.scaling.factor", 2).divisors({1, 1, 1, 1, 1, 1, 1, 1}),
      "rope_freqs.weight: beside llama.rope.scaling.factor = 2, whose sum no spec says: state the claim with --spec");
  expect(Writer("lama"), "\"lama\" is not known: state the claim with --spec; did you mean llama?");
  expect(Writer("llama").text("llama.attention.key_length", "wide"),
         "llama.attention.key_length: expected an integer, got \"wide\"");
  expect(Writer("llama").integer("llama.attention.key_length", 63),
         "key llama.attention.key_length: head_dim: expected");
  expect(llama().divisors({1, 1}), "expected a number for each of the 8 pairs");
  expect(Writer("llama")
             .list("llama.attention.head_count", 4, std::vector<std::uint32_t>{8, 16})
             .integer("llama.embedding_length", 64),
         "differs from layer to layer");
  expect(llama().integer("llama.context_length", 9), "llama.context_length: given twice");
}

// Each prefix and each changed byte of a file is a claim or one line, never a crash or an endless read.
TEST(Gguf, DamagedFilesAreRefusedInOneLine) {
  const std::string whole =
      llama().texts("tokens", 3).list("scores", 6, std::vector<float>(3)).divisors({1, 1, 1, 1, 2, 8, 8, 8}).file();
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    const std::string refusal = refusal_of(whole.substr(0, size));
    EXPECT_NE(refusal.find("gguf: "), std::string::npos) << size << ' ' << refusal;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = value;
      refusal_of(damaged);
    }
  }
}

}  // namespace
}  // namespace sextant::gguf_test
