// Makes documents for tests of routes, as YAML, sends requests by such a route, and names the series that count them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {

/// Returns an HTTPRoute with these rules, at most 16, given as lines.
std::string routeOfRules(const std::string& rules, const std::string& name = "all");
/// Returns a reference to a Backend of the test; `more` are further members: ", weight: 1".
std::string backendRef(const std::string& name = "origin", const std::string& more = {});
/// Returns the backendRefs of a rule with one weighted backend, as a line.
std::string backendRefs(const std::string& more = {});

/// Returns a Service of the namespace test with this one port, "{name: web, port: 80}", and a ready endpoint of
/// 127.0.0.1, as documents.
std::string serviceOf(const std::string& name, std::uint16_t endpoint,
                      const std::string& port = "{name: web, port: 80}");
/// Returns a rule, as lines, by which requests below that path go to a Backend of the test.
std::string ruleOfPrefix(const std::string& path, const std::string& backend);

/// Returns head and body of curl's answer; `more` are further options of curl.
std::string ask(const GatewayProcess& gateway, const std::string& target, const std::vector<std::string>& more = {});
/// Returns the status alone.
std::string statusOf(const GatewayProcess& gateway, const std::string& target,
                     const std::vector<std::string>& more = {});

/// Returns the series http_client_request_duration_seconds_count of attempts by that route.
std::string attemptsOf(const std::string& backend, const std::string& status, const std::string& error = {},
                       const std::string& method = "GET");

}  // namespace sluice::test
