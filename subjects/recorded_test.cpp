// Over 400 lines: a flat list of files and of what is read or refused of them, which share one fixture and its writers.
#include "subjects/recorded.hpp"

#include <gtest/gtest.h>
// rapidcheck/gtest.h needs gtest before it.
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "subjects/operations.hpp"
#include "subjects/safetensors.hpp"
#include "subjects/written_arrays_test.hpp"

namespace sextant::recorded_test {
namespace {

using written::elements;
using written::Member;
using written::npy;
using written::npy_of_type;
using written::tensor_proto;
using written::zip;

class Recorded : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("recorded_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
    return directory_ / name;
  }

  std::unique_ptr<Subject> open(const std::filesystem::path& file, const Spec& spec,
                                const char* order = nullptr) const {
    return recorded_subject(
        "file:t", file, spec,
        {.order = order == nullptr ? nullptr : table_order_named(order), .note = [this](const std::string& note) {
           // Small files have few of a claim's positions.
           if (!note.starts_with("the file has positions")) notes_.push_back(note);
         }});
  }

  std::string refusal(const std::filesystem::path& file, const Spec& spec, const char* order = nullptr) const {
    try {
      const auto subject = open(file, spec, order);
      subject->within_reach(spec);
    } catch (const SubjectNameError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    return "accepted";
  }

  void expect_refusal(const std::filesystem::path& file, const Spec& spec, const std::string& why,
                      const char* order = nullptr) const {
    const std::string said = refusal(file, spec, order);
    EXPECT_NE(said.find(why), std::string::npos) << said;
  }

  std::filesystem::path directory_;
  mutable std::vector<std::string> notes_;
};

const Spec code = parse_spec(R"({"encoding":"sinusoidal","dim":4,"min_position":-8})");
const std::string counting = written::counting(Dtype::float32, '<', {3, 4});
const std::string small = npy(Dtype::float32, '<', "False", "(3, 4)", counting);

TEST_F(Recorded, ReachesAsFarAsItsRows) {
  const auto subject = open(write("t.npy", small), code);
  EXPECT_FALSE(subject->is_live());
  EXPECT_EQ(subject->within_reach(code).min_position, 0);
  EXPECT_EQ(subject->within_reach(code).max_position, 3);
  expect_refusal(directory_ / "t.npy", parse_spec(R"({"encoding":"sinusoidal","dim":8})"),
                 "4 columns, the spec says dim 8");
  expect_refusal(directory_ / "t.npy", parse_spec(R"({"encoding":"sinusoidal","dim":4,"dtype":"float64"})"),
                 "elements are '<f4', the spec says float64");
  expect_refusal(directory_ / "t.npy", parse_spec(R"({"encoding":"alibi","num_heads":4})"), "got alibi");
  expect_refusal(directory_ / "t.npy", parse_spec(R"({"encoding":"sinusoidal","dim":4,"min_position":3})"),
                 "its 3 rows hold none of the positions 3 to");
  expect_refusal(write("flat.npy", npy(Dtype::float32, '<', "False", "(2, 3, 2)", counting)), code,
                 "is not [positions, dim]");
  const auto session = subject->open(code);
  EXPECT_THROW(encode(*session, code, std::vector<std::int64_t>{3}), SubjectFailure);
  EXPECT_THROW(encode(*session, code, std::vector<std::int64_t>{-1}), SubjectFailure);
  EXPECT_THROW(session->call("rotate", {}), SubjectFailure);
}

// 0, 1, 2, ... in rows of 4, from a row on.
void expect_counts(const Subject& subject, const Spec& spec, std::int64_t first) {
  const auto session = subject.open(spec);
  const Tensor rows = encode(*session, spec, std::vector<std::int64_t>{first + 2, first});
  EXPECT_EQ(rows.at(0), 8);
  EXPECT_EQ(rows.at(7), 3);
}

std::string safetensors(const std::string& header, const std::string& data) {
  return written::number(header.size(), 8) + header + data;
}

TEST_F(Recorded, ReadsEveryKindOfFile) {
  const std::string other = npy(Dtype::int64, '<', "False", "(1,)", std::string(8, '\0'));
  const std::string positions =
      npy_of_type(">i8", "(3, 1)", std::string("\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0\x07", 24));
  for (const auto width : {written::Width::plain, written::Width::wide}) {
    for (const bool is_deflated : {false, true}) {
      expect_counts(*open(write("one.npz", zip({{"arr_0.npy", small, is_deflated}}, width)), code), code, 0);
      expect_counts(*open(write("named.npz", zip({{"other.npy", other, is_deflated},
                                                  {"encoding.npy", small, is_deflated},
                                                  {"readme.txt", "no array"}},
                                                 width)),
                          code),
                    code, 0);
      const auto subject =
          open(write("from5.npz",
                     zip({{"positions.npy", positions, is_deflated}, {"arr_0.npy", small, is_deflated}}, width)),
               code);
      EXPECT_EQ(subject->within_reach(code).min_position, 5);
      EXPECT_EQ(subject->within_reach(code).max_position, 8);
      expect_counts(*subject, code, 5);
    }
  }
  const std::string header = R"({"x":{"dtype":"F32","shape":[1,3,4],"data_offsets":[0,48]},"__metadata__":{"a":"b"}})";
  expect_counts(*open(write("t.safetensors", safetensors(header, counting)), code), code, 0);
}

TEST_F(Recorded, RefusesFilesThatHoldNoSuchTable) {
  expect_refusal(directory_ / "absent.npz", code, "no such file");
  expect_refusal(directory_, code, "a directory");
  std::filesystem::create_symlink("/dev/zero", directory_ / "device.npy");
  expect_refusal(directory_ / "device.npy", code, "no regular file");
  ASSERT_EQ(mkfifo((directory_ / "pipe.npy").c_str(), 0600), 0);
  expect_refusal(directory_ / "pipe.npy", code, "no regular file");
  expect_refusal(write("empty.npy", ""), code, "the file is empty");

  const std::string whole = zip({{"a.npy", small}, {"b.npy", small}});
  expect_refusal(write("two.npz", whole), code, "holds \"a\", \"b\", expected \"encoding\" or one array");
  expect_refusal(write("none.npz", zip({{"a.txt", small}})), code, "holds no .npy file");
  expect_refusal(write("no.npz", zip({})), code, "holds no .npy file");
  expect_refusal(write("cut.npz", whole.substr(0, whole.size() - 30)), code, "without a directory");
  const std::string positions = npy(Dtype::int64, '<', "False", "(3,)", std::string(24, '\0'));
  expect_refusal(write("same.npz", zip({{"positions.npy", positions}, {"t.npy", small}})), code,
                 "each one more than the one before");
  expect_refusal(write("text.npz", zip({{"positions.npy", small}, {"t.npy", small}})), code, "expected int64");
  const std::string longer = npy(Dtype::int64, '<', "False", "(2,)", written::number(0, 8) + written::number(1, 8));
  expect_refusal(write("count.npz", zip({{"positions.npy", longer}, {"t.npy", small}})), code, "2 positions, 3 rows");

  // An archive whose member says that it inflates to more than it can, or to more than is taken, or to something else.
  std::string bomb = zip({{"a.npy", std::string(1 << 20, '\0'), true}});
  const std::size_t size_at = bomb.find("PK\x01\x02") + 24;
  expect_refusal(write("bomb.npz", bomb.replace(size_at, 4, written::number(0x7FFFFFFF, 4))), code,
                 "bytes once inflated, at most 1073741824");
  expect_refusal(write("bomb.npz", bomb.replace(size_at, 4, written::number(0x3FFFFFFF, 4))), code,
                 "cannot inflate to");
  expect_refusal(write("bomb.npz", bomb.replace(size_at, 4, written::number(1 << 19, 4))), code, "does not inflate to");
  expect_refusal(write("bomb.npz", bomb.replace(size_at, 4, written::number((1 << 20) + 1, 4))), code,
                 "does not inflate to");
  std::string changed = zip({{"a.npy", small, true}});
  changed[changed.find("PK\x01\x02") + 16] ^= 1;
  expect_refusal(write("changed.npz", changed), code, "checksum");
  // NumPy stores its members with theirs.
  changed = zip({{"a.npy", small}});
  changed[changed.find("PK\x01\x02") + 16] ^= 1;
  expect_refusal(write("changed.npz", changed), code, "checksum");
  // NumPy takes the last of two, others the first.
  expect_refusal(write("two.npz", zip({{"a.npy", small}, {"a.npy", small}})), code, "a second member \"a.npy\"");
  std::string locked = zip({{"a.npy", small}});
  locked[locked.find("PK\x01\x02") + 8] ^= 1;
  expect_refusal(write("locked.npz", locked), code, "is encrypted");
  std::string method = zip({{"a.npy", small}});
  method[method.find("PK\x01\x02") + 10] = 12;
  expect_refusal(write("method.npz", method), code, "compression method 12");

  const auto tensors = [&](const std::string& header) { return write("t.safetensors", safetensors(header, counting)); };
  expect_refusal(tensors(R"({"x":{"dtype":"F32","shape":[3,5],"data_offsets":[0,60]}})"), code,
                 "data_offsets end at 60, the file has 48 bytes of data");
  expect_refusal(tensors(R"({"x":{"dtype":"F32","shape":[3,4],"data_offsets":[0,47]}})"), code, "do not hold shape");
  expect_refusal(tensors(R"({"a":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},)"
                         R"("b":{"dtype":"F32","shape":[3,2],"data_offsets":[23,47]}})"),
                 code, "overlap");
  expect_refusal(tensors("{]"), code, "not a JSON object");
  expect_refusal(write("t.safetensors", written::number(1 << 19, 8) + "{}"), code, "ends inside its header");
  expect_refusal(write("t.safetensors", written::number(std::uint64_t{1} << 60, 8) + "{}"), code, "header length");
  expect_refusal(write("t.safetensors", "{}"), code, "cut short");
}

// The call that a test data set of ONNX is, a directory beside its model.

std::string integers(const std::vector<std::uint64_t>& values) {
  std::string bytes;
  for (const std::uint64_t value : values) bytes += written::number(value, 8);
  return bytes;
}

TEST_F(Recorded, ReadsATestDataSet) {
  std::filesystem::create_directories(directory_ / "model/test_data_set_0");
  write("model/model.onnx", "not read");
  write("model/test_data_set_0/input_0.pb", tensor_proto("ids", Dtype::int64, {1, 3}, integers({5, 6, 7})));
  write("model/test_data_set_0/output_0.pb", tensor_proto("rows", Dtype::float32, {1, 3, 4}, counting));
  for (const char* folder : {"model", "model/test_data_set_0"}) {
    const auto subject = open(directory_ / folder, code);
    EXPECT_EQ(subject->within_reach(code).min_position, 5);
    EXPECT_EQ(subject->within_reach(code).max_position, 8);
    expect_counts(*subject, code, 5);
    EXPECT_TRUE(notes_.empty());
  }
  expect_counts(*open(directory_ / "model/test_data_set_0/output_0.pb", code), code, 0);

  write("model/test_data_set_0/input_0.pb", tensor_proto("ids", Dtype::int64, {3}, integers({5, 7, 6})));
  expect_refusal(directory_ / "model", code, "each one more than the one before");
  write("model/test_data_set_0/input_0.pb", tensor_proto("rows", Dtype::float32, {3}, counting.substr(0, 12)));
  expect_refusal(directory_ / "model", code, "input_0.pb: another tensor of the data set is \"rows\", too");
  std::filesystem::create_directories(directory_ / "model/test_data_set_1");
  expect_refusal(directory_ / "model", code, "2 test data sets: name one");
  expect_refusal(directory_ / "model/test_data_set_1", code, "no output_0.pb");
  std::filesystem::remove(directory_ / "model/test_data_set_0/output_0.pb");
  std::filesystem::remove(directory_ / "model/test_data_set_1");
  expect_refusal(directory_ / "model", code, "test_data_set_0: a directory, not a file, and no test data set");
}

// Whatever a byte of a file becomes, it is read or refused.
RC_GTEST_FIXTURE_PROP(Recorded, IsReadOrRefusedWhateverAByteBecomes, ()) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"t.npy", small},
      {"t.npz", zip({{"arr_0.npy", small, true}})},
      {"wide.npz", zip({{"arr_0.npy", small}, {"b.npy", small}}, written::Width::wide)},
      {"t.safetensors", safetensors(R"({"encoding":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}})", counting)},
      {"t.pb", tensor_proto("encoding", Dtype::float32, {3, 4}, counting)}};
  const auto [name, whole] = files[*rc::gen::inRange<std::size_t>(0, files.size())];
  std::string bytes = whole;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i)
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  if (*rc::gen::inRange(0, 4) == 0) bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size()));
  const auto file = write(name, bytes);
  try {
    const auto subject = open(file, code);
    const Spec reached = subject->within_reach(code);
    const auto session = subject->open(reached);
    RC_ASSERT(encode(*session, reached, std::vector<std::int64_t>{reached.max_position - 1}).shape[1] == 4);
  } catch (const SubjectNameError& error) {
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  }
}

