// Sinks that record the events of a codec and own the pipes from which it takes bodies: they play the codec's owner in
// tests.
//
// Events are kept per stream; transcript() renders them without regard to how bodies were split, so that two ways of
// feeding the same bytes can be compared. A token is the index of the stream plus one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/codec.h"

namespace sluice::test {

using FieldList = std::vector<std::pair<std::string, std::string>>;

inline FieldList fieldList(const http::Headers& headers) {
  FieldList list;
  for (const http::Field& field : headers) list.emplace_back(field.name, field.value);
  return list;
}

inline std::string render(const FieldList& fields) {
  std::string text;
  for (const auto& [name, value] : fields) text += name + ": " + value + "\n";
  return text;
}

inline std::string renderBody(http::Body body, std::uint64_t length) {
  switch (body) {
    case http::Body::kNone:
      return "no body";
    case http::Body::kLength:
      return "length " + std::to_string(length);
    case http::Body::kUntilEnd:
      return "until end";
    case http::Body::kTunnel:
      return "tunnel";
  }
  return {};
}

class RecordingServerSink final : public http::ServerSink {
 public:
  struct RecordedRequest {
    explicit RecordedRequest(base::ChunkPool& pool) : message(pool), response(pool) {}
    http::StreamId id = 0;
    http::Token token = http::kNoToken;
    http::RequestMessage message;
    bool bad = false;  // onBadRequest, with `error`
    std::string body;
    bool ended = false;
    FieldList trailers;
    bool reset = false;
    bool answerable = false;
    base::Error error;
    http::BodyPipe response;
    bool gone = false;  // makes responseBody() return nullptr
    std::size_t taken = 0;
    bool sent = false;
  };

  explicit RecordingServerSink(base::ChunkPool& pool) : pool_(pool) {}

  http::Token onRequest(http::StreamId id, http::RequestMessage&& message) override {
    if (refuse) return http::kNoToken;
    RecordedRequest& stream = open(id);
    stream.message = std::move(message);
    stream.ended = stream.message.head.body == http::Body::kNone;
    return stream.token;
  }
  http::Token onBadRequest(http::StreamId id, const base::Error& error) override {
    if (refuse) return http::kNoToken;
    RecordedRequest& stream = open(id);
    stream.bad = true;
    stream.error = error;
    return stream.token;
  }
  void onRequestBody(http::Token token, std::string_view bytes) override { at(token).body += bytes; }
  void onRequestEnd(http::Token token) override { at(token).ended = true; }
  void onRequestEnd(http::Token token, http::Trailers&& trailers) override {
    at(token).ended = true;
    at(token).trailers = fieldList(trailers.fields);
  }
  void onRequestReset(http::Token token, const base::Error& error, bool answerable) override {
    RecordedRequest& stream = at(token);
    stream.reset = true;
    stream.answerable = answerable;
    stream.error = error;
  }
  http::BodyPipe* responseBody(http::Token token) override { return at(token).gone ? nullptr : &at(token).response; }
  void onResponseBodyTaken(http::Token token, std::size_t count) override { at(token).taken += count; }
  void onResponseSent(http::Token token) override { at(token).sent = true; }
  void onLimitHit(http::Limit limit) override { limits.push_back(limit); }

  std::size_t count() const { return streams_.size(); }
  RecordedRequest& stream(std::size_t index) { return *streams_.at(index); }
  RecordedRequest& last() { return *streams_.back(); }

  std::string transcript() const {
    std::string text;
    for (const auto& stream : streams_) text += describe(*stream);
    return text;
  }

  bool refuse = false;  // makes onRequest() return kNoToken
  std::vector<http::Limit> limits;

 private:
  RecordedRequest& open(http::StreamId id) {
    streams_.push_back(std::make_unique<RecordedRequest>(pool_));
    streams_.back()->id = id;
    streams_.back()->token = streams_.size();
    return *streams_.back();
  }
  RecordedRequest& at(http::Token token) { return *streams_.at(static_cast<std::size_t>(token - 1)); }

  static std::string describe(const RecordedRequest& stream) {
    std::string text;
    if (!stream.bad) {
      const http::RequestHead& head = stream.message.head;
      text += std::string(head.methodText) + " " + std::string(head.authority) + " " + std::string(head.target) + " " +
              std::string(http::versionName(head.version)) + "\n";
      text += render(fieldList(head.headers)) + renderBody(head.body, head.contentLength) +
              (head.expectContinue ? " expect" : "") + (head.acceptsTrailers ? " te" : "") + "\n";
    }
    text += "[" + stream.body + "]\n" + render(stream.trailers);
    if (stream.bad) text += "bad " + std::to_string(stream.error.status) + "\n";
    if (stream.reset)
      text += "reset " + std::to_string(stream.error.status) + (stream.answerable ? " answerable\n" : "\n");
    if (stream.ended) text += "end\n";
    return text;
  }

