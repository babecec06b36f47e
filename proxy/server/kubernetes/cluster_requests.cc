#include "proxy/server/kubernetes/cluster_requests.h"

#include <unistd.h>

#include <utility>

namespace sluice::server {

ClusterRequests::ClusterRequests(const std::string& kubeconfig)
    : log_(observe::LogLevel::kOff, clock_, observe::LineFile::over(STDERR_FILENO)),
      main_(clock_),
      shard_(metrics_),
      client_(accessOfPerson(kubeconfig), main_, shard_, log_) {}

base::Status ClusterRequests::run(const std::function<void()>& begin) {
  main_.setBeats(&client_.api());
  if (base::Status opened = client_.api().open(); !opened.ok()) return opened.error();
  main_.post([this, &begin] {
    main_.timers().set(*this, main_.now() + kPatience);
    begin();
  });
  main_.run();
  if (!error_.empty()) return base::Error::config("the API server at " + server() + " " + error_);
  return base::Done{};
}

void ClusterRequests::ask(kubernetes::ApiRequest request, Then then, kubernetes::ApiExchange::TakeItem take) {
  request.idle = kPatience;
  exchange_ = std::make_unique<kubernetes::ApiExchange>(
      client_.api(), request, std::move(take),
      [this, then = std::move(then)](base::Result<kubernetes::ApiAnswer>&& answer) {
        const std::unique_ptr<kubernetes::ApiExchange> exchange = std::move(exchange_);
        if (!answer.ok()) return end("cannot be reached: " + answer.error().detail);
        then(std::move(*answer));
      });
}

void ClusterRequests::end(std::string error) {
  error_ = std::move(error);
  exchange_.reset();
  client_.shutdown();
  main_.stop();
}

void ClusterRequests::onTimer() {
  end("has not answered within " + std::to_string(kPatience / std::chrono::seconds(1)) + " seconds");
}

}  // namespace sluice::server
