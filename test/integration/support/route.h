// Documents that tests of routes are made of, as YAML, and what a request by such a route is asked with and counted as.
#pragma once

#include <string>
#include <vector>

#include "test/integration/support/gateway.h"

namespace sluice::test {

/// The HTTPRoute "all" with these rules, as lines.
std::string routeOfRules(const std::string& rules);
/// A Backend of the test; `more` are further members: ", weight: 1".
std::string backendRef(const std::string& name = "origin", const std::string& more = {});
/// The backendRefs of a rule of one share, as a line.
std::string backendRefs(const std::string& more = {});

/// A rule, as lines: what is asked for below that path goes to a Backend of the test.
std::string ruleOfPrefix(const std::string& path, const std::string& backend);

/// Head and body of curl's answer, with `more` of its options.
std::string ask(const Gateway& gateway, const std::string& target, const std::vector<std::string>& more = {});
/// The status alone.
std::string statusOf(const Gateway& gateway, const std::string& target, const std::vector<std::string>& more = {});

/// http_client_request_duration_seconds_count of attempts by that route.
std::string attemptsOf(const std::string& backend, const std::string& status, const std::string& error = {});

}  // namespace sluice::test
