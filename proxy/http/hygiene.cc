#include "proxy/http/hygiene.h"

#include <algorithm>
#include <limits>

#include "proxy/http/field_section.h"
#include "proxy/http/grammar.h"
#include "proxy/http/tunnel.h"

namespace sluice::http {
namespace {

using base::Error;

Error refuse(std::string text, std::uint16_t status = 400) { return Error::badRequest(status, std::move(text)); }

// A target like "http://host/path", taken apart (RFC 9112 section 3.2.2).
struct AbsoluteForm {
  std::string_view scheme;
  std::string_view authority;
  std::string_view pathAndQuery;
};

std::optional<AbsoluteForm> splitAbsoluteForm(std::string_view target) {
  const std::size_t mark = target.find("://");
  if (mark == std::string_view::npos || target.starts_with('/')) return std::nullopt;
  const std::string_view rest = target.substr(mark + 3);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  return AbsoluteForm{target.substr(0, mark), rest.substr(0, end), rest.substr(end)};
}

// Sets authority and target of the head: one source of truth, whatever forms the client used (RFC 9112 section 3.2, RFC
// 9113 section 8.3.1).
class TargetCheck {
 public:
  TargetCheck(base::Arena& arena, const RawRequest& raw, const FieldSection& fields, ServerTerms terms)
      : arena_(arena), raw_(raw), fields_(fields), terms_(terms) {}

  std::optional<Error> apply(RequestHead& head) {
    if (head.method == Method::kConnect) return setTunnel(head);
    std::string_view scheme = raw_.scheme;
    std::string_view claimed = raw_.authority;
    std::string_view target = raw_.target;
    if (raw_.version == Version::kHttp2) {
      if (scheme.empty()) return refuse("no scheme");
    } else if (const auto absolute = splitAbsoluteForm(target)) {
      scheme = absolute->scheme;
      claimed = absolute->authority;
      if (claimed.empty()) return refuse("the request-target has no authority");
      target = pathOf(*absolute, head.method);
    } else if (terms_.forwardProxy) {
      head.namesNoDestination = true;
    }
    if (auto error = setScheme(head, scheme)) return error;
    if (auto error = setAuthority(head, claimed, scheme)) return error;
    return setTarget(head, target);
  }

 private:
  // RFC 9112 section 3.2.3, and RFC 9113 section 8.5.
  std::optional<Error> setTunnel(RequestHead& head) {
    if (!terms_.forwardProxy) {
      return refuse(
          "CONNECT needs a forward proxy: use a listener of the protocol sluice.dev/HTTPPROXY or sluice.dev/HTTPSPROXY",
          405);
    }
    const std::string_view destination = raw_.version == Version::kHttp2 ? raw_.authority : raw_.target;
    if (raw_.version == Version::kHttp2 && !(raw_.scheme.empty() && raw_.target.empty())) {
      return refuse("CONNECT has neither a scheme nor a path");
    }
    if (destination.empty()) return refuse("CONNECT without a destination");
    if (auto error = setAuthority(head, destination, {})) return error;
    if (portOf(head.authority) == 0) return refuse("CONNECT needs a host and a port, as in example.com:443");
    if (fields_.codingCount > 0 || (fields_.lengthCount > 0 && fields_.length != "0")) {
      return refuse("a CONNECT request has no content");
    }
    head.tunnel = Tunnel::kStream;
    return std::nullopt;
  }

  std::optional<Error> setScheme(RequestHead& head, std::string_view scheme) {
    if (terms_.forwardProxy && !head.namesNoDestination) {
      const bool secure = equalsIgnoreCase(scheme, schemeName(Scheme::kHttps));
      if (!secure && !equalsIgnoreCase(scheme, schemeName(Scheme::kHttp))) {
        return refuse("a forward proxy takes the schemes http and https");
      }
      head.scheme = secure ? Scheme::kHttps : Scheme::kHttp;
      return std::nullopt;
    }
    if (!scheme.empty() && !isServed(scheme)) return refuse("the scheme is not this listener's");
    head.scheme = terms_.scheme;
    return std::nullopt;
  }

  // Something between the client and a cleartext listener may have ended TLS (RFC 9113 section 8.3.1). An absolute form
  // of HTTP/1.1 says the same in other words.
  bool isServed(std::string_view scheme) const {
    return equalsIgnoreCase(scheme, schemeName(terms_.scheme)) || equalsIgnoreCase(scheme, schemeName(Scheme::kHttps));
  }

