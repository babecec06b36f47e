// A FileSource reads the configuration from files and folders of YAML documents, and watches them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/load/text_cache.h"
#include "proxy/control/source.h"
#include "proxy/net/files/file_watch.h"
#include "proxy/net/worker.h"
#include "proxy/observe/log.h"

namespace sluice::control {

class FileSource final : public Source {
 public:
  /// References outlive it. `paths` are those of --config.
  FileSource(std::vector<std::string> paths, net::Worker& main, observe::Log& log);

  config::ObjectSet read(const base::Secret& key) override;
  void watch(Reloadable& reader) override;

 private:
  const std::vector<std::string> paths_;
  net::Worker& main_;
  observe::Log& log_;
  // Used by the loading thread alone.
  config::TextCache texts_;
  base::Secret key_;  // by which texts_ were read
  std::optional<net::FileWatch> watch_;
};

}  // namespace sluice::control
