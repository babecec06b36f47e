#include "proxy/net/dns/system_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "test/net/loop_name_server.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::net {
namespace {

using test::LoopNameServer;
using testing::HasSubstr;

constexpr base::Duration kLookupTime = std::chrono::seconds(30);

class SystemLookupTest : public testing::Test {
 protected:
  void ask(const std::string& name) {
    const Worker::Turn turn(worker_);
    lookup_.emplace(
        worker_, name, kLookupTime, [this] { ++answers_; },
        Addresses{*Address::parse("127.0.0.1", static_cast<std::uint16_t>(std::stoi(
                                                   server_.server().substr(server_.server().find(':') + 1))))});
  }
  const base::Result<Addresses>& answer() {
    EXPECT_TRUE(test::runUntil(worker_, [this] { return lookup_->answer().has_value(); }));
    return *lookup_->answer();
  }

  test::ManualClock clock_;
  Worker worker_{clock_};
  LoopNameServer server_{worker_};
  std::optional<SystemLookup> lookup_;
  int answers_ = 0;
};

TEST_F(SystemLookupTest, FindsTheAddressesOfBothFamilies) {
  server_["both.test"].addresses = {"192.0.2.1", "192.0.2.2", "2001:db8::1"};
  ask("both.test.");
  ASSERT_TRUE(answer().ok());
  std::vector<std::string> found;
  for (const Address& address : *answer()) found.push_back(address.ip());
  EXPECT_THAT(found, testing::UnorderedElementsAre("192.0.2.1", "192.0.2.2", "2001:db8::1"));
  EXPECT_EQ(answers_, 1);
}

TEST_F(SystemLookupTest, ReadsTheHostsOfThisMachine) {
  ask("localhost");
  ASSERT_TRUE(answer().ok());
  EXPECT_TRUE(answer()->front().isLoopback());
  EXPECT_EQ(server_.asked("localhost"), 0);
}

TEST_F(SystemLookupTest, SaysThatThereIsNoSuchName) {
  server_["nothing.test"].reply = LoopNameServer::Reply::kNoSuchName;
  ask("nothing.test.");
  ASSERT_FALSE(answer().ok());
  EXPECT_EQ(answer().error().type, base::ErrorType::kDnsError);
  EXPECT_THAT(answer().error().detail, HasSubstr("nothing.test.: "));
}

TEST_F(SystemLookupTest, GivesUpInTime) {
  server_["silent.test"].reply = LoopNameServer::Reply::kSilence;
  ask("silent.test.");
  ASSERT_TRUE(test::runUntil(worker_, [this] { return server_.asked("silent.test") > 0; }));
  EXPECT_FALSE(lookup_->answer());
  clock_.advance(kLookupTime + TimerWheel::kTick);
  { const Worker::Turn later(worker_); }
  ASSERT_TRUE(lookup_->answer());
  EXPECT_EQ(lookup_->answer()->error().type, base::ErrorType::kDnsTimeout);
  EXPECT_EQ(lookup_->answer()->error().detail, "silent.test.: no name server answers");
  EXPECT_EQ(answers_, 1);
}

TEST_F(SystemLookupTest, MayBeDestroyedWhileItIsOpen) {
  server_["silent.test"].reply = LoopNameServer::Reply::kSilence;
  ask("silent.test.");
  lookup_.reset();
  clock_.advance(kLookupTime * 2);
  { const Worker::Turn later(worker_); }
  EXPECT_EQ(answers_, 0);
}

}  // namespace
}  // namespace sluice::net
