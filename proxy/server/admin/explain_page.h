// The admin page /explain: how this gateway would handle a request, by the configuration that it serves, and by what it
// knows of its Backends. Main thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/explain/explained_request.h"
#include "proxy/net/worker.h"
#include "proxy/server/admin/admin_page.h"
#include "proxy/server/admin/backend_lookup.h"

namespace sluice::server {

/// The longest query that is read.
inline constexpr std::size_t kMaxExplainQuery = 8 * 1024;

/// The query of the page.
struct ExplainQuery {
  control::RequestInQuestion request;
  bool forPeople = false;  // a text instead of JSON
  bool resolve = false;    // the names of Backends are looked up
};

/// Reads a query: url, method, header (which may be repeated), clientAddress, as, principal, assurance, sni, gateway,
/// resolve (true or false) and output (json or text), encoded as forms are. An error (400) names the parameter.
base::Result<ExplainQuery> readExplainQuery(std::string_view query);
/// Writes such a query.
std::string writeExplainQuery(const ExplainQuery& query);

/// Answers with explanations, or with 400 and a short reason.
class ExplainAnswers {
 public:
  /// The requests that may look up names at a time; others get 503.
  static constexpr std::size_t kMostLookups = 8;

  /// `main` outlives it.
  explicit ExplainAnswers(net::Worker& main) : main_(main) {}

  void ask(const control::CompiledConfiguration& served, std::string_view query, AdminAnswer answer);
  /// Drops all lookups, inside a Turn, before the loop ends.
  void shutdown() { waiting_.clear(); }

 private:
  struct WaitingAnswer {
    std::unique_ptr<BackendLookup> lookup;
    AdminAnswer answer;
    bool forPeople;
  };
  void lookUp(WaitingAnswer waiting);
  void finish(std::uint64_t number);

  net::Worker& main_;
  std::map<std::uint64_t, WaitingAnswer> waiting_;
  std::uint64_t asked_ = 0;
};

}  // namespace sluice::server
