#include "proxy/server/kubernetes/rollback_command.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/revisions/egress_revision.h"
#include "proxy/processing/query_edit.h"
#include "proxy/server/commands/output_format.h"
#include "proxy/server/kubernetes/cluster_requests.h"
#include "proxy/server/kubernetes/rollback_choice.h"

namespace sluice::server {
namespace {

constexpr int kRevisionsOfPage = 10;

/// One rollback. It activates the requested revision before it deactivates others, so that replicas do not serve the
/// newest objects in between.
class Rollback {
 public:
  Rollback(const std::string& kubeconfig, const RollbackOptions& options)
      : options_(options),
        path_(kubernetes::egressRevisionsPath(options.gateway.substr(0, options.gateway.find('/')))),
        requests_(kubeconfig) {}

  /// The error has the reason.
  base::Result<RollbackChoice> run() {
    if (base::Status done = requests_.run([this] { list(""); }); !done.ok()) return done.error();
    if (!choice_.ok()) return choice_.error();
    return std::move(choice_);
  }

 private:
  /// Reads a page of the list, and all following ones.
  void list(const std::string& continueToken) {
    kubernetes::ApiRequest request;
    request.path = path_ + "?limit=" + std::to_string(kRevisionsOfPage);
    if (!continueToken.empty()) request.path += "&continue=" + processing::encodeQuery(continueToken);
    // The cells have all that is needed. The objects themselves may be large, and others may write large fields into
    // them.
    request.accept = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";
    requests_.ask(std::move(request), [this](kubernetes::ApiAnswer&& answer) {
      if (!answer.ok()) return requests_.end("refuses to list " + path_ + ": " + answer.fault());
      if (!answer.body.isMap()) return requests_.end("has sent no list for " + path_);
      const std::vector<ListedRevision> page = readRevisionTable(answer.body);
      all_.insert(all_.end(), page.begin(), page.end());
      const std::string more(kubernetes::textIn(kubernetes::valueIn(&answer.body, "metadata"), "continue"));
      more.empty() ? choose() : list(more);
    });
  }

  void choose() {
    choice_ = chooseRevision(all_, options_);
    if (choice_.ok()) {
      if (!choice_->activate.empty()) changes_.emplace_back(choice_->activate, true);
      for (const std::string& each : choice_->deactivate) changes_.emplace_back(each, false);
    }
    next();
  }

  void next() {
    if (changes_.empty()) return requests_.end();
    const auto [name, active] = changes_.front();
    changes_.pop_front();
    kubernetes::ApiRequest request;
    request.method = http::Method::kPatch;
    request.path = path_ + "/" + name;
    request.contentType = "application/merge-patch+json";
    request.body = std::string(R"({"spec":{"active":)") + (active ? "true" : "false") + "}}";
    requests_.ask(std::move(request), [this, name = name](kubernetes::ApiAnswer&& answer) {
      if (!answer.ok()) return requests_.end("refuses to change EgressRevision " + name + ": " + answer.fault());
      next();
    });
  }

  const RollbackOptions& options_;
  const std::string path_;
  ClusterRequests requests_;
  std::vector<ListedRevision> all_;
  base::Result<RollbackChoice> choice_ = RollbackChoice{};
  std::deque<std::pair<std::string, bool>> changes_;
};

}  // namespace

int rollBack(const std::string& kubeconfig, const RollbackOptions& options) {
  const base::Result<RollbackChoice> done = Rollback(kubeconfig, options).run();
  if (!done.ok()) return complain(done.error());
  const std::string gateway = "Gateway " + options.gateway;
  if (options.undo) {
    print("no EgressRevision of " + gateway + " is active any more, so its replicas serve the newest objects\n");
  } else {
    print("EgressRevision " + done->activate + " is active: the replicas of " + gateway +
          " serve it as soon as they have read it, until you run\n  sluice revisions rollback --gateway " +
          options.gateway + " --undo\n");
  }
  return 0;
}

}  // namespace sluice::server
