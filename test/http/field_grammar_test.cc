// Tests which bytes a field's value may have: the check reads many bytes at once, so every length and every position is
// tried.
#include "proxy/http/field_grammar.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::http {
namespace {

TEST(FieldGrammar, RefusesControlCharactersAnywhereInAValue) {
  for (std::size_t size = 1; size <= 70; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string value(size, 'v');
        value[at] = static_cast<char>(byte);
        const bool isControl = (byte < 0x20 && byte != '\t') || byte == 0x7F;
        const bool isSpaceAtAnEnd = (byte == ' ' || byte == '\t') && (at == 0 || at == size - 1);
        ASSERT_EQ(isFieldValue(value), !isControl && !isSpaceAtAnEnd) << size << ' ' << at << ' ' << byte;
      }
    }
  }
}

TEST(FieldGrammar, RefusesAControlCharacterBesideTabsAndOtherBytesThatAreAllowed) {
  for (const char* allowed : {"\t", "\xC3\xA4", "\xFF", "\x80", "~"}) {
    for (std::size_t before = 0; before <= 40; ++before) {
      const std::string value = std::string(before, 'v') + allowed + "vvv" + allowed + "v";
      EXPECT_TRUE(isFieldValue("v" + value)) << before;
      EXPECT_FALSE(isFieldValue("v" + value + '\x7F' + "v")) << before;
      EXPECT_FALSE(isFieldValue("v\x01" + value)) << before;
    }
  }
}

TEST(FieldGrammar, AllowsAnEmptyValue) { EXPECT_TRUE(isFieldValue("")); }

}  // namespace
}  // namespace sluice::http
