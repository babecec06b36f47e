// The edits of one side, request or response, that sluice.dev/InProcess:v1 makes: header fields and fields of a JSON
// body, with values that are expressions.
//
// Immutable; any thread. All expressions are evaluated on the message as it came, before anything is changed. Between
// them, others have their turn if they take long.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// The evaluation of the edits of one message, as far as it has come.
struct EditProgress {
  std::size_t evaluated = 0;  // expressions
  std::vector<content::JsonEdit> ofBody;
  MessageChanges changes;
};

/// The bounds of that evaluation, and where it makes its values. All three outlive it.
struct EditRoom {
  base::Arena& arena;
  ExpressionWork& work;
  std::uint64_t mostSteps;  // limits.stepWork

  Meter meter() const { return {arena, work, mostSteps}; }
};

class MessageEdits {
 public:
  /// Reads {setHeaders, addHeaders, removeHeaders, setBodyFields, removeBodyFields}. Errors have config's origin and
  /// begin with the member: "setHeaders[0].value: at character 5: ...". `patterns` are those of the use.
  static base::Result<MessageEdits> read(const content::Value& part, MessageSide side, ExpressionPatterns& patterns);

  /// Returns true if there are no edits.
  bool isEmpty() const;
  bool editsBody() const { return !setBody_.empty() || !removeBody_.empty(); }
  bool needsBody() const { return editsBody() || reads_.any(); }
  const BodyReads& reads() const { return reads_; }

  /// Evaluates the expressions and edits the body. Completes the changes of `progress`, or returns a failure, or wait()
  /// if others should have their turn before it is called again. `input` has a body if needsBody().
  std::optional<processing::Verdict> prepare(const ExpressionInput& input, const EditRoom& room,
                                             EditProgress& progress) const;
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

  /// Reads the lists of `part`, which are those of one side.
  class EditReader;

  std::optional<processing::Verdict> evaluate(std::size_t number, const ExpressionInput& input, const EditRoom& room,
                                              EditProgress& progress) const;
  static std::optional<processing::Verdict> evaluateField(const FieldEdit& edit, const std::string& place,
                                                          const ExpressionInput& input, const EditRoom& room,
                                                          EditProgress& progress);
  std::optional<processing::Verdict> evaluateOfBody(std::size_t index, const ExpressionInput& input,
                                                    const EditRoom& room, EditProgress& progress) const;
  std::optional<processing::Verdict> editBody(const ExpressionInput& input, const EditRoom& room,
                                              EditProgress& progress) const;

  std::vector<FieldEdit> set_;
  std::vector<FieldEdit> add_;
  std::vector<std::string> remove_;
  std::vector<BodyEdit> setBody_;
  std::vector<content::JsonPointer> removeBody_;
  BodyReads reads_;
};

}  // namespace sluice::filters
