// Positions of a call made anew from others of it: the sentence that says how.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "properties/diagnose/rotations/other_rotations.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::rotations_other_sequences_test {
namespace {

constexpr const char* rope = R"({"encoding":"rope","head_dim":64})";

using Rows = std::vector<std::vector<std::int64_t>>;
using Change = std::function<void(Rows& rows)>;

std::string told(const Change& change) {
  const FunctionSubject subject("made anew", [&](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right, change](std::string_view operation, const Tensors& inputs) {
      Tensors others = inputs;
      Tensor& positions = others.at("positions");
      const std::vector<std::int64_t> list = positions.integers();
      const std::int64_t tokens = positions.shape.back();
      Rows rows;
      for (auto at = list.begin(); at != list.end(); at += tokens) rows.emplace_back(at, at + tokens);
      change(rows);
      std::vector<std::int64_t> made;
      for (const auto& row : rows) made.insert(made.end(), row.begin(), row.end());
      positions = Tensor::of_integers(positions.shape, made);
      return right->call(operation, others);
    };
  });
  const auto difference = other_rotation(subject, parse_spec(rope), nullptr);
  return difference ? difference->words : "nothing";
}

std::string told_of_rows(
    const std::function<std::int64_t(const std::vector<std::int64_t>& row, std::int64_t token)>& of) {
  return told([&](Rows& rows) {
    for (auto& row : rows) {
      const auto own = row;
      if (own.size() == 1) continue;
      for (std::int64_t token = 0; token < std::ssize(own); ++token)
        row[static_cast<std::size_t>(token)] = of(own, token);
    }
  });
}

TEST(OtherSequences, AreNoneOfARightOne) {
  EXPECT_EQ(told([](Rows&) {}), "nothing");
}

TEST(OtherSequences, GoBackFromTheLastTwo) {
  EXPECT_EQ(
      told_of_rows([](const auto& row, std::int64_t token) {
        const std::int64_t step = row.back() - row[row.size() - 2];
        return row.back() - (std::ssize(row) - 1 - token) * step;
      }),
      "positions are counted in steps of the row's last two tokens from the row's last, which its last token has");
}

TEST(OtherSequences, RunEvenly) {
  const auto evenly = [](std::int64_t from, std::int64_t to, std::int64_t tokens, std::int64_t token) {
    return from + (to - from) * token / (tokens - 1);
  };
  EXPECT_EQ(told_of_rows([&](const auto& row, std::int64_t token) {
              return evenly(std::ranges::min(row), std::ranges::max(row), std::ssize(row), token);
            }),
            "positions run evenly from the row's least to its greatest, whatever its own");
}

TEST(OtherSequences, AreRanksAndCounts) {
  const auto rank = [](const auto& row, std::int64_t token) {
    const std::int64_t own = row[static_cast<std::size_t>(token)];
    return std::ranges::count_if(row, [&](std::int64_t p) { return p < own; }) +
           std::count(row.begin(), row.begin() + token, own);
  };
  EXPECT_EQ(told_of_rows(rank),
            "in calls of several tokens positions are their ranks in the row, equal ones in the order of tokens");
  EXPECT_EQ(told_of_rows([&](const auto& row, std::int64_t token) { return rank(row, token) + std::ranges::min(row); }),
            "positions are their ranks in the row, equal ones in the order of tokens, counted from the row's least");
  EXPECT_EQ(told_of_rows([](const auto& row, std::int64_t token) {
              return std::count_if(row.begin(), row.begin() + token + 1, [](std::int64_t p) { return p != 0; });
            }),
            "in calls of several tokens positions are the number of tokens so far whose position is not 0");
}

TEST(OtherSequences, AreOfSomeRowsAndCalls) {
  EXPECT_EQ(told([](Rows& rows) {
              for (auto& row : rows) {
                if (row.front() != 0) continue;
                for (std::size_t token = 0; token < row.size(); ++token) row[token] = static_cast<std::int64_t>(token);
              }
            }),
            "in rows that begin at 0 positions are taken to be consecutive from the row's first");
  EXPECT_EQ(told([](Rows& rows) {
              if (rows.size() == 1) return;
              const std::int64_t first = rows.front().front();
              for (auto& row : rows) {
                for (std::size_t token = 0; token < row.size(); ++token)
                  row[token] = first + static_cast<std::int64_t>(token);
              }
            }),
            "in batches of several rows positions are counted one by one from the first row's first, whatever the row");
}

