#include "proxy/server/explain_command.h"

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/explain/explain.h"
#include "proxy/control/explain/explained_backend.h"
#include "proxy/control/explain/explained_egress.h"
#include "proxy/control/explain/explanation_output.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/server/admin/explain_page.h"
#include "proxy/server/commands/admin_client.h"

namespace sluice::server {
namespace {

/// Resolves the names of the Backends as a worker would, and adds their addresses.
base::Status resolveBackends(control::Explanation& explanation, const routing::Snapshot& snapshot) {
  std::size_t open = 0;
  for (const control::ExplainedBackend& each : explanation.backends) open += each.unresolved ? 1 : 0;
  if (open == 0) return base::Done{};
  const base::SystemClock clock;
  net::Worker worker(clock);
  auto resolver = net::makeResolver(worker, snapshot.settings.dns);
  if (!resolver) return resolver.error();
  const auto answered = [&] {
    if (--open > 0) return;
    for (control::ExplainedBackend& backend : explanation.backends) {
      const auto* resolved = backend.unresolved ? (*resolver)->cached(backend.hostname, backend.dns) : nullptr;
      if (resolved != nullptr) control::addResolved(backend, *resolved, snapshot.addressGuard);
    }
    control::settleEgress(explanation);
    worker.stop();
  };
  worker.post([&] {
    for (const control::ExplainedBackend& each : explanation.backends) {
      if (each.unresolved) (*resolver)->resolve(each.hostname, each.dns, answered);
    }
  });
  worker.run();
  return base::Done{};
}

/// Asks a running gateway, which knows what it serves.
int printExplanationOf(const net::Address& admin, const Options& options) {
  const bool forPeople = options.output == OutputFormat::kText;
  const std::string query = writeExplainQuery({options.request, forPeople});
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
  const routing::Snapshot& snapshot = *read.compiled.snapshot;
  auto explanation = control::explain(snapshot, read.model, options.request);
  if (!explanation) return complain(explanation.error(), 2);
  if (options.resolve) {
    if (const base::Status resolved = resolveBackends(*explanation, snapshot); !resolved.ok()) {
      return complain(resolved.error());
    }
  }
  print(control::explanationOutput(*explanation), options.output);
  return 0;
}

}  // namespace sluice::server
