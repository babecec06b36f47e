// A text from which objects are read, and its name in messages.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/secret.h"

namespace sluice::config {

/// The name of a text that an API server has given begins with this. It is one object as JSON, whose place in the text
/// means nothing to anybody.
inline constexpr std::string_view kApiServerPrefix = "kubernetes:";
inline bool isOfApiServer(std::string_view file) { return file.starts_with(kApiServerPrefix); }

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
