#include "proxy/http/headers.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/http/message.h"

namespace sluice::http {
namespace {

struct Fixture {
  base::ChunkPool pool;
  base::Arena arena{pool};
};

TEST(FieldIds, NameEveryKnownFieldAndNothingElse) {
  for (std::size_t i = 1; i < kFieldIds; ++i) {
    const auto id = static_cast<FieldId>(i);
    const std::string_view name = fieldName(id);
    ASSERT_FALSE(name.empty());
    EXPECT_EQ(fieldId(name), id) << name;
    EXPECT_EQ(fieldId(std::string(name) + "x"), FieldId::kOther);
    EXPECT_EQ(fieldId(name.substr(1)), FieldId::kOther);
  }
  for (const char* other : {"", "x", "Host", "accept", "x-forwarded-from", "hosts", "content-lengtx"}) {
    EXPECT_EQ(fieldId(other), FieldId::kOther) << other;
  }
}

TEST(Headers, KeepOrderAndRepeatedLines) {
  Fixture f;
  Headers headers;
  for (int i = 0; i < 100; ++i) headers.add(f.arena, f.arena.copy("x-" + std::to_string(i)), "v");
  headers.add(f.arena, FieldId::kSetCookie, "a=1");
  headers.add(f.arena, "set-cookie", "b=2");
  ASSERT_EQ(headers.size(), 102U);
  EXPECT_EQ(headers.all()[42].name, "x-42");
  EXPECT_EQ(headers.find(FieldId::kSetCookie)->value, "a=1");
  EXPECT_EQ(headers.find("set-cookie")->value, "a=1");
  EXPECT_EQ(headers.find("x-99")->value, "v");
  EXPECT_EQ(headers.find("x-100"), nullptr);
  EXPECT_EQ(headers.find(FieldId::kHost), nullptr);
}

TEST(Headers, RemoveEveryLineOfAName) {
  Fixture f;
  Headers headers;
  headers.add(f.arena, "via", "1");
  headers.add(f.arena, "a", "2");
  headers.add(f.arena, "via", "3");
  headers.add(f.arena, "a", "4");
  EXPECT_EQ(headers.remove(FieldId::kVia), 2U);
  EXPECT_EQ(headers.remove("via"), 0U);
  EXPECT_EQ(headers.remove("a"), 2U);
  EXPECT_TRUE(headers.empty());
}

TEST(Headers, SetReplacesEveryLineByOne) {
  Fixture f;
  Headers headers;
  headers.add(f.arena, "a", "1");
  headers.add(f.arena, "b", "2");
  headers.add(f.arena, "a", "3");
  headers.set(f.arena, "a", "4");
  ASSERT_EQ(headers.size(), 2U);
  EXPECT_EQ(headers.find("a")->value, "4");
}

TEST(Headers, RenameEveryLineOfAName) {
  Fixture f;
  Headers headers;
  for (const char* name : {"via", "a", "via"}) headers.add(f.arena, name, name);
  headers.rename(FieldId::kVia, FieldId::kSluiceVia);
  EXPECT_EQ(headers.find(FieldId::kVia), nullptr);
  EXPECT_EQ(headers.find("a")->value, "a");
  EXPECT_EQ(headers.remove("sluice-via"), 2U);
}

TEST(Headers, AnyCopyOfANameHasTheOneThatWasReceived) {
  Fixture f;
  Headers headers;
  {
    Fixture gone;
    std::string bytes = "X-NAMEx-name";
    Headers received;
    received.add(gone.arena, {std::string_view(bytes).substr(6), "1", FieldId::kOther, Care::kNone, 6});
    received.add(gone.arena, "x-own", "2");
    headers = received.clone(f.arena);
    bytes.assign(bytes.size(), '?');
  }
  ASSERT_EQ(headers.size(), 2U);
  EXPECT_EQ(headers.all()[0].name, "x-name");
  EXPECT_EQ(headers.all()[0].receivedName(), "X-NAME");
  EXPECT_EQ(headers.all()[1].receivedName(), "x-own");
}

TEST(Headers, ACloneOutlivesTheOriginal) {
  Fixture f;
  RequestHead clone;
  {
    Fixture gone;
    std::string bytes = "POST host.test /a x-name value";
    RequestHead head;
    const std::string_view text(bytes);
    head.methodText = text.substr(0, 4);
    head.authority = text.substr(5, 9);
    head.target = text.substr(15, 2);
    head.headers.add(gone.arena, text.substr(18, 6), text.substr(25));
    clone = http::clone(f.arena, head);
    bytes.assign(bytes.size(), '?');
  }
  EXPECT_EQ(clone.methodText, "POST");
  EXPECT_EQ(clone.authority, "host.test");
  EXPECT_EQ(clone.target, "/a");
  ASSERT_EQ(clone.headers.size(), 1U);
  EXPECT_EQ(clone.headers.find("x-name")->value, "value");
}

TEST(Headers, ACopyChangesAlone) {
  Fixture f;
  Headers headers;
  headers.add(f.arena, "a", "1");
  Headers copy = headers.copy(f.arena);
  copy.remove("a");
  copy.add(f.arena, "b", "2");
  EXPECT_EQ(headers.size(), 1U);
  EXPECT_EQ(headers.find("a")->value, "1");
  EXPECT_TRUE(Headers().copy(f.arena).empty());
}

TEST(Lists, FindTokensWhateverTheirCaseAndSpacing) {
  EXPECT_TRUE(listHasToken("close", "close"));
  EXPECT_TRUE(listHasToken("a ,\tClose,, b", "close"));
  EXPECT_FALSE(listHasToken("closed", "close"));
  EXPECT_FALSE(listHasToken("close;x", "close"));
  EXPECT_FALSE(listHasToken("", "close"));
  EXPECT_FALSE(listHasToken(" , ", "close"));
}

TEST(Methods, AreKnownByTheirExactName) {
  EXPECT_EQ(methodFrom("GET"), Method::kGet);
  EXPECT_EQ(methodFrom("CONNECT"), Method::kConnect);
  EXPECT_EQ(methodFrom("OPTIONS"), Method::kOptions);
  EXPECT_EQ(methodFrom("get"), Method::kOther);
  EXPECT_EQ(methodFrom("PROPFIND"), Method::kOther);
  EXPECT_TRUE(isIdempotent(Method::kPut));
  EXPECT_FALSE(isIdempotent(Method::kPost));
  EXPECT_FALSE(isIdempotent(Method::kOther));
}

}  // namespace
}  // namespace sluice::http
