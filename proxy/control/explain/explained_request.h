// The request that is to be explained: as the user describes it, and as the data plane sees it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/arena.h"
#include "proxy/base/result.h"
#include "proxy/control/explain/explained_caller.h"
#include "proxy/http/message.h"

namespace sluice::control {

/// The request as the user describes it.
struct RequestInQuestion {
  std::string method = "GET";
  std::string url;                   // "https://host:port/path?query", or "connect://host:port" for a tunnel
  std::vector<std::string> headers;  // "name: value"
  std::string gateway;               // "namespace/name" of the Gateway that gets it; empty: any
  std::string clientAddress;         // empty: not known
  std::string serverName;            // of TLS in a tunnel; empty: that of the destination
  CallerInQuestion caller;
};

/// A URL with a scheme, taken apart.
struct UrlInQuestion {
  http::Scheme scheme = http::Scheme::kHttp;
  std::string authority;   // host[:port], as it is written
  std::string host;        // in normal form, without port and brackets
  std::uint16_t port = 0;  // the one of the scheme if it has none
  bool portGiven = false;
  std::string target;     // path and query; "/" if it has none
  bool isTunnel = false;  // the request is a CONNECT to a forward proxy, which has neither
};

/// Takes a URL apart. Errors name the fault.
base::Result<UrlInQuestion> readUrl(std::string_view url);

/// The memory of a head, and the head; or the answer to a request that the codecs refuse.
struct ReadRequest {
  std::unique_ptr<base::ChunkPool> pool = std::make_unique<base::ChunkPool>();
  http::RequestMessage message{*pool};
  std::optional<base::Error> refusal;
};

/// Makes the head as codecs do (http/hygiene). The request is HTTP/2 if it has the Content-Type of gRPC, else HTTP/1.1.
/// A Host among the headers replaces the one of the URL. `atProxy` states that a forward proxy gets it, by the whole
/// URL. Errors are those of the question: a header without a colon.
base::Result<ReadRequest> readRequest(const RequestInQuestion& asked, const UrlInQuestion& url, bool atProxy);

}  // namespace sluice::control
