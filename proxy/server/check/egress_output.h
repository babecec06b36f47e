// The report of a check as text and as JSON.
#pragma once

#include <string>

#include "proxy/server/check/egress_report.h"

namespace sluice::server {

/// Returns a line for each address that was tried, the verdict, and the advice.
std::string egressText(const EgressReport& report);
/// Returns the report as a JSON document.
std::string egressJson(const EgressReport& report);

}  // namespace sluice::server
