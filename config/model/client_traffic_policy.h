// Envoy Gateway's ClientTrafficPolicy, of which the certificates of clients are supported. It is a plain value; see
// model.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/finding.h"
#include "config/ground/object_meta.h"
#include "config/model/policy_model.h"
#include "proxy/pki/client_rules.h"
#include "proxy/pki/digest.h"
#include "proxy/pki/spki_pin.h"

namespace sluice::config {

/// The model of spec.tls.clientValidation: how the targeted listeners verify their clients.
struct ClientCertificateTerms {
  bool optional = false;                      // clients without a certificate are admitted
  std::vector<ObjectRef> caCertificateRefs;   // ConfigMaps or Secrets with ca.crt; 1 to 8
  std::vector<ObjectRef> revocationListRefs;  // ConfigMaps or Secrets with ca.crl; at most 8
  /// If there are keys or certificates, the client's own certificate must be one of `certificates` or have one of
  /// `keys`. If there are names, it must also have one of them.
  std::vector<pki::SpkiPin> keys;
  std::vector<pki::Sha256Digest> certificates;
  std::vector<pki::AdmittedName> names;  // an address is in its canonical form
  std::string path;                      // "spec.tls.clientValidation"
  Position position;
};

/// It targets Gateways and their listeners. `restricts` is true if any part of the policy restricts clients, which its
/// validation does too.
struct ClientTrafficPolicy : PolicyTargets {
  static constexpr std::string_view kKind = "ClientTrafficPolicy";  // in kEnvoyGroup
  ObjectMeta meta;
  /// Says why the policy closes its targets, or that it has no effect. Without a message, the validation is everything
  /// that the policy demands, and it can be served.
  Finding note;
  /// If it is present, nothing else in the policy restricts clients. So the policy is served on Gateways and listeners,
  /// and closes only targets of other kinds. If it is absent and the policy restricts, it closes all its targets. A
  /// policy that its schema refuses has none.
  std::optional<ClientCertificateTerms> validation;
};

}  // namespace sluice::config
