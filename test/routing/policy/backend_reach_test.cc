#include "proxy/routing/policy/backend_reach.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace sluice::routing {
namespace {

using processing::ServerReach;
using std::chrono::seconds;

constexpr base::WallTime kFirst{seconds(1'000'000)};

base::Error refused(const std::string& address) {
  base::Error error = base::Error::upstream(base::ErrorType::kConnectionRefused, "connection refused");
  error.address = address;
  return error;
}

base::Error unknownName() {
  base::Error error = base::Error::upstream(base::ErrorType::kDnsError, "api.test: Domain name not found");
  error.note = "asked 192.0.2.53:53";
  return error;
}

base::Error expired() {
  return base::Error::upstream(base::ErrorType::kTlsCertificateError, "the peer refuses our certificate");
}

void failOften(const BackendReach& reach, const base::Error& error, base::WallTime now) {
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) reach.onFailure(error, now);
}

TEST(BackendReaches, TellTheLastErrorWithItsPlace) {
  const BackendReach reach;
  EXPECT_EQ(reach.announce(kFirst), ReachReport());
  failOften(reach, refused("192.0.2.1:443"), kFirst);
  EXPECT_EQ(reach.announced(), ReachReport()) << "nobody has announced it";
  EXPECT_EQ(reach.announce(kFirst),
            (ReachReport{ServerReach::kDegraded, kFirst, "connection refused (192.0.2.1:443)"}));
  const BackendReach other;
  failOften(other, unknownName(), kFirst);
  EXPECT_EQ(other.announce(kFirst).why, "api.test: Domain name not found (asked 192.0.2.53:53)");
}

TEST(BackendReaches, NameAnAddressOnce) {
  const BackendReach reach;
  base::Error error = refused("10.1.2.3:443");
  error.note = "10.1.2.3:443 is private";
  reach.onFailure(error, kFirst);
  EXPECT_EQ(reach.failures().text, "connection refused (10.1.2.3:443 is private)");
}

TEST(BackendReaches, ShortenTextsBetweenCharacters) {
  const BackendReach reach;
  std::string longText = "x";
  while (longText.size() <= BackendReach::kMostText) longText += "\xc3\xa9";
  reach.onFailure(base::Error::upstream(base::ErrorType::kDnsError, longText), kFirst);
  EXPECT_EQ(reach.failures().text, longText.substr(0, BackendReach::kMostText - 1));
}

TEST(BackendReaches, FallAgainOnlyAfterAWhile) {
  const BackendReach reach;
  failOften(reach, refused("192.0.2.1:443"), kFirst);
  EXPECT_EQ(reach.announce(kFirst).reach, ServerReach::kDegraded);
  reach.onOpen();
  EXPECT_EQ(reach.announce(kFirst + seconds(1)).reach, ServerReach::kActive);
  failOften(reach, refused("192.0.2.1:443"), kFirst + seconds(2));
  EXPECT_EQ(reach.announce(kFirst + seconds(2)).reach, ServerReach::kActive);
  EXPECT_EQ(reach.announce(kFirst + seconds(10)).reach, ServerReach::kActive);
  EXPECT_EQ(reach.announce(kFirst + seconds(11)).reach, ServerReach::kDegraded);
}

// Each other state is another compilation, and a write to the API server.
TEST(BackendReaches, TellNothingNewWhileTheErrorIsTheSame) {
  const BackendReach reach;
  failOften(reach, refused("192.0.2.1:443"), kFirst);
  const ReachReport told = reach.announce(kFirst);
  for (int i = 1; i < 100; ++i) {
    reach.onFailure(refused("192.0.2." + std::to_string(i) + ":443"), kFirst + seconds(i));
    EXPECT_EQ(reach.announce(kFirst + seconds(i)), told);
  }
  EXPECT_EQ(reach.failures().count, processing::ServerHealth::kMostFailures + 99);
  EXPECT_EQ(reach.failures().last, kFirst + seconds(99));
  EXPECT_EQ(reach.failures().type, base::ErrorType::kConnectionRefused);
}

TEST(BackendReaches, TellAnotherErrorWhenTheFirstHasNotOccurredForAWhile) {
  const BackendReach reach;
  failOften(reach, refused("192.0.2.1:443"), kFirst);
  const std::string first = reach.announce(kFirst).why;
  for (int i = 1; i < 10; ++i) {
    reach.onFailure(unknownName(), kFirst + seconds(i));
    EXPECT_EQ(reach.announce(kFirst + seconds(i)).why, first);
  }
  EXPECT_EQ(reach.announce(kFirst + seconds(10)),
            (ReachReport{ServerReach::kDegraded, kFirst, "api.test: Domain name not found (asked 192.0.2.53:53)"}));
}

TEST(BackendReaches, DoNotAlternateBetweenErrorsThatOccurTogether) {
  const BackendReach reach;
  failOften(reach, refused("192.0.2.1:443"), kFirst);
  const ReachReport told = reach.announce(kFirst);
  for (int i = 1; i < 100; ++i) {
    reach.onFailure(i % 5 == 0 ? refused("192.0.2.1:443") : unknownName(), kFirst + seconds(i));
    EXPECT_EQ(reach.announce(kFirst + seconds(i)), told) << i;
  }
}

TEST(BackendReaches, AreClearedByAConnection) {
  const BackendReach reach;
  failOften(reach, unknownName(), kFirst);
  EXPECT_EQ(reach.announce(kFirst).reach, ServerReach::kDegraded);
  reach.onOpen();
  EXPECT_EQ(reach.announce(kFirst), ReachReport{ServerReach::kActive});
  EXPECT_EQ(reach.failures().count, 0u);
}

// In TLS 1.3 every connection opens, and the server refuses the certificate of its client then.
TEST(BackendReaches, AreNotClearedByAConnectionIfOpenOnesAreRefused) {
  const BackendReach reach;
  for (int i = 0; i < 3; ++i) {
    reach.onOpen();
    reach.onFailure(expired(), kFirst, ConnectionStage::kUnanswered);
  }
  reach.onOpen();
  EXPECT_EQ(reach.announce(kFirst).why, "the peer refuses our certificate");
  reach.onAnswer();
  EXPECT_EQ(reach.announce(kFirst).reach, ServerReach::kActive);
  reach.onFailure(unknownName(), kFirst);
  reach.onOpen();
  EXPECT_EQ(reach.failures().count, 0u) << "a later failure is another matter";
}

TEST(BackendReachThreads, MayRecordWhileTheyAreAsked) {
  const BackendReach reach;
  std::thread worker([&reach] {
    for (int i = 0; i < 2000; ++i) {
      reach.onFailure(i % 2 == 0 ? unknownName() : refused("192.0.2.1:443"), kFirst + seconds(i));
      if (i % 7 == 0) reach.onAnswer();
    }
    failOften(reach, expired(), kFirst + seconds(5000));
  });
  for (int i = 0; i < 2000; ++i) {
    const ReachReport state = reach.announce(kFirst + seconds(i));
    EXPECT_EQ(state.reach == ServerReach::kDegraded, !state.why.empty());
    reach.failures();
  }
  worker.join();
  EXPECT_EQ(reach.announce(kFirst + seconds(9000)).reach, ServerReach::kDegraded);
}

}  // namespace
}  // namespace sluice::routing
