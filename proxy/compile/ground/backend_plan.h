// Derives TLS, authority and identity from a Backend and its plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/model/model.h"
#include "proxy/routing/dynamic_targets.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Returns the ports that a reference with that port number refers to. Several endpoints may have it; those of the
/// lowest priority come first. Empty if there is no such port.
std::vector<const config::BackendPort*> portsOf(const config::Backend& backend, std::uint16_t port);
/// Returns the position of one of the Backend's ports.
inline std::size_t indexOf(const config::Backend& backend, const config::BackendPort& port) {
  return static_cast<std::size_t>(&port - backend.ports.data());
}
/// Returns the host of one port: its own, or else the Backend's.
const std::string& hostnameOf(const config::Backend& backend, const config::BackendPort& port);
/// Returns the TLS of one port: its own, or else the Backend's.
const std::optional<config::BackendTls>& tlsOf(const config::Backend& backend, const config::BackendPort& port);
/// Returns "host:port", with brackets around an address of IPv6.
std::string hostAndPort(const std::string& hostname, std::uint16_t port);
/// Returns the hostname, with the port unless it is 443 with TLS or 80 without (RFC 9110 section 4.2).
std::string authorityOf(const routing::BackendPlan& plan);
/// Returns BackendPlan::object for the object with that metadata: "Backend.sluice.dev/namespace/name".
std::string objectOf(const config::ObjectMeta& meta);
/// Returns true if requests to the Backend leave the cluster without TLS.
bool exposes(const routing::BackendPlan& backend);
bool isExposed(const routing::WeightedBackend& weighted);
/// Returns everything that distinguishes two connections: object, host, port, protocol, SNI, names, authorities, client
/// certificate, verification and the settings of policies. It ignores the endpoints of a Service.
std::string identityOf(const routing::BackendPlan& plan);
/// Returns `plan` with the endpoints of `other` in place of its own; `plan` itself if these are the same.
std::shared_ptr<const routing::BackendPlan> withEndpoints(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                          const routing::BackendPlan& other);
/// Makes BackendPlan::http11 of that plan, whose identity must be set.
std::shared_ptr<const routing::BackendPlan> overHttp11(const routing::BackendPlan& plan);

/// Makes BackendPlan::stream of that plan, whose identity must be set.
std::shared_ptr<const routing::BackendPlan> asStream(const routing::BackendPlan& plan);

/// Returns the plan with these settings of policies in place of its own. It has separate connections, but shares health
/// and limits with the plan without such settings (BackendPlan::countsAs).
std::shared_ptr<const routing::BackendPlan> governedPlan(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                         const routing::ConnectionSettings& settings);
/// Returns the plan of a Backend of type Dynamic from those of its ports, of which there is at least one. It has the
/// steps of the first port, and TLS only if all ports have.
std::shared_ptr<const routing::BackendPlan> dynamicPlan(
    routing::PolicyNeed need, std::vector<std::string> hostnames,
    const std::vector<std::shared_ptr<const routing::BackendPlan>>& ports);
/// Returns the plan of all destinations that clients of a forward proxy name and no route leads to. `authorities`
/// verify those of scheme https.
std::shared_ptr<const routing::BackendPlan> directPlan(const std::shared_ptr<const pki::TrustStore>& authorities);
/// Returns a plan that uses only HTTP/2 to the same destination; nullptr if the destination uses HTTP/1.1.
std::shared_ptr<const routing::BackendPlan> overHttp2(std::shared_ptr<const routing::BackendPlan> plan);

}  // namespace sluice::compile
