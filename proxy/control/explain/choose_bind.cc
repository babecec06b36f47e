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

/// Names the listeners, the first of them if there are many.
std::string listed(const Binds& binds) {
  constexpr std::size_t kMostNamed = 20;
  std::string text;
  std::size_t count = 0;
  for (const routing::Bind* bind : binds) {
    for (const routing::ListenerOfTable& each : routing::listenersOf(routing::routesOf(bind->service))) {
      if (++count > kMostNamed) continue;
      text += count == 1 ? "" : ", ";
      text += each.listener->gateway + " " + each.listener->section + " (" + (bind->tls ? "https" : "http") +
              ", port " + std::to_string(bind->port) + (each.hostname.empty() ? "" : ", " + each.hostname) + ")";
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

bool isForwardProxy(const routing::Bind& bind) { return std::get<routing::HttpService>(bind.service).forwardProxy; }

}  // namespace

base::Result<const routing::Bind*> chooseBind(const routing::Snapshot& snapshot, const UrlInQuestion& url,
                                              std::string_view gateway) {
  const Binds all = distinctBinds(snapshot);
  Binds fitting = those(all, [&](const routing::Bind& bind) { return gateway.empty() || isOf(bind, gateway); });
  if (fitting.empty() && !gateway.empty()) return noListener("of Gateway " + std::string(gateway) + " is served", all);
  const Binds ofGateway = fitting;
  if (url.isTunnel) {
    fitting = those(fitting, isForwardProxy);
    if (fitting.empty()) return noListener("is a forward proxy", ofGateway);
  } else {
    const bool tls = url.scheme == http::Scheme::kHttps;
    fitting = those(fitting, [&](const routing::Bind& bind) { return bind.tls == tls; });
    if (fitting.empty()) return noListener(tls ? "speaks https" : "speaks http", ofGateway);
    const Binds ofPort = those(fitting, [&](const routing::Bind& bind) { return bind.port == url.port; });
    if (!ofPort.empty() || url.portGiven) fitting = ofPort;
    if (fitting.empty()) return noListener("has port " + std::to_string(url.port), ofGateway);
  }
  if (fitting.size() > 1) {
    const Binds ofHost = those(fitting, [&](const routing::Bind& bind) {
      return routing::routesOf(bind.service).index().listenerOf(url.host) != nullptr;
    });
    if (!ofHost.empty()) fitting = ofHost;
  }
  if (fitting.size() == 1) return fitting.front();
  return base::Error::badRequest(
      400, "several listeners fit: " + listed(fitting) + "; name the Gateway, or the port in the URL");
}

}  // namespace sluice::control
