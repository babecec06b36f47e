#include "proxy/exchange/request_id.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "proxy/base/chunk_pool.h"

namespace sluice::exchange {
namespace {

class RequestId : public testing::Test {
 protected:
  /// Returns the id of a request with these values in x-request-id.
  std::string settled(const std::vector<std::string>& given) {
    headers_ = {};
    for (const std::string& each : given) headers_.add(arena_, "x-request-id", arena_.copy(each));
    return std::string(settleRequestId(arena_, headers_, RequestIdField(settings_), random_));
  }
  std::string sent() const {
    std::string all;
    for (const http::Field& field : headers_) all += std::string(field.name) + "=" + std::string(field.value) + ";";
    return all;
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  base::Random random_{1};
  base::RequestIdSettings settings_;
  http::Headers headers_;
};

TEST_F(RequestId, IsThatOfTheClientIfItIsClean) {
  for (const std::string& id : {std::string("a"), std::string("req_01H:x/y+z="), std::string(128, 'x')}) {
    EXPECT_EQ(settled({id}), id);
    EXPECT_EQ(sent(), "x-request-id=" + id + ";");
  }
}

TEST_F(RequestId, IsMadeInTheFormOfAUuidIfThereIsNone) {
  std::set<std::string> all;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = settled({});
    ASSERT_EQ(id.size(), 36U);
    for (const std::size_t dash : {8U, 13U, 18U, 23U}) EXPECT_EQ(id[dash], '-') << id;
    EXPECT_EQ(id[14], '4') << id;
    EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos) << id;
    EXPECT_EQ(sent(), "x-request-id=" + id + ";");
    all.insert(id);
  }
  EXPECT_EQ(all.size(), 1000U);
}

TEST_F(RequestId, ReplacesWhatIsNotClean) {
  for (const std::string& id : {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a\"b"),
                                std::string("a\\b"), std::string("\xc3\xa4")}) {
    EXPECT_NE(settled({id}), id);
    EXPECT_EQ(headers_.size(), 1U);
  }
  EXPECT_EQ(settled({"one", "two"}).size(), 36U) << "nobody can tell which of the two is meant";
  EXPECT_EQ(headers_.size(), 1U);
}

TEST_F(RequestId, LeavesNoFieldThatAServerWouldTakeForIt) {
  headers_.add(arena_, "x_request-id", "forged");
  const std::string_view made = settleRequestId(arena_, headers_, RequestIdField(settings_), random_);
  EXPECT_EQ(sent(), "x-request-id=" + std::string(made) + ";");
}

TEST_F(RequestId, IsAlwaysNewIfClientsAreNotTrusted) {
  settings_.accept = false;
  EXPECT_EQ(settled({"mine"}).size(), 36U);
  EXPECT_EQ(sent().find("mine"), std::string::npos);
}

TEST_F(RequestId, CanBeTurnedOff) {
  settings_.header = "";
  EXPECT_EQ(settled({"mine"}), "");
  EXPECT_EQ(sent(), "x-request-id=mine;") << "it passes as any other field";
}

TEST_F(RequestId, HasAnyNameThatTheSettingsGive) {
  for (const char* name : {"x-request-id", "x-correlation", "user-agent"}) {
    settings_.header = name;
    const RequestIdField field(settings_);
    headers_ = {};
    EXPECT_FALSE(field.isIn(headers_));
    const std::string id(settleRequestId(arena_, headers_, field, random_));
    EXPECT_TRUE(field.isIn(headers_));
    EXPECT_EQ(sent(), std::string(name) + "=" + id + ";");
    EXPECT_EQ(headers_.begin()->id, http::fieldId(name));
  }
}

}  // namespace
}  // namespace sluice::exchange