  std::string_view pathOf(const AbsoluteForm& absolute, Method method) {
    if (absolute.pathAndQuery.starts_with('/')) return absolute.pathAndQuery;
    if (absolute.pathAndQuery.empty()) return method == Method::kOptions ? "*" : "/";
    return arena_.concat("/", absolute.pathAndQuery);
  }

  // RFC 9110 section 4.2.3: an authority with the default port of its scheme is that without a port.
  static std::string_view withoutDefaultPort(std::string_view authority, std::string_view scheme) {
    const std::string_view port = equalsIgnoreCase(scheme, schemeName(Scheme::kHttps)) ? ":443" : ":80";
    if (authority.ends_with(port)) authority.remove_suffix(port.size());
    return authority;
  }

  // The Host may be spelled in another way than the normal authority.
  bool isHostOf(std::string_view authority, std::string_view scheme) {
    const std::string_view wanted = withoutDefaultPort(authority, scheme);
    if (equalsIgnoreCase(withoutDefaultPort(fields_.host, scheme), wanted)) return true;
    const auto host = normalizeAuthority(arena_, fields_.host);
    return host && withoutDefaultPort(*host, scheme) == wanted;
  }

  std::optional<Error> setAuthority(RequestHead& head, std::string_view claimed, std::string_view scheme) {
    const bool mayLackHost = raw_.version != Version::kHttp11;
    if (fields_.hostCount > 1) return refuse("several Host fields");
    if (fields_.hostCount == 0 && !mayLackHost) return refuse("no Host field");
    if (fields_.hostCount == 0 && claimed.empty()) {
      if (raw_.version == Version::kHttp10) return std::nullopt;
      return refuse("no authority");
    }
    auto authority = normalizeAuthority(arena_, claimed.empty() ? fields_.host : claimed, raw_.known);
    if (!authority) return std::move(authority).error();
    const bool both = fields_.hostCount == 1 && !claimed.empty() && !terms_.forwardProxy;
    if (both && !isHostOf(*authority, scheme)) return refuse("Host differs from the authority");
    head.authority = *authority;
    return std::nullopt;
  }

  std::optional<Error> setTarget(RequestHead& head, std::string_view target) {
    if (target == "*") {
      if (head.method != Method::kOptions) return refuse("the asterisk is for OPTIONS only");
      head.target = target;
      return std::nullopt;
    }
    auto normal = normalizeTarget(arena_, target, kAnySlashes);
    if (!normal) return std::move(normal).error();
    head.target = normal->text;
    head.unusualSlashes = normal->unusualSlashes;
    const bool mayDiffer = normal->text.data() != target.data() && !normal->hadDotSegments;
    if (!mayDiffer) return std::nullopt;
    const std::string_view sent = target.substr(0, target.find('?'));
    if (head.unusualSlashes || sent != head.path()) head.sentPath = sent;
    return std::nullopt;
  }

