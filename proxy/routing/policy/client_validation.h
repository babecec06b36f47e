// How a listener verifies the certificates of its clients, and what these say about the callers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/pki/client_rules.h"

namespace sluice::routing {

/// An immutable value. Listeners share it, and as long as its contents are the same, later configurations do too.
struct ClientValidation {
  std::shared_ptr<const pki::ClientRules> rules;  // never null
  bool required = true;                           // false: clients without a certificate are admitted
  /// AllowInsecureFallback: all clients are admitted, and a certificate that breaks the rules names no caller.
  bool insecureFallback = false;
  bool namesCallers = false;              // the source ClientCertificate is on
  std::vector<std::string> trustDomains;  // see base::CertificateSource
};

}  // namespace sluice::routing
