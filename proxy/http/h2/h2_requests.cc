#include "proxy/http/h2/h2_requests.h"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/http/h2/h2_decimal.h"
#include "proxy/http/tunnel.h"

namespace sluice::http {
namespace {

base::Error unsendableRequest() { return base::Error::internal("a field of the request cannot be sent"); }

base::Error tunnelNotOffered() {
  return base::Error::upstream(base::ErrorType::kHttpProtocolError,
                               "the backend speaks HTTP/2, and its SETTINGS do not offer WebSockets (RFC 8441)");
}

}  // namespace

base::Error h2ConnectionEnded() {
  return base::Error::upstream(base::ErrorType::kConnectionTerminated, "the backend's connection ended");
}

StreamId H2Requests::send(Token token, const RequestHead& head, Scheme scheme) {
  if (head.body == Body::kTunnel) return askForTunnel(token, head, scheme);
  if (const H2Stream* stream = submit(token, head, scheme)) return stream->id;
  unsendable_.push_back({token, nextOwnId_});
  return nextOwnId_++;
}

StreamId H2Requests::askForTunnel(Token token, const RequestHead& head, Scheme scheme) {
  if (upgradeName(head.tunnel).empty() || head.tunnelProof.empty()) return 0;
  std::erase_if(tunnels_, [&](const auto& each) { return session_.find(each.second.stream) == nullptr; });
  RequestMessage request(session_.pool());
  request.head = clone(request.arena, head);
  removeHandshake(request.head);
  waiting_.push_back({nextOwnId_, token, scheme, std::move(request)});
  return nextOwnId_++;
}

void H2Requests::settle() {
  for (const Unsendable& request : std::exchange(unsendable_, {})) {
    sink_.onResponseReset(request.token, unsendableRequest(), false);
  }
  if (waiting_.empty() || !session_.receiver().settingsArrived() || session_.closed()) return;
  if (!session_.receiver().peerTakesTunnels()) return refuseWaiting(tunnelNotOffered());
  for (const AskedTunnel& asked : std::exchange(waiting_, {})) sendTunnel(asked);
}

void H2Requests::sendTunnel(const AskedTunnel& asked) {
  const RequestHead& head = asked.request.head;
  H2Stream* stream = submit(asked.token, head, asked.scheme);
  if (stream == nullptr) return sink_.onResponseReset(asked.token, unsendableRequest(), false);
  stream->method = Method::kConnect;
  stream->awaitsAgreement = true;
  tunnels_.emplace(asked.id, SentTunnel{stream->id, head.tunnel, std::string(head.tunnelProof)});
}

H2Stream* H2Requests::submit(Token token, const RequestHead& head, Scheme scheme) {
  H2Stream& stream = session_.streams().add(0);
  stream.token = token;
  stream.method = head.method;
  stream.send = H2Stream::Send::kQueued;
  const bool asksForTunnel = head.body == Body::kTunnel;
  std::array<H2Sender::ControlLine, 8> control{
      H2Sender::ControlLine{":method", asksForTunnel ? "CONNECT" : head.methodText}};
  std::size_t lines = 1;
  if (asksForTunnel) control[lines++] = {":protocol", upgradeName(head.tunnel)};
  if (head.method != Method::kConnect) {
    control[lines++] = {":scheme", schemeName(scheme)};
    control[lines++] = {":path", head.target};
  }
  if (!head.authority.empty()) control[lines++] = {":authority", head.authority};
  const Decimal length(head.contentLength);
  if (head.body == Body::kLength) control[lines++] = {"content-length", length.text()};
  if (head.acceptsTrailers) control[lines++] = {"te", "trailers"};
  if (head.expectContinue) control[lines++] = {"expect", "100-continue"};
  if (session_.sender().submitRequest(stream, {control.data(), lines}, head)) return &stream;
  session_.streams().remove(stream);
  return nullptr;
}

void H2Requests::refuseWaiting(const base::Error& error, bool unprocessed) {
  for (const AskedTunnel& asked : std::exchange(waiting_, {})) {
    sink_.onResponseReset(asked.token, error, unprocessed);
  }
}

StreamId H2Requests::streamOfOwn(StreamId id) const {
  const auto found = tunnels_.find(id);
  return found == tunnels_.end() ? 0 : found->second.stream;
}

StreamId H2Requests::forgetOwn(StreamId id) {
  const StreamId stream = streamOfOwn(id);
  tunnels_.erase(id);
  std::erase_if(waiting_, [id](const AskedTunnel& asked) { return asked.id == id; });
  std::erase_if(unsendable_, [id](const Unsendable& request) { return request.id == id; });
  return stream;
}

const H2Requests::SentTunnel& H2Requests::tunnelOn(StreamId stream) const {
  return std::find_if(tunnels_.begin(), tunnels_.end(), [&](const auto& each) { return each.second.stream == stream; })
      ->second;
}

}  // namespace sluice::http
