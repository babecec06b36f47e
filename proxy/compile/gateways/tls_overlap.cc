#include "proxy/compile/gateways/tls_overlap.h"

#include <algorithm>

#include "proxy/routing/table/hostname.h"

namespace sluice::compile {
namespace {

std::vector<std::string> certificateNames(const ListenerPlan& plan) {
  std::vector<std::string> names;
  for (const routing::ListenerIdentity& identity : plan.identities) {
    const std::vector<std::string>& more = identity.certificate->dnsNames();
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

}  // namespace

bool certificatesOverlap(const ListenerPlan& a, const ListenerPlan& b) {
  const std::vector<std::string> others = certificateNames(b);
  for (const std::string& mine : certificateNames(a)) {
    if (std::any_of(others.begin(), others.end(),
                    [&](const auto& name) { return routing::hostnamesIntersect(mine, name); })) {
      return true;
    }
  }
  return false;
}

std::optional<Fault> tlsOverlap(const ListenerPlan& plan, const std::vector<ListenerPlan>& all) {
  const config::Listener& mine = *plan.listener;
  std::optional<Fault> found;
  if (mine.protocol != config::ListenerProtocol::kHttps || !plan.accepted()) return found;
  const auto message = [&](const ListenerPlan& other, const char* what) {
    return std::string(what) + " of listener " + other.listener->name + " overlap with its own";
  };
  for (const ListenerPlan& each : all) {
    const config::Listener& other = *each.listener;
    if (&each == &plan || other.protocol != mine.protocol || other.port != mine.port || !each.accepted()) continue;
    if (certificatesOverlap(plan, each)) {
      return fault(config::reason::kOverlappingCertificates, mine.path, message(each, "certificates"));
    }
    if (!found && routing::hostnamesIntersect(mine.hostname, other.hostname)) {
      found = fault(config::reason::kOverlappingHostnames, mine.path, message(each, "hostnames"));
    }
  }
  return found;
}

}  // namespace sluice::compile
