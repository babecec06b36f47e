#include "proxy/server/explain_command.h"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/explain/explain.h"
#include "proxy/control/explain/explanation_output.h"
#include "proxy/control/explain/refused_routes.h"
#include "proxy/net/worker.h"
#include "proxy/server/admin/backend_lookup.h"
#include "proxy/server/admin/explain_page.h"
#include "proxy/server/commands/admin_client.h"

namespace sluice::server {
namespace {

/// Resolves the names of the Backends as a worker would, and adds their addresses.
base::Result<control::Explanation> resolved(control::Explanation explanation,
                                            const std::shared_ptr<const routing::Snapshot>& snapshot) {
  const base::SystemClock clock;
  net::Worker worker(clock);
  BackendLookup lookup(std::move(explanation), snapshot);
  base::Status begun = base::Done{};
  worker.post([&] {
    begun = lookup.begin(worker, [&worker] { worker.stop(); });
    if (!begun.ok()) worker.stop();
  });
  worker.run();
  if (!begun.ok()) return begun.error();
  return lookup.explanation();
}

/// Asks a running gateway, which knows what it serves.
int printExplanationOf(const net::Address& admin, const Options& options) {
  const bool forPeople = options.output == OutputFormat::kText;
  const std::string query = writeExplainQuery({options.request, forPeople, options.resolve});
  base::Result<std::string> page = askAdmin(admin, http::Method::kGet, "/explain?" + query);
  if (!page) return complain(page.error(), page.error().status == 400 ? 2 : 1);
  base::Result<content::Value> value = forPeople ? content::Value() : readAdminPage(*page);
  if (!value) return complain(value.error());
  print(content::Output{std::move(*value), std::move(*page)}, options.output);
  return 0;
}

}  // namespace

int printExplanation(const Options& options, const processing::BuiltinTypes& types) {
  if (options.config.empty()) return printExplanationOf(options.admin, options);
  const control::CompiledConfiguration read = control::readConfiguration(options.config, types);
  for (const config::Problem& problem : read.problems) std::fprintf(stderr, "%s\n", config::render(problem).c_str());
  if (!read.usable()) return complain(base::Error::config("the configuration cannot be served"));
  auto explanation = control::explain(*read.compiled.snapshot, read.model, options.request);
  if (!explanation) return complain(explanation.error(), 2);
  control::addRefusedRoutes(read.model, read.compiled.statuses, *explanation);
  if (options.resolve) explanation = resolved(std::move(*explanation), read.compiled.snapshot);
  if (!explanation) return complain(explanation.error());
  print(control::explanationOutput(*explanation), options.output);
  return 0;
}

}  // namespace sluice::server
