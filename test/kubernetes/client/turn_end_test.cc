// Tests that work at the end of a turn is done once, after all data of the turn has arrived.
#include "proxy/kubernetes/client/turn_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;

/// Marks itself for each piece of an answer, and records at the end of the turn the bytes that have come.
class EndedTurns final : public TurnEnd, private ApiCallUser {
 public:
  explicit EndedTurns(ApiRig& rig) : TurnEnd(rig.client.turnEnds()), rig_(rig) {}
  using TurnEnd::mark;
  void call() {
    rig_.inTurn([this] {
      call_ = std::make_unique<ApiCall>(rig_.client, ApiRequest{.path = "/"}, static_cast<ApiCallUser&>(*this));
    });
  }
  void drop() { call_.reset(); }

  std::vector<std::string> ends;

 private:
  void onTurnEnd() override { ends.push_back(received_); }
  void onApiResponse(int status, base::Duration) override { receive(std::to_string(status) + " "); }
  void onApiBody(std::string_view bytes) override { receive(bytes); }
  void onApiEnd() override { receive("."); }
  void onApiFailed(const base::Error& error) override { receive(error.detail); }
  void receive(std::string_view bytes) {
    received_ += bytes;
    mark();
  }

  ApiRig& rig_;
  std::unique_ptr<ApiCall> call_;
  std::string received_;
};

TEST(TurnEnds, ComeOnceForEachTurnInWhichTheyAreMarked) {
  ApiRig rig;
  EndedTurns user(rig);
  {
    const net::Worker::Turn turn(rig.worker);
    user.mark();
    user.mark();
    EXPECT_THAT(user.ends, ElementsAre()) << "more may come in this turn";
  }
  EXPECT_THAT(user.ends, ElementsAre(""));
  rig.settle();
  EXPECT_THAT(user.ends, ElementsAre(""));
  rig.inTurn([&] { user.mark(); });
  EXPECT_THAT(user.ends, ElementsAre("", ""));
}

TEST(TurnEnds, ComeWhenAllThatHasArrivedIsKnown) {
  ApiRig rig;
  EndedTurns user(rig);
  user.call();
  ASSERT_EQ(rig.requests(), 1U);
  rig.peerOf(0).respond(0, 200, "text");
  rig.settle();
  EXPECT_THAT(user.ends, ElementsAre("200 text."));
  rig.inTurn([&] { user.drop(); });
}

TEST(TurnEnds, DoNotComeForWhoeverIsGone) {
  ApiRig rig;
  EndedTurns first(rig);
  auto second = std::make_unique<EndedTurns>(rig);
  {
    const net::Worker::Turn turn(rig.worker);
    second->mark();
    first.mark();
    second.reset();
  }
  EXPECT_THAT(first.ends, ElementsAre(""));
}

}  // namespace
}  // namespace sluice::kubernetes
