// Parts a text into the documents that hold secrets and the others, so that the history of a configuration can be
// stored without them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/load/object_reading.h"

namespace sluice::config {

struct PartedText {
  std::string open;    // the documents without secrets
  std::string secret;  // the documents with a Secret, or with what may be a misspelt one
};

/// `readings` are those of `text`. Both parts can be read as texts of their own.
PartedText partSecrets(std::string_view text, const std::vector<ObjectReading>& readings);

}  // namespace sluice::config