// The length from which it is so lies between those that are always asked.
TEST(OtherSequences, AreOfCallsFromALengthOn) {
  const auto from = [](std::size_t fewest, bool (*holds)(const std::vector<std::int64_t>& row)) {
    return told([=](Rows& rows) {
      for (auto& row : rows) {
        if (row.size() < fewest || !holds(row)) continue;
        for (std::size_t token = 0; token < row.size(); ++token)
          row[token] = row.front() + static_cast<std::int64_t>(token);
      }
    });
  };
  EXPECT_EQ(from(37, [](const std::vector<std::int64_t>&) { return true; }),
            "in calls of 37 and more tokens positions are taken to be consecutive from the row's first");
  EXPECT_EQ(
      from(64, [](const std::vector<std::int64_t>& row) { return row.back() - row.front() == std::ssize(row) - 1; }),
      "in calls of 64 and more tokens, in rows that end where they would if they were consecutive, positions run "
      "evenly from the row's first to its last, whatever those between");
}

TEST(OtherSequences, AreCountedAnewWherePositionsFall) {
  EXPECT_EQ(told([](Rows& rows) {
              for (auto& row : rows) {
                const auto own = row;
                for (std::size_t token = 1; token < row.size(); ++token)
                  row[token] = own[token] < own[token - 1] ? 0 : row[token - 1] + own[token] - own[token - 1];
              }
            }),
            "where a row's positions fall they are counted anew from 0, in the row's own steps, as in packed rows");
}

TEST(OtherSequences, HavePaddingAsOnes) {
  EXPECT_EQ(told([](Rows& rows) {
              for (auto& row : rows) {
                for (std::size_t token = 0; token + 1 < row.size() && row[token] == 0 && row[token + 1] == 0; ++token)
                  row[token] = 1;
              }
            }),
            "of several zeros that a row begins with all but the last have position 1");
}

TEST(OtherRows, AreExchangedInSomeBatches) {
  const auto taken = [](const std::function<std::size_t(std::size_t row, std::size_t rows)>& of) {
    return told([&](Rows& rows) {
      const Rows own = rows;
      for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = own[of(row, rows.size())];
    });
  };
  EXPECT_EQ(
      taken([](std::size_t row, std::size_t rows) { return rows >= 4 && rows % 2 == 0 ? row ^ 1U : row; }),
      "in batches of an even number of rows, four and more, rows exchange their positions in pairs, the first with "
      "the second, the third with the fourth");
  EXPECT_EQ(taken([](std::size_t row, std::size_t) { return std::min<std::size_t>(row, 3); }),
            "rows of a batch from the fifth on have the fourth one's positions");
  EXPECT_EQ(taken([](std::size_t row, std::size_t) { return row % 4; }),
            "rows of a batch have the positions of the first four in turn: row b those of b modulo 4");
}

// What no sentence says is told row by row.
TEST(OtherRows, AreToldAsTheyAreMeasured) {
  EXPECT_EQ(told([](Rows& rows) {
              if (rows.size() == 5 && rows.front().size() == 1) rows[3] = rows[0];
            }),
            "rows of a batch have other rows' positions: in calls of 5 rows and 1 token row 3 has those of row 0");
}

TEST(OtherRows, AreFlattenedInAnotherOrder) {
  EXPECT_EQ(told([](Rows& rows) {
              const Rows own = rows;
              for (std::size_t row = 0; row < rows.size(); ++row) {
                for (std::size_t token = 0; token < rows[row].size(); ++token) {
                  const std::size_t number = row * rows[row].size() + token;
                  rows[row][token] = own[number % rows.size()][number / rows.size()];
                }
              }
            }),
            "positions are flattened column after column and read row after row");
}

}  // namespace
}  // namespace sextant::identify::rotations_other_sequences_test
