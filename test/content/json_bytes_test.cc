#include "proxy/content/json_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::content {
namespace {

TEST(JsonBytes, WordsAndVectorsStopAtTheSameByte) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 40; ++at) {
      std::string text(40, 'x');
      text[at] = static_cast<char>(byte);
      const char* const end = text.data() + text.size();
      const bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
      const char* const expected = plain ? end : text.data() + at;
      EXPECT_EQ(skipPlain(text.data(), end), expected) << byte << " at " << at;
      EXPECT_EQ(skipPlainByWords(text.data(), end), expected) << byte << " at " << at;
    }
  }
}

}  // namespace
}  // namespace sluice::content
