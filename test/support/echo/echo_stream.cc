#include "test/support/echo/echo_stream.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "proxy/base/json_text.h"

namespace sluice::echo {
namespace {

constexpr std::size_t kShownBodyBytes = 256;
constexpr std::size_t kShownTextBytes = 16 * 1024;
// Generated bodies stay about this far ahead of the codec.
constexpr std::size_t kAhead = 64 * 1024;
constexpr std::string_view kPattern = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.\n";

struct PathRule {
  std::string_view prefix;
  Behaviour behaviour;
  bool takesNumber;
};

constexpr std::array kPaths = {
    PathRule{"/status/", Behaviour::kStatus, true},     PathRule{"/bytes/", Behaviour::kBytes, true},
    PathRule{"/chunked/", Behaviour::kChunked, true},   PathRule{"/delay-ms/", Behaviour::kDelay, true},
    PathRule{"/echo", Behaviour::kEcho, false},         PathRule{"/early", Behaviour::kEarly, false},
    PathRule{"/trailers", Behaviour::kTrailers, false}, PathRule{"/interim", Behaviour::kInterim, false},
    PathRule{"/silent", Behaviour::kSilent, false},
};

bool isGrpc(const http::Headers& headers) {
  const http::Field* type = headers.find(http::FieldId::kContentType);
  return type != nullptr && type->value.starts_with("application/grpc");
}

void appendMember(std::string& out, std::string_view name, std::string_view text) {
  base::appendJsonString(out, name, kShownTextBytes);
  out += ": ";
  base::appendJsonString(out, text, kShownTextBytes);
  out += ",\n  ";
}

/// Appends ["name: value", ...].
void appendFields(std::string& out, const http::Headers& headers) {
  out += '[';
  for (const http::Field& field : headers) {
    if (out.back() != '[') out += ", ";
    base::appendJsonString(out, std::string(field.name) + ": " + std::string(field.value), kShownTextBytes);
  }
  out += ']';
}

}  // namespace

EchoStream::EchoStream(Handle handle, EchoStreamOwner& owner, http::StreamId id, http::RequestMessage&& request)
    : handle_(handle),
      owner_(owner),
      id_(id),
      request_(std::move(request)),
      response_(owner.worker().chunks()),
      requestEnded_(request_.head.body == http::Body::kNone || request_.head.body == http::Body::kTunnel) {
  if (isGrpc(request_.head.headers)) {
    behaviour_ = Behaviour::kEcho;
    return;
  }
  const std::string_view path = request_.head.path();
  for (const PathRule& rule : kPaths) {
    if (!path.starts_with(rule.prefix)) continue;
    const std::string_view rest = path.substr(rule.prefix.size());
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number_);
    const bool number = error == std::errc() && end == rest.data() + rest.size();
    if (rule.takesNumber ? number : rest.empty()) behaviour_ = rule.behaviour;
  }
}

EchoStream::EchoStream(Handle handle, EchoStreamOwner& owner, http::StreamId id, std::uint16_t errorStatus)
    : handle_(handle),
      owner_(owner),
      id_(id),
      request_(owner.worker().chunks()),
      response_(owner.worker().chunks()),
      behaviour_(Behaviour::kStatus),
      number_(errorStatus),
      requestEnded_(true) {}

