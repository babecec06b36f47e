#include "proxy/processing/request_edits.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/processing/chain.h"

namespace sluice::processing {
namespace {

class RequestEditsTest : public ::testing::Test {
 protected:
  RequestEditsTest() {
    first_.name = "first";
    second_.name = "second";
    head_.target = "/a?key=client&b=1";
    head_.headers.add(arena_, "x-a", "client");
    head_.headers.add(arena_, "x_a", "twin");
    before_ = head_;
    head_.headers = before_.headers.copy(arena_);
  }
  static bool hasRun(const RequestEdits& edits, const Step& step) {
    return edits.hasBegun([&step](const Step& other) { return isSameStep(other, step); });
  }
  RequestEditor editor(const Step& step) { return {arena_, head_, step, &edits_}; }
  static std::string text(const http::RequestHead& head) {
    std::string all = std::string(head.target) + ";";
    for (const http::Field& field : head.headers) all += std::string(field.name) + "=" + std::string(field.value) + ";";
    return all;
  }
  /// Makes the edits of `step`, or all if it is null, on the head as it was, and returns the result as text.
  std::string laid(const Step* step = nullptr) {
    http::RequestHead head = before_;
    head.headers = before_.headers.copy(arena_);
    edits_.layOn(arena_, head, [step](const Step& each) { return step == nullptr || &each == step; });
    return text(head);
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  http::RequestHead head_;
  http::RequestHead before_;
  Step first_;
  Step second_;
  RequestEdits edits_;
};

TEST_F(RequestEditsTest, ReplacesTheMethodAndDoesSoAgain) {
  editor(first_).setMethod("PUT");
  EXPECT_EQ(head_.method, http::Method::kPut);
  http::RequestHead again = before_;
  edits_.layOn(arena_, again, [](const Step&) { return true; });
  EXPECT_EQ(again.method, http::Method::kPut);
  EXPECT_EQ(again.methodText, "PUT");
  editor(first_).setMethod("PURGE");
  EXPECT_EQ(head_.method, http::Method::kOther);
}

TEST_F(RequestEditsTest, AreMadeAtOnceAndCanBeMadeAgain) {
  edits_.begin(arena_, first_);
  editor(first_).set("x-a", "own");
  editor(first_).add("x-b", "1");
  editor(first_).setParameter("key", "key=own", http::Care::kNone);
  editor(first_).remove("x_a");
  EXPECT_EQ(text(head_), "/a?b=1&key=own;x-a=own;x-b=1;");
  EXPECT_EQ(laid(), text(head_));
}

TEST_F(RequestEditsTest, CanBeMadeForOneStepAlone) {
  editor(first_).removeTwins("x-a");
  editor(second_).add("x-b", "2");
  EXPECT_EQ(laid(&first_), "/a?key=client&b=1;");
  EXPECT_EQ(laid(&second_), "/a?key=client&b=1;x-a=client;x_a=twin;x-b=2;");
  edits_.keepIf([this](const Step& step) { return &step == &second_; });
  EXPECT_EQ(laid(), "/a?key=client&b=1;x-a=client;x_a=twin;x-b=2;");
  editor(first_).add("x-c", "3");
  EXPECT_EQ(laid(), "/a?key=client&b=1;x-a=client;x_a=twin;x-b=2;x-c=3;");
}

TEST_F(RequestEditsTest, LeaveSecretsOutOfACopy) {
  editor(first_).removeTwins("x-a");
  editor(first_).add({"x-a", "hidden", http::FieldId::kOther, http::Care::kSecret});
  editor(first_).setParameter("key", "key=hidden", http::Care::kSecret);
  editor(second_).add("x-b", "2");
  http::RequestHead copy = before_;
  copy.headers = before_.headers.copy(arena_);
  edits_.layOn(
      arena_, copy, [](const Step&) { return true; }, false);
  EXPECT_EQ(text(copy), "/a?b=1;x-b=2;");
}

TEST_F(RequestEditsTest, ASecretParameterMakesTheTargetASecret) {
  http::RequestHead head = before_;
  editor(first_).setParameter("key", "key=open", http::Care::kNone);
  edits_.layOn(arena_, head, [](const Step&) { return true; });
  EXPECT_FALSE(head.secretControl);
  editor(second_).setParameter("key", "key=hidden", http::Care::kSecret);
  http::RequestHead copy = before_;
  edits_.layOn(
      arena_, copy, [](const Step&) { return true; }, false);
  EXPECT_FALSE(copy.secretControl) << "a copy does not get the secret";
  edits_.layOn(arena_, head, [](const Step&) { return true; });
  EXPECT_TRUE(head.secretControl);
}

TEST_F(RequestEditsTest, CanBeRewoundToAMark) {
  edits_.begin(arena_, first_);
  const RequestEdits::Mark mark = edits_.end();
  editor(first_).add("x-b", "1");
  edits_.rewind(mark);
  EXPECT_EQ(laid(), "/a?key=client&b=1;x-a=client;x_a=twin;");
  EXPECT_TRUE(hasRun(edits_, first_));
  editor(first_).add("x-c", "1");
  EXPECT_EQ(laid(), "/a?key=client&b=1;x-a=client;x_a=twin;x-c=1;");
  edits_.rewind(nullptr);
  EXPECT_TRUE(edits_.empty());
}

TEST_F(RequestEditsTest, RecognizeAStepByItsProcessorPhaseAndName) {
  edits_.begin(arena_, first_);
  Step same = first_;
  EXPECT_TRUE(hasRun(edits_, same));
  same.phase = Phase::kRequestBody;
  EXPECT_FALSE(hasRun(edits_, same));
  EXPECT_FALSE(hasRun(edits_, second_));
}

}  // namespace
}  // namespace sluice::processing