  base::Arena& arena_;
  const RawRequest& raw_;
  const FieldSection& fields_;
  const ServerTerms terms_;
};

// A list of registered codings that ends in chunked is a request that we understand but do not implement (RFC 9112
// section 6.1); everything else is an attempt to be understood differently by two parsers.
bool isKnownCodingList(std::string_view value) {
  std::string_view last;
  bool known = true;
  std::size_t chunkedCount = 0;
  forEachListElement(value, [&](std::string_view coding) {
    last = coding;
    chunkedCount += equalsIgnoreCase(coding, "chunked") ? 1 : 0;
    const auto is = [coding](std::string_view name) { return equalsIgnoreCase(coding, name); };
    known =
        known && (is("chunked") || is("gzip") || is("x-gzip") || is("deflate") || is("compress") || is("x-compress"));
  });
  return known && chunkedCount == 1 && equalsIgnoreCase(last, "chunked");
}

// RFC 9112 section 6.3, without its leniency.
std::optional<Error> setFraming(RequestHead& head, const RawRequest& raw, const FieldSection& fields) {
  if (fields.codingCount > 0) {
    if (raw.version != Version::kHttp11) return refuse("Transfer-Encoding in a version without it");
    if (fields.lengthCount > 0) return refuse("both Transfer-Encoding and Content-Length");
    if (fields.codingCount > 1 || !equalsIgnoreCase(fields.coding, "chunked")) {
      const bool known = fields.codingCount == 1 && isKnownCodingList(fields.coding);
      return refuse("a Transfer-Encoding other than chunked", known ? 501 : 400);
    }
    head.body = Body::kUntilEnd;
    return std::nullopt;
  }
  if (fields.lengthCount > 0) {
    const auto length = parseContentLength(fields.length);
    if (fields.lengthCount > 1 || !length) return refuse("Content-Length is not one number");
    if (raw.endOfStream && *length > 0) return refuse("Content-Length announces a body that does not follow");
    head.contentLength = *length;
    head.body = *length > 0 ? Body::kLength : Body::kNone;
    return std::nullopt;
  }
  head.body = raw.version == Version::kHttp2 && !raw.endOfStream ? Body::kUntilEnd : Body::kNone;
  return std::nullopt;
}

// A reader of the first of two lines and a reader of the last one see different requests, so a guard in the gateway
// would judge a line that the backend does not read (RFC 9110 section 5.3). Host is refused with the authority.
std::optional<Error> checkSingletons(const FieldSection& fields) {
  if (fields.authorizationCount > 1) return refuse("several Authorization fields");
  if (fields.contentTypeCount > 1) return refuse("several Content-Type fields");
  if (fields.contentTypeCount == 1 && !isMediaType(fields.contentType)) {
    return refuse("Content-Type is not one media type");
  }
  return std::nullopt;
}

// RFC 9110 section 11.7.2. A gateway is no proxy, so the field means nothing to it.
std::optional<Error> setProxyAuthorization(base::Arena& arena, RequestHead& head, const FieldSection& fields) {
  if (fields.proxyAuthorizationCount > 1) return refuse("several Proxy-Authorization fields");
  head.proxyAuthorization = arena.make<std::string_view>(fields.proxyAuthorization);
  return std::nullopt;
}

// RFC 9110 section 10.1.1.
std::optional<Error> setExpectation(RequestHead& head, const FieldSection& fields) {
  if (fields.expectCount == 0 || head.version == Version::kHttp10) return std::nullopt;
  if (fields.expectCount > 1 || !equalsIgnoreCase(fields.expect, "100-continue"))
    return refuse("unknown expectation", 417);
  head.expectContinue = head.body != Body::kNone;
  return std::nullopt;
}

Error broken(std::string text) { return Error::upstream(base::ErrorType::kHttpProtocolError, std::move(text)); }

bool connectionEnds(const RawResponse& raw, const FieldSection& fields) {
  if (raw.version == Version::kHttp2) return false;
  return fields.connectionClose || (raw.version == Version::kHttp10 && !fields.connectionKeepAlive);
}

// HTTP/2 has no leniency for repeated lengths, or for lengths in 1xx responses, as HTTP/1.1 has it here (RFC 9110
// section 8.6, RFC 9113 section 8.1.1). A length in a 204 is harmless, because its end is known, and servers send it.
bool mayHaveLength(std::uint16_t status, const FieldSection& fields) {
  return fields.lengthCount == 1 && status >= 200;
}

// The coding of RFC 2616 section 3.6 that changes nothing. Servers still name it.
bool isIdentity(const FieldSection& fields) {
  return fields.codingCount == 1 && equalsIgnoreCase(fields.coding, "identity");
}

// RFC 9112 section 6.3. `closes` is set if only the end of the connection ends the body.
std::optional<Error> setFraming(ResponseHead& head, const RawResponse& raw, const FieldSection& fields, Method method,
                                bool& closes) {
  const bool noBody = statusForbidsBody(raw.status) || method == Method::kHead;
  const bool identity = isIdentity(fields);
  // Others may find another end of such a response, so nothing that follows it is read.
  if (identity) closes = true;
  const bool coded = fields.codingCount > 0 && !identity;
  if (coded) {
    if (raw.version != Version::kHttp11) return broken("Transfer-Encoding in a version without it");
    if (fields.lengthCount > 0) return broken("both Transfer-Encoding and Content-Length");
    if (fields.codingCount > 1 || !equalsIgnoreCase(fields.coding, "chunked"))
      return broken("unknown Transfer-Encoding");
    // The response ends with its head all the same. Bytes that a faulty server sends after it must not be read as the
    // next response.
    if (raw.status == 204) closes = true;
  }
  if (fields.lengthCount > 0) {
    const auto length = parseContentLength(fields.length);
    if (!length || fields.lengthsDiffer) return broken("Content-Length is not one number");
    if (raw.version == Version::kHttp2 && !mayHaveLength(raw.status, fields))
      return broken("a Content-Length that HTTP/2 forbids");
    if (raw.status >= 200 && raw.status != 204) head.contentLength = *length;
  }
  if (noBody) return std::nullopt;
  if (raw.version == Version::kHttp2 && raw.endOfStream) {
    if (head.contentLength.value_or(0) > 0) return broken("Content-Length announces a body that does not follow");
    return std::nullopt;
  }
  if (head.contentLength) {
    head.body = *head.contentLength > 0 ? Body::kLength : Body::kNone;
    return std::nullopt;
  }
  head.body = Body::kUntilEnd;
  if (raw.version != Version::kHttp2 && !coded) closes = true;
  return std::nullopt;
}

/// Returns the head of a response that opens a tunnel.
ResponseHead opening(const RawResponse& raw, const FieldSection& fields, Tunnel asked) {
  ResponseHead head;
  head.status = agreementTo(asked);
  head.version = raw.version;
  head.headers = fields.kept;
  head.dated = fields.dated;
  head.body = Body::kTunnel;
  head.tunnel = asked;
  return head;
}

}  // namespace

std::optional<Error> checkRequest(base::Arena& arena, const RawRequest& raw, ServerTerms terms, RequestHead& head) {
  if (!isToken(raw.method)) return refuse("the method is not a token");
  const bool extended = !raw.protocol.empty();
  if (extended && raw.method != "CONNECT") return refuse("a protocol in a request that is no CONNECT");
  if (extended) {
    head.tunnel = tunnelOfProtocol(raw.protocol);
    if (head.tunnel == Tunnel::kNone) return refuse("no protocol is served by CONNECT but websocket", 501);
    if (raw.authority.empty()) return refuse("a protocol without an authority");
  }
  head.methodText = extended ? "GET" : raw.method;
  head.method = methodFrom(head.methodText);
  head.version = raw.version;

  FieldSection fields;
  if (const char* why = readFields(arena, raw.fields, raw.version, fields)) return refuse(why);
  head.headers = fields.kept;
  head.acceptsTrailers = fields.teTrailers;
  head.keepAlive = fields.keepAlive;
  if (auto error = TargetCheck(arena, raw, fields, terms).apply(head)) return error;
  if (auto error = checkSingletons(fields)) return error;
  if (terms.forwardProxy && fields.proxyAuthorizationCount > 0) {
    if (auto error = setProxyAuthorization(arena, head, fields)) return error;
  }
  if (auto error = setFraming(head, raw, fields)) return error;
  if (auto error = setExpectation(head, fields)) return error;
  if (extended && fields.lengthCount > 0) return refuse("a tunnel has no Content-Length");
  if (extended) {
    removeHandshake(head);
  } else if (fields.upgradeCount > 0 && head.tunnel == Tunnel::kNone) {
    head.tunnel = tunnelOfUpgrade(head, fields);
  }
  if (head.tunnel != Tunnel::kNone) head.body = Body::kTunnel;
  return std::nullopt;
}

base::Result<RequestHead> checkRequest(base::Arena& arena, const RawRequest& raw, ServerTerms terms) {
  RequestHead head;
  if (auto error = checkRequest(arena, raw, terms, head)) return *std::move(error);
  return head;
}

base::Result<ResponseHead> checkResponse(base::Arena& arena, const RawResponse& raw, Method requestMethod,
                                         bool& closes) {
  ResponseHead head;
  if (raw.status < 100 || raw.status > 999) return broken("the status is not in 100..999");
  if (raw.status == kSwitchingProtocols) return broken("a protocol switch that nobody asked for");
  head.status = raw.status;
  head.version = raw.version;

  FieldSection fields;
  if (const char* why = readFields(arena, raw.fields, raw.version, fields)) return broken(why);
  head.headers = fields.kept;
  head.dated = fields.dated;
  closes = connectionEnds(raw, fields);
  if (auto error = setFraming(head, raw, fields, requestMethod, closes)) return *std::move(error);
  return head;
}

base::Result<ResponseHead> checkSwitch(base::Arena& arena, const RawResponse& raw, Tunnel asked,
                                       std::string_view proof) {
  FieldSection fields;
  if (raw.version != Version::kHttp11) return broken("a protocol switch in a version without it");
  if (const char* why = readFields(arena, raw.fields, raw.version, fields)) return broken(why);
  if (fields.codingCount > 0) return broken("Transfer-Encoding in a response without body");
  if (const char* why = disagreement(asked, proof, fields)) return broken(why);
  return opening(raw, fields, asked);
}

base::Result<ResponseHead> checkAgreement(base::Arena& arena, const RawResponse& raw, Tunnel asked,
                                          std::string_view proof) {
  FieldSection fields;
  if (const char* why = readFields(arena, raw.fields, raw.version, fields)) return broken(why);
  ResponseHead head = opening(raw, fields, asked);
  answerHandshake(arena, asked, proof, head.headers);
  return head;
}

}  // namespace sluice::http
