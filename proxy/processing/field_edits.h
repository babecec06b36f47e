// Edits of header fields as the config of a processor writes them. They are checked when the processor is made, and
// cheap when it runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/arena.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/http/headers.h"
#include "proxy/processing/request_edits.h"

namespace sluice::processing {

/// Returns the name in lower case. Returns a config error if it is no field name, or if the field belongs to the
/// gateway: framing, hop-by-hop, Host, Via.
base::Result<std::string> editableField(std::string_view name);
/// Does the same for a processor that names the field while it runs. The name is in the arena; it is empty if the field
/// cannot be changed.
std::string_view editableField(std::string_view name, base::Arena& arena);

/// The edits of one processor. Views of their values live long enough, because an exchange keeps the processors that
/// serve it.
class FieldEdits {
 public:
  /// Reads the members `set` and `add`, lists of {name, value}, and `remove`, a list of names; each may be missing.
  /// Errors name the member.
  static base::Result<FieldEdits> read(const content::Value& config);

  /// Sets, adds and removes. The twins of a field that is set or removed go too (http::areTwins).
  void apply(base::Arena& arena, http::Headers& headers) const;
  void apply(RequestEditor& editor) const;
  /// Removes the fields that are set or removed from another section of the message; see Processor::withhold().
  void withhold(http::Headers& fields) const;

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  static base::Status readFields(const content::Value& config, std::string_view member, Fields& fields);

  Fields set_;
  Fields add_;
  std::vector<std::pair<http::FieldId, std::string>> remove_;
};

}  // namespace sluice::processing
