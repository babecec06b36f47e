// Prints an explanation for `sluice explain` and the admin page /explain.
#pragma once

#include "proxy/content/output/output.h"
#include "proxy/control/explain/explanation.h"

namespace sluice::control {

/// The text has one fact a line, each behind a word that says what it is about. The value is a map with the members
/// request, listener, route, passedOver, backends, timeouts, retry, session, answer, filters, processors and notes.
/// `listener`, `route` and `answer` are null if there is none. `listener` has the member authentication if clients are
/// authenticated.
content::Output explanationOutput(const Explanation& explanation);

}  // namespace sluice::control
