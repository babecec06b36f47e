#include "proxy/exchange/session/session_value.h"

#include <gtest/gtest.h>

#include <limits>

namespace sluice::exchange {
namespace {

SessionValue value(const std::optional<net::Address>& endpoint) {
  SessionValue made;
  made.begun = base::WallTime(std::chrono::milliseconds(1'700'000'000'123));
  made.share = 0xFEDCBA9876543210;
  made.endpoint = endpoint;
  return made;
}

TEST(SessionValue, SurvivesTheWayThroughBytes) {
  for (const auto& endpoint : {std::optional<net::Address>(), net::Address::parse("10.1.2.3", 65535),
                               net::Address::parse("2001:db8::1", 80), net::Address::parse("0.0.0.0", 0)}) {
    const std::string bytes = value(endpoint).toBytes();
    EXPECT_EQ(bytes.size(), SessionValue::kSize);
    const auto read = SessionValue::parse(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->begun, value(endpoint).begun);
    EXPECT_EQ(read->share, value(endpoint).share);
    EXPECT_EQ(read->endpoint, endpoint);
  }
}

TEST(SessionValue, IsRefusedIfItsSizeVersionOrFamilyIsAnother) {
  const std::string bytes = value(net::Address::parse("10.1.2.3", 80)).toBytes();
  EXPECT_FALSE(SessionValue::parse(""));
  EXPECT_FALSE(SessionValue::parse(bytes.substr(1)));
  EXPECT_FALSE(SessionValue::parse(bytes + "x"));
  std::string other = bytes;
  other[0] = 2;
  EXPECT_FALSE(SessionValue::parse(other));
  other = bytes;
  other[17] = 5;
  EXPECT_FALSE(SessionValue::parse(other));
}

TEST(SessionValue, IsRefusedIfNoClockCanShowItsTime) {
  const std::string bytes = value(std::nullopt).toBytes();
  const auto at = [&](std::uint64_t since) {
    std::string other = bytes;
    for (int i = 0; i < 8; ++i) other[1 + i] = static_cast<char>(since >> (56 - 8 * i));
    return SessionValue::parse(other);
  };
  const auto latest = std::chrono::duration_cast<std::chrono::milliseconds>(base::Duration::max());
  const auto ms = static_cast<std::uint64_t>(latest.count());
  ASSERT_TRUE(at(ms));
  EXPECT_EQ(at(ms)->begun.time_since_epoch(), latest);
  EXPECT_FALSE(at(ms + 1));
  EXPECT_FALSE(at(std::numeric_limits<std::uint64_t>::max()));
}

}  // namespace
}  // namespace sluice::exchange
