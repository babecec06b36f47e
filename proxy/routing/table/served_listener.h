// The listener by which a request came in: its name in logs and metrics, and the steps through which it puts every
// request. Made by compile(). Code that uses it beyond the life of its snapshot shares it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proxy/base/terms/request_matching.h"
#include "proxy/processing/chain.h"

namespace sluice::routing {

struct ClientAuthentication;
struct ClientValidation;
struct EgressPolicies;
struct Rule;

struct ServedListener : std::enable_shared_from_this<ServedListener> {
  std::string gateway;  // "namespace/name"
  std::string object;   // its Gateway as events name it ("Gateway demo/egress")
  std::string section;
  std::uint16_t port = 0;
  bool forwardProxy = false;  // clients name the destinations of their requests
  base::RequestMatching matching = {};
  /// The steps that run before a route is matched; may be null.
  std::shared_ptr<const processing::Chain> preRouting;
  /// The steps of all other PayloadProcessors that target it or its Gateway; may be null.
  std::shared_ptr<const processing::Chain> chain;
  /// The policies for it, its Gateway and the class about where its requests may go; may be null.
  std::shared_ptr<const EgressPolicies> egress;
  /// How its clients prove who they are; null if they need not.
  std::shared_ptr<const ClientAuthentication> authentication;
  /// How the certificates of its clients are verified; null if they are not asked for one.
  std::shared_ptr<const ClientValidation> clients = nullptr;
  /// The field by which Backends learn the caller, in lower case; empty: none. Clients cannot set it.
  std::string identityHeader = {};
  /// Takes the requests that no rule matches, so that they pass the steps of the Gateway, too. May be null; such
  /// requests are then answered before these steps.
  std::shared_ptr<const Rule> rest;
};

}  // namespace sluice::routing
