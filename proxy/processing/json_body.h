// A buffered body as JSON: read as a value, and changed member by member, so that everything else of it stays as the
// client or the origin wrote it (E-10).
//
// For one call of a processor.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/json_edit.h"
#include "proxy/content/value.h"
#include "proxy/processing/body.h"

namespace sluice::processing {

class JsonBody {
 public:
  /// An error if it is no JSON, or (kProcessorCapacityReached) if there is no room for what that makes of it: its text
  /// in one piece, and a tree, which is many times as large if its values are small.
  static base::Result<JsonBody> parse(Body& body);

  const content::Value& value() const { return value_; }
  /// See content::JsonEdit; value() stays as it was.
  void edit(content::JsonEdit edit) { edits_.push_back(std::move(edit)); }
  /// Makes the edits in `body`, the one that was parsed; changes nothing if there are none. An error if one of them can
  /// not be made.
  base::Status apply(Body& body) const;

 private:
  JsonBody(std::string text, content::Value value) : text_(std::move(text)), value_(std::move(value)) {}

  std::string text_;
  content::Value value_;
  std::vector<content::JsonEdit> edits_;
};

}  // namespace sluice::processing
