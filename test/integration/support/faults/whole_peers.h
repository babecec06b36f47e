// A client and an origin that know of each message whether it has come whole, or was broken off.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {

/// A message as it came.
struct PeerMessage {
  int status = 0;         // of a response; 0 if there was none
  bool isWhole = false;   // it has come to its end
  bool isMarked = false;  // its head has the field "x-guard: seen"
  std::string body;
  /// The fields of its head whose names begin with "x-", each with its values in their order.
  std::map<std::string, std::vector<std::string>> fields;
  std::map<std::string, std::vector<std::string>> trailers;  // the same of its trailers
};

/// How a body is framed over HTTP/1.1; over HTTP/2 kLength means a Content-Length.
enum class PeerFraming : std::uint8_t {
  kNone,    // there is no body
  kLength,  // the length is stated
  kChunked  // it is not, so that even an empty body is one
};

/// An answer in the place of the one that a request asks for.
struct PeerAnswer {
  H2Lines fields;
  std::string body;
  PeerFraming framing = PeerFraming::kLength;
  H2Lines trailers;  // only in chunks
};

/// An origin that answers each whole request with a body that the request asks for, and records each by its number.
/// Serves HTTP/1.1.
class WholeOrigin {
 public:
  WholeOrigin() = default;
  std::uint16_t port() const { return origin_->port(); }
  /// Returns the received part of the request of that number, if its head has come.
  std::optional<PeerMessage> heard(int number) const;
  /// Returns how many bytes of a body have come in chunks, while it comes.
  std::size_t bytes(int number) const;
  /// Has it answer every request like that from now on.
  void answer(PeerAnswer answer);
  /// Ends all connections, so that later bytes are recorded.
  void stop() { origin_.reset(); }

 private:
  void serve(BlockingSocket& socket, RawOrigin& self);
  void record(int number, PeerMessage&& message);

  mutable std::mutex mutex_;
  std::map<int, PeerMessage> heard_;
  std::map<int, std::size_t> come_;  // bytes of bodies in chunks
  std::optional<PeerAnswer> answer_;
  std::unique_ptr<RawOrigin> origin_ =
      std::make_unique<RawOrigin>([this](BlockingSocket& socket, RawOrigin& self) { serve(socket, self); });
};

/// A request of the client, and the body that the origin is to answer with.
struct PeerRequest {
  int number = 0;
  std::string path;
  PeerFraming framing = PeerFraming::kNone;
  std::string body = {};
  PeerFraming answerFraming = PeerFraming::kLength;
  std::size_t answerSize = 0;
  H2Lines fields = {};    // further ones, with names in lower case
  H2Lines trailers = {};  // only with kChunked
};

/// Returns the body of that size which the origin answers with.
std::string patternOf(std::size_t size);

/// A client of one version of HTTP. Connects to 127.0.0.1.
class WholeClient {
 public:
  WholeClient(std::uint16_t port, bool speaksHttp2) : port_(port), speaksHttp2_(speaksHttp2) {}

  /// Sends the request, unless an answer comes before all of it was sent, and returns the answer. Over HTTP/2 all
  /// requests go over one connection, over HTTP/1.1 each has its own.
  PeerMessage ask(const PeerRequest& request);

 private:
  PeerMessage askHttp1(const PeerRequest& request) const;
  PeerMessage askHttp2(const PeerRequest& request);
  void sendBody(const PeerRequest& request, std::uint32_t stream);
  bool hasEnded(std::uint32_t stream) const;

  const std::uint16_t port_;
  const bool speaksHttp2_;
  std::unique_ptr<H2Client> http2_;
  std::uint32_t next_ = 1;  // stream
  std::uint64_t sent_ = 0;  // bytes of DATA on this connection
};

}  // namespace sluice::test
