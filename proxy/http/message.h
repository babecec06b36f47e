// Heads of messages have one form for every HTTP version (RFC 9110 section 6), so any codec writes what any other one
// has read.
//
// The control data (method, authority, path, status, framing) is in members of its own and is never repeated in
// `headers`: there is no Host, Content-Length, Transfer-Encoding, Connection or other hop-by-hop field in there, so
// nothing can disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/http/head_account.h"
#include "proxy/http/headers.h"

namespace sluice::http {

enum class Version : std::uint8_t {
  kHttp10,
  kHttp11,
  kHttp2,
  kOpaque  // a plain byte stream without HTTP
};
/// Returns "1.0", "1.1" or "2" (network.protocol.version), and nothing for kOpaque.
std::string_view versionName(Version version);

enum class Scheme : std::uint8_t { kHttp, kHttps };
/// Returns "http" or "https".
constexpr std::string_view schemeName(Scheme scheme) { return scheme == Scheme::kHttps ? "https" : "http"; }

/// Returns the port of a URL that gives none.
constexpr std::uint16_t usualPort(Scheme scheme) { return scheme == Scheme::kHttps ? 443 : 80; }

/// The terms on which a listener takes requests.
struct ServerTerms {
  constexpr ServerTerms(Scheme ofListener, bool isForwardProxy = false)
      : scheme(ofListener), forwardProxy(isForwardProxy) {}

  Scheme scheme;  // by which clients reach the listener
  /// False for a gateway, which takes requests as if it were their origin. A forward proxy takes requests for other
  /// servers: in absolute form, or by CONNECT (RFC 9110 section 3.7).
  bool forwardProxy;
};

enum class Method : std::uint8_t { kGet, kHead, kPost, kPut, kDelete, kConnect, kOptions, kTrace, kPatch, kOther };
inline constexpr std::size_t kMethods = 10;
Method methodFrom(std::string_view name);
/// Returns the name of a method as metrics have it; "_OTHER" for kOther (OpenTelemetry's http.request.method).
std::string_view methodLabel(Method method);
/// Returns true for the methods of RFC 9110 section 9.2.2.
bool isIdempotent(Method method);

/// The status by which a client learns that its body is wanted (RFC 9110 section 15.2.1).
inline constexpr std::uint16_t kContinue = 100;
/// The status of a response that agrees to an upgrade, and of no other that is passed on.
inline constexpr std::uint16_t kSwitchingProtocols = 101;

/// The protocol of both ways of a tunnel, by which it is asked for and agreed to (tunnel.h).
enum class Tunnel : std::uint8_t {
  kNone,
  kWebSocket,  // RFC 6455, over HTTP/2 by RFC 8441
  kStream      // bytes of any protocol: CONNECT (RFC 9110 section 9.3.6), and between opaque codecs
};

/// Returns the status of a response that agrees to that tunnel.
constexpr std::uint16_t agreementTo(Tunnel tunnel) {
  return tunnel == Tunnel::kStream ? std::uint16_t{200} : kSwitchingProtocols;
}

/// The body that follows a head.
enum class Body : std::uint8_t {
  kNone,      // nothing: the head ends the message
  kLength,    // exactly contentLength bytes
  kUntilEnd,  // unknown length: chunked, HTTP/2 DATA, or (responses of HTTP/1.x) until the connection ends
  /// Nothing follows a request for a tunnel, unless a response agrees. Behind that response, and behind the request
  /// from then on, the body is everything until the connection ends.
  kTunnel
};

struct RequestHead {
  Method method = Method::kGet;
  /// The listener's scheme, with which :scheme or the scheme of an absolute form agrees, unless they say https to a
  /// cleartext listener. At a forward proxy, the scheme of the target, and kHttp for CONNECT.
  Scheme scheme = Scheme::kHttp;
  std::string_view methodText = "GET";
  /// host[:port] in normal form (lower case, nothing encoded, default port of the scheme kept as sent). Empty only for
  /// HTTP/1.0 without Host.
  std::string_view authority;
  /// Path in normal form plus query ("/a?b"), or "*" for OPTIONS. Empty for CONNECT.
  std::string_view target;
  /// The path as the client spelled it, if the Backend is to get these bytes instead of the normal form; see
  /// spellPathAsSent(). Nothing else may look at it. Empty if the two are the same, if the path had dot segments, and
  /// once a filter or a step has set another path.
  std::string_view sentPath;
  Headers headers;
  Version version = Version::kHttp11;
  Body body = Body::kNone;
  std::uint64_t contentLength = 0;  // if body is kLength
  bool expectContinue = false;      // the client waits for a 100 (RFC 9110 section 10.1.1)
  bool acceptsTrailers = false;     // TE: trailers
  bool secretControl = false;       // method, authority or target contain a secret, like a field with Care::kSecret
  /// A client of a forward proxy has sent the request as it would to an origin server (origin-form). It is refused once
  /// it is known that the proxy did not send it itself.
  bool namesNoDestination = false;
  /// The path contains "%2F" or "//", which the table of routes decides about (RouteTable::slashRules()). Until then,
  /// `sentPath` is set even if it is the same.
  bool unusualSlashes = false;
  bool keepAlive = false;  // there was a Keep-Alive field, which a response of HTTP/1.x answers
  /// The Max-Forwards of an OPTIONS or TRACE came as 0, so that the gateway has to answer.
  bool forwardsSpent = false;
  Tunnel tunnel = Tunnel::kNone;  // if body is kTunnel
  /// The value that the peer's 101 must contain, if the kind of tunnel has a handshake. Codecs only compare it.
  std::string_view tunnelProof;
  /// The credentials of a forward proxy's client for the proxy itself (Proxy-Authorization); null if there are none.
  /// They are no field, so nothing sends them on, and a clone has none.
  const std::string_view* proxyAuthorization = nullptr;

  std::string_view path() const { return target.substr(0, target.find('?')); }
  /// Returns the target as others than the Backend may see it: without its query if that may contain a secret.
  std::string_view openTarget() const { return secretControl ? path() : target; }
  std::string_view query() const {
    const std::size_t mark = target.find('?');
    return mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
  }
};

/// Puts the path as the client spelled it into the target, if the Backend is to get it. Called when the head is about
/// to be sent: everything that decides by the path has seen its normal form.
void spellPathAsSent(base::Arena& arena, RequestHead& head);

/// Returns a head that outlives the original; every byte of it is in `arena`.
RequestHead clone(base::Arena& arena, const RequestHead& head);

struct ResponseHead {
  std::uint16_t status = 0;
  Headers headers;
  Version version = Version::kHttp11;
  Body body = Body::kNone;
  Tunnel tunnel = Tunnel::kNone;  // if body is kTunnel
  bool dated = false;             // the origin sent a Date
  /// The Content-Length that the origin stated. With body kNone (HEAD, 304) it describes the body that is not sent.
  std::optional<std::uint64_t> contentLength;
};

/// A head and the memory that all its views point into.
struct RequestMessage {
  explicit RequestMessage(base::ChunkPool& pool) : arena(pool) {}
  base::Arena arena;
  HeadCharge charge;  // the bytes that were charged as the arena grew
  RequestHead head;
};

struct ResponseMessage {
  explicit ResponseMessage(base::ChunkPool& pool) : arena(pool) {}
  base::Arena arena;
  ResponseHead head;
};

/// The trailer section, if there was one.
struct Trailers {
  explicit Trailers(base::ChunkPool& pool) : arena(pool) {}
  base::Arena arena;
  HeadCharge charge;  // of a request's
  Headers fields;
};

}  // namespace sluice::http
