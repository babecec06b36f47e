// A TextSource is a configuration that never changes: one text, which was given on the command line.
#pragma once

#include "config/load/text_cache.h"
#include "config/yaml/source_text.h"
#include "proxy/control/source.h"

namespace sluice::control {

class TextSource final : public Source {
 public:
  explicit TextSource(config::SourceText text) : text_(std::move(text)) {}

  config::ObjectSet read(const base::Secret& key) override;
  void watch(Reloadable&) override {}

 private:
  const config::SourceText text_;
};

}  // namespace sluice::control
