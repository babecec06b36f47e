#include "proxy/routing/policy/redirect.h"

#include "proxy/http/hygiene.h"

namespace sluice::routing {
namespace {

std::uint16_t portOf(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

}  // namespace

std::string_view Redirect::location(base::Arena& arena, const http::RequestHead& request,
                                    std::uint16_t listenerPort) const {
  const std::string_view target = path.rewritten(arena, request.target == "*" ? "/" : request.target);
  const std::string_view requested = http::hostOf(request.authority);
  if (hostname.empty() && requested.empty()) return target;
  const std::string_view itsScheme = scheme.empty() ? http::schemeName(request.scheme) : scheme;
  const std::string_view name = hostname.empty() ? requested : std::string_view(hostname);
  const bool bare = name.find(':') != std::string_view::npos && name.front() != '[';  // an IPv6 address
  std::string origin = std::string(itsScheme) + "://" + (bare ? "[" : "") + std::string(name) + (bare ? "]" : "");
  const std::uint16_t itsPort = port != 0 ? port : scheme.empty() ? listenerPort : portOf(scheme);
  if (itsPort != portOf(itsScheme)) origin += ":" + std::to_string(itsPort);
  return arena.concat(origin, target);
}

}  // namespace sluice::routing
