// The requests of a client's connection on their way into a stream. A request for a tunnel may leave only once the
// backend's SETTINGS have offered that (RFC 8441), so it waits here until then; and one whose head cannot be encoded is
// reported from here. The owner knows both by ids that are not those of streams.
//
// Owned by the codec; one thread.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_session.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// Returns the error of a stream whose connection has ended.
base::Error h2ConnectionEnded();

class H2Requests {
 public:
  struct SentTunnel {
    StreamId stream;
    Tunnel kind;
    std::string proof;  // RequestHead::tunnelProof
  };

  H2Requests(H2Session& session, ClientSink& sink) : session_(session), sink_(sink) {}

  /// Does ClientCodec::sendRequest() for a peer that takes one more request.
  StreamId send(Token token, const RequestHead& head, Scheme scheme);
  /// Returns the stream of a request by the id that its owner has; 0 if it has none.
  StreamId streamOf(StreamId id) const { return id < kFirstOwnId ? id : streamOfOwn(id); }
  /// Forgets the request, because its owner has left. Returns its stream; 0 if it has none.
  StreamId forget(StreamId id) { return id < kFirstOwnId ? id : forgetOwn(id); }
  /// Returns the tunnel of that stream, which must have one that was not forgotten.
  const SentTunnel& tunnelOn(StreamId stream) const;

  /// Returns how many requests wait for SETTINGS: mostly none, and then nothing is divided by their size.
  std::size_t waiting() const { return waiting_.empty() ? 0 : waiting_.size(); }
  /// Returns true if settle() would do something.
  bool due() const {
    return !unsendable_.empty() || (!waiting_.empty() && session_.receiver().settingsArrived() && !session_.closed());
  }
  /// Sends or refuses the requests that need wait no longer. Called by produce(), because a call from the owner must
  /// not call the owner back.
  void settle();
  /// Ends the requests that wait.
  void refuseWaiting(const base::Error& error, bool unprocessed = false);
  /// Ends the requests that wait, if the connection will take no more; with `lost`, for that reason.
  void loseIfOver(const base::Error* lost) {
    if (waiting_.empty() || !(session_.closed() || session_.peerSaidGoaway())) return;
    refuseWaiting(lost != nullptr ? *lost : h2ConnectionEnded(), true);
  }

 private:
  // Never the id of an HTTP/2 stream: those have 31 bits.
  static constexpr StreamId kFirstOwnId = 0x80000000U;

  /// A request whose head is complete, without the handshake of HTTP/1.1.
  struct AskedTunnel {
    StreamId id;
    Token token;
    Scheme scheme;
    RequestMessage request;
  };
  /// A request whose head cannot be encoded.
  struct Unsendable {
    Token token;
    StreamId id;
  };

  StreamId askForTunnel(Token token, const RequestHead& head, Scheme scheme);
  void sendTunnel(const AskedTunnel& asked);
  /// Returns nullptr if the head cannot be encoded.
  H2Stream* submit(Token token, const RequestHead& head, Scheme scheme);
  StreamId streamOfOwn(StreamId id) const;
  StreamId forgetOwn(StreamId id);

  H2Session& session_;
  ClientSink& sink_;
  std::vector<AskedTunnel> waiting_;
  std::unordered_map<StreamId, SentTunnel> tunnels_;  // by the owner's id
  std::vector<Unsendable> unsendable_;
  StreamId nextOwnId_ = kFirstOwnId;
};

}  // namespace sluice::http
