// Converts objects of other spellings into ours: Backends, policies and payload processors become objects of
// sluice.dev. All other objects pass unchanged, except for their references to converted ones.
//
// An object is read as it is to be served, and its counterpart is written from the model. The counterpart is read once
// more, and if its own schema refuses it, the object stays in its spelling. So the output is never less valid than the
// input. These are pure functions.
#pragma once

#include <string>

#include "config/ground/problem.h"
#include "config/yaml/source_text.h"

namespace sluice::config {

struct ConvertedTexts {
  /// YAML documents in the order of the input, without its comments; the items of a List are documents too. Above an
  /// object that lost something, or that stays in its spelling, are comments: its kind and name, and for each field a
  /// line "# not converted: FIELD: WHY". The text has the Secrets of the input.
  std::string text;
  /// True if there is no such line.
  bool complete = true;
  /// The reasons why a text could not be read. They are not secret. If there is an error, `text` is empty.
  Problems problems;
};

ConvertedTexts convertTexts(const KeptTexts& texts);

}  // namespace sluice::config
