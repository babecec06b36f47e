#include "proxy/compile/routes/compile_headers.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sluice::compile {
namespace {

Resolved<base::Box<routing::HeaderEdit>> compiled(config::HeaderModifierFilter modifier,
                                                  HeaderSection section = HeaderSection::kRequest) {
  modifier.path = "spec.rules[0].filters[0]";
  return compileHeaders(modifier, section);
}

TEST(CompileHeaders, LowercasesNamesAndKeepsTheFirstOfEach) {
  const auto edit = compiled({{{"X-A", "1"}, {"x-a", "2"}}, {{"X-B", "1"}, {"x-b", "2"}}, {"X-C"}, {}, {}});
  ASSERT_TRUE(edit);
  EXPECT_EQ((*edit.value)->set, (std::vector<std::pair<std::string, std::string>>{{"x-a", "1"}}));
  EXPECT_EQ((*edit.value)->add, (std::vector<std::pair<std::string, std::string>>{{"x-b", "1"}}));
  EXPECT_EQ((*edit.value)->remove, std::vector<std::string>{"x-c"});
}

TEST(CompileHeaders, ChangesNothingWithoutAModifier) {
  const auto edit = compileHeaders({}, HeaderSection::kRequest);
  ASSERT_TRUE(edit);
  EXPECT_FALSE(*edit.value);
}

TEST(CompileHeaders, RefusesFieldsThatFrameAMessageOrBelongToAConnection) {
  for (const std::string name : {"Connection", "Content-Length", "Transfer-Encoding", "TE", "Trailer", "Upgrade",
                                 "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "HTTP2-Settings", "Expect"}) {
    for (const HeaderSection section : {HeaderSection::kRequest, HeaderSection::kResponse}) {
      EXPECT_FALSE(compiled({{{name, "1"}}, {}, {}, {}, {}}, section)) << name;
      EXPECT_FALSE(compiled({{}, {{name, "1"}}, {}, {}, {}}, section)) << name;
      const auto removed = compiled({{}, {}, {name}, {}, {}}, section);
      ASSERT_FALSE(removed) << name;
      EXPECT_EQ(removed.fault.reason, config::reason::kInvalid);
    }
  }
}

TEST(CompileHeaders, AcceptsHostOnlyAsASetOfARequest) {
  const auto edit = compiled({{{"Host", "A.Test:81"}}, {}, {}, {}, {}});
  ASSERT_TRUE(edit);
  EXPECT_EQ((*edit.value)->authority, "a.test:81");
  EXPECT_TRUE((*edit.value)->set.empty());
  EXPECT_FALSE(compiled({{{"Host", "a.test"}}, {}, {}, {}, {}}, HeaderSection::kResponse));
  EXPECT_FALSE(compiled({{{"Host", "user@a.test"}}, {}, {}, {}, {}}));
  EXPECT_FALSE(compiled({{}, {{"Host", "a.test"}}, {}, {}, {}}));
  EXPECT_FALSE(compiled({{}, {}, {"Host"}, {}, {}}));
}

TEST(CompileHeaders, RefusesInvalidNamesAndValues) {
  EXPECT_FALSE(compiled({{{":path", "/"}}, {}, {}, {}, {}}));
  EXPECT_FALSE(compiled({{{"x y", "1"}}, {}, {}, {}, {}}));
  EXPECT_FALSE(compiled({{{"x", "a\r\nb: c"}}, {}, {}, {}, {}}));
  EXPECT_FALSE(compiled({{}, {{"x", "a\nb"}}, {}, {}, {}}));
}

}  // namespace
}  // namespace sluice::compile