void EchoStream::onBody(std::string_view bytes) {
  received_ += bytes.size();
  for (const char byte : bytes) fnv1a_ = (fnv1a_ ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  bodyStart_.append(bytes.substr(0, kShownBodyBytes - bodyStart_.size()));
  if (behaviour_ == Behaviour::kEcho) {
    response_.bytes.append(bytes);  // granted again when the codec has taken the bytes out
  } else {
    toGrant_ += bytes.size();
  }
}

void EchoStream::onEnd(http::Trailers&& trailers) {
  requestTrailers_.emplace(std::move(trailers));
  requestEnded_ = true;
}

void EchoStream::onResponseTaken(std::size_t count) {
  if (behaviour_ == Behaviour::kEcho) toGrant_ += count;
}

void EchoStream::onTimer() {
  timerFired_ = true;
  owner_.wakeUp();
}

void EchoStream::drive(http::ServerCodec& codec) {
  if (toGrant_ > 0) codec.grant(id_, std::exchange(toGrant_, 0));
  if (state_ == State::kNew) begin(codec);
  if (state_ == State::kWaiting && readyToAnswer()) answer(codec);
  if (state_ == State::kStreaming) pump(codec);
}

void EchoStream::begin(http::ServerCodec& codec) {
  state_ = State::kWaiting;
  http::ResponseHead interim;
  if (behaviour_ == Behaviour::kInterim) {
    interim.status = 103;
    interim.headers.add(request_.arena, "link", "</style.css>; rel=preload");
    codec.sendInterim(id_, interim);
  } else if (request_.head.expectContinue && behaviour_ != Behaviour::kEarly) {
    interim.status = 100;
    codec.sendInterim(id_, interim);
  }
}

bool EchoStream::readyToAnswer() {
  switch (behaviour_) {
    case Behaviour::kEcho:
    case Behaviour::kEarly:
      return true;
    case Behaviour::kSilent:
      return false;
    case Behaviour::kDelay: {
      if (!requestEnded_ || timerFired_) return timerFired_;
      net::Worker& worker = owner_.worker();
      if (!isSet()) worker.timers().set(*this, worker.now() + std::chrono::milliseconds(number_));
      return false;
    }
    case Behaviour::kDescribe:
    case Behaviour::kStatus:
    case Behaviour::kBytes:
    case Behaviour::kChunked:
    case Behaviour::kTrailers:
    case Behaviour::kInterim:
      return requestEnded_;
  }
  return false;
}

void EchoStream::answer(http::ServerCodec& codec) {
  switch (behaviour_) {
    case Behaviour::kStatus:
      sendText(codec, static_cast<std::uint16_t>(std::clamp<std::uint64_t>(number_, 200, 599)), "", "");
      return;
    case Behaviour::kBytes:
    case Behaviour::kChunked:
    case Behaviour::kEcho:
    case Behaviour::kTrailers:
      startStreaming(codec);
      return;
    case Behaviour::kDescribe:
    case Behaviour::kEarly:
    case Behaviour::kInterim:
    case Behaviour::kDelay:
      sendText(codec, 200, "application/json", describe());
      return;
    case Behaviour::kSilent:
      return;
  }
}

void EchoStream::sendHead(http::ServerCodec& codec, std::uint16_t status, http::Body body,
                          std::optional<std::uint64_t> length, std::string_view contentType) {
  http::ResponseHead head;
  head.status = status;
  head.contentLength = length;
  const bool bodiless = request_.head.method == http::Method::kHead || status == 204 || status == 304;
  head.body = bodiless ? http::Body::kNone : body;
  head.headers.add(request_.arena, http::FieldId::kServer, "sluice-echo");
  if (!contentType.empty()) head.headers.add(request_.arena, http::FieldId::kContentType, contentType);
  codec.sendResponse(id_, head);
  state_ = head.body == http::Body::kNone ? State::kAnswered : State::kStreaming;
}

void EchoStream::sendText(http::ServerCodec& codec, std::uint16_t status, std::string_view contentType,
                          std::string_view text) {
  const bool withoutLength = status == 204 || status == 304;
  const auto length = withoutLength ? std::optional<std::uint64_t>() : text.size();
  sendHead(codec, status, text.empty() ? http::Body::kNone : http::Body::kLength, length, contentType);
  if (state_ != State::kStreaming) return;
  response_.bytes.append(text);
  response_.finish();
}

void EchoStream::startStreaming(http::ServerCodec& codec) {
  if (behaviour_ == Behaviour::kEcho) {
    const http::Field* type = request_.head.headers.find(http::FieldId::kContentType);
    sendHead(codec, 200, http::Body::kUntilEnd, std::nullopt,
             type != nullptr ? type->value : "application/octet-stream");
    return;
  }
  if (behaviour_ == Behaviour::kTrailers) {
    sendHead(codec, 200, http::Body::kUntilEnd, std::nullopt, "text/plain");
    http::Trailers trailers(owner_.worker().chunks());
    trailers.fields.add(trailers.arena, "x-echo-trailer", "behind the body");
    response_.bytes.append("a body with trailers\n");
    response_.finish(std::move(trailers));
    return;
  }
  generateLeft_ = number_;
  const bool stated = behaviour_ == Behaviour::kBytes;
  sendHead(codec, 200, stated ? http::Body::kLength : http::Body::kUntilEnd,
           stated ? std::optional<std::uint64_t>(number_) : std::nullopt, "application/octet-stream");
}

void EchoStream::pump(http::ServerCodec& codec) {
  if (behaviour_ == Behaviour::kEcho) {
    if (requestEnded_) finishEcho();
  } else if (response_.end() == http::PipeEnd::kOpen) {
    while (generateLeft_ > 0 && response_.bytes.size() < kAhead) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(generateLeft_, kPattern.size()));
      response_.bytes.append(kPattern.substr(0, count));
      generateLeft_ -= count;
    }
    if (generateLeft_ == 0) response_.finish();
  }
  codec.wake(id_);
}

void EchoStream::finishEcho() {
  if (response_.end() != http::PipeEnd::kOpen) return;
  http::Trailers trailers(owner_.worker().chunks());
  if (requestTrailers_) {
    for (const http::Field& field : requestTrailers_->fields) {
      trailers.fields.add(trailers.arena, trailers.arena.copy(field.name), trailers.arena.copy(field.value));
    }
  }
  if (isGrpc(request_.head.headers)) trailers.fields.set(trailers.arena, "grpc-status", "0");
  response_.finish(std::move(trailers));
}

std::string EchoStream::describe() const {
  const http::RequestHead& head = request_.head;
  const std::string_view path = head.sentPath.empty() ? head.path() : head.sentPath;
  std::string out = "{\n  ";
  appendMember(out, "method", head.methodText);
  appendMember(out, "target", std::string(path) + std::string(head.target.substr(head.path().size())));
  appendMember(out, "authority", head.authority);
  appendMember(out, "version", http::versionName(head.version));
  if (const net::TlsFacts* tls = owner_.tlsFacts()) {
    appendMember(out, "sni", tls->sni);
    appendMember(out, "alpn", tls->alpn);
    out += "\"resumed\": ";
    out += tls->resumed ? "true,\n  " : "false,\n  ";
  }
  out += "\"headers\": ";
  appendFields(out, head.headers);
  out += ",\n  \"trailers\": ";
  appendFields(out, requestTrailers_ ? requestTrailers_->fields : http::Headers());
  out += ",\n  ";
  appendMember(out, "body_start", bodyStart_);
  out += "\"body_fnv1a\": \"";
  base::appendJsonNumber(out, fnv1a_);
  out += "\",\n  \"body_bytes\": ";
  base::appendJsonNumber(out, received_);
  out += "\n}\n";
  return out;
}

}  // namespace sluice::echo
