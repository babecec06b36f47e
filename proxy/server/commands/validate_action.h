// POST /validate: predicts the result if the running process got a configuration.
//
// It belongs to the main thread.
#pragma once

#include <optional>
#include <string>

#include "proxy/control/loading_thread.h"
#include "proxy/control/reloader.h"
#include "proxy/server/admin/admin_page.h"
#include "proxy/server/serving/serving.h"

namespace sluice::server {

class ValidateAction {
 public:
  /// All of them outlive it.
  ValidateAction(control::LoadingThread& loader, const control::Reloader& reloader, const Serving& serving)
      : loader_(loader), reloader_(reloader), serving_(serving) {}

  /// Answers with a verdict document. With the query live=true, the addresses and ports of the configuration are tried.
  void ask(AdminPost post, AdminAnswer answer);

 private:
  struct Posted {
    std::string text;
    AdminAnswer answer;
    bool live;  // its addresses and ports are still to be tried
  };
  void judge(compile::UnusablePlaces unusable);
  void take(control::LoadingThread::Judgement&& judgement);

  control::LoadingThread& loader_;
  const control::Reloader& reloader_;
  const Serving& serving_;
  std::optional<Posted> posted_;  // the configuration that is being judged
};

}  // namespace sluice::server
