#include "proxy/control/explain/explained_request.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/http/hygiene.h"

namespace sluice::control {
namespace {

base::Error badUrl(std::string_view why) {
  return base::Error::badRequest(400, "url: " + std::string(why) + ", as in https://host:port/path");
}

/// Returns the port behind the host of an authority, or "" if it has none.
std::string_view portTextOf(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.find(']', colon) != std::string_view::npos) return {};
  return authority.substr(colon + 1);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

base::Status addFields(const std::vector<std::string>& headers, base::Arena& arena, http::Headers& fields) {
  for (const std::string& header : headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || colon == 0) {
      return base::Error::badRequest(400, "header: a header is 'name: value'");
    }
    fields.add(arena, arena.copy(base::toLower(std::string_view(header).substr(0, colon))),
               arena.copy(trimmed(std::string_view(header).substr(colon + 1))));
  }
  return base::Done{};
}

bool saysGrpc(const http::Headers& fields) {
  const http::Field* type = fields.find(http::FieldId::kContentType);
  return type != nullptr && base::toLower(type->value).starts_with("application/grpc");
}

/// `whole` asks for absolute-form (RFC 9112 section 3.2.2).
std::string targetOf(const UrlInQuestion& url, bool whole) {
  if (url.isTunnel) return url.authority;
  return whole ? std::string(http::schemeName(url.scheme)) + "://" + url.authority + url.target : url.target;
}

}  // namespace

base::Result<UrlInQuestion> readUrl(std::string_view url) {
  UrlInQuestion result;
  const std::size_t mark = url.find("://");
  if (mark == std::string_view::npos) return badUrl("it has no scheme");
  const std::string scheme = base::toLower(url.substr(0, mark));
  result.isTunnel = scheme == "connect";
  if (!result.isTunnel && scheme != "http" && scheme != "https") {
    return badUrl("its scheme is not http, https or connect");
  }
  result.scheme = scheme == "https" ? http::Scheme::kHttps : http::Scheme::kHttp;
  const std::string_view rest = url.substr(mark + 3);
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  result.authority = std::string(rest.substr(0, end));
  result.target = std::string(rest.substr(end));
  if (result.isTunnel && !result.target.empty()) return badUrl("a tunnel has no path");
  if (!result.isTunnel && !result.target.starts_with('/')) result.target.insert(0, "/");

  base::ChunkPool pool;
  base::Arena arena(pool);
  const auto normal = http::normalizeAuthority(arena, result.authority);
  if (!normal) return badUrl("it has no valid host");
  result.host = std::string(http::hostOf(*normal));
  const std::string_view port = portTextOf(result.authority);
  result.portGiven = !port.empty();
  result.port = result.scheme == http::Scheme::kHttps ? 443 : 80;
  if (result.portGiven) std::from_chars(port.data(), port.data() + port.size(), result.port);
  return result;
}

base::Result<ReadRequest> readRequest(const RequestInQuestion& asked, const UrlInQuestion& url, bool atProxy) {
  ReadRequest read;
  base::Arena& arena = read.message.arena;
  http::RawRequest raw;
  raw.method = url.isTunnel ? "CONNECT" : arena.copy(asked.method);
  if (base::Status added = addFields(asked.headers, arena, raw.fields); !added.ok()) return added.error();
  raw.version = saysGrpc(raw.fields) && !url.isTunnel ? http::Version::kHttp2 : http::Version::kHttp11;
  const bool hasHost = raw.fields.find("host") != nullptr;
  if (raw.version == http::Version::kHttp2) {
    raw.scheme = http::schemeName(url.scheme);
    if (!hasHost) raw.authority = arena.copy(url.authority);
  } else if (!hasHost) {
    raw.fields.add(arena, "host", arena.copy(url.authority));
  }
  raw.target = arena.copy(targetOf(url, atProxy && raw.version == http::Version::kHttp11));
  auto head = http::checkRequest(arena, raw, {url.scheme, atProxy});
  if (head) {
    read.message.head = *std::move(head);
  } else {
    read.refusal = std::move(head).error();
    read.message.head.methodText = raw.method;
    read.message.head.target = raw.target;
    read.message.head.version = raw.version;
  }
  return read;
}

}  // namespace sluice::control
