#include "filters/ext_proc/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "filters/ext_proc/external_processor.pb.h"
#include "proxy/http/grpc.h"
#include "test/support/manual_clock.h"
#include "test/support/server_stream.h"

namespace sluice::filters::ext_proc {
namespace {

using testing::HasSubstr;
using Answers = Conversation::Answers;
using Heard = Conversation::Heard;

using test::ServerStream;
using test::StreamServices;

/// Says a message of the server.
void put(ServerStream& stream, const sluice::ext_proc::ProcessingResponse& message) {
  stream.bring(http::frameGrpcMessage(message.SerializeAsString()));
}

class ConversationTest : public testing::Test, private processing::StepControl {
 protected:
  void begin(BodyForm form, base::Duration mostPatience = {}) {
    settings_.modes.request.body = form;
    settings_.modes.response.headers = false;
    settings_.mostPatience = mostPatience;
    talk_ = std::make_unique<Conversation>(settings_, server_);
  }
  void say(Part part, bool ends = false, Answers answers = Answers::kDue) {
    Statement statement{part};
    statement.request = &request_.head;
    statement.ends = ends;
    talk_->say(call_, std::move(statement), answers);
  }
  ServerStream& server() { return *services_.stream; }
  void answerHeaders() {
    sluice::ext_proc::ProcessingResponse message;
    message.mutable_request_headers();
    put(server(), message);
  }
  void answerBody() {
    sluice::ext_proc::ProcessingResponse message;
    message.mutable_request_body();
    put(server(), message);
  }
  void givePiece(const std::string& bytes, bool ends) {
    sluice::ext_proc::ProcessingResponse message;
    auto& piece =
        *message.mutable_request_body()->mutable_response()->mutable_body_mutation()->mutable_streamed_response();
    piece.set_body(bytes);
    piece.set_end_of_stream(ends);
    put(server(), message);
  }
  void refuse(std::int32_t status) {
    sluice::ext_proc::ProcessingResponse message;
    message.mutable_immediate_response()->mutable_status()->set_code(status);
    put(server(), message);
  }
  void askForTime(std::int64_t seconds) {
    sluice::ext_proc::ProcessingResponse message;
    message.mutable_override_message_timeout()->set_seconds(seconds);
    put(server(), message);
  }
  Heard hear() { return talk_->hear(call_, Way::kRequest, answer_); }
  bool isLate() { return talk_->isLate(call_, Way::kRequest); }

  base::ChunkPool pool_;
  http::RequestMessage request_{pool_};
  test::ManualClock clock_;
  StreamServices services_;
  ExtProcSettings settings_;
  const std::shared_ptr<const processing::CalloutTarget> server_ = std::make_shared<processing::CalloutTarget>();
  std::unique_ptr<Conversation> talk_;
  ServerAnswer answer_;

 private:
  processing::Resumer suspend(std::optional<base::MonotonicTime>) override { return {}; }
  processing::Callout& callout(const processing::CalloutRequest&) override { return nobody_; }
  std::unique_ptr<processing::Callout> lastingCallout(const processing::CalloutRequest& wanted) override {
    return services_.callout(wanted, {});
  }

  test::FailedCallout nobody_;
  processing::Place place_{"demo/egress", "demo/route", {}};
  processing::Holds holds_;
  processing::Step step_;
  processing::RequestEditor editor_{request_.arena, request_.head, step_, nullptr};
  processing::RouteWish wish_;
  void* memory_ = nullptr;

