// Describes in words the criteria of a match, and why an entry of a route table does not get a request. Header fields
// and query parameters are named, but their values are not shown.
#pragma once

#include <string>

#include "proxy/routing/table/route_survey.h"

namespace sluice::control {

/// Returns "PathPrefix /v1, method GET, header x-team, query version".
std::string matchInWords(const routing::Match& match);

/// Returns why the entry does not get the request. `serving` is the entry that gets it; nullptr if none does.
std::string reasonInWords(const routing::SurveyedEntry& entry, const routing::SurveyedEntry* serving,
                          const http::RequestHead& head);

}  // namespace sluice::control
