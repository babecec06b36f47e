// An Output is what a command prints, or an admin page answers: a value for programs, and a text that tells people the
// same. Their maker writes both side by side, so that a new fact is added in one place.
#pragma once

#include <string>

#include "proxy/content/value.h"

namespace sluice::content {

struct Output {
  Value value;
  std::string text;  // whole lines
};

/// Returns the value as JSON on one line without a line end. Whatever its strings are, the result is valid UTF-8 and
/// moves no terminal (proxy/base/json_text.h).
std::string outputJson(const Value& value);

}  // namespace sluice::content
