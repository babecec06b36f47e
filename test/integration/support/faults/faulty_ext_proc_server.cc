#include "test/integration/support/faults/faulty_ext_proc_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "filters/ext_proc/external_processor.pb.h"
#include "proxy/http/grpc.h"
#include "test/support/external/ext_proc_answers.h"
#include "test/support/h2_frames.h"

namespace sluice::test {
namespace {

namespace wire = sluice::ext_proc;

constexpr std::uint32_t kStreamWindow = 1024 * 1024;
constexpr std::size_t kMostFrame = 16384;

/// One message of the gateway.
struct HeardPart {
  ServerPart part = ServerPart::kOther;
  std::size_t bytes = 0;  // of a body
  bool ends = false;      // nothing of that request or response follows
};

HeardPart partIn(std::string_view message) {
  wire::ProcessingRequest request;
  if (!request.ParseFromArray(message.data(), static_cast<int>(message.size()))) return {};
  const auto body = [](ServerPart part, const wire::HttpBody& said) {
    return HeardPart{part, said.body().size(), said.end_of_stream()};
  };
  switch (request.request_case()) {
    case wire::ProcessingRequest::kRequestHeaders:
      return {ServerPart::kRequestHeaders, 0, request.request_headers().end_of_stream()};
    case wire::ProcessingRequest::kResponseHeaders:
      return {ServerPart::kResponseHeaders, 0, request.response_headers().end_of_stream()};
    case wire::ProcessingRequest::kRequestBody:
      return body(ServerPart::kRequestBody, request.request_body());
    case wire::ProcessingRequest::kResponseBody:
      return body(ServerPart::kResponseBody, request.response_body());
    default:
      return {};
  }
}

bool ofRequest(ServerPart part) { return part == ServerPart::kRequestHeaders || part == ServerPart::kRequestBody; }

/// Returns an answer to a part that was answered already, or that was never sent.
std::string answerToAnother(ServerPart part) {
  wire::ProcessingResponse answer;
  if (ofRequest(part)) {
    answer.mutable_response_headers()->mutable_response();
  } else {
    answer.mutable_request_headers()->mutable_response();
  }
  return answer.SerializeAsString();
}

std::string needsLittleTime() {
  wire::ProcessingResponse answer;
  answer.mutable_override_message_timeout()->set_nanos(1'000'000);
  return answer.SerializeAsString();
}

/// Returns a piece of a body in full duplex.
std::string pieceOf(ServerPart part, const std::string& bytes, bool isLast) {
  wire::ProcessingResponse answer;
  wire::BodyResponse& body = ofRequest(part) ? *answer.mutable_request_body() : *answer.mutable_response_body();
  wire::StreamedBodyResponse& piece = *body.mutable_response()->mutable_body_mutation()->mutable_streamed_response();
  piece.set_body(bytes);
  piece.set_end_of_stream(isLast);
  return answer.SerializeAsString();
}

/// Returns a few thousand messages of that kind.
std::string manyOf(const std::string& message) {
  constexpr int kMany = 4000;
  std::string all;
  for (int i = 0; i < kMany; ++i) all += http::frameGrpcMessage(message);
  return all;
}

/// One exchange that the gateway sends to the server.
struct FaultyStream {
  explicit FaultyStream(const ServerPlan& what)
      : plan(what),
        answers(external::makeExtProcAnswers({.name = "x-guard", .value = "seen"})),
        changes(external::makeExtProcAnswers({.raisesCase = true})) {}

  ServerPlan plan;
  external::CallAnswers answers;
  external::CallAnswers changes;  // for the one answer that changes bytes
  std::string in;
  std::string out;
  std::int64_t window = 0;
  std::size_t heard = 0;      // bytes of the part at which it fails
  bool isIntroduced = false;  // the first message has come
  bool hasEnded = false;      // the gateway has sent everything
  bool hasBegun = false;      // the head of the response is sent
  bool holds = false;         // it does not answer any more
  bool isFailing = false;     // it has done what is planned
  bool isGone = false;        // nothing is sent any more
  std::string fodder;         // sent over and over; empty for none
  ServerFault behindOut{};    // what happens when `out` is sent
};

/// One connection of the gateway.
class FaultyConnection {
 public:
  FaultyConnection(BlockingSocket& socket, ServerOrders& orders) : socket_(socket), orders_(orders) {}

  void serve() {
    socket_.send(h2::settings({{h2setting::kInitialWindowSize, kStreamWindow}}) +
                 h2::windowUpdate(0, 64 * kStreamWindow));
    std::array<char, 65536> bytes{};
    while (!isOver_) {
      const ssize_t count = recv(socket_.fd(), bytes.data(), bytes.size(), 0);
      if (count <= 0) return;
      reader_.feed({bytes.data(), static_cast<std::size_t>(count)});
      for (const H2Frame& frame : reader_.frames()) {
        if (!isOver_) take(frame);
      }
      reader_.forget();
      for (auto& [id, stream] : streams_) {
        if (!isOver_) flush(id, stream);
      }
      std::erase_if(streams_, [](const auto& each) { return each.second.isGone; });
    }
  }

