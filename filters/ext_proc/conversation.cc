#include "filters/ext_proc/conversation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "proxy/http/grpc.h"

namespace sluice::filters::ext_proc {
namespace {

constexpr std::string_view kProcessPath = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";
/// The exchange has bounds of its own; the stream must have one.
constexpr base::Duration kLongestStream = std::chrono::hours(24);
/// Bytes that may wait in the callout, which is far below what it would refuse.
constexpr std::size_t kMostUnsent = std::size_t{64} * 1024;

}  // namespace

void Conversation::say(processing::Call& call, const std::shared_ptr<const processing::CalloutTarget>& target,
                       Part part, std::string_view message) {
  if (callout_ == nullptr) {
    http::RequestHead head;
    head.method = http::Method::kPost;
    head.methodText = "POST";
    head.target = kProcessPath;
    head.body = http::Body::kUntilEnd;
    head.acceptsTrailers = true;
    head.headers.add(call.arena, http::FieldId::kContentType, "application/grpc");
    callout_ = call.services.callout({target, head, kLongestStream}, call.place);
  }
  outbox_ += http::frameGrpcMessage(message);
  sides_[index(wayOf(part))].awaited = part;
  pump();
}

void Conversation::pump() {
  const std::size_t waiting = callout_->unsent();
  const std::size_t count = std::min(unsent(), kMostUnsent - std::min(kMostUnsent, waiting));
  if (count == 0 || over_) return;
  callout_->send(std::string_view(outbox_).substr(sent_, count));
  sent_ += count;
  if (unsent() > 0) return;
  outbox_ = {};
  sent_ = 0;
}

Conversation::Heard Conversation::hear(Way way, ServerAnswer& answer) {
  pump();
  if (!sort(way)) return Heard::kFailure;
  Side& side = sides_[index(way)];
  if (side.answer) {
    answer = *std::exchange(side.answer, std::nullopt);
    side.awaited.reset();
    return Heard::kAnswer;
  }
  if (!callout_->over()) return Heard::kNothing;
  if (const auto& error = callout_->error()) return fail(error->message(), processing::causeOf(*error));
  const http::GrpcStatus status = http::grpcStatusOf(*callout_->head(), callout_->trailers());
  if (status.code != 0) return fail("the server ends the call with gRPC status " + std::to_string(status.code));
  if (!callout_->received().empty()) return fail("the server ends the call within a message");
  close();
  return Heard::kEnd;
}

// Each step that awaits the stream is asked whenever something has come, so whoever is asked first may sort for both.
bool Conversation::sort(Way asking) {
  for (std::string message;;) {
    switch (http::readGrpcMessage(callout_->received(), kMostMessage, message)) {
      case http::GrpcFrame::kMessage:
        break;
      case http::GrpcFrame::kIncomplete:
        return true;
      case http::GrpcFrame::kTooLarge:
        fail("the server's answer is larger than it may be", processing::Cause::kOverLimit);
        return false;
      case http::GrpcFrame::kCompressed:
        fail("the server's answer is compressed, which nobody has asked for");
        return false;
    }
    callout_->take(http::kGrpcPrefix + message.size());
    base::Result<ServerAnswer> answer = readServerAnswer(message);
    if (!answer) {
      fail(answer.error().detail);
      return false;
    }
    if (!deliver(std::move(answer).value(), asking)) return false;
  }
}

bool Conversation::deliver(ServerAnswer&& answer, Way asking) {
  const Way way = answer.part ? wayOf(answer.part->part) : asking;
  Side& side = sides_[index(way)];
  const bool isAwaited = side.awaited && !side.answer && (!answer.part || answer.part->part == *side.awaited);
  if (!isAwaited) {
    fail("the server answers to what was not said");
    return false;
  }
  side.answer = std::move(answer);
  return true;
}

void Conversation::await(processing::Resumer resumer) {
  callout_->await(std::move(resumer), processing::Callout::Moment::kChange);
}

void Conversation::finish(Way way) {
  sides_[index(way)].finished = true;
  const bool ofRequest = modes.requestHeaders || modes.requestBody != BodyForm::kSkipped;
  const bool ofResponse = modes.responseHeaders || modes.responseBody != BodyForm::kSkipped;
  const auto isFinished = [&](Way each, bool wanted) { return !wanted || sides_[index(each)].finished; };
  if (isFinished(Way::kRequest, ofRequest) && isFinished(Way::kResponse, ofResponse)) callout_->end();
}

Conversation::Heard Conversation::fail(std::string why, processing::Cause cause) {
  failure_ = std::move(why);
  cause_ = cause;
  close();
  return Heard::kFailure;
}

// The callout stays until the exchange ends, because another step may await it.
void Conversation::close() {
  over_ = true;
  if (callout_ != nullptr) callout_->cancel();
  outbox_ = {};
  sent_ = 0;
}

}  // namespace sluice::filters::ext_proc