  base::ChunkPool& pool_;
  std::vector<std::unique_ptr<RecordedRequest>> streams_;
};

class RecordingClientSink final : public http::ClientSink {
 public:
  struct RecordedResponse {
    explicit RecordedResponse(base::ChunkPool& pool) : message(pool), request(pool) {}
    http::Token token = http::kNoToken;
    std::vector<std::uint16_t> interims;
    std::vector<FieldList> interimFields;
    bool answered = false;  // `message` holds the final head
    http::ResponseMessage message;
    std::string body;
    bool ended = false;
    FieldList trailers;
    bool reset = false;
    bool unprocessed = false;
    base::Error error;
    http::BodyPipe request;
    bool gone = false;  // makes requestBody() return nullptr
    std::size_t taken = 0;
    bool sent = false;
  };

  explicit RecordingClientSink(base::ChunkPool& pool) : pool_(pool) {}

  /// Returns a new stream, whose token is passed to sendRequest().
  RecordedResponse& open() {
    streams_.push_back(std::make_unique<RecordedResponse>(pool_));
    streams_.back()->token = streams_.size();
    return *streams_.back();
  }

  void onInterim(http::Token token, http::ResponseMessage&& message) override {
    at(token).interims.push_back(message.head.status);
    at(token).interimFields.push_back(fieldList(message.head.headers));
  }
  void onResponse(http::Token token, http::ResponseMessage&& message) override {
    RecordedResponse& stream = at(token);
    stream.answered = true;
    stream.message = std::move(message);
    stream.ended = stream.message.head.body == http::Body::kNone;
  }
  void onResponseBody(http::Token token, std::string_view bytes) override { at(token).body += bytes; }
  void onResponseEnd(http::Token token) override { at(token).ended = true; }
  void onResponseEnd(http::Token token, http::Trailers&& trailers) override {
    at(token).ended = true;
    at(token).trailers = fieldList(trailers.fields);
  }
  void onResponseReset(http::Token token, const base::Error& error, bool unprocessed) override {
    RecordedResponse& stream = at(token);
    stream.reset = true;
    stream.unprocessed = unprocessed;
    stream.error = error;
  }
  http::BodyPipe* requestBody(http::Token token) override { return at(token).gone ? nullptr : &at(token).request; }
  void onRequestBodyTaken(http::Token token, std::size_t count) override { at(token).taken += count; }
  void onRequestSent(http::Token token) override { at(token).sent = true; }
  void onLimitHit(http::Limit limit) override { limits.push_back(limit); }

  std::size_t count() const { return streams_.size(); }
  RecordedResponse& stream(std::size_t index) { return *streams_.at(index); }
  RecordedResponse& last() { return *streams_.back(); }

  std::string transcript() const {
    std::string text;
    for (const auto& stream : streams_) text += describe(*stream);
    return text;
  }

  std::vector<http::Limit> limits;

 private:
  RecordedResponse& at(http::Token token) { return *streams_.at(static_cast<std::size_t>(token - 1)); }

  static std::string describe(const RecordedResponse& stream) {
    std::string text;
    for (const std::uint16_t status : stream.interims) text += "interim " + std::to_string(status) + "\n";
    if (stream.answered) {
      const http::ResponseHead& head = stream.message.head;
      text += std::to_string(head.status) + " " + std::string(http::versionName(head.version)) + "\n";
      text += render(fieldList(head.headers)) + renderBody(head.body, head.contentLength.value_or(0)) + "\n";
    }
    text += "[" + stream.body + "]\n" + render(stream.trailers);
    if (stream.reset) {
      text += "reset " + std::string(base::errorTypeName(stream.error.type)) +
              (stream.unprocessed ? " unprocessed\n" : "\n");
    }
    if (stream.ended) text += "end\n";
    return text;
  }

  base::ChunkPool& pool_;
  std::vector<std::unique_ptr<RecordedResponse>> streams_;
};

/// Returns the content of a queue as text, without consuming it.
inline std::string textOf(const base::ByteQueue& queue) {
  std::vector<std::string_view> views(queue.size() / 1024 + 64);
  views.resize(queue.gather(views));
  std::string text;
  for (const std::string_view view : views) text += view;
  return text;
}

/// Takes the bytes that a codec has to send now.
template <typename Codec>
std::string produced(Codec& codec, base::ChunkPool& pool, std::size_t limit = std::size_t{1} << 30) {
  base::ByteQueue out(pool);
  codec.produce(out, limit);
  return textOf(out);
}

}  // namespace sluice::test
