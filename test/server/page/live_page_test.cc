// The state of the live page is made once for all who look, and not at all while nobody looks.
#include "proxy/server/page/live_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/content/member_text.h"
#include "proxy/server/kubernetes/without_traffic.h"
#include "proxy/server/page/page_sections.h"
#include "test/control/reloader_fixture.h"
#include "test/server/body_text.h"
#include "test/support/manual_clock.h"

namespace sluice::server {
namespace {

using content::Value;

class LivePages : public ::testing::Test, private AdminClients {
 protected:
  void look() {
    const net::Worker::Turn turn(main_);
    page_.look(AdminAnswer(*this, 1, ++streams_));
  }
  void leave() {
    const net::Worker::Turn turn(main_);
    answers_.clear();
  }
  void pass() {
    clock_.advance(LivePage::kSlowestPace + std::chrono::milliseconds(100));
    const net::Worker::Turn turn(main_);
  }
  /// Returns what a client of the answer reads now.
  std::string readFrom(std::size_t answer) { return textOf(answers_.at(answer).body); }

  void answer(http::Token, http::StreamId, AdminDocument&& document) override {
    answers_.push_back(std::move(document));
  }
  void wake(http::Token, http::StreamId) override { ++woken_; }

  test::ManualClock clock_;
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(STDERR_FILENO)};
  net::Worker main_{clock_};
  observe::MetricsRegistry metrics_;
  observe::MetricShard shard_{metrics_};
  observe::EventRing events_{log_, shard_};
  ExchangesPage exchanges_{main_};
  control::FakeLoader loader_;
  WithoutTraffic publisher_;
  control::Reloader reloader_{{loader_, publisher_, main_.timers(), clock_}};
  control::SeenEndpoints seen_;
  int made_ = 0;
  int woken_ = 0;
  http::StreamId streams_ = 0;
  LivePage page_{{main_, metrics_, shard_, exchanges_, events_, reloader_, seen_, "eu-1a",
                  control::CountedObjects::kAll, [this] { return reloader_.revisions(); },
                  [] { return std::make_shared<const control::RevisionLedger>(); },
                  [this] {
                    ++made_;
                    return std::vector<PageLimit>();
                  },
                  [] { return false; }}};
  std::vector<AdminDocument> answers_;
};

TEST_F(LivePages, AreMadeOnceForAllAndNeverForNobody) {
  pass();
  EXPECT_EQ(made_, 0);
  look();
  look();
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_EQ(answers_[0].contentType, "text/event-stream");
  EXPECT_EQ(made_, 1) << "the first client gets a state at once, and the second the same";
  pass();
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(readFrom(0), readFrom(1));
  leave();
  pass();
  pass();
  EXPECT_EQ(made_, 2);
  look();
  EXPECT_EQ(made_, 3);
}

TEST_F(LivePages, AreOneLineOfJsonWithAllSections) {
  events_.note({observe::EventType::kWarning, "RolledBack", "Gateway demo/<b>\n\ndata: x", "why", 1, {}, {}});
  look();
  const std::string event = readFrom(0);
  ASSERT_TRUE(event.starts_with("data: {"));
  ASSERT_TRUE(event.ends_with("}\n\n"));
  EXPECT_EQ(event.find('\n'), event.size() - 2) << "an event of one line, whatever names there are";
  const Value state = content::parseJson(event.substr(6), {.bytes = event.size()}).value();
  EXPECT_EQ(content::memberText(state, "state"), "Loading");
  EXPECT_EQ(content::memberText(state, "zone"), "eu-1a");
  for (const PageSection& each : pageSections()) {
    const Value* section = state.find("sections")->find(each.name);
    ASSERT_NE(section, nullptr) << each.name;
    EXPECT_TRUE(section->find("rows")->isList()) << each.name;
  }
  EXPECT_EQ(state.find("sections")->members.size(), pageSections().size());
}

TEST_F(LivePages, RefuseMoreClientsThanTheirBound) {
  for (std::size_t i = 0; i <= LiveFeed::kMostReaders; ++i) look();
  EXPECT_EQ(answers_.back().status, 503);
  EXPECT_EQ(shard_.at<observe::Metric::kLimitHits>("adminConnections").value(), 1u);
}

TEST_F(LivePages, AnswerASearchOfASection) {
  EXPECT_EQ(textOf(page_.rows("section=routes&search=a%2Fb+c").body), "{\"rows\":[],\"total\":0}\n");
  for (const char* wrong : {"", "section=secrets", "section=routes&search=%zz"}) {
    EXPECT_EQ(page_.rows(wrong).status, 400) << wrong;
  }
  EXPECT_EQ(page_.rows("section=routes&search=" + std::string(1000, 'x')).status, 400);
}

TEST_F(LivePages, EndWithTheProcess) {
  look();
  {
    const net::Worker::Turn turn(main_);
    page_.close();
  }
  EXPECT_GT(woken_, 0);
  EXPECT_EQ(readFrom(0), "");
  pass();
  EXPECT_EQ(made_, 1);
}

}  // namespace
}  // namespace sluice::server
