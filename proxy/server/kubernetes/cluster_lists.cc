#include "proxy/server/kubernetes/cluster_lists.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "proxy/control/kubernetes/client/api_exchange.h"
#include "proxy/control/kubernetes/client/api_forms.h"
#include "proxy/control/kubernetes/client/api_path.h"
#include "proxy/processing/query_edit.h"
#include "proxy/server/kubernetes/cluster_client.h"

namespace sluice::server {
namespace {

constexpr int kListPage = 100;  // objects
constexpr int kHttpForbidden = 403;
constexpr int kHttpNotFound = 404;

/// Returns the path of what one namespace has of a collection.
std::string pathInNamespace(const std::string& path, const std::string& nameSpace) {
  const std::size_t resource = path.rfind('/');
  return path.substr(0, resource) + "/namespaces/" + nameSpace + path.substr(resource);
}

/// One reading. Everything happens on the thread that calls run().
class ListReading final : private net::Timer {
 public:
  ListReading(const std::string& kubeconfig, std::vector<ClusterCollection> collections)
      : collections_(std::move(collections)),
        log_(observe::LogLevel::kOff, clock_, observe::LineFile::over(STDERR_FILENO)),
        main_(clock_),
        shard_(metrics_),
        client_(kubeconfig, main_, shard_, log_) {}
  ~ListReading() override { cancel(); }
  ListReading(const ListReading&) = delete;
  ListReading& operator=(const ListReading&) = delete;

  base::Result<ClusterLists> run() {
    main_.setBeats(&client_.api());
    if (base::Status opened = client_.api().open(); !opened.ok()) return opened.error();
    lists_.server = client_.api().url();
    main_.post([this] {
      main_.timers().set(*this, main_.now() + ClusterLists::kPatience);
      next();
    });
    main_.run();
    if (!error_.empty()) return base::Error::config("the API server at " + lists_.server + " " + error_);
    return std::move(lists_);
  }

 private:
  void onTimer() override {
    end("has not answered within " + std::to_string(ClusterLists::kPatience / std::chrono::seconds(1)) + " seconds");
  }

  /// Begins with the next collection.
  void next() {
    if (lists_.each.size() == collections_.size()) return end("");
    lists_.each.emplace_back();
    version_ = 0;
    inNamespace_ = false;
    ask("");
  }

  const ClusterCollection& collection() const { return collections_[lists_.each.size() - 1]; }
  std::string path() const {
    const std::string& path = collection().paths[version_];
    return inNamespace_ ? pathInNamespace(path, client_.api().access().nameSpace) : path;
  }

  void ask(const std::string& continueToken) {
    control::ApiRequest request;
    request.path = path() + "?limit=" + std::to_string(kListPage);
    if (!collection().selector.empty()) request.path += "&" + collection().selector;
    if (!continueToken.empty()) request.path += "&continue=" + processing::encodeQuery(continueToken);
    request.idle = ClusterLists::kPatience;
    exchange_ = std::make_unique<control::ApiExchange>(
        client_.api(), request, [this](base::Result<control::ApiAnswer>&& answer) { take(std::move(answer)); });
  }

  void take(base::Result<control::ApiAnswer>&& answer) {
    if (!answer.ok()) return end("cannot be reached: " + answer.error().detail);
    if (answer->status == kHttpNotFound) return ++version_ < collection().paths.size() ? ask("") : next();
    if (answer->status == kHttpForbidden && collection().mayBeOwnNamespace && !std::exchange(inNamespace_, true)) {
      return ask("");
    }
    if (!answer->ok()) return end("refuses to list " + path() + ": " + answer->fault());
    if (answer->body.find("items") == nullptr) return end("has sent no list for " + path());
    std::string continueToken(control::textIn(control::valueIn(&answer->body, "metadata"), "continue"));
    for (content::Member& member : answer->body.members) {
      if (member.key != "items") continue;
      for (content::Value& item : member.value.items) lists_.each.back().push_back(std::move(item));
    }
    continueToken.empty() ? next() : ask(continueToken);
  }

  void end(std::string error) {
    error_ = std::move(error);
    exchange_.reset();
    client_.shutdown();
    main_.stop();
  }

  const std::vector<ClusterCollection> collections_;
  const base::SystemClock clock_;
  observe::Log log_;
  observe::MetricsRegistry metrics_;
  net::Worker main_;
  observe::MetricShard shard_;
  ClusterClient client_;
  std::unique_ptr<control::ApiExchange> exchange_;
  std::size_t version_ = 0;  // index of the collection's path
  bool inNamespace_ = false;
  ClusterLists lists_;
  std::string error_;
};

}  // namespace

base::Result<ClusterLists> readClusterLists(const std::string& kubeconfig, std::vector<ClusterCollection> collections) {
  return ListReading(kubeconfig, std::move(collections)).run();
}

}  // namespace sluice::server
