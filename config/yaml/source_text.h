// A text from which objects are read, and its name in messages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/base/secret.h"

namespace sluice::config {

struct SourceText {
  std::string file;  // its name in messages
  std::string text;
};

/// A text that outlives its reading, for whoever stores a configuration.
struct KeptText {
  std::string file;
  base::Secret text;  // it may hold Secrets
};

using KeptTexts = std::vector<std::shared_ptr<const KeptText>>;

}  // namespace sluice::config
