#include "filters/message_edits.h"

#include "filters/body_path.h"
#include "filters/expression/arithmetic.h"
#include "filters/expression/result_value.h"
#include "proxy/content/json_pointer.h"
#include "proxy/http/field_grammar.h"
#include "proxy/processing/field_edits.h"

namespace sluice::filters {
namespace {

using base::Error;
using processing::Verdict;

/// Returns the name of the edited field: the member of a map, or the value itself if it is a text.
std::string_view nameOf(const content::Value& edit) {
  const content::Value* name = edit.find("name");
  return name != nullptr ? name->text : edit.text;
}

std::string placeIn(std::string_view list, std::size_t index, std::string_view member) {
  return std::string(list) + "[" + std::to_string(index) + "]" + std::string(member) + ": ";
}

/// Reads "$.a[0]", or "a[0]" without the beginning of a JSONPath.
base::Result<content::JsonPointer> readPlace(std::string_view text) {
  std::string query(text);
  if (!text.starts_with('$')) query = (text.starts_with('[') ? "$" : "$.") + query;
  const auto path = BodyPath::fromJsonPath(query);
  if (!path) return Error::config(path.error().detail + (query == text ? "" : ", in " + query));
  std::string pointer;
  for (const content::JsonStep& step : path->steps()) {
    if (step.index && *step.index < 0) return Error::config("an index from the end is not supported");
    pointer += "/" + (step.name ? content::pointerToken(*step.name) : std::to_string(*step.index));
  }
  if (pointer.empty()) return Error::config("is the whole body");
  return content::JsonPointer::parse(pointer);
}

/// Calls visit(value, index) for each item of a list, until it fails.
template <typename Visit>
base::Status eachEdit(const content::Value& part, std::string_view list, Visit&& visit) {
  const content::Value* items = part.find(list);
  for (std::size_t i = 0; items != nullptr && i < items->items.size(); ++i) {
    if (base::Status status = visit(items->items[i], i); !status) return status;
  }
  return base::Done{};
}

/// Returns the failure of an expression, or of the request if that has taken all that its expressions may take.
Verdict failure(const ExpressionInput& input, const Meter& meter, const std::string& where, std::string_view what) {
  if (meter.isSpent()) {
    return Verdict::overWork(where);
  }
  const bool isBad = input.body != nullptr && input.body->isBad();
  return Verdict::fail(where + std::string(what), isBad ? processing::Cause::kBadBody : processing::Cause::kError);
}

}  // namespace

/// Reads one side: its lists of edits.
class MessageEdits::EditReader {
 public:
  EditReader(const content::Value& part, MessageSide side, ExpressionPatterns& patterns, MessageEdits& edits)
      : part_(part), side_(side), patterns_(patterns), edits_(edits) {}

  base::Status headers() {
    if (auto status = fields("setHeaders", edits_.set_); !status) return status;
    if (auto status = fields("addHeaders", edits_.add_); !status) return status;
    return eachEdit(part_, "removeHeaders", [&](const content::Value& edit, std::size_t i) -> base::Status {
      auto name = processing::editableField(nameOf(edit));
      if (!name) return Error::config(placeIn("removeHeaders", i, "") + name.error().detail);
      edits_.remove_.push_back(std::move(name).value());
      return base::Done{};
    });
  }

  base::Status body() {
    auto status = eachEdit(part_, "setBodyFields", [&](const content::Value& edit, std::size_t i) -> base::Status {
      auto place = readPlace(nameOf(edit));
      if (!place) return Error::config(placeIn("setBodyFields", i, ".name") + place.error().detail);
      auto value = expression(edit);
      if (!value) return Error::config(placeIn("setBodyFields", i, ".value") + value.error().detail);
      edits_.setBody_.push_back({std::move(place).value(), std::move(value).value()});
      return base::Done{};
    });
    if (!status) return status;
    return eachEdit(part_, "removeBodyFields", [&](const content::Value& edit, std::size_t i) -> base::Status {
      auto place = readPlace(nameOf(edit));
      if (!place) return Error::config(placeIn("removeBodyFields", i, "") + place.error().detail);
      edits_.removeBody_.push_back(std::move(place).value());
      return base::Done{};
    });
  }

 private:
  base::Result<Expression> expression(const content::Value& edit) {
    const content::Value* value = edit.find("value");
    const std::string_view source = value != nullptr ? std::string_view(value->text) : std::string_view();
    return Expression::compile(source, side_, edits_.reads_, patterns_);
  }

