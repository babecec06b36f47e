#include "proxy/server/explain_command.h"

#include <cstddef>
#include <cstdio>
#include <string>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/explain/explain.h"
#include "proxy/control/explain/explained_backend.h"
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

int fail(int code, const base::Error& error) {
  std::fprintf(stderr, "%s\n", error.detail.c_str());
  return code;
}

/// Asks a running gateway, which knows its served configuration.
int printExplanationOf(const net::Address& admin, const Options& options) {
  const std::string query = writeExplainQuery({options.request, options.output == OutputFormat::kText});
  const auto reply = askAdmin(admin, http::Method::kGet, "/explain?" + query);
  if (!reply) return fail(1, reply.error());
  if (reply->status != 200)
    return fail(reply->status == 400 ? 2 : 1, base::Error::config(reply->body.substr(0, reply->body.find('\n'))));
  print(options.output == OutputFormat::kText ? reply->body : inFormat(reply->body, options.output));
  return 0;
}

}  // namespace

int printExplanation(const Options& options, const processing::BuiltinTypes& types) {
  if (options.config.empty()) return printExplanationOf(options.admin, options);
  const control::CompiledConfiguration read = control::readConfiguration(options.config, types);
  for (const config::Problem& problem : read.problems) std::fprintf(stderr, "%s\n", config::render(problem).c_str());
  if (!read.usable()) return fail(1, base::Error::config("the configuration cannot be served"));
  const routing::Snapshot& snapshot = *read.compiled.snapshot;
  auto explanation = control::explain(snapshot, read.model, options.request);
  if (!explanation) return fail(2, explanation.error());
  if (options.resolve) {
    if (const base::Status resolved = resolveBackends(*explanation, snapshot); !resolved.ok()) {
      return fail(1, resolved.error());
    }
  }
  print(inFormat(control::explanationOutput(*explanation), options.output));
  return 0;
}

}  // namespace sluice::server