 private:
  void take(const H2Frame& frame) {
    const auto found = streams_.find(frame.stream);
    switch (frame.type) {
      case H2Type::kSettings:
        return settle(frame);
      case H2Type::kPing:
        if ((frame.flags & h2flag::kAck) == 0) say(h2::frame(H2Type::kPing, h2flag::kAck, 0, frame.payload));
        return;
      case H2Type::kWindowUpdate:
        if (frame.stream == 0) window_ += frame.firstWord();
        if (found != streams_.end()) found->second.window += frame.firstWord();
        return;
      case H2Type::kHeaders:
        return begin(frame.stream);
      case H2Type::kRstStream:
        ++orders_.broken;
        streams_.erase(frame.stream);
        return;
      case H2Type::kData:
        grant(0, frame.payload.size());
        if (found == streams_.end() || found->second.isGone) return;
        grant(frame.stream, frame.payload.size());
        found->second.hasEnded = frame.endsStream();
        return hear(frame.stream, found->second, frame.payload);
      default:
        return;
    }
  }

  void grant(std::uint32_t id, std::size_t bytes) {
    if (bytes > 0) say(h2::windowUpdate(id, static_cast<std::uint32_t>(bytes)));
  }

  void settle(const H2Frame& frame) {
    if ((frame.flags & h2flag::kAck) != 0) return;
    if (const auto size = frame.setting(h2setting::kInitialWindowSize)) {
      for (auto& [id, stream] : streams_) stream.window += std::int64_t{*size} - initialWindow_;
      initialWindow_ = *size;
    }
    say(h2::settingsAck());
  }

  void begin(std::uint32_t id) {
    if (streams_.contains(id)) return;
    ++orders_.streams;
    const std::lock_guard lock(orders_.mutex);
    streams_.try_emplace(id, orders_.plan).first->second.window = initialWindow_;
  }

  void hear(std::uint32_t id, FaultyStream& stream, std::string_view bytes) {
    stream.in += bytes;
    while (!isOver_ && !stream.isGone && stream.in.size() >= http::kGrpcPrefix) {
      std::size_t length = 0;
      for (std::size_t i = 1; i < http::kGrpcPrefix; ++i)
        length = length << 8 | static_cast<unsigned char>(stream.in[i]);
      if (stream.in.size() < http::kGrpcPrefix + length) return;
      const std::string message = stream.in.substr(http::kGrpcPrefix, length);
      stream.in.erase(0, http::kGrpcPrefix + length);
      hearMessage(id, stream, message);
    }
  }

  void hearMessage(std::uint32_t id, FaultyStream& stream, const std::string& message) {
    const HeardPart heard = partIn(message);
    if (!std::exchange(stream.isIntroduced, true)) stream.changes(message);  // it has the modes of bodies
    const ServerPlan& plan = stream.plan;
    const bool isHere = plan.fault != ServerFault::kNone && heard.part == plan.part;
    if (isHere) stream.heard += heard.bytes;
    stream.holds = stream.holds || isHere;
    if (!stream.holds) return answer(stream, stream.answers, message);
    const bool isDue = plan.atEnd ? heard.ends : isHere && stream.heard >= plan.behind;
    if (stream.isFailing || !isDue) return;
    stream.isFailing = true;
    ++orders_.failed;
    fail(id, stream, message);
  }

  static void answer(FaultyStream& stream, external::CallAnswers& answers, const std::string& message) {
    stream.out += http::frameGrpcMessage(answers(message).value_or(""));
  }

