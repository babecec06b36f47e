// A parsed document. All readers of configuration start from it, whatever the format of the text was.
#pragma once

#include "proxy/content/packed_value.h"
#include "proxy/content/value.h"

namespace sluice::config {

using content::Member;
using content::PackedValue;
using content::Position;
using content::Value;

struct Document {
  Value root;
};

}  // namespace sluice::config
