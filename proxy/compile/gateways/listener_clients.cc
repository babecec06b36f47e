#include "proxy/compile/gateways/listener_clients.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/model/client_traffic_policy.h"
#include "proxy/compile/gateways/tls_overlap.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/policies/gateway_identity.h"

namespace sluice::compile {
namespace {

/// Refuses every request at the listener because its policy cannot be served.
void refuseFor(Fault why, GatewayPlan& gateway, ListenerPlan& plan) {
  plan.closed = summary(why.reason, plan.clientPolicy->meta.title() + ": " + why.text());
  plan.clientPolicyFault = std::move(why);
  plan.worsen(ListenerState::kRefusing);
  gateway.closeFor(*plan.closed);
}

void takeClients(ListenerClients clients, GatewayPlan& gateway, ListenerPlan& plan) {
  plan.clients = std::move(clients.validation);
  plan.unresolved = both(plan.unresolved, clients.unresolved);
  if (clients.unaccepted) {
    if (!plan.unaccepted) plan.unaccepted = std::move(clients.unaccepted);
    plan.identities.clear();
    plan.worsen(ListenerState::kDown);
  }
  gateway.secrets.merge(clients.secrets);
  plan.clientPolicy = clients.policy;
  if (clients.policyFault) refuseFor(*std::move(clients.policyFault), gateway, plan);
}

/// Returns a listener of the same port that has a name of certificates in common and verifies its clients by other
/// rules; nullptr if there is none.
const ListenerPlan* rivalOf(const ListenerPlan& plan, const GatewayPlan& gateway) {
  const auto isRival = [&](const ListenerPlan& other) {
    return other.listener->port == plan.listener->port && other.clients != plan.clients && other.accepted() &&
           certificatesOverlap(plan, other);
  };
  const auto found = std::find_if(gateway.listeners.begin(), gateway.listeners.end(), isRival);
  return found == gateway.listeners.end() ? nullptr : &*found;
}

/// A handshake has a name and not a listener: where two listeners have a certificate for the same name, it cannot tell
/// by whose rules the client is verified. Those with a policy refuse all requests then, and ask for no certificate.
void refuseAmbiguous(GatewayPlan& gateway) {
  std::vector<std::pair<ListenerPlan*, std::string>> ambiguous;
  for (ListenerPlan& each : gateway.listeners) {
    if (each.clients == nullptr || each.clientPolicy == nullptr) continue;
    if (const ListenerPlan* rival = rivalOf(each, gateway)) ambiguous.emplace_back(&each, rival->listener->name);
  }
  for (const auto& [plan, rival] : ambiguous) {
    plan->clients = nullptr;
    refuseFor(summary(config::reason::kConflicted, "its certificates have a name in common with those of listener " +
                                                       rival + ", whose clients are verified in another way"),
              gateway, *plan);
  }
}

}  // namespace

void identifyCallers(const config::Model& model, ClientValidations& clients, GatewayPlan& plan) {
  EffectiveIdentity identity = identityOf(model, *plan.gateway);
  plan.identity = std::move(identity.terms);
  plan.kept = both(plan.kept, identity.wider);
  for (ListenerPlan& each : plan.listeners) {
    takeClients(clients.of(*plan.gateway, *each.listener, plan.identity), plan, each);
  }
  refuseAmbiguous(plan);
}

}  // namespace sluice::compile
