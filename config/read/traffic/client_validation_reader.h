// Reads tls.clientValidation of Envoy Gateway's ClientTrafficPolicy: how listeners verify the certificates of clients.
#pragma once

#include <vector>

#include "config/fields/field_reader.h"
#include "config/ground/finding.h"
#include "config/model/client_traffic_policy.h"

namespace sluice::config {

/// Reads the fields that can be served exactly. The others are added to `unserved`, with what they do as the message.
void readClientValidation(FieldReader& reader, ClientCertificateTerms& terms, std::vector<Finding>& unserved);

}  // namespace sluice::config
