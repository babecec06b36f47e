// Tests how many bytes of a server's body in full duplex go on in one turn of the worker.
#include "filters/ext_proc/body_relay.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filters/ext_proc/external_processor.pb.h"
#include "proxy/http/grpc.h"
#include "proxy/processing/pipeline.h"
#include "test/support/fake_host.h"
#include "test/support/server_stream.h"

namespace sluice::filters::ext_proc {
namespace {

using processing::BodyMode;
using processing::Phase;

/// Sends the request's body to a server in full duplex.
class RelayingProcessor final : public processing::Processor {
 public:
  RelayingProcessor() { settings_.modes.request.body = BodyForm::kFullDuplex; }
  processing::Verdict process(processing::Call& call, const processing::Peer&) const override {
    auto& session = call.shared<ServerSession>(this, settings_, server_);
    return call.state<BodyRelay>().ask(call, session, Way::kRequest);
  }
  processing::BodyInterest body(Phase) const override { return {BodyMode::kDuplex, 0, true, false}; }

 private:
  ExtProcSettings settings_;
  const std::shared_ptr<const processing::CalloutTarget> server_ = std::make_shared<processing::CalloutTarget>();
};

class BodyRelayTest : public testing::Test {
 protected:
  BodyRelayTest() {
    host_.answers = [this](processing::Ticket ticket, bool dropped) { pipeline_->answer(ticket, dropped); };
    request_.target = "/";
    request_.body = http::Body::kUntilEnd;
    processing::Step step;
    step.processor = std::make_shared<const RelayingProcessor>();
    step.phase = Phase::kRequestBody;
    step.scope = processing::Scope::kRoute;
    step.body = step.processor->body(step.phase);
    std::vector<processing::Step> steps;
    steps.push_back(std::move(step));
    chain_.emplace(std::move(steps));
    pipeline_.emplace(host_, processing::StepTarget{request_, nullptr, arena_, holds_, nullptr}, pool_,
                      processing::BodyPath::kFlows);
    pipeline_->append({nullptr, &*chain_, nullptr}, Phase::kRequestBody);
    pipeline_->seal();
    pipeline_->source.append("asked");
    go();
  }
  ~BodyRelayTest() override {
    host_.answers = {};
    pipeline_.reset();
    holds_.release();
  }

  /// Has the steps go on as an exchange does, which drives them until nothing is due in this turn.
  void go() {
    for (int i = 0; i < 1000; ++i) outcome_ = pipeline_->go(out_, 0);
  }
  void say(const sluice::ext_proc::ProcessingResponse& message) {
    services_.stream->bring(http::frameGrpcMessage(message.SerializeAsString()));
  }
  void giveOneByOne(const std::string& bytes) {
    for (const char byte : bytes) {
      sluice::ext_proc::ProcessingResponse message;
      message.mutable_request_body()
          ->mutable_response()
          ->mutable_body_mutation()
          ->mutable_streamed_response()
          ->set_body(std::string(1, byte));
      say(message);
    }
  }

  test::StreamServices services_;
  processing::FakeHost host_{&services_};
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  http::RequestHead request_;
  processing::Holds holds_;
  std::optional<processing::Chain> chain_;
  std::optional<processing::Pipeline> pipeline_;
  base::ByteQueue out_{pool_};
  processing::Pipeline::Outcome outcome_{};
};

TEST_F(BodyRelayTest, GivesWayToOtherExchangesAfterSomeAnswers) {
  sluice::ext_proc::ProcessingResponse headers;
  headers.mutable_request_headers();
  say(headers);
  const std::string body(1000, 'b');
  giveOneByOne(body);
  std::size_t before = 0;
  int turns = 0;
  for (go(); !host_.later.empty() && turns < 100; ++turns) {
    EXPECT_LE(out_.size() - before, 100u) << "that is enough for one turn";
    before = out_.size();
    for (const processing::Ticket ticket : std::exchange(host_.later, {})) pipeline_->answer(ticket, false);
    go();
  }
  EXPECT_GT(turns, 2);
  EXPECT_EQ(out_.text(), body) << "all of it goes on";
}

}  // namespace
}  // namespace sluice::filters::ext_proc
