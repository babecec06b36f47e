// Lists the certificates that a configuration names: those of listeners, the clients' certificates for Backends, and
// the authorities that either side is verified against.
//
// These are pure values without a clock: report/certificate_problems.h judges them at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/model/model.h"
#include "proxy/pki/validity.h"

namespace sluice::control {

struct NamedCertificate {
  enum class Use : std::uint8_t {
    kListener,    // the chain that a Gateway shows to its clients, its own certificate first
    kClient,      // the chain that the gateway shows to a Backend, likewise
    kAuthorities  // a bundle of which any certificate verifies a peer
  };
  Use use = Use::kListener;
  std::string object;  // the one that has the reference, as problems name it: "Gateway demo/egress"
  std::string field;   // the path of the reference
  config::Position position;
  std::string source;                // "Secret demo/tls: tls.crt"
  std::vector<pki::Validity> times;  // in the order of the file; at least one
};

/// Returns them in the order of the objects. Those that are not permitted or cannot be read are left out, because
/// conditions report them.
std::vector<NamedCertificate> namedCertificates(const config::Model& model);

}  // namespace sluice::control
