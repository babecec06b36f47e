// A text that objects are read from, and what messages call it.
#pragma once

#include <string>

namespace sluice::config {

struct SourceText {
  std::string file;  // the name for messages
  std::string text;
};

}  // namespace sluice::config
