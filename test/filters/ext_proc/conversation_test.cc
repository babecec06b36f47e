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

/// Sends a message of the server.
void put(ServerStream& stream, const sluice::ext_proc::ProcessingResponse& message) {
  stream.bring(http::frameGrpcMessage(message.SerializeAsString()));
}

class ConversationTest : public testing::Test, private processing::StepControl, private processing::ResumeSink {
 protected:
  ~ConversationTest() override { talk_.reset(); }

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
  void await(Way way = Way::kRequest) { talk_->await(call_, way, talk_->due(way)); }
  /// Reads all answers of one turn, and returns how many there were.
  int hearTurn() {
    int heard = 0;
    while (hear() == Heard::kAnswer) ++heard;
    return heard;
  }
  /// Begins a conversation in full duplex whose server has answered to the headers.
  void beginInDuplex() {
    begin(BodyForm::kFullDuplex);
    say(Part::kRequestHeaders, false, Answers::kInItsOwnTime);
    answerHeaders();
    EXPECT_EQ(hear(), Heard::kAnswer);
  }
  bool isLate() { return talk_->isLate(call_, Way::kRequest); }

  base::ChunkPool pool_;
  http::RequestMessage request_{pool_};
  test::ManualClock clock_;
  StreamServices services_;
  ExtProcSettings settings_;
  const std::shared_ptr<const processing::CalloutTarget> server_ = std::make_shared<processing::CalloutTarget>();
  std::unique_ptr<Conversation> talk_;
  ServerAnswer answer_;
  int paused_ = 0;
  int resumed_ = 0;

 private:
  processing::Resumer suspend(std::optional<base::MonotonicTime>) override { return {*this, 1, ++tickets_}; }
  void pause(base::MonotonicTime) override { ++paused_; }
  void onResumed(std::uint64_t, processing::Ticket ticket, bool dropped) override {
    EXPECT_FALSE(dropped);
    if (ticket == tickets_) ++resumed_;  // that of an earlier wait means nothing
  }
  processing::Callout& callout(const processing::CalloutRequest&) override { return nobody_; }
  std::unique_ptr<processing::Callout> lastingCallout(const processing::CalloutRequest& wanted) override {
    return services_.callout(wanted, {});
  }
  std::uint64_t client() const override { return 0; }

  test::FailedCallout nobody_;
  processing::Ticket tickets_ = 0;
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
                         clock_.now(),
                         memory_};
};

