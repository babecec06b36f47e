// What follows from the members of a Backend and of its plan: TLS, authority, identity.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/model/model.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// TLS of one port: its own, or that of the whole Backend.
const std::optional<config::BackendTls>& tlsOf(const config::Backend& backend, const config::BackendPort& port);
/// The hostname, with the port unless it is 443 with TLS or 80 without (RFC 9110 section 4.2).
std::string authorityOf(const routing::BackendPlan& plan);
/// Everything that makes two connections different: host, port, protocol, SNI, names, authorities, client certificate,
/// verification; of a Service which one it is, and not its endpoints. Two plans with equal identities may share
/// connections, whichever Backend they are from.
std::string identityOf(const routing::BackendPlan& plan);
/// BackendPlan::http11 of that plan, whose identity is set.
std::shared_ptr<const routing::BackendPlan> overHttp11(const routing::BackendPlan& plan);

/// The same destination, spoken to in HTTP/2 alone; nullptr if it was said to speak HTTP/1.1.
std::shared_ptr<const routing::BackendPlan> overHttp2(std::shared_ptr<const routing::BackendPlan> plan);

}  // namespace sluice::control
