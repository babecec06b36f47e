#include "proxy/routing/table/route_table.h"

#include <string>
#include <utility>

#include "proxy/http/hygiene.h"
#include "proxy/routing/table/route_index.h"
#include "proxy/routing/table/served_listener.h"

namespace sluice::routing {
namespace {

/// Finds the listener of a request, and the rule there that find(HostRules, path) returns.
template <typename Find>
RouteMatch matchIn(const RouteIndex& index, const http::RequestHead& head, std::string_view serverName, Find&& find) {
  const std::string_view host = http::hostOf(head.authority);
  RouteMatch result;
  result.reason = "no listener for this hostname";
  index.listeners.visit(host, [&](const ListenerRoutes& listener) {
    if (!serverName.empty() && serverName != host && index.listenerOf(serverName) != &listener) {
      result.reason = "the connection was opened for another hostname";
      result.misdirected = true;
      return true;
    }
    result.listener = listener.name.get();
    result.reason = "no route for this hostname";
    std::string room;
    const std::string_view path = listener.matchedPath(head.path(), room);
    listener.hosts.visit(host, [&](const std::shared_ptr<const HostRules>& rules) {
      result.reason = "no rule for this request";
      result.rule = find(*rules, path);
      return result.rule != nullptr;
    });
    if (result.rule == nullptr && listener.name != nullptr) result.rule = listener.name->rest.get();
    // The listener with the most specific hostname owns the request, whether or not one of its routes takes it.
    return true;
  });
  if (result.rule != nullptr) result.reason = "";
  return result;
}

}  // namespace

RouteTable::RouteTable() : index_(std::make_shared<const RouteIndex>()) {}
RouteTable::RouteTable(std::shared_ptr<const RouteIndex> index)
    : index_(std::move(index)), stripsPorts_(index_->stripsPorts) {}

RouteMatch RouteTable::match(const http::RequestHead& head, std::string_view serverName) const {
  return matchIn(*index_, head, serverName,
                 [&](const HostRules& rules, std::string_view path) { return rules.find(head, path); });
}

RouteMatch RouteTable::matchConnect(const http::RequestHead& head) const {
  return matchIn(*index_, head, {},
                 [&](const HostRules& rules, std::string_view path) { return rules.findConnect(head, path); });
}

bool RouteTable::stripsPort(std::string_view authority) const {
  const ListenerRoutes* listener = index_->listenerOf(http::hostOf(authority));
  return listener != nullptr && listener->name->matching.stripAuthorityPort;
}

http::SlashRules RouteTable::slashRules(std::string_view authority) const {
  const std::string_view host = http::hostOf(authority);
  const ListenerRoutes* listener = index_->listenerOf(host);
  bool byPath = false;
  if (listener != nullptr) {
    listener->hosts.visit(host, [&](const std::shared_ptr<const HostRules>& rules) {
      byPath = rules->selectByPath();
      return byPath;
    });
  }
  return byPath ? index_->slashesOfPathRules : index_->otherSlashes;
}

}  // namespace sluice::routing
