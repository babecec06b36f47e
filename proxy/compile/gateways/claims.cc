#include "proxy/compile/gateways/claims.h"

namespace sluice::compile {
namespace {

/// Calls visit(domain) for each parent domain of the hostname, the longest first, until it returns true.
template <typename Visit>
bool eachDomain(std::string_view hostname, Visit visit) {
  for (std::size_t dot = hostname.find('.'); dot != std::string_view::npos; dot = hostname.find('.', dot + 1)) {
    if (visit(hostname.substr(dot + 1))) return true;
  }
  return false;
}

const config::Route* routeOf(const routing::TextMap<const config::Route*>& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

/// Most names exist already, and a node made only to find that out would cost more than the lookup.
void addOnce(routing::TextMap<const config::Route*>& map, std::string_view key, const config::Route& owner) {
  if (!map.contains(key)) map.emplace(key, &owner);
}

}  // namespace

void HostnameClaims::add(std::string_view hostname, const config::Route& owner) {
  if (first_ == nullptr) first_ = &owner;
  addOnce(names_, hostname, owner);
  eachDomain(hostname, [&](std::string_view domain) {
    addOnce(below_, domain, owner);
    return false;
  });
}

const config::Route* HostnameClaims::meets(std::string_view hostname) const {
  if (hostname.empty()) return first_;
  if (const config::Route* all = routeOf(names_, "")) return all;
  if (const config::Route* same = routeOf(names_, hostname)) return same;
  if (hostname.starts_with("*.")) {
    if (const config::Route* inside = routeOf(below_, hostname.substr(2))) return inside;
    hostname.remove_prefix(2);
  }
  const config::Route* found = nullptr;
  eachDomain(hostname, [&](std::string_view domain) {
    found = routeOf(names_, "*." + std::string(domain));
    return found != nullptr;
  });
  return found;
}

const config::Route* Claims::rival(std::string_view kind, const std::vector<std::string>& hostnames) const {
  const HostnameClaims& others = kind == config::GrpcRoute::kKind ? ofHttp_ : ofGrpc_;
  if (others.empty()) return nullptr;
  for (const std::string& hostname : hostnames) {
    if (const config::Route* other = others.meets(hostname)) return other;
  }
  return nullptr;
}

void Claims::addHostnames(std::string_view kind, const std::vector<std::string>& hostnames,
                          const config::Route& owner) {
  HostnameClaims& own = kind == config::GrpcRoute::kKind ? ofGrpc_ : ofHttp_;
  for (const std::string& hostname : hostnames) own.add(hostname, owner);
}

const config::Route* Claims::addMatch(std::string_view hostname, std::uint32_t match, const config::Route& owner) {
  auto named = matches_.find(hostname);
  if (named == matches_.end()) named = matches_.try_emplace(std::string(hostname)).first;
  const auto [claimed, isNew] = named->second.emplace(match, &owner);
  return isNew || claimed->second == &owner ? nullptr : claimed->second;
}

}  // namespace sluice::compile
