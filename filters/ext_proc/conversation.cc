#include "filters/ext_proc/conversation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "proxy/http/grpc.h"

namespace sluice::filters::ext_proc {
namespace {

/// The exchange has bounds of its own; the stream must have one.
constexpr base::Duration kLongestStream = std::chrono::hours(24);
/// Bytes that may wait for a server that only observes.
constexpr std::size_t kMostMentioned = std::size_t{256} * 1024;

/// Returns the id of the request, if it has one under the usual name. It need not be unique: each exchange has a stream
/// of its own.
std::string transactionOf(const http::RequestHead& request) {
  const http::Field* id = request.headers.find("x-request-id");
  return id == nullptr ? "" : std::string(id->value);
}

/// Returns true if the answer only asks for time, or is an empty piece of a body that goes on.
bool carriesNothing(const ServerAnswer& answer) {
  if (answer.patience) return true;
  return answer.part && answer.part->streams && !answer.part->ends && answer.part->body->empty();
}

}  // namespace

Conversation::~Conversation() {
  for (Side& each : sides_) each.blocked.release();  // the steps are destroyed, too
  const bool isUnderWay = callout_ != nullptr && !over_ && !callout_->over();
  if (isUnderWay && (settings_.observes || ended_)) services_->leave(std::move(callout_));
}

// An answer may have come in time and still be unread, because a client reads the part before it slowly.
bool Conversation::isLate(const processing::Call& call, Way asking) {
  if (isNew() || over_ || !sort(call, asking) || isFull() || bounds_.isSpent()) return false;
  const base::MonotonicTime now = call.clock.now();
  return std::any_of(sides_.begin(), sides_.end(), [now](const Side& each) { return each.due <= now; });
}

void Conversation::giveUp() {
  if (!over_) fail("the server took longer for its answer than its timeout", processing::Cause::kTimeout);
}

// --- messages of the gateway -----------------------------------------------------------------------------------------

void Conversation::open(processing::Call& call) {
  http::RequestHead head;
  head.method = http::Method::kPost;
  head.methodText = "POST";
  head.target = settings_.protocol->path();
  head.body = http::Body::kUntilEnd;
  head.acceptsTrailers = true;
  head.headers.add(call.arena, http::FieldId::kContentType, "application/grpc");
  processing::CalloutRetry retry = settings_.retry;
  retry.within = call.timeout;
  callout_ = call.control.lastingCallout({server_, head, kLongestStream, retry});
  services_ = &call.services;
  transaction_ = transactionOf(call.request);
}

void Conversation::put(processing::Call& call, Statement&& statement) {
  const bool isFirst = callout_ == nullptr;
  if (isFirst) open(call);
  const Introduction introduction{settings_.modes, settings_.context, call.place};
  if (isFirst) statement.introduction = &introduction;
  statement.transaction = transaction_;
  outbox_ += http::frameGrpcMessage(settings_.protocol->write(statement));
  pump();
}

void Conversation::say(processing::Call& call, Statement statement, Answers answers) {
  Side& side = this->side(wayOf(statement.part));
  side.told = true;
  bounds_.told();
  if (answers != Answers::kInItsOwnTime || !isBody(statement.part)) {
    unanswered_.push_back(statement.part);
    if (side.unanswered++ == 0 && answers == Answers::kDue) side.due = call.clock.now() + call.timeout;
  }
  put(call, std::move(statement));
}

void Conversation::mention(processing::Call& call, Statement statement) {
  statement.observed = true;
  put(call, std::move(statement));
  callout_->take(callout_->received().size());
  if (unsent() > kMostMentioned || callout_->over()) close();
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

void Conversation::expectMore(const processing::Call& call, Way way) {
  side(way).due = call.clock.now() + call.timeout;
}

void Conversation::finish(Way way) {
  side(way).finished = true;
  side(way).due = base::MonotonicTime::max();
  const auto isFinished = [this](Way each) { return !modes.of(each).any() || side(each).finished; };
  if (callout_ == nullptr || over_) return;
  if (!isFinished(Way::kRequest) || !isFinished(Way::kResponse)) {
    if (isIdle()) callout_->releasePlace();
    return;
  }
  ended_ = true;
  pump();
  callout_->end();
}

// --- answers of the server -------------------------------------------------------------------------------------------

Conversation::Heard Conversation::hear(const processing::Call& call, Way way, ServerAnswer& answer) {
  if (over_) return failure_.empty() ? Heard::kEnd : Heard::kFailure;
  pump();
  if (!sort(call, way)) return Heard::kFailure;
  Side& side = this->side(way);
  if (!side.answers.empty()) {
    const bool wasFull = isFull();
    answer = std::move(side.answers.front());
    side.answers.pop_front();
    side.bytes -= bytesOf(answer);
    if (wasFull) unblock();
    return Heard::kAnswer;
  }
  if (bounds_.isSpent()) return Heard::kNothing;
  if (!callout_->over() || refused_) return Heard::kNothing;
  if (const auto& error = callout_->error()) return fail(error->message(), processing::causeOf(*error));
  const http::GrpcStatus status = http::grpcStatusOf(*callout_->head(), callout_->trailers());
  if (status.code != 0) return fail("the server ends the call with gRPC status " + std::to_string(status.code));
  if (isFull()) return Heard::kNothing;
  if (!callout_->received().empty()) return fail("the server ends the call within a message");
  close();
  return Heard::kEnd;
}

std::size_t Conversation::bytesOf(const ServerAnswer& answer) {
  std::size_t bytes = sizeof answer;
  for (const auto& [name, value] : answer.hints) bytes += name.size() + value.size();
  if (!answer.part) return bytes;
  bytes += answer.part->body ? answer.part->body->size() : 0;
  for (const HeaderChange& each : answer.part->headers.set) bytes += sizeof each + each.name.size() + each.value.size();
  for (const std::string& each : answer.part->headers.remove) bytes += sizeof each + each.size();
  return bytes;
}

std::size_t Conversation::held() const {
  return unsent() + (callout_ != nullptr ? callout_->unsent() : 0) + sides_[0].bytes + sides_[1].bytes;
}

bool Conversation::isFull() const { return sides_[0].bytes + sides_[1].bytes >= kMostWaiting; }

void Conversation::unblock() {
  callout_->wake();
  for (Side& each : sides_) each.blocked.resume();
}

// Each step that awaits the stream is asked whenever something has come, so the first one sorts the answers for both
// ways.
bool Conversation::sort(const processing::Call& call, Way asking) {
  for (std::string message; !isFull() && !refused_ && !bounds_.isSpent();) {
    switch (http::readGrpcMessage(callout_->received(), settings_.mostMessage, message)) {
      case http::GrpcFrame::kMessage:
        break;
      case http::GrpcFrame::kIncomplete:
        return true;
      case http::GrpcFrame::kTooLarge:
        fail("the server's answer is larger than it may be");
        return false;
      case http::GrpcFrame::kCompressed:
        fail("the server's answer is compressed, which nobody has asked for");
        return false;
    }
    callout_->take(http::kGrpcPrefix + message.size());
    bounds_.read(http::kGrpcPrefix + message.size());
    const Part oldest = unanswered_.empty() ? headersOf(asking) : unanswered_.front();
    base::Result<ServerAnswer> answer = settings_.protocol->read(message, oldest);
    if (!answer) {
      fail(answer.error().detail);
      return false;
    }
    if (!deliver(call, std::move(answer).value(), asking)) return false;
  }
  return true;
}

bool Conversation::deliver(const processing::Call& call, ServerAnswer&& answer, Way asking) {
  const Way other = asking == Way::kRequest ? Way::kResponse : Way::kRequest;
  const bool isForOther = !isOpen(asking) && isOpen(other);
  const Way way = answer.part ? wayOf(answer.part->part) : isForOther ? other : asking;
  if (!isExpected(answer, way)) {
    fail("the server answers to what was not said");
    return false;
  }
  if (carriesNothing(answer)) {
    if (!bounds_.passOver()) {
      fail("the server says nothing more often than it may");
      return false;
    }
  } else {
    bounds_.carried();
  }
  Side& side = this->side(way);
  if (answer.patience) {
    giveTime(call, *answer.patience, side);
    return true;
  }
  const bool counts = answer.part && !isPieceInDuplex(*answer.part);
  if (counts) {
    unanswered_.erase(std::find(unanswered_.begin(), unanswered_.end(), answer.part->part));
    --side.unanswered;
    side.extended = false;
  }
  const bool isInDuplex = settings_.modes.of(way).body == BodyForm::kFullDuplex && !side.finished;
  const bool owesMore = side.due != base::MonotonicTime::max() && (side.unanswered > 0 || isInDuplex);
  side.due = owesMore ? call.clock.now() + call.timeout : base::MonotonicTime::max();
  side.bytes += bytesOf(answer);
  refused_ = answer.immediate.has_value();
  side.answers.push_back(std::move(answer));
  return true;
}

/// Returns true if the server may send an answer for that way.
bool Conversation::isOpen(Way way) const {
  const Side& side = sides_[index(way)];
  return side.unanswered > 0 || (settings_.modes.of(way).body == BodyForm::kFullDuplex && side.told);
}

bool Conversation::isPieceInDuplex(const PartAnswer& answer) const {
  return isBody(answer.part) && settings_.modes.of(wayOf(answer.part)).body == BodyForm::kFullDuplex;
}

/// Answers come in the order of the parts. In full duplex, pieces of a body come between the answers to headers and
/// trailers.
bool Conversation::isExpected(const ServerAnswer& answer, Way way) const {
  if (!isOpen(way)) return false;
  if (!answer.part) return true;
  const auto first =
      std::find_if(unanswered_.begin(), unanswered_.end(), [way](Part each) { return wayOf(each) == way; });
  if (!isPieceInDuplex(*answer.part)) {
    return first != unanswered_.end() && *first == answer.part->part && !answer.part->streams;
  }
  const bool headersAnswered = first == unanswered_.end() || !isHeaders(*first);
  return answer.part->streams && headersAnswered && !sides_[index(way)].finished;
}

/// The server may ask for more time once for each answer, up to the bound of the settings.
void Conversation::giveTime(const processing::Call& call, base::Duration patience, Side& side) {
  const bool isPossible = patience >= std::chrono::milliseconds(1) && patience <= settings_.mostPatience;
  if (!isPossible || std::exchange(side.extended, true)) return;
  if (side.due != base::MonotonicTime::max()) side.due = call.clock.now() + patience;
}

bool Conversation::isIdle() const { return unanswered_.empty() && unsent() == 0 && callout_->unsent() == 0; }

void Conversation::await(processing::Call& call, Way way, base::MonotonicTime until) {
  if (bounds_.renew()) return call.pause(until);
  processing::Resumer resumer = until == base::MonotonicTime::max() ? call.suspend() : call.suspend(until);
  if (!isBlocked()) return callout_->await(std::move(resumer), processing::Callout::Moment::kChange);
  processing::Resumer& blocked = side(way).blocked;
  blocked.release();
  blocked = std::move(resumer);
}

// A step that awaits a finished callout is asked again at once, which would be an endless loop here.
bool Conversation::isBlocked() const { return callout_->over() && (refused_ || (isFull() && !callout_->error())); }

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
  unanswered_.clear();
  for (Side& each : sides_) {
    each.answers.clear();
    each.bytes = each.unanswered = 0;
    each.due = base::MonotonicTime::max();
    each.blocked.resume();
  }
}

}  // namespace sluice::filters::ext_proc
