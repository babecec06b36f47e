// Judges the certificates that a configuration names at a time: which of them have expired, or will soon.
//
// These are pure functions. An expired certificate is a problem of the configuration and no reason to refuse it: what
// is served stays served, and peers that do not verify are not cut off.
#pragma once

#include <vector>

#include "config/ground/problem.h"
#include "proxy/control/configuration/named_certificates.h"

namespace sluice::control {

/// A certificate is warned of so long before it expires; one that is valid for three days at most, in the last third of
/// its validity.
inline constexpr base::Duration kExpirySoon = std::chrono::hours(24 * 14);

/// Returns the problem of a certificate at `now`; no message if there is none. It is an error if the certificate cannot
/// be used now: it is not valid, or none of a bundle of authorities is. Other certificates of a file that are not
/// valid, and those that expire soon, are warned of.
config::Problem certificateProblem(const NamedCertificate& certificate, base::WallTime now);
/// Returns the problems of all of them.
config::Problems certificateProblems(const std::vector<NamedCertificate>& certificates, base::WallTime now);
/// Returns the first time after `now` at which the result may be another one; the last representable time if it never
/// is.
base::WallTime nextCertificateChange(const std::vector<NamedCertificate>& certificates, base::WallTime now);

}  // namespace sluice::control
