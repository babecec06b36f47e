#include "proxy/http/h1/h1_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "test/support/h1_sections.h"

namespace sluice::http {
namespace {

using test::readSection;
using test::ReadSection;
using test::SectionReading;

MessageBounds narrowBounds() {
  MessageBounds bounds;
  bounds.requestLineBytes = 40;
  bounds.headerBytes = 240;
  bounds.headerFields = bounds.responseFields = 4;
  return bounds;
}

/// Expects that both ways come to the same, and returns it.
ReadSection readBothWays(H1Section kind, const std::string& text, H1Messages messages) {
  const ReadSection atOnce = readSection(kind, text, narrowBounds(), SectionReading::kAtOnce, messages);
  const ReadSection byLines = readSection(kind, text, narrowBounds(), SectionReading::kByLines, messages);
  EXPECT_EQ(atOnce, byLines) << text << "\n" << atOnce.why << "\n" << byLines.why;
  return atOnce;
}

ReadSection readBothWays(H1Section kind, const std::string& text) {
  return readBothWays(kind, text, test::messagesOf(kind));
}

const std::vector<std::string>& startLines() {
  static const std::vector<std::string> lines{"GET / HTTP/1.1\r\n",
                                              "GET  /  HTTP/1.1\r\n",
                                              "POST /a?b=c HTTP/1.0\r\n",
                                              "GET / HTTP/1.2\r\n",
                                              "GET / HTTP/2.0\r\n",
                                              "GET /a/path/of/32/bytes/aaaaaa HTTP/1.1\r\n",
                                              "GET / HTTP/1.1 \r\n",
                                              "GET /HTTP/1.1\r\n",
                                              " HTTP/1.1\r\n",
                                              "HTTP/1.1 200 OK\r\n",
                                              "HTTP/1.1 200\r\n",
                                              "HTTP/1.0 404 Not Found\r\n",
                                              "HTTP/1.1 2xx OK\r\n",
                                              "HTTP/1.1 200 gr\xc3\xbc\xc3\x9f\r\n",
                                              "\r\n",
                                              "HTTP/1.1 200 a\tb\r\n",
                                              "HTTP/1.1 200\tOK\r\n",
                                              "x-first: 1\r\n"};
  return lines;
}

const std::vector<std::string>& fieldLines() {
  static const std::vector<std::string> lines{
      "Host: example.com\r\n", "x-empty:\r\n",           "X-Under_score: 1\r\n",
      "x-tab: a\tb\r\n",       "x-space:  1 \r\n",       "x-cr: a\rb\r\n",
      "x-lf: a\nb\r\n",        "no colon\r\n",           "Content-Length: 5\r\n",
      " folded\r\n",           "x-del: \x7f\r\n",        "x-long: " + std::string(90, 'v') + "\r\n",
      "X-Spaced \t : 1\r\n",   "Content-Length : 5\r\n", "transfer-encoding\t: chunked\r\n"};
  return lines;
}

TEST(H1Parser, ReadsAHeadInOnePass) {
  const ReadSection read = readBothWays(H1Section::kRequest, "GET /a HTTP/1.1\r\nHost: b\r\nX-C:d\r\n\r\nbody");
  EXPECT_EQ(read.status, H1SectionReader::Status::kComplete);
  EXPECT_EQ(read.used, 35U);
  EXPECT_EQ(read.fieldLines, 2U);
  EXPECT_EQ(read.start.substr(0, 6), "GET /a");
  EXPECT_EQ(read.fields, (std::vector<std::pair<std::string, std::string>>{{"host", "b"}, {"x-c", "d"}}));
  EXPECT_EQ(read.received, (std::vector<std::string>{"Host", "X-C"}));
}

// RFC 9112 section 5.1. The fields that frame the message are an exception: others may read another end of it.
TEST(H1Parser, LeavesOutSpacesBeforeAColonInResponsesAlone) {
  const std::string response = "HTTP/1.1 200 OK\r\n";
  using Fields = std::vector<std::pair<std::string, std::string>>;
  for (const std::string spaces : {" ", "\t", " \t "}) {
    const std::string line = "X-A" + spaces + ": b\r\n\r\n";
    EXPECT_EQ(readBothWays(H1Section::kResponse, response + line).fields, (Fields{{"x-a", "b"}}));
    EXPECT_EQ(readBothWays(H1Section::kTrailers, line, H1Messages::kResponses).fields, (Fields{{"x-a", "b"}}));
    EXPECT_NE(readBothWays(H1Section::kTrailers, line).why, "");
    EXPECT_NE(readBothWays(H1Section::kRequest, "GET / HTTP/1.1\r\n" + line).why, "");
    for (const char* framing : {"Content-Length", "transfer-encoding"}) {
      EXPECT_NE(readBothWays(H1Section::kResponse, response + framing + spaces + ": 1\r\n\r\n").why, "") << framing;
    }
  }
  for (const char* line : {" X-A: b\r\n\r\n", "X A: b\r\n\r\n", " : b\r\n\r\n", "X-A \r\n\r\n"}) {
    EXPECT_NE(readBothWays(H1Section::kResponse, response + line).why, "") << line;
  }
}

TEST(H1Parser, HasALimitForEachKindOfMessage) {
  const std::string five = "a: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\ne: 5\r\n\r\n";
  EXPECT_EQ(readBothWays(H1Section::kResponse, "HTTP/1.1 200 OK\r\n" + five).limit,
            static_cast<int>(Limit::kResponseFields));
  EXPECT_EQ(readBothWays(H1Section::kTrailers, five, H1Messages::kResponses).limit,
            static_cast<int>(Limit::kResponseFields));
  EXPECT_EQ(readBothWays(H1Section::kTrailers, five).limit, static_cast<int>(Limit::kHeaderFields));
}

TEST(H1Parser, KeepsEachLimitOnBothWays) {
  const auto request = [](std::size_t target, const std::string& fields) {
    return "GET " + std::string(target, '/') + " HTTP/1.1\r\n" + fields + "\r\n";
  };
  using Status = H1SectionReader::Status;
  EXPECT_EQ(readBothWays(H1Section::kRequest, request(27, "")).status, Status::kComplete);
  EXPECT_EQ(readBothWays(H1Section::kRequest, request(28, "")).faultStatus, 414U);
  const std::string short4 = "a: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\n";
  EXPECT_EQ(readBothWays(H1Section::kRequest, request(1, short4)).status, Status::kComplete);
  EXPECT_EQ(readBothWays(H1Section::kRequest, request(1, short4 + "e: 5\r\n")).limit,
            static_cast<int>(Limit::kHeaderFields));
  // Names, values and 32 bytes a line are 240.
  EXPECT_EQ(readBothWays(H1Section::kRequest, request(1, "a: " + std::string(207, 'v') + "\r\n")).status,
            Status::kComplete);
  EXPECT_EQ(readBothWays(H1Section::kRequest, request(1, "a: " + std::string(208, 'v') + "\r\n")).limit,
            static_cast<int>(Limit::kHeaderBytes));
}

TEST(H1Parser, ReadsTheSameAtOnceAndLineByLine) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  constexpr std::string_view kBytes = "\r\n: \tA-_z09\x7f\x80\x1f";
  std::size_t complete = 0;
  for (int round = 0; round < 30'000; ++round) {
    const auto kind = static_cast<H1Section>(below(3));
    std::string text;
    if (below(16) == 0) text += "\r\n";
    if (kind != H1Section::kTrailers || below(8) == 0) text += startLines()[below(startLines().size())];
    // Most lines are the first ones, which are well formed.
    for (std::size_t i = below(7); i > 0; --i) text += fieldLines()[below(below(4) == 0 ? fieldLines().size() : 3)];
    if (below(8) != 0) text += "\r\n";
    if (below(4) == 0) text += "GET / HTTP/1.1\r\nbehind: 1\r\n\r\n";
    for (std::size_t i = below(3); i > 1 && !text.empty(); --i) text[below(text.size())] = kBytes[below(kBytes.size())];
    const H1Messages messages =
        kind == H1Section::kTrailers && below(2) == 0 ? H1Messages::kResponses : test::messagesOf(kind);
    complete += readBothWays(kind, text, messages).status == H1SectionReader::Status::kComplete ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(complete, 5'000U);
}

}  // namespace
}  // namespace sluice::http