// Rotary tables.

const Spec rope = parse_spec(R"({"encoding":"rope","head_dim":8,"rotary_dim":6})");
constexpr int pairs_of_rope = 3;
constexpr int rows_of_table = 5;

double cosine(int row, int pair) { return static_cast<float>(std::cos(row * (pair + 1.0) / 10)); }
double sine(int row, int pair) { return static_cast<float>(std::sin(row * (pair + 1.0) / 10)); }

// Rows of `columns` values of (row, column), from a row on.
std::vector<double> filled(int columns, const std::function<double(int, int)>& value, int first = 0) {
  std::vector<double> values;
  for (int row = first; row < first + rows_of_table; ++row) {
    for (int column = 0; column < columns; ++column) values.push_back(value(row, column));
  }
  return values;
}

std::vector<double> joined(std::vector<double> one, const std::vector<double>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

struct Order {
  const char* name;
  const char* shape;
  std::function<std::vector<double>(int first)> values;
  const char* type = "<f4";
};

double cos_sin(int row, int column) { return column < 3 ? cosine(row, column) : sine(row, column - 3); }
double sin_cos(int row, int column) { return cos_sin(row, (column + 3) % 6); }
double interleaved(int row, int column) { return column % 2 == 0 ? cosine(row, column / 2) : sine(row, column / 2); }

const std::vector<Order>& orders_of_one_array() {
  static const std::vector<Order> list{
      {"cos_sin", "(5, 6)", [](int first) { return filled(6, cos_sin, first); }},
      {"cos_sin", "(1, 5, 1, 6)", [](int first) { return filled(6, cos_sin, first); }},
      {"sin_cos", "(5, 6)", [](int first) { return filled(6, sin_cos, first); }},
      {"interleaved", "(5, 6)", [](int first) { return filled(6, interleaved, first); }},
      {"interleaved", "(5, 3, 2)", [](int first) { return filled(6, interleaved, first); }},
      {"interleaved", "(5, 3)", [](int first) { return filled(6, interleaved, first); }, "<c8"},
      {"separate", "(2, 5, 3)", [](int first) { return joined(filled(3, cosine, first), filled(3, sine, first)); }},
      {"halves", "(2, 5, 6)",
       [](int first) {
         return joined(filled(
                           6, [](int row, int i) { return cosine(row, i % 3); }, first),
                       filled(
                           6, [](int row, int i) { return sine(row, i % 3); }, first));
       }},
      {"repeated", "(2, 5, 6)", [](int first) {
         return joined(filled(
                           6, [](int row, int i) { return cosine(row, i / 2); }, first),
                       filled(
                           6, [](int row, int i) { return sine(row, i / 2); }, first));
       }}};
  return list;
}

void expect_table(const Subject& subject, int first) {
  const Spec claim = subject.within_reach(rope);
  EXPECT_EQ(encoding_name(claim), "rotary_table");
  EXPECT_EQ(claim.max_position, rows_of_table);
  const auto session = subject.open(claim);
  EXPECT_EQ(session->describe().operations, std::vector<std::string>{"table"});
  const Tensor rows = table(*session, claim, std::vector<std::int64_t>{4, 0});
  ASSERT_EQ(rows.shape[1] % 6, 0);
  for (std::int64_t column = 0; column < rows.shape[1]; ++column) {
    const int own = static_cast<int>(column % 6);
    EXPECT_EQ(rows.at(column), cos_sin(4 + first, own)) << column;
    EXPECT_EQ(rows.at(rows.shape[1] + column), cos_sin(first, own)) << column;
  }
}

TEST_F(Recorded, FindsTheOrderOfAJoinedTableByItsRowOfPosition0) {
  for (const auto& [name, shape, values, type] : orders_of_one_array()) {
    SCOPED_TRACE(std::string(name) + " " + shape);
    notes_.clear();
    const auto file = write("t.npy", npy_of_type(type, shape, elements(Dtype::float32, '<', values(0))));
    expect_table(*open(file, rope), 0);
    ASSERT_EQ(notes_.size(), 1U);
    EXPECT_NE(notes_[0].find(std::string("order is ") + name), std::string::npos) << notes_[0];
    // A table that begins elsewhere is not guessed.
    const auto later = write("t.npy", npy_of_type(type, shape, elements(Dtype::float32, '<', values(1))));
    expect_refusal(later, rope, "say --table-order");
    expect_table(*open(later, rope, name), 1);
    const std::string other = std::string(shape) == "(2, 5, 6)" ? "interleaved" : "halves";
    expect_refusal(file, rope, "is not " + other, other.c_str());
  }
}

TEST_F(Recorded, TakesTwoArraysByTheirNames) {
  const auto array = [&](const std::string& shape, const std::vector<double>& values) {
    return npy_of_type("<f4", shape, elements(Dtype::float32, '<', values));
  };
  for (const auto& [cosines, sines] : {std::pair{"cos", "sin"}, {"cos_cached", "sin_cached"}}) {
    const auto file = write("t.npz", zip({{cosines + std::string(".npy"), array("(5, 3)", filled(3, cosine))},
                                          {sines + std::string(".npy"), array("(5, 1, 3)", filled(3, sine))},
                                          {"inv_freq.npy", array("(1,)", {1})}}));
    expect_table(*open(file, rope), 0);
    ASSERT_EQ(notes_.size(), 1U);
    EXPECT_NE(notes_[0].find("judged, as a table; its other tensors are not"), std::string::npos) << notes_[0];
    notes_.clear();
  }
  const auto twice = [&](auto place) {
    return write("t.npz",
                 zip({{"cos.npy", array("(5, 6)", filled(6, [&](int row, int i) { return cosine(row, place(i)); }))},
                      {"sin.npy", array("(5, 6)", filled(6, [&](int row, int i) { return sine(row, place(i)); }))}}));
  };
  expect_table(*open(twice([](int i) { return i % 3; }), rope), 0);
  expect_table(*open(twice([](int i) { return i / 2; }), rope), 0);
  ASSERT_EQ(notes_.size(), 2U);
  EXPECT_NE(notes_[0].find("halves"), std::string::npos);
  EXPECT_NE(notes_[1].find("repeated"), std::string::npos);
  expect_refusal(twice([](int) { return 0; }), rope, "may be halves or repeated");
  expect_refusal(write("t.npz", zip({{"cos.npy", array("(5, 3)", filled(3, cosine))}, {"x.npy", small}})), rope,
                 "expected \"cos\" and \"sin\"");
  expect_refusal(write("t.npz", zip({{"cos.npy", array("(5, 3)", filled(3, cosine))},
                                     {"sin.npy", array("(4, 3)", std::vector<double>(12, 0))}})),
                 rope, "[5, 3] and [4, 3] is no table of 3 pairs");
}

TEST_F(Recorded, JudgesTheCacheOfARecordedRotation) {
  const auto values = [](const std::vector<double>& list) { return elements(Dtype::float32, '<', list); };
  const std::string x = values(std::vector<double>(16, 1.0));
  write("input_0.pb", tensor_proto("x", Dtype::float32, {1, 1, 2, 8}, x));
  write("input_1.pb", tensor_proto("cos_cache", Dtype::float32, {5, 3}, values(filled(3, cosine))));
  write("input_2.pb", tensor_proto("sin_cache", Dtype::float32, {5, 3}, values(filled(3, sine))));
  write("input_3.pb",
        tensor_proto("position_ids", Dtype::int64, {1, 2}, written::number(3, 8) + written::number(1, 8)));
  write("output_0.pb", tensor_proto("y", Dtype::float32, {1, 1, 2, 8}, x));
  expect_table(*open(directory_, rope), 0);
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_EQ(notes_[0],
            "of the test data set \"cos_cache\" and \"sin_cache\" are judged, as a table; its other tensors are not");
  std::filesystem::remove(directory_ / "input_1.pb");
  expect_refusal(directory_, rope, "holds \"x\", \"y\", expected \"cos\" and \"sin\"");
}

TEST_F(Recorded, TakesTheOrderThatASafetensorsFileNames) {
  const auto file = [&](const std::string& order) {
    return write("t.safetensors",
                 safetensors(R"({"x":{"dtype":"F32","shape":[5,6],"data_offsets":[0,120]},"__metadata__":)"
                             R"({"table_order":")" +
                                 order + "\"}}",
                             elements(Dtype::float32, '<', filled(6, sin_cos, 1))));
  };
  expect_table(*open(file("sin_cos"), rope), 1);
  expect_refusal(file("sideways"), rope, "expected one of separate, cos_sin");
}

TEST_F(Recorded, KnowsNoTableOfAnotherWidth) {
  const auto file = write("t.npy", npy(Dtype::float32, '<', "False", "(3, 4)", counting));
  expect_refusal(file, rope, "shape [3, 4] is no table of 3 pairs");
  const auto infinite = write("n.npy", npy(Dtype::float32, '<', "False", "(2, 6)",
                                           elements(Dtype::float32, '<', std::vector<double>(12, NAN))));
  expect_refusal(infinite, rope, "say --table-order");
  const auto none = write("e.npy", npy(Dtype::float32, '<', "False", "(0, 6)", ""));
  expect_refusal(none, rope, "say --table-order");
  expect_refusal(none, rope, "hold none of the positions", "cos_sin");
}

}  // namespace
}  // namespace sextant::recorded_test
