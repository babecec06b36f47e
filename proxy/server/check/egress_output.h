// The report of a check as people and programs read it.
#pragma once

#include <string>

#include "proxy/server/check/egress_report.h"

namespace sluice::server {

/// Returns a line for each address that was tried, the verdict, and what to do.
std::string egressText(const EgressReport& report);
/// Returns the same as a JSON document.
std::string egressJson(const EgressReport& report);

}  // namespace sluice::server
