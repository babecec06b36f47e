// Prints an explanation as JSON, for programs: `sluice explain -o json`, and the admin page /explain.
#pragma once

#include <string>

#include "proxy/control/explain/explanation.h"

namespace sluice::control {

/// Returns one object with the members request, listener, route, passedOver, backends, timeouts, retry, session,
/// answer, filters, processors and notes. `listener`, `route` and `answer` are null if there is none.
std::string explanationJson(const Explanation& explanation);

}  // namespace sluice::control
