// A fault of a schema, or of a value that a schema refuses.
#pragma once

#include <string>

#include "proxy/content/value.h"

namespace sluice::content {

struct SchemaFault {
  const Value* at = nullptr;  // the faulty part; null: there is no fault
  std::string message;

  explicit operator bool() const { return at != nullptr; }
};

}  // namespace sluice::content
