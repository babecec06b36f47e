// The admin page /explain: how this gateway would handle a request, by the configuration that it serves. Main thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/explain/explained_request.h"
#include "proxy/server/admin/admin_page.h"

namespace sluice::server {

/// The longest query that is read.
inline constexpr std::size_t kMaxExplainQuery = 8 * 1024;

/// The query of the page.
struct ExplainQuery {
  control::RequestInQuestion request;
  bool forPeople = false;  // a text instead of JSON
};

/// Reads a query: url, method, header (which may be repeated), clientAddress, gateway and output (json or text),
/// encoded as forms are. An error (400) names the parameter.
base::Result<ExplainQuery> readExplainQuery(std::string_view query);
/// Writes such a query.
std::string writeExplainQuery(const ExplainQuery& query);

/// Returns the explanation, or 400 with a short reason.
AdminDocument explainPage(const control::CompiledConfiguration& served, std::string_view query);

}  // namespace sluice::server