TEST_F(ConversationTest, ReadsOneAnswerForEachPartInOrder) {
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

// The server has answered to the headers, and gets no body: it is idle until the response comes.
TEST_F(ConversationTest, ReleasesItsPlaceUntilTheResponseComes) {
  settings_.modes.request.body = BodyForm::kSkipped;
  settings_.modes.response.headers = true;
  talk_ = std::make_unique<Conversation>(settings_, server_);
  say(Part::kRequestHeaders);
  EXPECT_FALSE(server().isPlaceReleased);
  answerHeaders();
  EXPECT_EQ(hear(), Heard::kAnswer);
  talk_->finish(Way::kRequest);
  EXPECT_TRUE(server().isPlaceReleased);
  http::ResponseHead response;
  Statement statement{Part::kResponseHeaders};
  statement.request = &request_.head;
  statement.response = &response;
  talk_->say(call_, std::move(statement), Answers::kDue);
  EXPECT_FALSE(server().isPlaceReleased);
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

TEST_F(ConversationTest, AServerInFullDuplexMayTakeItsTimeUntilItHasGotTheEnd) {
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
  int heard = 0;
  for (int turn = 0; turn < 4; ++turn, await()) heard += hearTurn();
  EXPECT_EQ(heard, 40);
}

TEST_F(ConversationTest, ReadsABoundedNumberOfAnswersInATurn) {
  beginInDuplex();
  await();
  EXPECT_EQ(paused_, 0) << "it has heard all that there is";
  for (int i = 0; i < 200; ++i) givePiece("a", false);
  EXPECT_EQ(resumed_, 1);
  int heard = 0;
  for (int turn = 1; turn <= 3; ++turn) {
    const int inTurn = hearTurn();
    EXPECT_GE(inTurn, 60);
    EXPECT_LE(inTurn, 64);
    heard += inTurn;
    EXPECT_FALSE(isLate()) << "what is awaited may be among what is unread";
    await();
    EXPECT_EQ(paused_, turn);
  }
  EXPECT_EQ(resumed_, 1) << "it goes on in a later turn, not at once";
  EXPECT_EQ(heard + hearTurn(), 200);
}

TEST_F(ConversationTest, ReadsABoundedNumberOfWishesForTimeInATurn) {
  begin(BodyForm::kStreamed, std::chrono::seconds(10));
  say(Part::kRequestHeaders);
  for (int i = 0; i < 1000; ++i) askForTime(9);
  EXPECT_EQ(hear(), Heard::kNothing);
  EXPECT_GT(server().received().size(), 1000u) << "they were not all read";
  await();
  EXPECT_EQ(paused_, 1);
}

TEST_F(ConversationTest, ReadsTheEndAfterAllAnswers) {
  beginInDuplex();
  for (int i = 0; i < 500; ++i) givePiece("a", false);
  server().finish("13");
  int heard = 0;
  for (int turn = 0; turn < 20; ++turn, await()) heard += hearTurn();
  EXPECT_EQ(heard, 500);
  EXPECT_EQ(hear(), Heard::kFailure);
  EXPECT_THAT(talk_->failure(), HasSubstr("gRPC status 13"));
}

TEST_F(ConversationTest, FailsIfTheServerSendsEmptyAnswersWithoutEnd) {
  constexpr int kMost = 1024;
  beginInDuplex();
  say(Part::kRequestBody, false, Answers::kInItsOwnTime);
  const auto hearEmptyPieces = [this](int count) {
    Heard last = Heard::kNothing;
    for (int i = 0; i < count; ++i) {
      givePiece("", false);
      last = hear();
      await();
    }
    return last;
  };
  EXPECT_EQ(hearEmptyPieces(kMost), Heard::kAnswer);
  givePiece("a", false);
  EXPECT_EQ(hear(), Heard::kAnswer);
  say(Part::kRequestBody, false, Answers::kInItsOwnTime);
  EXPECT_EQ(hearEmptyPieces(kMost + 1), Heard::kAnswer) << "one for the part that it was told";
  EXPECT_EQ(hearEmptyPieces(1), Heard::kFailure);
  EXPECT_THAT(talk_->failure(), HasSubstr("says nothing more often than it may"));
}

TEST_F(ConversationTest, FailsIfTheServerAsksForTimeWithoutAnEnd) {
  begin(BodyForm::kStreamed, std::chrono::seconds(10));
  say(Part::kRequestHeaders);
  for (int i = 0; i < 1025; ++i) {
    askForTime(9);
    EXPECT_EQ(hear(), Heard::kNothing);
    await();
  }
  askForTime(9);
  EXPECT_EQ(hear(), Heard::kFailure);
}

TEST_F(ConversationTest, AWayThatHasNoRoomForAnswersWaitsUntilTheOtherOneLeavesSome) {
  settings_.modes.response.body = BodyForm::kFullDuplex;
  for (const bool isOver : {false, true}) {
    resumed_ = paused_ = 0;
    beginInDuplex();
    say(Part::kResponseBody, true, Answers::kInItsOwnTime);
    for (int i = 0; i < 20; ++i) givePiece(std::string(std::size_t{16} * 1024, 'x'), false);
    if (isOver) server().finish("0");
    ServerAnswer answer;
    const auto hearResponse = [&] { return talk_->hear(call_, Way::kResponse, answer); };
    EXPECT_EQ(hearResponse(), Heard::kNothing);
    await(Way::kResponse);
    EXPECT_EQ(paused_, 1) << "those were many bytes for one turn";
    EXPECT_EQ(hearResponse(), Heard::kNothing);
    await(Way::kResponse);
    EXPECT_EQ(resumed_, 0) << isOver;
    EXPECT_EQ(hear(), Heard::kAnswer);
    EXPECT_EQ(resumed_, 1) << isOver;
  }
}

TEST_F(ConversationTest, AWayWaitsUntilTheOtherOneHasReadARefusal) {
  settings_.modes.response.body = BodyForm::kFullDuplex;
  beginInDuplex();
  say(Part::kResponseBody, false, Answers::kInItsOwnTime);
  refuse(418);
  EXPECT_FALSE(isLate()) << "the answer is read, and not heard";
  server().finish("0");
  ServerAnswer answer;
  EXPECT_EQ(talk_->hear(call_, Way::kResponse, answer), Heard::kNothing);
  await(Way::kResponse);
  EXPECT_EQ(resumed_, 0) << "although the call is over";
  EXPECT_EQ(hear(), Heard::kAnswer);
  talk_->close();
  EXPECT_EQ(resumed_, 1);
}

TEST_F(ConversationTest, AServerThatHasGotAllPartsEndsTheStreamItself) {
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
