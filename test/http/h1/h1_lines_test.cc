#include "proxy/http/h1/h1_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "proxy/http/field_grammar.h"

namespace sluice::http {
namespace {

struct ReadLines {
  const char* why = nullptr;
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<std::string> received;  // the names as they came
  std::vector<FieldId> ids;
  std::size_t clean = 0;
};

class H1LinesTest : public testing::Test {
 protected:
  /// Reads the lines, behind which the padding has these bytes.
  ReadLines read(std::string_view lines, bool atOnce, char padding = 'x', H1Messages messages = H1Messages::kRequests) {
    base::ChunkPool pool;
    base::Arena arena(pool);
    const auto count = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
    const std::size_t size = lines.size() + 2;
    // AddressSanitizer sees each byte that is written beyond the room.
    std::vector<char> text(lines.begin(), lines.end());
    text.insert(text.end(), {'\r', '\n'});
    text.resize(size + H1Lines::roomBehind(size, count), padding);
    const std::span<char> section(text.data(), size);
    Headers fields;
    ReadLines result;
    H1LineEnds ends;
    if (atOnce) ends.find({text.data(), section.size()});
    result.why = H1Lines(section, ends, messages).readFields(count, arena, fields);
    for (const Field& field : fields) {
      result.fields.emplace_back(field.name, field.value);
      result.received.emplace_back(field.receivedName());
      result.ids.push_back(field.id);
      if (!isClean(field.care)) continue;
      ++result.clean;
      EXPECT_TRUE(isFieldName(field.name) && isFieldValue(field.value)) << lines;
      EXPECT_TRUE(std::none_of(field.name.begin(), field.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }));
    }
    const std::string_view before(text.data(), size + H1Lines::kPadding);
    EXPECT_EQ(before, std::string(lines) + "\r\n" + std::string(H1Lines::kPadding, padding)) << "it has changed";
    return result;
  }
  /// Expects that both ways read the same.
  void expectSame(const std::string& lines, std::string_view paddings = "\r") {
    for (const H1Messages messages : {H1Messages::kRequests, H1Messages::kResponses}) {
      const ReadLines bytewise = read(lines, false, 'x', messages);
      for (const char padding : paddings) expectSame(lines, bytewise, read(lines, true, padding, messages));
    }
  }

 private:
  static void expectSame(const std::string& lines, const ReadLines& bytewise, const ReadLines& atOnce) {
    ASSERT_STREQ(atOnce.why, bytewise.why) << lines;
    if (bytewise.why != nullptr) return;
    ASSERT_EQ(atOnce.fields, bytewise.fields) << lines;
    ASSERT_EQ(atOnce.received, bytewise.received) << lines;
    ASSERT_EQ(atOnce.ids, bytewise.ids) << lines;
  }
};

const std::vector<std::string>& sampleLines() {
  static const std::vector<std::string> samples{
      "Host: example.com\r\n",
      "X-Forwarded-Proto: https\r\n",
      "x-a-name-of-more-than-sixteen-and-of-more-than-32-bytes: v\r\n",
      "Accept: text/html, */*; q=0.8, and more than one block of bytes\r\n",
      "x-empty:\r\n",
      "x-empty: \r\n",
      "x-space:  two\r\n",
      "x-space: behind \r\n",
      "x-tab:\tone\r\n",
      "x-tab: a\tb\r\n",
      "x_under: 1\r\n",
      "x!#$%: 1\r\n",
      "X-Text: gr\xc3\xbc\xc3\x9f\x65\r\n",
      "x-del: a\x7f\r\n",
      "x-nul: a\x01 b\r\n",
      "no colon\r\n",
      " folded: 1\r\n",
      ": no name\r\n",
      "x-cr: a\rb\r\n",
      "x-name : 1\r\n",
      "X-Name \t: 1\r\n",
      "content-length : 1\r\n",
  };
  return samples;
}

TEST_F(H1LinesTest, TurnsNamesIntoLowerCaseAndTrimsValues) {
  const std::string lines = "Host: Example.COM\r\nX-Forwarded-Proto:https\r\nX_a: \t1 \r\nx-b:\r\n";
  for (const bool atOnce : {false, true}) {
    const ReadLines got = read(lines, atOnce);
    EXPECT_EQ(got.why, nullptr);
    EXPECT_EQ(got.fields, (std::vector<std::pair<std::string, std::string>>{
                              {"host", "Example.COM"}, {"x-forwarded-proto", "https"}, {"x_a", "1"}, {"x-b", ""}}));
    EXPECT_EQ(got.received, (std::vector<std::string>{"Host", "X-Forwarded-Proto", "X_a", "x-b"}));
    EXPECT_EQ(got.ids[1], FieldId::kXForwardedProto);
  }
}

#if defined(__SSE2__)
TEST_F(H1LinesTest, MarksLinesOfTheUsualFormAsClean) {
  EXPECT_EQ(read("host: a\r\nx-b: 1\r\nx-c:\r\n", true).clean, 3u);
  EXPECT_EQ(read("host: a\r\nx_b: 1\r\nx-c:  1\r\n", true).clean, 1u);
  EXPECT_EQ(read("host: a\r\nx-b: 1\r\nx-c:\t1\r\n", true).clean, 0u) << "the ends of its lines are not found";
}
#endif

TEST_F(H1LinesTest, BothWaysReadTheSameFromNamesAndValuesOfAnyLength) {
  for (std::size_t name = 0; name < 50; ++name) {
    for (std::size_t value = 0; value < 50; ++value) {
      expectSame(std::string(name, 'N') + ": " + std::string(value, 'v') + "\r\n", "x:\r\n");
    }
  }
}

TEST_F(H1LinesTest, BothWaysReadTheSameFromAByteOfAnyClassAnywhere) {
  // The first and the last byte of each class, and their neighbours.
  std::string edges("-_,./0129:;@ABYZ[^`abyz{|}~\x7f\x80\x81\xfe\xff");
  for (char control = 0; control <= '!'; ++control) edges += control;
  for (const std::string& sample : sampleLines()) {
    for (std::size_t at = 0; at < sample.size(); ++at) {
      for (const char byte : edges) {
        std::string lines = sample;
        lines[at] = byte;
        expectSame(lines + "x: 1\r\n");
      }
    }
  }
}

TEST_F(H1LinesTest, BothWaysReadTheSameFromLinesInAnyOrder) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  constexpr std::string_view kBytes = "\r\n: \tA-_z09\x7f\x80\x1f";
  for (int round = 0; round < 10'000; ++round) {
    std::string lines;
    for (std::size_t i = below(5); i > 0; --i) lines += sampleLines()[below(sampleLines().size())];
    for (std::size_t i = below(3); i > 0 && !lines.empty(); --i)
      lines[below(lines.size())] = kBytes[below(kBytes.size())];
    expectSame(lines);
  }
}

}  // namespace
}  // namespace sluice::http
