// A parsed document: what every reader of configuration starts from, whatever the text's format was.
#pragma once

#include "proxy/content/value.h"

namespace sluice::config {

using content::Member;
using content::Position;
using content::Value;

struct Document {
  Value root;
};

}  // namespace sluice::config
