#include "proxy/server/kubernetes/cluster_lists.h"

#include <utility>

#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/processing/query_edit.h"
#include "proxy/server/kubernetes/cluster_requests.h"

namespace sluice::server {
namespace {

constexpr int kListPage = 100;  // objects
constexpr int kHttpForbidden = 403;
constexpr int kHttpNotFound = 404;

/// Returns the path of a collection in one namespace.
std::string pathInNamespace(const std::string& path, const std::string& nameSpace) {
  const std::size_t resource = path.rfind('/');
  return path.substr(0, resource) + "/namespaces/" + nameSpace + path.substr(resource);
}

/// One reading of all lists.
class ListReading {
 public:
  ListReading(const std::string& kubeconfig, std::vector<ClusterCollection> collections)
      : collections_(std::move(collections)), requests_(kubeconfig) {}

  base::Result<ClusterLists> run() {
    if (base::Status read = requests_.run([this] { next(); }); !read.ok()) return read.error();
    lists_.server = requests_.server();
    return std::move(lists_);
  }

 private:
  /// Begins with the next collection.
  void next() {
    if (lists_.each.size() == collections_.size()) return requests_.end();
    lists_.each.emplace_back();
    version_ = 0;
    inNamespace_ = false;
    ask("");
  }

  const ClusterCollection& collection() const { return collections_[lists_.each.size() - 1]; }
  std::string path() const {
    const std::string& path = collection().paths[version_];
    return inNamespace_ ? pathInNamespace(path, requests_.nameSpace()) : path;
  }

  void ask(const std::string& continueToken) {
    kubernetes::ApiRequest request;
    request.path = path() + "?limit=" + std::to_string(kListPage);
    if (!collection().selector.empty()) request.path += "&" + collection().selector;
    if (!continueToken.empty()) request.path += "&continue=" + processing::encodeQuery(continueToken);
    requests_.ask(
        std::move(request), [this](kubernetes::ApiAnswer&& answer) { endPage(answer); },
        [this](content::Value&& item) { lists_.each.back().push_back(std::move(item)); });
  }

  void endPage(const kubernetes::ApiAnswer& answer) {
    if (answer.status == kHttpNotFound) return ++version_ < collection().paths.size() ? ask("") : next();
    if (answer.status == kHttpForbidden && collection().mayBeOwnNamespace && !std::exchange(inNamespace_, true)) {
      return ask("");
    }
    if (answer.status == kHttpForbidden && collection().optional) {
      lists_.refused.push_back(path());
      return next();
    }
    if (!answer.ok()) return requests_.end("refuses to list " + path() + ": " + answer.fault());
    if (kubernetes::itemsOf(answer.body) == nullptr) return requests_.end("has sent no list for " + path());
    const std::string continueToken(kubernetes::textIn(kubernetes::valueIn(&answer.body, "metadata"), "continue"));
    continueToken.empty() ? next() : ask(continueToken);
  }

  const std::vector<ClusterCollection> collections_;
  ClusterRequests requests_;
  std::size_t version_ = 0;  // index of the collection's path
  bool inNamespace_ = false;
  ClusterLists lists_;
};

}  // namespace

base::Result<ClusterLists> readClusterLists(const std::string& kubeconfig, std::vector<ClusterCollection> collections) {
  return ListReading(kubeconfig, std::move(collections)).run();
}

}  // namespace sluice::server