  base::Status fields(std::string_view list, std::vector<FieldEdit>& to) {
    return eachEdit(part_, list, [&](const content::Value& edit, std::size_t i) -> base::Status {
      auto name = processing::editableField(nameOf(edit));
      if (!name) return Error::config(placeIn(list, i, ".name") + name.error().detail);
      auto value = expression(edit);
      if (!value) return Error::config(placeIn(list, i, ".value") + value.error().detail);
      if (const Datum* literal = value->literal(); literal != nullptr && !http::isFieldValue(literal->text())) {
        return Error::config(placeIn(list, i, ".value") + "is not the value of a header field");
      }
      to.push_back({std::move(name).value(), std::move(value).value()});
      return base::Done{};
    });
  }

  const content::Value& part_;
  const MessageSide side_;
  ExpressionPatterns& patterns_;
  MessageEdits& edits_;
};

base::Result<MessageEdits> MessageEdits::read(const content::Value& part, MessageSide side,
                                              ExpressionPatterns& patterns) {
  MessageEdits edits;
  EditReader reader(part, side, patterns, edits);
  if (auto status = reader.headers(); !status) return std::move(status).error();
  if (auto status = reader.body(); !status) return std::move(status).error();
  return edits;
}

bool MessageEdits::isEmpty() const { return set_.empty() && add_.empty() && remove_.empty() && !editsBody(); }

std::optional<Verdict> MessageEdits::prepare(const ExpressionInput& input, const EditRoom& room,
                                             EditProgress& progress) const {
  const std::size_t count = set_.size() + add_.size() + setBody_.size();
  for (; progress.evaluated < count; ++progress.evaluated) {
    if (room.work.endTurn()) return Verdict::wait();
    if (auto failed = evaluate(progress.evaluated, input, room, progress)) return failed;
  }
  if (!editsBody()) return std::nullopt;
  if (room.work.endTurn()) return Verdict::wait();
  return editBody(input, room, progress);
}

std::optional<Verdict> MessageEdits::evaluate(std::size_t number, const ExpressionInput& input, const EditRoom& room,
                                              EditProgress& progress) const {
  if (number < set_.size()) {
    return evaluateField(set_[number], placeIn("setHeaders", number, ".value"), input, room, progress);
  }
  number -= set_.size();
  if (number < add_.size()) {
    return evaluateField(add_[number], placeIn("addHeaders", number, ".value"), input, room, progress);
  }
  return evaluateOfBody(number - add_.size(), input, room, progress);
}

std::optional<Verdict> MessageEdits::evaluateField(const FieldEdit& edit, const std::string& place,
                                                   const ExpressionInput& input, const EditRoom& room,
                                                   EditProgress& progress) {
  Meter meter = room.meter();
  Datum value = edit.value.evaluate(input, meter);
  if (!value.isError()) value = toString(value, meter);
  if (value.isError()) return failure(input, meter, place, value.text());
  if (!http::isFieldValue(value.text())) {
    return failure(input, meter, place, "the result is not the value of a header field");
  }
  progress.changes.fields.emplace_back(edit.name, room.arena.copy(value.text()));
  return std::nullopt;
}

std::optional<Verdict> MessageEdits::evaluateOfBody(std::size_t index, const ExpressionInput& input,
                                                    const EditRoom& room, EditProgress& progress) const {
  Meter meter = room.meter();
  if (!input.body->check(meter)) return failure(input, meter, "", "the body is no JSON");
  auto value = resultValue(setBody_[index].value.evaluate(input, meter));
  if (!value) return failure(input, meter, placeIn("setBodyFields", index, ".value"), value.error().detail);
  progress.ofBody.push_back({setBody_[index].place, std::move(value).value()});
  return std::nullopt;
}

std::optional<Verdict> MessageEdits::editBody(const ExpressionInput& input, const EditRoom& room,
                                              EditProgress& progress) const {
  Meter meter = room.meter();
  if (!input.body->check(meter)) return failure(input, meter, "", "the body is no JSON");
  std::vector<content::JsonEdit>& edits = progress.ofBody;
  for (const content::JsonPointer& place : removeBody_) edits.push_back({place, std::nullopt});
  // Each edit looks at the whole document.
  if (!meter.step(edits.size() * input.body->text().size())) return failure(input, meter, "", "");
  auto edited = content::editJson(input.body->text(), edits);
  if (!edited) return failure(input, meter, "", edited.error().detail);
  progress.changes.body = std::move(edited).value();
  return std::nullopt;
}

}  // namespace sluice::filters
