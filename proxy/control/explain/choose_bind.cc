#include "proxy/control/explain/choose_bind.h"

#include <algorithm>
#include <vector>

#include "proxy/routing/table/route_index.h"
#include "proxy/routing/table/route_survey.h"

namespace sluice::control {
namespace {

using Binds = std::vector<const routing::Bind*>;

/// Returns the sockets, with only one of those that differ by their address alone.
Binds distinctBinds(const routing::Snapshot& snapshot) {
  Binds binds;
  for (const routing::Bind& bind : snapshot.binds) {
    const auto* index = &routing::routesOf(bind.service).index();
    const bool known = std::any_of(binds.begin(), binds.end(), [&](const routing::Bind* each) {
      return &routing::routesOf(each->service).index() == index;
    });
    if (!known) binds.push_back(&bind);
  }
  return binds;
}

bool isForwardProxy(const routing::Bind& bind) { return routing::isForwardProxy(bind.service); }
bool isOrdinary(const routing::Bind& bind) { return !isForwardProxy(bind); }

/// Names the listeners, the first of them if there are many.
std::string listed(const Binds& binds) {
  constexpr std::size_t kMostNamed = 20;
  std::string text;
  std::size_t count = 0;
  for (const routing::Bind* bind : binds) {
    for (const routing::ListenerOfTable& each : routing::listenersOf(routing::routesOf(bind->service))) {
      if (++count > kMostNamed) continue;
      text += count == 1 ? "" : ", ";
      text += each.listener->gateway + " " + each.listener->section + " (" +
              (isForwardProxy(*bind) ? "forward proxy, " : "") + (bind->tls ? "https" : "http") + ", port " +
              std::to_string(bind->port) + (each.hostname.empty() ? "" : ", " + each.hostname) + ")";
    }
  }
  if (count > kMostNamed) text += " and " + std::to_string(count - kMostNamed) + " others";
  return text.empty() ? "none" : text;
}

bool isOf(const routing::Bind& bind, std::string_view gateway) {
  const auto listeners = routing::listenersOf(routing::routesOf(bind.service));
  return std::any_of(listeners.begin(), listeners.end(),
                     [&](const routing::ListenerOfTable& each) { return each.listener->gateway == gateway; });
}

template <typename Condition>
Binds those(const Binds& binds, Condition&& condition) {
  Binds result;
  std::copy_if(binds.begin(), binds.end(), std::back_inserter(result),
               [&](const routing::Bind* bind) { return condition(*bind); });
  return result;
}

base::Error noListener(std::string_view what, const Binds& binds) {
  return base::Error::badRequest(400, "no listener " + std::string(what) + "; there are: " + listed(binds));
}

bool hasHost(const routing::Bind& bind, std::string_view host) {
  return routing::routesOf(bind.service).index().listenerOf(host) != nullptr;
}

/// Returns the sockets of `binds` to which a client connects for the URL.
base::Result<Binds> atUrl(const Binds& binds, const UrlInQuestion& url, const Binds& ofGateway) {
  const bool tls = url.scheme == http::Scheme::kHttps;
  Binds fitting = those(binds, [&](const routing::Bind& bind) { return bind.tls == tls; });
  if (fitting.empty()) return noListener(tls ? "speaks https" : "speaks http", ofGateway);
  const Binds ofPort = those(fitting, [&](const routing::Bind& bind) { return bind.port == url.port; });
  if (!ofPort.empty() || url.portGiven) fitting = ofPort;
  if (fitting.empty()) return noListener("has port " + std::to_string(url.port), ofGateway);
  return fitting;
}

/// Returns the sockets at which a request for the URL may arrive: those at its port, or else those that have its host,
/// or else forward proxies, whose clients name other ports than theirs.
base::Result<Binds> fittingBinds(const Binds& ofGateway, const UrlInQuestion& url) {
  Binds proxies = those(ofGateway, isForwardProxy);
  if (url.isTunnel) {
    if (proxies.empty()) return noListener("is a forward proxy", ofGateway);
    return proxies;
  }
  auto fitting = atUrl(those(ofGateway, isOrdinary), url, ofGateway);
  const auto isMeant = [&](const routing::Bind* bind) { return bind->port == url.port || hasHost(*bind, url.host); };
  const bool meant = fitting.ok() && std::any_of(fitting->begin(), fitting->end(), isMeant);
  if (!meant && !proxies.empty()) return proxies;
  return fitting;
}

}  // namespace

base::Result<const routing::Bind*> chooseBind(const routing::Snapshot& snapshot, const UrlInQuestion& url,
                                              std::string_view gateway) {
  const Binds all = distinctBinds(snapshot);
  const Binds ofGateway = those(all, [&](const routing::Bind& bind) { return gateway.empty() || isOf(bind, gateway); });
  if (ofGateway.empty() && !gateway.empty()) {
    return noListener("of Gateway " + std::string(gateway) + " is served", all);
  }
  auto found = fittingBinds(ofGateway, url);
  if (!found) return found.error();
  Binds fitting = *std::move(found);
  if (fitting.size() > 1) {
    const Binds ofHost = those(fitting, [&](const routing::Bind& bind) { return hasHost(bind, url.host); });
    if (!ofHost.empty()) fitting = ofHost;
  }
  if (fitting.size() == 1) return fitting.front();
  return base::Error::badRequest(
      400, "several listeners fit: " + listed(fitting) + "; name the Gateway, or the port in the URL");
}

}  // namespace sluice::control
