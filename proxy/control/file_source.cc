#include "proxy/control/file_source.h"

#include <utility>

#include "config/load/source_files.h"

namespace sluice::control {

FileSource::FileSource(std::vector<std::string> paths, net::Worker& main, observe::Log& log)
    : paths_(std::move(paths)), main_(main), log_(log) {}

config::ObjectSet FileSource::read(const base::Secret& key) {
  if (key.reveal() != key_.reveal()) texts_ = {};
  key_ = key;
  return config::readPaths(paths_, key, texts_, main_.clock().wallNow());
}

void FileSource::watch(Reloadable& reader) {
  const auto weakened = [this](const base::Error& error) {
    log_.warn("files of the configuration cannot be watched, so changes are noticed late", {{"reason", error.detail}});
  };
  watch_.emplace(
      main_, net::FileWatch::WatchOptions{.paths = paths_, .takes = config::isConfigurationFile},
      [&reader] { reader.reload(); }, weakened);
}

}  // namespace sluice::control
