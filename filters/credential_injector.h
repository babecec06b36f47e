// gateway.networking.k8s.io/CredentialInjector:v1: a request carries the gateway's credential instead of the client's.
//
// config: {secretRef: {name, namespace, key}, header, prefix, queryParam, basic, allowPlaintext}. With secretRef alone
// the Secret's only key goes into "Authorization: Bearer". `basic` takes the Secret's username and password (RFC
// 7617).
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType credentialInjector();

}  // namespace sluice::filters
