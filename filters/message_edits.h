// The edits of one side, request or response, that sluice.dev/InProcess:v1 makes: header fields and fields of a JSON
// body, with values that are expressions.
//
// Immutable; any thread. All expressions are evaluated on the message as it came, before anything is changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filters/expression/expression.h"
#include "proxy/base/arena.h"
#include "proxy/base/result.h"
#include "proxy/content/json_edit.h"
#include "proxy/content/value.h"
#include "proxy/http/headers.h"
#include "proxy/processing/verdict.h"

namespace sluice::filters {

/// The changes that the edits make to one message.
struct MessageChanges {
  /// In the order of the config; values live as long as the arena.
  std::vector<std::pair<std::string_view, std::string_view>> fields;
  std::optional<std::string> body;
};

class MessageEdits {
 public:
  /// Reads {setHeaders, addHeaders, removeHeaders, setBodyFields, removeBodyFields}. Errors have config's origin and
  /// begin with the member: "setHeaders[0].value: at character 5: ...".
  static base::Result<MessageEdits> read(const content::Value& part, MessageSide side);

  /// Returns true if there are no edits.
  bool isEmpty() const;
  bool editsBody() const { return !setBody_.empty() || !removeBody_.empty(); }
  bool needsBody() const { return editsBody() || reads_.any(); }
  const BodyReads& reads() const { return reads_; }

  /// Evaluates the expressions and edits the body. Sets `changes`, or returns a failure. `input` has a body if
  /// needsBody().
  std::optional<processing::Verdict> prepare(const ExpressionInput& input, base::Arena& arena,
                                             MessageChanges& changes) const;
  /// Removes the fields that are set or removed, with their twins.
  template <typename Remove>
  void eachOldField(Remove&& remove) const {
    for (const auto& each : set_) remove(each.name);
    for (const std::string& name : remove_) remove(name);
  }

 private:
  struct FieldEdit {
    std::string name;
    Expression value;
  };
  struct BodyEdit {
    content::JsonPointer place;
    Expression value;
  };

  base::Status readHeaders(const content::Value& part, MessageSide side);
  base::Status readFields(const content::Value& part, std::string_view list, MessageSide side,
                          std::vector<FieldEdit>& edits);
  base::Status readBody(const content::Value& part, MessageSide side);
  base::Result<Expression> expression(const content::Value& edit, MessageSide side);
  static std::optional<processing::Verdict> evaluate(const std::vector<FieldEdit>& edits, std::string_view list,
                                                     const ExpressionInput& input, base::Arena& arena,
                                                     MessageChanges& changes);
  std::optional<processing::Verdict> editBody(const ExpressionInput& input, base::Arena& arena,
                                              MessageChanges& changes) const;

  std::vector<FieldEdit> set_;
  std::vector<FieldEdit> add_;
  std::vector<std::string> remove_;
  std::vector<BodyEdit> setBody_;
  std::vector<content::JsonPointer> removeBody_;
  BodyReads reads_;
};

}  // namespace sluice::filters
