#include "proxy/processing/event_body.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::processing {
namespace {

const std::string kStream = "data: one\n\nevent: x\ndata: two\n\n: a comment\ndata: three\n\ndata: cut";

class EventBodyTest : public ::testing::Test {
 protected:
  using Visit = std::function<EventFate(const content::SseEvent&)>;

  /// Sends `text` in two pieces, cut at `cut`, and returns the bytes that go on.
  std::string through(const std::string& text, std::size_t cut, const Visit& visit, std::size_t most = 1000) {
    EventBody events(most);
    std::string result;
    const std::string pieces[] = {text.substr(0, cut), text.substr(cut)};
    for (const bool last : {false, true}) {
      base::ByteQueue bytes(pool_);
      bytes.append(pieces[last ? 1 : 0]);
      Body body(bytes, last);
      verdicts_.push_back(events.take(body, visit));
      result += body.takeChanged().text();
    }
    return result;
  }
  EventFate note(const content::SseEvent& event) {
    seen_.emplace_back(event.data.value_or("-"));
    return EventFate::keep();
  }

  base::ChunkPool pool_;
  std::vector<std::string> seen_;
  std::vector<Verdict> verdicts_;
};

TEST_F(EventBodyTest, EachEventIsSeenOnceAndPassesByteExactWhereverTheBodyIsCut) {
  for (std::size_t cut = 0; cut <= kStream.size(); ++cut) {
    seen_.clear();
    EXPECT_EQ(through(kStream, cut, [this](const auto& event) { return note(event); }), kStream) << cut;
    EXPECT_EQ(seen_, (std::vector<std::string>{"one", "two", "three", "cut"})) << cut;
  }
}

// Many clients read an event that no empty line ends, so a Backend must not walk around a step by leaving it out.
TEST_F(EventBodyTest, TheRestThatIsNoWholeEventIsSeenToo) {
  const auto redacts = [](const content::SseEvent& event) {
    const bool secret = event.data && event.data->find("secret") != std::string_view::npos;
    return secret ? EventFate::withData("-") : EventFate::keep();
  };
  const std::pair<std::string, std::string> kEnds[] = {{"data: secret", "data: -\n"},
                                                       {"data: secret\r\n", "data: -\r\n"},
                                                       {"data: a\rdata: secret", "data: -\r"},
                                                       {"data:secret\nid: 1", "data: -\nid: 1\n"},
                                                       {": secret", ": secret"}};
  for (const auto& [rest, expected] : kEnds) {
    for (const std::string& whole : {std::string(), std::string("data: 1\n\n"), std::string("data: 1\r\n\r\n")}) {
      for (std::size_t cut = 0; cut <= (whole + rest).size(); ++cut) {
        EXPECT_EQ(through(whole + rest, cut, redacts), whole + expected) << cut;
      }
    }
  }
  EXPECT_EQ(through("data: 1\n\ndata: 2", 3, [](const auto&) { return EventFate::drop(); }), "");
}

TEST_F(EventBodyTest, NoRestIsSeenBehindAWholeEvent) {
  const std::string text = "data: one\r\n\r\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    seen_.clear();
    EXPECT_EQ(through(text, cut, [this](const auto& event) { return note(event); }), text) << cut;
    EXPECT_EQ(seen_, std::vector<std::string>{"one"}) << cut;
  }
  seen_.clear();
  EXPECT_EQ(through("", 0, [this](const auto& event) { return note(event); }), "");
  EXPECT_EQ(seen_, std::vector<std::string>{});
}

TEST_F(EventBodyTest, AnEventIsHeldBackUntilItIsComplete) {
  EventBody events(1000);
  base::ByteQueue bytes(pool_);
  bytes.append("data: one\n\ndata: se");
  Body body(bytes, false);
  events.take(body, [](const auto&) { return EventFate::keep(); });
  EXPECT_EQ(body.takeChanged().text(), "data: one\n\n");
}

TEST_F(EventBodyTest, AnEventMayBeChangedOrDropped) {
  for (std::size_t cut = 0; cut <= kStream.size(); ++cut) {
    const std::string got = through(kStream, cut, [](const content::SseEvent& event) {
      if (event.data == "one") return EventFate::drop();
      return event.data == "two" ? EventFate::withData("2\n2") : EventFate::keep();
    });
    EXPECT_EQ(got, "event: x\ndata: 2\ndata: 2\n\n: a comment\ndata: three\n\ndata: cut") << cut;
  }
}

TEST_F(EventBodyTest, AnEventLongerThanTheBoundFails) {
  const auto keep = [](const content::SseEvent&) { return EventFate::keep(); };
  through("data: 12345\n\n", 3, keep, 13);
  EXPECT_EQ(verdicts_.back().kind(), Verdict::Kind::kContinue);
  through("data: 123456\n\n", 3, keep, 13);
  EXPECT_EQ(verdicts_.back().kind(), Verdict::Kind::kFail);
  EXPECT_EQ(verdicts_.back().cause(), Cause::kOverLimit);
}

}  // namespace
}  // namespace sluice::processing
