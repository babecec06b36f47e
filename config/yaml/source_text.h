// A text from which objects are read, and its name in messages.
#pragma once

#include <string>

namespace sluice::config {

struct SourceText {
  std::string file;  // its name in messages
  std::string text;
};

}  // namespace sluice::config
