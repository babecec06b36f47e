// Every setting of a lower layer arrives there, and none in the place of another.
#include "proxy/server/serving/http_limits.h"

#include <gtest/gtest.h>

namespace sluice::server {
namespace {

http::Limits httpLimitsOf(const base::LimitSettings& limits) {
  base::Settings settings;
  settings.limits = limits;
  return httpLimits(settings);
}

TEST(HttpLimits, TakeEverySetting) {
  base::LimitSettings limits;
  limits.requestLineBytes = 1;
  limits.headerBytes = 2;
  limits.headerFields = 3;
  limits.informationalResponses = 4;
  limits.chunkExtensionBytes = 5;
  limits.concurrentStreams = 6;
  limits.streamWindow = 7;
  limits.connectionWindow = 8;
  limits.resetsPerMinute = 9;
  limits.emptyFrames = 10;
  limits.queuedControlFrames = 11;
  limits.controlFramesPerMinute = 12;
  limits.drainBytes = 13;
  limits.responseFields = 14;
  const http::Limits made = httpLimitsOf(limits);
  EXPECT_EQ(made.requestLineBytes, 1U);
  EXPECT_EQ(made.headerBytes, 2U);
  EXPECT_EQ(made.headerFields, 3U);
  EXPECT_EQ(made.informationalResponses, 4U);
  EXPECT_EQ(made.chunkExtensionBytes, 5U);
  EXPECT_EQ(made.concurrentStreams, 6U);
  EXPECT_EQ(made.streamWindow, 7U);
  EXPECT_EQ(made.connectionWindow, 8U);
  EXPECT_EQ(made.resetsPerMinute, 9U);
  EXPECT_EQ(made.emptyFrames, 10U);
  EXPECT_EQ(made.queuedControlFrames, 11U);
  EXPECT_EQ(made.controlFramesPerMinute, 12U);
  EXPECT_EQ(made.drainBytes, 13U);
  EXPECT_EQ(made.responseFields, 14U);
}

TEST(HttpLimits, HaveTheSameDefaultsAsTheSettings) {
  const http::Limits made = httpLimitsOf({});
  const http::Limits expected;
  EXPECT_EQ(made.requestLineBytes, expected.requestLineBytes);
  EXPECT_EQ(made.headerBytes, expected.headerBytes);
  EXPECT_EQ(made.headerFields, expected.headerFields);
  EXPECT_EQ(made.responseFields, expected.responseFields);
  EXPECT_EQ(made.informationalResponses, expected.informationalResponses);
  EXPECT_EQ(made.chunkExtensionBytes, expected.chunkExtensionBytes);
  EXPECT_EQ(made.concurrentStreams, expected.concurrentStreams);
  EXPECT_EQ(made.streamWindow, expected.streamWindow);
  EXPECT_EQ(made.connectionWindow, expected.connectionWindow);
  EXPECT_EQ(made.resetsPerMinute, expected.resetsPerMinute);
  EXPECT_EQ(made.emptyFrames, expected.emptyFrames);
  EXPECT_EQ(made.queuedControlFrames, expected.queuedControlFrames);
  EXPECT_EQ(made.controlFramesPerMinute, expected.controlFramesPerMinute);
  EXPECT_EQ(made.drainBytes, expected.drainBytes);
}

TEST(HttpLimits, TellClientsOfWholeSecondsOfClientIdle) {
  base::Settings settings;
  EXPECT_EQ(httpLimits(settings).keepAliveSeconds, 120U);
  settings.timeouts.clientIdle = std::chrono::milliseconds(2900);
  EXPECT_EQ(httpLimits(settings).keepAliveSeconds, 2U);
  settings.timeouts.clientIdle = std::chrono::milliseconds(300);
  EXPECT_EQ(httpLimits(settings).keepAliveSeconds, 0U);
}

TEST(HttpLimits, BoundAStreamByTheExchangesBuffer) {
  base::LimitSettings limits;
  limits.streamWindow = 100;
  limits.exchangeBuffer = 60;
  EXPECT_EQ(httpLimitsOf(limits).streamWindow, 60U);
  limits.exchangeBuffer = 200;
  EXPECT_EQ(httpLimitsOf(limits).streamWindow, 100U);
}

TEST(HttpLimits, StartAStreamWithItsShareOfTheConnectionsMemory) {
  base::LimitSettings limits;
  EXPECT_EQ(httpLimitsOf(limits).firstWindow, 44U * 1024) << "4 MiB for 100 streams";
  limits.streamWindow = 20 * 1024;
  EXPECT_EQ(httpLimitsOf(limits).firstWindow, 20U * 1024);
}

TEST(HttpLimits, ClampValuesThatDoNotFit) {
  base::LimitSettings limits;
  limits.headerBytes = (std::uint64_t{1} << 32) + 1;
  limits.connectionWindow = std::uint64_t{1} << 31;
  EXPECT_EQ(httpLimitsOf(limits).headerBytes, 0x7fffffffU);
  EXPECT_EQ(httpLimitsOf(limits).connectionWindow, 0x7fffffffU) << "the largest window of HTTP/2";
}

}  // namespace
}  // namespace sluice::server
