// A text from which objects are read, and its name in messages.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/secret.h"

namespace sluice::config {

/// The prefix of the name of a text from an API server. Such a text is one object as JSON, and positions in it mean
/// nothing to users.
inline constexpr std::string_view kApiServerPrefix = "kubernetes:";
inline bool isOfApiServer(std::string_view file) { return file.starts_with(kApiServerPrefix); }

struct SourceText {
  std::string file;  // its name in messages
  std::string text;
};

/// A text that outlives its reading, for code that stores a configuration.
struct KeptText {
  std::string file;
  base::Secret text;  // it may contain Secrets
};

using KeptTexts = std::vector<std::shared_ptr<const KeptText>>;

}  // namespace sluice::config
