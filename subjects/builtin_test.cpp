#include "subjects/builtin.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(BuiltinSubject, SaysThatItDoesNotHaveWhatItHasNoEncoderFor) {
  for (const char* json : {R"({"encoding":"alibi","num_heads":8})", R"({"encoding":"xpos","head_dim":8})", R"({"encoding":"attention","num_heads":8,"head_dim":8})"}) {
    const auto session = builtin_subject()->open(parse_spec(json));
    EXPECT_EQ(session->describe().name, "sextant");
    for (const char* operation : {"encode", "rotate", "bias", "attend"}) {
      try {
        session->call(operation, {});
        ADD_FAILURE() << operation << " was answered";
      } catch (const SubjectFailure& failure) {
        EXPECT_EQ(failure.kind(), FailureKind::unsupported) << failure.what();
      }
    }
  }
}

}  // namespace
}  // namespace sextant
