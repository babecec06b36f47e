// Splits a text into the documents with secrets and those without, so that the history of a configuration can be stored
// without secrets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/load/object_reading.h"

namespace sluice::config {

struct PartedText {
  std::string open;    // the documents without secrets
  std::string secret;  // the documents with a Secret, or with an object that may be a misspelt Secret
};

/// `readings` must belong to `text`. Both parts can be read as separate texts.
PartedText partSecrets(std::string_view text, const std::vector<ObjectReading>& readings);

}  // namespace sluice::config
