// A processor that calls a server for each request before it goes on, to test how processors use the callouts that the
// data path offers.
//
// The server is called by POST with the request's target as body, over HTTP or gRPC. A body answered with 200 is put
// into x-asked, and the number of answers on this worker into x-asked-number; with another status the processor refuses
// the request; a failed callout is a failure of the step.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "proxy/http/grpc.h"
#include "proxy/processing/processor.h"

namespace sluice::test {

struct AskingOptions {
  std::shared_ptr<const processing::CalloutTarget> target = {};
  std::string path = "/ask";
  bool grpc = false;
  base::Duration timeout{};
};

class AskingProcessor final : public processing::Processor {
 public:
  explicit AskingProcessor(AskingOptions options) : options_(std::move(options)) {}

  processing::Verdict process(processing::Call& call, const processing::Peer& /*peer*/) const override {
    AskingState& question = call.state<AskingState>();
    if (question.callout == nullptr) ask(call, question);
    if (options_.grpc) return listen(call, question);
    if (question.callout->over()) return conclude(call, *question.callout, textOf(*question.callout));
    question.callout->await(call.suspend(), processing::Callout::Moment::kEnd);
    return processing::Verdict::wait();
  }
  std::span<const std::shared_ptr<const processing::CalloutTarget>> targets() const override {
    return {&options_.target, 1};
  }

 private:
  struct AskingState {
    processing::Callout* callout = nullptr;
    std::optional<std::string> message;
  };
  struct Answers {
    int count = 0;
  };

  void ask(processing::Call& call, AskingState& question) const {
    const std::string body =
        options_.grpc ? http::frameGrpcMessage(call.request.target) : std::string(call.request.target);
    http::RequestHead head;
    head.method = http::Method::kPost;
    head.methodText = "POST";
    head.target = options_.path;
    head.body = options_.grpc ? http::Body::kUntilEnd : http::Body::kLength;
    head.contentLength = options_.grpc ? 0 : body.size();
    if (options_.grpc) {
      head.headers.add(call.arena, http::FieldId::kContentType, "application/grpc");
      head.acceptsTrailers = true;
    }
    question.callout = &call.callout({options_.target, head, options_.timeout});
    question.callout->send(body);
    question.callout->end();
  }

  /// Reads each message as it arrives, and the status at the end.
  processing::Verdict listen(processing::Call& call, AskingState& question) const {
    processing::Callout& callout = *question.callout;
    std::string message;
    while (http::readGrpcMessage(callout.received(), 1024, message) == http::GrpcFrame::kMessage) {
      callout.take(http::kGrpcPrefix + message.size());
      question.message = question.message.value_or("") + message;
    }
    if (!callout.over()) {
      callout.await(call.suspend(), processing::Callout::Moment::kChange);
      return processing::Verdict::wait();
    }
    if (callout.head() != nullptr && !callout.error()) {
      const http::GrpcStatus status = http::grpcStatusOf(*callout.head(), callout.trailers());
      if (status.code != 0)
        return processing::Verdict::fail("the server answers with status " + std::to_string(status.code));
    }
    return conclude(call, callout, question.message.value_or(""));
  }

  static std::string textOf(processing::Callout& callout) {
    std::string text = callout.received().text();
    callout.take(text.size());
    return text;
  }

  processing::Verdict conclude(processing::Call& call, const processing::Callout& callout,
                               const std::string& answer) const {
    if (callout.error()) return processing::Verdict::fail(*callout.error());
    if (callout.head()->status != 200) {
      return processing::Verdict::reply(
          {base::Error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor, "the server says no"), {}});
    }
    Answers& answers = call.services.workerStates().get<Answers>(owner_);
    call.edit.set("x-asked", call.arena.copy(answer));
    call.edit.set("x-asked-number", call.arena.copy(std::to_string(++answers.count)));
    return processing::Verdict::goOn();
  }

  const AskingOptions options_;
  const std::shared_ptr<const void> owner_ = std::make_shared<const int>();
};

}  // namespace sluice::test
