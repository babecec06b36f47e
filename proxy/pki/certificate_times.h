// Reads only the times from certificates, for reports about those that expire.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/pki/validity.h"

namespace sluice::pki {

/// Returns the validity of each certificate, in the order of the file. Errors are those of readCertificates().
base::Result<std::vector<Validity>> certificateTimes(std::string_view pem);

}  // namespace sluice::pki
