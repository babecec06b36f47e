#include "proxy/http/h1/h1_line_ends.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace sluice::http {
namespace {

#if defined(__SSE2__)

using Ends = std::optional<std::vector<std::size_t>>;

/// Returns the ends that are found in a text that has no byte behind it, so that AddressSanitizer sees each read there.
Ends found(std::string_view text) {
  const std::vector<char> bytes(text.begin(), text.end());
  H1LineEnds ends;
  const bool known = ends.find({bytes.data(), bytes.size()});
  EXPECT_EQ(known, ends.known());
  if (!known) return std::nullopt;
  std::vector<std::size_t> all;
  for (std::size_t line = 0; line < ends.count(); ++line) all.push_back(ends[line]);
  EXPECT_EQ(text.substr(all.back(), 4), "\r\n\r\n");
  EXPECT_EQ(ends.sectionSize(), all.back() + 4);
  return all;
}

/// Returns the same by one byte after the other.
Ends expected(std::string_view text) {
  if (text.size() < 16) return std::nullopt;
  std::vector<std::size_t> all;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte != 0x7F) continue;
    if (text.substr(at, 2) != "\r\n") return std::nullopt;
    if (at == line && all.empty()) return std::nullopt;
    if (at == line) return all;
    all.push_back(at);
    line = ++at + 1;
    if (all.size() > H1LineEnds::kMost || at > H1LineEnds::kFarthest) return std::nullopt;
  }
  return std::nullopt;
}

TEST(H1LineEnds, AreThoseOfAllLinesUpToTheEmptyOne) {
  EXPECT_EQ(found("GET / HTTP/1.1\r\nhost: a\r\n\r\n"), Ends(std::vector<std::size_t>{14, 23}));
  EXPECT_EQ(found("GET / HTTP/1.1\r\nhost: a\r\n\r\nbody\r\n\r\n\n"), Ends(std::vector<std::size_t>{14, 23}));
  EXPECT_EQ(found("GET / HTTP/1.1\r\nhost: a\r\n"), std::nullopt) << "it goes on";
  EXPECT_EQ(found("\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n"), std::nullopt) << "it begins with an empty line";
  EXPECT_EQ(found("GET / HTTP/1.1\r\nhost:\ta\r\n\r\n"), std::nullopt);
  EXPECT_EQ(found("GET / HTTP/1.1\nhost: a\r\n\r\n"), std::nullopt);
}

TEST(H1LineEnds, AreFoundWhereverTheyLie) {
  for (std::size_t first = 0; first < 70; ++first) {
    for (std::size_t second = 0; second < 70; ++second) {
      const std::string text = std::string(first, 'a') + "\r\n" + std::string(second, 'b') + "\r\n\r\n";
      for (const std::size_t behind : {0U, 1U, 40U}) {
        ASSERT_EQ(found(text + std::string(behind, 'c')), expected(text + std::string(behind, 'c'))) << text;
      }
    }
  }
}

TEST(H1LineEnds, AreNotFoundIfAnyByteIsAControlCharacter) {
  const std::string text = "GET /some/path HTTP/1.1\r\nhost: example.com\r\nx-field: a value\r\n\r\nbehind";
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      ASSERT_EQ(found(changed), expected(changed)) << at << " " << byte;
      ASSERT_EQ(found(changed.substr(0, at + 1)), expected(changed.substr(0, at + 1))) << at << " " << byte;
    }
  }
}

TEST(H1LineEnds, AreTheSameAsThoseOfAReaderOfBytes) {
  std::mt19937 random(5);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (std::size_t i = below(8); i > 0; --i) text += std::string(below(40), 'x') + "\r\n";
    if (below(2) == 0) text += "\r\n";
    if (below(2) == 0) text += std::string(below(40), 'y');
    if (!text.empty() && below(4) == 0) text[below(text.size())] = "\r\n\t\x7f\x80z"[below(6)];
    ASSERT_EQ(found(text), expected(text)) << text;
  }
}

TEST(H1LineEnds, HaveBounds) {
  const auto lines = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "line\r\n";
    return text + "\r\n";
  };
  EXPECT_EQ(found(lines(H1LineEnds::kMost))->size(), H1LineEnds::kMost);
  EXPECT_EQ(found(lines(H1LineEnds::kMost + 1)), std::nullopt);
  const std::size_t longest = H1LineEnds::kFarthest - 4;
  EXPECT_EQ(found(std::string(longest, 'a') + "\r\n\r\n"), Ends(std::vector<std::size_t>{longest}));
  EXPECT_EQ(found(std::string(longest + 1, 'a') + "\r\n\r\n"), std::nullopt);
}

#else

TEST(H1LineEnds, AreNotLookedForWithoutSse2) { EXPECT_FALSE(H1LineEnds().find("GET / HTTP/1.1\r\nhost: a\r\n\r\n")); }

#endif

}  // namespace
}  // namespace sluice::http
