#include "proxy/routing/table/route_table_builder.h"

#include <utility>

#include "proxy/routing/table/route_index.h"

namespace sluice::routing {
namespace {

http::SlashRules slashRules(const base::PathSettings& paths, bool matchByPath) {
  http::SlashRules rules;
  switch (paths.encodedSlash) {
    case base::EncodedSlash::kAuto:
      rules.encoded = matchByPath ? http::EncodedSlash::kReject : http::EncodedSlash::kKeep;
      break;
    case base::EncodedSlash::kKeep:
      rules.encoded = http::EncodedSlash::kKeep;
      break;
    case base::EncodedSlash::kReject:
      rules.encoded = http::EncodedSlash::kReject;
      break;
    case base::EncodedSlash::kDecode:
      rules.encoded = http::EncodedSlash::kDecode;
      break;
  }
  rules.merge =
      paths.mergeSlashes == base::MergeSlashes::kAuto ? matchByPath : paths.mergeSlashes == base::MergeSlashes::kTrue;
  rules.forwardsNormalForm =
      paths.encodedSlash == base::EncodedSlash::kDecode || paths.mergeSlashes == base::MergeSlashes::kTrue;
  return rules;
}

}  // namespace

void RouteTableBuilder::addListener(std::string_view hostname, std::shared_ptr<const ServedListener> name) {
  ListenerDraft& listener = listeners_.slot(hostname);
  if (name != nullptr) listener.name = std::move(name);
}

void RouteTableBuilder::add(std::string_view listenerHostname, std::string_view hostname,
                            std::shared_ptr<const RouteCandidates> route) {
  listeners_.slot(listenerHostname).hosts.slot(hostname).push_back(std::move(route));
}

RouteTable RouteTableBuilder::build() {
  auto index = std::make_shared<RouteIndex>();
  index->slashesOfPathRules = slashRules(paths_, true);
  index->otherSlashes = slashRules(paths_, false);
  std::exchange(listeners_, {}).forEach([&](const std::string& pattern, ListenerDraft& draft) {
    ListenerRoutes& listener = index->listeners.slot(pattern);
    if (draft.name != nullptr) listener.name = std::move(draft.name);
    index->stripsPorts = index->stripsPorts || listener.name->matching.stripAuthorityPort;
    draft.hosts.forEach(
        [&](const std::string& hostname, const auto& routes) { listener.hosts.slot(hostname) = rules_.of(routes); });
  });
  return RouteTable(std::move(index));
}

}  // namespace sluice::routing