 protected:
  processing::Call call_{processing::Phase::kRequestHeaders,
                         place_,
                         request_.arena,
                         clock_,
                         request_.head,
                         editor_,
                         holds_,
                         holds_,
                         nullptr,
                         nullptr,
                         &wish_,
                         nullptr,
                         *this,
                         services_,
                         std::chrono::seconds(1),
                         memory_};
};

TEST_F(ConversationTest, HearsOneAnswerForEachPartInTheirOrder) {
  begin(BodyForm::kStreamed);
  say(Part::kRequestHeaders);
  EXPECT_EQ(hear(), Heard::kNothing);
  answerHeaders();
  EXPECT_EQ(hear(), Heard::kAnswer);
  say(Part::kRequestBody);
  say(Part::kRequestBody, true);
  answerBody();
  EXPECT_EQ(hear(), Heard::kAnswer);
  EXPECT_EQ(talk_->unanswered(Way::kRequest), 1u);
}

// The server has answered to the headers, and is told of no body: it is idle until the response comes.
TEST_F(ConversationTest, RestsWithoutAPlaceUntilTheResponseComes) {
  settings_.modes.request.body = BodyForm::kSkipped;
  settings_.modes.response.headers = true;
  talk_ = std::make_unique<Conversation>(settings_, server_);
  say(Part::kRequestHeaders);
  EXPECT_FALSE(server().rested);
  answerHeaders();
  EXPECT_EQ(hear(), Heard::kAnswer);
  talk_->finish(Way::kRequest);
  EXPECT_EQ(server().rested, processing::Callout::Rest::kWithoutPlace);
  http::ResponseHead response;
  Statement statement{Part::kResponseHeaders};
  statement.request = &request_.head;
  statement.response = &response;
  talk_->say(call_, std::move(statement), Answers::kDue);
  EXPECT_FALSE(server().rested);
}

TEST_F(ConversationTest, RestsOnItsPlaceBetweenThePiecesOfABody) {
  begin(BodyForm::kStreamed);
  say(Part::kRequestHeaders);
  talk_->await(call_, base::MonotonicTime::max());
  EXPECT_FALSE(server().rested) << "the server owes an answer";
  answerHeaders();
  EXPECT_EQ(hear(), Heard::kAnswer);
  talk_->await(call_, base::MonotonicTime::max());
  EXPECT_EQ(server().rested, processing::Callout::Rest::kWithPlace);
}

TEST_F(ConversationTest, DoesNotRestWhileAServerInFullDuplexMayGoOn) {
  begin(BodyForm::kFullDuplex);
  say(Part::kRequestHeaders);
  answerHeaders();
  EXPECT_EQ(hear(), Heard::kAnswer);
  say(Part::kRequestBody, false, Answers::kInItsOwnTime);
  talk_->await(call_, base::MonotonicTime::max());
  EXPECT_FALSE(server().rested);
}

TEST_F(ConversationTest, FailsIfAnAnswerIsToAnotherPart) {
  begin(BodyForm::kStreamed);
  say(Part::kRequestHeaders);
  answerBody();
  EXPECT_EQ(hear(), Heard::kFailure);
  EXPECT_THAT(talk_->failure(), HasSubstr("what was not said"));
  EXPECT_TRUE(server().cancelled);
  EXPECT_EQ(hear(), Heard::kFailure) << "whoever asks later hears of it too";
}

TEST_F(ConversationTest, AnAnswerIsLateIfItHasNotComeInTime) {
  begin(BodyForm::kStreamed);
  say(Part::kRequestHeaders);
  clock_.advance(std::chrono::seconds(1));
  EXPECT_TRUE(isLate());
  talk_->giveUp();
  EXPECT_EQ(hear(), Heard::kFailure);
  EXPECT_EQ(talk_->cause(), processing::Cause::kTimeout);
}

TEST_F(ConversationTest, AnAnswerThatHasComeInTimeIsNotLateWhenItIsReadLate) {
  begin(BodyForm::kStreamed);
  say(Part::kRequestHeaders);
  answerHeaders();
  clock_.advance(std::chrono::minutes(1));
  EXPECT_FALSE(isLate());
  EXPECT_EQ(hear(), Heard::kAnswer);
}

TEST_F(ConversationTest, TheServerMayHaveMoreTimeOnceAndNoMoreThanIsAllowed) {
  begin(BodyForm::kStreamed, std::chrono::seconds(10));
  say(Part::kRequestHeaders);
  askForTime(11);
  EXPECT_EQ(hear(), Heard::kNothing);
  EXPECT_EQ(talk_->due(Way::kRequest), clock_.now() + std::chrono::seconds(1));
  askForTime(9);
  askForTime(10);
  EXPECT_EQ(hear(), Heard::kNothing);
  EXPECT_EQ(talk_->due(Way::kRequest), clock_.now() + std::chrono::seconds(9));
}

TEST_F(ConversationTest, AServerInFullDuplexMayTakeItsTimeUntilItHasHeardTheEnd) {
  begin(BodyForm::kFullDuplex);
  say(Part::kRequestHeaders, false, Answers::kInItsOwnTime);
  say(Part::kRequestBody, false, Answers::kInItsOwnTime);
  EXPECT_EQ(talk_->due(Way::kRequest), base::MonotonicTime::max());
  talk_->expectMore(call_, Way::kRequest);
  clock_.advance(std::chrono::milliseconds(900));
  answerHeaders();
  givePiece("a", false);
  EXPECT_EQ(hear(), Heard::kAnswer);
  EXPECT_EQ(hear(), Heard::kAnswer);
  EXPECT_EQ(*answer_.part->body, "a");
}

TEST_F(ConversationTest, PiecesInFullDuplexComeBehindTheAnswerToTheHeaders) {
  begin(BodyForm::kFullDuplex);
  say(Part::kRequestHeaders, false, Answers::kInItsOwnTime);
  givePiece("a", false);
  EXPECT_EQ(hear(), Heard::kFailure);
}

TEST_F(ConversationTest, PiecesInFullDuplexComeWithoutHeadersIfTheServerGetsNone) {
  begin(BodyForm::kFullDuplex);
  say(Part::kRequestBody, true, Answers::kInItsOwnTime);
  givePiece("a", true);
  EXPECT_EQ(hear(), Heard::kAnswer);
  EXPECT_TRUE(answer_.part->ends);
}

TEST_F(ConversationTest, PiecesAreForFullDuplexOnly) {
  begin(BodyForm::kStreamed);
  say(Part::kRequestBody, true);
  givePiece("a", true);
  EXPECT_EQ(hear(), Heard::kFailure);
}

TEST_F(ConversationTest, ReadsNothingBehindAnImmediateAnswer) {
  for (const BodyForm form : {BodyForm::kFullDuplex, BodyForm::kStreamed}) {
    begin(form);
    say(Part::kRequestHeaders, false, Answers::kInItsOwnTime);
    refuse(418);
    givePiece("which the server gives because it has read on", true);
    EXPECT_EQ(hear(), Heard::kAnswer);
    EXPECT_EQ(answer_.immediate->status, 418);
    EXPECT_EQ(hear(), Heard::kNothing);
  }
}

TEST_F(ConversationTest, ReadsNoMoreAnswersThanAStepTakes) {
  begin(BodyForm::kFullDuplex);
  say(Part::kRequestHeaders, false, Answers::kInItsOwnTime);
  answerHeaders();
  for (int i = 0; i < 40; ++i) givePiece(std::string(std::size_t{16} * 1024, 'x'), false);
  EXPECT_EQ(hear(), Heard::kAnswer);
  EXPECT_GT(server().received().size(), std::size_t{300} * 1024);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(hear(), Heard::kAnswer);
  EXPECT_EQ(hear(), Heard::kNothing);
}

TEST_F(ConversationTest, AServerThatWasToldAllEndsTheStreamItself) {
  begin(BodyForm::kSkipped);
  say(Part::kRequestHeaders, true);
  answerHeaders();
  EXPECT_EQ(hear(), Heard::kAnswer);
  talk_->finish(Way::kRequest);
  EXPECT_TRUE(server().ended);
  talk_.reset();
  EXPECT_NE(services_.left, nullptr);
}

TEST_F(ConversationTest, AServerThatIsStillAskedSeesTheStreamCancelled) {
  begin(BodyForm::kSkipped);
  say(Part::kRequestHeaders, true);
  talk_.reset();
  EXPECT_EQ(services_.left, nullptr);
}

}  // namespace
}  // namespace sluice::filters::ext_proc
