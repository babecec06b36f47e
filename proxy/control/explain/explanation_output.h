// Prints an explanation for `sluice explain` and the admin page /explain.
#pragma once

#include "proxy/content/output/output.h"
#include "proxy/control/explain/explanation.h"

namespace sluice::control {

/// The text has one fact a line, each behind a word that says what it is about. The value is a map with the members
/// request, listener, route, passedOver, refused, backends, timeouts, retry, session, answer, filters, processors and
/// notes. `listener`, `route` and `answer` are null if there is none, and so is `caller` of the request if nobody has
/// said who that is. `listener` has the member authentication if clients are authenticated, and clientCertificates if
/// they are asked for a certificate.
content::Output explanationOutput(const Explanation& explanation);

}  // namespace sluice::control