  void fail(std::uint32_t id, FaultyStream& stream, const std::string& message) {
    switch (stream.plan.fault) {
      case ServerFault::kSlow:
        stream.out += http::frameGrpcMessage(needsLittleTime());
        return;
      case ServerFault::kGarbageMessage:
        stream.out += http::frameGrpcMessage("\xff\xff\xff this is no message");
        return;
      case ServerFault::kWrongPart:
        stream.out += http::frameGrpcMessage(answerToAnother(stream.plan.part));
        return;
      case ServerFault::kTooLong:
        stream.out += std::string("\0\x7f\xff\xff\xff", http::kGrpcPrefix) + std::string(20'000, 'x');
        return;
      case ServerFault::kGoodGoaway:
        say(h2::goaway(0x7fffffff, h2error::kNoError));
        stream.holds = false;
        stream.isFailing = false;
        stream.plan.fault = ServerFault::kNone;
        return answer(stream, stream.answers, message);
      case ServerFault::kGoneBehind:
        answer(stream, stream.answers, message);
        stream.behindOut = ServerFault::kStreamReset;
        return;
      case ServerFault::kGoneChanged:
        answer(stream, stream.changes, message);
        stream.behindOut = ServerFault::kStreamReset;
        return;
      case ServerFault::kOwnEnd:
        stream.out += http::frameGrpcMessage(pieceOf(stream.plan.part, kOwnBody, true));
        stream.behindOut = ServerFault::kCleanEnd;
        return;
      case ServerFault::kEndless:
        stream.fodder = http::frameGrpcMessage(pieceOf(stream.plan.part, std::string(8192, 'e'), false));
        return;
      case ServerFault::kEndlessTiny:
        stream.fodder = manyOf(pieceOf(stream.plan.part, "e", false));
        return;
      case ServerFault::kEndlessEmpty:
        stream.fodder = manyOf(pieceOf(stream.plan.part, "", false));
        return;
      case ServerFault::kEndlessPatience:
        stream.fodder = manyOf(needsLittleTime());
        return;
      default:
        return breakOff(id, stream, stream.plan.fault);
    }
  }

  void breakOff(std::uint32_t id, FaultyStream& stream, ServerFault fault) {
    stream.isGone = fault != ServerFault::kMute;
    switch (fault) {
      case ServerFault::kStreamReset:
        return say(h2::rstStream(id, h2error::kInternalError));
      case ServerFault::kStreamRefused:
        return say(h2::rstStream(id, h2error::kRefusedStream));
      case ServerFault::kErrorStatus:
        return endWith(id, stream, "13");
      case ServerFault::kCleanEnd:
        return endWith(id, stream, "0");
      case ServerFault::kGarbageFrames:
        return say("HTTP/1.1 400 Bad Request\r\n\r\nthis is no frame");
      case ServerFault::kLastGoaway:
        stream.isGone = false;
        return say(h2::goaway(0, h2error::kNoError));
      case ServerFault::kErrorGoaway:
        say(h2::goaway(id, h2error::kInternalError));
        isOver_ = true;
        return;
      case ServerFault::kHangUp:
        return socket_.shutdownWrite();
      case ServerFault::kConnectionReset:
        isOver_ = true;
        return socket_.reset();
      default:
        return;
    }
  }

  /// Ends the stream, with nothing but trailers if nothing was sent.
  void endWith(std::uint32_t id, FaultyStream& stream, const std::string& status) {
    if (stream.hasBegun) return say(h2::headers(id, {{"grpc-status", status}}, true));
    say(h2::headers(id, {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", status}}, true));
  }

  /// Sends as many bytes as the gateway has room for.
  void flush(std::uint32_t id, FaultyStream& stream) {
    while (!stream.isGone) {
      if (stream.out.empty()) stream.out = stream.fodder;
      const std::int64_t room = std::min(window_, stream.window);
      const std::size_t count =
          std::min({stream.out.size(), static_cast<std::size_t>(std::max<std::int64_t>(room, 0)), kMostFrame});
      if (count == 0) break;
      if (!std::exchange(stream.hasBegun, true)) {
        say(h2::headers(id, {{":status", "200"}, {"content-type", "application/grpc"}}, false));
      }
      say(h2::data(id, std::string_view(stream.out).substr(0, count), false));
      stream.out.erase(0, count);
      if (!stream.fodder.empty()) orders_.given += count;
      window_ -= static_cast<std::int64_t>(count);
      stream.window -= static_cast<std::int64_t>(count);
    }
    if (stream.out.empty() && stream.behindOut != ServerFault::kNone) breakOff(id, stream, stream.behindOut);
    const bool isDone = stream.out.empty() && stream.hasEnded && !stream.isFailing && !stream.isGone;
    if (!isDone) return;
    endWith(id, stream, "0");
    stream.isGone = true;
  }

  void say(std::string_view bytes) { socket_.send(bytes); }

  BlockingSocket& socket_;
  ServerOrders& orders_;
  H2FrameReader reader_;
  std::map<std::uint32_t, FaultyStream> streams_;
  std::int64_t window_ = 65535;
  std::int64_t initialWindow_ = 65535;
  bool isOver_ = false;
};

}  // namespace

const char* nameOf(ServerFault fault) {
  static constexpr std::array kNames = {
      "good",     "mute",         "slow",         "reset of the stream", "refused stream",  "reset of TCP",
      "hang-up",  "error status", "clean end",    "garbage message",     "garbage frames",  "wrong part",
      "too long", "last goaway",  "error goaway", "good goaway",         "gone behind",     "gone changed",
      "own end",  "endless",      "tiny pieces",  "empty pieces",        "endless patience"};
  return kNames[static_cast<std::size_t>(fault)];
}

void FaultyExtProcServer::plan(const ServerPlan& plan) {
  const std::lock_guard lock(orders_.mutex);
  orders_.plan = plan;
}

void FaultyExtProcServer::serve(BlockingSocket& socket) { FaultyConnection(socket, orders_).serve(); }

}  // namespace sluice::test
